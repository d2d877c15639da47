"""The table of topics by coherence, and the view that shows it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker import engine
from stickbreaker.app.frames.quality_frames import LOW, describe_quality, quality_rows
from stickbreaker.app.frames.reading_frames import calendar_frame, fitting_unit
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model, ReadingJob, begin_reading, complete_reading
from stickbreaker.app.state import RunState
from stickbreaker.app.views.topic_quality import TopicQualityView
from stickbreaker.engine.algorithm import TopicSummary
from tests.app.browser_messages import send
from tests.app.small_runs import HDP, small_config

WORDS = ("army", "navy", "tariff", "trade")
SUMMARY = TopicSummary(
    topic_ids=np.array([3, 8, 5]),
    topics=np.array([[0.6, 0.4, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.5, 0.0, 0.0, 0.5]]),
    weights=np.array([0.5, 0.2, 0.3]),
    expected_tokens=np.array([50.0, 20.0, 30.0]),
)


@pytest.fixture
def reading():
    """Army and navy always meet, tariff and trade sometimes, all other pairs never."""
    counts = [[1, 1, 0, 0]] * 4 + [[0, 0, 1, 1]] * 2 + [[0, 0, 1, 0], [0, 0, 0, 1]]
    vocabulary, dates = engine.Vocabulary(WORDS), np.full(8, "NaT", "datetime64[D]")
    corpus = engine.Corpus("pairs", counts, vocabulary, dates, ("",) * 8)
    algorithm = replace(HDP, summarize=lambda config, state: SUMMARY)
    return begin_reading(Model(1, algorithm, small_config(), None, corpus, corpus, 8))


def title(topic_id):
    return f"topic {topic_id}"


def test_topics_come_largest_first_with_numbers_as_text_and_for_sorting(reading):
    rows = quality_rows(reading, title)
    assert [row["key"] for row in rows] == [3, 5, 8]
    assert rows[0]["cells"][0] == "50.0 %"
    assert rows[0]["words"].startswith("army, navy")
    for row, npmi in zip(rows, reading.quality.npmi, strict=True):
        assert row["values"][2] == npmi
        assert row["cells"][2] == f"{npmi:.3f}".replace("-", "−")
        assert row["mark"] == (LOW if npmi < 0 else "")


def test_topics_have_their_shares_over_time_once_all_documents_are_read(job):
    reading = job.reading
    frame = calendar_frame(
        reading, fitting_unit(reading.corpus.dates), "share of tokens", None, title
    )
    for row in quality_rows(reading, title):
        values = frame[frame["topic_id"] == row["key"]].fillna(0.0)
        if len(values):
            share = values["value"].to_numpy()
            np.testing.assert_allclose(row["line"], share / share.max(), atol=6e-4)
            assert row["values"][1] == share.argmax()
            assert row["cells"][1].endswith(values["period"].iloc[share.argmax()])


def test_topics_have_no_shares_over_time_without_dates_or_before_the_reading(reading, job):
    full = job.reading.corpus
    undated = replace(full, dates=np.full_like(full.dates, "NaT"))
    model = replace(job.reading.model, corpus=undated)
    for without in (reading, replace(job.reading, model=model)):
        for row in quality_rows(without, title):
            assert (row["line"], row["values"][1], row["cells"][1]) == ([], None, "")


def test_one_sentence_sums_the_topics_up(reading):
    quality = reading.quality
    low = quality.npmi < 0
    text = describe_quality(reading)
    assert text.startswith("3 topics in use: they cover 99 % of the model's weight now")
    assert "Live" not in text
    assert f"{low.sum()} topic" in text
    assert f"{100 * quality.shares[low].sum():.1f} % of the tokens" in text
    assert describe_quality(replace(reading, quality=quality._replace(npmi=np.zeros(0)))) == ""


def test_a_number_of_topics_that_differs_from_the_one_on_the_page_live_is_explained(reading):
    only_one = csr_array(
        np.eye(len(SUMMARY.topic_ids))[[0]].repeat(reading.corpus.num_documents, 0)
    )
    read = complete_reading(reading, only_one)
    text = describe_quality(read)
    assert text.startswith(
        "1 topic in use: they cover 99 % of all tokens. (The Live page counts 3, by the model's"
    )


def test_the_table_selects_a_topic_that_it_lists_and_follows_the_selected_one(reading):
    state = RunState()
    view = TopicQualityView(state)
    view.state.publish(Progress(), job=ReadingJob("ready", 1.0, reading))
    send(view.table, {"key": 8})
    assert (state.topic, view.table.chosen) == (8, 8)
    send(view.table, {"key": 99})
    send(view.table, "8")
    assert state.topic == 8
    view.state.publish(Progress(labels={3: "army, navy"}), job=ReadingJob("ready", 1.0, reading))
    assert view.table.rows[0]["title"] == "army, navy"
