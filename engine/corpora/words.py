"""Texts to counts: which words are counted, and what each choice leaves."""

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import category, normalize

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.stop_words import LANGUAGES, stop_words
from stickbreaker.engine.declarations import check_settings, setting

MAX_VOCABULARY = 100_000
# Different words and phrases held while counting, before rare ones go: some two gigabytes.
MAX_TERMS = 5_000_000
BY_SIZE = "the number of documents"

# Vowel signs and the like count as letters; so do the joiners of Persian and of Indian scripts.
MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)) in ("Mn", "Mc")) + "\u200c\u200d"
# Letters only; not the "don" of "don't", whose whole form is a stop word.
WORD = rf"(?u)(?<![\w{MARKS}])(?:[^\W\d_]|[{MARKS}]){{%d,}}(?![\w{MARKS}])(?!['’]t\b)"


@dataclass(frozen=True)
class WordChoices:
    """Which words are counted. Raises ValueError where a value is outside its bounds.

    languages: whose stop words are left out, of `LANGUAGES`; own_stop_words: further ones, parted by spaces or commas.
    Words of fewer than `min_documents` documents and of more than `max_share` of them are left out, and of the rest the
    `max_words` most frequent stay.
    """

    min_letters: int = setting(3, "", (1, 30), "letters a word must have")
    max_ngram: int = setting(1, "", (1, 3), "words in a row that may be counted as one phrase")
    min_documents: int | None = setting(
        None, "", (1, 1_000_000), "documents a word must stand in", whole=True, left_to=BY_SIZE
    )
    max_share: float | None = setting(
        None, "", (0.001, 1.0), "largest share of documents a word may stand in", whole=False, left_to=BY_SIZE
    )
    max_words: int = setting(50_000, "", (1, MAX_VOCABULARY), "words kept, the most frequent")
    languages: tuple[str, ...] = ("english",)
    own_stop_words: str = ""

    def __post_init__(self) -> None:
        check_settings(self)
        languages = (self.languages,) if isinstance(self.languages, str) else self.languages
        object.__setattr__(self, "languages", tuple(languages))
        if not isinstance(self.own_stop_words, str):
            raise ValueError(f"own_stop_words is {self.own_stop_words!r}: give one text, words parted by spaces.")
        if unknown := set(self.languages) - set(LANGUAGES):
            raise ValueError(f"There are no stop words called {unknown.pop()!r}: choose of {', '.join(LANGUAGES)}.")

    def left_out(self) -> frozenset[str]:
        """All stop words, in lower case."""
        own = re.split(r"[\s,;]+", normalize("NFC", self.own_stop_words).lower())
        return frozenset(own).union(*map(stop_words, self.languages)) - {""}

    def limits(self, num_documents: int) -> tuple[int, float]:
        """The least number of documents and the largest share, for a corpus of this size where they are left to it.

        >>> WordChoices().limits(10), WordChoices().limits(100_000), WordChoices(min_documents=3).limits(100)
        ((1, 1.0), (10, 0.2), (3, 0.5))
        """
        share = 0.2 if num_documents >= 1000 else 0.5 if num_documents >= 20 else 1.0
        return (
            self.min_documents or min(10, 1 + num_documents // 250),
            share if self.max_share is None else self.max_share,
        )


class WordCounter:
    """Counts words chunk by chunk: `add` texts, then `finish` with the words that stay.

    Raises CorpusError where the texts hold more different words and phrases than `MAX_TERMS`.
    """

    def __init__(self, choices: WordChoices):
        from sklearn.feature_extraction.text import CountVectorizer

        vectorizer = CountVectorizer(
            token_pattern=WORD % choices.min_letters,
            # An order of its own would draw a warning for each stop word that the pattern cannot give.
            stop_words=sorted(choices.left_out()) or None,
            ngram_range=(1, choices.max_ngram),
            preprocessor=_prepare,
        )
        self._choices, self._analyze = choices, vectorizer.build_analyzer()
        self._ids: dict[str, int] = {}
        self._words, self._counts, self._starts = array("i"), array("i"), array("q", [0])

    def add(self, texts: Iterable[str]) -> None:
        """Count the words of some documents more."""
        ids = self._ids
        for text in texts:
            counted: dict[int, int] = {}
            for term in self._analyze(text):
                word = ids.setdefault(term, len(ids))
                counted[word] = counted.get(word, 0) + 1
            self._words.extend(counted)
            self._counts.extend(counted.values())
            self._starts.append(len(self._words))
            if len(ids) > MAX_TERMS:
                raise CorpusError(
                    f"The texts hold more than {MAX_TERMS:,} different words and phrases: count shorter phrases, or"
                    " part the file."
                )

    def everything(self) -> tuple[csr_array, list[str]]:
        """All that was counted: (D, V) counts, and the V words in order."""
        shape = (len(self._starts) - 1, len(self._ids))
        parts = [np.array(part, kind) for part, kind in ((self._counts, "i4"), (self._words, "i4"))]
        counts = csr_array((*parts, np.array(self._starts, np.int64)), shape=shape)
        words = list(self._ids)
        order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
        return _take_columns(counts, order), [words[word] for word in order]

    def finish(self) -> tuple[csr_array, list[str]]:
        """Counts and words under the choices. Raises CorpusError when no word is left."""
        return limit_words(*self.everything(), self._choices)


def _prepare(text: str) -> str:
    # Letters with combining marks would otherwise break words in two.
    return normalize("NFC", text).lower()


def limit_words(counts: csr_array, words: Sequence[str], choices: WordChoices) -> tuple[csr_array, list[str]]:
    """The columns of words that are neither rare nor common, the most frequent of them: (D, V) counts and V words.

    Raises CorpusError when none is left.
    """
    min_documents, max_share = choices.limits(counts.shape[0])
    kept = find_columns(counts, choices, min_documents, max_share * counts.shape[0])
    if not len(kept):
        is_limited = len(words) and (min_documents > 1 or max_share < 1)
        limits = "a lower least number of documents or a larger share"
        remedy = limits if is_limited else "another column, fewer letters or stop words"
        raise CorpusError(
            f"There are no words left to count in {counts.shape[0]:,} rows with text: a word must have"
            f" {choices.min_letters} letters, be no stop word and stand in {min_documents} or more and at most"
            f" {max_share:.0%} of the rows. Choose {remedy}."
        )
    return _take_columns(counts, kept), [words[word] for word in kept]


def find_columns(counts: csr_array, choices: WordChoices, min_documents: float, most: float) -> np.ndarray:
    """Ascending columns of words in `min_documents` to `most` documents, the `max_words` most frequent of them."""
    num_words = counts.shape[1]
    frequency = np.bincount(counts.indices, minlength=num_words)
    kept = np.flatnonzero((frequency >= min_documents) & (frequency <= most))
    if len(kept) > choices.max_words:
        totals = np.bincount(counts.indices, weights=counts.data, minlength=num_words)[kept]
        kept = np.sort(kept[np.argsort(-totals, kind="stable")[: choices.max_words]])
    return kept


def _take_columns(counts: csr_array, columns: np.ndarray) -> csr_array:
    """Some columns in this order, the entries of each row ascending."""
    taken = counts[:, columns] if len(columns) else csr_array((counts.shape[0], 0), dtype=np.int32)
    taken.sort_indices()
    return taken


def drop_words(counts: csr_array, words: Sequence[str], choices: WordChoices) -> tuple[csr_array, list[str]]:
    """What `choices` leave of words that somebody else has counted; phrases stay as they are."""
    left_out = choices.left_out()
    is_short = [len(word) < choices.min_letters or word.lower() in left_out for word in words]
    kept = np.flatnonzero(~np.array(is_short, bool))
    return limit_words(_take_columns(counts, kept), [words[word] for word in kept.tolist()], choices)


class WordEffect(NamedTuple):
    """What word choices leave of some documents.

    num_terms, num_tokens: different words, and words in all, that the vocabulary holds; raw_tokens: all words.
    num_empty: documents left without a word; words: the most frequent ones.
    num_documents: how many were looked at; of_documents: how many there are.
    """

    num_terms: int
    num_tokens: int
    raw_tokens: int
    num_empty: int
    words: tuple[str, ...]
    num_documents: int
    of_documents: int


def measure_words(texts: Sequence[str], choices: WordChoices, of_documents: int | None = None) -> WordEffect:
    """Try word choices on some of `of_documents` documents; the least number of documents is taken in proportion."""
    num_documents, of_documents = len(texts), of_documents or len(texts)
    counter = WordCounter(choices)
    counter.add(texts)
    counts, words = counter.everything()
    min_documents, max_share = choices.limits(of_documents)
    share = num_documents / max(1, of_documents)
    kept = find_columns(counts, choices, max(1.0, min_documents * share), max(1.0, max_share * num_documents))
    left = _take_columns(counts, kept)
    totals = np.bincount(left.indices, weights=left.data, minlength=len(kept))
    raw = re.compile(WORD % 1)
    return WordEffect(
        len(kept),
        int(left.data.sum(dtype=np.int64)),
        sum(len(raw.findall(text)) for text in texts),
        int((np.diff(left.indptr) == 0).sum()),
        tuple(words[kept[word]] for word in np.argsort(-totals, kind="stable")[:30]),
        num_documents,
        of_documents,
    )


def count_words(
    texts: Sequence[str], min_documents: int, max_share: float, max_words: int | None = None
) -> tuple[csr_array, list[str]]:
    """Count the words of three letters or more in each text: (D, V) counts, and the V words in order.

    English stop words are left out, and words in fewer than `min_documents` texts or in more than `max_share` of them;
    of the rest the `max_words` most frequent stay. Raises CorpusError when no word is left.

    >>> counts, words = count_words(["Peace, and more peace!", "Don't fear: 2 treaties of peace"], 1, 1.0)
    >>> words, counts.toarray().tolist()
    (['fear', 'peace', 'treaties'], [[0, 2, 0], [1, 1, 1]])
    """
    counter = WordCounter(
        WordChoices(min_documents=min_documents, max_share=max_share, max_words=max_words or MAX_VOCABULARY)
    )
    counter.add(texts)
    return counter.finish()
