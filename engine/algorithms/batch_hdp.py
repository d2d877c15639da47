"""Batch variational inference for the hierarchical Dirichlet process (Wang, Paisley & Blei 2011,
Eq. 15-21).

Each step reads the whole corpus: it fits every document as the online HDP does, then sets sticks
and topics, until the relative gain of the bound (Eq. 14) is small. `start="wang"` and
`topic_expectation="geometric"` follow the paper; with them no update lowers the bound. The defaults
are those of the online HDP, except that no topics are merged.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import (
    Algorithm,
    Breaking,
    InfersBy,
    Phase,
    Reads,
    StepInfo,
    TopicSummary,
)
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference.batch import NO_BOUND, Totals, cool_pass, end_pass, sum_by_phase
from stickbreaker.engine.inference.expectations import expected_topics
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.merging import find_merges
from stickbreaker.engine.inference.slot_step import (
    SlotExpectations,
    expect_slots,
    fit_slots,
    infer_slots,
    limits_of,
    trace_slots,
)
from stickbreaker.engine.inference.sticks import (
    Sticks,
    break_stick,
    corpus_sticks,
    expected_weights,
    find_order,
    sticks_bound,
)
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.inference.transfer import OF_TOTALS
from stickbreaker.engine.inference.warm_up import first_phase, scale_start, startup_counts
from stickbreaker.engine.kernels.special import NOT_RAISED

# Passes between two searches for duplicates.
PASSES_BETWEEN = 10


@dataclass(frozen=True)
class BatchHDPConfig(Checked):
    """Settings of the batch HDP; the defaults are those of the online HDP."""

    max_topics: int = setting(150, **declared.MAX_TOPICS)
    max_slots: int = setting(15, **declared.MAX_SLOTS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.WEIGHT_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    tolerance: float = setting(1e-5, **declared.TOLERANCE)
    start: str = choice("warm: warm-up by annealing; wang: as the paper prints it", "warm", "wang")
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    max_active_topics: int = setting(32, **declared.MAX_ACTIVE_TOPICS)
    duplicates: str = choice(
        "keep: as in the paper; merge: merge topics if that raises the bound", "keep", "merge"
    )
    precision: str = setting("float32", **declared.PRECISION)


class BatchHDPState(NamedTuple):
    """What the next pass needs: λ of Wang 2011 Eq. 21, and the tables of Eq. 19-20, as in
    `OnlineHDPState`.

    topic_counts: λ - η, word by word (V, K); tables: (K,) expected tables; expected_tokens: (K,).
    order: (K,), the topics in the order of the corpus' sticks.
    bound: Eq. 14 in nats, after the last pass; phase, temperature: those of the last pass.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    order: np.ndarray
    step: int
    bound: float
    phase: Phase
    temperature: float


def init(config: BatchHDPConfig, vocab_size: int, rng: np.random.Generator) -> BatchHDPState:
    """State before the first pass, for D = 1; every topic starts with the same tables."""
    phase, temperature = first_phase(config.start, Phase.TWO_LEVEL)
    return BatchHDPState(
        topic_counts=startup_counts(config, vocab_size, rng),
        tables=np.full(config.max_topics, 1.0 / config.max_topics),
        expected_tokens=np.zeros(config.max_topics),
        order=np.arange(config.max_topics),
        step=0,
        bound=NO_BOUND,
        phase=phase,
        temperature=temperature,
    )


def expect(config: BatchHDPConfig, state: BatchHDPState, batch: Batch) -> SlotExpectations:
    """Expectations of the next pass."""
    state = scale_start(config, state, len(batch.doc_ids))
    return cool_pass(state, batch, partial(_expect_words, config, state, phase=Phase.TWO_LEVEL))


def _expect_words(
    config: BatchHDPConfig,
    state: BatchHDPState,
    words: np.ndarray,
    phase: Phase,
    power: float = NOT_RAISED,
) -> SlotExpectations:
    return expect_slots(config, state, _sticks(config, state), words, phase, power)


def _sticks(config: BatchHDPConfig, state: BatchHDPState) -> Sticks:
    return corpus_sticks(state.tables, config.corpus_concentration, state.order)


def local(
    config: BatchHDPConfig,
    expectations: SlotExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Totals:
    """Totals of some of the corpus' documents by Eq. 15-18; they add up, and nothing is drawn."""
    limits = limits_of(config)

    def fit(part: Documents) -> tuple[Statistics, float]:
        statistics, _, bound = fit_slots(
            part, expectations, limits, is_learning=True, has_bound=True
        )
        return statistics, bound

    return sum_by_phase(documents, expectations, fit)


def blend(
    config: BatchHDPConfig, state: BatchHDPState, totals: Totals, batch: Batch
) -> tuple[BatchHDPState, StepInfo]:
    """Eq. 19-21 from totals of the whole corpus, unless they lower the bound."""
    order, sticks = find_order(totals.tables, state.order, config.corpus_concentration)
    new = state._replace(tables=totals.tables, order=order)
    state, info = end_pass(config, state, new, totals, batch, sticks)
    return _merge_duplicates(config, state, info) if config.duplicates == "merge" else (state, info)


def _merge_duplicates(
    config: BatchHDPConfig, state: BatchHDPState, info: StepInfo
) -> tuple[BatchHDPState, StepInfo]:
    """Merge topics if that raises the bound: every few passes, and before a run ends."""
    if not np.isfinite(state.bound) or not (info.ends_run or state.step % PASSES_BETWEEN == 0):
        return state, info
    known = config.word_concentration, config.corpus_concentration
    merging, gain = find_merges(state.topic_counts.dense().T, state.tables, *known)
    if merging.is_empty:
        return state, info
    by_size = corpus_sticks(state.tables, config.corpus_concentration)
    # The gain of a merge is relative to the order by size, which may be worse than the present one.
    gain += sticks_bound(by_size, known[1]) - sticks_bound(_sticks(config, state), known[1])
    tables = merging.add_up(state.tables)
    merged = state._replace(
        topic_counts=state.topic_counts.merge(merging),
        tables=tables,
        order=np.argsort(-tables, kind="stable"),
        expected_tokens=merging.add_up(state.expected_tokens),
        bound=state.bound + gain,
    )
    return merged, info._replace(has_converged=False, has_fallen=False)


def infer(config: BatchHDPConfig, state: BatchHDPState, documents: Documents) -> np.ndarray:
    """Topic shares (S, K) of documents; nothing is learned."""
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return infer_slots(documents, expectations, limits_of(config))


def stick(config: BatchHDPConfig, state: BatchHDPState) -> Breaking:
    """The corpus' stick as the topics break it."""
    return break_stick(_sticks(config, state), np.arange(config.max_topics))


def summarize(config: BatchHDPConfig, state: BatchHDPState) -> TopicSummary:
    """E[topics], E[β] and expected tokens, under ids that no pass changes."""
    return TopicSummary(
        topic_ids=np.arange(config.max_topics),
        topics=expected_topics(state.topic_counts, config.word_concentration),
        weights=expected_weights(_sticks(config, state)),
        expected_tokens=state.expected_tokens,
    )


ALGORITHM = Algorithm(
    name="batch-hdp",
    title="Batch HDP",
    config=BatchHDPConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.SLOTS,
    init=init,
    infer=infer,
    summarize=summarize,
    expect=expect,
    local=local,
    blend=blend,
    transfer=OF_TOTALS,
    passes=100,
    stick=stick,
    trace=partial(trace_slots, _expect_words),
)
