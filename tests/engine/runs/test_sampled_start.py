"""Collapsed variational Bayes that starts from the sampler of the HDP."""

import numpy as np
import pytest

from stickbreaker.engine import RunSettings, find_algorithm, prepare, run
from stickbreaker.engine.algorithms import gibbs_hdp
from stickbreaker.engine.runs.sampled_start import count_entries, start_from_sampler

SETTINGS = RunSettings(passes=3, num_evaluations=0, num_moments=0)


def sample(corpus, num_topics):
    """The sampler's state after three sweeps, and the batch of all documents."""
    batch = next(corpus.batches(corpus.num_documents))
    config = gibbs_hdp.GibbsHDPConfig(initial_topics=num_topics)
    state = gibbs_hdp.init(config, corpus.vocab_size, np.random.default_rng(0))
    for step in range(3):
        state, _ = gibbs_hdp.step(config, state, batch, np.random.default_rng(step))
    return state, batch


def test_a_variational_run_starts_with_the_counts_of_the_sampler(tiny_corpus):
    state, batch = sample(tiny_corpus, 8)
    tokens = count_entries(batch, state, len(state.topic_ids))
    np.testing.assert_array_equal(tokens.sum(1), batch.documents.counts)
    of_words = np.zeros_like(state.assignments.topic_words, dtype=float)
    np.add.at(of_words, batch.documents.words, tokens)
    order = np.argsort(-state.expected_tokens, kind="stable")
    np.testing.assert_array_equal(of_words, state.assignments.topic_words[:, order])


def test_tokens_of_topics_beyond_the_maximum_are_spread_evenly(tiny_corpus):
    state, batch = sample(tiny_corpus, 8)
    tokens = count_entries(batch, state, 2)
    np.testing.assert_allclose(tokens.sum(1), batch.documents.counts)
    largest = np.sort(state.expected_tokens)[::-1]
    np.testing.assert_allclose(tokens.sum(0), largest[:2] + largest[2:].sum() / 2)


@pytest.mark.parametrize("name", ["cv-hdp", "cv-lda"])
def test_the_first_sweep_of_a_run_from_the_sampler_starts_with_the_topics_of_the_sampler(
    name, tiny_corpus
):
    algorithm = find_algorithm(name)
    prepared = prepare(
        algorithm, algorithm.config(max_topics=5, start_from="gibbs"), tiny_corpus, SETTINGS
    )
    first = next(run(prepared))
    start = start_from_sampler(algorithm, prepared.config, prepared.train, SETTINGS.seed)
    batch = next(prepared.train.batches(prepared.train.num_documents))
    expected, info = algorithm.step(
        prepared.config, start, batch, np.random.default_rng([SETTINGS.seed, 1])
    )
    np.testing.assert_array_equal(first.stepped.state.expected_tokens, expected.expected_tokens)
    assert first.stepped.info.bound == info.bound
    own = next(run(prepare(algorithm, algorithm.config(max_topics=5), tiny_corpus, SETTINGS)))
    assert not np.array_equal(own.stepped.state.expected_tokens, expected.expected_tokens)


def test_an_algorithm_that_cannot_start_from_the_sampler_is_refused(tiny_corpus):
    with pytest.raises(ValueError, match="cannot start from the sampler: use 'cv-hdp' or 'cv-lda'"):
        start_from_sampler(find_algorithm("hdp"), find_algorithm("hdp").config(), tiny_corpus, 0)
