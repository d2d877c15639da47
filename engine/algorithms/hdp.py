"""Online variational inference for the hierarchical Dirichlet process (Wang, Paisley & Blei 2011).

What the paper leaves open has a name here. `start="warm"` begins with a soft warm-up of Dirichlet sweeps and then
starts each document's slots on its own best topics; `start="wang"` starts them uniform, from the first batch on.
`topic_expectation="mean"` uses E[topic] in the local step (the locally collapsed form of Wang & Blei 2012 Eq. 6), so
that ζ_it ∝ exp(E log π_t) Σ_k φ_tk E[topic_k,i]; `"geometric"` uses exp E[log topic] and Eq. 17-18 as printed.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import psi

from engine.algorithm import Algorithm, StepInfo, TopicSummary, check_settings, setting
from engine.decayed_counts import DecayedCounts, decayed_counts
from engine.kernels.dirichlet import fit_dirichlet
from engine.kernels.special import SMALLEST_EXPONENT, exp_expected_log
from engine.kernels.two_level import Limits, fit_two_level
from engine.schedules import is_warming_up, learning_rate
from engine.sticks import corpus_sticks, expected_log_weights, expected_weights

# Tokens a document of start-up mass, and the shape of its Gamma noise, by start (engine/DECISIONS.md).
STARTUP_TOKENS = 100.0
STARTUP_SHAPE = {"warm": 100.0, "wang": 1.0}
WARM_UP_SWEEPS = 3
START_SWEEPS = 10
MAX_ITERATIONS = {"warm": 3, "wang": 100}
TOLERANCE = 1e-3
INFINITY = float("inf")


@dataclass(frozen=True)
class HDPConfig:
    """Settings of the online HDP; the defaults are those of Wang 2011 sec. 4.2, with S = 256 and η = 0.01.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(150, "K", (1, 2000), "most topics the model may use")
    max_slots: int = setting(15, "T", (1, 200), "most places a document has to hold a topic")
    doc_concentration: float = setting(1.0, "α₀", (1e-6, 1e6), "larger: a document spreads over more topics")
    corpus_concentration: float = setting(1.0, "γ", (1e-6, 1e6), "larger: the corpus spreads over more topics")
    word_concentration: float = setting(0.01, "η", (1e-6, 1e3), "smaller: a topic keeps to fewer words")
    forgetting_rate: float = setting(0.6, "κ", (0.5, 1.0), "how fast the steps shrink", live=True)
    delay: float = setting(64.0, "τ₀", (0.0, INFINITY), "how much the first steps are held back", live=True)
    batch_size: int = setting(256, "S", (1, INFINITY), "documents in a mini-batch", live=True)
    start: str = setting("warm", "", None, "warm: soft warm-up; wang: as in the paper", choices=("warm", "wang"))
    topic_expectation: str = setting(
        "mean", "", None, "mean: E[topic]; geometric: exp E[log topic], as printed", choices=("mean", "geometric")
    )
    max_active_topics: int = setting(30, "M", (1, 2000), "topics that a document considers after its start")
    precision: str = setting("float32", "", None, "of topics and local steps", choices=("float32", "float64"))

    def __post_init__(self):
        check_settings(self)


class HDPState(NamedTuple):
    """What the next step needs.

    topic_counts: λ - η, word by word (V, K).
    tables: (K,) expected tables; expected_tokens: (K,), start-up mass and η not counted.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far; phase: of the step that made it, which scoring follows.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    step: int
    rate_spent: float
    startup_share: float
    phase: str


class Expectations(NamedTuple):
    """What the local step reads: the batch's words (U,) and their topic weights (U, K), α₀E[β] and E[log β] (K,)."""

    words: np.ndarray
    topics: np.ndarray
    prior: np.ndarray
    expected_log_weights: np.ndarray
    step: int
    phase: str


class Statistics(NamedTuple):
    """Expected counts of a shard: words in topics (U, K), tables of topics (K,). They add.

    Source: the sums of Eq. 19 and 21 of Wang 2011.
    """

    topic_words: np.ndarray
    tables: np.ndarray

    def __add__(self, other):
        return Statistics(self.topic_words + other.topic_words, self.tables + other.tables)


def init(config, vocab_size, rng):
    """State before the first batch: λ - η is Gamma noise worth STARTUP_TOKENS a document, for a corpus of one document.

    The corpus' size is known from the first batch on, which scales the noise to it, so that the start does not depend
    on a guess of D. Every topic starts with the same tables.
    """
    shape, precision = STARTUP_SHAPE[config.start], np.dtype(config.precision)
    noise = rng.standard_gamma(shape, size=(vocab_size, config.max_topics), dtype=precision)
    noise *= precision.type(STARTUP_TOKENS / (shape * config.max_topics * vocab_size))
    phase = "warm-up" if config.start == "warm" else "two-level"
    tables = np.full(config.max_topics, 1.0 / config.max_topics)
    return HDPState(decayed_counts(noise), tables, np.zeros(config.max_topics), 0, 0.0, 1.0, phase)


def expect(config, state, batch):
    """Expectations of the next step, for the words of this batch only."""
    state = _scale_start(state, batch.corpus_size)
    return _expect_words(config, state, np.unique(batch.documents.words), _phase(config, state, batch))


