"""How well people can read the topics of a reading: rows of a table, and a sentence about all of
them. Pure.
"""

from typing import Any

import numpy as np

from stickbreaker.app.frames.progress_frames import write_npmi
from stickbreaker.app.frames.reading_frames import Title, name_whole, percent, topic_share
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.coherence import sum_up

COLUMNS = ("Share", "NPMI", "Exclusivity")
LOW = "low coherence"


def quality_rows(reading: Reading, title: Title) -> list[dict[str, Any]]:
    """Rows of the topics in use, largest first: their numbers as text (`cells`) and for sorting
    (`values`).

    A topic whose NPMI is below 0 has the mark "low coherence".
    """
    quality, vocabulary = reading.quality, reading.corpus.vocabulary
    rows = []
    for place, topic_id in enumerate(quality.topic_ids.tolist()):
        share, value = topic_share(reading, reading.used[place]), float(quality.npmi[place])
        exclusivity = float(quality.exclusivity[place])
        rows.append(
            {
                "key": topic_id,
                "title": title(topic_id),
                "color": topic_color(topic_id),
                "mark": LOW if value < 0 else "",
                "cells": [percent(share), write_npmi(value), f"{exclusivity:.2f}"],
                "values": [share, None if np.isnan(value) else value, exclusivity],
                "words": ", ".join(vocabulary[word] for word in quality.top_words[place].tolist()),
            }
        )
    return rows


def describe_quality(reading: Reading) -> str:
    """Say how coherent the topics are as a whole; empty without topics."""
    quality = reading.quality
    if not len(quality.npmi) or np.isnan(quality.npmi).any():
        return ""
    overall, number = sum_up(quality), int((quality.npmi < 0).sum())
    low_share = float(quality.shares[quality.npmi < 0].sum())
    in_use = f"{count(len(quality.npmi), 'topic')} in use: they cover 99 % {name_whole(reading)}. "
    if reading.num_weighted != len(quality.npmi):
        in_use += f"(The Live page counts {reading.num_weighted}, by the model's weights now.) "
    return (
        f"{in_use}"
        f"Mean NPMI, weighted by tokens: {write_npmi(overall.weighted_npmi)}. "
        f"{count(number, 'topic')} with low coherence: {percent(low_share)} of the tokens. "
        f"Diversity: {overall.diversity:.2f}."
    )
