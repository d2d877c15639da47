"""Truncation-free DP mixture: each document has one component, old or new (Wang & Blei 2012 sec.
2.3).
"""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Reads, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
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
from stickbreaker.engine.kernels.mixture import (
    Components,
    MixturePrior,
    count_components,
    sample_components,
    share_documents,
)

# Initial number of columns for components born in a mini-batch.
FIRST_ROOM = 8


@dataclass(frozen=True)
class FreeDPMixtureConfig(Checked):
    """Settings of the truncation-free DP mixture; concentrations as in Wang & Blei 2012 sec. 3."""

    corpus_concentration: float = setting(1.0, **declared.WEIGHT_CONCENTRATION)
    word_concentration: float = setting(0.5, **declared.WORD_CONCENTRATION)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    burn_in: int = setting(5, **declared.BATCH_BURN_IN)
    num_samples: int = setting(5, **declared.BATCH_SAMPLES)
    precision: str = setting("float32", **declared.PRECISION)


def step(
    config: FreeDPMixtureConfig, state: GrowingState, batch: Batch, rng: np.random.Generator
) -> tuple[GrowingState, StepInfo]:
    """Sample the mini-batch's components, move λ, u and v, and remove nearly empty ones."""
    return grow(
        state, batch, sample_batch(config, state, batch.documents, rng), lambda grown: grown.tables
    )


def sample_batch(
    config: FreeDPMixtureConfig, state: GrowingState, documents: Documents, rng: np.random.Generator
) -> SampledCounts:
    """Mean counts of sampled assignments; each document is a table of its component.

    A single document is drawn from the closed form of q(z), `num_samples` times. The documents of a
    larger mini-batch are sampled jointly, in `num_samples` passes after `burn_in` (sec. 2.2, "we
    choose not to factorize").
    """
    words = documents.distinct_words()
    prior = prior_of(config, state)
    own = documents.indexed(words)
    components = open_components(config, state, words)
    z = np.full(own.num_documents, -1, np.int32)
    counts = np.zeros(components.words.shape)
    tables = np.zeros(len(components.totals))
    burn_in = config.burn_in if len(z) > 1 else 0
    for number in range(burn_in + config.num_samples):
        components = make_pass(own, components, prior, rng, z)
        if number >= burn_in:
            counts = widen(counts, len(components.totals))
            tables = widen(tables, len(components.totals))
            count_components(own, z, components, counts)
            tables += components.documents
            if len(z) == 1:
                # All samples share one new component.
                components.is_counted[:] = False
    return SampledCounts(
        words=words, counts=counts / config.num_samples, tables=tables / config.num_samples
    )


def prior_of(config: FreeDPMixtureConfig, state: GrowingState) -> MixturePrior:
    """The part of the state that the kernel reads."""
    return MixturePrior(**prior_fields(config, state))


def open_components(
    config: FreeDPMixtureConfig, state: GrowingState, words: np.ndarray
) -> Components:
    """Components at the start of a mini-batch, with free columns for new ones."""
    num_columns = len(state.topic_ids) + FIRST_ROOM
    of_words, totals = open_columns(config, state, words, num_columns)
    return Components(
        words=of_words,
        totals=totals,
        documents=np.zeros(num_columns),
        is_counted=np.zeros(num_columns, bool),
    )


def make_pass(
    documents: Documents,
    components: Components,
    prior: MixturePrior,
    rng: np.random.Generator,
    z: np.ndarray,
) -> Components:
    """One pass over the mini-batch; there are more columns if new components need them."""
    reached = 0
    while True:
        shares = np.empty(len(components.totals))
        reached = sample_components(documents, components, prior, reached, rng, z, shares)
        if reached == len(z):
            return components
        components = double_columns(components, prior)


def infer(config: FreeDPMixtureConfig, state: GrowingState, documents: Documents) -> np.ndarray:
    """p(z = k | document) (S, K) over the components born so far, in closed form."""
    if not len(state.topic_ids):
        return np.ones((documents.num_documents, 1))
    words = documents.distinct_words()
    of_words = state.topic_counts.rows(words).astype(float) + config.word_concentration
    totals = state.topic_counts.totals + config.word_concentration * state.topic_counts.vocab_size
    shares = np.empty((documents.num_documents, len(totals)))
    log_weights = np.log(np.maximum(weights_of(state, config.corpus_concentration), 1e-300))
    share_documents(documents.indexed(words), of_words, totals, log_weights, shares)
    return shares


ALGORITHM = Algorithm(
    name="free-dp-mixture",
    title="Truncation-free DP mixture",
    config=FreeDPMixtureConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.MIXTURE,
    init=init,
    infer=infer,
    summarize=summarize,
    step=step,
    stick=stick,
    word_topics=word_topics,
)
