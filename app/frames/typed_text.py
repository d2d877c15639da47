"""A text that the user types, as the model reads it. Pure."""

from collections import Counter
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from stickbreaker.app.frames.prose import TOKEN, ProsePiece, color_words
from stickbreaker.app.model.reading import Model
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.corpora.documents import Documents


class TypedReading(NamedTuple):
    """What a model makes of a text.

    pieces: the text, with the most probable topic of each counted word. shares: (K,) of the topics
    of `summary`, or empty without a counted word. num_words: all; unknown: those that are not in
    the vocabulary, each once.
    """

    pieces: list[ProsePiece]
    shares: np.ndarray
    num_words: int
    unknown: list[str]


def read_typed(model: Model, summary: TopicSummary, text: str) -> TypedReading:
    """Count the words of a text as those of a document, and infer its topics.

    Two neighbouring words count as one phrase if the vocabulary has it.
    """
    vocabulary = model.corpus.vocabulary
    words = [token.group().lower() for token in TOKEN.finditer(normalize("NFC", text))]
    phrases = [pair for pair in map(" ".join, pairwise(words)) if pair in vocabulary]
    known = [word for word in words if word in vocabulary]
    counts = Counter(vocabulary.index(word) for word in (*known, *phrases))
    unknown = list(dict.fromkeys(word for word in words if word not in vocabulary))
    if not counts:
        pieces = [ProsePiece(text=text, topic_id=None)] if text else []
        return TypedReading(pieces, np.zeros(0), len(words), unknown)
    ids = np.array(sorted(counts), np.int32)
    numbers = np.array([counts[word] for word in ids], np.int32)
    document = Documents(np.array([0, len(ids)]), ids, numbers)
    shares = np.asarray(model.algorithm.infer(model.config, model.state, document))[0]
    best = (shares[:, None] * summary.topics[:, ids]).argmax(0)
    topics = {
        vocabulary[int(word)]: int(summary.topic_ids[topic])
        for word, topic in zip(ids, best, strict=True)
    }
    return TypedReading(color_words(text, topics), shares, len(words), unknown)
