"""Batch variational inference for the hierarchical Dirichlet process (Wang, Paisley & Blei 2011, Eq. 15-21).

Each step reads the whole corpus: every document is fitted as the online HDP fits it, then sticks and topics are set,
until the bound (Eq. 14) gains less than a share of itself. `start="wang"` and `topic_expectation="geometric"` are the
paper; with them no update lowers the bound. The defaults are those of the online HDP, but that no topics are merged.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference.batch import NO_BOUND, judge, spread, sum_documents, take_pilot, topics_bound
from stickbreaker.engine.inference.dirichlet import fit_documents
from stickbreaker.engine.inference.expectations import expected_topics
from stickbreaker.engine.inference.merging import find_merges
from stickbreaker.engine.inference.sticks import corpus_sticks, expected_weights, sticks_bound
from stickbreaker.engine.inference.topic_counts import DecayedCounts, decayed_counts
from stickbreaker.engine.inference.two_level import START_SWEEPS, expect_slots, fit_slots, limits_of
from stickbreaker.engine.inference.warm_up import cool_to, first_phase, scale_counts, startup_counts, sweeps_at

LATER_PHASE = Phase.TWO_LEVEL
WARM_UP_PASSES = 10
PASSES_BETWEEN = 10


@dataclass(frozen=True)
class BatchHDPConfig:
    """Settings of the batch HDP; the defaults are those of the online HDP.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(150, **declared.MAX_TOPICS)
    max_slots: int = setting(15, **declared.MAX_SLOTS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    tolerance: float = setting(1e-5, **declared.TOLERANCE)
    start: str = setting("warm", "", None, "warm: soft warm-up; wang: as in the paper", choices=("warm", "wang"))
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    max_active_topics: int = setting(32, **declared.MAX_ACTIVE_TOPICS)
    duplicates: str = setting(
        "keep",
        "",
        None,
        "keep: as in the paper; merge: topics become one where that raises the bound",
        choices=("keep", "merge"),
    )
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class BatchHDPState(NamedTuple):
    """What the next pass needs.

    topic_counts: λ - η, word by word (V, K); tables: (K,) expected tables; expected_tokens: (K,).
    order: (K,), the topics as they stand along the corpus' sticks.
    bound: Eq. 14 in nats, of the pass that made it; phase, temperature: of that pass.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    order: np.ndarray
    step: int
    bound: float
    phase: Phase
    temperature: float


def init(config, vocab_size, rng):
    """State before the first pass: λ - η is noise, for a corpus of one document; topics have as many tables."""
    counts, num_topics = startup_counts(config, vocab_size, rng), config.max_topics
    tables, order = np.full(num_topics, 1.0 / num_topics), np.arange(num_topics)
    phase = first_phase(config.start, LATER_PHASE)
    return BatchHDPState(counts, tables, np.zeros(num_topics), order, 0, NO_BOUND, *phase)


def expect(config, state, batch):
    """Expectations of the next pass."""
    if state.step == 0:
        counts = scale_counts(state.topic_counts, config.start, len(batch.doc_ids))
        state = state._replace(topic_counts=counts, tables=state.tables * len(batch.doc_ids))
    expectations = _expect_words(config, state, batch.documents.distinct_words(), LATER_PHASE)
    if state.phase != Phase.WARM_UP:
        return expectations
    progress = min(1.0, state.step / WARM_UP_PASSES)
    return cool_to(progress, state.temperature, take_pilot(batch.documents), expectations)


def _expect_words(config, state, words, phase):
    return expect_slots(config, state, _sticks(config, state), words, phase)


def _sticks(config, state):
    return corpus_sticks(state.tables, config.corpus_concentration, state.order)


def local(config, expectations, documents, rng=None):
    """Totals of some of the corpus' documents by Eq. 15-18; pure, nothing is drawn, and shards add up."""
    if expectations.phase == Phase.WARM_UP:
        sweeps = sweeps_at(expectations.temperature)
        return sum_documents(
            documents, expectations, lambda part: (fit_documents(part, expectations, sweeps, True)[0], NO_BOUND)
        )
    limits = limits_of(config)
    return sum_documents(
        documents, expectations, lambda part: fit_slots(part, expectations, limits, True, has_bound=True)[::2]
    )


def blend(config, state, totals, batch):
    """Eq. 19-21 from totals of the whole corpus, and whether that was worth it."""
    dense = spread(totals, batch.documents.distinct_words(), state.topic_counts.vocab_size)
    order, sticks = _find_order(config, totals.tables, state.order)
    bound = totals.bound + topics_bound(dense, config.word_concentration) + sticks
    of_pass = state.step + 1, bound, totals.phase, totals.temperature
    new = BatchHDPState(decayed_counts(dense), totals.tables, totals.tokens, order, *of_pass)
    state, info = judge(state, new, config.tolerance, batch.documents.counts.sum(dtype=np.int64))
    return _merge_duplicates(config, state, info) if config.duplicates == "merge" else (state, info)


def _find_order(config, tables, order):
    """The order of topics along the sticks and its part of the bound: by size, unless the one before is better.

    With γ > 1 it may be, since the last stick has no share of its own to give away.
    """
    bounds = []
    for each in (np.argsort(-tables, kind="stable"), order):
        sticks = corpus_sticks(tables, config.corpus_concentration, each)
        bounds.append((sticks_bound(sticks, config.corpus_concentration), each))
    best = bounds[0] if bounds[0][0] >= bounds[1][0] else bounds[1]
    return best[1], best[0]


def _merge_duplicates(config, state, info):
    """Every few passes, and where a run would end, topics are merged if that raises the bound; then it goes on."""
    if not np.isfinite(state.bound) or not (info.has_converged or state.step % PASSES_BETWEEN == 0):
        return state, info
    known = config.word_concentration, config.corpus_concentration
    merging, gain = find_merges(state.topic_counts.dense().T, state.tables, *known)
    if merging.is_empty:
        return state, info
    by_size = corpus_sticks(state.tables, config.corpus_concentration)
    # Merges count from the order by size, which may be worse than the present one.
    gain += sticks_bound(by_size, known[1]) - sticks_bound(_sticks(config, state), known[1])
    tables = merging.add_up(state.tables)
    merged = state._replace(
        topic_counts=state.topic_counts.merge(merging),
        tables=tables,
        order=np.argsort(-tables, kind="stable"),
        expected_tokens=merging.add_up(state.expected_tokens),
        bound=state.bound + gain,
    )
    return merged, info._replace(has_converged=False)


def infer(config, state, documents):
    """Topic shares (S, K) of documents, θ_k = Σ_t E[π_t] φ_tk; never learns.

    After a warm-up pass the shares are the normalised Dirichlet parameters of as many sweeps as start a document later.
    """
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    if state.phase == Phase.WARM_UP:
        return fit_documents(documents, expectations, START_SWEEPS, is_learning=False)[1]
    return fit_slots(documents, expectations, limits_of(config), is_learning=False)[1]


def summarize(config, state):
    """E[topics], E[β] and expected tokens, under ids that no pass changes."""
    topics = expected_topics(state.topic_counts, config.word_concentration)
    return TopicSummary(
        np.arange(config.max_topics), topics, expected_weights(_sticks(config, state)), state.expected_tokens
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
    passes=100,
)
