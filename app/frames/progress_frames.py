"""A run's progress as tidy data frames, and the rule that selects the topics shown first.

Pure: no widget, no plot.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
import pandas as pd

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Mark, Progress, has_no_topic

DateUnit = Literal["Y", "M", "D", "m"]

AXES = {"documents": "documents_seen", "dates": "date", "seconds": "seconds"}
CURVES = {
    "heldout": ("heldout", "nats_per_word"),
    "next_batch": ("next_batch", "nats_per_word"),
    "num_topics": ("steps", "num_topics"),
    "learning_rate": ("steps", "learning_rate"),
}
CURVE_COLUMNS = ("x", "y", "documents_seen", "date", "seconds")

END_ROOM = 0.02


def curve_frame(progress: Progress, name: str, axis: str = "documents") -> pd.DataFrame:
    """One curve of a run: the columns of `curve_columns`, one row per point."""
    return pd.DataFrame(curve_columns(progress, name, axis))


def curve_columns(progress: Progress, name: str, axis: str = "documents") -> dict[str, np.ndarray]:
    """One curve of a run, for a plot that grows: x, y, documents_seen, date (text), seconds.

    On the axis of dates, each new pass over the corpus starts with an empty row, so that no line
    runs back in time. The curve of topics is empty while no topic is in use.
    """
    source, column = CURVES[name]
    curve = getattr(progress, source)
    if name == "num_topics" and has_no_topic(progress):
        curve = {column: values[:0] for column, values in curve.columns.items()}
    columns = {
        "x": axis_values(curve[AXES[axis]]),
        "y": np.asarray(curve[column], dtype=float),
        "documents_seen": np.asarray(curve["documents_seen"]),
        "date": _date_texts(
            np.asarray(curve["date"]), date_unit(progress.date, progress.stream is not None)
        ),
        "seconds": np.asarray(curve["seconds"], dtype=float),
    }
    return _break_passes(columns) if axis == "dates" else columns


def topics_by_pass(progress: Progress) -> list[int]:
    """The number of topics in use at the end of each whole pass.

    Where the curve of a long run is thinned, it is the first number that is kept after the end of
    the pass.
    """
    seen = progress.steps["documents_seen"]
    if not progress.corpus_size or not len(seen):
        return []
    ends = progress.corpus_size * np.arange(1, int(seen[-1]) // progress.corpus_size + 1)
    return [int(number) for number in progress.steps["num_topics"][np.searchsorted(seen, ends)]]


def _date_texts(dates: np.ndarray, unit: DateUnit) -> np.ndarray:
    if not len(dates):
        return np.array([], dtype=object)
    texts = np.datetime_as_string(dates.astype("datetime64"), unit=unit)
    return np.char.replace(texts, "T", " ").astype(object)


def _break_passes(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    backwards = np.flatnonzero(np.diff(columns["x"]) < 0) + 1
    broken = {
        column: np.insert(values, backwards, values[backwards])
        for column, values in columns.items()
    }
    for column in ("x", "y"):
        broken[column][backwards + np.arange(len(backwards))] = np.nan
    return broken


def axis_values(values: np.ndarray) -> np.ndarray:
    """Positions on an axis as float64; dates in milliseconds since 1970, as in plots."""
    values = np.asarray(values)
    if np.issubdtype(values.dtype, np.datetime64):
        return values.astype("datetime64[ms]").astype(np.int64).astype(float)
    return values.astype(float)


def date_unit(date: object, has_times: bool = False) -> DateUnit:
    """The precision of a date: "Y" if only the year is known, "D" if there is no date.

    has_times: whether a time of day counts, to the minute.

    >>> date_unit(np.datetime64("1863")), date_unit(None)
    ('Y', 'D')
    """
    if not isinstance(date, np.datetime64):
        return "D"
    unit = np.datetime_data(date)[0]
    if unit in ("Y", "M", "D"):
        return cast(DateUnit, unit)
    return "m" if has_times else "D"


def date_text(date: Any, has_times: bool = False) -> str:
    """A date in its own precision; empty if there is none. has_times: as for `date_unit`.

    >>> (date_text(np.datetime64("1863")), date_text(None),
    ...  date_text(np.datetime64("2026-11-26T10:05:09"), True))
    ('1863', '', '2026-11-26 10:05')
    """
    if date is None or np.isnat(np.datetime64(date)):
        return ""
    return str(np.datetime_as_string(np.datetime64(date), unit=date_unit(date, has_times))).replace(
        "T", " "
    )


def axis_span(runs: Sequence[Progress], axis: str) -> tuple[float, float] | None:
    """The start and end of the shared x axis for these runs; None before they are known.

    The first run is the present one, whose total number of documents is known; earlier runs, dates
    and seconds reach as far as they have come. So does a stream, of which only the last hours are
    known. Some room is left at the end, so that the newest point is drawn whole.
    """
    is_stream = runs[0].stream is not None
    start = 0.0
    if axis == "documents" and not is_stream:
        present, *earlier = runs
        end = float(max([present.documents_total, *(run.documents_seen for run in earlier)]))
    else:
        values = [axis_values(run.steps[AXES[axis]]) for run in runs if len(run.steps)]
        end = max((v.max() for v in values), default=0.0)
        if is_stream or axis == "dates":
            start = min((v.min() for v in values), default=0.0)
    return (start, end + END_ROOM * (end - start)) if end > start else None


def warm_up_columns(progress: Progress, axis: str = "documents") -> dict[str, list[float]]:
    """The span of the warm-up: columns start, end; one row, or none before or without a warm-up."""
    steps = progress.steps
    warm = np.flatnonzero(steps["phase"] == 0)
    if not len(warm):
        return {"start": [], "end": []}
    x = axis_values(steps[AXES[axis]])
    return {"start": [float(x[0]) if axis == "dates" else 0.0], "end": [float(x[warm].max())]}


def mark_frame(marks: Sequence[Mark], axis: str = "documents") -> pd.DataFrame:
    """Changes of settings: columns x, text.

    Changes at the same place share a row, with a line for each.

    >>> date = np.datetime64("1801")
    >>> mark_frame([Mark(512, 1.0, date, "κ 0.6 → 0.8, τ₀ 1 → 2"), Mark(512, 1.0, date,
    ...     "S 256 → 64")])["text"].tolist()
    ['κ 0.6 → 0.8\\nτ₀ 1 → 2\\nS 256 → 64']
    """
    texts: dict[float, list[str]] = {}
    for mark in marks:
        place = np.datetime64(mark.date) if axis == "dates" else getattr(mark, AXES[axis])
        texts.setdefault(float(axis_values(np.array([place]))[0]), []).extend(mark.text.split(", "))
    return pd.DataFrame(
        {
            "x": pd.Series(list(texts), dtype=float),
            "text": ["\n".join(each) for each in texts.values()],
        }
    )


def earlier_frame(earlier: Sequence[Progress], name: str, axis: str = "documents") -> pd.DataFrame:
    """The same curve of earlier runs, one row per run: columns xs, ys (lists), label."""
    rows = []
    for run in earlier:
        columns = curve_columns(run, name, axis)
        if len(columns["x"]):
            rows.append((columns["x"], columns["y"], run.label or f"run {run.run_id}"))
    return pd.DataFrame(rows, columns=["xs", "ys", "label"])


def topic_choices(
    titles: Sequence[tuple[int, str]],
    shares: Sequence[float],
    unused: Sequence[tuple[int, str]] = (),
) -> dict[str, int]:
    """Choices of a menu, from ids with titles, and shares: "war, peace · 4.2 %".

    Equal titles are told apart by the id.

    `unused` are ids with titles of topics that are selected but not in use; they come last.

    >>> topic_choices([(7, "war"), (9, "war")], [0.2, 0.1], [(3, "law")])
    {'war (topic 7) · 20.0 %': 7, 'war (topic 9) · 10.0 %': 9, 'law · not in use': 3}
    """
    notes = [*(f"{100 * share:.1f} %" for share in shares), *("not in use" for _ in unused)]
    return {
        f"{title} · {note}": int(topic_id)
        for (topic_id, title), note in zip(tell_apart([*titles, *unused]), notes, strict=True)
    }


def write_score(value: float | None) -> str:
    """Write a score or an NPMI with three digits; empty if there is none.

    >>> write_score(-0.0421), write_score(float("nan")), write_score(None)
    ('−0.042', '', '')
    """
    if value is None or np.isnan(value):
        return ""
    return f"{value:.3f}".replace("-", "−")


def tell_apart(titles: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Ids with titles; titles that occur twice get the id added."""
    numbers = Counter(title for _, title in titles)
    return [(k, title + only_if(numbers[title] > 1, f" (topic {k})")) for k, title in titles]


def steady_order(
    topic_ids: np.ndarray, weights: np.ndarray, shown: Sequence[int], limit: int
) -> list[int]:
    """Places of the largest topics in display order: by weight rounded to 0.1 %, then in their
    previous order.

    The second rule keeps two topics of nearly the same weight from changing places at every
    repaint.
    """
    place = {topic_id: position for position, topic_id in enumerate(shown)}
    keys = [
        (-round(weight, 3), place.get(topic_id, len(place)), row)
        for row, (topic_id, weight) in enumerate(
            zip(topic_ids.tolist(), weights.tolist(), strict=True)
        )
    ]
    return [row for *_, row in sorted(keys)[:limit]]
