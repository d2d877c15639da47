"""Documents simulated from a learned model, with a vocabulary of any size whose frequencies follow
Zipf's law.

Word r of V has the frequency 1 / r, and copies the topics of a random word of the learned model:

    topic_k(r)  ∝  (1 / r) topic_k(b(r)) / mean_k topic_k(b(r))

A document takes its topic shares from a random document of the learned corpus, and has 60 tokens on
average (Poisson).
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy.sparse import csr_array

from stickbreaker.engine import Corpus, OnlineHDP, Vocabulary, load_corpus

MEAN_TOKENS = 60
AT_ONCE = 50_000
LETTERS = np.array(list("bcdfghjklmnpqrstvwxz"))
FIRST_DAY, NUM_DAYS = np.datetime64("1990-01-01"), 12_000


class ZipfModel(NamedTuple):
    """Topic shares of documents (N, K), and the cumulative word probabilities of each
    topic (K, V).
    """

    shares: np.ndarray
    cumulative: np.ndarray


def learn_model(vocab_size, corpus=None):
    """A model of State of the Union, or of another corpus, with as many words as wanted."""
    corpus = corpus or load_corpus("state-of-the-union")
    hdp = OnlineHDP(random_state=0, unused_topics="drop", duplicates="keep").fit(corpus)
    used = np.isin(hdp.topic_ids_, [int(name[5:]) for name in hdp.get_feature_names_out()])
    shares, topics = hdp.transform(corpus), hdp.components_[used].astype(float)
    lift = topics / topics.mean(0)
    copied = np.random.default_rng(0).integers(corpus.vocab_size, size=vocab_size)
    cumulative = np.empty((len(lift), vocab_size))
    for k, row in enumerate(lift):
        np.cumsum(row[copied] / np.arange(1, vocab_size + 1), out=cumulative[k])
    return ZipfModel(shares / shares.sum(1, keepdims=True), cumulative / cumulative[:, -1:])


def draw_counts(model, number, rng):
    """Word counts (S, V) of some documents."""
    vocab_size = model.cumulative.shape[1]
    sizes = np.maximum(1, rng.poisson(MEAN_TOKENS, number))
    rows = np.repeat(np.arange(number), sizes)
    shares = model.shares[rng.integers(len(model.shares), size=number)]
    # Each document's cumulative shares lie between its number and the next.
    ends = (np.minimum(shares.cumsum(1), 1.0) + np.arange(number)[:, None]).ravel()
    places = (
        np.searchsorted(ends, rows + rng.random(len(rows)), side="right") - rows * shares.shape[1]
    )
    topics = np.clip(places, 0, shares.shape[1] - 1)
    words = np.empty(len(rows), np.int64)
    for k, cumulative in enumerate(model.cumulative):
        own = np.flatnonzero(topics == k)
        words[own] = np.minimum(
            np.searchsorted(cumulative, rng.random(len(own)), side="right"), vocab_size - 1
        )
    keys, counts = np.unique(rows * vocab_size + words, return_counts=True)
    starts = np.append(0, np.bincount(keys // vocab_size, minlength=number).cumsum())
    return csr_array(
        (counts.astype(np.int32), (keys % vocab_size).astype(np.int32), starts),
        (number, vocab_size),
    )


def name_words(vocab_size):
    """Distinct words of five consonants, which are no stop words.

    >>> name_words(3)
    array(['bbbbb', 'bbbbc', 'bbbbd'], dtype=object)
    """
    digits = np.stack(np.unravel_index(np.arange(vocab_size), (len(LETTERS),) * 5), axis=1)
    return np.array(["".join(row) for row in LETTERS[digits]], object)


def draw_parts(model, num_documents):
    """Yield the first document's place and the counts by part, alike for any number."""
    for part, first in enumerate(range(0, num_documents, AT_ONCE)):
        yield (
            first,
            draw_counts(
                model, min(AT_ONCE, num_documents - first), np.random.default_rng([part, 1])
            ),
        )


def date_documents(first, last, num_documents):
    """Dates of a range of documents, which are spread evenly over 12,000 days."""
    return FIRST_DAY + np.arange(first, last) * NUM_DAYS // num_documents


def write_texts(file, model, num_documents):
    """Write documents as texts with dates to a Parquet file."""
    words = name_words(model.cumulative.shape[1])
    schema = pa.schema([("text", pa.large_string()), ("date", pa.string())])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for first, counts in draw_parts(model, num_documents):
            tokens = words[np.repeat(counts.indices, counts.data)]
            ends = np.append(0, counts.data.cumsum())[counts.indptr].tolist()
            texts = [" ".join(tokens[start:end]) for start, end in pairwise(ends)]
            dates = np.datetime_as_string(
                date_documents(first, first + len(texts), num_documents)
            ).tolist()
            writer.write_table(pa.table({"text": texts, "date": dates}, schema))


def draw_corpus(model, num_documents):
    """A corpus in memory."""
    parts = [counts for _, counts in draw_parts(model, num_documents)]
    starts = np.append(0, np.concatenate([np.diff(part.indptr) for part in parts]).cumsum())
    entries = [
        np.concatenate([getattr(part, what) for part in parts]) for what in ("data", "indices")
    ]
    counts = csr_array((*entries, starts), (num_documents, model.cumulative.shape[1]))
    words = Vocabulary(tuple(name_words(counts.shape[1])))
    return Corpus(
        "zipf", counts, words, date_documents(0, num_documents, num_documents), [""] * num_documents
    )
