"""The table of word lists: the top ten words of topics at each moment of a run, for the page and
for files. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import date_text, topic_choices
from stickbreaker.app.frames.stream_texts import name_recent
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.default_topics import LEAST_SHARE
from stickbreaker.app.model.progress import Moment, Progress, find_used
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.held_out import rank_topics

RANKS_RISEN = 2
NO_TOPIC = "No topic is in use: each has less than one expected token."
DEFAULT_TOPICS_RULE = (
    "Until you select topics, two are shown. They are chosen when most topics differ from each"
    f" other, among coherent ones with at least {100 * LEAST_SHARE:g} % of the tokens. “Stable"
    " early”: its words were in its first lists. “Formed late”: they were only in its latest lists."
)
ROLES = ("stable early", "formed late")
MARKS = "+ marks new words, ↑ words that rose by two ranks or more."
# With fewer columns, no topic can be stable or have formed late.
LEAST_COLUMNS = 3


def list_words(row: np.ndarray, vocabulary: Sequence[str]) -> tuple[str, ...]:
    """The first ten words of a row of word ids."""
    return tuple(str(vocabulary[int(word)]) for word in row[:NUM_TOP_WORDS])


def topics_frame(
    moment: Moment | None, vocabulary: Sequence[str] | None, by_relevance: bool = False
) -> pd.DataFrame:
    """The topics in use at one moment, largest first: columns topic_id, share, words (a tuple of
    ten, the most probable ones unless `by_relevance`).
    """
    if moment is None or vocabulary is None:
        return pd.DataFrame({"topic_id": [], "share": [], "words": []})
    order = rank_topics(moment.tokens)
    return pd.DataFrame(
        {
            "topic_id": moment.topic_ids[order],
            "share": moment.shares[order],
            "words": [
                list_words(row, vocabulary) for row in moment.find_words(by_relevance)[order]
            ],
        }
    )


def list_shares(moment: Moment | None) -> dict[int, float]:
    """The shares of the topics in use by id, in the order of the ids."""
    if moment is None:
        return {}
    used = rank_topics(moment.tokens)
    shares = moment.shares[used].round(4).tolist()
    return dict(sorted(zip(moment.topic_ids[used].tolist(), shares, strict=True)))


def list_choices(
    topics: pd.DataFrame, selected: Sequence[int], title: Callable[[int], str]
) -> dict[str, int]:
    """List the topics by size, as "war, peace · 4.2 %"; selected ones are listed in any case."""
    ids = [int(topic_id) for topic_id in topics["topic_id"]]
    unused = [(k, title(k)) for k in sorted(set(selected) - set(ids))]
    return topic_choices([(k, title(k)) for k in ids], topics["share"].tolist(), unused)


def table_frame(
    moments: Sequence[Moment],
    vocabulary: Sequence[str],
    topic_ids: Sequence[int],
    by_relevance: bool = False,
) -> pd.DataFrame:
    """The table of word lists, tidy; the most probable words unless `by_relevance`.

    Columns topic_id, column, documents_seen, date, weight, rank, word, is_new, has_risen.
    One row for each topic, moment and rank. A word is new if it is not in the topic's list at the
    previous moment, and has risen if it was there at least two ranks lower; a topic's first list
    has no such words. A topic has no rows for a moment at which it is not in use.
    """
    rows = []
    for topic_id in topic_ids:
        before: tuple[str, ...] = ()
        for column, moment in enumerate(moments):
            position = find_used(moment, topic_id)
            found = moment.find_words(by_relevance)
            words = () if position is None else list_words(found[position], vocabulary)
            for rank, word in enumerate(words):
                is_new = bool(before) and word not in before
                has_risen = word in before and before.index(word) - rank >= RANKS_RISEN
                head = (int(topic_id), column, moment.documents_seen, date_text(moment.date))
                rows.append((*head, float(moment.weights[position]), rank, word, is_new, has_risen))
            before = words
    columns = [
        "topic_id",
        "column",
        "documents_seen",
        "date",
        "weight",
        "rank",
        "word",
        "is_new",
        "has_risen",
    ]
    return pd.DataFrame(rows, columns=columns)


def is_first_to_come(progress: Progress) -> bool:
    """Whether the run has topics, but has not reached the first column."""
    is_live = progress.status not in ("finished", "failed", REPLAYED)
    return (
        is_live
        and not progress.columns
        and progress.now is not None
        and bool(progress.planned_columns)
    )


def fill_first(progress: Progress) -> Progress:
    """The progress with the present words in its first column, until that is reached."""
    now = progress.now
    planned = progress.planned_columns
    if now is None or not is_first_to_come(progress):
        return progress
    return replace(
        progress, columns=(replace(now, documents_seen=planned[0]),), planned_columns=planned[1:]
    )


def table_columns(progress: Progress) -> list[dict[str, Any]]:
    """The column heads: past moments, then planned ones, the first perhaps of the present."""
    reached = [
        {
            "documents": f"{point.documents_seen:,}",
            "date": date_text(point.date, has_times=progress.stream is not None),
            "reached": True,
        }
        for point in progress.columns
    ]
    to_come = {"finished": "not reached", "failed": "not reached", REPLAYED: "later"}.get(
        progress.status, "planned"
    )
    planned = [
        {"documents": f"{documents:,}", "date": to_come, "reached": False}
        for documents in progress.planned_columns
    ]
    if progress.now is not None and is_first_to_come(progress):
        planned[0] |= {"documents": f"{progress.now.documents_seen:,}", "date": "now"}
    return reached + planned


def table_blocks(
    progress: Progress, listed: Sequence[int] | None = None, by_relevance: bool = True
) -> list[dict[str, Any]]:
    """The blocks of the table with their words by rank and column; None without words.

    listed: ids of topics; None: the default topics.
    """
    is_early = is_first_to_come(progress)
    progress = fill_first(progress)
    if progress.vocabulary is None or not progress.columns:
        return []
    topic_ids = progress.default_topics if listed is None else listed
    frame = table_frame(progress.columns, progress.vocabulary, topic_ids, by_relevance)
    num_columns = len(progress.columns) + len(progress.planned_columns)
    blocks: dict[int, dict[str, Any]] = {
        topic_id: {
            "topic_id": topic_id,
            "color": topic_color(topic_id),
            "title": progress.topic_title(topic_id),
            "note": "",
        }
        | {"cells": [[None] * num_columns for _ in range(NUM_TOP_WORDS)]}
        for topic_id in topic_ids
    }
    for row in frame.itertuples(index=False):
        cells: list[list[list[Any] | None]] = blocks[int(row.topic_id)]["cells"]
        cells[int(row.rank)][int(row.column)] = [
            row.word,
            only_if(row.is_new, "+") or only_if(row.has_risen, "↑"),
        ]
    roles: dict[int, str] = {}
    if len(progress.columns) >= LEAST_COLUMNS and len(blocks) >= len(ROLES) and listed is None:
        roles = dict(zip(blocks, ROLES, strict=False))
    now = read_now(progress)
    last = frame[frame["column"] == len(progress.columns) - 1]
    weights = dict(zip(last["topic_id"], last["weight"], strict=True))
    when = "now" if is_early else "in the last column"
    for topic_id, block in blocks.items():
        if now is not None:
            size = _share(progress, now, topic_id)
        elif topic_id in weights:
            size = f"{100 * weights[topic_id]:.1f} % of the model's weight {when}"
        else:
            size = f"not in use {when}"
        block["note"] = ", ".join(filter(None, [roles.get(topic_id), size]))
    return list(blocks.values())


def read_now(progress: Progress) -> Moment | None:
    """The present moment, if all documents have been read with its model."""
    now = progress.now
    return now if now is not None and now.is_read else None


def _share(progress: Progress, now: Moment, topic_id: int) -> str:
    share = now.shares[now.topic_ids == topic_id].sum()
    whole = "all tokens"
    if progress.stream is not None:
        whole = f"the tokens in {name_recent(progress.stream)}"
    return f"{100 * share:.1f} % of {whole}"


def empty_note(progress: Progress, blocks: Sequence[dict[str, Any]]) -> str:
    """Say why there is no block; empty if there is one."""
    if blocks:
        return ""
    if progress.columns:
        is_empty = topics_frame(progress.columns[-1], progress.vocabulary).empty
        return NO_TOPIC if is_empty else "No topic selected."
    if progress.status in ("finished", "failed"):
        return "This run ended before its first column."
    if progress.stream is not None:
        return "The first column appears with the first mini-batch."
    if progress.planned_columns:
        return f"The first column fills after {count(progress.planned_columns[0], 'document')}."
    return "The first column fills once the run has read its first documents."
