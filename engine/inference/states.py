"""What the shared steps need of a State and of a config, and the learned concentrations that a
State holds.
"""

from typing import NamedTuple, Protocol, Self

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import NO_DOCUMENTS, Documents
from stickbreaker.engine.inference.topic_counts import DecayedCounts

# Bounds of the settings.
LOWEST = 1e-6
HIGHEST = 1e6
HIGHEST_ETA = 1e3


class DocPosterior(NamedTuple):
    """q of α₀, or of each topic's α in LDA, from the tables s_j and the tokens n_j of D documents.

        q(α₀) = Gamma(1 + Σ_j s_j, 1 + Σ_j ψ(α₀ + n_j) - ψ(α₀))        (Teh 2007 sec. 3.3)

    shape, (1,) or (K,), and rate: the parameters divided by D, which a step blends with those of a
    mini-batch.
    """

    shape: np.ndarray
    rate: float

    @property
    def mean(self) -> np.ndarray:
        """E of the concentrations (K,) or (1,), with a sum within the setting's bounds."""
        mean: np.ndarray = self.shape / self.rate
        total = mean.sum()
        bounded: np.ndarray = mean * (np.clip(total, LOWEST, HIGHEST) / total)
        return bounded

    @property
    def total(self) -> float:
        """E[α₀], of LDA E[Σ_k α_k]."""
        return float(self.mean.sum())


class Concentrations(NamedTuple):
    """The values of α₀ (by topic in LDA), γ (0 in LDA) and η that the next step uses."""

    doc: DocPosterior
    corpus: float
    word: float


class Decided(NamedTuple):
    """What a person has decided about topics (engine/inference/edits.py).

    kept: (C,) ids of topics that documents set aside never remove.
    topics, words, tokens: (M,) the prior tokens of words in topics, which λ holds besides η.
    """

    kept: np.ndarray = np.zeros(0, np.int64)
    topics: np.ndarray = np.zeros(0, np.int64)
    words: np.ndarray = np.zeros(0, np.int64)
    tokens: np.ndarray = np.zeros(0)

    def select(self, is_left: np.ndarray) -> "Decided":
        """Only some of the prior tokens, from a mask (M,)."""
        return self._replace(
            topics=self.topics[is_left], words=self.words[is_left], tokens=self.tokens[is_left]
        )


class ScheduleConfig(Protocol):
    """A config with a learning rate (τ₀ + t)^-κ."""

    @property
    def forgetting_rate(self) -> float: ...
    @property
    def delay(self) -> float | None: ...
    @property
    def batch_size(self) -> int | None: ...


class StartConfig(Protocol):
    """A config that says how λ starts."""

    @property
    def max_topics(self) -> int | None: ...
    @property
    def start(self) -> str: ...
    @property
    def precision(self) -> str: ...


class WordConfig(Protocol):
    """A config with a prior of the words in a topic, and the form in which topics weigh words."""

    @property
    def word_concentration(self) -> float: ...
    @property
    def topic_expectation(self) -> str: ...


class SlotConfig(WordConfig, Protocol):
    """A config of the two-level local step."""

    @property
    def max_topics(self) -> int | None: ...
    @property
    def max_slots(self) -> int: ...
    @property
    def max_active_topics(self) -> int: ...
    @property
    def doc_concentration(self) -> float: ...
    @property
    def start(self) -> str: ...


class LearnedConfig(Protocol):
    """A config that can let the concentrations be learned."""

    @property
    def concentrations(self) -> str: ...
    @property
    def start(self) -> str: ...


class OnlineConfig(ScheduleConfig, LearnedConfig, Protocol):
    """A config of an online algorithm."""


class OnlineHDPConfig(OnlineConfig, StartConfig, Protocol):
    """A config of an online HDP, which can remove redundant topics."""

    @property
    def doc_concentration(self) -> float: ...
    @property
    def corpus_concentration(self) -> float: ...
    @property
    def word_concentration(self) -> float: ...
    @property
    def duplicates(self) -> str: ...
    @property
    def later_passes(self) -> str: ...


class CountsState(Protocol):
    """A State that holds λ."""

    @property
    def topic_counts(self) -> DecayedCounts: ...
    @property
    def step(self) -> int: ...


class ScaledState(CountsState, Protocol):
    """A State whose λ is rescaled from D = 1 to D by the first batch."""

    def _replace(self, *, topic_counts: DecayedCounts = ...) -> Self: ...


class ScaledTablesState(ScaledState, Protocol):
    """A State whose tables are rescaled too."""

    @property
    def tables(self) -> np.ndarray: ...

    def _replace(self, *, topic_counts: DecayedCounts = ..., tables: np.ndarray = ...) -> Self: ...


class WarmUpState(Protocol):
    """A State that may be in a warm-up."""

    @property
    def rate_spent(self) -> float: ...
    @property
    def phase(self) -> Phase: ...
    @property
    def temperature(self) -> float: ...


class OnlineState(CountsState, WarmUpState, Protocol):
    """What `blend_topics` and the learning of η read, and what they replace."""

    @property
    def expected_tokens(self) -> np.ndarray: ...
    @property
    def startup_share(self) -> float: ...
    @property
    def concentrations(self) -> Concentrations: ...

    def _replace(  # noqa: PLR0913  # the signature that a named tuple has
        self,
        *,
        topic_counts: DecayedCounts = ...,
        expected_tokens: np.ndarray = ...,
        step: int = ...,
        rate_spent: float = ...,
        startup_share: float = ...,
        phase: Phase = ...,
        temperature: float = ...,
        concentrations: Concentrations = ...,
    ) -> Self: ...


class OnlineHDPState(NamedTuple):
    """The State of an online HDP, with slots or by direct assignment: q of the topics φ and of the
    corpus' sticks β'.

        q(φ_k) = Dirichlet(λ_k),  λ_kw = η + Σ_j Σ_t φ_jtk Σ_n ζ_jnt I[w_jn = w]
        q(β'_k) = Beta(u_k, v_k),  u_k = 1 + s_k,  v_k = γ + Σ_{l>k} s_l,  s_k = Σ_jt φ_jtk

    Source: Wang 2011 sec. 3.1, Eq. 13 and 19 to 21. Steps move λ and s towards these sums over the
    corpus, as estimated from a mini-batch (Eq. 22-27).

    topic_counts: λ - η, word by word (V, K); tables: (K,) s.
    expected_tokens: (K,), without start-up mass and η.
    rate_spent: Σρ so far; startup_share: ∏(1 - ρ) so far.
    phase, temperature: those of the last step.
    decided_at: Σρ at the last decision on the number of topics.
    documents_read: number of documents read so far.
    concentrations: α₀, γ and η; the values of the settings until they are learned.
    set_aside: the documents that decide on the number of topics, α₀ and η.
    pass_score: nats per word of the documents set aside after the last pass.
    has_converged: whether that pass did not raise it.
    decided: what a person has decided about topics.
    """

    topic_counts: DecayedCounts
    tables: np.ndarray
    expected_tokens: np.ndarray
    step: int
    rate_spent: float
    startup_share: float
    phase: Phase
    temperature: float
    decided_at: float
    documents_read: int
    concentrations: Concentrations
    set_aside: Documents = NO_DOCUMENTS
    pass_score: float = -np.inf
    has_converged: bool = False
    decided: Decided = Decided()
