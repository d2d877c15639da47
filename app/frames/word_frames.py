"""The topics of one word over a run, from the word lists of its moments. Pure."""

from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.word_lists import NUM_LISTED
from stickbreaker.app.theme import topic_color

OF_TOPIC = "share of the topic's words"
TOKENS = "tokens of the word"
WORD_MEASURES = (OF_TOPIC, TOKENS)
NUM_LINES = 8
COLUMNS = ["topic_id", "title", "x", "documents_seen", "date", "rank", "value"]


def run_places(progress: Progress) -> tuple[str, list[float]]:
    """Name the axis of a run and place its moments: documents read, or passes."""
    seen = [float(point.documents_seen) for point in progress.columns]
    if progress.reads_corpus and progress.corpus_size:
        return "passes over the corpus", [each / progress.corpus_size for each in seen]
    return "documents read", seen


def word_frame(progress: Progress, word: int, measure: str) -> pd.DataFrame:
    """A word in the topics that listed it, tidy: columns topic_id, title, x, documents_seen, date,
    rank, value.

    One row per topic and moment, for the eight topics with the most tokens of the word at any
    moment. At a moment where the word is not among the topic's fifty most probable, value and rank
    are NaN, because its share is not known. measure: p(word | topic), or that times the topic's
    tokens. rank: from 1.
    """
    _, places = run_places(progress)
    found: dict[tuple[int, int], tuple[float, float, float]] = {}
    for column, point in enumerate(progress.columns):
        for topic_id, rank, share, tokens in _find(point, word):
            found[topic_id, column] = (rank, share, share * tokens)
    most: dict[int, float] = {}
    for (topic_id, _), (_, _, tokens) in found.items():
        most[topic_id] = max(most.get(topic_id, 0.0), tokens)
    rows = []
    for topic_id in sorted(most, key=lambda each: (-most[each], each))[:NUM_LINES]:
        for column, point in enumerate(progress.columns):
            place, share, tokens = found.get((topic_id, column), (np.nan, np.nan, np.nan))
            head = (topic_id, progress.topic_title(topic_id), places[column], point.documents_seen)
            value = {OF_TOPIC: share, TOKENS: tokens}[measure]
            rows.append((*head, date_text(point.date), place, value))
    return pd.DataFrame(rows, columns=COLUMNS)


def _find(point: Moment, word: int) -> list[tuple[int, int, float, float]]:
    """Topics that list a word at a moment: id, rank, p(word | topic) and the topic's tokens."""
    if point.lists is None:
        return []
    tokens = dict(zip(point.topic_ids.tolist(), point.expected_tokens.tolist(), strict=True))
    topics, ranks = np.nonzero(point.lists.words == word)
    ids = point.lists.topic_ids[topics].tolist()
    shares = point.lists.shares[topics, ranks].tolist()
    return [
        (i, int(rank) + 1, share, tokens[i])
        for i, rank, share in zip(ids, ranks, shares, strict=True)
    ]


def word_life_rows(frame: pd.DataFrame, measure: str) -> list[dict[str, Any]]:
    """Describe in one row per topic of a `word_frame` how its share of the word changed."""
    largest = frame["value"].max()
    last = frame["x"].max()
    rows = []
    for topic_id, part in frame.groupby("topic_id", sort=False):
        listed = part.dropna(subset="value")
        top = listed.loc[listed["value"].idxmax()]
        now = listed[listed["x"] == last]["value"]
        since = f"in the lists from {listed['documents_seen'].iloc[0]:,}"
        until = f" to {listed['documents_seen'].iloc[-1]:,} documents"
        weight = ""
        share = 0.0
        if len(now):
            until = " documents on"
            weight = _write(now.iloc[0], measure)
            share = float(now.iloc[0] / largest)
        most = (
            f"highest after {top['documents_seen']:,} documents: {_write(top['value'], measure)},"
            f" rank {top['rank']:.0f}"
        )
        rows.append(
            {
                "key": int(topic_id),
                "title": part["title"].iloc[0],
                "color": topic_color(topic_id),
                "weight": weight,
                "share": share,
                "words": f"{since}{until}; {most}",
                "action": "select",
            }
        )
    return rows


def _write(value: float, measure: str) -> str:
    return f"{100 * value:.2f} %" if measure == OF_TOPIC else f"{value:,.0f} tokens"


def explain_no_word(progress: Progress, word: str) -> str:
    """Say why a word has no line."""
    if not progress.columns:
        planned = progress.planned_columns
        when = f" after {count(planned[0], 'document')}" if planned else ""
        return f"Words are first recorded at the first column of the word lists{when}."
    return (
        f"“{word}” was not among the {NUM_LISTED} most probable words of any topic at any moment."
        " Topics with a smaller share of it are listed above once the corpus has been read."
    )
