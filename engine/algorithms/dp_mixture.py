"""Truncated mean-field DP mixture: each document has one of K components (Blei & Jordan 2006.

Wang & Blei 2012).

It is the system that Wang & Blei compare with their truncation-free mixture in Fig. 3. The model is
a Dirichlet process mixture of Dirichlet-multinomials, and q factorises over components, sticks and
documents:

    q(z_i = k) ∝ exp(E[log π_k] + Σ_w c_iw E[log θ_kw])                        (Wang & Blei 2012 Eq.
    5) λ_kw = η + Σ_i q(z_i = k) c_iw,  u_k = 1 + Σ_i q(z_i = k),  v_k = a + Σ_{l>k} Σ_i q(z_i = l)
    (Eq. 4)

`batch-dp-mixture` is coordinate ascent over the whole corpus (Alg. 1): no update lowers the bound
of Eq. 3. `dp-mixture` takes stochastic steps from mini-batches instead, as in the paper's
experiments. The paper does not say how λ starts; `start` offers the noise of Hoffman 2010 and that
of Wang 2011. The floor S/D of the learning rate (sec. 3) is left out: with τ₀ = 1 it has no effect
in the first (D/S)^(2/3) passes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import entr, psi, softmax

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import (
    Algorithm,
    Breaking,
    InfersBy,
    Phase,
    Reads,
    StepInfo,
    TopicSummary,
    Transfer,
)
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
from stickbreaker.engine.inference.batch import NO_BOUND, Totals, end_pass, sum_documents
from stickbreaker.engine.inference.expectations import expected_topics, topic_weights
from stickbreaker.engine.inference.global_step import Statistics, batch_scale, blend_tables
from stickbreaker.engine.inference.sticks import (
    Sticks,
    break_stick,
    corpus_sticks,
    expected_log_weights,
    expected_weights,
    find_order,
)
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.transfer import OF_TOTALS, narrow, trim, widen_weighted
from stickbreaker.engine.inference.warm_up import scale_start, startup_counts
from stickbreaker.engine.kernels.counts import FactoredCounts
from stickbreaker.engine.schedules import learning_rate

START_HELP = (
    "hoffman: noise near 1 for each word and component; wang: exponential noise of 100 words per"
    " document"
)
STARTS = ("hoffman", "wang")


@dataclass(frozen=True)
class DPMixtureConfig(Checked):
    """Settings of the stochastic DP mixture; those of Wang & Blei 2012 sec. 3, which gives no S."""

    max_topics: int = setting(300, **declared.MAX_TOPICS)
    corpus_concentration: float = setting(1.0, **declared.WEIGHT_CONCENTRATION)
    word_concentration: float = setting(0.5, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float = setting(1.0, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting("hoffman", "", None, START_HELP, choices=STARTS)
    precision: str = setting("float32", **declared.PRECISION)


@dataclass(frozen=True)
class BatchDPMixtureConfig(Checked):
    """Settings of the batch DP mixture; K, a and η are those of the stochastic one."""

    max_topics: int = setting(300, **declared.MAX_TOPICS)
    corpus_concentration: float = setting(1.0, **declared.WEIGHT_CONCENTRATION)
    word_concentration: float = setting(0.5, **declared.WORD_CONCENTRATION)
    tolerance: float = setting(1e-5, **declared.TOLERANCE)
    start: str = setting("hoffman", "", None, START_HELP, choices=STARTS)
    precision: str = setting("float32", **declared.PRECISION)


Config = DPMixtureConfig | BatchDPMixtureConfig


class DPMixtureState(NamedTuple):
    """What the next step needs: q of the components and of the sticks.

        q(θ_k) = Dirichlet(λ_k),  q(π'_k) = Beta(u_k, v_k),  u_k = 1 + s_k,  v_k = a + Σ_{l>k} s_l

    topic_counts: λ - η, word by word (V, K); tables: (K,) expected documents of the corpus, u - 1.
    expected_tokens: (K,), without start-up mass and η; order: (K,), the components in the order of
    the sticks.
    startup_share: ∏(1 - ρ) so far.
    bound: Eq. 3 in nats after the last pass of `batch-dp-mixture`.
    phase, temperature: "learning" and 1, since there is no warm-up.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    order: np.ndarray
    step: int
    startup_share: float
    bound: float
    phase: Phase
    temperature: float


class MixtureExpectations(NamedTuple):
    """A batch's words (U,), E[log θ] of these words in the components (U, K), and E[log π] (K,)."""

    words: np.ndarray
    topics: np.ndarray
    log_weights: np.ndarray
    phase: Phase = Phase.LEARNING
    temperature: float = 1.0


def init(config: Config, vocab_size: int, rng: np.random.Generator) -> DPMixtureState:
    """State before the first step, for D = 1; every component starts with the same tables."""
    num_topics = config.max_topics
    return DPMixtureState(
        topic_counts=startup_counts(config, vocab_size, rng),
        tables=np.full(num_topics, 1.0 / num_topics),
        expected_tokens=np.zeros(num_topics),
        order=np.arange(num_topics),
        step=0,
        startup_share=1.0,
        bound=NO_BOUND,
        phase=Phase.LEARNING,
        temperature=1.0,
    )


def expect(config: Config, state: DPMixtureState, batch: Batch) -> MixtureExpectations:
    """Expectations of the next step, for the words of this batch only."""
    return _expect_words(
        config, scale_start(config, state, batch.corpus_size), batch.documents.distinct_words()
    )


def _expect_words(config: Config, state: DPMixtureState, words: np.ndarray) -> MixtureExpectations:
    counts = state.topic_counts
    eta = config.word_concentration
    logs: np.ndarray = psi(counts.rows(words).astype(np.float64) + eta)
    logs -= psi(counts.totals + eta * counts.vocab_size)
    log_weights = expected_log_weights(sticks_of(config, state))
    return MixtureExpectations(
        words=words, topics=logs.astype(counts.precision), log_weights=log_weights
    )


def sticks_of(config: Config, state: DPMixtureState) -> Sticks:
    """The sticks u, v of the components, in their order; the last component takes what is left."""
    return corpus_sticks(state.tables, config.corpus_concentration, state.order)


def fit(documents: Documents, expectations: MixtureExpectations) -> tuple[Statistics, np.ndarray]:
    """Statistics of documents and q(z) (S, K), Eq. 5: a document is one table."""
    own = documents.indexed(expectations.words)
    precision = expectations.topics.dtype
    counts = own.counts.astype(precision)
    by_word = csr_matrix(
        (counts, own.words, own.starts), (own.num_documents, len(expectations.words))
    )
    shares: np.ndarray = softmax(by_word @ expectations.topics + expectations.log_weights, axis=1)
    factored = FactoredCounts(
        starts=own.starts,
        words=own.words,
        scales=counts,
        weights=shares.astype(precision),
        topics=np.ones_like(expectations.topics),
    )
    statistics = Statistics(
        words=expectations.words,
        counts=(factored,),
        tables=shares.sum(0),
        tokens=documents.sizes() @ shares,
        phase=expectations.phase,
        temperature=expectations.temperature,
    )
    return statistics, shares


def local(
    config: DPMixtureConfig,
    expectations: MixtureExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Statistics:
    """Statistics of some of the batch's documents; shards of a batch add up."""
    return fit(documents, expectations)[0]


def widen(
    statistics: Statistics, expectations: MixtureExpectations, places: np.ndarray
) -> Statistics:
    """Statistics of a shard for the batch's words; they have no topic weights."""
    return widen_weighted(statistics, expectations.words, np.ones_like(expectations.topics), places)


def blend(
    config: DPMixtureConfig, state: DPMixtureState, statistics: Statistics, batch: Batch
) -> tuple[DPMixtureState, StepInfo]:
    """Natural-gradient step of λ, u and v with the mini-batch's D/S."""
    state = scale_start(config, state, batch.corpus_size)
    step = state.step + 1
    scale = batch_scale(batch)
    rate = float(learning_rate(step, config.delay, config.forgetting_rate))
    counts = state.topic_counts.blend(
        rate, statistics.words, statistics.counts, scale, statistics.tokens
    )
    tables = blend_tables(state.tables, statistics.tables, batch, rate)
    state = state._replace(
        topic_counts=counts,
        tables=tables,
        expected_tokens=(1.0 - rate) * state.expected_tokens + rate * scale * statistics.tokens,
        order=np.argsort(-tables, kind="stable"),
        step=step,
        startup_share=state.startup_share * (1.0 - rate),
    )
    return state, StepInfo(
        step=step, learning_rate=rate, phase=state.phase, startup_share=state.startup_share
    )


def local_batch(
    config: BatchDPMixtureConfig,
    expectations: MixtureExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Totals:
    """Totals of some documents; their part of the bound is the entropy of q(z)."""

    def fit_part(part: Documents) -> tuple[Statistics, float]:
        statistics, shares = fit(part, expectations)
        return statistics, float(entr(shares).sum())

    return sum_documents(documents, expectations, fit_part)


def blend_batch(
    config: BatchDPMixtureConfig, state: DPMixtureState, totals: Totals, batch: Batch
) -> tuple[DPMixtureState, StepInfo]:
    """Eq. 4 from totals of the whole corpus, unless it lowers the bound."""
    order, sticks = find_order(totals.tables, state.order, config.corpus_concentration)
    new = state._replace(tables=totals.tables, order=order, startup_share=0.0)
    return end_pass(config, state, new, totals, batch, sticks)


def infer(config: Config, state: DPMixtureState, documents: Documents) -> np.ndarray:
    """q(z = k) (S, K) of documents by Eq. 5; nothing is learned."""
    return fit(documents, _expect_words(config, state, documents.distinct_words()))[1]


def stick(config: Config, state: DPMixtureState) -> Breaking:
    """The corpus' stick as the components break it."""
    return break_stick(sticks_of(config, state), np.arange(len(state.tables)))


def summarize(config: Config, state: DPMixtureState) -> TopicSummary:
    """E[θ], E[π] and expected tokens, under ids that no step changes."""
    return TopicSummary(
        topic_ids=np.arange(len(state.tables)),
        topics=expected_topics(state.topic_counts, config.word_concentration),
        weights=expected_weights(sticks_of(config, state)),
        expected_tokens=state.expected_tokens,
    )


def word_topics(
    config: Config, state: DPMixtureState, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Component ids (K,) and E[θ] of some words (U, K), as in a summary."""
    topics = topic_weights(state.topic_counts, words, config.word_concentration, "mean")
    return np.arange(topics.shape[1]), topics


ALGORITHM = Algorithm(
    name="dp-mixture",
    title="Online DP mixture",
    config=DPMixtureConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.MIXTURE,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    transfer=Transfer(narrow=narrow, trim=trim, widen=widen),
    stick=stick,
    word_topics=word_topics,
)
BATCH = Algorithm(
    name="batch-dp-mixture",
    title="Batch DP mixture",
    config=BatchDPMixtureConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.MIXTURE,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local_batch,
    blend=blend_batch,
    transfer=OF_TOTALS,
    passes=100,
    stick=stick,
)
