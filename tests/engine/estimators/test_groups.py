"""Tables of topics and scores by group."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from stickbreaker import engine
from stickbreaker.engine.simulate import simulate_hdp

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
    numbered = model.words_by_group(tiny_corpus, topic_id, 0, groups=[0, 1] * 6)
    assert numbered.equals(table)


def test_counts_of_the_words_of_the_model_have_groups_too(model, tiny_corpus):
    counts = tiny_corpus.counts
    shares = model.shares_by_group(counts, GROUPS)
    assert shares.equals(model.shares_by_group(tiny_corpus, GROUPS))
    words = model.words_by_group(counts, 0, "war", groups=GROUPS)
    assert words.equals(model.words_by_group(tiny_corpus, 0, "war", groups=GROUPS))


def test_scores_of_groups_are_those_of_their_documents_and_their_mean_is_the_score(
    model, tiny_corpus
):
    table = model.score_by_group(tiny_corpus, GROUPS).set_index("group")
    for group in ("war", "trade"):
        own = tiny_corpus.select(np.array([each == group for each in GROUPS]))
        assert table["nats_per_word"][group] == pytest.approx(model.score(own))
        assert table["documents"][group] == 6
    mean = np.average(table["nats_per_word"], weights=table["tokens"])
    assert mean == pytest.approx(model.score(tiny_corpus))


def test_between_groups_drawn_at_random_nothing_differs_by_more_than_chance():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(60, 0.1), 5)
    corpus = simulate_hdp(topics, 400, 40, 1.0, 2.0, rng).corpus
    model = engine.OnlineLDA(max_topics=6, passes=5, random_state=0).fit(corpus)
    whole = model.score(corpus)
    far = {"shares": [], "scores": [], "words": []}
    for _ in range(20):
        groups = rng.permutation(np.arange(400) % 4).astype(str)
        scores = model.score_by_group(corpus, groups)
        far["scores"].append(((scores["low"] > whole) | (scores["high"] < whole)).mean())
        shares = model.shares_by_group(corpus, groups)
        is_far = (shares["low"] > shares["whole"]) | (shares["high"] < shares["whole"])
        far["shares"].append(is_far.mean())
        topic_id = int(shares["topic_id"][0])
        words = model.words_by_group(corpus, topic_id, "0", groups=groups)
        far["words"].append((words["z"].abs() > 1.96).mean())
    for rates in far.values():
        # What one draw of groups gives is dependent: the error is that of the mean over draws.
        error = np.std(rates) / np.sqrt(len(rates))
        assert np.mean(rates) < 0.05 + 3 * error


def test_what_is_not_there_is_named(model, tiny_corpus):
    with pytest.raises(ValueError, match="have no groups"):
        model.shares_by_group(tiny_corpus)
    with pytest.raises(ValueError, match="2 groups for 12 documents"):
        model.shares_by_group(tiny_corpus, ["war", "trade"])
    with pytest.raises(ValueError, match="There is no topic 9"):
        model.words_by_group(tiny_corpus, 9, "war", groups=GROUPS)
    with pytest.raises(ValueError, match="There is no group 'peace'"):
        model.words_by_group(tiny_corpus, 0, "peace", groups=GROUPS)
    with pytest.raises(ValueError, match="Both groups are 'war'"):
        model.words_by_group(tiny_corpus, 0, "war", "war", GROUPS)
    with pytest.raises(NotFittedError):
        engine.OnlineLDA().score_by_group(tiny_corpus, GROUPS)
