"""A text that the user types, as the model reads it."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.typed_text import read_typed
from stickbreaker.app.state import RunState
from stickbreaker.app.views.typed_text import TypedText
from stickbreaker.engine import Vocabulary, WordChoices
from stickbreaker.engine.corpora.documents import Documents
from tests.app.small_runs import learn, small_corpus, small_spec

TEXT = "Word3 and word3, word7: harbour!"


@pytest.fixture(scope="module")
def record():
    return learn(small_corpus(), small_spec())


@pytest.fixture
def view(record):
    view = TypedText(RunState(), record.model)
    view.state.publish(record.progress(1))
    return view


def read(record, text):
    model = record.model()
    summary = model.algorithm.summarize(model.config, model.state)
    return model, summary, read_typed(model, summary, text)


def test_a_typed_text_is_inferred_as_a_document_with_its_counts(record):
    model, summary, reading = read(record, TEXT)
    document = Documents(np.array([0, 2]), np.array([3, 7], np.int32), np.array([2, 1], np.int32))
    expected = model.algorithm.infer(model.config, model.state, document)[0]
    np.testing.assert_array_equal(reading.shares, expected)
    assert reading.unknown == ["and", "harbour"]
    assert reading.num_words == 5
    assert "".join(piece.text for piece in reading.pieces) == TEXT
    colored = {piece.text: piece.topic_id for piece in reading.pieces if piece.topic_id is not None}
    assert colored == {
        word: summary.topic_ids[np.argmax(expected * summary.topics[:, column])]
        for word, column in (("Word3", 3), ("word3", 3), ("word7", 7))
    }


@pytest.mark.parametrize("text", ["", "   ", "harbour", "!?"])
def test_a_text_without_a_known_word_has_no_topic(record, view, text):
    _, _, reading = read(record, text)
    assert len(reading.shares) == 0
    assert all(piece.topic_id is None for piece in reading.pieces)
    view.text.value_input = text
    assert view.topics.rows == []


def test_the_view_reads_at_each_letter_and_escapes_what_is_typed(record, view):
    view.text.value_input = "word3 <b>word4</b>"
    read = record.progress(1).documents_seen
    assert f"Read with the model after {read:,} documents." in view.said.object
    assert "&lt;" in view.said.object
    assert "<b>" not in view.said.object
    assert "2 of 4 words counted. Not in the vocabulary: b." in view.said.object
    shares = [row["share"] for row in view.topics.rows]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 1 + 1e-6
    view.text.value_input = ""
    assert view.said.object == ""


def test_a_text_waits_for_the_first_mini_batch():
    view = TypedText(RunState(), lambda: None)
    view.text.value_input = "word3"
    assert "after its first mini-batch" in view.said.object


def test_a_typed_text_is_read_with_the_word_choices_of_its_corpus(record):
    """Phrases count across stop words, and a stop word of the corpus does not count."""
    choices = WordChoices(max_ngram=2, languages=("english",), own_stop_words="word7")
    words = ("word3 harbour", *(f"word{i}" for i in range(1, 20)))
    model = record.model()
    corpus = replace(model.corpus, vocabulary=Vocabulary(words), word_choices=choices)
    summary = model.algorithm.summarize(model.config, model.state)
    reading = read_typed(replace(model, corpus=corpus), summary, "Word3 of the harbour, word7")
    assert reading.unknown == ["of", "the", "harbour", "word7"]
    document = Documents(np.array([0, 2]), np.array([0, 3], np.int32), np.array([1, 1], np.int32))
    expected = model.algorithm.infer(model.config, model.state, document)[0]
    np.testing.assert_array_equal(reading.shares, expected)


def test_a_text_without_spaces_between_words_says_what_to_do(view):
    view.text.value_input = "ထိုနေ့တွင်ငြိမ်းချမ်းရေးစာချုပ်ကိုလက်မှတ်ရေးထိုးခဲ့သည်"
    assert "separate the words with spaces" in view.said.object
