"""Topics that a mixture of other topics explains: found by a likelihood-ratio test, and tested on held-out words.

A start with many topics leaves copies of one topic, and topics that mix the words of two or three others. Both are
redundant: documents can mix the other topics themselves. A topic is removed if its word counts differ from the best
mixture of its nearest topics by little more than chance, and its tokens go to the topics of the mixture, word by word.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.expectations import topic_weights
from stickbreaker.engine.inference.held_words import Split, predict, split_words
from stickbreaker.engine.inference.states import OnlineHDPState, ScheduleConfig
from stickbreaker.engine.inference.topic_counts import Removal
from stickbreaker.engine.kernels.counts import transpose_rows
from stickbreaker.engine.kernels.likeness import Search, find_redundant
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

Infer = Callable[[Any, OnlineHDPState, Documents], np.ndarray]
# (config, state before the step, batch, whether documents are read again, `compared_words`) -> the topics to remove.
Choose = Callable[[Any, OnlineHDPState, Batch, bool, np.ndarray | None], Removal]

# Topics with fewer tokens are not tested; a mixture has at most this number of topics.
LEAST_TOKENS = 1.0
MOST_PARENTS = 6
# The highest ratio of G to its degrees of freedom at which topics are removed, and that when documents are read again,
# because later documents may separate topics. For two samples of one topic the ratio is 1 if all words are frequent,
# and 1.1 to 1.4 if most are rare; topics that share each token have less.
CERTAIN, CERTAIN_REREAD = 0.3, 1.5
# In the first pass topics up to this ratio are removed together if held-out words agree (`add_uncertain`): the gain
# in standard errors at which they agree, and the share of its usual tokens that a topic needs there.
UNCERTAIN, LEAST_ERRORS, LEAST_PRESENT = 1.0, 1.0, 0.25
# A search compares at most this number of words, those with the most tokens. Rarer words differ by chance, and reading
# all words of a large vocabulary would take as long as many steps.
MOST_WORDS = 2**15
# Number of passes after which two topics have had time to become different.
REREADING = 1.5
# Σρ between two searches: half of the content of the topics has then been replaced.
RATES_BETWEEN = float(np.log(2.0))


def remove_redundant(
    config: ScheduleConfig, before: OnlineHDPState, after: OnlineHDPState, batch: Batch, choose: Choose
) -> OnlineHDPState:
    """The state `after` a step without its redundant topics, if a search is due.

    A search is due when half of the content of the topics has been replaced since the last one, in the first pass and
    in streams, and at the end of each pass; the interval before the first search begins at the end of the warm-up.
    Topics are chosen in the state `before` the step, for which the documents of the batch are new.
    """
    if before.phase == Phase.WARM_UP or before.step == 0:
        return after._replace(looked_at=after.rate_spent)
    if not _is_due(config, after, batch):
        return after
    is_rereading = after.documents_read > REREADING * batch.corpus_size and not batch.is_stream
    words = compared_words(before)
    removal = choose(config, before, batch, is_rereading, words)
    return remove_topics(after, removal, words)._replace(looked_at=after.rate_spent)


def remove_topics(state: OnlineHDPState, removal: Removal, words: np.ndarray | None = None) -> OnlineHDPState:
    """The state after a removal, for `words` word by word (all unless given); the other topics keep their ids."""
    if removal.is_empty:
        return state
    return state._replace(
        topic_counts=state.topic_counts.remove(removal, words),
        tables=removal.share_out(state.tables),
        expected_tokens=removal.share_out(state.expected_tokens),
        squared_tokens=removal.share_out(state.squared_tokens),
    )


def compared_words(state: OnlineHDPState) -> np.ndarray | None:
    """The words that a search compares, ascending: those with the most tokens; None if it compares all."""
    counts = state.topic_counts
    if counts.vocab_size <= MOST_WORDS:
        return None
    return np.sort(np.argpartition(-counts.word_totals(), MOST_WORDS)[:MOST_WORDS])


def narrow(state: OnlineHDPState, words: np.ndarray | None, documents: Documents) -> OnlineHDPState:
    """The state with the rows of λ for a search or births: of `compared_words`, and of the words of documents."""
    if words is None:
        return state
    return state._replace(topic_counts=state.topic_counts.only(np.union1d(words, documents.distinct_words())))


def sampled_counts(state: OnlineHDPState) -> np.ndarray:
    """Counts (K, U) of words seen so far, scaled to the number of tokens that a topic's estimate rests on.

    The words with the most tokens come first, because they show soonest that topics differ; there are at most
    MOST_WORDS. λ holds w_t tokens for each token read in step t, with Σ_t w_t n_tk = `expected_tokens` and
    Σ_t w_t² n_tk = `squared_tokens`. It varies as much as (Σ w n)² / Σ w² n tokens would (Kish's effective sample
    size), at most as many as λ holds.
    """
    counts = state.topic_counts.seen()
    by_word = np.argsort(-counts.sum(1), kind="stable")[:MOST_WORDS]
    scales = np.zeros(len(state.expected_tokens))
    np.divide(state.expected_tokens, state.squared_tokens, out=scales, where=state.squared_tokens > 0)
    sampled = np.empty((counts.shape[1], len(by_word)), counts.dtype)
    transpose_rows(counts, by_word, np.minimum(scales, 1.0).astype(counts.dtype), sampled)
    return sampled


def find_removal(counts: np.ndarray, highest_ratio: float, is_candidate: np.ndarray | None = None) -> Removal:
    """The topics of counts (K, V) that mixtures of the others explain; the counts are overwritten with those after it.

    Smaller topics are tested first; is_candidate: (K,) bool, the topics that are tested, all unless given. A topic is
    redundant if G is below `highest_ratio` of its degrees of freedom, and if the mixture is at most half as far from it
    as the rest of the corpus is; while all topics are alike, none is.
    """
    num_topics = len(counts)
    most = max(1, min(MOST_PARENTS, num_topics - 1))
    topics, parents = np.zeros(num_topics, np.int64), np.zeros((num_topics, most), np.int64)
    weights = np.zeros((num_topics, most))
    order = np.argsort(counts.sum(1, dtype=np.float64), kind="stable")
    if is_candidate is not None:
        order = order[is_candidate[order]]
    number = find_redundant(
        counts, order, Search(highest_ratio=highest_ratio, least_tokens=LEAST_TOKENS), topics, parents, weights
    )
    return Removal(topics=topics[:number], parents=parents[:number], weights=weights[:number])


def _is_due(config: ScheduleConfig, state: OnlineHDPState, batch: Batch) -> bool:
    """Whether half of the content has been replaced in the first pass, or a pass has no more whole mini-batch."""
    is_replaced = state.rate_spent - state.looked_at >= RATES_BETWEEN
    if batch.is_stream:
        return is_replaced
    if is_replaced and state.documents_read < batch.corpus_size:
        return True
    size = min(resolved(config.batch_size), batch.corpus_size)
    left = -state.documents_read % batch.corpus_size
    return left < size and batch.documents.num_documents >= size


def choose_together(
    infer: Infer, config: Any, state: OnlineHDPState, batch: Batch, is_rereading: bool, words: np.ndarray | None
) -> Removal:
    """The topics up to the ratio CERTAIN, and in the first pass those up to UNCERTAIN if held-out words agree.

    They agree if their log likelihood rises by at least its standard error over documents. Topics that the mini-batch
    hardly has are not tested at the higher ratio, because its words say nothing about them. infer: (config, state,
    documents) -> shares (S, K).
    """
    state = narrow(state, words, batch.documents)
    counts = sampled_counts(state)
    certain = find_removal(counts, CERTAIN_REREAD if is_rereading else CERTAIN)
    kept = remove_topics(state, certain)
    found = Certain(removal=certain, kept=kept, counts=counts)
    return certain if is_rereading else add_uncertain(infer, config, state, found, batch)


class Certain(NamedTuple):
    """A removal of topics that needs no held-out words, the state after it, and its `sampled_counts` (K, U)."""

    removal: Removal
    kept: OnlineHDPState
    counts: np.ndarray


def add_uncertain(infer: Infer, config: Any, state: OnlineHDPState, certain: Certain, batch: Batch) -> Removal:
    """The certain removal, with the topics up to UNCERTAIN if held-out words agree; its counts are overwritten."""
    split = split_words(batch.documents, batch.doc_ids, state.step)
    before = score_documents(config, certain.kept, split, infer)
    certain.counts[~_is_present(certain.kept, split, before.shares)] = 0.0
    uncertain = find_removal(certain.counts, UNCERTAIN)
    if uncertain.is_empty:
        return certain.removal
    both = certain.removal.followed_by(uncertain)
    gains = score_documents(config, remove_topics(state, both), split, infer).scores - before.scores
    return both if gains.sum() >= LEAST_ERRORS * gains.std() * np.sqrt(len(gains)) else certain.removal


def _is_present(state: OnlineHDPState, split: Split, shares: np.ndarray) -> np.ndarray:
    """Whether documents with the given shares (S, K) have at least a quarter of a topic's usual tokens (K,)."""
    tokens = split.observed.sizes() @ shares
    present: np.ndarray = tokens * state.expected_tokens.sum() >= LEAST_PRESENT * state.expected_tokens * tokens.sum()
    return present


class Scored(NamedTuple):
    """Log likelihood of the held-out words of each observed document (S,), in nats, and its topic shares (S, K)."""

    scores: np.ndarray
    shares: np.ndarray


def score_documents(config: Any, state: OnlineHDPState, split: Split, infer: Infer) -> Scored:
    """Predict the held-out words of a split."""
    spans = split_evenly(split.observed.starts)
    shares = np.concatenate(map_on_threads(lambda span: infer(config, state, split.observed.cut(*span)), spans))
    words, places = np.unique(split.words, return_inverse=True)
    by_word = topic_weights(state.topic_counts, words, state.concentrations.word, "mean")
    logs = split.counts * np.log(predict(split, places, shares, by_word))
    return Scored(scores=np.bincount(split.rows, logs, len(split.scored)), shares=shares)
