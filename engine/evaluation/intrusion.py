"""Intrusion tests: people look for a word that does not belong to its topic, or a topic to its
document.

Source: Chang, Boyd-Graber, Gerrish, Wang & Blei 2009, sec. 3. A share of right answers well above
chance (one in six words, one in four topics) means that people see what the model means.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words

NUM_WORDS = 5
NUM_TOPICS = 3
# Top words of other topics from which an intruder comes, words by which a sheet shows a topic or a
# document.
NUM_POOL = 10
NUM_TOPIC_WORDS = 8
NUM_DOCUMENT_WORDS = 20
NUM_DOCUMENTS = 50


class Sheet(NamedTuple):
    """Questions for people, with an empty column "answer", and the key, row by row."""

    questions: pd.DataFrame
    key: pd.DataFrame


def ask_words(
    summary: TopicSummary, words: Sequence[str], labels: Mapping[int, str], seed: int = 0
) -> Sheet:
    """Ask for the intruder among six words of each topic.

    The others are its five most probable words.

    The intruder is drawn from the top ten words of other topics whose probability in this one is at
    most the median of its words. Only topics in use count. Questions and words are in random order;
    labels, by topic id, are in the key.
    """
    rng = np.random.default_rng([seed, 0])
    used = rank_topics(summary.expected_tokens)
    topics = summary.topics[used]
    ids = summary.topic_ids[used].tolist()
    top = find_top_words(topics, NUM_POOL)
    questions = []
    key = []
    for number, k in enumerate(rng.permutation(len(ids))):
        pool = np.setdiff1d(np.delete(top, k, 0), top[k])
        pool = pool[topics[k, pool] <= np.median(topics[k])]
        if len(pool):
            shown = [*top[k, :NUM_WORDS], rng.choice(pool)]
            order = rng.permutation(len(shown))
            place = 1 + int(order.argmax())
            questions.append([number + 1, *(words[int(shown[i])] for i in order), ""])
            key.append([number + 1, ids[k], labels.get(ids[k], ""), words[int(shown[-1])], place])
    shown_columns = [f"word_{place}" for place in range(1, NUM_WORDS + 2)]
    return _sheet(questions, shown_columns, key, ["topic_id", "label", "intruder", "place"])


class ReadDocuments(NamedTuple):
    """Documents as a model reads them: titles, ids, counts (D, V), sparse, shares (D, K)."""

    titles: Sequence[str]
    doc_ids: np.ndarray
    counts: csr_array
    shares: csr_array | np.ndarray


def ask_topics(
    summary: TopicSummary, words: Sequence[str], read: ReadDocuments, seed: int = 0
) -> Sheet:
    """Ask for the intruder among four topics of each document; the others are its three largest.

    The intruder is drawn from the half of the other topics that have the smallest shares in the
    document. Fifty documents are drawn from those that have three topics or more. A document is
    shown by its title and its most frequent words, since a corpus keeps counts and no text; a topic
    by its eight most probable words.
    """
    rng = np.random.default_rng([seed, 1])
    counted = rank_topics(summary.expected_tokens)
    shares = csr_array(read.shares)[:, counted]
    is_able = np.diff(csr_array(shares > 0).indptr) >= NUM_TOPICS
    # An intruder needs a topic besides the three.
    able = np.flatnonzero(is_able & (len(counted) > NUM_TOPICS))
    drawn = rng.permutation(able)[:NUM_DOCUMENTS]
    texts = [_join(words, row) for row in find_top_words(summary.topics[counted], NUM_TOPIC_WORDS)]
    questions = []
    key = []
    for number, row in enumerate(drawn):
        own = np.asarray(shares[[row]].todense()).ravel()
        order = np.argsort(-own, kind="stable")
        others = order[NUM_TOPICS:][(len(order) - NUM_TOPICS) // 2 :]
        shown = np.array([*order[:NUM_TOPICS], rng.choice(others)])
        places = rng.permutation(len(shown))
        title = str(read.titles[row]) or f"document {row}"
        about = [title, _frequent(words, read.counts[[row]])]
        questions.append([number + 1, *about, *(texts[k] for k in shown[places]), ""])
        ids = summary.topic_ids[counted][shown]
        listed = " ".join(str(topic_id) for topic_id in ids[places])
        key.append(
            [number + 1, int(read.doc_ids[row]), listed, int(ids[-1]), 1 + int(places.argmax())]
        )
    shown_columns = ["title", "words", *(f"topic_{place}" for place in range(1, NUM_TOPICS + 2))]
    return _sheet(questions, shown_columns, key, ["doc_id", "topic_ids", "intruder", "place"])


def _join(words: Sequence[str], row: np.ndarray) -> str:
    return ", ".join(words[int(word)] for word in row)


def _frequent(words: Sequence[str], counts: csr_array) -> str:
    """The most frequent words of a document (1, V), the most frequent first."""
    order = np.argsort(-counts.data, kind="stable")[:NUM_DOCUMENT_WORDS]
    return _join(words, counts.indices[order])


def _sheet(
    questions: list[list[object]],
    shown: Sequence[str],
    key: list[list[object]],
    known: Sequence[str],
) -> Sheet:
    return Sheet(
        questions=pd.DataFrame(questions, columns=["question", *shown, "answer"]),
        key=pd.DataFrame(key, columns=["question", *known]),
    )
