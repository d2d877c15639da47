"""Documents: counts of tokens and entries, and selections that keep the words of each document."""

import numpy as np
import pytest

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference.states import NO_DOCUMENTS

ONE = Documents(np.array([0, 2, 3]), np.array([1, 4, 0]), np.array([1, 2, 3]))
OTHER = Documents(np.array([0, 0, 2]), np.array([2, 3]), np.array([5, 6]))
BOTH = Documents(np.array([0, 2, 3, 3, 5]), np.array([1, 4, 0, 2, 3]), np.array([1, 2, 3, 5, 6]))


def as_lists(documents):
    return [part.tolist() for part in documents]


def test_documents_that_follow_others_keep_their_words():
    assert as_lists(NO_DOCUMENTS.followed_by(ONE).followed_by(OTHER)) == as_lists(BOTH)


@pytest.mark.parametrize("last", [2, 3, 4])
def test_documents_that_are_cut_out_and_joined_again_equal_the_whole(last):
    assert as_lists(BOTH.cut(0, last).followed_by(BOTH.cut(last, 4))) == as_lists(BOTH)


def test_selected_documents_keep_their_words_in_the_order_wanted():
    assert as_lists(BOTH.select(np.array([3, 2, 0]))) == [[0, 2, 2, 4], [2, 3, 1, 4], [5, 6, 1, 2]]
    assert as_lists(BOTH.select(np.zeros(0, np.int64))) == [[0], [], []]


def test_sizes_are_tokens_and_entries_are_distinct_words():
    assert (BOTH.sizes().tolist(), BOTH.num_tokens) == ([3, 3, 0, 11], 17)
    assert (BOTH.num_entries().tolist(), BOTH.rows().tolist()) == ([2, 1, 0, 2], [0, 0, 1, 3, 3])


def test_word_ids_are_replaced_by_their_positions_in_whichever_array_is_given():
    documents = Documents(np.array([0, 3]), np.array([2, 5, 9]), np.ones(3, int))
    arrays = [[2, 5, 9], [0, 2, 5, 7, 9]]
    for ids in (*arrays, *arrays):
        words = np.array(ids)
        for _ in range(2):
            assert words[documents.indexed(words).words].tolist() == [2, 5, 9]
