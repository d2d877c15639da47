"""Online variational inference for the hierarchical Dirichlet process (Wang, Paisley & Blei 2011).

Settings cover what the paper leaves open. `start="warm"` begins with a soft warm-up of Dirichlet
iterations; later each document's slots start on its own best topics. `start="wang"` (Wang 2011 as
printed) starts with uniform slots, from the first batch on. `start="wang-code"` (as its authors ran
it) also leaves E[log β] and E[log π] out of the first three iterations of each document. In these,
uniform slots stay equal, so the second iteration changes nothing, and the document counts as
converged. `start="svi"` is Fig. 9 of Hoffman, Blei, Wang & Paisley (2013): its first update of ζ
overwrites the initial ζ, which leaves Wang's uniform slots. Its corpus sticks start at their prior,
while "wang" gives every topic the same tables. `topic_expectation="geometric"` is Eq. 17-18 as
printed, with E[log topic]. `"mean"` has log E[topic] in its place: the local step then ascends the
bound of a document whose topics are at their means, and the steps of λ are stepwise EM.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stickbreaker.engine import declarations as declared
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads, StepInfo
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import Checked, setting
from stickbreaker.engine.inference import online
from stickbreaker.engine.inference.candidates import Steps
from stickbreaker.engine.inference.dirichlet_step import fit_documents
from stickbreaker.engine.inference.edits import edit_topics
from stickbreaker.engine.inference.evidence import set_aside
from stickbreaker.engine.inference.global_step import Statistics
from stickbreaker.engine.inference.proposals import propose_edits
from stickbreaker.engine.inference.slot_step import (
    SlotExpectations,
    expect_slots,
    fit_slots,
    infer_slots,
    limits_of,
    trace_slots,
)
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.transfer import OF_STATISTICS
from stickbreaker.engine.inference.warm_up import cool, iterations_at, scale_start
from stickbreaker.engine.kernels.special import NOT_RAISED

# While topics are alike, slots with fewer tokens start on random topics and stay there.
TOKENS_OF_A_SLOT = 25

START_HELP = (
    "warm: warm-up by annealing; wang: as printed; wang-code: as its authors ran it; svi: Fig. 9 of"
    " Hoffman 2013"
)
STARTS = ("warm", "wang", "wang-code", "svi")


@dataclass(frozen=True)
class HDPConfig(Checked):
    """Settings of the online HDP; the defaults of T, α₀, γ and κ are Wang 2011's (sec. 4.2)."""

    max_topics: int | None = setting(None, **declared.MAX_TOPICS)
    max_slots: int = setting(15, **declared.MAX_SLOTS)
    doc_concentration: float = setting(1.0, **declared.DOC_CONCENTRATION)
    corpus_concentration: float = setting(1.0, **declared.REMOVAL_CONCENTRATION)
    word_concentration: float = setting(0.01, **declared.WORD_CONCENTRATION)
    forgetting_rate: float = setting(0.6, **declared.FORGETTING_RATE)
    delay: float | None = setting(None, **declared.DELAY)
    batch_size: int | None = setting(None, **declared.BATCH_SIZE)
    start: str = setting("warm", "", None, START_HELP, choices=STARTS)
    topic_expectation: str = setting("mean", **declared.TOPIC_EXPECTATION)
    max_active_topics: int = setting(32, **declared.MAX_ACTIVE_TOPICS)
    duplicates: str = setting("merge", **declared.DUPLICATES)
    later_passes: str = setting("average", **declared.LATER_PASSES)
    concentrations: str = setting("learned", **declared.CONCENTRATIONS)
    precision: str = setting("float32", **declared.PRECISION)


