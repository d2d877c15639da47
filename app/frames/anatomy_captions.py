"""Captions of the figures under the hood: what each one shows, with its equations, or why it is
missing. Pure.
"""

from stickbreaker.app.model.anatomy import Dissection
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Phase, Reads
from stickbreaker.engine.evaluation.anatomy import CONVERGED_SHARE, MOST_ITERATIONS
from stickbreaker.engine.schedules import averages_passes

INTRODUCTION = (
    "The internals of the algorithm at one moment of the run. Symbols and equation numbers follow"
    " Wang, Paisley and Blei (2011): the corpus has K topics φ<sub>k</sub> ~"
    " Dirichlet(λ<sub>k</sub>), and in the online HDP a document has T slots."
)
STICK = (
    "The weights of the topics are pieces of a stick of length 1 (Eq. 4): each topic takes a part"
    " of what is left, shown in grey, so that <b>E[β<sub>k</sub>] = E[β′<sub>k</sub>]"
    " ∏<sub>l&lt;k</sub> (1 − E[β′<sub>l</sub>])</b>. q(β′<sub>k</sub>) = Beta(u<sub>k</sub>,"
    " v<sub>k</sub>) (Eq. 13), where u<sub>k</sub> − 1 is the expected number of {counted} with"
    " topic k, and v<sub>k</sub> − γ the expected number with a later topic."
)
SLOTS = (
    "Each iteration first assigns the words of a document to slots (ζ, Eq. 18), then updates the"
    " sizes of the slots (a and b, Eq. 15 and 16) and their topics (φ<sub>jt</sub>, printed as"
    " varphi, Eq. 17). Each bar shows the document after one more iteration, with one piece per"
    " slot. The size of a piece is the number of words in the slot; its colour is that of the"
    " slot's most probable topic."
)
WARM_UP = (
    "<b>The run is in its warm-up</b>, which does not use slots. This figure shows the slots as"
    " they would be after the warm-up."
)
DOCUMENT_BOUND = (
    "These iterations maximise the document's part of the bound: the terms in braces in Eq. 14. No"
    " iteration lowers it, apart from floating-point error."
)
MEAN = (
    "This run uses the means of the topics (<i>topic_expectation</i> “mean”; the paper uses"
    " “geometric”). The updates and the bound have log E[φ<sub>k</sub>] in place of E[log"
    " φ<sub>k</sub>]: this is the bound of a document if the topics are fixed at their means."
)
RATE = (
    "<b>ρ<sub>t</sub> = (τ₀ + t)<sup>−κ</sup></b> (below Eq. 28) is how far mini-batch t moves"
    " {moved}. The dot is the current step."
)
AVERAGE = (
    " From the second pass on, this run averages (<i>later_passes</i> “average”; the paper uses"
    " “forget”): after n documents of a pass, <b>ρ = S / (D/4 + n)</b>, so that all documents of"
    " the pass have equal weight."
)
GRADIENT = (
    "The noisy gradient is <b>∂λ<sub>kw</sub> = λ̂<sub>kw</sub> − λ<sub>kw</sub></b>, where"
    " λ̂<sub>kw</sub> = η + D/S Σ<sub>j</sub> Σ<sub>t</sub> φ<sub>jtk</sub> Σ<sub>n</sub>"
    " ζ<sub>jnt</sub> I[w<sub>jn</sub> = w] (Eq. 22, for mini-batches). λ̂ is the value of λ that"
    " the mini-batch alone suggests."
)
ARROWS = (
    "A thin arrow leads from λ (the dot) to λ̂ (the diamond). The thick arrow is the step that is"
    " taken: <b>λ ← λ + ρ<sub>t</sub> ∂λ</b> (Eq. 25)."
)
NATURAL = "It is the natural gradient of the bound, with the noise of the mini-batch."
STEPWISE = (
    "With the means of the topics, this is stepwise EM (Cappé and Moulines 2009): for given ζ and"
    " φ<sub>j</sub>, the topics λ̂ / Σ<sub>w</sub> λ̂ are the most probable ones under the prior"
    " Dirichlet(1 + η)."
)
BOUND = (
    "The bound on the log likelihood of all documents (Eq. 14 for the HDP) after each pass over"
    " them."
)


def explain_stick(dissection: Dissection) -> str:
    """Describe the stick, or say why there is none."""
    if dissection.stick is not None:
        return STICK.format(counted="documents" if _is_mixture(dissection) else "document slots")
    name = dissection.model.algorithm.title
    if dissection.model.algorithm.has_corpus_weights:
        return f"{name} samples the weights β of its topics directly in each pass, without a stick."
    return (
        f"{name} does not learn topic weights: the prior over a document's K topics is a setting."
    )


