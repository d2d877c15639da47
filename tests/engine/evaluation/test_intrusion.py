"""Sheets of intruders: their questions, their keys, and the files of both."""

import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.archives import write_sheets
from stickbreaker.engine.evaluation.intrusion import ReadDocuments, ask_topics, ask_words

WORDS = tuple(f"word{place}" for place in range(60))
LABELS = {10 + k: f"label {k}" for k in range(6)}


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture
def summary(rng):
    tokens = np.array([50.0, 40.0, 30.0, 20.0, 10.0, 0.1])
    topics = rng.dirichlet(np.full(60, 0.05), 6)
    return TopicSummary(10 + np.arange(6), topics, tokens / tokens.sum(), tokens)


@pytest.fixture
def read(rng):
    shares = rng.dirichlet(np.full(6, 0.6), 80)
    shares[shares < 0.02] = 0
    counts = csr_array(rng.poisson(0.5, (80, 60)))
    return ReadDocuments(
        [f"title {d}" for d in range(80)], 100 + np.arange(80), counts, csr_array(shares)
    )


def test_each_topic_in_use_has_five_top_words_and_one_word_that_is_not_among_them(summary):
    sheet = ask_words(summary, WORDS, LABELS)
    assert sorted(sheet.key["topic_id"]) == [10, 11, 12, 13, 14]
    for asked, known in zip(sheet.questions.itertuples(), sheet.key.itertuples(), strict=True):
        shown = list(asked[2:8])
        topic = summary.topics[known.topic_id - 10]
        assert shown[known.place - 1] == known.intruder
        intruder = WORDS.index(known.intruder)
        assert topic[intruder] <= np.median(topic)
        others = np.delete(summary.topics[:5], known.topic_id - 10, 0)
        assert (np.argsort(-others, axis=1)[:, :10] == intruder).any()
        top = {WORDS[word] for word in np.argsort(-topic)[:5]}
        assert set(shown) - {known.intruder} == top
        assert (asked.answer, known.label) == ("", LABELS[known.topic_id])


def test_each_document_has_its_three_largest_topics_and_one_of_the_smallest(summary, read):
    sheet = ask_topics(summary, WORDS, read)
    assert len(sheet.questions) == 50
    shares = read.shares.toarray()[:, :5]
    for asked, known in zip(sheet.questions.itertuples(), sheet.key.itertuples(), strict=True):
        row = known.doc_id - 100
        ids = [int(topic_id) for topic_id in known.topic_ids.split()]
        assert ids[known.place - 1] == known.intruder
        assert set(ids) - {known.intruder} == {
            10 + k for k in np.argsort(-shares[row], kind="stable")[:3]
        }
        assert shares[row, known.intruder - 10] <= np.sort(shares[row])[1]
        assert asked.title == f"title {row}"
        for topic_id, text in zip(ids, asked[4:8], strict=True):
            assert text.split(", ") == [
                WORDS[w] for w in np.argsort(-summary.topics[topic_id - 10])[:8]
            ]


def test_equal_seeds_give_equal_questions_and_another_seed_gives_others(summary, read):
    for ask in (
        lambda seed: ask_words(summary, WORDS, LABELS, seed),
        lambda seed: ask_topics(summary, WORDS, read, seed),
    ):
        pd.testing.assert_frame_equal(ask(1).questions, ask(1).questions)
        assert not ask(1).questions.equals(ask(2).questions)


def test_too_few_topics_give_empty_sheets(summary, read):
    few = TopicSummary(*(each[:1] for each in summary))
    assert ask_words(few, WORDS, LABELS).questions.empty
    assert ask_topics(few, WORDS, read._replace(shares=read.shares[:, :1])).key.empty


def test_sheets_are_read_from_the_zip_as_written_and_no_cell_is_a_formula(summary, read, tmp_path):
    hostile = read._replace(titles=["=1+1"] * 80)
    write_sheets(tmp_path / "sheets.zip", summary, WORDS, LABELS, hostile)
    with zipfile.ZipFile(tmp_path / "sheets.zip") as archive:
        assert sorted(archive.namelist()) == [
            "topic-intrusion-key.csv",
            "topic-intrusion.csv",
            "word-intrusion-key.csv",
            "word-intrusion.csv",
        ]
        with archive.open("word-intrusion-key.csv") as file:
            key = ask_words(summary, WORDS, LABELS).key
            pd.testing.assert_frame_equal(pd.read_csv(file), key, check_dtype=False)
        with archive.open("topic-intrusion.csv") as file:
            assert set(pd.read_csv(file)["title"]) == {"'=1+1"}
