"""What the address of a page contains: run, corpus, settings and selection. Pure.

A wrong value in a link is ignored, with a sentence that says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType
from typing import Any, get_args, get_type_hints
from urllib.parse import parse_qsl, urlencode

import numpy as np

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec, left_fields
from stickbreaker.app.state import EARLIEST, LATEST
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.schedules import live_settings

MAX_SHOWN = 60
MAX_LISTED = 3
# The names in a query that are not settings; Panel itself reads the last.
PARTS = (
    *("run", "watch", "corpus", "algorithm", "page", "topic", "document", "moment"),
    *("from", "to", "theme"),
)
Span = tuple[np.datetime64, np.datetime64]
TRUTHS = {"true": True, "false": False}


@dataclass(frozen=True)
class Place:
    """The open page, and the selected topic, document, span of time and moment."""

    page: str | None = None
    topic: int | None = None
    document: int | None = None
    span: Span | None = None
    moment: int | None = None


@dataclass(frozen=True)
class Link:
    """The content of an address; `faults` say which parts were ignored.

    run: the key of a run to control. watch: the token of a run to watch.
    """

    run: str | None
    watch: str | None
    spec: RunSpec
    place: Place
    faults: tuple[str, ...] = ()


def write_link(key: str, progress: Progress, place: Place) -> str:
    """The query of an address, with settings that the user set or that are no default."""
    parts: dict[str, Any] = {"run": key}
    if progress.config is not None and progress.settings is not None:
        parts |= {"corpus": progress.corpus_name, "algorithm": progress.algorithm}
        sized = {*live_settings(progress.config), *left_fields(progress.config)}
        for settings in (progress.settings, progress.config):
            for each in fields(settings):
                value = getattr(settings, each.name)
                if each.name in progress.chosen if each.name in sized else value != each.default:
                    parts[each.name] = _write(value)
    return _write_query(parts | _write_place(place))


def write_watch_link(token: str, place: Place) -> str:
    """Write the query of a watcher's page, without the key of the run."""
    return _write_query({"watch": token} | _write_place(place))


def _write_place(place: Place) -> dict[str, Any]:
    parts = dict(vars(place))
    first, last = parts.pop("span") or (EARLIEST, LATEST)
    if first != EARLIEST:
        parts["from"] = first
    if last != LATEST:
        parts["to"] = last
    return parts


def _write_query(parts: dict[str, Any]) -> str:
    return "?" + urlencode({name: value for name, value in parts.items() if value is not None})