def explain_slots(dissection: Dissection) -> str:
    """Describe the slots, or say why there are none."""
    if dissection.trace is None:
        name = dissection.model.algorithm.title
        if _is_mixture(dissection):
            return f"{name} has no slots: it assigns each document as a whole to one topic."
        return f"{name} has no slots: it assigns the words of a document to topics directly."
    return SLOTS + only_if(_is_warm_up(dissection), f"</p><p>{WARM_UP}")


def explain_end(num_taken: int, num_shown: int) -> str:
    """Say after how many iterations a document's run stops, and whether slots have settled."""
    if num_taken > num_shown:
        return f"The run uses more than these {num_shown} iterations."
    line = only_if(num_taken < num_shown, ", up to the dashed line")
    end = f"After {num_shown} iterations, words still move between slots."
    if num_shown < MOST_ITERATIONS:
        moved = f"less than {100 * CONVERGED_SHARE:.1f} % of the words move to another slot"
        end = f"In iteration {num_shown}, {moved}."
    return f"The run stops after {count(num_taken, 'iteration')}{line}. {end}"


def explain_document_bound(dissection: Dissection) -> str:
    """Describe the document's bound."""
    return DOCUMENT_BOUND + only_if(_uses_means(dissection), f"</p><p>{MEAN}")


def explain_rate(progress: Progress) -> str:
    """Describe the learning rate, or say why there is none."""
    algorithm = progress.algorithm_record
    if algorithm is None:
        return RATE.format(moved="λ, u and v")
    if algorithm.has_learning_rate:
        # After the only pass, the next mini-batch would be one of a second pass.
        has_later = progress.documents_total > progress.corpus_size or progress.status == "finished"
        averages = has_later and averages_passes(algorithm, progress.config)
        rate = RATE.format(moved="λ" + only_if(algorithm.has_corpus_weights, ", u and v"))
        return rate + only_if(averages, AVERAGE)
    if algorithm.reads is Reads.BATCHES:
        rate = ""
        if len(progress.steps):
            rate = f" At the last step it was {progress.steps['learning_rate'][-1]:.4f}."
        return (
            "<b>ρ<sub>t</sub> = S/n<sub>t</sub></b>, where n<sub>t</sub> is the number of"
            f" documents read (Wang & Blei 2012).{rate}"
        )
    return (
        "There is no learning rate: each step reads all documents and replaces the previous topics."
    )


def explain_arrows(dissection: Dissection, title: str) -> str:
    """Describe the step that the arrows show, or say why there are no arrows."""
    algorithm = dissection.model.algorithm
    noisy = dissection.noisy
    if noisy is not None:
        step = (
            f"Shown for {title}, from the current λ and the next mini-batch: t = {noisy.step:,}, "
            f"ρ = {noisy.learning_rate:.4f}, D/S = {noisy.scale:.1f}."
        )
        arrows = f"{ARROWS}</p><p>{STEPWISE if _uses_means(dissection) else NATURAL}"
        return f"{GRADIENT}</p><p>{arrows}</p><p>{step} {_other_source(dissection)}".strip()
    if _is_mixture(dissection) and algorithm.step is None and algorithm.reads is Reads.BATCHES:
        return (
            f"This figure is not drawn for {algorithm.title}, which assigns documents, and not"
            " words, to topics."
        )
    if algorithm.reads is Reads.BATCHES:
        return (
            f"{algorithm.title} samples the topics of each mini-batch, and some of them are new."
            " Its target λ̂ is not known before the step."
        )
    if algorithm.step is not None:
        return (
            f"{algorithm.title} has no λ: it counts the words of each topic and uses no gradient."
        )
    return (
        f"{algorithm.title} takes full steps: each pass over all documents sets λ to its target"
        " (Eq. 21), so ρ is 1."
    )


def _is_mixture(dissection: Dissection) -> bool:
    return dissection.model.algorithm.infers_by is InfersBy.MIXTURE


def _uses_means(dissection: Dissection) -> bool:
    model = dissection.model
    return model.algorithm.has_setting("topic_expectation") and bool(
        model.config.topic_expectation == "mean"
    )


def _other_source(dissection: Dissection) -> str:
    if dissection.model.algorithm.trace is None:
        return (
            "Without slots, the words of each topic are counted directly (Hoffman, Blei and Bach"
            " 2010, Alg. 2)."
        )
    if _is_warm_up(dissection):
        return "During the warm-up, the words of documents are counted without slots."
    return ""


def _is_warm_up(dissection: Dissection) -> bool:
    return bool(dissection.model.state.phase == Phase.WARM_UP)


def explain_bound(algorithm: Algorithm, has_values: bool, name: str) -> str:
    """Describe the bound, or say why there is none. has_values: whether it is known already."""
    if has_values:
        return BOUND
    if algorithm.has_bound:
        return f"{BOUND} The first value appears after a few passes."
    if algorithm.reads is Reads.BATCHES:
        return (
            f"{name} never applies the same λ to all documents, so the bound of the whole corpus"
            " (Eq. 14) is not computed. Use the held-out likelihood on the Live page instead."
        )
    return f"{name} draws samples and has no bound."
