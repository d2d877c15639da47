"""Online HDP by direct assignment: a document's shares are one Dirichlet around the corpus weights,
without slots.

q(θ_d) = Dirichlet(α₀E[β] + counts), so a document is fitted as in LDA (Hoffman, Blei & Bach 2010,
Alg. 2). The corpus sticks use the tables that its counts would open in the Chinese restaurant
franchise (Teh 2006; Teh, Kurihara & Welling 2007). E[β] replaces the expectation over q(β) of a
bound, so the algorithm as a whole has no bound. With equal weights instead of learned ones it is
LDA.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, choice, setting
from stickbreaker.engine.inference import online
from stickbreaker.engine.inference.candidates import Steps
from stickbreaker.engine.inference.dirichlet_step import (
    DocumentExpectations,
    expect_documents,
    infer_shares,
)
from stickbreaker.engine.inference.edits import edit_topics
from stickbreaker.engine.inference.evidence import set_aside
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.proposals import propose_edits
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.sticks import expected_weights
from stickbreaker.engine.inference.transfer import OF_STATISTICS
from stickbreaker.engine.inference.warm_up import cool, scale_start
from stickbreaker.engine.kernels.special import NOT_RAISED


@dataclass(frozen=True)
class DirectHDPConfig(Checked):
    """Settings of direct assignment; the defaults are those of the online HDP."""

    max_topics: int | None = setting(None, **declared.MAX_TOPICS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.REMOVAL_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = choice(
        "warm: warm-up by annealing; hoffman: the start of online LDA", "warm", "hoffman"
    )
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    duplicates: str = setting("merge", **declared.DUPLICATES)
    later_passes: str = setting("average", **declared.LATER_PASSES)
    concentrations: str = setting("learned", **declared.CONCENTRATIONS)
    precision: str = setting("float32", **declared.PRECISION)


def init(config: DirectHDPConfig, vocab_size: int, rng: np.random.Generator) -> OnlineHDPState:
    """State before the first batch, for D = 1; every topic starts with the same tables."""
    return online.start_hdp(config, vocab_size, rng, Phase.LEARNING)


def expect(config: DirectHDPConfig, state: OnlineHDPState, batch: Batch) -> DocumentExpectations:
    """Expectations of the next step, for the words of this batch only."""
    state = scale_start(config, state, batch.corpus_size)
    return cool(config, state, batch, partial(_expect_words, config, state, phase=Phase.LEARNING))


def _expect_words(
    config: DirectHDPConfig,
    state: OnlineHDPState,
    words: np.ndarray,
    phase: Phase,
    power: float = NOT_RAISED,
) -> DocumentExpectations:
    known = state.concentrations
    priors = known.doc.total * expected_weights(online.sticks_of(state)), known.word
    return expect_documents(state, words, phase, priors, config.topic_expectation, power)


def blend(
    config: DirectHDPConfig, state: OnlineHDPState, statistics: Statistics, batch: Batch
) -> tuple[OnlineHDPState, StepInfo]:
    """Step of λ, and of the tables towards those of the corpus."""
    return online.blend_hdp(config, state, statistics, batch, STEPS)


def infer(config: DirectHDPConfig, state: OnlineHDPState, documents: Documents) -> np.ndarray:
    """Topic shares E[θ] (S, K) of documents; nothing is learned."""
    return infer_shares(
        documents, _expect_words(config, state, documents.distinct_words(), state.phase)
    )


STEPS = Steps(expect=expect, local=online.local, infer=infer)
ALGORITHM = Algorithm(
    name="direct-hdp",
    title="Online HDP, direct assignment",
    config=DirectHDPConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.DIRICHLET,
    init=init,
    infer=infer,
    summarize=online.summarize,
    expect=expect,
    local=online.local,
    blend=blend,
    set_aside=set_aside,
    edit=partial(edit_topics, STEPS),
    propose=partial(propose_edits, STEPS),
    transfer=OF_STATISTICS,
    stick=online.stick,
    word_topics=online.word_topics,
    preview=online.preview_hdp,
)
