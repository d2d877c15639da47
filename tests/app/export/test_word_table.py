"""The word table as SVG, HTML and LaTeX has the words on the page, and no word becomes markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from stickbreaker.app.export.word_table import LATEX, list_rows, write_word_table
from stickbreaker.app.frames.word_table import MARKS, table_blocks
from tests.app.views.test_views import progress

HOSTILE = ("<b>", "&amp;", "a_b", "5%", "\\input{x}", "$x^2$", "#~|", 'say "no"', "\x00bell", "]]>")
WHOLE = progress(9, status="finished")
RUN = replace(WHOLE, vocabulary=("navy", *HOSTILE, *WHOLE.vocabulary[11:]))
PLAIN = {written: chr(sign) for sign, written in LATEX.items()}


def find_texts(run=RUN, listed=None):
    """The texts of the table on the page, in the order of the files, without empty ones."""
    texts = [f"{point.documents_seen:,}" for point in run.columns]
    texts += [str(point.date) for point in run.columns if point.date is not None]
    for block in table_blocks(run, listed):
        texts.append(f"{block['title']} {block['note']}")
        for rank, cells in enumerate(block["cells"], start=1):
            texts += [str(rank), *(f"{mark} {word}".strip() for word, mark in filter(None, cells))]
    return [text.replace("\x00", " ").strip() for text in (*texts, MARKS)]


class Cells(HTMLParser):
    """The texts of the cells of a page, and the elements around them."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells and data != "\n":
            self.cells[-1] += data


def write(path, run=RUN, listed=None):
    write_word_table(path, run, listed, by_relevance=True)
    return path.read_text(encoding="utf-8")


def test_svg_has_the_words_as_text(tmp_path):
    root = ElementTree.fromstring(write(tmp_path / "table.svg"))
    texts = ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]
    assert texts == find_texts()
    assert {word.replace("\x00", "") for word in HOSTILE} <= {text.lstrip("+↑ ") for text in texts}
    assert {node.tag.rpartition("}")[2] for node in root.iter()} == {
        *("svg", "title", "style", "path", "rect", "text", "tspan")
    }
    width = float(root.get("width"))
    assert all(0 <= float(node.get("x", 0)) < width for node in root.iter())


def test_html_is_one_table_without_script_and_its_words_are_text(tmp_path):
    page = Cells(write(tmp_path / "table.html"))
    assert [cell.strip() for cell in page.cells if cell.strip()] == find_texts()
    assert not page.tags & {"b", "script"}
    assert "strong" in page.tags


def test_latex_has_the_words_with_special_characters_escaped(tmp_path):
    text = write(tmp_path / "table.tex")
    rules = [line for line in text.splitlines() if line.endswith("rule")]
    num_topics = len(RUN.default_topics)
    assert rules == [r"\toprule", *[r"\midrule"] * num_topics, r"\bottomrule"]
    rows = [line.removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]
    cells = [cell for row in rows for cell in re.split(r"(?<!\\) ?& ", row)]
    plain = re.compile("|".join(re.escape(written) for written in PLAIN))
    read = []
    for cell in cells:
        spread = re.sub(r"\\multicolumn\{4\}\{@\{\}l@\{\}\}\{(.*)\}$", r"\1", cell)
        bare = re.sub(r"\\textbf\{((?:\\.|[^{}]|\{\})*)\}", r"\1", spread)
        assert not re.search(r"(?<!\\)[&%$#_^~]", plain.sub("", bare))
        read.append(plain.sub(lambda found: PLAIN[found.group()], bare))
    assert [cell.strip() for cell in read if cell.strip()] == find_texts()


def test_the_table_has_the_topics_and_the_order_of_words_that_were_selected():
    last = RUN.columns[-1]
    for by_relevance in (False, True):
        rows = list_rows(RUN, [2], by_relevance)
        (title,) = [row.cells[0][0] for row in rows if row.kind == "title"]
        assert title == RUN.topic_title(2)
        found = last.find_words(by_relevance)[last.topic_ids.tolist().index(2)]
        words = [row.cells[-1][0].removeprefix("+ ").removeprefix("↑ ") for row in rows[3:-1]]
        assert words == [RUN.vocabulary[word].replace("\x00", " ").strip() for word in found[:10]]


@pytest.mark.parametrize("listed", [[], None])
def test_an_empty_table_is_not_written(tmp_path, listed):
    run = RUN if listed == [] else replace(RUN, columns=())
    with pytest.raises(ValueError, match="empty"):
        write(tmp_path / "table.svg", run, listed)
