"""Coherence of topics of other libraries."""

import numpy as np
import pytest

from stickbreaker import engine

TEXTS = ["war peace treaty", "war peace", "cotton trade", "cotton trade grain", "peace grain"]


def test_topics_as_words_have_the_coherence_that_the_model_has_for_its_topics():
    corpus = engine.CorpusVectorizer().fit_transform(TEXTS)
    model = engine.OnlineLDA(max_topics=2, passes=5, random_state=0).fit(corpus)
    own = model.coherence(corpus)
    scores = engine.score_topics([words.split(", ") for words in own["words"]], corpus)
    np.testing.assert_allclose(scores["npmi"], own["npmi"])
    assert scores["missing"].eq("").all()


def test_words_that_the_corpus_does_not_have_are_named_and_do_not_count():
    corpus = engine.CorpusVectorizer().fit_transform(TEXTS)
    topics = [["cotton", "tea", "trade"], ["cotton", "trade"], ["tea"], []]
    scores = engine.score_topics(topics, corpus)
    assert scores["missing"].tolist() == ["tea", "", "tea", ""]
    np.testing.assert_allclose(scores["npmi"][:2], 1.0)
    assert scores["npmi"].isna().tolist() == [False, False, True, True]


def test_a_topic_that_is_one_text_is_refused():
    corpus = engine.CorpusVectorizer().fit_transform(TEXTS)
    with pytest.raises(ValueError, match="list of its words"):
        engine.score_topics(["cotton trade"], corpus)
