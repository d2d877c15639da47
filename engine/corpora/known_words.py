"""Count new texts with the words and word choices of a corpus or of a fitted model."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import MAX_NGRAM, WordChoices, check_choices
from stickbreaker.engine.corpora.words import WordCounter, WordEffect, count_columns, count_tokens

NUM_LISTED = 5
NUM_SHOWN = 30
# Of the tokens of new texts.
LARGE_SHARE = 0.5
ALL_UNKNOWN = "no word is in the vocabulary of the given corpus or model."


@runtime_checkable
class HasWords(Protocol):
    """A fitted model."""

    words_: tuple[str, ...] | None
    word_choices_: WordChoices | None


class Unknown(NamedTuple):
    """How many tokens are not in a vocabulary, of how many; first: the most frequent words."""

    num_unknown: int
    num_tokens: int
    first: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of all tokens."""
        return self.num_unknown / max(1, self.num_tokens)

    @property
    def note(self) -> str:
        """Say which share of the words is left out; "" if all are known."""
        if not self.num_unknown:
            return ""
        return (
            f"{self.share:.1%} of the words are not in the given vocabulary and are left out, most"
            f" often {', '.join(self.first)}."
        )


class KnownWords(NamedTuple):
    """The words that are counted in new texts, and how."""

    vocabulary: Vocabulary
    choices: WordChoices

    def count(self, texts: Iterable[str]) -> csr_array:
        """Count the known words (D, V) of texts; raise CorpusError as `WordCounter` does."""
        return self.count_with_warning(texts)[0]

    def count_with_warning(self, texts: Iterable[str]) -> tuple[csr_array, str]:
        """Count the known words (D, V); warn if most words are unknown, or all of a text."""
        counts, words = self._count_all(texts)
        taken = self.take(counts, words)
        unknown = self.find_unknown(count_terms(counts, words))
        num_empty = int((np.diff(taken.indptr) == 0).sum())
        said = [unknown.note] * (num_empty > 0 or unknown.share > LARGE_SHARE)
        if num_empty:
            said.append(
                f"Documents without known words: {num_empty:,} of {counts.shape[0]:,}. Their topics"
                " are those of the prior."
            )
        return taken, " ".join(filter(None, said))

    def _count_all(self, texts: Iterable[str]) -> tuple[csr_array, Sequence[str]]:
        counter = WordCounter(self.choices)
        counter.add(texts)
        return counter.everything()

    def measure(
        self,
        texts: Sequence[str],
        counted: tuple[csr_array, Sequence[str]] | None,
        of_documents: int,
    ) -> WordEffect:
        """Try the known words on a sample of texts, or on words that are counted already."""
        counts, words = counted or self._count_all(texts)
        taken = self.take(counts, words)
        _, totals = count_columns(taken)
        first = np.argsort(-totals, kind="stable")[:NUM_SHOWN]
        return WordEffect(
            num_terms=int((totals > 0).sum()),
            num_tokens=int(totals.sum()),
            raw_tokens=count_tokens(texts) if counted is None else int(counts.sum()),
            num_empty=int((np.diff(taken.indptr) == 0).sum()),
            words=tuple(self.vocabulary[word] for word in first if totals[word]),
            num_documents=counts.shape[0],
            of_documents=of_documents,
            unknown=self.find_unknown(count_terms(counts, words)).note,
        )

    def take(self, counts: csr_array, words: Sequence[str]) -> csr_array:
        """Take the counts (D, V) of the known words from those (D, W) of other words."""
        known = self.vocabulary
        columns = [known.index(word) if word in known else -1 for word in words]
        return match_columns(counts, columns, len(known))

    def find_unknown(self, terms: Iterable[tuple[str, int]]) -> Unknown:
        """Find the words that are unknown among all words, given with their numbers."""
        num_tokens = num_unknown = 0

        def list_unknown() -> Iterator[tuple[str, int]]:
            nonlocal num_tokens, num_unknown
            for word, number in terms:
                # The phrases that are unknown are most of all.
                if " " not in word:
                    num_tokens += number
                    if word not in self.vocabulary:
                        num_unknown += number
                        yield word, number

        first = nlargest(NUM_LISTED, list_unknown(), key=itemgetter(1))
        return Unknown(num_unknown, num_tokens, tuple(word for word, _ in first))


def choose_words(
    words: WordChoices | None, like: Corpus | HasWords | None
) -> WordChoices | KnownWords | None:
    """The word choices, or the words of a corpus or model.

    Raises TypeError for other objects, and CorpusError if both are given.
    """
    check_choices("words", words)
    if like is None:
        return words
    if words is not None:
        raise CorpusError("Omit words: like has its own.")
    return find_known(like)


def count_terms(counts: csr_array, words: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The words (W,) of counts (D, W), with their numbers of tokens."""
    _, totals = count_columns(counts)
    return zip(words, map(int, totals), strict=True)


def find_known(like: Corpus | HasWords) -> KnownWords:
    """Return the words of a corpus or of a fitted model.

    If its word choices are not known, all words and phrases of the vocabulary are counted. Raises
    TypeError for another object, and CorpusError for a model that does not know its words.
    """
    if isinstance(like, Corpus):
        vocabulary: Vocabulary | None = like.vocabulary
        choices = like.word_choices
    elif isinstance(like, HasWords):
        vocabulary = None if like.words_ is None else Vocabulary(like.words_)
        choices = like.word_choices_
    else:
        raise TypeError(f"like is {like!r:.80}: give a Corpus or a fitted model.")
    if vocabulary is None:
        raise CorpusError(
            "The model does not know its words: give one that learned from a Corpus, or a Corpus."
        )
    return KnownWords(vocabulary, choices or guess_choices(vocabulary))


def guess_choices(vocabulary: Iterable[str]) -> WordChoices:
    """Return word choices that count all words and phrases of a vocabulary.

    >>> guess_choices(("peace", "united states")).max_ngram
    2
    """
    longest = max((1 + word.count(" ") for word in vocabulary), default=1)
    return WordChoices(min_letters=1, max_ngram=min(longest, MAX_NGRAM), languages=())


def match_columns(counts: csr_array, columns: Sequence[int], num_columns: int) -> csr_array:
    """Move the W columns of counts to other places among V columns; those with -1 are left out.

    >>> match_columns(csr_array([[1, 2, 3]]), [3, -1, 0], 4).toarray().tolist()
    [[3, 0, 0, 1]]
    """
    places = np.array(columns, np.int32)
    is_kept = places[counts.indices] >= 0
    starts = np.append(0, np.cumsum(is_kept))[counts.indptr]
    entries = (counts.data[is_kept], places[counts.indices[is_kept]], starts)
    moved = csr_array(entries, shape=(counts.shape[0], num_columns))
    moved.sort_indices()
    return moved
