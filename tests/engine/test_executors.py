"""Shards of documents, and steps of an algorithm on them."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.executors import map_shards, shard


@pytest.mark.parametrize(
    ("num_documents", "num_shards"), [(1, 1), (64, 2), (256, 4), (1024, 8), (5000, 8)]
)
def test_shards_hold_all_documents_in_order_and_similar_numbers_of_entries(
    num_documents, num_shards
):
    starts = np.arange(num_documents + 1) * 3
    words = np.arange(3 * num_documents, dtype=np.int32)
    shards = shard(Documents(starts, words, np.ones_like(words)))
    assert len(shards) == num_shards
    assert np.concatenate([part.words for part in shards]).tolist() == words.tolist()
    sizes = [len(part.words) for part in shards]
    assert max(sizes) - min(sizes) <= 3
    assert (
        map_shards(lambda part: len(part.words), Documents(starts, words, np.ones_like(words)))
        == sizes
    )


def test_an_algorithm_without_a_step_or_all_of_its_parts_is_refused():
    with pytest.raises(
        ValueError, match="'hdp' needs either step, or all of expect, local and blend"
    ):
        replace(REGISTRY[0], local=None)
