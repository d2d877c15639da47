"""The papers' figures: what is drawn, and that each committed picture is shown and described."""

import re
from pathlib import Path

import pandas as pd
import pytest

from notebooks.drawings import Axes, draw_panels, draw_word_lists
from notebooks.paper_figures import FIGURES, Setup

FOLDER = Path(__file__).parents[1] / "notebooks"
DRAWN = sorted(path.stem for path in (FOLDER / "figures").glob("*.png"))


def test_panels_share_a_y_axis_and_one_legend_with_every_line():
    frame = pd.DataFrame(
        {"panel": ["one", "one", "two"], "line": ["a", "b", "a"], "x": [1, 2, 3], "y": [-7.0, -8.0, -6.0]}
    )
    one, two = draw_panels(frame, Axes("S", "nats")).children
    assert one.y_range.start == two.y_range.start < -8 < -6 < two.y_range.end
    assert not one.legend
    assert [item.label.value for item in two.legend[0].items] == ["a", "b"]


def test_words_that_a_topic_keeps_have_another_colour_than_words_that_it_drops():
    frame = pd.DataFrame(
        {"topic": "t", "column": ["1", "1", "2", "2"], "rank": [1, 2, 1, 2], "word": ["war", "gold", "war", "navy"]}
    )
    texts = [
        (each.data_source.data["text"], each.glyph.text_color) for each in draw_word_lists(frame, "read").renderers[-2:]
    ]
    assert [words for words, _ in texts] == [["war", "war", "navy"], ["gold"]]
    assert texts[0][1] != texts[1][1]


@pytest.mark.parametrize("name", ["wang-blei-2012-fig-2", "wang-blei-2012-fig-3"])
def test_a_figure_is_drawn_fast_from_few_documents(name, tmp_path):
    frame, drawn = FIGURES[name](Setup(tmp_path, is_fast=True))
    assert {"panel", "line", "x", "y"} <= set(frame.columns)
    assert frame["y"].notna().all()
    assert len(drawn.children) == frame["panel"].nunique()


@pytest.mark.parametrize("name", ["wang-2011-table-1", "hoffman-2010-fig-1"])
def test_word_lists_are_drawn_fast_from_few_documents(name, tmp_path):
    frame, drawn = FIGURES[name](Setup(tmp_path, is_fast=True))
    assert frame["word"].notna().all()
    assert set(frame["rank"]) <= set(range(1, 11))
    assert drawn.renderers


@pytest.mark.parametrize("name", DRAWN)
def test_a_committed_figure_is_in_the_readme_and_its_numbers_are_next_to_it(name):
    assert name in FIGURES
    assert (FOLDER / "figures" / f"{name}.csv").is_file()
    assert f"figures/{name}.png" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_picture_of_the_readme_exists_and_has_an_alternative_text():
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert pictures
    assert all(text and (FOLDER / path).is_file() for text, path in pictures)
