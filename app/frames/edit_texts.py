"""The topics of a run that can be edited, and its edits in words. Pure."""

import re
from collections.abc import Callable

from stickbreaker.app.frames.progress_frames import tell_apart
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import EditLog, Progress
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.run_edits import describe_edit
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


def describe_edits(edits: EditLog, title: Callable[[int], str]) -> list[str]:
    """Say why an edit was not possible, which seeds have no support, and what was done last."""
    texts = [edits.fault] if edits.fault else []
    texts += [UNSUPPORTED.format(title(each), 100 * SUPPORTED_SHARE) for each in edits.unsupported]
    for edit in reversed(edits.done[-MOST_LISTED:]):
        texts.append(
            f"After {count(edit.documents_seen, 'document')}: {describe_edit(edit, title)}."
        )
    return texts
