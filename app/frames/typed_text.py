"""A text that the user types, as the model reads it. Pure."""

from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from stickbreaker.app.frames.prose import ProsePiece, color_words
from stickbreaker.app.model.reading import Model
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.known_words import find_known
from stickbreaker.engine.corpora.words import find_words


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
    """Count the words of a text as those of the corpus were, and infer its topics.

    Raise CorpusError if its words cannot be told apart.
    """
    known = find_known(model.corpus)
    text = normalize("NFC", text)
    tokens = find_words(text, known.choices)
    words = [token.word for token in tokens]
    counts = known.count([text])
    counted = [known.vocabulary[column] for column in counts.indices.tolist()]
    unknown = list(dict.fromkeys(word for word in words if word not in counted))
    if not counts.nnz:
        pieces = [ProsePiece(text=text, topic_id=None)] if text else []
        return TypedReading(pieces, np.zeros(0), len(words), unknown)
    document = Documents(np.array([0, counts.nnz]), counts.indices, counts.data)
    shares = np.asarray(model.algorithm.infer(model.config, model.state, document))[0]
    best = (shares[:, None] * summary.topics[:, counts.indices]).argmax(0)
    topics = dict(zip(counted, summary.topic_ids[best].tolist(), strict=True))
    return TypedReading(color_words(text, tokens, topics), shares, len(words), unknown)
