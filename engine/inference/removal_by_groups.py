"""Which redundant topics are removed: groups of them are tested on the held-out words of a mini-batch.

A topic of few documents also fits their chance words, so its G exceeds what chance alone explains, and no limit of G
separates redundant topics from real ones. Documents from which a topic has not learned can separate them: without a
redundant topic, the words of these documents are predicted at least as well.
"""

from typing import Any

import numpy as np

from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.inference.global_step import batch_scale
from stickbreaker.engine.inference.held_words import MOST_JUDGES, Split, sample_documents, select_rows, split_halves
from stickbreaker.engine.inference.redundancy import (
    CERTAIN,
    CERTAIN_REREAD,
    Certain,
    Infer,
    Scored,
    add_uncertain,
    find_removal,
    narrow,
    remove_topics,
    sampled_counts,
    score_documents,
)
from stickbreaker.engine.inference.states import OnlineHDPState
from stickbreaker.engine.inference.topic_counts import Removal

# Topics up to each of these ratios are removed if held-out words agree.
RATIOS = (0.7, 1.0, 1.5, 2.5, 4.0, 8.0)
# They agree to a group of topics if it gains this number of standard errors, and to each topic unless it loses the
# second number. A group that loses the first number ends the search.
LEAST_GAIN, MOST_LOSS = 1.0, 2.0
# Only documents of which the group has this share are fitted again.
LEAST_SHARE = 0.01
# A typical mini-batch overlaps with the corpus by this share of the overlap of its two halves: topics still change.
LEAST_OVERLAP = 0.85


def choose_in_groups(
    infer: Infer, config: Any, state: OnlineHDPState, batch: Batch, is_rereading: bool, words: np.ndarray | None
) -> Removal:
    """The topics up to the ratio CERTAIN, followed by those at higher ratios while held-out words agree.

    Half of the distinct words of each document predict the other half. A removed topic changes their log likelihood by
    the changes of its documents, in proportion to its share of what is removed from each. The corpus would change by
    D/S times as much, to which a prior γ^n of n topics (the Chinese restaurant process) adds -log γ for each topic: a
    higher γ keeps more topics. A mini-batch that is not typical of the corpus, as in chronological order, tests all at
    once (`add_uncertain`). Of a large mini-batch some documents are drawn.
    """
    batch = sample_documents(batch, MOST_JUDGES, state.step)
    state = narrow(state, words, batch.documents)
    counts = sampled_counts(state)
    certain = CERTAIN_REREAD if is_rereading else CERTAIN
    removal, is_candidate = find_removal(counts, certain), np.ones(len(counts), bool)
    split = split_halves(batch.documents, batch.doc_ids, state.step)
    kept = remove_topics(state, removal)
    now = score_documents(config, kept, split, infer)
    if not _is_typical(kept, split, now.shares):
        certain_removal = Certain(removal=removal, kept=kept, counts=counts)
        return removal if is_rereading else add_uncertain(infer, config, state, certain_removal, batch)
    gain_of_prior = -np.log(state.concentrations.corpus) / batch_scale(batch)
    left = counts.copy()
    for ratio in (each for each in RATIOS if each > certain):
        np.copyto(left, counts)
        more = find_removal(left, ratio, is_candidate)
        if more.is_empty:
            # The highest ratio also accepts what a lower one does.
            if find_removal(left, RATIOS[-1], is_candidate).is_empty:
                break
            continue
        then = _score_again(config, remove_topics(state, removal.followed_by(more)), split, infer, now, more)
        gains = _gains(now, then, more)
        is_kept = gains.sum(0) + gain_of_prior < -MOST_LOSS * _errors(gains)
        is_candidate[more.topics[is_kept]] = False
        total = gains[:, ~is_kept].sum(1)
        gain, needed = total.sum() + gain_of_prior * (~is_kept).sum(), LEAST_GAIN * _errors(total)
        if gain < -needed:
            break
        if gain <= needed:
            is_candidate[more.topics] = False
            continue
        if is_kept.any():
            is_accepted = np.zeros(len(counts), bool)
            is_accepted[more.topics[~is_kept]] = True
            np.copyto(left, counts)
            more = find_removal(left, ratio, is_accepted)
            then = Scored(scores=now.scores + total, shares=more.share_out(now.shares.T).T)
        removal, now, counts, left = removal.followed_by(more), then, left, counts
    return removal


def _is_typical(state: OnlineHDPState, split: Split, shares: np.ndarray) -> bool:
    """Whether the topics of a mini-batch overlap with those of the corpus about as much as those of its halves do.

    shares: (S, K) of its documents; the overlap of two distributions is Σ_k min(p_k, q_k).
    """
    tokens = split.observed.sizes()[:, None] * shares
    by_document = np.add(*np.split(tokens, 2))
    parts = [part.sum(0) for part in (state.expected_tokens[None], by_document, by_document[::2], by_document[1::2])]
    if not all(part.sum() > 0 for part in parts):
        return False
    corpus, both, one, other = (part / part.sum() for part in parts)
    return bool(np.minimum(both, corpus).sum() >= LEAST_OVERLAP * np.minimum(one, other).sum())


def _gains(before: Scored, after: Scored, removal: Removal) -> np.ndarray:
    """What the removal of each topic adds to the log likelihood of each observed document (S, M)."""
    shares = before.shares[:, removal.topics].astype(np.float64)
    totals = np.maximum(shares.sum(1, keepdims=True), LEAST_SHARE)
    gains: np.ndarray = (after.scores - before.scores)[:, None] * (shares / totals)
    return gains


def _errors(gains: np.ndarray) -> np.ndarray:
    """Standard errors of the sums of gains over documents (S, ...)."""
    errors: np.ndarray = np.sqrt((gains**2).sum(0))
    return errors


def _score_again(
    config: Any, state: OnlineHDPState, split: Split, infer: Infer, known: Scored, removal: Removal
) -> Scored:
    """The known scores and shares, with those of the documents of which the removed topics have a share renewed."""
    is_changed = known.shares[:, removal.topics].sum(1) >= LEAST_SHARE
    scores, shares = known.scores.copy(), known.shares.copy()
    if is_changed.any():
        scores[is_changed], shares[is_changed] = score_documents(config, state, select_rows(split, is_changed), infer)
    return Scored(scores=scores, shares=shares)
