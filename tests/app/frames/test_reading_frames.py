"""What is found in a reading of the tiny corpus: words, documents, places of topics and periods."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.frames.reading_frames import (
    find_documents,
    holder_rows,
    map_frame,
    nearest_rows,
    topic_lines,
    topic_tree,
    typical_rows,
    word_rows,
    word_topics,
)


def title(topic_id):
    return f"topic {topic_id}"


def test_words_neighbours_and_holders_of_topics_are_in_order(job):
    reading = job.reading
    position = reading.used[0]
    by_probability = word_rows(reading, position, 1.0)
    likeliest = np.argsort(-reading.summary.topics[position], kind="stable")
    assert [row["key"] for row in by_probability[:5]] == likeliest[:5].tolist()
    near = [float(row["weight"]) for row in nearest_rows(reading, position, title)]
    assert near == sorted(near)
    held = [row["share"] for row in holder_rows(reading, int(likeliest[0]), title)]
    assert held == sorted(held, reverse=True)
    assert sum(held) <= 1 + 1e-6


def test_typical_documents_hold_their_topic_and_have_the_stated_order(job):
    reading = job.reading
    rows = typical_rows(reading, reading.used[0], None)
    for row in rows:
        assert row["share"] == pytest.approx(reading.doc_shares[row["key"], reading.used[0]])
        assert row["share"] > 0
    order = [(row["share"] < 0.5, -row["share"] * reading.doc_tokens[row["key"]]) for row in rows]
    assert order == sorted(order)


def test_documents_are_found_by_title_by_word_by_topic_and_by_span(job):
    reading, corpus = job.reading, job.reading.corpus
    assert len(find_documents(reading, "", None, None, "date")) == corpus.num_documents
    assert find_documents(reading, "onerror", None, None, "date")[0] == 0
    word = corpus.vocabulary[3]
    found = find_documents(reading, word, None, None, "date")
    assert set(found) >= set(np.flatnonzero(corpus.counts[:, [3]].toarray().ravel()))
    position = reading.used[0]
    shares = reading.doc_shares[:, [position]].toarray().ravel()
    by_share = find_documents(reading, "", (position, 0.0), None, "share")
    assert shares[by_share].tolist() == sorted(shares[shares > 0], reverse=True)
    by_share = find_documents(reading, "", (position, 0.4), None, "share")
    assert shares[by_share].tolist() == sorted(shares[shares >= 0.4], reverse=True)
    days = corpus.dates.astype("datetime64[D]")
    span = (days.min(), days.min())
    assert (
        find_documents(reading, "", None, span, "date").tolist()
        == np.flatnonzero(days == days.min()).tolist()
    )


def test_every_word_of_a_document_has_the_topic_that_explains_it_best(job):
    reading = job.reading
    counts = reading.corpus.counts[[0]]
    words = word_topics(reading, 0)
    assert sum(count for _, count, _ in words) == counts.sum()
    shares = reading.doc_shares[[0]].toarray().ravel()
    for word, _, topic_id in words:
        weights = shares * reading.summary.topics[:, reading.corpus.vocabulary.index(word)]
        assert weights[reading.position(topic_id)] == weights.max()


def test_a_map_is_finite_and_does_not_move_when_nothing_changes(job):
    first = map_frame(job.reading, title, None)
    places = first[["x", "y"]].to_numpy()
    again = map_frame(job.reading, title, (first["topic_id"].to_numpy(), places))
    assert np.isfinite(places).all()
    np.testing.assert_allclose(again[["x", "y"]], places, atol=1e-6)


def test_the_tree_joins_topics_at_the_mean_of_their_distances_and_keeps_each_topic_once(job):
    reading = job.reading
    tree = topic_tree(reading, str)
    assert sorted(tree.leaves["topic_id"]) == sorted(
        reading.summary.topic_ids[reading.used].tolist()
    )
    distances = np.sqrt(np.maximum(reading.divergences, 0))
    off_diagonal = distances[~np.eye(len(distances), dtype=bool)]
    heights = sorted(max(xs) for xs in tree.xs)
    assert len(heights) == len(reading.used) - 1
    assert heights[0] == pytest.approx(off_diagonal.min())
    assert heights[-1] <= off_diagonal.max() + 1e-12


def test_topics_without_dates_have_no_lines_through_time(job, progress):
    undated = replace(
        job.reading.corpus, dates=np.full(job.reading.corpus.num_documents, "NaT", "datetime64[D]")
    )
    reading = replace(job.reading, model=replace(job.reading.model, corpus=undated))
    assert topic_lines(reading, progress.topic_title) is None
