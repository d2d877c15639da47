"""Collapsed variational Bayes for latent Dirichlet allocation, CV-LDA (Teh, Newman & Welling 2007).

The settings are those of Teh, Kurihara & Welling (2007): α = 0.1 and π = 1/K, read as 0.1 in total,
β = 100 in total. The concentrations are fixed; a pass is Eq. 15 of that paper with these values
instead of expectations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo, TopicSummary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
from stickbreaker.engine.inference import collapsed
from stickbreaker.engine.inference.collapsed import INFINITY, Priors, SoftAssignments


@dataclass(frozen=True)
class CVLDAConfig(Checked):
    """Settings of CV-LDA, by default those of Teh, Kurihara & Welling (2007) sec. 4."""

    max_topics: int = setting(80, **declared.NUM_TOPICS)
    doc_concentration: float = setting(0.1, **declared.LDA_CONCENTRATION)
    word_total: float = setting(100.0, **declared.WORD_TOTAL)
    start_from: str = setting("own", **declared.START_FROM)
    tolerance: float = setting(1e-5, **declared.PASS_TOLERANCE)
    precision: str = setting("float32", **declared.PRECISION)


class CVLDAState(NamedTuple):
    """What the next pass needs: q(z), tokens (K,) of topics, number of passes, last bound."""

    assignments: SoftAssignments
    expected_tokens: np.ndarray
    step: int
    bound: float


def init(config: CVLDAConfig, vocab_size: int, rng: np.random.Generator | None) -> CVLDAState:
    """State without documents; the first step draws their q(z)."""
    return CVLDAState(
        assignments=collapsed.no_assignments(config, vocab_size),
        expected_tokens=np.zeros(config.max_topics),
        step=0,
        bound=-INFINITY,
    )


def start_from(
    config: CVLDAConfig, vocab_size: int, batch: Batch, tokens: np.ndarray
) -> CVLDAState:
    """State that continues from tokens (nnz, K) of the batch's entries; K is `max_topics`."""
    state = init(config, vocab_size, None)
    assignments, _ = collapsed.take_over(
        state.assignments, batch, tokens, find_priors(config, vocab_size)
    )
    return state._replace(
        assignments=assignments, expected_tokens=assignments.topic_tokens(), step=1
    )


def find_priors(config: CVLDAConfig, vocab_size: int) -> Priors:
    """The prior counts of topics in a document (K,) and of words in a topic (V,)."""
    doc = collapsed.hold(np.full(config.max_topics, config.doc_concentration / config.max_topics))
    words = collapsed.hold(np.full(vocab_size, config.word_total / vocab_size))
    return Priors(
        doc=doc, doc_total=config.doc_concentration, words=words, word_total=config.word_total
    )


def step(
    config: CVLDAConfig, state: CVLDAState, batch: Batch, rng: np.random.Generator
) -> tuple[CVLDAState, StepInfo]:
    """A pass over the corpus, and its bound; ValueError if the documents have changed."""
    priors = find_priors(config, len(state.assignments.word_counts))
    assignments, measures = collapsed.make_pass(state.assignments, priors, batch, rng)
    tokens = assignments.topic_tokens()
    bound = measures.log_joint / max(batch.documents.num_tokens, 1)
    has_converged = collapsed.has_converged(bound, state.bound, config.tolerance)
    info = StepInfo(
        step=state.step + 1,
        learning_rate=1.0,
        phase=Phase.LEARNING,
        startup_share=0.0,
        bound=bound,
        has_converged=has_converged,
    )
    return CVLDAState(
        assignments=assignments, expected_tokens=tokens, step=info.step, bound=bound
    ), info


def infer(config: CVLDAConfig, state: CVLDAState, documents: Documents) -> np.ndarray:
    """Topic shares (S, K) of documents by Eq. 16, with fixed topics; nothing is learned."""
    priors = find_priors(config, len(state.assignments.word_counts))
    topics = collapsed.expected_topics(state.assignments, priors.words, config.precision)
    return collapsed.infer_shares(documents, topics, priors.doc, priors.doc)


def summarize(config: CVLDAConfig, state: CVLDAState) -> TopicSummary:
    """E[topics], and each topic's expected tokens and its share of them, by permanent id."""
    priors = find_priors(config, len(state.assignments.word_counts))
    topics = collapsed.expected_topics(state.assignments, priors.words)
    weights = (state.expected_tokens + priors.doc) / (state.expected_tokens + priors.doc).sum()
    return TopicSummary(
        topic_ids=np.arange(config.max_topics),
        topics=topics,
        weights=weights,
        expected_tokens=state.expected_tokens,
    )


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
    start_from=start_from,
)