def _phase(config, state, batch):
    """The warm-up ends for good once half of the first pass's rates are spent."""
    is_early = state.phase == "warm-up" and is_warming_up(state.rate_spent, batch.corpus_size, config)
    return "warm-up" if is_early else "two-level"


def _scale_start(state, corpus_size):
    """The start-up mass is so much a document: known once the corpus' size is."""
    if state.step > 0:
        return state
    counts = state.topic_counts
    grown = DecayedCounts(counts.stored * counts.stored.dtype.type(corpus_size), 1.0, counts.totals * corpus_size)
    return state._replace(topic_counts=grown, tables=state.tables * corpus_size)


def _expect_words(config, state, words, phase):
    counts = state.topic_counts
    totals = counts.totals + config.word_concentration * counts.stored.shape[0]
    topics = counts.rows(words)
    topics += topics.dtype.type(config.word_concentration)
    if config.topic_expectation == "mean":
        topics *= (1.0 / totals).astype(topics.dtype)
    else:
        exp_expected_log(topics, psi(totals), SMALLEST_EXPONENT[topics.dtype], topics)
    sticks = corpus_sticks(state.tables, config.corpus_concentration)
    prior = (config.doc_concentration * expected_weights(sticks)).astype(topics.dtype)
    # A prior below this is no share of any document, and ψ of a denormal overflows.
    prior = np.maximum(prior, topics.dtype.type(1e-30))
    log_weights = expected_log_weights(sticks).astype(topics.dtype)
    return Expectations(words, topics, prior, log_weights, state.step, phase)


def local(config, expectations, documents, rng=None):
    """Statistics of some of the batch's documents; pure, nothing is drawn, and shards of a batch add up."""
    return _fit(config, expectations, documents, WARM_UP_SWEEPS)[0]


def _fit(config, expectations, documents, num_sweeps):
    """Statistics (U, K), (K,) and doc shares (S, K) under the phase of the expectations."""
    topics = expectations.topics
    own = documents.indexed(expectations.words)
    num_topics = topics.shape[1]
    word_topics, tables = np.zeros_like(topics), np.zeros(num_topics)
    shares = np.zeros((len(documents.starts) - 1, num_topics), topics.dtype)
    if expectations.phase == "warm-up":
        fit_dirichlet(own, topics, expectations.prior, num_sweeps, word_topics, tables, shares)
        shares /= shares.sum(1, keepdims=True)
    else:
        limits = _limits(config, num_topics)
        fit_two_level(
            own, topics, expectations.prior, expectations.expected_log_weights, limits, word_topics, tables, shares
        )
    return Statistics(word_topics, tables), shares


def _limits(config, num_topics):
    is_wang = config.start == "wang"
    num_active = num_topics if is_wang else min(max(config.max_active_topics, config.max_slots), num_topics)
    return Limits(
        min(config.max_slots, num_active),
        num_active,
        START_SWEEPS,
        MAX_ITERATIONS[config.start],
        TOLERANCE,
        float(config.doc_concentration),
        is_wang,
        config.topic_expectation == "geometric",
    )


def blend(config, state, statistics, batch):
    """Natural-gradient step, Eq. 22-27 with the mini-batch's D/S, from statistics of the whole batch."""
    state = _scale_start(state, batch.corpus_size)
    step = state.step + 1
    rate = float(learning_rate(step, config.delay, config.forgetting_rate))
    scale = batch.corpus_size / (len(batch.documents.starts) - 1)
    targets = statistics.topic_words * statistics.topic_words.dtype.type(scale)
    tokens = targets.sum(0, dtype=np.float64)
    phase = _phase(config, state, batch)
    state = HDPState(
        state.topic_counts.blend(rate, np.unique(batch.documents.words), targets),
        (1.0 - rate) * state.tables + rate * scale * statistics.tables,
        (1.0 - rate) * state.expected_tokens + rate * tokens,
        step,
        state.rate_spent + rate,
        state.startup_share * (1.0 - rate),
        phase,
    )
    return state, StepInfo(step, rate, phase, state.startup_share)


def infer(config, state, documents):
    """Topic shares (S, K) of documents, θ_k = Σ_t E[π_t] φ_tk; never learns.

    After a warm-up step the shares are the normalised Dirichlet parameters of as many sweeps as start a document later.
    """
    expectations = _expect_words(config, state, np.unique(documents.words), state.phase)
    return _fit(config, expectations, documents, START_SWEEPS)[1]


def summarize(config, state):
    """E[topics], E[β] and expected tokens, under ids that no step changes."""
    counts = state.topic_counts
    totals = counts.totals + config.word_concentration * counts.stored.shape[0]
    topics = counts.dense()
    topics += topics.dtype.type(config.word_concentration)
    topics *= (1.0 / totals).astype(topics.dtype)
    weights = expected_weights(corpus_sticks(state.tables, config.corpus_concentration))
    return TopicSummary(np.arange(len(totals)), topics.T, weights, state.expected_tokens)


ALGORITHM = Algorithm("hdp", "Online HDP", HDPConfig, init, expect, local, blend, infer, summarize)
