"""Merges and splits of topics that documents set aside would support, each with its evidence.

    gain = Σ_d (log p(words of d | topics after) - log p(words of d | topics before)) / tokens

over the documents set aside, as in engine/inference/evidence.py; its standard error is that of the
documents' differences. No step learned from these documents, and no split is fitted to them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from stickbreaker.engine.algorithm import Edit, EditKind, Proposal
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.inference.candidates import Steps
from stickbreaker.engine.inference.edits import EditError, edit_topics
from stickbreaker.engine.inference.evidence import score_documents, split_set_aside
from stickbreaker.engine.inference.held_words import Split
from stickbreaker.engine.inference.removals import find_path
from stickbreaker.engine.inference.states import OnlineHDPState

# The closest pairs that are tried as merges, and the topics with the most tokens in the documents
# set aside that are tried as splits.
MOST_MERGES = 5
MOST_SPLITS = 10


def list_tried(steps: Steps, config: Any, state: OnlineHDPState) -> list[Edit]:
    """The merges and splits that are tried."""
    path = find_path(state.topic_counts)
    pairs = np.stack([path.parents[:, 0], path.topics], 1)
    pairs = pairs[(state.expected_tokens[pairs] >= 1.0).all(1)]
    merges = [Edit(EditKind.MERGE, (large, small)) for large, small in pairs[:MOST_MERGES].tolist()]
    # The weights of the model count recent documents more than early ones.
    documents = state.set_aside
    tokens = documents.sizes() @ steps.infer(config, state, documents)
    tokens[state.expected_tokens < 1.0] = 0.0
    largest = np.argsort(-tokens, kind="stable")[:MOST_SPLITS]
    splits = [Edit(EditKind.SPLIT, (int(topic),)) for topic in largest[tokens[largest] >= 1.0]]
    return merges + splits


def propose_edits(
    steps: Steps, config: Any, state: OnlineHDPState, batch: Batch
) -> Iterator[tuple[float, Proposal | None]]:
    """Yield the share done, and the evidence of each edit of `list_tried`; None where it is not
    possible.

    batch: documents that the model has learned from.
    """
    split = split_set_aside(state)
    if not len(split.scored):
        return
    before = _score(steps, config, state, split)
    tried = list_tried(steps, config, state)
    for place, edit in enumerate(tried, 1):
        share = place / len(tried)
        try:
            after = edit_topics(steps, config, state, edit, batch)
        except EditError:
            yield share, None
            continue
        gains = _score(steps, config, after, split) - before
        number = len(gains)
        error = np.sqrt(number / max(1, number - 1) * ((gains - gains.mean()) ** 2).sum())
        gain = float(gains.sum() / split.num_tokens)
        yield share, Proposal(edit, gain, float(error / split.num_tokens))


def _score(steps: Steps, config: Any, state: OnlineHDPState, split: Split) -> np.ndarray:
    """Log likelihood of each document set aside (J,), of both halves of its words."""
    counts = state.topic_counts.only(state.set_aside.distinct_words())
    halves = score_documents(config, state._replace(topic_counts=counts), split, steps.infer)
    total: np.ndarray = halves.reshape(2, -1).sum(0)
    return total
