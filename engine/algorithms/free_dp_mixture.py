"""Truncation-free DP mixture: each document is of one component, born as documents ask (Wang & Blei 2012 sec. 2.3)."""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Reads
from stickbreaker.engine.declarations import check_settings, setting
from stickbreaker.engine.inference.truncation_free import Found, grow, start, sticks_of, summarize, weights_of, widen
from stickbreaker.engine.kernels.mixture import (
    Components,
    MixturePrior,
    count_components,
    sample_components,
    share_documents,
)

# Room for components born in a mini-batch, at first.
FIRST_ROOM = 8


@dataclass(frozen=True)
class FreeDPMixtureConfig:
    """Settings of the truncation-free DP mixture; concentrations as in Wang & Blei 2012 sec. 3.

    Raises ValueError where a value is outside its bounds.
    """

    corpus_concentration: float = setting(1.0, **declared.CORPUS_CONCENTRATION)
    word_concentration: float = setting(0.5, **declared.WORD_CONCENTRATION)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    burn_in: int = setting(5, "", (0, 1000), "Gibbs sweeps over a mini-batch before a sample is taken")
    num_samples: int = setting(5, "", (1, 1000), "Gibbs sweeps over a mini-batch whose samples are averaged")
    precision: str = setting("float32", **declared.PRECISION)

    def __post_init__(self):
        check_settings(self)


def init(config, vocab_size, rng):
    """The state before the first document; nothing is drawn."""
    return start(vocab_size, config.precision)


def step(config, state, batch, rng):
    """Sample the components of the mini-batch's documents, then move λ, u and v."""
    return grow(state, batch, sample_batch(config, state, batch.documents, rng), "tables")


def sample_batch(config, state, documents, rng):
    """Found: mean counts of sampled assignments; a document is its component's table.

    One document is drawn from the closed form of q(z), `num_samples` times; the documents of a larger mini-batch are
    sampled jointly, in as many sweeps after `burn_in` (sec. 2.2, "we choose not to factorize").
    """
    words, prior = documents.distinct_words(), prior_of(config, state)
    own, components = documents.indexed(words), open_components(config, state, words)
    z = np.full(own.num_documents, -1, np.int32)
    counts, tables = np.zeros(components.words.shape), np.zeros(len(components.totals))
    burn_in = config.burn_in if len(z) > 1 else 0
    for number in range(burn_in + config.num_samples):
        components = sweep(own, components, prior, rng, z)
        if number >= burn_in:
            counts, tables = widen(counts, len(components.totals)), widen(tables, len(components.totals))
            count_components(own, z, components, counts)
            tables += components.documents
            if len(z) == 1:
                # Whichever sample it is born in, the next component is one and the same.
                components.is_counted[:] = False
    return Found(words, counts / config.num_samples, tables / config.num_samples)


def prior_of(config, state):
    """What the kernel reads of the state."""
    sticks = sticks_of(state.tables, config.corpus_concentration)
    return MixturePrior(
        len(state.topic_ids),
        sticks.on,
        sticks.after,
        sticks.order[:-1],
        float(config.corpus_concentration),
        float(config.word_concentration),
        state.topic_counts.vocab_size,
    )


def open_components(config, state, words):
    """Components as the mini-batch first sees them, with room for some to be born."""
    num_known, eta = len(state.topic_ids), config.word_concentration
    num_columns = num_known + FIRST_ROOM
    of_words = np.full((len(words), num_columns), float(eta))
    of_words[:, :num_known] += state.topic_counts.rows(words)
    totals = np.full(num_columns, eta * state.topic_counts.vocab_size)
    totals[:num_known] += state.topic_counts.totals
    return Components(of_words, totals, np.zeros(num_columns), np.zeros(num_columns, bool))


def sweep(documents, components, prior, rng, z):
    """One sweep over the mini-batch; the components after it, with more room where newborn ones needed that."""
    reached = 0
    while True:
        shares = np.empty(len(components.totals))
        reached = sample_components(documents, components, prior, reached, rng, z, shares)
        if reached == len(z):
            return components
        components = make_room(components, prior)


def make_room(components, prior):
    """The same components with twice the columns, the new ones empty."""
    num_columns, eta = 2 * len(components.totals), prior.word_concentration
    return Components(
        widen(components.words, num_columns, eta),
        widen(components.totals, num_columns, eta * prior.vocab_size),
        widen(components.documents, num_columns),
        widen(components.is_counted, num_columns),
    )


def infer(config, state, documents):
    """p(z = k | document) (S, K) over the components born so far, in closed form; never learns."""
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
)
