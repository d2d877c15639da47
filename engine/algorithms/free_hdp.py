"""Truncation-free online HDP: topics are born as documents ask for them (Wang & Blei 2012, with its supplement S.2).

The local step is locally collapsed: topics, tables and shares of a whole mini-batch are sampled from the expectation of
their joint under q(θ, π̄), not factorised, so that a topic born in one document is open to the others.
"""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Reads
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference.dirichlet import UNTIL_SETTLED, Expectations, fit_documents
from stickbreaker.engine.inference.expectations import document_prior, topic_weights
from stickbreaker.engine.inference.truncation_free import Found, grow, start, sticks_of, summarize, weights_of, widen
from stickbreaker.engine.kernels.local_gibbs import (
    BLOCK,
    LocalTopics,
    Prior,
    Tokens,
    count_sample,
    draw_shares,
    sample_documents,
)
from stickbreaker.engine.kernels.tables import MOST_COUNTED, log_stirling

# A word that a document holds more often is sampled in so many equal parts.
MOST_PARTS = 1000
# Room for topics born in a mini-batch, at first.
FIRST_ROOM = 16
LOG_STIRLING = log_stirling(MOST_COUNTED)


@dataclass(frozen=True)
class FreeHDPConfig:
    """Settings of the truncation-free HDP; concentrations as in Wang & Blei 2012 sec. 3.

    Raises ValueError where a value is outside its bounds.
    """

    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    burn_in: int = setting(5, "", (0, 1000), "Gibbs sweeps over a mini-batch before a sample is taken")
    num_samples: int = setting(5, "", (1, 1000), "Gibbs sweeps over a mini-batch whose samples are averaged")
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


def init(config, vocab_size, rng):
    """The state before the first document; nothing is drawn."""
    return start(vocab_size, config.precision)


def step(config, state, batch, rng):
    """Sample the mini-batch's topics and tables, then move λ, u and v."""
    return grow(state, batch, sample_batch(config, state, batch.documents, rng), "expected_tokens")


def sample_batch(config, state, documents, rng):
    """Found: mean counts and tables of `num_samples` sweeps after `burn_in` (S.2.2), the first of which assigns."""
    words, prior = documents.distinct_words(), prior_of(config, state)
    tokens, topics = as_tokens(documents.indexed(words)), open_topics(config, state, words)
    counts, tables = np.zeros(topics.words.shape), np.zeros(len(topics.totals))
    draw_shares(topics, prior, rng)
    for number in range(config.burn_in + config.num_samples):
        topics = sweep(tokens, topics, prior, rng)
        if number >= config.burn_in:
            counts, tables = widen(counts, len(topics.totals)), widen(tables, len(topics.totals))
            count_sample(tokens, topics, counts)
            tables += topics.tables
        draw_shares(topics, prior, rng)
    return Found(words, counts / config.num_samples, tables / config.num_samples)


def prior_of(config, state):
    """What the kernel reads of the state."""
    sticks = sticks_of(state.tables, config.corpus_concentration)
    return Prior(
        len(state.topic_ids),
        sticks.on,
        sticks.after,
        sticks.order[:-1],
        float(config.doc_concentration),
        float(config.corpus_concentration),
        float(config.word_concentration),
        state.topic_counts.vocab_size,
    )


def as_tokens(documents):
    """Tokens of documents, none with a topic; what a document has more than MOST_PARTS of comes in equal parts."""
    parts = np.minimum(documents.counts, MOST_PARTS)
    entries = np.repeat(np.arange(len(parts)), parts)
    place = np.arange(len(entries)) - np.repeat(np.append(0, parts.cumsum(dtype=np.int64))[:-1], parts)
    sizes, more = np.divmod(documents.counts, np.maximum(parts, 1))
    starts = np.append(0, parts.cumsum(dtype=np.int64))[documents.starts]
    sizes = sizes[entries].astype(np.int64) + (place < more[entries])
    return Tokens(starts, documents.words[entries], sizes, np.full(len(entries), -1, np.int32))


def open_topics(config, state, words):
    """Topics as the mini-batch first sees them, with room for some to be born."""
    num_known, eta = len(state.topic_ids), config.word_concentration
    num_columns = -(-(num_known + FIRST_ROOM) // BLOCK) * BLOCK
    of_words = np.full((len(words), num_columns), float(eta))
    of_words[:, :num_known] += state.topic_counts.rows(words)
    totals = np.full(num_columns, eta * state.topic_counts.vocab_size)
    totals[:num_known] += state.topic_counts.totals
    tokens, tables, shares = np.zeros((3, num_columns))
    return LocalTopics(of_words, totals, tokens, tables, shares, np.ones(1), np.zeros(num_columns, bool))


def sweep(tokens, topics, prior, rng):
    """One sweep over the whole mini-batch; the topics after it, with more room where newborn topics needed that."""
    topics.tables[:] = 0.0
    reached = sample_documents(tokens, topics, prior, 0, LOG_STIRLING, rng)
    while reached < len(tokens.words):
        topics = make_room(topics, prior)
        reached = sample_documents(tokens, topics, prior, reached, LOG_STIRLING, rng)
    return topics


def make_room(topics, prior):
    """The same topics with twice the columns."""
    num_columns, eta = 2 * len(topics.totals), prior.word_concentration
    return LocalTopics(
        widen(topics.words, num_columns, eta),
        widen(topics.totals, num_columns, eta * prior.vocab_size),
        *(widen(each, num_columns) for each in (topics.tokens, topics.tables, topics.shares)),
        topics.rest,
        widen(topics.is_counted, num_columns),
    )


def infer(config, state, documents):
    """Topic shares E[θ] (S, K) of documents over the topics born so far, by sweeps at E[topics]; never learns.

    The prior is b E[π]; what is left for topics not yet born is ignored, as in S.3.
    """
    if not len(state.topic_ids):
        return np.ones((documents.num_documents, 1), config.precision)
    words = documents.distinct_words()
    topics = topic_weights(state.topic_counts, words, config.word_concentration, "mean")
    prior = document_prior(config.doc_concentration, weights_of(state, config.corpus_concentration), topics.dtype)
    expectations = Expectations(words, topics, prior, state.step, "growing")
    return fit_documents(documents, expectations, UNTIL_SETTLED, is_learning=False)[1]


ALGORITHM = Algorithm(
    name="free-hdp",
    title="Truncation-free online HDP",
    config=FreeHDPConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.DIRICHLET,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
)
