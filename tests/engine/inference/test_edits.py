"""Edits of topics: what they do to the counts, and that learning goes on from them."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.engine.algorithm import Edit, EditKind
from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.executors import step
from stickbreaker.engine.inference.edits import EditError, draw_learned
from stickbreaker.engine.inference.evidence import choose_number
from stickbreaker.engine.inference.removals import find_path, points_of
from stickbreaker.engine.inference.states import Decided
from stickbreaker.engine.inference.topic_counts import decayed_counts
from tests.small_documents import batch_of, documents_of
from tests.small_states import distinct_state

CONFIG = hdp.HDPConfig(
    max_topics=6,
    max_slots=4,
    max_active_topics=6,
    batch_size=50,
    delay=1.0,
    precision="float64",
    duplicates="keep",
)
VOCAB_SIZE = 30


def edit(state, kind, topic_ids=(), batch=None, **parts):
    batch = batch or draw_batch()
    return hdp.ALGORITHM.edit(CONFIG, state, Edit(kind, topic_ids, **parts), batch)


def draw_batch(seed=0, corpus_size=200):
    counts = np.random.default_rng(seed).poisson(0.5, (20, VOCAB_SIZE))
    return batch_of(documents_of(counts), corpus_size)


def make_state():
    return distinct_state(CONFIG, VOCAB_SIZE)


def test_a_merge_adds_counts_tables_and_tokens_and_leaves_the_other_topics():
    before = make_state()
    after = edit(before, EditKind.MERGE, (1, 4))
    target = 1 if before.expected_tokens[1] > before.expected_tokens[4] else 4
    for name in ("tables", "expected_tokens"):
        ours, theirs = getattr(before, name), getattr(after, name)
        assert theirs[target] == ours[1] + ours[4]
        assert theirs[5 - target] == 0
    dense = before.topic_counts.dense()
    np.testing.assert_allclose(
        after.topic_counts.dense()[:, target], dense[:, 1] + dense[:, 4], rtol=1e-12
    )
    others = [0, 2, 3, 5]
    np.testing.assert_array_equal(after.topic_counts.dense()[:, others], dense[:, others])


def test_a_removed_topic_is_empty_and_no_other_topic_has_its_tokens():
    before = make_state()
    after = edit(before, EditKind.REMOVE, (2,))
    dense = before.topic_counts.dense()
    dense[:, 2] = 0
    np.testing.assert_array_equal(after.topic_counts.dense(), dense)
    np.testing.assert_allclose(after.topic_counts.totals, dense.sum(0), rtol=1e-12)
    assert after.tables[2] == after.expected_tokens[2] == 0
    assert after.tables.sum() == pytest.approx(before.tables.sum() - before.tables[2])


def test_the_halves_of_a_split_add_up_to_the_topic():
    rng = np.random.default_rng(1)
    # The documents of topic 0 use either its first or its last words.
    state = make_state()
    dense = np.zeros((VOCAB_SIZE, 6))
    dense[:20, 0] = 50.0
    dense[20:, 1:] = 10.0
    state = state._replace(topic_counts=decayed_counts(dense))
    counts = np.zeros((40, VOCAB_SIZE), int)
    counts[:20, :10] = rng.poisson(2.0, (20, 10))
    counts[20:, 10:20] = rng.poisson(2.0, (20, 10))
    after = edit(state, EditKind.SPLIT, (0,), batch_of(documents_of(counts), 400))
    halves = after.topic_counts.dense()[:, [0, 6]]
    np.testing.assert_allclose(halves.sum(1), dense[:, 0], atol=1e-9)
    first = halves[:10].sum(0)
    assert first.max() > 0.9 * first.sum()
    assert first.argmax() != halves[10:20].sum(0).argmax()
    for name in ("tables", "expected_tokens"):
        values = getattr(after, name)
        assert values[0] + values[6] == pytest.approx(getattr(state, name)[0])
    assert values[0] >= values[6]
    assert set(after.decided.kept) == {0, 6}


def test_prior_tokens_of_a_pin_stay_in_each_step():
    before = make_state()
    tokens = before.topic_counts.dense()[:, 3]
    pinned = edit(before, EditKind.PIN, (3,), weight=2.0)
    prior = np.where(tokens >= 0.5, 2.0 * tokens, 0.0)
    np.testing.assert_allclose(pinned.topic_counts.dense()[:, 3], tokens + prior, rtol=1e-12)
    # The same statistics lead to λ with the prior, and to λ without it.
    batch = draw_batch()
    expect, local, blend = hdp.ALGORITHM.parts()
    statistics = local(CONFIG, expect(CONFIG, before, batch), batch.documents, None)
    with_prior, without = (
        blend(CONFIG, state, statistics, batch)[0].topic_counts.dense()
        for state in (pinned, before)
    )
    without[:, 3] += prior
    np.testing.assert_allclose(with_prior, without, rtol=1e-10)
    # Under the hood previews the same step.
    noisy = hdp.ALGORITHM.preview(CONFIG, pinned, statistics, batch)
    target = np.zeros_like(with_prior)
    target[noisy.words] = noisy.target
    counts = pinned.topic_counts.dense()
    expected = counts + noisy.learning_rate * (target - counts)
    np.testing.assert_allclose(with_prior, expected, rtol=1e-10)


def test_a_second_pin_replaces_the_first_and_removal_ends_it():
    state = edit(make_state(), EditKind.PIN, (3,), weight=2.0)
    again = edit(state, EditKind.PIN, (3,), weight=0.0)
    assert (state.decided.kept.tolist(), again.decided.kept.tolist()) == ([3], [])
    np.testing.assert_allclose(
        again.topic_counts.dense(), make_state().topic_counts.dense(), atol=1e-12
    )
    assert again.decided.tokens.sum() == 0
    removed = edit(state, EditKind.REMOVE, (3,))
    assert not len(removed.decided.tokens)
    assert not len(removed.decided.kept)


def test_a_seed_before_the_first_step_has_its_prior_once_the_corpus_is_known():
    config = CONFIG
    state = hdp.init(config, VOCAB_SIZE, np.random.default_rng(0))
    batch = draw_batch()
    seeded = edit(state, EditKind.SEED, words=(3, 5))
    assert len(seeded.tables) == 7
    num_tokens = np.bincount(batch.documents.words, batch.documents.counts, VOCAB_SIZE)
    expected = 10.0 * num_tokens[[3, 5]]
    np.testing.assert_allclose(seeded.decided.tokens, expected)
    expectations = hdp.expect(config, seeded, batch)
    places = np.searchsorted(expectations.words, [3, 5])
    # Of the words of the seed, the topic has more than any other.
    assert (expectations.topics[places].argmax(1) == 6).all()
    state, _ = step(hdp.ALGORITHM, config, seeded, batch)
    assert (state.topic_counts.dense()[[3, 5], 6] > 0.99 * expected).all()


def test_a_seed_starts_with_the_words_of_documents_that_it_explains_best():
    state = make_state()
    dense = np.full((VOCAB_SIZE, 6), 0.1)
    dense[:10] = 20.0
    state = state._replace(topic_counts=decayed_counts(dense))
    counts = np.zeros((30, VOCAB_SIZE), int)
    counts[:20, :10] = 2
    counts[20:, 20:] = 2
    after = edit(state, EditKind.SEED, (), batch_of(documents_of(counts), 30), words=(22,))
    topic = after.topic_counts.dense()[:, 6]
    assert topic[20:].sum() > 0.9 * topic.sum()
    assert (topic[20:] > 1.0).all()


@pytest.mark.parametrize(
    ("kind", "topic_ids", "message"),
    [
        (EditKind.MERGE, (1,), "two different"),
        (EditKind.MERGE, (1, 1), "two different"),
        (EditKind.MERGE, (1, 17), "no topic 17"),
        (EditKind.REMOVE, (-1,), "no topic -1"),
        (EditKind.SPLIT, (6,), "no topic 6"),
        (EditKind.SEED, (), "at least one word"),
    ],
)
def test_an_impossible_edit_says_why(kind, topic_ids, message):
    with pytest.raises(EditError, match=message):
        edit(make_state(), kind, topic_ids)


def test_topics_can_be_edited_once_they_have_words_and_not_all_be_removed():
    state = hdp.init(CONFIG, VOCAB_SIZE, np.random.default_rng(0))
    with pytest.raises(EditError, match="learn first"):
        edit(state, EditKind.REMOVE, (0,))
    state = make_state()
    for topic_id in range(5):
        state = edit(state, EditKind.REMOVE, (topic_id,))
    with pytest.raises(EditError, match="only topic"):
        edit(state, EditKind.REMOVE, (5,))


def test_a_topic_that_is_in_no_document_does_not_split():
    empty = Batch(np.zeros(0, np.int64), documents_of(np.zeros((0, VOCAB_SIZE), int)), 200)
    with pytest.raises(EditError, match="fewer than two"):
        edit(make_state(), EditKind.SPLIT, (0,), empty)


def test_documents_set_aside_remove_no_topic_that_a_person_keeps():
    counts = make_state().topic_counts
    path = find_path(counts, np.array([1, 4]))
    assert sorted(path.topics) == [0, 2, 3, 5]
    assert points_of(6, 2) == [6, 4, 3, 2]
    assert find_path(counts, np.arange(6)).is_empty
    # All topics are alike, so that one would be enough.
    alike = decayed_counts(np.full((VOCAB_SIZE, 6), 5.0))
    state = make_state()._replace(topic_counts=alike, set_aside=draw_batch().documents)
    config = replace(CONFIG, duplicates="merge")
    infer = hdp.ALGORITHM.infer
    for kept, number in (((), 1), ((3,), 1), ((2, 3), 2)):
        chosen = choose_number(
            infer, config, state._replace(decided=Decided(kept=np.array(kept, np.int64)))
        )
        left = np.flatnonzero(chosen.topic_counts.totals > 1e-6)
        assert len(left) == number
        assert set(kept) <= set(left.tolist())


def test_an_edit_reads_documents_that_the_run_has_learned_from_and_no_other():
    counts = np.zeros((300, VOCAB_SIZE), int)
    counts[:, 0] = np.arange(1, 301)
    years = np.datetime64("1700", "Y") + np.arange(300)
    words = Vocabulary(tuple(f"word{place}" for place in range(VOCAB_SIZE)))
    corpus = Corpus("numbered", counts, words, years, tuple(map(str, range(300))))
    whole = next(corpus.batches(300))
    config = replace(CONFIG, duplicates="merge")
    learned = hdp.ALGORITHM.learned(config, make_state(), whole)
    for seen, most in ((0, 300), (120, 120), (300, 300), (600, 300)):
        sample = draw_learned(corpus, seen)
        expected = learned.documents.counts[learned.documents.counts <= most]
        np.testing.assert_array_equal(sample.documents.counts, expected)
        assert sample.corpus_size == 300
