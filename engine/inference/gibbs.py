"""The topic of each token, as samplers remember it: its start, passes over it, averages of samples,
and predictions.
"""

from typing import NamedTuple, Protocol

import numpy as np

from stickbreaker.engine.algorithm import Phase, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.inference.dirichlet_step import DocumentExpectations, infer_shares
from stickbreaker.engine.inference.expectations import document_prior
from stickbreaker.engine.kernels.gibbs import (
    TokenTopics,
    TopicPool,
    draw_doc_tables,
    group_by_word,
    read_out,
    sample_tokens,
)

MOST_TOKENS = 2**31 - 1
DOCUMENTS_AT_ONCE = 1000


class SamplerConfig(Protocol):
    """A config of a Gibbs sampler."""

    @property
    def word_concentration(self) -> float: ...
    @property
    def burn_in(self) -> int: ...
    @property
    def sample_every(self) -> int: ...


class SamplerState(Protocol):
    """What reading a sampler needs of its State."""

    @property
    def assignments(self) -> "Assignments": ...
    @property
    def averages(self) -> "TopicAverages": ...
    @property
    def doc_concentration(self) -> float: ...
    @property
    def step(self) -> int: ...


class Assignments(NamedTuple):
    """A sample of z: the topics of N tokens in D documents, with n_kw tokens of each word in each
    topic.

        p(z_i = k | z_-i) ∝ (n_jk + α π_k) (n_kw + η) / (n_k + V η)        (Teh et al. 2006 sec.
        5.3)

    doc_ids, doc_sizes: (D,) int64, the documents and their numbers of tokens.
    topics: (N,) int32, places among the state's K topics; document by document in the order of
    doc_ids, and within a
        document in the order of its words.
    topic_words: (V, K) int32, tokens of each word in each topic.
    """

    doc_ids: np.ndarray
    doc_sizes: np.ndarray
    topics: np.ndarray
    topic_words: np.ndarray


class TopicAverages(NamedTuple):
    """E[topic], averaged over the samples taken since each topic's birth.

    topics: (V, K) float32, or (0, 0) before the first sample; num_samples: (K,) int64.
    """

    topics: np.ndarray
    num_samples: np.ndarray


class GibbsPass(NamedTuple):
    """Result of a pass: assignments, the pool before the next π, and tables (K,), or 0."""

    assignments: Assignments
    pool: TopicPool
    tables: np.ndarray


def no_assignments(vocab_size: int, num_topics: int) -> Assignments:
    """Assignments of no documents."""
    none = np.zeros(0, np.int64)
    topic_words = np.zeros((vocab_size, num_topics), np.int32)
    return Assignments(
        doc_ids=none, doc_sizes=none, topics=none.astype(np.int32), topic_words=topic_words
    )


def no_averages(num_topics: int) -> TopicAverages:
    """Averages over no samples."""
    return TopicAverages(
        topics=np.zeros((0, 0), np.float32), num_samples=np.zeros(num_topics, np.int64)
    )


def count_tokens(documents: Documents) -> np.ndarray:
    """Tokens of each document (S,); CorpusError if a sampler cannot remember all."""
    sizes = documents.sizes()
    if sizes.sum() > MOST_TOKENS:
        raise CorpusError(
            f"The corpus has {sizes.sum()} tokens; a sampler remembers the topic of each, for at"
            f" most {MOST_TOKENS}: use fewer documents, or choose an algorithm that does not"
            " remember the topic of each token."
        )
    return sizes


def count_bytes(documents: Documents, num_topics: int) -> int:
    """Bytes of a state with these documents and this number of topics, and of a pass over it.

    A token costs 4 bytes in each of two states and 16 in a pass; counts and averages of words in
    topics 12.
    """
    vocab_size = int(documents.words.max(initial=-1)) + 1
    return 24 * documents.num_tokens + 40 * len(documents.starts) + 12 * vocab_size * num_topics


