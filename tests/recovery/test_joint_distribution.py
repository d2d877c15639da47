"""Joint-distribution tests of the Gibbs samplers (Geweke 2004, JASA 99).

Concentrations, topics and words are drawn together in two ways: independently from the priors, and
by a chain that draws words given topics and then takes one step of the sampler given the words.
Both have the same distribution if every conditional of the sampler is right. A public sampler has
had a wrong table weight for years: the last test shows that these tests detect it.
"""

from functools import cache

import numpy as np
import pytest

from stickbreaker.engine.algorithms import gibbs_hdp, gibbs_lda
from stickbreaker.engine.algorithms.gibbs_hdp import GibbsHDPState
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.inference.gibbs import Assignments
from tests.enumeration import standard_error

pytestmark = pytest.mark.extended

DOC_SIZES, VOCAB_SIZE, ETA = np.array([7, 4, 9, 1, 6]), 5, 0.4
ROWS = np.repeat(np.arange(len(DOC_SIZES)), DOC_SIZES)
NUM_FORWARD, NUM_STEPS, MOST_ERRORS = 10_000, 20_000, 4.5
HDP = gibbs_hdp.GibbsHDPConfig(
    word_concentration=ETA,
    doc_shape=3.0,
    doc_rate=2.0,
    corpus_shape=4.0,
    corpus_rate=2.0,
    burn_in=10**9,
)
LDA = gibbs_lda.GibbsLDAConfig(
    max_topics=4,
    concentrations="resampled",
    word_concentration=ETA,
    doc_shape=3.0,
    doc_rate=2.0,
    burn_in=10**9,
)


def draw_words(topics, rng):
    """A word for each token, its topic's distribution drawn from its Dirichlet."""
    shares = rng.dirichlet(np.full(VOCAB_SIZE, ETA), topics.max() + 1)
    return (shares[topics].cumsum(1) < rng.random((len(topics), 1))).sum(1).clip(max=VOCAB_SIZE - 1)


