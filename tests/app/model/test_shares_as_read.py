"""Once all documents are read, each share is a topic's part of all their words, in every list, plot
and file.
"""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.export.offline import gather
from stickbreaker.app.export.tables import topics_table
from stickbreaker.app.frames.quality_frames import describe_quality, quality_rows
from stickbreaker.app.frames.reading_frames import (
    NUM_ROWS,
    OF_WEIGHT,
    OF_WORDS,
    choose_rows,
    map_frame,
    name_whole,
    topic_options,
)
from stickbreaker.app.model.reading import begin_reading, with_reading
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.state import RunState
from stickbreaker.app.views.topics_now import NUM_TOPICS_SHOWN, OF_MODEL, OF_READING, TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.evaluation.held_out import rank_topics
from tests.app.small_runs import SETTINGS, learn, small_spec

NUM_DOCUMENTS = 120


@pytest.fixture(scope="module")
def corpus():
    """Two thirds of the documents, the longer ones, are about war, the rest about trade."""
    rng = np.random.default_rng(3)
    is_war = np.arange(NUM_DOCUMENTS) < 80
    rates = np.where(is_war[:, None], [4.0] * 5 + [0.05] * 5, [0.05] * 5 + [2.0] * 5)
    years = np.datetime64("1800", "Y") + np.arange(NUM_DOCUMENTS)
    words = Vocabulary(tuple(f"{kind}{place}" for kind in ("war", "trade") for place in range(5)))
    return Corpus(
        "two", rng.poisson(rates), words, years, [f"Document {i}" for i in range(NUM_DOCUMENTS)]
    )


@pytest.fixture(scope="module")
def record(corpus):
    spec = replace(
        small_spec(max_topics=5, delay=1.0), corpus_name="two", settings=replace(SETTINGS, passes=3)
    )
    record = learn(corpus, spec)
    return record


@pytest.fixture(scope="module")
def reader(record):
    reader = Reader(record.model, lambda: None)
    reader.ask()
    reader.join()
    return reader


@pytest.fixture(scope="module")
def naive_shares(record, corpus):
    """The share of each topic by its id: its share of each document, which counts by its length."""
    model, tokens, total = record.model(), {}, 0
    ids = model.algorithm.summarize(model.config, model.state).topic_ids.tolist()
    for row in range(corpus.num_documents):
        (shares,) = model.algorithm.infer(
            model.config, model.state, corpus.documents().cut(row, row + 1)
        )
        shares = [share if share >= 0.005 else 0.0 for share in shares.tolist()]
        length = int(corpus.counts[[row]].sum())
        total += length
        for topic_id, share in zip(ids, shares, strict=True):
            tokens[topic_id] = tokens.get(topic_id, 0.0) + length * share / sum(shares)
    return {topic_id: number / total for topic_id, number in tokens.items()}


def test_every_list_plot_and_file_has_the_share_of_all_words(reader, record, naive_shares):
    reading, progress = reader.job.reading, with_reading(record.progress(1), reader.job.reading)
    table = topics_table(reading, progress).drop_duplicates("topic_id")
    frame = map_frame(reading, progress.topic_title, None)
    rows = quality_rows(reading, progress.topic_title)
    now = TopicsNow(state := RunState())
    state.publish(progress)
    order = sorted(naive_shares, key=lambda topic_id: -naive_shares[topic_id])
    for ids in (
        table["topic_id"],
        frame["topic_id"],
        [row["key"] for row in rows],
        [row["key"] for row in now.rows.rows],
    ):
        assert list(ids) == order[: len(ids)]
    for shares in (table["share"], frame["share"], [row["values"][0] for row in rows]):
        np.testing.assert_allclose(
            shares, [naive_shares[k] for k in order[: len(shares)]], rtol=1e-5
        )
    percent = f"{100 * naive_shares[order[0]]:.1f} %"
    assert next(iter(topic_options(reading, str))).endswith(percent)
    assert now.rows.rows[0]["weight"] == percent
    page = gather(progress, (), reading)
    assert page["details"][0]["share"] == f"{percent} {OF_WORDS}"
    assert [each["isRead"] for each in page["moments"]] == [False] * (len(progress.columns) - 1) + [
        True
    ]
    assert page["moments"][-1]["topics"][0][:2] == [
        order[0],
        pytest.approx(naive_shares[order[0]], rel=1e-5),
    ]


def test_the_weight_in_the_model_is_another_number_and_is_called_so_until_all_documents_are_read(
    reader, record
):
    before, reading = begin_reading(record.model()), reader.job.reading
    weights, shares = (
        each.summary.expected_tokens / each.summary.expected_tokens.sum()
        for each in (before, reading)
    )
    assert np.abs(weights - shares).max() > 0.01
    assert (name_whole(before), name_whole(reading)) == (OF_WEIGHT, OF_WORDS)
    assert OF_WEIGHT in describe_quality(before)
    now = TopicsNow(state := RunState())
    state.publish(record.progress(1))
    assert OF_MODEL in now.whole.object
    state.publish(with_reading(record.progress(1), reading))
    assert OF_READING in now.whole.object


def test_the_largest_topics_include_a_topic_of_the_model_that_hardly_any_document_has(
    reader, record
):
    progress = with_reading(record.progress(1), reader.job.reading)
    now = TopicsNow(state := RunState())
    used = rank_topics(progress.now.expected_tokens)
    tokens = np.where(np.arange(len(progress.now.tokens)) == used[-1], 0.0, progress.now.tokens)
    state.publish(replace(progress, now=replace(progress.now, read_tokens=tokens)))
    assert 1 < len(used) <= NUM_TOPICS_SHOWN
    assert {row["key"]: row["weight"] for row in now.rows.rows}[
        progress.now.topic_ids[used[-1]]
    ] == "0.0 %"


def test_the_menu_of_the_word_lists_has_the_shares_of_a_reading(reader, record):
    progress = with_reading(record.progress(1), reader.job.reading)
    table = WordTable(state := RunState())
    state.publish(record.progress(1))
    before = list(table.picker.options)
    state.publish(progress)
    assert list(table.picker.options) != before
    assert (
        list(table.picker.options.values())
        == progress.now.topic_ids[reader.job.reading.used].tolist()
    )


def test_a_reading_of_another_moment_changes_nothing(reader, record):
    progress = record.progress(1)
    for other in (replace(progress, run_id=2), replace(progress, documents_seen=1)):
        assert with_reading(other, reader.job.reading) is other
    assert with_reading(progress, None) is progress
    assert with_reading(progress, begin_reading(record.model())) is progress


def test_rows_of_the_page_time_have_the_largest_topic_of_each_period():
    number = NUM_ROWS + 10
    values = np.full((NUM_ROWS, number), 0.001)
    # Each period has a topic of its own, which is small overall; the others are second in one
    # period or in none.
    values[np.arange(NUM_ROWS), np.arange(NUM_ROWS)] = 0.5
    values[:, -1] = 0.4
    tokens = np.r_[np.full(NUM_ROWS, 30.0), np.full(9, 100.0), 1000.0]
    assert choose_rows(values, tokens, None) == list(range(NUM_ROWS))
    assert choose_rows(values[:5], tokens, None)[0] == number - 1
    assert set(range(5)) < set(choose_rows(values[:5], tokens, None))
    assert 20 in choose_rows(values, tokens, 20)
    empty = np.full((2, 3), np.nan)
    assert choose_rows(np.vstack([empty, [[0.0, 0.3, 0.7]]]), np.array([0.0, 3.0, 7.0]), None) == [
        2,
        1,
    ]
