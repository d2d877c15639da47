"""Collapsed variational Bayes for latent Dirichlet allocation, CV-LDA (Teh, Newman & Welling 2007).

With the settings of Teh, Kurihara & Welling (2007): α = 0.1 and π = 1/K, read as 0.1 in total, β = 100 in total. All
concentrations stay as they are set; a sweep is Eq. 15 there with these in place of expectations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.inference.collapsed import Priors, SoftAssignments

INFINITY = float("inf")


@dataclass(frozen=True)
class CVLDAConfig:
    """Settings of CV-LDA, by default those of Teh, Kurihara & Welling (2007) sec. 4.

    Raises ValueError where a value is outside its bounds.
    """

    max_topics: int = setting(80, "K", (1, 2000), "topics, all of which the model uses")
    doc_concentration: float = setting(0.1, "Kα", (1e-6, 1e6), "larger: a document spreads over more topics")
    word_total: float = setting(100.0, "β", (1e-6, 1e9), "smaller: a topic keeps to fewer words; 100 is 100/V a word")
    tolerance: float = setting(1e-5, "", (0.0, 1.0), "ends the run once a sweep changes the bound by less of it")
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


class CVLDAState(NamedTuple):
    """What the next sweep needs: q(z), the tokens of each topic (K,), the number of sweeps, the bound of the last."""

    assignments: SoftAssignments
    expected_tokens: np.ndarray
    step: int
    bound: float


def init(config, vocab_size, rng):
    """State before the documents are known; the first step draws their q(z)."""
    return CVLDAState(collapsed.no_assignments(config, vocab_size), np.zeros(config.max_topics), 0, -INFINITY)


def start_from(config, vocab_size, batch, tokens):
    """State that goes on from tokens (nnz, K) of the batch's entries in each topic, K being `max_topics`."""
    state = init(config, vocab_size, None)
    assignments, _ = collapsed.take_over(state.assignments, batch, tokens, _priors(config, vocab_size))
    return state._replace(assignments=assignments, expected_tokens=assignments.topic_tokens(), step=1)


def _priors(config, vocab_size):
    doc = collapsed.hold(np.full(config.max_topics, config.doc_concentration / config.max_topics))
    words = collapsed.hold(np.full(vocab_size, config.word_total / vocab_size))
    return Priors(doc, config.doc_concentration, words, config.word_total)


def step(config, state, batch, rng):
    """A sweep over the corpus, and the bound after it. Raises ValueError where the documents are others."""
    priors = _priors(config, len(state.assignments.word_counts))
    assignments, measures = collapsed.sweep(state.assignments, priors, batch, rng)
    tokens = assignments.topic_tokens()
    bound = measures.log_joint / max(int(batch.documents.counts.sum(dtype=np.int64)), 1)
    has_converged = collapsed.has_settled(bound, state.bound, config.tolerance)
    info = StepInfo(state.step + 1, 1.0, Phase.SWEEPS, 0.0, bound=bound, has_converged=has_converged)
    return CVLDAState(assignments, tokens, info.step, bound), info


def infer(config, state, documents):
    """Topic shares (S, K) of documents by Eq. 16, the topics fixed; never learns."""
    priors = _priors(config, len(state.assignments.word_counts))
    topics = collapsed.expected_topics(state.assignments, priors.words, config.precision)
    return collapsed.infer_shares(documents, topics, priors.doc, priors.doc)


def summarize(config, state):
    """E[topics], each topic's share of the expected tokens, and those tokens, under ids that no step changes."""
    priors = _priors(config, len(state.assignments.word_counts))
    topics = collapsed.expected_topics(state.assignments, priors.words)
    weights = (state.expected_tokens + priors.doc) / (state.expected_tokens + priors.doc).sum()
    return TopicSummary(np.arange(config.max_topics), topics, weights, state.expected_tokens)


ALGORITHM = Algorithm(
    name="cv-lda",
    title="CV-LDA",
    config=CVLDAConfig,
    reads=Reads.CORPUS,
    infers_by=InfersBy.COLLAPSED,
    has_corpus_weights=False,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
    passes=100,
    memory=collapsed.memory,
)
