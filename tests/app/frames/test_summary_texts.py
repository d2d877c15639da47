"""The sentence and the two numbers at the top of the live page."""

import numpy as np
import pytest

from stickbreaker.app.frames.summary_texts import (
    OPENING,
    describe_check,
    describe_reading,
    list_figures,
)
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.progress import HELDOUT_COLUMNS, STEP_COLUMNS, Curve, Moment, Progress
from stickbreaker.engine.runs.count_check import CountCheck
from stickbreaker.engine.runs.settings import RunSettings

YEARS = np.datetime64("1790"), np.datetime64("2021")
READ = {"documents_seen": 500, "date": np.datetime64("1885")}


def progress(status="running", **fields):
    known = {
        "corpus_size": 9384,
        "documents_total": 9384,
        "date_span": YEARS,
        "settings": RunSettings(),
    }
    return Progress(status=status, **(known | fields))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (Progress(), OPENING),
        (progress("waiting"), "About to read 9,384 documents in date order, 1790 to 2021."),
        (progress(**READ), "Reading 9,384 documents in date order, 1790 to 2021: now 1885."),
        (
            progress("paused", **READ),
            "Reading 9,384 documents in date order, 1790 to 2021: paused at 1885.",
        ),
        (
            progress("failed", **READ),
            "Reading 9,384 documents in date order, 1790 to 2021: stopped at 1885.",
        ),
        (progress("finished", **READ), "Read 9,384 documents in date order, 1790 to 2021."),
        (
            progress(date_span=None, documents_seen=5),
            "Reading 9,384 documents in the order of the file.",
        ),
        (
            progress(date_span=YEARS[:1] * 2),
            "About to read 9,384 documents in date order, all from 1790.",
        ),
        (
            progress(documents_total=3 * 9384),
            "About to read 9,384 documents 3 times in date order, 1790 to 2021.",
        ),
        (
            progress(algorithm="gibbs-hdp", documents_total=2 * 9384, **READ),
            "Reading 9,384 documents 2 times, all of them in each step.",
        ),
        (
            progress(settings=RunSettings(order="shuffled")),
            "About to read 9,384 documents in shuffled order.",
        ),
    ],
)
def test_one_sentence_says_what_is_read_in_which_order_and_how_far(shown, expected):
    assert describe_reading(shown) == expected


def test_the_newest_score_and_count_are_shown_and_a_dash_before_there_is_one():
    assert [figure.value for figure in list_figures(progress())] == ["–", "–"]
    day = np.datetime64("1800")
    scores = [(100, day, 1.0, -8.5), (200, day, 2.0, -7.8421)]
    steps = [(100, day, 1.0, 0.1, 90, 0.5, 1, 100), (200, day, 2.0, 0.1, 71, 0.5, 1, 100)]
    now = Moment(
        200, day, np.arange(1), np.ones(1), np.array([5.0]), np.zeros((1, 10), np.int32), 1
    )
    shown = progress(
        steps=Curve.build(STEP_COLUMNS, steps),
        heldout=Curve.build(HELDOUT_COLUMNS, scores),
        now=now,
    )
    assert [figure.value for figure in list_figures(shown)] == ["−7.842", "71"]


def checked(*counts, **fields):
    check = CountCheck(np.array(counts), 9384, 600_000, 9384)
    return CountJob(
        **{"status": "ready", "run_id": 0, "documents_seen": 500, "check": check} | fields
    )


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (CountJob(), ""),
        (checked(70, 60, 58, 66, 58, run_id=5), ""),
        (
            checked(70, 90, 90, 58, 59),
            (
                "Gibbs sampler started from this model: 58 to 59 topics in use over the last 2 of 4"
                " passes (9,384 documents)."
            ),
        ),
        (
            checked(70, 90, 90, 59, 59, documents_seen=256),
            (
                "Gibbs sampler started from the model after 256 documents: 59 topics in use over"
                " the last 2 of 4 passes (9,384 documents)."
            ),
        ),
        (
            checked(
                70, 66, 58, check=CountCheck(np.array([70, 66, 66, 66, 58]), 2000, 10**6, 9384)
            ),
            (
                "Gibbs sampler started from this model: 58 to 66 topics in use over the last 2 of 4"
                " passes (2,000 of 9,384 documents, drawn at random). The count is still falling."
            ),
        ),
        (
            CountJob("waiting", message="Waiting for a free processor core."),
            "Waiting for a free processor core.",
        ),
        (CountJob("working", 0.5), "Checking the count with the Gibbs sampler …"),
        (CountJob("cancelled"), "The check of the count was cancelled."),
        (
            CountJob("failed", message="MemoryError: no room"),
            "The count could not be checked: MemoryError: no room",
        ),
    ],
)
def test_the_check_of_the_count_says_what_its_interval_is(job, expected):
    assert describe_check(job, progress(**READ)) == expected
