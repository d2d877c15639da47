"""The figures of the papers: their contents, and that each committed picture is in the README with
a description.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from bokeh.models import Whisker

from notebooks import figure_runs, redraw
from notebooks.drawings import (
    TOPICS,
    WORDS,
    Axes,
    draw_above_topics,
    draw_panels,
    draw_word_lists,
    measure,
)
from notebooks.figure_runs import (
    Followed,
    Setup,
    average,
    draw_documents,
    follow,
    score,
    score_words,
)
from notebooks.paper_figures import FIGURES
from stickbreaker.engine.inference.held_words import split_tokens

FOLDER = Path(__file__).parents[1] / "notebooks"
DRAWN = sorted(path.stem for path in (FOLDER / "figures").glob("*.png"))


def test_panels_share_a_y_axis_and_one_legend_with_every_line():
    frame = pd.DataFrame(
        {
            "panel": ["one", "one", "two"],
            "line": ["a", "b", "a"],
            "x": [1, 2, 3],
            "y": [-7.0, -8.0, -6.0],
        }
    )
    one, two = draw_panels(frame, Axes("S", "nats")).children
    assert one.y_range.start == two.y_range.start < -8 < -6 < two.y_range.end
    assert not one.legend
    assert [item.label.value for item in two.legend[0].items] == ["a", "b"]


def test_topics_in_use_are_below_each_panel_from_zero_on():
    frame = pd.DataFrame({"panel": ["one", "two"], "line": "a", "x": [1, 2], "y": [-7.0, -8.0]})
    drawn = draw_above_topics(
        frame, frame.assign(y=[30.0, 70.0]), Axes("S", "nats", True, at=(1, 2))
    )
    above, below = drawn.children
    assert [len(each.children) for each in (above, below)] == [2, 2]
    assert below.children[0].yaxis.axis_label == TOPICS
    assert below.children[0].y_range.start == 0 < 70 < below.children[0].y_range.end
    assert below.children[0].xaxis.ticker.ticks == [1, 2]
    widths = [sum(each.width for each in line.children) for line in (above, below)]
    heights = [line.children[0].height for line in (above, below)]
    assert measure(drawn) == (max(widths), sum(heights))


def test_a_picture_is_old_as_soon_as_the_engine_gives_other_numbers(monkeypatch, tmp_path):
    def give(y):
        monkeypatch.setitem(
            FIGURES, "figure", lambda setup: (pd.DataFrame({"line": ["a"], "x": y, "y": y}), None)
        )

    give(-7.0)
    monkeypatch.setattr(redraw, "take_picture", lambda drawn, path: None)
    assert not redraw.is_of_today("figure", tmp_path)
    redraw.redraw("figure", Setup(tmp_path), tmp_path)
    assert redraw.is_of_today("figure", tmp_path)
    give(-7.02)
    assert not redraw.is_of_today("figure", tmp_path)


def test_words_that_a_topic_keeps_have_another_colour_than_words_that_it_drops():
    frame = pd.DataFrame(
        {
            "topic": "t",
            "column": ["1", "1", "2", "2"],
            "rank": [1, 2, 1, 2],
            "word": ["war", "gold", "war", "navy"],
        }
    )
    texts = [
        (each.data_source.data["text"], each.glyph.text_color)
        for each in draw_word_lists(frame, "read").renderers[-2:]
    ]
    assert [words for words, _ in texts] == [["war", "war", "navy"], ["gold"]]
    assert texts[0][1] != texts[1][1]


def test_points_are_means_over_seeds_with_deviations_only_where_all_seeds_have_a_value():
    rows = [(seed, step, 2.0 * step + seed) for seed in (0, 1) for step in (1, 2)] + [(0, 3, 9.0)]
    frame = pd.DataFrame(rows, columns=["seed", "step", "nats"]).assign(line="a")
    found = average(frame, ["step"], "step", "nats")
    assert found["x"].tolist() == [1, 2]
    assert found["y"].tolist() == [2.5, 4.5]
    assert found["deviation"].tolist() == pytest.approx([0.5**0.5] * 2)


def test_error_bars_have_one_deviation_on_each_side_and_are_inside_the_axis():
    frame = pd.DataFrame(
        {"panel": "one", "line": "a", "x": [1, 2], "y": [-7.0, -8.0], "deviation": [0.5, 2.0]}
    )
    (drawn,) = draw_panels(frame, Axes("S", "nats")).children
    (bars,) = drawn.select(Whisker)
    assert bars.source.data["low"].tolist() == [-7.5, -10.0]
    assert bars.source.data["high"].tolist() == [-6.5, -6.0]
    assert drawn.y_range.start < -10 < -6 < drawn.y_range.end


def test_word_frequencies_are_a_level_line_in_each_panel():
    frame = pd.DataFrame(
        {"panel": ["one", "one", "two"], "line": "a", "x": [1, 5, 3], "y": [-7.0, -8.0, -6.0]}
    )
    words = Setup(Path(), num_documents=60).add_words(frame, "tokens_90_10").iloc[3:]
    assert words[["panel", "line", "x"]].to_numpy().tolist() == [
        [panel, WORDS, x] for panel, x in (("one", 1), ("one", 5), ("two", 3), ("two", 3))
    ]
    assert words["y"].nunique() == 1
    corpus = draw_documents("state-of-the-union", 60, 0)
    train, test = figure_runs.split_corpus(corpus, figure_runs.SHUFFLED)
    held = split_tokens(test.documents(), test.doc_ids, 0)
    counts = train.counts.toarray().sum(0) + 0.01
    nats = [
        count * np.log(counts[word] / counts.sum())
        for word, count in zip(held.words, held.counts, strict=True)
    ]
    assert words["y"].iloc[0] == pytest.approx(sum(nats) / held.num_tokens)


@pytest.mark.parametrize("protocol", ["disjoint_words", "importance_sampling", "within_documents"])
def test_word_frequencies_have_a_score_by_each_protocol(protocol):
    assert -10 < score_words(draw_documents("state-of-the-union", 60, 0), protocol, 0) < -6


def test_a_run_within_documents_does_not_read_the_words_on_which_it_is_scored(monkeypatch):
    read, prepare = [], figure_runs.prepare_training
    monkeypatch.setattr(
        figure_runs, "prepare_training", lambda *given: read.append(given[2]) or prepare(*given)
    )
    asked = Followed(
        "batch-lda", {"max_topics": 5}, 3, num_documents=60, protocol="within_documents"
    )
    frame = follow(asked, 0)
    whole = draw_documents("state-of-the-union", 60, 0)
    held = split_tokens(whole.documents(), whole.doc_ids, 0)
    assert read[0].num_tokens == whole.num_tokens - held.num_tokens
    assert frame["step"].tolist() == [1, 2, 3]
    assert frame["nats"].between(-10, -5).all()


def test_a_sampler_predicts_known_documents_by_the_mean_over_its_samples():
    held = SimpleNamespace(counts=np.array([1, 3]), num_tokens=4)
    found = score(
        "within_documents", None, None, held, [np.array([0.1, 0.2]), np.array([0.3, 0.6])]
    )
    assert found == pytest.approx((np.log(0.2) + 3 * np.log(0.4)) / 4)


FEW = {"seeds": (0,), "num_documents": 60}


@pytest.mark.notebooks
@pytest.mark.parametrize("name", ["wang-blei-2012-fig-2", "wang-blei-2012-fig-3"])
def test_a_figure_is_drawn_from_few_documents(name, tmp_path):
    frame, drawn = FIGURES[name](Setup(tmp_path, **FEW))
    assert {"panel", "line", "x", "y"} <= set(frame.columns)
    assert frame["y"].notna().all()
    assert len(drawn.children) == frame["panel"].nunique()


@pytest.mark.notebooks
def test_a_figure_of_scores_has_the_topics_in_use_of_the_same_panels_below_it(tmp_path):
    frame, drawn = FIGURES["hoffman-2010-fig-1-top"](Setup(tmp_path, **FEW))
    above, below = (line.children for line in drawn.children)
    titles = [panel.title.text for panel in (*above, *below)]
    assert titles == [titles[0]] * 2
    assert list(dict.fromkeys(frame["panel"])) == [titles[0], f"{TOPICS}: {titles[0]}"]
    assert frame["y"].gt(0).all()


@pytest.mark.notebooks
@pytest.mark.parametrize("name", ["wang-2011-table-1", "wang-blei-2012-fig-2"])
def test_a_figure_that_is_computed_twice_is_of_today(name, monkeypatch, tmp_path):
    monkeypatch.setattr(redraw, "FEW_DOCUMENTS", 60)
    (tmp_path / f"{name}-few.csv").write_text(redraw.run_few(name), encoding="utf-8")
    assert redraw.is_of_today(name, tmp_path)


@pytest.mark.notebooks
@pytest.mark.parametrize("name", ["wang-2011-table-1", "hoffman-2010-fig-1"])
def test_word_lists_are_drawn_from_few_documents(name, tmp_path):
    frame, drawn = FIGURES[name](Setup(tmp_path, **FEW))
    assert frame["word"].notna().all()
    assert set(frame["rank"]) <= set(range(1, 11))
    assert drawn.renderers


@pytest.mark.parametrize("name", DRAWN)
def test_a_committed_figure_is_in_the_readme_and_its_numbers_are_next_to_it(name):
    assert name in FIGURES
    assert (FOLDER / "figures" / f"{name}.csv").is_file()
    assert f"figures/{name}.png" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_picture_of_the_readme_exists_and_has_an_alternative_text():
    pictures = re.findall(
        r"!\[(.*?)\]\((.*?)\)", (FOLDER / "README.md").read_text(encoding="utf-8")
    )
    assert pictures
    assert all(text and (FOLDER / path).is_file() for text, path in pictures)
