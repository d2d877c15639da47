"""How well people can read the topics of a reading: rows of a table, and a sentence about all of
them. Pure.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.frames.progress_frames import write_score
from stickbreaker.app.frames.reading_frames import (
    Title,
    fitting_unit,
    name_whole,
    percent,
    topic_share,
)
from stickbreaker.app.model.counting import count, only_if, span
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.model_record import find_consensus
from stickbreaker.app.model.other_runs import NUM_RUNS
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.coherence import sum_up
from stickbreaker.engine.evaluation.doc_shares import add_up, divide
from stickbreaker.engine.runs.checkpoint import Checkpoint

COLUMNS = ("Share", "Over time", "NPMI", "Exclusivity", "Found again")
LOW = "low coherence"


def quality_rows(reading: Reading, title: Title) -> list[dict[str, Any]]:
    """Rows of the topics in use, largest first: their numbers as text (`cells`) and for sorting
    (`values`).

    A topic whose NPMI is below 0 has the mark "low coherence". `line` has its share of the tokens
    by period, 1 for its largest; the place of the period with the largest share sorts the topics.
    Both are missing before all documents are read, and without dates. `marks` of
    the ten words are empty without other runs: "constant" if nine tenths of the runs with the
    topic have the word among its ten, else "changing".
    """
    quality = reading.quality
    vocabulary = reading.corpus.vocabulary
    names, lines = _lines(reading)
    again = describe_topics_again(reading)
    rows = []
    for place, topic_id in enumerate(quality.topic_ids.tolist()):
        share = topic_share(reading, reading.used[place])
        value = float(quality.npmi[place])
        exclusivity = float(quality.exclusivity[place])
        found = again.get(topic_id, NOT_LOOKED_FOR)
        line = lines[place]
        words = quality.top_words[place].tolist()
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
                "cells": [
                    percent(share),
                    largest,
                    write_score(value),
                    f"{exclusivity:.2f}",
                    found.text,
                ],
                "values": [
                    share,
                    peak,
                    None if np.isnan(value) else value,
                    exclusivity,
                    found.num_runs,
                ],
                "line": [round(float(value), 3) for value in line],
                "words": ", ".join(vocabulary[word] for word in words),
                "marks": [found.find_mark(word) for word in words],
            }
        )
    return rows


class TopicAgain(NamedTuple):
    """In how many other runs a topic comes back, as a number and as text, and which of its words
    are nearly always there; constant is None without other runs.
    """

    num_runs: int | None = None
    text: str = ""
    constant: frozenset[int] | None = None
    shares: tuple[float, float] = (math.nan, math.nan)

    def find_mark(self, word: int) -> str:
        """The mark of one of the ten words."""
        if self.constant is None:
            return ""
        return "constant" if word in self.constant else "changing"


NOT_LOOKED_FOR = TopicAgain()


def describe_topics_again(reading: Reading) -> dict[int, TopicAgain]:
    """What other runs say of each topic, by its id; empty without other runs."""
    if reading.again is None:
        return {}
    found = reading.again.found
    total = len(found.num_topics)
    parts = (found.topic_ids, found.num_found, found.top_words, found.is_constant)
    return {
        int(topic_id): TopicAgain(
            num_runs=int(number),
            text=f"{number} of {count(total, 'run')}",
            constant=frozenset(words[constant].tolist()),
            shares=(float(low), float(high)),
        )
        for topic_id, number, words, constant, (low, high) in zip(
            *parts, found.share_ranges, strict=True
        )
    }


def describe_again(job: ModelJob, progress: Progress, reading: Reading | None) -> str:
    """Say what runs with other seeds have found, or what they do; empty without any."""
    is_own = job.run_id == progress.run_id
    if job.is_active and is_own:
        run = min(NUM_RUNS, 1 + int(NUM_RUNS * job.share))
        is_at_work = job.status == "working"
        return f"Run {run} of {NUM_RUNS}" if is_at_work else job.message or "Waiting"
    if job.status == "failed" and is_own:
        return f"Runs with other seeds have failed: {job.message}"
    if reading is None or reading.again is None:
        return only_if(job.status == "cancelled" and is_own, "The runs were cancelled.")
    found = reading.again.found
    scores = reading.again.scores
    is_stable = 2 * found.num_found >= len(found.num_topics)
    numbers = span(f"{found.num_topics.min():,}", f"{found.num_topics.max():,}")
    held_out = span(write_score(scores.min()), write_score(scores.max()))
    return (
        f"{is_stable.sum():,} of {count(len(is_stable), 'topic')} came back in at least half of"
        f" {count(len(scores), 'other run')}: {percent(found.shares[is_stable].sum())} of the"
        f" tokens. These runs have {numbers} topics in use, and score {held_out} nats per held-out"
        f" word.{_describe_consensus(reading.again.consensus, only_if(is_own, job.message))}"
    )


def _describe_consensus(consensus: Checkpoint | None, why_not: str) -> str:
    if consensus is None:
        return only_if(why_not, f" {why_not}")
    number = consensus.notes["steps.num_topics"][-1]
    scores = consensus.notes["heldout.nats_per_word"]
    score = "".join(f", and scores {write_score(each)}" for each in scores[-1:])
    return f" Their consensus has {count(int(number), 'topic')}{score}."


def describe_keeping(job: ModelJob, reading: Reading | None, progress: Progress) -> str:
    """Say whether the consensus of other runs is kept; empty before it is asked for."""
    is_now = job.model_key == progress.model_key
    if not is_now or find_consensus(reading, progress.model_key) is None:
        return ""
    if job.status == "failed":
        return f"The consensus could not be kept: {job.message}"
    return {
        "waiting": job.message or "Waiting",
        "working": "The consensus is being kept.",
        "ready": "The consensus is a kept run now: Compare lists it.",
    }.get(job.status, "")


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
