"""The topics of a run that can be edited, and its edits in words. Pure."""

import re
from collections.abc import Callable
from typing import Any

from stickbreaker.app.frames.progress_frames import tell_apart
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import EditLog, Progress
from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.run_edits import describe_edit
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.inference.edits import SUPPORTED_SHARE

MOST_LISTED = 3
UNSUPPORTED = (
    "The documents do not support “{}”: without the words that you gave, it has less than {:.1f} %"
    " of all tokens."
)


def offers_edits(progress: Progress) -> bool:
    """Whether the topics of a run can be edited: not those of a replay or a recorded run."""
    record = progress.algorithm_record
    if record is None or record.edit is None or progress.corpus_size == 0:
        return False
    return progress.status not in (REPLAYED, "failed") and not progress.recorded_on


def edit_choices(progress: Progress) -> dict[str, int]:
    """The topics in use by title, in alphabetical order, so that a run that learns keeps it."""
    now = progress.now
    if now is None:
        return {}
    ids = now.topic_ids[rank_topics(now.expected_tokens)].tolist()
    titles = tell_apart([(topic_id, progress.topic_title(topic_id)) for topic_id in sorted(ids)])
    return dict(sorted((title, topic_id) for topic_id, title in titles))


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text with commas or spaces.

    >>> split_words(" Canal, panama  ")
    ('canal', 'panama')
    """
    return tuple(dict.fromkeys(re.findall(r"[^\s,;]+", text.casefold())))


def describe_search(job: ProposalJob, progress: Progress) -> str:
    """Say what a search for merges and splits does, or what it has found."""
    if job.status == "none" or job.run_id != progress.run_id:
        return ""
    if job.status == "failed":
        return f"Merges and splits could not be tried: {job.message}"
    if job.is_active:
        return job.message or "Trying merges and splits …"
    if job.model_key != progress.model_key:
        return "The run has changed since the last suggestions."
    number = len(job.supported)
    return (
        f"{job.num_tried} merges and splits were tried: documents set aside support"
        f" {number or 'none'} of them. Their gain is in nats per word, with its standard error."
    )


def proposal_rows(job: ProposalJob, progress: Progress) -> list[dict[str, Any]]:
    """The merges and splits that are supported now, as rows of a list."""
    if job.status != "ready" or job.model_key != progress.model_key:
        return []
    largest = max((abs(each.gain) for each in job.supported), default=1.0)
    rows = []
    for place, each in enumerate(job.supported):
        ids = each.edit.topic_ids
        names = " and ".join(f"“{progress.topic_title(topic_id)}”" for topic_id in ids)
        rows.append(
            {
                "key": place,
                "title": f"{each.edit.kind.capitalize()} {names}",
                "color": topic_color(ids[0]),
                "weight": f"{each.gain:+.4f} ± {each.error:.4f}".replace("-", "−"),
                "share": max(0.0, each.gain / largest),
                "words": "",
                "action": "apply",
                "button": "apply",
            }
        )
    return rows


def describe_edits(edits: EditLog, title: Callable[[int], str]) -> list[str]:
    """Say why an edit was not possible, which seeds have no support, and what was done last."""
    texts = [edits.fault] if edits.fault else []
    texts += [UNSUPPORTED.format(title(each), 100 * SUPPORTED_SHARE) for each in edits.unsupported]
    for edit in reversed(edits.done[-MOST_LISTED:]):
        texts.append(
            f"After {count(edit.documents_seen, 'document')}: {describe_edit(edit, title)}."
        )
    return texts
