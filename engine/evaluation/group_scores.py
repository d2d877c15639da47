"""Held-out scores of groups of documents, such as authors or parties, with standard errors."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import stdtrit

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.evaluation.group_shares import LEVEL, Groups, sum_texts
from stickbreaker.engine.evaluation.held_out import DOCUMENTS_AT_ONCE, infer_own, take_word_topics
from stickbreaker.engine.inference.held_words import predict, split_words


class DocScores(NamedTuple):
    """Log likelihood of each document's held-out words, and their number (D,); 0 if none."""

    nats: np.ndarray
    tokens: np.ndarray


def score_documents(
    algorithm: Algorithm, config: Any, state: Any, corpus: Corpus, seed: int
) -> DocScores:
    """Score each document of a corpus by `disjoint_words`, with the system's own inference.

    seed: of the split; with that of a run, its held-out words are the same.
    """
    parts = [
        _score_batch(algorithm, config, state, batch, seed)
        for batch in corpus.batches(DOCUMENTS_AT_ONCE)
    ]
    nats, tokens = (np.concatenate(each) for each in zip(*parts, strict=True))
    return DocScores(nats, tokens)


def _score_batch(
    algorithm: Algorithm, config: Any, state: Any, batch: Batch, seed: int
) -> DocScores:
    split = split_words(batch.documents, batch.doc_ids, seed)
    nats = np.zeros(len(batch.doc_ids))
    tokens = np.zeros(len(batch.doc_ids), np.int64)
    if len(split.words):
        shares = infer_own(algorithm, config, state, split)
        _, places, by_word = take_word_topics(algorithm, config, state, split)
        logs = np.log(predict(split, places, shares, by_word))
        nats[split.scored] = np.bincount(split.rows, split.counts * logs)
        tokens[split.scored] = np.bincount(split.rows, split.counts)
    return DocScores(nats, tokens)


def score_frame(scores: DocScores, groups: Groups) -> pd.DataFrame:
    """The held-out score of each group, with its standard error and a 95 % interval.

    Columns group, nats_per_word (m = Σ s_t / Σ n_t over the texts t of the group, s_t nats of n_t
    held-out tokens), standard_error, low, high, documents (with held-out words), tokens. The error
    takes texts as drawn at random, with a spread of s_t - m n_t in proportion to n_t: its square is
    Σ (s_t - m n_t)² / f / n, with n = (Σ n_t)²/Σ n_t² (Kish 1965, section 8.2) and f = Σ n_t² - 2 Σ
    n_t³ / Σ n_t + (Σ n_t²)² / (Σ n_t)², which makes it unbiased. The interval is Student's with n -
    1 degrees of freedom. Both are NaN for a group of one text.

    >>> groups = Groups(np.array([0, 0, 1]), ("ours", "theirs"), np.arange(3))
    >>> frame = score_frame(DocScores(np.array([-7.0, -9, -8]), np.ones(3)), groups)
    >>> frame[["nats_per_word", "standard_error"]].values.tolist()
    [[-8.0, 1.0], [-8.0, nan]]
    """
    columns = csr_array(np.column_stack([scores.nats, scores.tokens, scores.tokens > 0]))
    sums, first = sum_texts(columns, groups.texts)
    nats, tokens, documents = sums.toarray().T
    of_text = groups.of_document[first]
    size = len(groups.names)
    known = (of_text >= 0) & (tokens > 0)
    nats, tokens, documents, of_text = (each[known] for each in (nats, tokens, documents, of_text))
    totals, squares, cubes = (np.bincount(of_text, tokens**power, size) for power in (1, 2, 3))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(of_text, nats, size) / totals
        draws = totals**2 / squares
        free = squares - 2 * cubes / totals + squares / draws
        around = np.bincount(of_text, (nats - means[of_text] * tokens) ** 2, size)
        errors = np.where(np.bincount(of_text, minlength=size) > 1, around / free / draws, np.nan)
    errors = np.sqrt(errors)
    half = errors * stdtrit(draws - 1, (1 + LEVEL) / 2)
    return pd.DataFrame(
        {
            "group": pd.Series(list(groups.names), dtype=str),
            "nats_per_word": means,
            "standard_error": errors,
            "low": means - half,
            "high": means + half,
            "documents": np.bincount(of_text, documents, size).astype(np.int64),
            "tokens": totals.astype(np.int64),
        }
    )
