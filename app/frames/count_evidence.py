"""What speaks for the number of topics of a run: sentences, and a frame of scores. Pure."""

import pandas as pd

from stickbreaker.app.frames.summary_texts import describe_check
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.other_runs import OtherRuns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import format_value
from stickbreaker.app.theme import topic_color

CURVE = (
    "The curve: topics are removed down to one, each time the smaller of the two closest, and the"
    " documents set aside are scored. The run keeps the fewest topics within .001 nats of the best"
    " number."
)
GAMMA = "corpus_concentration"
NO_SAMPLER = "The button on Live starts the Gibbs sampler from this model, as a further check."


def list_evidence(progress: Progress, check: CountJob, again: OtherRuns | None) -> list[str]:
    """What speaks for the number of topics, one sentence or two each; empty before a topic."""
    numbers = progress.steps["num_topics"]
    if not len(numbers):
        return []
    use = count(int(numbers[-1]), "topic")
    sentences = [f"This run has {use} in use: they cover 99 % of the tokens."]
    if progress.algorithm_record is not None and progress.algorithm_record.has_setting(GAMMA):
        gamma = getattr(progress.config, GAMMA)
        favoured = "more" if gamma > 1 else "fewer"
        effect = "no number" if gamma == 1 else f"{favoured} topics"
        sentences.append(
            f"The prior of n topics is γ^n; γ = {format_value(gamma)} favours {effect}."
        )
    sentences.append(describe_check(check, progress) or NO_SAMPLER)
    if again is not None and len(again.numbers):
        sentences.append(CURVE)
    return sentences


def number_frame(again: OtherRuns) -> pd.DataFrame:
    """Scores by number of topics, as `sweep_plot` draws them."""
    return pd.DataFrame(
        {
            "line": "this run",
            "color": topic_color(0),
            "x": again.numbers,
            "y": again.nats,
            "label": [count(int(number), "topic") for number in again.numbers],
        }
    )
