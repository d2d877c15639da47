"""Truncation-free online HDP: documents create new topics (Wang & Blei 2012, with its supplement
S.2).

The local step is locally collapsed: topics, tables and shares of a whole mini-batch are sampled
from the expectation of their joint under q(θ, π̄). They are not factorised, so a topic born in one
document is available to the others.
"""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
from stickbreaker.engine.inference.dirichlet_step import expect_documents, infer_shares
from stickbreaker.engine.inference.truncation_free import (
    GrowingState,
    SampledCounts,
    double_columns,
    grow,
    init,
    open_columns,
    prior_fields,
    stick,
    summarize,
    weights_of,
    widen,
    word_topics,
)
from stickbreaker.engine.kernels.local_gibbs import (
    BLOCK,
    LocalPrior,
    LocalTopics,
    Tokens,
    count_sample,
    draw_shares,
    sample_documents,
)
from stickbreaker.engine.kernels.tables import MOST_COUNTED, log_stirling

# A word with more tokens in a document is sampled in this number of equal parts.
MOST_PARTS = 1000
# Initial number of columns for topics born in a mini-batch.
FIRST_ROOM = 16
LOG_STIRLING = log_stirling(MOST_COUNTED)


@dataclass(frozen=True)
class FreeHDPConfig(Checked):
    """Settings of the truncation-free HDP; concentrations as in Wang & Blei 2012 sec. 3."""

    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    burn_in: int = setting(5, **declared.BATCH_BURN_IN)
    num_samples: int = setting(5, **declared.BATCH_SAMPLES)
    precision: str = setting("float32", **declared.PRECISION)


def step(
    config: FreeHDPConfig, state: GrowingState, batch: Batch, rng: np.random.Generator
) -> tuple[GrowingState, StepInfo]:
    """Sample the mini-batch's topics and tables, move λ, u and v, and remove empty topics."""
    found = sample_batch(config, state, batch.documents, rng)
    return grow(state, batch, found, lambda grown: grown.expected_tokens)


def sample_batch(
    config: FreeHDPConfig, state: GrowingState, documents: Documents, rng: np.random.Generator
) -> SampledCounts:
    """Mean counts and tables of `num_samples` passes after `burn_in` (S.2.2)."""
    words = documents.distinct_words()
    prior = prior_of(config, state)
    tokens = as_tokens(documents.indexed(words))
    topics = open_topics(config, state, words)
    counts = np.zeros(topics.words.shape)
    tables = np.zeros(len(topics.totals))
    draw_shares(topics, prior, rng)
    for number in range(config.burn_in + config.num_samples):
        topics = make_pass(tokens, topics, prior, rng)
        if number >= config.burn_in:
            counts = widen(counts, len(topics.totals))
            tables = widen(tables, len(topics.totals))
            count_sample(tokens, topics, counts)
            tables += topics.tables
        draw_shares(topics, prior, rng)
    return SampledCounts(
        words=words, counts=counts / config.num_samples, tables=tables / config.num_samples
    )


def prior_of(config: FreeHDPConfig, state: GrowingState) -> LocalPrior:
    """The part of the state that the kernel reads."""
    return LocalPrior(
        doc_concentration=float(config.doc_concentration), **prior_fields(config, state)
    )


def as_tokens(documents: Documents) -> Tokens:
    """Tokens of documents without topics; a word with over MOST_PARTS is split equally."""
    parts = np.minimum(documents.counts, MOST_PARTS)
    entries = np.repeat(np.arange(len(parts)), parts)
    place = np.arange(len(entries)) - np.repeat(
        np.append(0, parts.cumsum(dtype=np.int64))[:-1], parts
    )
    sizes, more = np.divmod(documents.counts, np.maximum(parts, 1))
    starts = np.append(0, parts.cumsum(dtype=np.int64))[documents.starts]
    sizes = sizes[entries].astype(np.int64) + (place < more[entries])
    topics = np.full(len(entries), -1, np.int32)
    return Tokens(starts=starts, words=documents.words[entries], sizes=sizes, topics=topics)


def open_topics(config: FreeHDPConfig, state: GrowingState, words: np.ndarray) -> LocalTopics:
    """Topics at the start of a mini-batch, with free columns for new ones."""
    num_columns = -(-(len(state.topic_ids) + FIRST_ROOM) // BLOCK) * BLOCK
    of_words, totals = open_columns(config, state, words, num_columns)
    tokens, tables, shares = np.zeros((3, num_columns))
    return LocalTopics(
        words=of_words,
        totals=totals,
        tokens=tokens,
        tables=tables,
        shares=shares,
        rest=np.ones(1),
        is_counted=np.zeros(num_columns, bool),
    )


def make_pass(
    tokens: Tokens, topics: LocalTopics, prior: LocalPrior, rng: np.random.Generator
) -> LocalTopics:
    """One pass over the mini-batch; the topics have more columns if new ones need them."""
    topics.tables[:] = 0.0
    reached = sample_documents(tokens, topics, prior, 0, LOG_STIRLING, rng)
    while reached < len(tokens.words):
        topics = double_columns(topics, prior)
        reached = sample_documents(tokens, topics, prior, reached, LOG_STIRLING, rng)
    return topics


def infer(config: FreeHDPConfig, state: GrowingState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents over the topics born so far, at E[topics].

    Nothing is learned.

    The prior is b E[π]; the rest for topics not yet born is ignored, as in S.3.
    """
    if not len(state.topic_ids):
        return np.ones((documents.num_documents, 1), config.precision)
    priors = (
        config.doc_concentration * weights_of(state, config.corpus_concentration),
        config.word_concentration,
    )
    return infer_shares(
        documents,
        expect_documents(state, documents.distinct_words(), Phase.GROWING, priors, "mean"),
    )


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
    stick=stick,
    word_topics=word_topics,
)