def resolve_assignments(
    assignments: Assignments, batch: Batch, num_topics: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (S,) and topics (N,) of the batch; new documents start at random topics."""
    doc_sizes = count_tokens(batch.documents)
    if np.array_equal(batch.doc_ids, assignments.doc_ids) and np.array_equal(
        doc_sizes, assignments.doc_sizes
    ):
        return doc_sizes, assignments.topics
    topics = rng.integers(num_topics, size=doc_sizes.sum(), dtype=np.int32)
    # Documents that are known, with the same number of tokens, keep their topics.
    old_starts = np.append(0, assignments.doc_sizes.cumsum())
    starts = np.append(0, doc_sizes.cumsum())
    known = {int(doc_id): row for row, doc_id in enumerate(assignments.doc_ids)}
    for row, doc_id in enumerate(batch.doc_ids):
        old = known.get(int(doc_id))
        if old is not None and doc_sizes[row] == assignments.doc_sizes[old]:
            topics[starts[row] : starts[row + 1]] = assignments.topics[
                old_starts[old] : old_starts[old + 1]
            ]
    return doc_sizes, topics


def make_pass(
    assignments: Assignments,
    batch: Batch,
    pool: TopicPool,
    concentrations: tuple[float, float, float],
    rng: np.random.Generator,
    with_tables: bool = True,
) -> GibbsPass:
    """One pass over every token, then the tables of each topic in each document, if they are
    requested.

    pool: TopicPool of K topics, whose tokens are counted here; concentrations: (α, γ, η). If topics
    are born and die, topics without a token are removed before and after. A new document starts at
    uniformly drawn topics.
    """
    alpha, gamma, eta = concentrations
    doc_sizes, topics = resolve_assignments(assignments, batch, len(pool.topic_ids), rng)
    tokens = np.bincount(topics, minlength=len(pool.topic_ids))
    vocab_size = len(assignments.topic_words)
    documents = _own_documents(batch.documents)
    # One pass of z, word by word; then s_jk of each document and topic.
    layout = arrange_tokens(documents, doc_sizes, topics, vocab_size, len(tokens))
    drawn = sample_tokens(rng, layout, _drop_empty(pool._replace(tokens=tokens)), alpha, gamma, eta)
    tables = np.zeros(len(drawn.tokens), np.int64)
    if with_tables:
        draw_doc_tables(rng, layout, alpha * drawn.weights, tables)
    # Topics without a token are gone; the others move together, in the order of their ids.
    kept = _choose_kept(drawn)
    new_places = np.zeros(len(drawn.tokens), np.int32)
    new_places[kept] = np.arange(len(kept))
    topics = np.empty_like(topics)
    topic_words = np.zeros((vocab_size, len(kept)), np.int32)
    read_out(documents, layout, new_places, topics, topic_words)
    pool = drawn._replace(
        topic_ids=drawn.topic_ids[kept], tokens=drawn.tokens[kept], weights=drawn.weights[kept]
    )
    kept_assignments = Assignments(
        doc_ids=np.array(batch.doc_ids), doc_sizes=doc_sizes, topics=topics, topic_words=topic_words
    )
    return GibbsPass(assignments=kept_assignments, pool=pool, tables=tables[kept])


def _own_documents(documents: Documents) -> Documents:
    """Writable arrays of the types that kernels are compiled for."""
    return Documents(
        starts=np.array(documents.starts, np.int64),
        words=np.array(documents.words, np.int32),
        counts=np.array(documents.counts, np.int32),
    )


def arrange_tokens(
    documents: Documents,
    doc_sizes: np.ndarray,
    topics: np.ndarray,
    vocab_size: int,
    num_topics: int,
) -> TokenTopics:
    """The topics of all tokens, word by word; within a word in the order of the documents."""
    num_tokens = len(topics)
    word_sizes = np.bincount(documents.words, documents.counts, vocab_size).astype(np.int64)
    layout = TokenTopics(
        word_starts=np.append(0, word_sizes.cumsum()),
        docs=np.empty(num_tokens, np.int32),
        topics=np.empty(num_tokens, np.int32),
        doc_starts=doc_sizes.cumsum() - doc_sizes,
        doc_sizes=np.zeros(len(doc_sizes), np.int32),
        doc_topics=np.empty((num_tokens, 2), np.int32),
    )
    group_by_word(documents, topics, num_topics, layout)
    return layout


def _drop_empty(pool: TopicPool) -> TopicPool:
    """If topics are born and die, give the weight of topics without a token to new ones."""
    if not pool.is_growing:
        return pool
    weights = np.where(pool.tokens > 0, pool.weights, 0.0)
    return pool._replace(
        weights=weights, unused_weight=pool.unused_weight + (pool.weights - weights).sum()
    )


def _choose_kept(pool: TopicPool) -> np.ndarray:
    """Places of the topics that remain, by id; a corpus without tokens keeps one unused topic."""
    places = np.flatnonzero(pool.tokens) if pool.is_growing else np.arange(len(pool.tokens))
    places = places if len(places) else np.array([0])
    by_id: np.ndarray = places[np.argsort(pool.topic_ids[places])]
    return by_id


def is_sample(config: SamplerConfig, step: int) -> bool:
    """Whether this pass is a sample that the averages include."""
    beyond = step - config.burn_in
    return beyond > 0 and beyond % config.sample_every == 0


def phase_of(config: SamplerConfig, step: int) -> Phase:
    """The phase of a step: sampling after the burn-in."""
    return Phase.SAMPLING if step > config.burn_in else Phase.BURN_IN


def describe_step(step: int, phase: Phase) -> StepInfo:
    """The StepInfo of a pass, which replaces everything that was there before."""
    return StepInfo(step=step, learning_rate=1.0, phase=phase, startup_share=0.0)


def follow_topics(
    averages: TopicAverages, old_ids: np.ndarray, topic_ids: np.ndarray
) -> TopicAverages:
    """Match the averages to the current topics by id; new topics have no samples."""
    if np.array_equal(old_ids, topic_ids):
        return averages
    place = {int(topic_id): k for k, topic_id in enumerate(old_ids)}
    old = np.array([place.get(int(topic_id), -1) for topic_id in topic_ids])
    num_samples = np.where(old >= 0, averages.num_samples[old], 0)
    topics = averages.topics[:, old] if len(averages.topics) else averages.topics
    return TopicAverages(topics=topics, num_samples=num_samples)


def average(
    averages: TopicAverages, assignments: Assignments, word_concentration: float
) -> TopicAverages:
    """Add E[topic] of one more sample of the same topics to the averages."""
    num_samples = averages.num_samples + 1
    sample = _sample_topics(
        assignments.topic_words, assignments.topic_words.sum(0), word_concentration
    )
    if len(averages.topics):
        # The mean of n samples from that of n - 1: x̄_n = x_n + (x̄_(n-1) - x_n) (n - 1) / n.
        sample += (averages.topics - sample) * ((num_samples - 1) / num_samples).astype(np.float32)
    return TopicAverages(topics=sample, num_samples=num_samples)


def _sample_topics(
    topic_words: np.ndarray,
    tokens: np.ndarray,
    word_concentration: float,
    vocab_size: int | None = None,
) -> np.ndarray:
    """E[topic] of one sample, (n_wk + η) / (n_k + V η), for rows of words (U, K)."""
    vocab_size = vocab_size or len(topic_words)
    scale = 1.0 / (tokens + vocab_size * word_concentration)
    topics: np.ndarray = (topic_words * scale + word_concentration * scale).astype(np.float32)
    return topics


def infer_documents(
    config: SamplerConfig,
    state: SamplerState,
    documents: Documents,
    weights: np.ndarray,
    phase: Phase,
) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents, given E[topics] and α weights (K,)."""
    words = documents.distinct_words()
    topics = read_topics(state.assignments, state.averages, config.word_concentration, words)
    prior = document_prior(state.doc_concentration * weights, topics.dtype)
    return infer_shares(
        documents,
        DocumentExpectations(words=words, topics=topics, prior=prior, step=state.step, phase=phase),
    )


def read_topics(
    assignments: Assignments,
    averages: TopicAverages,
    word_concentration: float,
    words: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """E[topic] of some words (U, K): the average over samples, or the current value."""
    topic_words = assignments.topic_words
    topics = _sample_topics(
        topic_words[words], topic_words.sum(0), word_concentration, len(topic_words)
    )
    if len(averages.topics):
        topics = np.where(averages.num_samples > 0, averages.topics[words], topics)
    return topics


def predict_words(
    assignments: Assignments,
    prior: np.ndarray,
    unused_prior: float,
    word_concentration: float,
    rows: np.ndarray,
    words: np.ndarray,
) -> np.ndarray:
    """Probability Σ_k θ_jk φ_kw of words (n,) in the documents at rows (n,) of doc_ids, under this
    one sample.

    Teh 2007 Eq. 17: θ_jk = (α π_k + n_jk) / (α + n_j), φ_kw = (η + n_kw) / (V η + n_k); the
    prediction is the mean over samples.
    prior: (K,), α π; unused_prior: α π_u of topics not yet born, in which all words are equally
    likely.
    """
    topic_words = assignments.topic_words
    num_topics = len(prior)
    vocab_size = len(topic_words)
    tokens = topic_words.sum(0)
    starts = np.append(0, assignments.doc_sizes.cumsum())
    predicted = np.empty(len(rows))
    for first in range(0, len(assignments.doc_ids), DOCUMENTS_AT_ONCE):
        last = min(first + DOCUMENTS_AT_ONCE, len(assignments.doc_ids))
        # θ_jk of a thousand documents at a time, from the topics of their tokens.
        own = np.flatnonzero((rows >= first) & (rows < last))
        documents = np.repeat(np.arange(last - first), assignments.doc_sizes[first:last])
        places = documents * num_topics + assignments.topics[starts[first] : starts[last]]
        shares = (
            np.bincount(places, minlength=(last - first) * num_topics).reshape(-1, num_topics)
            + prior
        )
        topics = (topic_words[words[own]] + word_concentration) / (
            tokens + vocab_size * word_concentration
        )
        # Σ_k θ_jk φ_kw, and the part of the topics not yet born.
        known = np.einsum("nk,nk->n", shares[rows[own] - first], topics)
        total = prior.sum() + unused_prior + assignments.doc_sizes[rows[own]]
        predicted[own] = (known + unused_prior / vocab_size) / total
    return predicted
