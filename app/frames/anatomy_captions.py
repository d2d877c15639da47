"""What each figure of an algorithm's inside shows, in a sentence with its equations, and why one is not there. Pure."""

from typing import Any

from stickbreaker.app.model.anatomy import Dissection
from stickbreaker.app.model.progress import Progress

INTRODUCTION = (
    "What moves inside the algorithm, at one moment of the run. Letters and equation numbers are of Wang, Paisley and "
    "Blei (2011): K topics φ<sub>k</sub> ~ Dirichlet(λ<sub>k</sub>) of the corpus, T slots of each document."
)
STICK = (
    "Weights of the topics come from one stick of length 1 (Eq. 4): of what those before it have left, in grey, each "
    "topic breaks off <b>E[β<sub>k</sub>] = E[β′<sub>k</sub>] ∏<sub>l&lt;k</sub> (1 − E[β′<sub>l</sub>])</b>. "
    "q(β′<sub>k</sub>) = Beta(u<sub>k</sub>, v<sub>k</sub>) (Eq. 13): u<sub>k</sub> − 1 slots of documents hold it, "
    "v<sub>k</sub> − γ a later one (Eq. 19, 20)."
)
SLOTS = (
    "A document's words choose slots (ζ, Eq. 18), which gives the slots their sizes (a, b, Eq. 15 and 16) and their "
    "topics (φ<sub>jt</sub>, printed as varphi, Eq. 17), over and over. Each bar is the document after one more round: "
    "a piece for each slot, as large as the words in it, in the colour of its likeliest topic."
)
DOCUMENT_BOUND = "The document's part of the bound, in braces in Eq. 14. Eq. 15 to 18 as printed never lower it. {how}"
MEAN = (
    "This run reads topics at their means (<i>topic_expectation</i> “mean”, not the paper's “geometric”), so that its "
    "rounds climb a slightly different hill, and this bound may fall."
)
RATE = (
    "<b>ρ<sub>t</sub> = (τ₀ + t)<sup>−κ</sup></b> (below Eq. 28): how far the t-th mini-batch moves λ, u and v. The "
    "dot is the present one."
)
ARROWS = (
    "The noisy natural gradient <b>∂λ<sub>kw</sub> = λ̂<sub>kw</sub> − λ<sub>kw</sub></b>, "
    "λ̂<sub>kw</sub> = η + D/S Σ<sub>j</sub> Σ<sub>t</sub> φ<sub>jtk</sub> Σ<sub>n</sub> ζ<sub>jnt</sub> "
    "I[w<sub>jn</sub> = w] (Eq. 22, for mini-batches): a thin arrow leads from λ (the dot) to λ̂ (the diamond), where "
    "the mini-batch alone would put the topic. <b>λ ← λ + ρ<sub>t</sub> ∂λ</b> (Eq. 25) goes the way of the thick one."
)
BOUND = "The bound on the log likelihood of all documents (Eq. 14 for the HDP), after each pass over them."


def explain_stick(dissection: Dissection) -> str:
    """Say what the stick is, or that there is none."""
    if dissection.stick is not None:
        return STICK
    name = dissection.model.algorithm.title
    if hasattr(dissection.model.state, "unused_weight"):
        return f"{name} draws the weights β of its topics themselves, at each sweep: no stick is broken."
    return f"{name} learns no weights of the corpus: a document's prior over its K topics is a setting."


def explain_slots(dissection: Dissection) -> str:
    """Say what the slots are, or that there are none."""
    name = dissection.model.algorithm.title
    if dissection.trace is None:
        return f"{name} has no slots: words of a document go to topics directly."
    if dissection.model.state.phase == "warm-up":
        return f"{SLOTS} <b>The run is in its warm-up</b>, without slots; this is how it would be if that were over."
    return SLOTS


def explain_end(dissection: Dissection) -> str:
    """Say where a run stops that the trace goes on from."""
    taken, shown = dissection.trace.num_taken, len(dissection.trace.bounds)
    if taken < shown:
        return f"The run takes {taken} rounds, up to the dashed line; those after it show what more would change."
    return f"The run takes {taken} rounds." if taken == shown else f"The run goes on after these {shown} rounds."


def explain_document_bound(dissection: Dissection) -> str:
    """Say what the document's bound is."""
    is_mean = getattr(dissection.model.config, "topic_expectation", "") == "mean"
    return DOCUMENT_BOUND.format(how=MEAN if is_mean else "").strip()


def explain_rate(progress: Progress) -> str:
    """Say what the learning rate is, or that there is none."""
    config = progress.config
    if config is None or hasattr(config, "forgetting_rate"):
        return RATE
    if hasattr(config, "batch_size"):
        rate = f", {progress.steps['learning_rate'][-1]:.4f} at the last" if len(progress.steps) else ""
        return f"<b>ρ<sub>t</sub> = S/n<sub>t</sub></b>, n<sub>t</sub> documents seen (Wang & Blei 2012){rate}."
    return "There is no learning rate: each step reads all documents and replaces what was there."


def explain_arrows(dissection: Dissection, title: str) -> str:
    """Say which step the arrows are, or why there are none."""
    name, noisy = dissection.model.algorithm.title, dissection.noisy
    if noisy is not None:
        return (
            f"{ARROWS} Worked out for {title} from the λ of this moment and the mini-batch that comes next: "
            f"t = {noisy.step:,}, ρ = {noisy.learning_rate:.4f}, D/S = {noisy.scale:.1f}. {_other_source(dissection)}"
        ).strip()
    if hasattr(dissection.model.config, "batch_size"):
        return f"{name} samples its mini-batch's topics, some of them new, so that no single target λ̂ can be foreseen."
    if hasattr(dissection.model.state, "topic_counts"):
        return f"{name} goes all the way: each pass over all documents sets λ to its target (Eq. 21), as if ρ were 1."
    return f"{name} has no λ: it counts which words each topic has, and no gradient is followed."


def _other_source(dissection: Dissection) -> str:
    config: Any = dissection.model.config
    if not hasattr(config, "max_slots"):
        return "Without slots, the words of each topic are counted directly (Hoffman, Blei and Bach 2010, Alg. 2)."
    if dissection.model.state.phase == "warm-up":
        return "In the warm-up, documents' words are counted without slots."
    return ""


def explain_bound(progress: Progress, name: str) -> str:
    """Say what the bound is, or why there is none."""
    if len(progress.bounds):
        return BOUND
    if hasattr(progress.config, "tolerance"):
        return f"{BOUND} It has its first value after a few passes."
    if hasattr(progress.config, "batch_size"):
        return (
            f"{name} climbs a noisy copy of the bound (Eq. 14) and never reads all documents at one λ, so that it does "
            "not know the bound of the whole corpus. The held-out likelihood under Live stands in for it."
        )
    return f"{name} draws samples, and has no bound."
