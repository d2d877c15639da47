"""What a browser shows of a run until the page is drawn."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import jinja2
import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.frames.word_table import table_blocks, table_columns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.session import page
from stickbreaker.app.session.opening import (
    CURVE_HEIGHT,
    MOST_COLUMNS,
    PHONE_COLUMNS,
    describe_opening,
)
from tests.app.small_runs import learn, small_corpus, small_spec

TEMPLATE = Path(page.__file__).with_name("page.html").read_text(encoding="utf-8")
OPENING = TEMPLATE[
    TEMPLATE.index('<div id="opening">') : TEMPLATE.index("<!-- end of the opening -->")
]


def learn_markup():
    """The finished run of a corpus whose words are markup."""
    words = engine.Vocabulary(tuple(f"<b>{number}&" for number in range(20)))
    corpus = replace(small_corpus(), vocabulary=words)
    return learn(corpus, small_spec()).progress(1)


@pytest.fixture(scope="module")
def finished():
    return learn_markup()


def render(progress):
    return jinja2.Template(OPENING).render(
        title="Stickbreaker", opening=describe_opening(progress, "small")
    )


def test_a_run_that_has_not_learned_yet_has_only_text():
    opening = describe_opening(Progress(), "small")
    assert opening["figures"] == []
    assert opening["topics"] == []
    assert opening["blocks"] == []
    assert opening["curve"] is None
    shown = render(Progress())
    assert "<dl>" not in shown
    assert "<table" not in shown


def test_the_opening_has_the_numbers_topics_and_words_of_the_run_as_text(finished):
    shown = render(finished)
    assert "<b>" not in shown
    texts = [unescape(text) for text in re.findall(r"<td>([^<]+)</td>", shown)]
    last = finished.columns[-1]
    words = finished.vocabulary.words
    for block in describe_opening(finished, "small")["blocks"]:
        (row,) = (
            at for at, k in enumerate(last.topic_ids) if finished.topic_title(k) == block["title"]
        )
        assert [ranks[-1] for ranks in block["words"]] == [
            words[word] for word in last.find_words(True)[row]
        ]
        assert {word for ranks in block["words"] for word in ranks} <= {*texts, ""}
    assert f"−{abs(finished.heldout['nats_per_word'][-1]):.3f}" in shown
    assert shown.count("<tbody>") == len(describe_opening(finished, "small")["blocks"])


def test_before_the_first_column_the_words_of_the_moment_are_there_with_the_documents_read_so_far(
    finished,
):
    early = replace(finished, status="running", columns=(), planned_columns=(10_000, 20_000))
    columns, blocks = table_columns(early), table_blocks(early)
    so_far = {"documents": f"{early.now.documents_seen:,}", "date": "now", "reached": False}
    assert columns == [so_far, {"documents": "20,000", "date": "planned", "reached": False}]
    for block in blocks:
        place = early.now.topic_ids.tolist().index(block["topic_id"])
        words = [early.vocabulary[word] for word in early.now.find_words(True)[place]]
        assert [first[0] for first, _ in block["cells"]] == words
        assert [later for _, later in block["cells"]] == [None] * 10
        assert block["note"] == f"{100 * early.now.weights[place]:.1f} % of the model's weight now"
    opening = describe_opening(early, "small")
    assert opening["columns"] == [so_far]
    assert [block["title"] for block in opening["blocks"]] == [block["title"] for block in blocks]


def test_the_curve_fills_its_box_and_has_its_lowest_and_highest_value(finished):
    curve, scores = describe_opening(finished, "small")["curve"], finished.heldout["nats_per_word"]
    heights = [float(point.split(",")[1]) for point in curve["points"].split()]
    assert len(heights) == len(scores)
    assert heights[int(np.argmin(scores))] == CURVE_HEIGHT
    assert heights[int(np.argmax(scores))] == 0
    assert [curve["low"], curve["high"]] == [
        f"−{-value:.2f}" for value in (scores.min(), scores.max())
    ]


def test_only_the_newest_columns_are_there_and_fewer_on_a_phone(finished):
    many = replace(finished, columns=finished.columns[:1] * MOST_COLUMNS + finished.columns)
    opening = describe_opening(many, "small")
    assert len(opening["columns"]) == len(opening["blocks"][0]["words"][0]) == MOST_COLUMNS
    assert opening["columns"][-1]["documents"] == f"{finished.columns[-1].documents_seen:,}"
    heads = re.findall(r'<th scope="col"( class="wide")?>', render(many))
    assert heads == [' class="wide"'] * (MOST_COLUMNS - PHONE_COLUMNS) + [""] * PHONE_COLUMNS
