"""Tables of topics by group."""

import numpy as np
import pytest

from stickbreaker import engine

GROUPS = ["war", "trade"] * 6


@pytest.fixture(scope="module")
def model(tiny_corpus):
    return engine.OnlineLDA(max_topics=2, passes=50, random_state=0).fit(tiny_corpus)


def test_shares_of_groups_are_the_tokens_of_their_documents(model, tiny_corpus):
    table = model.shares_by_group(tiny_corpus, GROUPS)
    shares = model.transform(tiny_corpus)
    tokens = np.asarray(tiny_corpus.counts.sum(1)).ravel()
    assert set(table["topic_id"]) == set(model.topics_frame()["topic_id"])
    for row in table.itertuples():
        own = np.array([group == row.group for group in GROUPS])
        column = shares[:, model.topic_ids_.tolist().index(row.topic_id)]
        assert row.share == pytest.approx(column[own] @ tokens[own] / tokens[own].sum())
        assert row.whole == pytest.approx(column @ tokens / tokens.sum())
        assert row.low <= row.share <= row.high
        assert row.documents == 6


def test_words_of_groups_are_those_of_their_documents(model, tiny_corpus):
    topic_id = int(model.topics_frame()["topic_id"][0])
    table = model.words_by_group(tiny_corpus, topic_id, "war", groups=GROUPS)
    by_word = table.set_index("word")["log_odds"]
    war, trade = ({"army", "navy"}, {"cotton", "tariff"})
    assert min(by_word.get(word, 9) for word in war) > max(by_word.get(w, -9) for w in trade)
    same = model.words_by_group(tiny_corpus, topic_id, "war", "trade", GROUPS)
    assert same.equals(table)


def test_what_is_not_there_is_named(model, tiny_corpus):
    with pytest.raises(ValueError, match="have no groups"):
        model.shares_by_group(tiny_corpus)
    with pytest.raises(ValueError, match="2 groups for 12 documents"):
        model.shares_by_group(tiny_corpus, ["war", "trade"])
    with pytest.raises(ValueError, match="There is no topic 9"):
        model.words_by_group(tiny_corpus, 9, "war", groups=GROUPS)
    with pytest.raises(ValueError, match="There is no group 'peace'"):
        model.words_by_group(tiny_corpus, 0, "peace", groups=GROUPS)
