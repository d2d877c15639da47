"""Docstrings of this project as reStructuredText.

A docstring is plain text with `code` between backticks. A line "name: explanation" describes a
parameter, and "Raises ..." the errors.
"""

import inspect
import re
from collections.abc import Iterator, Sequence

PARAMETER = re.compile(r"(?P<name>\w+)(?P<more>( \([^)]*\))?(, [^:]{1,40})?): (?P<text>\S.*)")
UNDERLINE = re.compile(r"\s*-{3,}\s*")
EXAMPLE = re.compile(r"\s*(>>>|\.\.\.) ")
# A symbol at the start of a description, as in "K. Number of topics", begins no numbered list.
SYMBOL = re.compile(r"^(\s*)(\w\. )")
BULLET = re.compile(r"(?P<mark>[*-]|\d+\.) (?P<text>\S.*)")


def to_restructured_text(lines: Sequence[str], item: object) -> list[str]:
    """The lines of an item's docstring with valid markup.

    Sections as numpydoc has them keep their form.
    """
    if any(UNDERLINE.fullmatch(line) for line in lines):
        return [
            line if EXAMPLE.match(line) else SYMBOL.sub(r"\1\\\2", _escape(line)) for line in lines
        ]
    names = _parameter_names(item)
    result: list[str] = []
    for paragraph in _paragraphs(lines):
        result += [*_mark_up(paragraph, names), ""]
    return result


def _parameter_names(item: object) -> frozenset[str]:
    """Names of the parameters of a function, or of the fields of a class."""
    try:
        return frozenset(inspect.signature(item).parameters) if callable(item) else frozenset()
    except ValueError:
        return frozenset()


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines between empty lines."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _mark_up(paragraph: list[str], names: frozenset[str]) -> list[str]:
    """One paragraph: an example or a block of code as it is, else sentences and lists."""
    if paragraph[0].startswith(">>>"):
        return paragraph
    if paragraph[0].startswith("    "):
        return ["::", "", *paragraph]
    result: list[str] = []
    for start, text in _entries(paragraph, names):
        result += [start + _escape(text), ""]
    return result


def _entries(paragraph: list[str], names: frozenset[str]) -> list[tuple[str, str]]:
    """Parameters, list items and sentences of a paragraph: how each starts, and its text without
    line breaks.
    """
    entries: list[tuple[str, str]] = []
    for line in paragraph:
        parameter, bullet, text = PARAMETER.fullmatch(line), BULLET.fullmatch(line), line.strip()
        is_after_list = bool(entries) and bool(entries[-1][0]) and entries[-1][1].endswith(".")
        if parameter and parameter["name"] in names:
            entries.append(
                (f"- ``{parameter['name']}``", f"{parameter['more']}: {parameter['text']}")
            )
        elif bullet:
            entries.append((f"{bullet['mark']} ", bullet["text"]))
        elif (
            not entries
            or text.startswith("Raises ")
            or (is_after_list and not line.startswith(" "))
        ):
            entries.append(("", text))
        else:
            start, before = entries[-1]
            entries[-1] = (start, f"{before} {text}")
    return entries


def _escape(text: str) -> str:
    """Text in which single backticks become code and no other sign is markup.

    >>> _escape("x_ of `state_`")
    'x\\\\_ of ``state_``'
    """
    parts = re.split(r"(``.+?``|`[^`]+`)", text)
    escaped = [
        re.sub(r"([*_|\\])", r"\\\1", part) if not part.startswith("`") else part for part in parts
    ]
    code = [re.sub(r"^`+|`+$", "``", part) if part.startswith("`") else part for part in escaped]
    # Inline code ends before a letter only after an empty escape.
    glued = [
        f"\\ {part}" if before.startswith("`") and re.match(r"\w", part) else part
        for before, part in zip(["", *code], code, strict=False)
    ]
    return "".join(glued)
