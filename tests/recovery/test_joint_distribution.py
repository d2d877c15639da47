"""Joint-distribution tests of the Gibbs samplers (Geweke 2004, JASA 99).

Two ways to draw everything at once, concentrations, topics and words. One draws from the priors down. The other goes
round: words given topics, then one step of the sampler given the words. Where every conditional of the sampler is
right the two have one distribution, and where one is wrong, as a public sampler's table weight has been for years,
they have not; a test with such a weight shows that this one would find it.
"""

from functools import cache

import numpy as np
import pytest

from stickbreaker.engine.algorithms import gibbs_hdp, gibbs_lda
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.inference import gibbs as sampled
from stickbreaker.engine.inference.gibbs import Assignments
from tests.enumeration import standard_error

DOC_SIZES, VOCAB_SIZE, ETA = np.array([7, 4, 9, 1, 6]), 5, 0.4
ROWS = np.repeat(np.arange(len(DOC_SIZES)), DOC_SIZES)
NUM_FORWARD, NUM_STEPS, MOST_ERRORS = 10_000, 40_000, 4.5
HDP = gibbs_hdp.GibbsHDPConfig(
    word_concentration=ETA, doc_shape=3.0, doc_rate=2.0, corpus_shape=4.0, corpus_rate=2.0, burn_in=10**9
)
LDA = gibbs_lda.GibbsLDAConfig(
    max_topics=4, concentrations="resampled", word_concentration=ETA, doc_shape=3.0, doc_rate=2.0, burn_in=10**9
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
    """Assignments before a step, which counts words itself."""
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
    """A state and its words from the priors down, by the Chinese restaurant franchise."""
    alpha = rng.gamma(HDP.doc_shape) / HDP.doc_rate
    gamma = rng.gamma(HDP.corpus_shape) / HDP.corpus_rate
    seats = [seat(alpha, size, rng) for size in DOC_SIZES]
    first = np.cumsum([0, *(each.max() + 1 for each in seats)])
    dishes = seat(gamma, first[-1], rng)
    tables = np.bincount(dishes)
    topics = np.concatenate([dishes[start + each] for start, each in zip(first, seats, strict=False)])
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
    """A state and its words from the priors down."""
    alpha, size = rng.gamma(LDA.doc_shape) / LDA.doc_rate, LDA.max_topics
    shares = rng.dirichlet(np.full(size, alpha / size), len(DOC_SIZES))
    topics = (shares[ROWS].cumsum(1) < rng.random((len(ROWS), 1))).sum(1).clip(max=size - 1)
    words = draw_words(topics, rng)
    _, topics = as_batch(words, topics)
    state = gibbs_lda.init(LDA, VOCAB_SIZE, rng)._replace(
        assignments=assign(topics, size), doc_concentration=alpha, expected_tokens=np.bincount(topics, minlength=size)
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
        "topics of the first two tokens are one": topics[0] == topics[1],
        "topics of two documents are one": topics[0] == topics[-1],
    }
    if hasattr(state, "tables"):
        found |= {
            "γ": state.corpus_concentration,
            "log γ": np.log(state.corpus_concentration),
            "tables": state.tables.sum(),
            "squared tables": (state.tables**2).sum(),
            "α tables": state.doc_concentration * state.tables.sum(),
            "γ topics": state.corpus_concentration * len(state.tables),
            "unborn weight": state.unused_weight,
            "squared weights": (state.weights**2).sum(),
        }
    return found


def go_round(module, config, state, rng, num_steps):
    """Statistics of the chain that draws words given topics and steps the sampler given the words, in turn."""
    for _ in range(num_steps):
        words = draw_words(state.assignments.topics, rng)
        batch, topics = as_batch(words, state.assignments.topics)
        state = state._replace(assignments=state.assignments._replace(topics=topics))
        state, _ = module.step(config, state, batch, rng)
        yield measure(state, words)


@cache
def go_down(draw):
    """Statistics of draws from the priors down."""
    rng = np.random.default_rng(0)
    return [measure(*draw(rng)) for _ in range(NUM_FORWARD)]


def distances(module, config, draw, num_steps=NUM_STEPS):
    """Difference of the two ways' means of each statistic, in standard errors."""
    rng, forward = np.random.default_rng(1), go_down(draw)
    chain = list(go_round(module, config, draw(rng)[0], rng, num_steps))
    names = list(forward[0])
    above, below = (np.array([[row[name] for name in names] for row in rows], float) for rows in (forward, chain))
    error = np.hypot(above.std(0) / np.sqrt(len(above)), standard_error(below))
    return dict(zip(names, (below.mean(0) - above.mean(0)) / error, strict=True))


def test_hdp_sampler_and_priors_have_one_joint_distribution():
    found = distances(gibbs_hdp, HDP, draw_hdp)
    assert max(map(abs, found.values())) <= MOST_ERRORS, found


def test_lda_sampler_and_priors_have_one_joint_distribution():
    found = distances(gibbs_lda, LDA, draw_lda)
    assert max(map(abs, found.values())) <= MOST_ERRORS, found


def make_wrong_tables(monkeypatch):
    """Tables opened with α where it is α π_k."""
    right = sampled.draw_doc_tables
    monkeypatch.setattr(
        sampled,
        "draw_doc_tables",
        lambda rng, layout, prior, out: right(rng, layout, np.where(prior > 0, prior.sum(), 0.0), out),
    )


def make_wrong_births(monkeypatch):
    """A new topic weighs as if it could have one word less than there are."""
    right = sampled.sweep_tokens
    factor = VOCAB_SIZE / (VOCAB_SIZE - 1)

    def sweep(rng, layout, pool, alpha, gamma, eta):
        swept = right(rng, layout, pool._replace(unused_weight=pool.unused_weight * factor), alpha, gamma, eta)
        return swept

    monkeypatch.setattr(sampled, "sweep_tokens", sweep)


@pytest.mark.parametrize(
    ("make_wrong", "num_steps"), [(make_wrong_tables, NUM_STEPS // 16), (make_wrong_births, NUM_STEPS // 2)]
)
def test_a_sampler_with_a_wrong_table_weight_or_a_wrong_birth_weight_is_found_out(make_wrong, num_steps, monkeypatch):
    make_wrong(monkeypatch)
    found = distances(gibbs_hdp, HDP, draw_hdp, num_steps)
    assert max(map(abs, found.values())) > 2 * MOST_ERRORS, found
