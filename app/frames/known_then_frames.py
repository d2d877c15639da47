"""Topics over time by the model at the time: each period by the topic shares of its documents when
first read. Pure.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import tell_apart
from stickbreaker.app.frames.reading_frames import REST, Title, choose_rows, period_frame
from stickbreaker.app.model.counting import span
from stickbreaker.app.model.progress import Moment, find_used
from stickbreaker.app.model.reading import Reading
from stickbreaker.engine.evaluation.doc_shares import Periods, add_up, divide

NUM_THEN_WORDS = 5
NOT_LISTED = "not recorded yet"


def then_frame(
    reading: Reading, unit: str, measure: str, chosen: int | None, title: Title
) -> pd.DataFrame:
    """A measure of topics of the first readings by period: `calendar_frame` with columns words and
    read.

    Only documents that were read count. words: the topic's most probable words in the last column
    of the word lists that was recorded before the last document of the period was read, so no word
    appears before it was learned. read: how many documents had been learned when those of the
    period were read, as text. chosen: a topic's id. Raises ValueError if the reading has no first
    readings.
    """
    first = reading.first
    if first is None:
        raise ValueError(
            "This run has not recorded the topics of documents before it learned from them."
        )
    periods = divide(reading.corpus.dates, unit)
    periods = periods._replace(of_document=np.where(first.seen >= 0, periods.of_document, -1))
    values = add_up(first.doc_shares, reading.doc_tokens, periods, measure)
    shown = choose_rows(values, first.doc_shares.T @ reading.doc_tokens, first.position(chosen))
    ids = [int(first.topic_ids[k]) for k in shown]
    titles = [called for _, called in tell_apart([(topic_id, title(topic_id)) for topic_id in ids])]
    frame = period_frame(periods, values, dict(zip(shown, ids, strict=True)), titles)
    earliest, latest = _moments(periods, first.seen)
    words: dict[tuple[int, int], str] = {}
    for period, seen in enumerate(latest):
        columns = [point for point in reading.model.columns if point.documents_seen <= seen]
        words |= {
            (period, topic_id): _words(columns, topic_id, reading.corpus.vocabulary.words)
            for topic_id in ids
        }
    return frame.assign(
        words=[words.get(key, "") for key in zip(frame["place"], frame["topic_id"], strict=True)],
        read=[_name_moments(earliest[period], latest[period]) for period in frame["place"]],
    )


def _moments(periods: Periods, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Documents learned when the first and the last of each period (P,) was read, or -1."""
    number = len(periods.names)
    earliest = np.full(number, np.iinfo(np.int64).max)
    latest = np.full(number, -1, np.int64)
    rows = np.flatnonzero(periods.of_document >= 0)
    np.minimum.at(earliest, periods.of_document[rows], seen[rows])
    np.maximum.at(latest, periods.of_document[rows], seen[rows])
    return np.minimum(earliest, latest), latest


def _name_moments(earliest: int, latest: int) -> str:
    if latest < 0:
        return "no document read"
    return f"after {span(f'{earliest:,}', f'{latest:,}')} documents"


def _words(columns: Sequence[Moment], topic_id: int, vocabulary: Sequence[str]) -> str:
    """The most probable words of a topic at the last of these moments."""
    if topic_id == REST:
        return ""
    if not columns or (place := find_used(columns[-1], topic_id)) is None:
        return NOT_LISTED
    return ", ".join(
        vocabulary[int(word)] for word in columns[-1].top_words[place, :NUM_THEN_WORDS]
    )
