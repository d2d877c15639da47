"""Words of documents that are held out, and how well topics predict them."""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.kernels.held_out import choose_held_out, predict_words
from stickbreaker.engine.parallel.threads import map_on_threads, split_evenly

HELD_OUT_SHARE = 0.1


class Split(NamedTuple):
    """Documents in two parts: the observed words, and the held-out words that are predicted from
    them.

    observed: the documents from which θ is inferred; rows, words, counts (n,): document, word and
    count of each held-out entry; scored (S,): places of the observed documents among the documents
    that were split.
    """

    observed: Documents
    rows: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    scored: np.ndarray

    @property
    def num_tokens(self) -> int:
        """The number of held-out tokens."""
        return int(self.counts.sum())


def split_words(documents: Documents, doc_ids: np.ndarray, seed: int) -> Split:
    """Hold out 10 % of each document's distinct words, at least one.

    Documents with fewer than two are skipped.

    A document's draw depends only on (seed, its id). Source: Hoffman et al. 2013 sec. 4; the
    fraction is ours. Raises ValueError unless there is one id per document.
    """
    is_held = _draw_held_out(documents, doc_ids, seed, HELD_OUT_SHARE)
    return _split(
        documents, np.where(is_held, 0, documents.counts), np.where(is_held, documents.counts, 0)
    )


def _draw_held_out(
    documents: Documents, doc_ids: np.ndarray, seed: int, share: float
) -> np.ndarray:
    """Which entries (nnz,) are held out: the given share of each document's distinct words."""
    if len(doc_ids) != documents.num_documents:
        raise ValueError(
            f"{len(doc_ids)} ids for {documents.num_documents} documents: give one id per document."
        )
    is_held = np.zeros(len(documents.words), bool)
    # Copies, because numba would compile the kernel a second time for read-only arrays.
    starts = np.array(documents.starts, np.int64)
    doc_ids = np.array(doc_ids, np.int64)
    choose_held_out(starts, doc_ids, int(seed), share, is_held)
    return is_held


def split_halves(documents: Documents, doc_ids: np.ndarray, seed: int) -> Split:
    """Each document twice: one half of its distinct words is held out, then the other half.

    The first half of the observed documents (2S',) has one half of the words, the second the other,
    in one order. Documents with fewer than two distinct words are skipped. A document's draw
    depends only on (seed, its id).
    """
    is_held = _draw_held_out(documents, doc_ids, seed, 0.5)
    counts = documents.counts
    sizes = documents.num_entries()
    # A document's only word can be predicted from no other.
    first = np.where(is_held, counts, 0)
    second = np.where(is_held | np.repeat(sizes < 2, sizes), 0, counts)
    one = _split(documents, second, first)
    other = _split(documents, first, second)
    return Split(
        observed=one.observed.followed_by(other.observed),
        rows=np.append(one.rows, len(one.scored) + other.rows),
        words=np.append(one.words, other.words),
        counts=np.append(one.counts, other.counts),
        scored=np.append(one.scored, other.scored),
    )


def split_tokens(documents: Documents, doc_ids: np.ndarray, seed: int) -> Split:
    """Hold out 10 % of each document's tokens, at least one.

    Documents with fewer than two tokens are skipped.

    Source: Wang 2011 sec. 4.1; Teh 2007 sec. 4 does the same to training documents.
    """
    held = np.zeros_like(documents.counts)
    for j, doc_id in enumerate(doc_ids):
        entries = slice(documents.starts[j], documents.starts[j + 1])
        size = documents.counts[entries].sum()
        if size >= 2:
            rng = np.random.default_rng([seed, int(doc_id)])
            # A draw without replacement, so that no word loses more tokens than it has.
            held[entries] = rng.multivariate_hypergeometric(
                documents.counts[entries], max(1, round(HELD_OUT_SHARE * size)), method="marginals"
            )
    return _split(documents, documents.counts - held, held)


def keep_all(documents: Documents) -> Split:
    """A split that predicts every word of each document from all of its words."""
    return Split(
        observed=documents,
        rows=documents.rows(),
        words=documents.words,
        counts=documents.counts,
        scored=np.arange(documents.num_documents),
    )


def _split(documents: Documents, observed: np.ndarray, held: np.ndarray) -> Split:
    """Split by observed and held-out counts (nnz,), without documents that hold out none."""
    num_documents = documents.num_documents
    is_held = held > 0
    rows = documents.rows()
    # A document counts if some of its words are held out.
    is_scored = np.zeros(num_documents, bool)
    is_scored[rows[is_held]] = True
    scored = np.flatnonzero(is_scored)
    is_observed = is_scored[rows] & (observed > 0)
    starts = np.append(0, np.bincount(rows[is_observed], minlength=num_documents)[scored].cumsum())
    return Split(
        observed=Documents(
            starts=starts.astype(np.int64),
            words=documents.words[is_observed],
            counts=observed[is_observed],
        ),
        rows=(is_scored.cumsum() - 1)[rows[is_held]],
        words=documents.words[is_held],
        counts=held[is_held],
        scored=scored,
    )


def predict(
    split: Split, words: np.ndarray, doc_shares: np.ndarray, by_word: np.ndarray
) -> np.ndarray:
    """Σ_k E[θ_k] E[topic_kw] of each held-out entry (n,).

    words: (n,), the entries' rows in `by_word`, E[topic] by word, (V, K) or (U, K) of some words;
    doc_shares: (S, K).
    """
    predicted = np.empty(len(words))

    def predict_span(span: tuple[int, int]) -> None:
        part = slice(*span)
        predict_words(split.rows[part], words[part], doc_shares, by_word, predicted[part])

    map_on_threads(predict_span, split_evenly(np.arange(len(words) + 1)))
    return predicted


def mean_log_likelihood(
    split: Split, words: np.ndarray, doc_shares: np.ndarray, by_word: np.ndarray
) -> float:
    """Nats per held-out token; the arguments are those of `predict`."""
    predicted = predict(split, words, doc_shares, by_word)
    return float((split.counts * np.log(predicted)).sum() / split.num_tokens)