def _write(value: Any) -> str:
    """Write a setting: a boolean as in JSON, a whole number without a decimal point."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_link(
    query: str,
    spec: RunSpec,
    algorithms: Sequence[Algorithm],
    corpora: Sequence[str],
    pages: Sequence[str],
) -> Link:
    """Read the query of an address; `spec` holds the values of an empty link."""
    asked = dict(parse_qsl(query.lstrip("?")))
    faults: list[str] = []
    name = _choose("corpus", asked, corpora, spec.corpus_name, faults)
    by_name = {algorithm.name: algorithm for algorithm in algorithms}
    algorithm = by_name[_choose("algorithm", asked, list(by_name), spec.algorithm.name, faults)]
    config = spec.config if algorithm is spec.algorithm else algorithm.config()
    config, given = _fill(config, asked, faults)
    settings, _ = _fill(spec.settings, asked, faults)
    chosen = frozenset(given) & {*live_settings(config), *left_fields(config)}
    is_another = bool(faults)
    place = _find_place(asked, pages, faults)
    if is_another:
        # In another run these numbers mean other topics and documents.
        place = replace(place, topic=None, document=None, moment=None)
    spec = RunSpec(name, algorithm, config, settings, chosen)
    known = {*PARTS, *(each.name for each in (*fields(config), *fields(settings)))}
    if unknown := [_quote(part) for part in asked if part not in known]:
        faults.append(f"Unknown names in the link: {', '.join(unknown[:MAX_LISTED])}; ignored.")
    return Link(asked.get("run"), asked.get("watch"), spec, place, tuple(faults))


def read_place(query: str, progress: Progress, pages: Sequence[str]) -> Place:
    """Read the selection in the query of an earlier address of this page; wrong values are ignored.

    Its topic and document are ignored if it is of another corpus or algorithm than the run of
    `progress`.
    """
    asked = dict(parse_qsl(query.lstrip("?")))
    place = _find_place(asked, pages, [])
    present = {"corpus": progress.corpus_name, "algorithm": progress.algorithm}
    if any(asked.get(what, now) != now for what, now in present.items()):
        return replace(place, topic=None, document=None, moment=None)
    return place


def _find_place(asked: dict[str, str], pages: Sequence[str], faults: list[str]) -> Place:
    page = _choose("page", asked, pages, None, faults)
    topic, document, moment = (
        _whole(each, asked, faults) for each in ("topic", "document", "moment")
    )
    return Place(
        page=page, topic=topic, document=document, span=_span(asked, faults), moment=moment
    )


def _choose(
    what: str, asked: dict[str, str], offered: Sequence[str], default: Any, faults: list[str]
) -> Any:
    if what not in asked or asked[what] in offered:
        return asked.get(what, default)
    instead = f"{default} is used" if default else "ignored"
    faults.append(f"Unknown {what} in the link: {_quote(asked[what])}; {instead}.")
    return default


def _fill(config: Any, asked: dict[str, str], faults: list[str]) -> tuple[Any, dict[str, Any]]:
    """The config with the valid values of the link, and these values."""
    hints = get_type_hints(type(config))
    given: dict[str, Any] = {}
    for each in fields(config):
        if each.name in asked:
            try:
                value = _parse(hints[each.name], asked[each.name])
                replace(config, **{each.name: value})
                given[each.name] = value
            except (ValueError, TypeError, OverflowError):
                name = each.metadata.get("symbol") or each.name
                faults.append(
                    f"Invalid {name} in the link: {_quote(asked[each.name])}; the default is used."
                )
    try:
        return replace(config, **given), given
    except (ValueError, TypeError):
        faults.append(
            f"Settings in the link contradict each other ({', '.join(given)}); the defaults are"
            " used."
        )
        return config, {}


def _parse(hint: Any, text: str) -> Any:
    """Read a value as the type of its field. Raises ValueError if it is not one."""
    (kind,) = set(get_args(hint) or (hint,)) - {NoneType}
    if kind is bool:
        if text not in TRUTHS:
            raise ValueError(text)
        return TRUTHS[text]
    return kind(text)


def _whole(name: str, asked: dict[str, str], faults: list[str]) -> int | None:
    text = asked.get(name)
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    faults.append(f"Invalid {name} in the link: {_quote(text)}; ignored.")
    return None


def _span(asked: dict[str, str], faults: list[str]) -> Span | None:
    if not {"from", "to"} & asked.keys():
        return None
    try:
        ends = (("from", EARLIEST), ("to", LATEST))
        first, last = (np.datetime64(asked.get(name, end), "D") for name, end in ends)
        # Comparisons with NaT are false, so it is refused too.
        if first <= last:
            return first, last
    except (ValueError, OverflowError):
        pass
    said = " to ".join(_quote(asked[name]) for name in ("from", "to") if name in asked)
    faults.append(f"Invalid date range in the link: {said}; all dates are used.")
    return None


def _quote(text: str) -> str:
    """Quote a part of a link: short, and without characters of markup."""
    shown = text[:MAX_SHOWN]
    unsafe = {sign for sign in shown if not sign.isprintable() or sign in "<>&\"'"}
    plain = shown.translate({ord(sign): "·" for sign in unsafe})
    return f"“{plain}{only_if(len(text) > MAX_SHOWN, '…')}”"
