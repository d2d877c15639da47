"""Estimators that learn from streams."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.estimators import OnlineHDP, OnlineLDA, online_model
from tests.engine.estimators.small_models import bits, make, of_online, unknown_length


@of_online
def test_an_interrupted_fit_keeps_the_last_complete_step_and_continues_from_it(kind, tiny_corpus):
    def interrupt(update):
        if update.stepped.documents_seen == 8:
            raise KeyboardInterrupt

    model, stream = make(kind), make(kind)
    with pytest.warns(UserWarning, match="Interrupted: the model has read 8 of 36 documents"):
        model.fit(tiny_corpus, callback=interrupt)
    stream.partial_fit(tiny_corpus.select(range(8)), corpus_size=12)
    assert bits(model) == bits(stream)
    assert (model.documents_seen_, model.corpus_size_) == (8, 12)
    rest = tiny_corpus.select(range(8, 12))
    assert bits(model.partial_fit(rest, corpus_size=12)) == bits(
        stream.partial_fit(rest, corpus_size=12)
    )


@of_online
def test_documents_of_an_interrupted_partial_fit_do_not_count(kind, tiny_corpus, monkeypatch):
    model, expected, take_step = make(kind), make(kind), online_model.take_step

    def interrupt(algorithm, config, state, batch, *others):
        if 8 in batch.doc_ids:
            raise KeyboardInterrupt
        return take_step(algorithm, config, state, batch, *others)

    with monkeypatch.context() as patch:
        patch.setattr(online_model, "take_step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(tiny_corpus, corpus_size=100)
    expected.partial_fit(tiny_corpus.select(range(8)), corpus_size=100)
    assert model.documents_seen_ == expected.documents_seen_ == 8
    rest = tiny_corpus.select(range(8, 12))
    assert bits(model.partial_fit(rest, corpus_size=100)) == bits(
        expected.partial_fit(rest, corpus_size=100)
    )


@of_online
def test_a_stream_of_known_length_gives_the_same_model_as_fit(kind, tiny_corpus):
    whole = make(kind, passes=1).fit(tiny_corpus)
    stream = make(kind)
    for first in (0, 4, 8):
        stream.partial_fit(tiny_corpus.counts[first : first + 4], corpus_size=12)
    assert bits(stream) == bits(whole)
    assert (stream.documents_seen_, stream.corpus_size_) == (12, 12)


@unknown_length
@of_online
def test_a_stream_that_starts_with_an_empty_document_stays_finite(kind):
    model, rng = make(kind), np.random.default_rng(0)
    for number in range(1, 20):
        model.partial_fit(rng.poisson(0.5 * (number > 1), (1, 7)))
        assert np.isfinite(model.components_).all()
        assert np.isfinite(model.transform(np.eye(7, dtype=int))).all()
        assert model.documents_seen_ == number


@of_online
def test_partial_fit_after_a_fit_learns_from_every_document(kind):
    early, late = np.random.default_rng(0).poisson(1.0, (2, 12, 9))
    learned = [bits(make(kind).fit(early))]
    for changed in (None, 0, 5, 11):
        others = late.copy()
        if changed is not None:
            others[changed] += 1
        model = make(kind).fit(early)
        steps = model.state_.step
        learned.append(bits(model.partial_fit(others)))
        assert (model.state_.step, model.documents_seen_) == (steps + 3, 24)
    assert all(one != other for one, other in combinations(learned, 2))


@unknown_length
@of_online
def test_the_corpus_size_follows_the_stream(kind):
    model, chunk = make(kind, batch_size=350), np.ones((700, 2), int)
    for seen in range(700, 5601, 700):
        # If the corpus were only as large as the stream so far, the first pass would be over at
        # each step.
        assert model.partial_fit(chunk).corpus_size_ == max(seen, 4096)
    tokens = model.algorithm.summarize(model.config_, model.state_).expected_tokens.sum()
    assert 2 * 4096 < tokens <= 2 * 5600 * (1 + 1e-6)
    model.partial_fit(chunk, corpus_size=10_000)
    assert model.corpus_size_ == 10_000
    assert model.fit(chunk).corpus_size_ == 700


@of_online
def test_only_a_new_model_warns_that_the_number_of_documents_is_not_known(kind, tiny_corpus):
    model = make(kind)
    with pytest.warns(UserWarning, match="pass corpus_size, their number or a guess"):
        model.partial_fit(tiny_corpus)
    model.partial_fit(tiny_corpus)
    make(kind).fit(tiny_corpus).partial_fit(tiny_corpus)


@of_online
def test_the_history_has_each_topic_at_each_checkpoint_by_its_id(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    columns = [
        "topic_id",
        "checkpoint",
        "documents_seen",
        "date",
        "weight",
        "rank",
        "word",
        "probability",
    ]
    assert list(model.history_) == columns
    last = model.history_.query("checkpoint == checkpoint.max()").reset_index(drop=True)
    now = model.topics_frame().drop(columns="label")
    pd.testing.assert_frame_equal(last[list(now)], now)
    ends = model.history_.groupby("checkpoint")[["documents_seen", "date"]].first()
    assert ends["documents_seen"].tolist() == list(range(4, 40, 4))
    assert ends["date"].dt.year.tolist() == [1791, 1793, 1795] * 3
    model.partial_fit(tiny_corpus.select(range(6)))
    added = model.history_[model.history_["checkpoint"] == 9]
    assert added["documents_seen"].unique().tolist() == [18]
    assert added["date"].dt.year.unique().tolist() == [1792]


@of_online
def test_the_history_of_a_stream_has_a_checkpoint_for_each_growth_by_a_quarter(kind, tiny_corpus):
    model = make(kind)
    for row in range(12):
        model.partial_fit(tiny_corpus.counts[row : row + 1], corpus_size=12)
    seen = model.history_.groupby("checkpoint")["documents_seen"].first()
    assert seen.tolist() == [1, 2, 3, 4, 5, 7, 9, 12]
    for first in (0, 2, 4):
        model.partial_fit(tiny_corpus.counts[first : first + 2], corpus_size=18)
    assert model.history_["documents_seen"].max() == 16


@pytest.mark.parametrize("kind", [OnlineHDP, OnlineLDA])
def test_the_size_of_a_population_stays_when_more_documents_come(kind, tiny_corpus):
    counts = tiny_corpus.counts
    known, fixed = (make(kind, batch_size=4) for _ in range(2))
    known.partial_fit(counts[:8], corpus_size=8)
    fixed.partial_fit(counts[:8], corpus_size=8, is_population=True)
    np.testing.assert_array_equal(known.components_, fixed.components_)
    known.partial_fit(counts[8:16], corpus_size=8)
    fixed.partial_fit(counts[8:16], corpus_size=8, is_population=True)
    assert (known.corpus_size_, fixed.corpus_size_) == (4096, 8)
    with pytest.raises(ValueError, match="is_population=True needs corpus_size"):
        fixed.partial_fit(counts, is_population=True)


@unknown_length
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [True, True]),
        ({"corpus_size": 12}, [False, True]),
        ({"corpus_size": 99}, [False, False]),
        ({"corpus_size": 12, "is_population": True}, [True, True]),
    ],
)
def test_steps_know_whether_all_documents_are_new(asked, expected, tiny_corpus, monkeypatch):
    known, take_step = [], online_model.take_step

    def spy(algorithm, config, state, batch, *others):
        known.append(batch.is_stream)
        return take_step(algorithm, config, state, batch, *others)

    monkeypatch.setattr(online_model, "take_step", spy)
    model = OnlineHDP(max_topics=8, batch_size=12, random_state=0)
    for _ in expected:
        model.partial_fit(tiny_corpus, **asked)
    assert known == expected


@unknown_length
def test_the_limit_on_topics_follows_the_tokens_of_a_stream_unless_it_is_set(tiny_corpus):
    counts = 4_000 * tiny_corpus.counts
    for limit, expected in ((None, [150, 150, 201, 268]), (20, [20] * 4)):
        model = OnlineHDP(max_topics=limit, batch_size=12, random_state=0)
        assert [model.partial_fit(counts).config_.max_topics for _ in range(4)] == expected
    assert counts.sum() // 5_000 == 67
