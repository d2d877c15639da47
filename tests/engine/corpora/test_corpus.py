"""Corpora: immutability, reading order, splits over time and mini-batches."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from tests.engine.corpora.small_files import refuses


def corpus_of(num_documents, years=None, sizes=None):
    """Return a corpus with one document per year, in groups of these sizes if they are given."""
    counts = np.eye(num_documents, 3, dtype=np.int32) + 1
    years = np.arange(num_documents) if years is None else years
    dates = np.datetime64("1800", "Y") + np.asarray(years, dtype=int)
    titles = [f"Document {i}" for i in range(num_documents)]
    groups = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    names = None if sizes is None else [f"Group {i}" for i in range(len(sizes))]
    return Corpus(
        "made",
        counts,
        Vocabulary(("a", "b", "c")),
        dates,
        titles,
        groups=groups,
        group_titles=names,
    )


def test_no_array_of_a_corpus_can_be_written(tiny_corpus):
    counts, documents = tiny_corpus.counts, tiny_corpus.documents()
    of_documents = (tiny_corpus.dates, tiny_corpus.doc_ids, tiny_corpus.groups)
    for array in (counts.data, counts.indices, counts.indptr, *of_documents, *documents):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        tiny_corpus.name = "other"


def test_a_corpus_does_not_change_with_the_arrays_it_was_built_from():
    counts = csr_array(np.eye(2, dtype=np.int32))
    dates = np.array(["1800", "1801"], "datetime64[Y]")
    corpus = Corpus("made", counts, Vocabulary(("a", "b")), dates, ["x", "y"])
    counts.data[:] = 7
    dates[:] = np.datetime64("2000")
    assert corpus.num_tokens == 2
    assert corpus.dates.astype(str).tolist() == ["1800", "1801"]


def test_repeated_entries_are_added_and_zeros_are_dropped():
    counts = csr_array(([1, 2, 0], [1, 1, 0], [0, 3]), shape=(1, 2))
    documents = Corpus(
        "made", counts, Vocabulary(("a", "b")), np.array(["1800"], "datetime64[Y]"), ["x"]
    ).documents()
    assert (documents.words.tolist(), documents.counts.tolist()) == ([1], [3])


def test_documents_have_the_types_that_kernels_are_compiled_for(state_of_the_union):
    batch = next(state_of_the_union.batches(7, start=5))
    types = [array.dtype.name for array in (batch.doc_ids, *batch.documents)]
    assert types == ["int64", "int64", "int32", "int32"]


@pytest.mark.parametrize("what", ["dates", "titles", "doc_ids", "groups", "words"])
def test_fields_of_different_lengths_are_refused(tiny_corpus, what):
    parts = {
        "dates": tiny_corpus.dates,
        "titles": tiny_corpus.titles,
        "doc_ids": tiny_corpus.doc_ids,
    }
    parts |= {"groups": tiny_corpus.groups, "group_titles": tiny_corpus.group_titles}
    words = tiny_corpus.vocabulary.words[what == "words" :]
    parts |= {what: parts[what][1:]} if what in parts else {}
    with refuses(f"tiny: .* {what}"):
        Corpus("tiny", tiny_corpus.counts, Vocabulary(words), **parts)


def test_negative_counts_are_refused():
    with refuses("negative"):
        Corpus("made", [[-1]], Vocabulary(("a",)), np.array(["1800"], "datetime64[Y]"), ["x"])


def test_the_error_for_a_missing_word_lists_similar_words(tiny_corpus):
    assert tiny_corpus.vocabulary.index("peace") == 3
    with pytest.raises(KeyError, match="'peaces' .similar words: peace"):
        tiny_corpus.vocabulary.index("peaces")


def test_a_vocabulary_with_a_repeated_word_is_refused():
    with refuses("'a' more than once"):
        Vocabulary(("a", "b", "a"))


def test_chronological_order_keeps_the_file_order_of_equal_dates():
    corpus = corpus_of(4, years=[3, 1, 3, 1])
    assert corpus.order("chronological").doc_ids.tolist() == [1, 3, 0, 2]
    assert corpus.order("shuffled", 5).order("chronological").doc_ids.tolist() == [1, 3, 0, 2]


def test_without_dates_the_chronological_order_is_the_file_order(tiny_corpus):
    undated = Corpus(
        "undated",
        tiny_corpus.counts,
        tiny_corpus.vocabulary,
        np.full(12, "NaT", "datetime64[D]"),
        tiny_corpus.titles,
    )
    assert not undated.has_dates
    assert undated.order("shuffled", 1).order("chronological").titles == tiny_corpus.titles


def test_shuffling_depends_on_its_seed_and_moves_all_fields_of_a_document(tiny_corpus):
    one, same, other = (tiny_corpus.order("shuffled", seed) for seed in (1, 1, 2))
    assert one.doc_ids.tolist() == same.doc_ids.tolist() != other.doc_ids.tolist()
    assert [tiny_corpus.titles[i] for i in one.doc_ids] == list(one.titles)
    assert (tiny_corpus.counts.toarray()[one.doc_ids] == one.counts.toarray()).all()
    assert (tiny_corpus.dates[one.doc_ids] == one.dates).all()


def test_the_error_for_an_unknown_order_lists_the_orders(tiny_corpus):
    with refuses("chronological, shuffled"):
        tiny_corpus.order("random")


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 5))
def test_a_split_is_a_partition_with_at_least_half_of_the_documents_to_train_on(
    num_documents, num_test, seed
):
    train, test = corpus_of(num_documents).split(num_test, seed)
    assert test.num_documents == min(num_test, num_documents // 2)
    assert sorted([*train.doc_ids, *test.doc_ids]) == list(range(num_documents))


def test_held_out_documents_are_spread_over_time(state_of_the_union):
    train, test = state_of_the_union.split(1000, seed=3)
    stretch = np.searchsorted(np.arange(1000) * 10384 // 1000, test.doc_ids, side="right")
    assert (train.num_documents, test.num_documents) == (9384, 1000)
    assert np.unique(stretch).size == 1000


def test_held_out_documents_do_not_depend_on_the_reading_order(tiny_corpus):
    held_out = tiny_corpus.split(4, seed=1)[1]
    same = tiny_corpus.order("shuffled", 9).split(4, seed=1)[1]
    assert sorted(held_out.doc_ids) == sorted(same.doc_ids)


SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=30)


@given(SIZES, st.integers(0, 60), st.integers(0, 5))
def test_no_group_is_in_both_parts_of_a_split(sizes, num_test, seed):
    corpus = corpus_of(sum(sizes), sizes=sizes)
    train, test = corpus.split(num_test, seed, by="group")
    assert not set(train.groups) & set(test.groups)
    assert sorted([*train.doc_ids, *test.doc_ids]) == list(range(sum(sizes)))
    assert len(set(test.groups)) <= len(sizes) // 2
    shuffled = corpus.order("shuffled", seed + 1)
    assert set(shuffled.split(num_test, seed, by="group")[1].doc_ids) == set(test.doc_ids)


@given(st.integers(0, 40), st.integers(0, 60), st.integers(0, 5))
def test_groups_of_one_document_are_split_like_documents(num_documents, num_test, seed):
    corpus = corpus_of(num_documents)
    by_group, by_document = (corpus.split(num_test, seed, by)[1] for by in ("group", "document"))
    assert by_group.doc_ids.tolist() == by_document.doc_ids.tolist()


def test_held_out_addresses_are_spread_over_time_and_have_about_the_requested_number_of_passages(
    state_of_the_union,
):
    of_seeds = [state_of_the_union.split(1000, seed, by="group")[1] for seed in range(5)]
    for test in of_seeds:
        stretches = np.arange(24) * 233 // 23
        assert np.searchsorted(stretches, np.unique(test.groups), side="right").tolist() == list(
            range(1, 24)
        )
        # The last draw can miss by no more than the longest address is long.
        assert abs(test.num_documents - 1000) < np.bincount(state_of_the_union.groups).max()
    assert len({tuple(test.doc_ids) for test in of_seeds}) == 5


def test_a_split_uses_the_default_of_the_corpus(state_of_the_union):
    passages, addresses = state_of_the_union, replace(state_of_the_union, split_by="group")
    assert (
        passages.split(50)[1].doc_ids.tolist()
        == addresses.split(50, by="document")[1].doc_ids.tolist()
    )
    assert (
        addresses.split(50)[1].doc_ids.tolist()
        == passages.split(50, by="group")[1].doc_ids.tolist()
    )
    assert addresses.split(50)[0].split_by == "group"
    with refuses("'address': choose one of document, group"):
        passages.split(50, by="address")


def test_merging_groups_adds_the_words_of_a_group_and_keeps_its_first_date():
    corpus = corpus_of(4, years=[5, 7, 7, 9], sizes=[1, 3]).order("shuffled", 3)
    whole = corpus.merge_groups("whole")
    assert whole.counts.toarray().tolist() == [[2, 1, 1], [3, 4, 4]]
    assert whole.titles == ("Group 0", "Group 1")
    assert whole.dates.astype(str).tolist() == ["1805", "1807"]


def test_the_error_for_wrong_dates_shows_a_valid_date(tiny_corpus):
    with refuses("cannot read the dates .* Write 1863-12-08"):
        replace(tiny_corpus, dates=["hello"] * tiny_corpus.num_documents)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"dates": np.arange(1850, 1862)},
            "tiny: the dates are numbers. Give datetime64 values, or texts such as",
        ),
        (
            {"doc_ids": list("abcdefghijkl")},
            "tiny: doc_ids are not whole numbers. Give one whole number per document",
        ),
        ({"doc_ids": np.arange(12) + 0.5}, "doc_ids are not whole numbers"),
        ({"groups": np.full(12, np.nan), "group_titles": ("a",)}, "groups are not whole numbers"),
    ],
)
def test_dates_and_ids_of_a_wrong_kind_are_refused(tiny_corpus, given, message):
    with refuses(message):
        replace(tiny_corpus, **{"name": "tiny", **given})


def test_a_group_without_a_title_is_refused(tiny_corpus):
    with refuses("a group has no title"):
        replace(tiny_corpus, group_titles=tiny_corpus.titles[:-1])
    with refuses("a group has no title"):
        replace(tiny_corpus, group_titles=None)


@pytest.mark.parametrize("number", [-1, 0.2, "10", float("nan"), None])
def test_the_number_of_held_out_documents_must_be_a_whole_number(tiny_corpus, number):
    with refuses("0 or more"):
        tiny_corpus.split(number, seed=0)


@given(st.integers(1, 30), st.integers(0, 25), st.integers(0, 25))
def test_batches_contain_the_documents_from_the_given_start(size, num_documents, start):
    corpus = corpus_of(num_documents)
    batches = list(corpus.batches(size, start))
    assert [doc_id for batch in batches for doc_id in batch.doc_ids] == list(
        range(start, num_documents)
    )
    assert all(len(batch.doc_ids) == size for batch in batches[:-1])
    for batch in batches:
        documents = batch.documents
        rebuilt = csr_array(
            (documents.counts, documents.words, documents.starts), shape=(len(batch.doc_ids), 3)
        )
        assert (rebuilt.toarray() == corpus.counts.toarray()[batch.doc_ids]).all()
        assert batch.corpus_size == num_documents


def test_the_batch_size_must_be_at_least_one(tiny_corpus):
    with refuses("1 or more"):
        next(tiny_corpus.batches(0))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([True], "the mask has 1 values for 12 documents"),
        ([1.5], "rows must be a list of whole numbers, or a mask"),
        ([[1, 2]], "rows must be a list of whole numbers, or a mask"),
        ([3, 12], "position 12 is out of range for 12 documents. Positions start at 0"),
    ],
)
def test_wrong_positions_and_masks_are_refused(tiny_corpus, rows, message):
    with refuses(message):
        tiny_corpus.select(rows)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[0.5, 1.0]], "a count is 0.5. Use whole numbers up to 2147483647"),
        ([[np.nan, 1.0]], "a count is nan"),
        ([[2**32 + 1, 1]], "a count is 4294967297"),
        ([[-1, 1]], "a count is negative"),
        (
            csr_array(([2**31 - 1, 2**31 - 1], [0, 0], [0, 2]), shape=(1, 2), dtype=np.int32),
            "a count is 4294967294",
        ),
        (csr_array((np.array([1]), np.array([0]), np.array([0, 1])), shape=(1, 2)), None),
    ],
)
def test_wrong_counts_are_refused_and_never_changed(counts, message):
    if message is None:
        # SciPy does not check this index.
        counts.indices[0] = 5
        message = "not a valid CSR matrix"
    with refuses(message):
        Corpus("made", counts, Vocabulary(("a", "b")), np.array(["1800"], "datetime64[Y]"), ["x"])
