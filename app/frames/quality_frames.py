"""How well people can read the topics of a reading: rows of a table, and a sentence about all of
them. Pure.
"""

from typing import Any

import numpy as np

from stickbreaker.app.frames.progress_frames import write_score
from stickbreaker.app.frames.reading_frames import (
    Title,
    fitting_unit,
    name_whole,
    percent,
    topic_share,
)
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.coherence import sum_up
from stickbreaker.engine.evaluation.doc_shares import add_up, divide

COLUMNS = ("Share", "Over time", "NPMI", "Exclusivity")
LOW = "low coherence"


def quality_rows(reading: Reading, title: Title) -> list[dict[str, Any]]:
    """Rows of the topics in use, largest first: their numbers as text (`cells`) and for sorting
    (`values`).

    A topic whose NPMI is below 0 has the mark "low coherence". `line` has its share of the tokens
    by period, 1 for its largest; the place of the period with the largest share sorts the topics.
    Both are missing before all documents are read, and without dates.
    """
    quality = reading.quality
    vocabulary = reading.corpus.vocabulary
    names, lines = _lines(reading)
    rows = []
    for place, topic_id in enumerate(quality.topic_ids.tolist()):
        share = topic_share(reading, reading.used[place])
        value = float(quality.npmi[place])
        exclusivity = float(quality.exclusivity[place])
        line = lines[place]
        peak = None
        largest = ""
        if len(line):
            peak = int(np.argmax(line))
            largest = f"largest share: {names[peak]}"
        rows.append(
            {
                "key": topic_id,
                "title": title(topic_id),
                "color": topic_color(topic_id),
                "mark": only_if(value < 0, LOW),
                "cells": [percent(share), largest, write_score(value), f"{exclusivity:.2f}"],
                "values": [share, peak, None if np.isnan(value) else value, exclusivity],
                "line": [round(float(value), 3) for value in line],
                "words": ", ".join(vocabulary[word] for word in quality.top_words[place].tolist()),
            }
        )
    return rows


def _lines(reading: Reading) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the P periods, and each topic's share by period (U, P) divided by its largest.

    There are no periods before all documents are read, and if there would be only one.
    """
    periods = divide(reading.corpus.dates, fitting_unit(reading.corpus.dates))
    if reading.doc_shares is None or len(periods.names) < 2:
        return (), np.zeros((len(reading.used), 0))
    shares = add_up(reading.doc_shares, reading.doc_tokens, periods, "share of tokens")
    values = np.nan_to_num(shares[:, reading.used].T)
    largest = values.max(1, keepdims=True, initial=1e-30)
    return periods.names, values / largest


def describe_quality(reading: Reading) -> str:
    """Say how coherent the topics are as a whole; empty without topics."""
    quality = reading.quality
    if not len(quality.npmi) or np.isnan(quality.npmi).any():
        return ""
    overall = sum_up(quality)
    number = int((quality.npmi < 0).sum())
    low_share = float(quality.shares[quality.npmi < 0].sum())
    in_use = f"{count(len(quality.npmi), 'topic')} in use: they cover 99 % {name_whole(reading)}. "
    if reading.num_weighted != len(quality.npmi):
        in_use += f"(The Live page counts {reading.num_weighted}, by the model's weights now.) "
    return (
        f"{in_use}"
        f"Mean NPMI, weighted by tokens: {write_score(overall.weighted_npmi)}. "
        f"{count(number, 'topic')} with low coherence: {percent(low_share)} of the tokens. "
        f"Diversity: {overall.diversity:.2f}."
    )
