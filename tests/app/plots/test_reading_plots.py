"""The heat map of topics over time."""

import numpy as np
import pytest

from stickbreaker.app.frames.reading_frames import calendar_frame
from stickbreaker.app.plots.reading_plots import KINDS, MOST_PHONE_LABEL, calendar_plot
from stickbreaker.engine.evaluation.doc_shares import MEASURES, UNITS


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("measure", MEASURES)
def test_the_calendar_adds_up_over_topics_and_is_drawn_in_every_kind(job, unit, measure):
    frame = calendar_frame(job.reading, unit, measure, None, str)
    sums = frame.groupby("place")["value"].sum(min_count=1).dropna()
    if measure == "tokens":
        assert sums.sum() == pytest.approx(job.reading.doc_tokens.sum(), rel=1e-5)
    else:
        np.testing.assert_allclose(sums, 1.0, rtol=1e-5)
    for kind in KINDS:
        assert calendar_plot(frame, kind, measure) is not None


def test_rows_of_the_heat_map_keep_their_whole_title_and_have_labels_that_fit_on_a_phone(job):
    named = {0: "w" * 60}
    frame = calendar_frame(
        job.reading, "year", MEASURES[0], None, lambda topic_id: named.get(int(topic_id), "topic 7")
    )
    drawn = calendar_plot(frame, "heat map", MEASURES[0])
    narrow = drawn.yaxis[0].formatter.args["narrow"]
    assert set(narrow) == set(drawn.y_range.factors) == set(frame["title"]) - {"all other topics"}
    assert max(map(len, narrow.values())) <= MOST_PHONE_LABEL
    assert all(label.startswith(("topic 7", "www")) for label in narrow.values())


def test_rows_of_the_heat_map_are_in_the_order_of_their_largest_value(job):
    frame = calendar_frame(job.reading, "year", MEASURES[0], None, str)
    titles = list(dict.fromkeys(frame["title"]))
    peaks = dict(zip(titles, reversed(range(len(titles))), strict=True))
    frame["value"] = [
        float(place == peaks[title])
        for place, title in zip(frame["place"], frame["title"], strict=True)
    ]
    drawn = calendar_plot(frame, "heat map", MEASURES[0])
    assert frame["place"].nunique() > len(titles) - 1 > 1
    assert drawn.y_range.factors == titles[:-1]


def test_a_heat_map_without_a_value_keeps_the_order_of_its_rows(job):
    frame = calendar_frame(job.reading, "year", MEASURES[0], None, str).assign(value=np.nan)
    drawn = calendar_plot(frame, "heat map", MEASURES[0])
    assert drawn.y_range.factors[::-1] == list(dict.fromkeys(frame["title"]))[:-1]
