"""Topics that appear in a stream are found, topics that are not there do not appear, and K and ids
are kept.
"""

import warnings

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.executors import step
from stickbreaker.engine.inference.candidates import add_topics, drop_empty
from stickbreaker.engine.inference.evidence import choose_number
from stickbreaker.engine.schedules import resolve
from stickbreaker.engine.simulate import simulate_hdp

VOCAB_SIZE, PART, NEAR = 300, 500, 0.3


def draw(topics, seed, num_documents=PART):
    return simulate_hdp(topics, num_documents, 40, 1.0, 5.0, np.random.default_rng(seed)).corpus


def draw_topics(seed, number):
    return np.random.default_rng(seed).dirichlet(np.full(VOCAB_SIZE, 0.1), number)


def read(model, topics, parts, **given):
    """The model after some parts of a stream with these topics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in parts:
            model.partial_fit(draw(topics, part), **given)
    return model


def count_found(model, topics):
    distances = 0.5 * np.abs(topics[:, None] - model.components_).sum(2)
    return int((distances.min(1) < NEAR).sum())


@pytest.mark.parametrize(
    "given", [{}, {"corpus_size": 2000, "is_population": True}], ids=["open", "population"]
)
@pytest.mark.parametrize("make", [engine.OnlineHDP, engine.OnlineDirectHDP])
def test_topics_that_appear_in_a_stream_are_found(make, given):
    topics = draw_topics(0, 10)
    model = read(make(max_topics=30, batch_size=100, random_state=0), topics[:5], range(8), **given)
    assert count_found(model, topics) == 5
    ids = model.topic_ids_
    read(model, topics, range(8, 24), **given)
    assert count_found(model, topics) >= 9
    assert model.n_topics_ <= 30
    assert set(ids) <= set(range(len(model.state_.tables)))
    assert len(model.state_.tables) <= 60


def test_a_stream_of_one_topic_keeps_one_topic():
    for seed in range(5):
        model = engine.OnlineHDP(max_topics=20, batch_size=100, random_state=seed)
        assert read(model, draw_topics(seed, 1), range(12)).n_topics_ == 1


def test_a_stream_continues_from_a_file_bit_for_bit(tmp_path):
    topics = draw_topics(1, 8)
    model = read(
        engine.OnlineHDP(max_topics=20, batch_size=100, random_state=0), topics[:3], range(8)
    )
    model = read(model, topics, range(8, 14))
    model.save(tmp_path / "model.npz")
    again = read(engine.load(tmp_path / "model.npz"), topics, range(14, 18))
    whole = read(model, topics, range(14, 18))
    assert again.components_.tobytes() == whole.components_.tobytes()


def test_a_pass_over_a_corpus_has_no_candidates():
    model = engine.OnlineHDP(max_topics=12, passes=2, random_state=0).fit(
        draw(draw_topics(2, 5), 0, 1000)
    )
    assert len(model.state_.tables) == 12


def test_copied_and_permuted_candidates_are_accepted_at_most_once_in_twenty():
    accepted = {"copied": 0, "permuted": 0}
    for seed in range(20):
        corpus, rng = draw(draw_topics(seed, 5), seed, 1000), np.random.default_rng(seed)
        config = resolve(hdp.HDPConfig(max_topics=8, batch_size=100), corpus.num_documents)
        state = hdp.init(config, VOCAB_SIZE, rng)
        for batch in corpus.batches(100):
            state, _ = step(hdp.ALGORITHM, config, state, batch)
        own = 0.2 * state.topic_counts.dense()[:, np.argsort(-state.tables)[:3]]
        for name, counts in (("copied", own), ("permuted", rng.permuted(own, axis=0))):
            grown = add_topics(
                state, np.arange(VOCAB_SIZE), counts, np.full(3, 0.2 * state.tables.max())
            )
            chosen = choose_number(hdp.infer, config, state, grown)
            accepted[name] += len(drop_empty(chosen, len(state.tables)).tables) > len(state.tables)
    assert max(accepted.values()) <= 1