def as_batch(words, topics):
    """The tokens as documents of ascending words, and their topics in that order."""
    order = np.lexsort((words, ROWS))
    words, topics = words[order], topics[order]
    pairs, counts = np.unique(ROWS * VOCAB_SIZE + words, return_counts=True)
    starts = np.searchsorted(pairs // VOCAB_SIZE, np.arange(len(DOC_SIZES) + 1)).astype(np.int64)
    documents = Documents(starts, (pairs % VOCAB_SIZE).astype(np.int32), counts.astype(np.int32))
    return Batch(np.arange(len(DOC_SIZES)), documents, len(DOC_SIZES)), topics.astype(np.int32)


def assign(topics, num_topics):
    """Assignments before a step; the step counts the words."""
    counts = np.zeros((VOCAB_SIZE, num_topics), np.int32)
    return Assignments(np.arange(len(DOC_SIZES)), DOC_SIZES, topics, counts)


def seat(concentration, size, rng):
    """Table of each of `size` customers in a Chinese restaurant."""
    tables = []
    for i in range(size):
        is_new = rng.random() * (concentration + i) < concentration
        tables.append(max(tables, default=-1) + 1 if is_new else tables[rng.integers(i)])
    return np.array(tables)


def draw_hdp(rng):
    """A state and its words drawn from the priors, by the Chinese restaurant franchise."""
    alpha = rng.gamma(HDP.doc_shape) / HDP.doc_rate
    gamma = rng.gamma(HDP.corpus_shape) / HDP.corpus_rate
    seats = [seat(alpha, size, rng) for size in DOC_SIZES]
    first = np.cumsum([0, *(each.max() + 1 for each in seats)])
    dishes = seat(gamma, first[-1], rng)
    tables = np.bincount(dishes)
    topics = np.concatenate(
        [dishes[start + each] for start, each in zip(first, seats, strict=False)]
    )
    words = draw_words(topics, rng)
    _, topics = as_batch(words, topics)
    weights, size = rng.dirichlet(np.append(tables, gamma)), len(tables)
    state = gibbs_hdp.init(HDP, VOCAB_SIZE, rng)._replace(
        assignments=assign(topics, size),
        averages=sampled.no_averages(size),
        topic_ids=np.arange(size),
        weights=weights[:-1],
        tables=tables.astype(float),
        expected_tokens=np.bincount(topics, minlength=size).astype(float),
        unused_weight=weights[-1],
        doc_concentration=alpha,
        corpus_concentration=gamma,
        next_id=size,
    )
    return state, words


def draw_lda(rng):
    """A state and its words drawn from the priors."""
    alpha, size = rng.gamma(LDA.doc_shape) / LDA.doc_rate, LDA.max_topics
    shares = rng.dirichlet(np.full(size, alpha / size), len(DOC_SIZES))
    topics = (shares[ROWS].cumsum(1) < rng.random((len(ROWS), 1))).sum(1).clip(max=size - 1)
    words = draw_words(topics, rng)
    _, topics = as_batch(words, topics)
    state = gibbs_lda.init(LDA, VOCAB_SIZE, rng)._replace(
        assignments=assign(topics, size),
        doc_concentration=alpha,
        expected_tokens=np.bincount(topics, minlength=size),
    )
    return state, words


def words_in_order(words):
    """The word of each token in the order of a state's topics."""
    return words[np.lexsort((words, ROWS))]


def measure(state, words):
    """Statistics of a whole draw."""
    topics = state.assignments.topics
    sizes = np.bincount(topics)
    in_documents = np.unique(ROWS * (topics.max() + 1) + topics)
    by_word = np.bincount(words, minlength=VOCAB_SIZE)
    pairs = np.unique(words_in_order(words) + VOCAB_SIZE * topics, return_counts=True)[1]
    found = {
        "α": state.doc_concentration,
        "log α": np.log(state.doc_concentration),
        "α²": state.doc_concentration**2,
        "topics": np.count_nonzero(sizes),
        "squared sizes of topics": (sizes**2).sum(),
        "topics in documents": len(in_documents),
        "squared counts of words": (by_word**2).sum(),
        "squared counts of words in topics": (pairs**2).sum(),
        "the first two tokens have the same topic": topics[0] == topics[1],
        "the first and the last token have the same topic": topics[0] == topics[-1],
    }
    if isinstance(state, GibbsHDPState):
        found |= {
            "γ": state.corpus_concentration,
            "log γ": np.log(state.corpus_concentration),
            "tables": state.tables.sum(),
            "squared tables": (state.tables**2).sum(),
            "α tables": state.doc_concentration * state.tables.sum(),
            "γ topics": state.corpus_concentration * len(state.tables),
            "unused weight": state.unused_weight,
            "squared weights": (state.weights**2).sum(),
        }
    return found


def draw_successively(module, config, state, rng, num_steps):
    """Statistics of the chain that draws words and steps the sampler in turn."""
    for _ in range(num_steps):
        words = draw_words(state.assignments.topics, rng)
        batch, topics = as_batch(words, state.assignments.topics)
        state = state._replace(assignments=state.assignments._replace(topics=topics))
        state, _ = module.step(config, state, batch, rng)
        yield measure(state, words)


@cache
def draw_independently(draw):
    """Statistics of independent draws from the priors."""
    rng = np.random.default_rng(0)
    return [measure(*draw(rng)) for _ in range(NUM_FORWARD)]


def distances(module, config, draw, num_steps=NUM_STEPS):
    """The difference of the means of each statistic between the two ways, in standard errors."""
    rng, forward = np.random.default_rng(1), draw_independently(draw)
    chain = list(draw_successively(module, config, draw(rng)[0], rng, num_steps))
    names = list(forward[0])
    drawn, chained = (
        np.array([[row[name] for name in names] for row in rows], float)
        for rows in (forward, chain)
    )
    error = np.hypot(drawn.std(0) / np.sqrt(len(drawn)), standard_error(chained))
    return dict(zip(names, (chained.mean(0) - drawn.mean(0)) / error, strict=True))


def test_the_hdp_sampler_keeps_the_joint_distribution_of_the_priors():
    found = distances(gibbs_hdp, HDP, draw_hdp)
    assert max(map(abs, found.values())) <= MOST_ERRORS, found


def test_the_lda_sampler_keeps_the_joint_distribution_of_the_priors():
    found = distances(gibbs_lda, LDA, draw_lda)
    assert max(map(abs, found.values())) <= MOST_ERRORS, found


def make_wrong_tables(monkeypatch):
    """Tables are opened with weight α instead of α π_k."""
    right = sampled.draw_doc_tables
    monkeypatch.setattr(
        sampled,
        "draw_doc_tables",
        lambda rng, layout, prior, out: right(
            rng, layout, np.where(prior > 0, prior.sum(), 0.0), out
        ),
    )


def make_wrong_births(monkeypatch):
    """The weight of a new topic is that of a vocabulary with one word less."""
    right = sampled.sample_tokens
    factor = VOCAB_SIZE / (VOCAB_SIZE - 1)

    def sweep(rng, layout, pool, alpha, gamma, eta):
        return right(
            rng, layout, pool._replace(unused_weight=pool.unused_weight * factor), alpha, gamma, eta
        )

    monkeypatch.setattr(sampled, "sample_tokens", sweep)


@pytest.mark.parametrize(
    ("make_wrong", "num_steps"),
    [(make_wrong_tables, NUM_STEPS // 8), (make_wrong_births, NUM_STEPS)],
)
def test_a_wrong_weight_of_tables_or_of_new_topics_is_detected(make_wrong, num_steps, monkeypatch):
    make_wrong(monkeypatch)
    found = distances(gibbs_hdp, HDP, draw_hdp, num_steps)
    assert max(map(abs, found.values())) > 2 * MOST_ERRORS, found
