"""Lazily decayed counts against counts that are decayed at each step."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickbreaker.engine.inference.topic_counts import (
    SMALLEST_SCALE,
    DecayedCounts,
    Merging,
    Removal,
    decayed_counts,
)
from stickbreaker.engine.kernels.counts import DocumentCounts, FactoredCounts
from stickbreaker.engine.parallel import threads
from tests import naive

RATES = st.lists(st.sampled_from([0.0, 1e-4, 0.08, 0.5, 0.999, 1.0]), max_size=60)


def blend(counts, rate, words, targets):
    """Blend with targets (U, K), in two parts."""
    num_topics = targets.shape[1]

    def part(first, last):
        ids = np.tile(np.arange(num_topics, dtype=np.int32), last - first)
        starts = np.arange(last - first + 1)
        places = np.arange(first, last, dtype=np.int32)
        return DocumentCounts(
            starts, places, starts * num_topics, ids, targets[first:last].ravel() / 4
        )

    half = len(words) // 2
    return counts.blend(
        rate, words, (part(0, half), part(half, len(words))), 4.0, targets.sum(0, dtype=float) / 4
    )


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-10)])
@settings(deadline=None, derandomize=True, max_examples=40)
@given(rates=RATES, seed=st.integers(0, 1000))
def test_lazy_equals_eager_after_any_sequence_of_calls(precision, tolerance, rates, seed):
    rng = np.random.default_rng(seed)
    dense = rng.gamma(1.0, 1.0, (9, 4)).astype(precision)
    lazy, eager = decayed_counts(dense), dense.astype(float)
    for rate in rates:
        words = np.flatnonzero(rng.random(9) < 0.4)
        targets = rng.gamma(0.3, 50.0, (len(words), 4)).astype(precision)
        lazy = blend(lazy, rate, words, targets)
        eager *= 1.0 - rate
        eager[words] += rate * targets
        assert SMALLEST_SCALE <= lazy.scale <= 1.0
    smallest = np.finfo(np.float32).tiny
    np.testing.assert_allclose(lazy.dense(), eager, rtol=tolerance, atol=smallest)
    np.testing.assert_allclose(
        lazy.rows(np.array([7, 2])), eager[[7, 2]], rtol=tolerance, atol=smallest
    )
    np.testing.assert_allclose(lazy.totals, eager.sum(0), rtol=tolerance, atol=smallest)
    assert lazy.stored.dtype == precision


@pytest.mark.parametrize(("precision", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("num_topics", [1, 63, 64, 65, 100, 150])
def test_factored_counts_give_the_same_sums_as_their_products(num_topics, precision, tolerance):
    rng = np.random.default_rng(num_topics)
    dense, words = rng.gamma(1.0, 1.0, (9, num_topics)).astype(precision), np.array([1, 2, 5, 8])
    shape = {"scales": 10, "weights": (5, num_topics), "topics": (4, num_topics)}
    factors = {name: rng.random(size).astype(precision) for name, size in shape.items()}
    places = rng.integers(0, 4, 10).astype(np.int32)
    counts = FactoredCounts(np.array([0, 2, 2, 5, 9, 10]), places, **factors)
    added = decayed_counts(dense).blend(0.3, words, (counts,), 4.0, np.ones(num_topics))
    expected = 0.7 * dense.astype(float)
    expected[words] += 1.2 * naive.gather_counts([counts], 4, num_topics)
    np.testing.assert_allclose(added.dense(), expected, rtol=tolerance)


def test_counts_can_be_given_in_fortran_order():
    dense = np.arange(12.0).reshape(3, 4)
    assert (
        decayed_counts(np.asfortranarray(dense)).rows(np.array([2, 0])).tolist()
        == dense[[2, 0]].tolist()
    )


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_a_blend_does_not_change_its_arguments(rate):
    counts, targets, words = decayed_counts(np.ones((3, 2))), np.full((1, 2), 4.0), np.array([1])
    arguments = (targets, words, *counts.to_arrays().values())
    before = [array.tobytes() for array in arguments]
    blended = blend(counts, rate, words, targets)
    assert [array.tobytes() for array in arguments] == before
    assert [array.tobytes() for array in counts.to_arrays().values()] == before[2:]
    np.testing.assert_allclose(blended.dense()[1], 1 + 3 * rate)


def test_ten_thousand_steps_keep_lazy_single_precision_within_1e_5_of_eager():
    rng = np.random.default_rng(0)
    lazy, eager = decayed_counts(np.ones((5, 3), np.float32)), np.ones((5, 3))
    for step in range(10_000):
        targets = rng.gamma(1.0, 1.0, (2, 3)).astype(np.float32)
        words, rate = rng.choice(5, 2, replace=False), float((64 + step) ** -0.6)
        lazy = blend(lazy, rate, words, targets)
        eager *= 1 - rate
        eager[words] += rate * targets
    np.testing.assert_allclose(lazy.dense(), eager, rtol=1e-5)


def test_blends_do_not_change_any_older_value():
    rng = np.random.default_rng(2)
    values, dense = [decayed_counts(np.ones((40, 3)))], [np.ones((40, 3))]
    for _ in range(30):
        words = rng.choice(40, 7, replace=False)
        values.append(blend(values[-1], 0.1, words, rng.random((7, 3))))
        dense.append(values[-1].dense())
    branches = [
        blend(values[5], 0.5, np.array([1, 2]), np.full((2, 3), each)) for each in (1.0, 7.0)
    ]
    for value, then in zip(values, dense, strict=True):
        np.testing.assert_array_equal(value.dense(), then)
    for branch, each in zip(branches, (1.0, 7.0), strict=True):
        np.testing.assert_allclose(branch.rows(np.array([2])), 0.5 * dense[5][[2]] + 0.5 * each)


def test_forgotten_words_have_the_row_of_another_word_and_no_older_value_changes():
    rng = np.random.default_rng(0)
    values, denses = [decayed_counts(rng.random((40, 3)))], []
    for step in range(60):
        denses.append(values[-1].dense())
        words = np.sort(rng.choice(39, 4, replace=False))
        if step % 2:
            values.append(values[-1].forget(words, like=39))
            expected = denses[-1].copy()
            expected[words] = expected[39]
            np.testing.assert_allclose(values[-1].dense(), expected, rtol=1e-12)
            np.testing.assert_allclose(values[-1].totals, expected.sum(0), rtol=1e-9)
        else:
            values.append(blend(values[-1], 0.1, words, rng.random((4, 3))))
    for value, dense in zip(values, denses, strict=False):
        np.testing.assert_array_equal(value.dense(), dense)


def test_a_pickled_value_is_the_same_bit_for_bit():
    value = blend(
        decayed_counts(np.ones((4, 2), np.float32)), 0.1, np.array([2]), np.ones((1, 2), np.float32)
    )
    again = pickle.loads(pickle.dumps(value))
    assert (again.scale, again.stored.tobytes()) == (value.scale, value.stored.tobytes())


def test_memory_does_not_grow_with_the_number_of_blends_and_a_value_that_is_kept_does_not_change():
    rng, dense, targets = np.random.default_rng(0), np.ones((2_000, 50)), np.ones((100, 50))
    value = blend(decayed_counts(dense), 0.1, np.arange(100), targets)
    tracemalloc.start()
    try:
        for step in range(200):
            value = blend(value, 0.1, np.sort(rng.choice(2_000, 100, replace=False)), targets)
            if step == 100:
                kept, then = value, value.dense()
        # Without what the compiler and other threads hold.
        filters = [
            tracemalloc.Filter(True, f"*/{name}.py") for name in ("topic_counts", "word_rows")
        ]
        held = tracemalloc.take_snapshot().filter_traces(filters)
        used = sum(each.size for each in held.statistics("filename"))
    finally:
        tracemalloc.stop()
    # This value and the kept one with their free rows, and the copy: three times 0.8 MB. 200 times
    # 100 rows are 8 MB.
    assert used < 5 * dense.nbytes
    np.testing.assert_array_equal(kept.dense(), then)


def test_merging_nothing_changes_nothing():
    counts = decayed_counts(np.ones((5, 2)))
    assert counts.merge(Merging(np.arange(2))) is counts


def test_the_tokens_of_a_removed_topic_go_word_by_word_to_the_topics_of_its_mixture():
    dense = np.array([[4.0, 0.0, 3.0], [0.0, 6.0, 2.0], [2.0, 2.0, 8.0]])
    counts = decayed_counts(dense)
    removal = Removal(np.array([2]), np.array([[0, 1]]), np.array([[0.25, 0.75]]))
    left = counts.remove(removal)
    of_first = 0.25 * dense[:, 0] / 6 / (0.25 * dense[:, 0] / 6 + 0.75 * dense[:, 1] / 8)
    expected = np.column_stack(
        [
            dense[:, 0] + of_first * dense[:, 2],
            dense[:, 1] + (1 - of_first) * dense[:, 2],
            0 * of_first,
        ]
    )
    # Each receiver counts as if it had a millionth of a token more.
    np.testing.assert_allclose(left.dense(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(left.totals, expected.sum(0), rtol=1e-5)
    np.testing.assert_array_equal(counts.dense(), dense)
    assert counts.remove(removal._replace(topics=removal.topics[:0])) is counts


def share_out_by_weights(dense, removal):
    """λ - η (V, K) after a removal whose tokens follow the weights of its mixtures in all words."""
    return removal.share_out(dense.T).T


def test_a_removal_for_some_words_shares_out_the_tokens_of_others_by_the_weights_of_the_mixtures():
    rng, words = np.random.default_rng(0), np.array([1, 4, 5])
    others = np.setdiff1d(np.arange(9), words)
    first = Removal(
        np.array([2, 3]), np.array([[0, 1], [1, 0]]), np.array([[0.25, 0.75], [1.0, 0.0]])
    )
    second = Removal(np.array([0]), np.array([[1, 4]]), np.array([[0.5, 0.5]]))
    counts = decayed_counts(rng.gamma(1.0, size=(9, 5)))
    dense = counts.dense()
    for removal in (first, second):
        before, whole = counts, counts.remove(removal)
        counts = counts.remove(removal, words)
        expected = share_out_by_weights(dense, removal)
        expected[words] = whole.rows(words)
        np.testing.assert_allclose(counts.dense(), expected, rtol=1e-12)
        np.testing.assert_allclose(counts.totals, expected.sum(0), rtol=1e-12)
        np.testing.assert_allclose(counts.rows(others[::-1]), expected[others[::-1]], rtol=1e-12)
        np.testing.assert_allclose(counts.word_totals(), dense.sum(1), rtol=1e-12)
        np.testing.assert_allclose(counts.only(others).rows(others), expected[others], rtol=1e-12)
        np.testing.assert_allclose(counts.times(3.0).dense(), 3.0 * expected, rtol=1e-12)
        np.testing.assert_allclose(
            counts.forget(np.array([0]), like=2).dense()[0], expected[2], rtol=1e-12
        )
        np.testing.assert_array_equal(before.dense(), dense)
        changed = np.array([0, 4, 7])
        counts, expected = blend(counts, 0.1, changed, np.ones((3, 5))), 0.9 * expected
        expected[changed] += 0.1
        dense = counts.dense()
        np.testing.assert_allclose(dense, expected, rtol=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_restored_value_continues_with_the_same_bits_after_a_removal(precision):
    rng = np.random.default_rng(0)
    removal = Removal(np.array([2]), np.array([[0, 1]]), np.array([[0.3, 0.7]]))
    counts = decayed_counts(rng.gamma(1.0, size=(50, 40)).astype(precision)).remove(
        removal, np.arange(5)
    )
    for _ in range(20):
        words = np.sort(rng.choice(50, 4, replace=False))
        targets = rng.random((4, 40)).astype(precision)
        restored = blend(DecayedCounts.from_arrays(counts.to_arrays()), 0.1, words, targets)
        counts = blend(counts, 0.1, words, targets)
        for one, other in (
            (counts, restored),
            (counts.remove(removal, words), restored.remove(removal, words)),
        ):
            assert one.stored.tobytes() == other.stored.tobytes()
            assert one.totals.tobytes() == other.totals.tobytes()
            assert one.word_totals().tobytes() == other.word_totals().tobytes()
            factors = np.ones(40)
            assert (
                one.rows(words, 0.1, factors).tobytes() == other.rows(words, 0.1, factors).tobytes()
            )


def test_rows_of_some_words_are_removed_and_kept_as_those_of_all_words():
    rng, words = np.random.default_rng(0), np.array([1, 4, 5, 8])
    counts = blend(
        decayed_counts(rng.gamma(1.0, size=(9, 3))), 0.1, np.array([1, 4]), np.ones((2, 3))
    )
    removal = Removal(np.array([2]), np.array([[0, 1]]), np.array([[0.25, 0.75]]))
    some = counts.only(words)
    assert some.held.tolist() == words.tolist()
    np.testing.assert_array_equal(some.totals, counts.totals)
    for whole, part in (
        (counts, some),
        (counts.remove(removal), some.remove(removal)),
        (counts.keep(np.array([2, 0])), some.keep(np.array([2, 0]))),
    ):
        np.testing.assert_array_equal(part.rows(words[::-1]), whole.rows(words[::-1]))
        assert part.totals.sum() == pytest.approx(whole.totals.sum(), rel=1e-6)
    # What other words have of a removed topic is shared out by the weights of its mixture.
    others = counts.totals[2] - counts.rows(words)[:, 2].sum()
    held = (
        some.remove(removal).rows(words).sum(0)[:2]
        + counts.rows(np.array([0, 2, 3, 6, 7])).sum(0)[:2]
    )
    np.testing.assert_allclose(
        some.remove(removal).totals[:2], held + others * np.array([0.25, 0.75]), rtol=1e-6
    )


def test_the_tokens_of_words_are_the_sums_of_their_rows():
    counts = blend(decayed_counts(np.ones((5, 2))), 0.25, np.array([3]), np.array([[8.0, 4.0]]))
    np.testing.assert_allclose(counts.word_totals(), [1.5, 1.5, 1.5, 4.5, 1.5], rtol=1e-12)
    np.testing.assert_allclose(
        counts.times(2.0).word_totals(), [3.0, 3.0, 3.0, 9.0, 3.0], rtol=1e-12
    )


def test_counts_times_a_factor_and_the_counts_they_come_from_do_not_change_each_other():
    rng, words = np.random.default_rng(0), np.array([0, 3])
    start = decayed_counts(rng.random((20, 3)))
    dense, tripled = start.dense(), start.times(3.0)
    changed = tripled
    for _ in range(5):
        start, changed = (blend(each, 0.5, words, np.ones((2, 3))) for each in (start, changed))
    np.testing.assert_array_equal(tripled.dense(), 3.0 * dense)
    np.testing.assert_array_equal(tripled.rows(words), 3.0 * dense[words])
    np.testing.assert_allclose(start.dense()[1], dense[1] / 32)
    np.testing.assert_allclose(
        changed.dense()[[0, 1]], 3.0 * dense[[0, 1]] / 32 + [[31 / 32], [0.0]]
    )
    np.testing.assert_allclose(tripled.times(2.0).totals, 6.0 * dense.sum(0))


def test_a_removal_gives_the_same_bits_for_any_number_of_threads(monkeypatch):
    counts = decayed_counts(np.random.default_rng(0).gamma(0.3, size=(1_001, 5)).astype(np.float32))
    removal = Removal(np.array([2]), np.array([[0, 1]]), np.array([[0.25, 0.75]]))
    totals = []
    for num_threads in (1, 2, 3, 5):
        monkeypatch.setattr(threads, "count_cores", lambda number=num_threads: number)
        totals.append(counts.remove(removal).totals.tobytes())
    assert len(set(totals)) == 1
