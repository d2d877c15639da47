"""Which words of documents are held out, and which documents of a split are kept."""

import numpy as np
import pytest

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.inference.held_words import (
    split_halves,
    split_tokens,
    split_words,
)
from tests import naive
from tests.small_documents import draw_documents


def test_a_tenth_of_the_distinct_words_of_each_document_and_at_least_one_is_held_out():
    documents = draw_documents()
    whole = [
        dict(zip(w.tolist(), c, strict=True)) for w, c in naive.split_rows(documents) if len(w) >= 2
    ]
    observed, held_out = naive.split_parts(split_words(documents, np.arange(40), seed=3))
    assert len(whole) == len(observed) == 38
    for full, seen, unseen in zip(whole, observed, held_out, strict=True):
        assert not seen.keys() & unseen.keys()
        assert seen | unseen == full
        assert len(unseen) == max(1, round(0.1 * len(full)))


def split_mix(*numbers):
    """SplitMix64's output function on each of the numbers in turn."""
    state, mask = 0, 2**64 - 1
    for number in numbers:
        state = ((state ^ number) + 0x9E3779B97F4A7C15) & mask
        state = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ state >> 27) * 0x94D049BB133111EB) & mask
        state ^= state >> 31
    return state


def test_the_held_out_words_have_the_lowest_keys():
    documents, doc_ids, seed = draw_documents(), np.arange(40) + 7, 2**32 - 1
    expected = []
    for doc_id, (words, _) in zip(doc_ids.tolist(), naive.split_rows(documents), strict=True):
        order = sorted(
            range(len(words)), key=lambda place, doc_id=doc_id: split_mix(seed, doc_id, place)
        )
        expected.append({words[place] for place in order[: max(1, round(0.1 * len(words)))]})
    _, held_out = naive.split_parts(split_words(documents, doc_ids, seed))
    assert [set(held) for held in held_out] == expected[2:]


def test_a_tenth_of_the_tokens_of_each_document_is_held_out_and_no_token_is_lost():
    documents = draw_documents()
    pairs = [(w, c) for w, c in naive.split_rows(documents) if c.sum() >= 2]
    observed, held_out = naive.split_parts(split_tokens(documents, np.arange(40), seed=3))
    assert len(pairs) == len(observed)
    for (words, counts), seen, unseen in zip(pairs, observed, held_out, strict=True):
        assert [seen.get(w, 0) + unseen.get(w, 0) for w in words.tolist()] == counts.tolist()
        assert sum(unseen.values()) == max(1, round(0.1 * counts.sum()))


@pytest.mark.parametrize("split_documents", [split_words, split_tokens])
def test_a_split_depends_only_on_the_seed_and_the_document_id(split_documents):
    documents, doc_ids = draw_documents(), np.arange(40) + 7
    one, same, other = (split_documents(documents, doc_ids, seed) for seed in (1, 1, 2))
    assert naive.split_parts(one) == naive.split_parts(same) != naive.split_parts(other)
    first = documents.starts[20]
    rest = Documents(
        documents.starts[20:] - first, documents.words[first:], documents.counts[first:]
    )
    assert (
        naive.split_parts(split_documents(rest, doc_ids[20:], 1))[1]
        == naive.split_parts(one)[1][-20:]
    )


def test_each_half_of_the_words_of_a_document_is_predicted_from_the_other():
    documents = Documents(
        np.array([0, 4, 5, 8]),
        np.array([0, 2, 5, 7, 1, 0, 1, 2]),
        np.array([3, 1, 1, 2, 9, 1, 2, 4]),
    )
    split = split_halves(documents, np.array([4, 8, 9]), 0)
    # The second document has only one distinct word.
    assert split.scored.tolist() == [0, 2, 0, 2]
    observed = np.split(split.observed.words, split.observed.starts[1:-1])
    held = [split.words[split.rows == row] for row in range(4)]
    for row, document in enumerate([[0, 2, 5, 7], [0, 1, 2]] * 2):
        assert sorted([*observed[row], *held[row]]) == document
        np.testing.assert_array_equal(observed[row], held[(row + 2) % 4])
    assert split.num_tokens == 7 + 7
