"""The table of word lists, as on Live, for a text: as SVG, HTML and LaTeX."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from stickbreaker.app.export.single_page import write_page
from stickbreaker.app.frames.word_table import MARKS, table_blocks, table_columns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import title_corpus
from stickbreaker.engine.files.whole_files import replacing

STYLE = """
body { font: 16px/1.5 Georgia, "Times New Roman", serif; color: #111; background: #fff;
  margin: 24px; }
h1 { font-size: 22px; } table { border-collapse: collapse; border: solid; border-width: 2px 0; }
th, td { padding: 1px 10px; text-align: left; font-size: 14px; font-weight: 400;
  white-space: nowrap; }
th:first-child { text-align: right; } thead tr:last-child th { border-bottom: 1px solid; }
th[colspan] { text-align: left; padding-top: 8px; }
"""
# No format can hold these.
UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "↑": r"$\uparrow$",
    }
)
HEAD, TITLE, WORDS, NOTE = "head", "title", "words", "note"
# The rows whose cells extend over all columns, with the rule above them.
RULES = {TITLE: r"\midrule", NOTE: r"\bottomrule"}
# Pixels: of a letter, a line and the space between columns.
LETTER, LINE, GAP = 7.0, 17, 14
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"
 viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="12">
<title>{title}</title>
<style>@page {{ size: {width}px {height}px; margin: 0 }}</style>
{lines}
</svg>
"""


class Row(NamedTuple):
    """A row: its kind, its cells (text, is_bold), and the colour of a topic."""

    kind: str
    cells: tuple[tuple[str, bool], ...]
    color: str = ""


def list_rows(progress: Progress, listed: Sequence[int] | None, by_relevance: bool) -> list[Row]:
    """The rows of the table on Live, the last one about its marks; its first column is the rank.

    Raises ValueError if the table is empty.
    """
    blocks = table_blocks(progress, listed, by_relevance)
    columns = table_columns(progress)[: len(progress.columns)]
    if not columns or not blocks:
        raise ValueError("The word lists on Live are empty: select a topic there.")
    heads = [("", *(column[name] for column in columns)) for name in ("documents", "date")]
    rows = [Row(HEAD, tuple((text, False) for text in head)) for head in heads if any(head)]
    for block in blocks:
        title = (_clean(block["title"]), True), (_clean(block["note"]), False)
        rows.append(Row(TITLE, title, block["color"]))
        for rank, cells in enumerate(block["cells"], start=1):
            words = (_write_cell(*(cell or ("", ""))) for cell in cells[: len(columns)])
            rows.append(Row(WORDS, ((str(rank), False), *words)))
    return [*rows, Row(NOTE, ((MARKS, False),))]


def _clean(text: str) -> str:
    return UNWRITABLE.sub(" ", text)


def _write_cell(word: str, mark: str) -> tuple[str, bool]:
    return f"{mark} {_clean(word)}".strip(), mark == "+"


def _format(row: Row, escape_text: Callable[[str], str], bold: str) -> list[str]:
    """The texts of a row's cells; bold: how a text in bold is written."""
    texts = [(escape_text(text), is_bold) for text, is_bold in row.cells]
    return [bold.format(text) if is_bold else text for text, is_bold in texts]


def write_html(path: Path, title: str, rows: Sequence[Row]) -> None:
    """Write the table as a page from which it can be copied into a word processor."""
    parts: dict[str, list[str]] = {HEAD: [], WORDS: []}
    for row in rows:
        texts = _format(row, escape, "<strong>{}</strong>")
        if row.kind in RULES:
            cells = f'<th colspan="{len(rows[0].cells)}">{" ".join(texts)}</th>'
        else:
            tag = "th" if row.kind == HEAD else "td"
            cells = f"<th>{texts[0]}</th>" + "".join(f"<{tag}>{t}</{tag}>" for t in texts[1:])
        parts[HEAD if row.kind == HEAD else WORDS].append(f"<tr>{cells}</tr>")
    head, body = ("\n".join(lines) for lines in parts.values())
    table = f"<table>\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    write_page(path, title, table, STYLE)


def write_latex(path: Path, title: str, rows: Sequence[Row]) -> None:
    """Write the table in the style of the package booktabs."""
    num_columns = len(rows[0].cells)
    lines = []
    for row in rows:
        texts = _format(row, lambda text: text.translate(LATEX), r"\textbf{{{}}}")
        if row.kind in RULES:
            lines.append(RULES[row.kind])
            texts = [rf"\multicolumn{{{num_columns}}}{{@{{}}l@{{}}}}{{{' '.join(texts)}}}"]
        lines.append(" & ".join(texts) + r" \\")
    about = f"% {_clean(title)}. It needs \\usepackage{{booktabs}}."
    begin = rf"\begin{{tabular}}{{@{{}}r*{{{num_columns - 1}}}{{l}}@{{}}}}"
    lines = [about, begin, r"\toprule", *lines, r"\end{tabular}", ""]
    _write(path, "\n".join(lines))


def write_svg(path: Path, title: str, rows: Sequence[Row]) -> None:
    """Write the table as a picture whose texts are text."""
    columns = zip(*(row.cells for row in rows if row.kind not in RULES), strict=True)
    widths = [LETTER * max(_measure(text) for text, _ in column) + GAP for column in columns]
    lefts = [round(sum(widths[:column])) for column in range(len(widths))]
    spread = (row.cells for row in rows if row.kind in RULES)
    longest = max(sum(_measure(text) + 1 for text, _ in cells) for cells in spread)
    width = round(max(sum(widths), GAP + LETTER * longest))
    y = 0
    lines = []
    for row in rows:
        texts = _format(row, escape, '<tspan font-weight="bold">{}</tspan>')
        places = lefts
        if row.kind in RULES:
            lines.append(f'<path d="M0 {y + 6.5}H{width}" stroke="black"/>')
            y += 8
            texts = [" ".join(texts)]
            places = [GAP if row.color else 0]
        y += LINE
        if row.color:
            lines.append(f'<rect y="{y - 9}" width="10" height="10" rx="2" fill="{row.color}"/>')
        cells = zip(places, texts, strict=True)
        lines += [f'<text x="{x}" y="{y}">{text}</text>' for x, text in cells if text]
    about = {"width": width, "height": y + 6, "title": escape(_clean(title))}
    _write(path, SVG.format(lines="\n".join(lines), **about))


def _measure(text: str) -> int:
    """The width of a text in letters."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


WRITERS = {".svg": write_svg, ".html": write_html, ".tex": write_latex}


def write_word_table(
    path: Path, progress: Progress, listed: Sequence[int] | None, by_relevance: bool
) -> None:
    """Write the table on Live in the format of the path's ending: .svg, .html or .tex.

    listed: ids of topics; None: the default topics. Raises ValueError if the table is empty.
    """
    rows = list_rows(progress, listed, by_relevance)
    title = f"Word lists of {title_corpus(progress.corpus_name)}"
    WRITERS[path.suffix](path, title, rows)
