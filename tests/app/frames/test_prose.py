"""The text of a document with the topic of each counted word."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.app.frames.prose import ProsePiece, order_topics, snippet, tint
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.word_choices import WordChoices

WORDS = ("é", "new york", "peace", "war")


@pytest.fixture
def reading():
    """A document in two topics: topic 7 has peace and é, topic 9 has war and the phrase."""
    corpus = Corpus(
        "one", [[1, 1, 2, 1]], Vocabulary(WORDS), np.array(["1900"], "datetime64[Y]"), ("One",)
    )
    topics = np.array([[0.4, 0.1, 0.4, 0.1], [0.1, 0.4, 0.1, 0.4]])
    summary = SimpleNamespace(topic_ids=np.array([7, 9]), topics=topics)
    return SimpleNamespace(corpus=corpus, summary=summary, doc_shares=csr_array([[0.5, 0.5]]))


def test_each_counted_word_has_its_likeliest_topic_and_the_text_stays(reading):
    text = "PEACE, <b>war</b> in New York!\n"
    pieces = tint(reading, 0, text)
    assert "".join(piece.text for piece in pieces) == text
    assert [piece for piece in pieces if piece.topic_id is not None] == [
        ProsePiece("PEACE", 7),
        ProsePiece("war", 9),
        ProsePiece("New", 9),
        ProsePiece("York", 9),
    ]
    assert order_topics(pieces) == [9, 7]


def test_letters_and_marks_are_joined_before_words_are_compared(reading):
    assert tint(reading, 0, "e\u0301") == [ProsePiece("é", 7)]


def test_a_text_without_counted_words_is_one_piece(reading):
    assert tint(reading, 0, "of 1812") == [ProsePiece("of 1812", None)]
    assert tint(reading, 0, "") == []
    assert order_topics([]) == []


def test_a_topic_that_a_document_lacks_does_not_get_its_words(reading):
    only = SimpleNamespace(**vars(reading) | {"doc_shares": csr_array([[1.0, 0.0]])})
    assert {piece.topic_id for piece in tint(only, 0, "war peace")} == {7, None}


def test_words_of_texts_without_spaces_and_forms_of_lemmas_have_their_topics(reading):
    pytest.importorskip("jieba")
    pytest.importorskip("simplemma")
    words = ("war", "关税", "影响", "贸易")
    corpus = replace(
        reading.corpus,
        vocabulary=Vocabulary(words),
        word_choices=WordChoices(tokenizer="chinese", lemmas="en"),
    )
    text = "Wars: 关税影响了贸易。"
    pieces = tint(SimpleNamespace(**vars(reading) | {"corpus": corpus}), 0, text)
    assert "".join(piece.text for piece in pieces) == text
    assert [tuple(piece) for piece in pieces if piece.topic_id is not None] == [
        ("Wars", 7),
        ("关税", 9),
        ("影响", 7),
        ("贸易", 9),
    ]


def test_a_snippet_shows_the_words_that_were_searched():
    text = "of the " * 100 + "TREATY of peace " + "and so on " * 100
    piece = snippet(text, "treaty OF")
    assert piece.startswith("… ")
    assert piece.endswith(" …")
    assert "TREATY of peace" in piece
    assert len(piece) <= 170
    assert snippet("short text", "absent") == "short text"