@dataclass(frozen=True)
class SVIHDPConfig(HDPConfig):
    """The online HDP with the start of Fig. 9 and the settings of sec. 4 in Hoffman 2013."""

    max_topics: int = setting(300, **declared.MAX_TOPICS)
    max_slots: int = setting(20, **declared.MAX_SLOTS)
    forgetting_rate: float = setting(0.9, **declared.FORGETTING_RATE)
    delay: float | None = setting(1.0, **declared.DELAY)
    batch_size: int | None = setting(500, **declared.BATCH_SIZE)
    start: str = setting("svi", "", None, START_HELP, choices=STARTS)
    topic_expectation: str = setting("geometric", **declared.TOPIC_EXPECTATION)
    duplicates: str = setting("keep", **declared.DUPLICATES)
    later_passes: str = setting("forget", **declared.LATER_PASSES)
    concentrations: str = setting("fixed", **declared.CONCENTRATIONS)


def init(config: HDPConfig, vocab_size: int, rng: np.random.Generator) -> OnlineHDPState:
    """State before the first batch: equal tables, or none if `start` is "svi"."""
    state = online.start_hdp(config, vocab_size, rng, Phase.TWO_LEVEL)
    return state._replace(tables=np.zeros(len(state.tables))) if config.start == "svi" else state


def expect(config: HDPConfig, state: OnlineHDPState, batch: Batch) -> SlotExpectations:
    """Expectations of the next step, for the words of this batch only."""
    state = scale_start(config, state, batch.corpus_size)
    expect_words = partial(_expect_words, config, state, phase=Phase.TWO_LEVEL)
    has_short_documents = batch.documents.num_tokens < TOKENS_OF_A_SLOT * config.max_slots * len(
        batch.doc_ids
    )
    return cool(config, state, batch, expect_words, until_parted=has_short_documents)


def _expect_words(
    config: HDPConfig,
    state: OnlineHDPState,
    words: np.ndarray,
    phase: Phase,
    power: float = NOT_RAISED,
) -> SlotExpectations:
    known = state.concentrations
    config = replace(config, doc_concentration=known.doc.total, word_concentration=known.word)
    return expect_slots(config, state, online.sticks_of(state), words, phase, power)


def local(
    config: HDPConfig,
    expectations: SlotExpectations,
    documents: Documents,
    rng: np.random.Generator | None = None,
) -> Statistics:
    """Statistics of some of the batch's documents; they add up, and nothing is drawn."""
    if expectations.phase == Phase.WARM_UP:
        return fit_documents(
            documents, expectations, iterations_at(expectations.temperature), is_learning=True
        )[0]
    return fit_slots(documents, expectations, limits_of(config), is_learning=True)[0]


def blend(
    config: HDPConfig, state: OnlineHDPState, statistics: Statistics, batch: Batch
) -> tuple[OnlineHDPState, StepInfo]:
    """Step of λ and the tables, Eq. 22-27 with the mini-batch's D/S."""
    return online.blend_hdp(config, state, statistics, batch, STEPS)


def infer(config: HDPConfig, state: OnlineHDPState, documents: Documents) -> np.ndarray:
    """Topic shares (S, K) of documents; nothing is learned."""
    expectations = _expect_words(config, state, documents.distinct_words(), state.phase)
    return infer_slots(documents, expectations, limits_of(config))


STEPS = Steps(expect=expect, local=local, infer=infer)
ALGORITHM = Algorithm(
    name="hdp",
    title="Online HDP",
    config=HDPConfig,
    reads=Reads.BATCHES,
    infers_by=InfersBy.SLOTS,
    init=init,
    infer=infer,
    summarize=online.summarize,
    expect=expect,
    local=local,
    blend=blend,
    set_aside=set_aside,
    edit=partial(edit_topics, STEPS),
    propose=partial(propose_edits, STEPS),
    transfer=OF_STATISTICS,
    stick=online.stick,
    trace=partial(trace_slots, _expect_words),
    word_topics=online.word_topics,
    preview=online.preview_hdp,
)
SVI = replace(
    ALGORITHM, name="svi-hdp", title="Online HDP, as in Hoffman 2013", config=SVIHDPConfig
)
