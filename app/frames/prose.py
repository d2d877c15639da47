"""The text of a document, word by word with the topic of each, and short pieces of it for lists.

Pure.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

import numpy as np

from stickbreaker.app.frames.reading_frames import word_topics
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.reading import Reading
from stickbreaker.engine.corpora.languages import Word
from stickbreaker.engine.corpora.words import find_words

SNIPPET_LETTERS = 160


class ProsePiece(NamedTuple):
    """Consecutive characters of a text.

    topic_id: the most probable topic of the word, None between counted words.
    """

    text: str
    topic_id: int | None


def tint(reading: Reading, row: int, text: str) -> list[ProsePiece]:
    """Cut a document's text into counted words, each with its most probable topic θ_k φ_kw, and the
    rest between them.

    Words are found as they were counted: in lower case, without regard to how letters and marks are
    joined. Two neighbouring words that were counted as one phrase have the topic of the phrase.
    """
    topics = {word: topic_id for word, _, topic_id in word_topics(reading, row)}
    text = normalize("NFC", text)
    return color_words(text, find_words(text, reading.corpus.word_choices), topics)


def color_words(text: str, tokens: Sequence[Word], topics: Mapping[str, int]) -> list[ProsePiece]:
    """Cut a text into words and phrases that have a topic, by its id, and the rest.

    tokens: all words of the text.
    """
    words = [token.word for token in tokens]
    found = [topics.get(word) for word in words]
    for place, pair in enumerate(pairwise(words)):
        phrase = topics.get(" ".join(pair))
        if phrase is not None:
            found[place] = found[place + 1] = phrase
    pieces: list[ProsePiece] = []
    end = 0
    for token, topic_id in zip(tokens, found, strict=True):
        if topic_id is not None:
            pieces += [
                ProsePiece(text=text[end : token.start], topic_id=None),
                ProsePiece(text=text[token.start : token.end], topic_id=topic_id),
            ]
            end = token.end
    return [piece for piece in [*pieces, ProsePiece(text=text[end:], topic_id=None)] if piece.text]


def order_topics(pieces: list[ProsePiece]) -> list[int]:
    """The ids of the topics in a text, by falling number of words.

    >>> order_topics([ProsePiece("war", 3), ProsePiece(" and ", None), ProsePiece("peace", 5),
    ...     ProsePiece("treaty", 5)])
    [5, 3]
    """
    ids = [piece.topic_id for piece in pieces if piece.topic_id is not None]
    unique, counts = np.unique(ids, return_counts=True)
    return [int(unique[place]) for place in np.argsort(-counts, kind="stable")]


def snippet(text: str, words: str = "") -> str:
    """A short piece of a text in one line, around the words that were searched if it contains them.

    >>> snippet("War  and\\npeace")
    'War and peace'
    """
    line = " ".join(text.split())
    place = line.casefold().find(words.casefold())
    start = max(0, place - SNIPPET_LETTERS // 2)
    if start:
        start = line.find(" ", start) + 1
    cut = line[start : start + SNIPPET_LETTERS]
    if start + SNIPPET_LETTERS < len(line):
        cut = cut.rsplit(" ", 1)[0] + " …"
    return only_if(start, "… ") + cut
