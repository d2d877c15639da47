"""What the online algorithms with a fixed number of topics share: start, local step, global step
and summary.
"""

import numpy as np

from stickbreaker.engine.algorithm import Breaking, NoisyStep, Phase, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.candidates import Steps, drop_empty, fit_candidates
from stickbreaker.engine.inference.concentrations import first_concentrations
from stickbreaker.engine.inference.dirichlet_step import (
    DocumentExpectations,
    fit_documents,
    fit_to_convergence,
)
from stickbreaker.engine.inference.evidence import decide
from stickbreaker.engine.inference.expectations import expected_topics, topic_weights
from stickbreaker.engine.inference.global_step import (
    Statistics,
    blend_tables,
    blend_topics,
    next_rate,
    preview_topics,
)
from stickbreaker.engine.inference.states import OnlineHDPConfig, OnlineHDPState, OnlineState
from stickbreaker.engine.inference.sticks import (
    Sticks,
    break_stick,
    corpus_sticks,
    expected_weights,
)
from stickbreaker.engine.inference.warm_up import (
    first_phase,
    iterations_at,
    scale_start,
    startup_counts,
)
from stickbreaker.engine.schedules import is_average, pass_rate


def start_hdp(
    config: OnlineHDPConfig, vocab_size: int, rng: np.random.Generator, later: Phase
) -> OnlineHDPState:
    """State before the first batch; later: the phase after a warm-up.

    The noise in λ - η is drawn for D = 1; the first batch rescales it to D. Every topic starts with
    the same tables.
    """
    num_topics = resolved(config.max_topics)
    phase, temperature = first_phase(config.start, later)
    return OnlineHDPState(
        topic_counts=startup_counts(config, vocab_size, rng),
        tables=np.full(num_topics, 1.0 / num_topics),
        expected_tokens=np.zeros(num_topics),
        step=0,
        rate_spent=0.0,
        startup_share=1.0,
        phase=phase,
        temperature=temperature,
        decided_at=0.0,
        documents_read=0,
        concentrations=first_concentrations(
            doc=config.doc_concentration,
            word=config.word_concentration,
            corpus=config.corpus_concentration,
        ),
    )


def local(
    config: object,
    expectations: DocumentExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Statistics:
    """Statistics of some of the batch's documents, each with one Dirichlet over topics.

    It is pure and draws nothing; statistics of shards add up. Source: the E step of Hoffman 2010
    Alg. 2.
    """
    if expectations.phase == Phase.WARM_UP:
        return fit_documents(
            documents, expectations, iterations_at(expectations.temperature), is_learning=True
        )[0]
    return fit_to_convergence(documents, expectations)[0]


def blend_hdp(
    config: OnlineHDPConfig,
    state: OnlineHDPState,
    statistics: Statistics,
    batch: Batch,
    steps: Steps,
) -> tuple[OnlineHDPState, StepInfo]:
    """Move λ and the tables towards the batch's estimates.

    Documents set aside then decide on topics, α₀ and η.

    With `topic_expectation="geometric"` the step of λ is a natural gradient of the bound; "mean" is
    stepwise EM.

    steps: those of the algorithm, to fit candidates for topics of a stream and to score documents.
    Source: Wang 2011 Eq. 22-27 with the mini-batch's D/S.
    """
    # Before the first step λ and tables are drawn for D = 1.
    state = scale_start(config, state, batch.corpus_size)
    rate = _next_rate(config, state, batch)
    blended, info = _blend(rate, state, statistics, batch)

    def grow() -> OnlineHDPState | None:
        fitted = fit_candidates(steps, config, state, batch)
        return None if fitted is None else _blend(rate, *fitted, batch)[0]

    if config.duplicates == "merge":
        # Topics that the documents set aside do not need are removed, and in a stream others may be
        # added.
        blended = drop_empty(decide(steps.infer, config, blended, batch, grow), len(state.tables))
    if np.isfinite(blended.pass_score):
        info = info._replace(is_pass_needed=not blended.has_converged)
    return blended, info


def _blend(
    rate: float, state: OnlineHDPState, statistics: Statistics, batch: Batch
) -> tuple[OnlineHDPState, StepInfo]:
    blended, info = blend_topics(rate, state, statistics, batch)
    tables = blend_tables(state.tables, statistics.tables, batch, rate)
    decided = state.decided
    if len(decided.tokens):
        # λ ← (1 - ρ) λ + ρ (η + prior tokens + D/S · counts), so that λ always holds the prior.
        blended = blended._replace(
            topic_counts=blended.topic_counts.add(
                decided.words, decided.topics, rate * decided.tokens
            )
        )
    return blended._replace(
        tables=tables, documents_read=state.documents_read + batch.num_read
    ), info


def preview_hdp(
    config: OnlineHDPConfig, state: OnlineHDPState, statistics: Statistics, batch: Batch
) -> NoisyStep:
    """The step of λ that `blend_hdp` would take."""
    noisy = preview_topics(config, state, statistics, batch)
    decided = state.decided
    if len(decided.tokens):
        # Prior tokens are in the target of every step, also those of words that are not in it.
        words = np.union1d(noisy.words, decided.words)
        target = np.zeros((len(words), noisy.target.shape[1]), noisy.target.dtype)
        target[np.searchsorted(words, noisy.words)] = noisy.target
        places = np.searchsorted(words, decided.words)
        np.add.at(target, (places, decided.topics), decided.tokens)
        noisy = noisy._replace(words=words, target=target)
    return noisy._replace(learning_rate=_next_rate(config, state, batch))


def _next_rate(config: OnlineHDPConfig, state: OnlineHDPState, batch: Batch) -> float:
    """ρ of the next step, which in later passes may average over the pass."""
    if is_average(config) and state.documents_read >= batch.corpus_size:
        return float(pass_rate(state.documents_read, batch.num_read, batch.corpus_size))
    return next_rate(config, state)


def sticks_of(state: OnlineHDPState) -> Sticks:
    """The corpus' sticks, by falling number of tables."""
    return corpus_sticks(state.tables, state.concentrations.corpus)


def stick(config: object, state: OnlineHDPState) -> Breaking:
    """The corpus' stick as the topics break it."""
    return break_stick(sticks_of(state), np.arange(len(state.tables)))


def summarize(config: object, state: OnlineHDPState) -> TopicSummary:
    """E[topics], E[β] and expected tokens, under ids that no step changes."""
    return TopicSummary(
        topic_ids=np.arange(len(state.tables)),
        topics=expected_topics(state.topic_counts, state.concentrations.word),
        weights=expected_weights(sticks_of(state)),
        expected_tokens=state.expected_tokens,
    )


def word_topics(
    config: object, state: OnlineState, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Topic ids (K,) and E[topic] of some words (U, K), as in a summary."""
    topics = topic_weights(state.topic_counts, words, state.concentrations.word, "mean")
    return np.arange(topics.shape[1]), topics
