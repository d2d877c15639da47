"""Count the words of texts, and show what different word choices would keep."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category, normalize

import numpy as np
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.languages import (
    HAN_KANA,
    HANGUL,
    SPACES,
    UNKNOWN,
    UNSPACED_SIGN,
    Word,
    check_library,
    cut_text,
    explain_language,
    explain_unspaced,
    find_language,
    find_lemmas,
    has_library,
)
from stickbreaker.engine.corpora.repairs import repair_text
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import MAX_VOCABULARY, WordChoices

# Longer words are not counted. An array of words takes the memory of its longest word for each of
# them.
MAX_LETTERS = 200
# Distinct words and phrases in memory during the count, before rare ones are removed: about 2 GB.
MAX_TERMS = 5_000_000
# Texts, and the share of them, that show whether they are single words.
LEAST_SINGLE = 10
SHARE_SINGLE = 0.9
# Texts that show whether words are separated, and letters after which fewer of them do.
NUM_FIRST = 200
FIRST_LETTERS = 1_000_000

# Combining marks (vowel signs, for example) and the joiners of Persian and Indian scripts count as
# letters.
MARKS = (
    "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)) in ("Mn", "Mc"))
    + "\u200c\u200d"
)
# The shortest words unless min_letters is set: 1 letter in Chinese and Japanese, 2 syllables in
# Korean, 3 letters otherwise.
USUAL_LETTERS = 3
# Letters, digits and "_" up to the last letter or digit, with at least one letter: "covid19",
# "new_york". "don't" gives no "don", because the whole word is a stop word.
ANY_WORD = (
    rf"(?u)(?<![^\W_])(?<![{MARKS}])(?!_)(?=[\d_]*(?:[^\W\d_]|[{MARKS}])){{}}"
    rf"(?:[\w{MARKS}]){{{{%s,{MAX_LETTERS}}}}}(?<!_)(?![^\W_]|[{MARKS}])(?!['’]t\b)"
)
# Letters only.
LETTERS_WORD = (
    rf"(?u)(?<![\w{MARKS}]){{}}(?:[^\W\d_]|[{MARKS}]){{{{%s,{MAX_LETTERS}}}}}(?![\w{MARKS}])"
    r"(?!['’]t\b)"
)
USUAL = rf"(?=[{HAN_KANA}]|[{HANGUL}]{{2}}|[\w{MARKS}]{{{USUAL_LETTERS}}})"
# Latin letters as wide as those of East Asia.
FULL_WIDTH = {sign + 0xFEE0: sign for sign in range(0x21, 0x7F)}
# Everything that is a word or a number, for the share that is counted.
TOKEN = rf"(?u)(?:[^\W_]|[{MARKS}])[\w{MARKS}]*"


def write_pattern(min_letters: int | None, keeps_digits: bool) -> str:
    """Write the pattern of the words that are counted."""
    pattern = ANY_WORD if keeps_digits else LETTERS_WORD
    guard = USUAL * (min_letters is None)
    return pattern.format(guard) % (min_letters or 1)


FOUND = re.compile(write_pattern(1, keeps_digits=True))


def shortest(word: str) -> int:
    """Return how many letters a word of its script must have, unless that is set.

    >>> [shortest(word) for word in ("peace", "平和", "평화")]
    [3, 1, 2]
    """
    if re.match(f"[{HAN_KANA}]", word):
        return 1
    return 2 if re.match(f"[{HANGUL}]", word) else USUAL_LETTERS


class WordCounter:
    """Counts words chunk by chunk: call `add` for each chunk of texts, then `finish` once.

    repairs: whether words that PDF files and web pages split are joined, as in `repair_text`.
    choices: those given; after the first texts, with the tokenizer that they need. num_unspaced,
    num_repaired: texts without spaces whose library is missing, and repaired ones.
    """

    def __init__(self, choices: WordChoices, repairs: bool = True):
        self.choices = choices
        self.num_unspaced = 0
        self.num_repaired = 0
        self._notes: tuple[str, ...] = ()
        self._repairs = repairs
        self._analyze: Callable[[str], list[str]] | None = None
        self._ids: dict[str, int] = {}
        self._words = array("i")
        self._counts = array("i")
        self._starts = array("q", [0])
        # Texts that wait until the tokenizer is known.
        self._first: list[str] = []
        self._num_letters = 0

    def add(self, texts: Iterable[str]) -> None:
        """Count the words of more texts.

        Raise CorpusError at more than `MAX_TERMS` distinct words and phrases, and if words cannot
        be found.
        """
        texts = iter(texts)
        if self._analyze is None:
            for text in texts:
                self._first.append(text)
                self._num_letters += len(text)
                if len(self._first) == NUM_FIRST or self._num_letters > FIRST_LETTERS:
                    self._start()
                    break
        if self._analyze is not None:
            self._count(texts)

    def _start(self) -> None:
        """Choose the tokenizer by the first texts, and count them."""
        from sklearn.feature_extraction.text import CountVectorizer

        self.choices, self._notes = resolve_choices(self.choices, self._first)
        choices = self.choices
        pattern = write_pattern(choices.min_letters, choices.keeps_digits)
        stop_words = choices.left_out()
        vectorizer = CountVectorizer(
            token_pattern=pattern,
            stop_words=sorted(stop_words) or None,
            ngram_range=(1, choices.max_ngram),
            preprocessor=self._prepare,
        )
        if choices.lemmas:
            find_tokens = re.compile(pattern).findall
            lemma = find_lemmas(choices.lemmas)
            vectorizer.set_params(
                token_pattern=None,
                tokenizer=lambda text: [
                    lemma(word) for word in find_tokens(text) if word not in stop_words
                ],
            )
        self._analyze = vectorizer.build_analyzer()
        self._count(self._first)
        self._first = []

    def _prepare(self, text: str) -> str:
        if self._repairs:
            repaired = repair_text(text)
            self.num_repaired += repaired != text
            text = repaired
        # NFC joins letters and combining marks, so that equal words have equal characters.
        text = normalize("NFC", text)
        tokenizer = find_tokenizer(text, self.choices)
        self.num_unspaced += tokenizer == UNKNOWN
        return lower_text(space_text(text, tokenizer))

    def _count(self, texts: Iterable[str]) -> None:
        assert self._analyze is not None
        ids = self._ids
        for text in texts:
            counted = Counter(self._analyze(text))
            self._words.fromlist([ids.setdefault(term, len(ids)) for term in counted])
            self._counts.fromlist(list(counted.values()))
            self._starts.append(len(self._words))
            if len(ids) > MAX_TERMS:
                raise CorpusError(
                    f"The texts have more than {MAX_TERMS:,} distinct words and phrases. Count"
                    " shorter phrases, or split the file."
                )

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say about the texts so far."""
        notes = self._notes + explain_texts(self.num_unspaced, self.num_repaired)
        return notes + explain_single(np.diff(self._starts))

    @property
    def num_bytes(self) -> int:
        """The bytes that `everything` needs, about, with what is counted so far."""
        return 48 * len(self._words) + 300 * len(self._ids)

    def everything(self) -> tuple[csr_array, list[str]]:
        """Return all counts (D, V) as a CSR array, and the V words in alphabetical order."""
        if self._analyze is None:
            self._start()
        shape = (len(self._starts) - 1, len(self._ids))
        parts = [np.array(part, kind) for part, kind in ((self._counts, "i4"), (self._words, "i4"))]
        counts = csr_array((*parts, np.array(self._starts, np.int64)), shape=shape)
        words = list(self._ids)
        order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
        return _take_columns(counts, order), [words[word] for word in order]

    def finish(self) -> tuple[csr_array, list[str]]:
        """Return the counts (D, V) and the V words that are kept; CorpusError if none are."""
        return limit_words(*self.everything(), self.choices)


def resolve_choices(
    choices: WordChoices, texts: Iterable[str]
) -> tuple[WordChoices, tuple[str, ...]]:
    """Choose the tokenizer that texts need, unless it is chosen, and say so in a note.

    Raise CorpusError if its library is missing.
    """
    tokenizer = choices.tokenizer if isinstance(choices.tokenizer, str) else None
    try:
        check_library(tokenizer, choices.lemmas)
    except ValueError as error:
        raise CorpusError(str(error)) from error
    if tokenizer is not None:
        return choices, ()
    language, _ = find_language(text[:1_000] for text in texts)
    if not language:
        return choices, ()
    if language == SPACES:
        return replace(choices, tokenizer=SPACES), ()
    note = explain_language(language)
    if has_library(language):
        return replace(choices, tokenizer=language), (note,)
    if language == "korean":
        return replace(choices, tokenizer=SPACES), (note,)
    raise CorpusError(note)


def space_text(text: str, tokenizer: str | None) -> str:
    """Put spaces between the words that a tokenizer finds in a text, in NFC."""
    if tokenizer is None:
        return text
    return " ".join(word.word for word in cut_text(text, tokenizer)).translate(FULL_WIDTH)


def lower_text(text: str) -> str:
    """A text in lower case; the Turkish İ is an i without a second dot.

    >>> lower_text("İzmir")
    'izmir'
    """
    return text.lower().replace("i\u0307", "i")


def find_tokenizer(text: str, choices: WordChoices) -> str | None:
    """Return the tokenizer of the choices, or of this text; UNKNOWN without its library."""
    if isinstance(choices.tokenizer, str):
        return choices.tokenizer
    beginning = text[:1_000]
    if beginning.isascii() or not UNSPACED_SIGN.search(beginning):
        return None
    language, _ = find_language([beginning])
    if language in ("", SPACES):
        return None
    return language if has_library(language) else UNKNOWN


def find_words(text: str, choices: WordChoices | None = None) -> list[Word]:
    """Find all words of a text, in NFC, as they are counted; also short words and stop words."""
    choices = choices or WordChoices()
    lemma = find_lemmas(choices.lemmas) if choices.lemmas else str
    found = []
    for part in cut_text(text, find_tokenizer(text, choices)):
        is_verbatim = text[part.start : part.end] == part.word
        for token in FOUND.finditer(part.word.translate(FULL_WIDTH)):
            start, end = token.span() if is_verbatim else (0, part.end - part.start)
            word = lemma(lower_text(token.group()))
            found.append(Word(word, part.start + start, part.start + end))
    return found


def explain_texts(num_unspaced: int, num_repaired: int) -> tuple[str, ...]:
    """Say how many texts have no spaces and no library, and how many are repaired."""
    notes = (explain_unspaced(num_unspaced),) if num_unspaced else ()
    if not num_repaired:
        return notes
    texts = f"{num_repaired:,} text{'s' * (num_repaired > 1)}"
    return (
        *notes,
        f"Repaired in {texts}: tags and entities of web pages are left out, words that PDF files"
        " split are joined, and ſ is read as s. Stored texts stay as they are.",
    )


def explain_single(num_words: Sequence[int] | np.ndarray) -> tuple[str, ...]:
    """Say that nearly all texts are single words; num_words: (D,)."""
    if len(num_words) < LEAST_SINGLE or (np.array(num_words) < 2).mean() < SHARE_SINGLE:
        return ()
    return (
        "Nearly all texts are single words. If that is wrong, choose another text column, or write"
        " the words of each document into one cell.",
    )


def limit_words(
    counts: csr_array, words: Sequence[str], choices: WordChoices
) -> tuple[csr_array, list[str]]:
    """Remove rare and common words (W,) and their columns (D, W), and keep the most frequent of the
    others (V,).

    Raises CorpusError if no word remains.
    """
    min_documents, max_share = choices.limits(counts.shape[0])
    kept = find_columns(counts, choices, min_documents, max_share * counts.shape[0])
    if not len(kept):
        raise CorpusError(explain_no_words(choices, counts.shape[0], has_words=bool(len(words))))
    return _take_columns(counts, kept), [words[word] for word in kept]


def explain_no_words(choices: WordChoices, num_rows: int, has_words: bool) -> str:
    """Explain why word choices keep no word of some rows, and what to change."""
    min_documents, max_share = choices.limits(num_rows)
    is_limited = has_words and (min_documents > 1 or max_share < 1)
    letters = choices.min_letters or USUAL_LETTERS
    remedy = "another column, fewer letters or fewer stop words"
    if is_limited:
        remedy = "a smaller min_documents or a larger max_share"
    return (
        f"No words remain in {num_rows:,} rows: words need {letters} letters, may not"
        f" be stop words, and must be in at least {min_documents} and at most {max_share:.0%} of"
        f" the rows. Choose {remedy}."
    )


def find_columns(
    counts: csr_array, choices: WordChoices, min_documents: float, most: float
) -> np.ndarray:
    """Find the columns (V,) of words in `min_documents` to `most` documents."""
    return keep_words(*count_columns(counts), choices.max_words, (min_documents, most))


def count_columns(counts: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Count the documents (W,) and the tokens (W,) of each word."""
    documents = np.bincount(counts.indices, minlength=counts.shape[1])
    return documents, np.bincount(counts.indices, counts.data, counts.shape[1])


def keep_words(
    frequency: np.ndarray, totals: np.ndarray, max_words: int, limits: tuple[float, float]
) -> np.ndarray:
    """Find the places (V,) of the words to keep among W words in alphabetical order, ascending.

    Words in too few or too many documents (`frequency`) are left out; the most frequent in all
    (`totals`) of the others are kept, and of equally frequent ones, the first in the alphabet.

    >>> keep_words(np.array([1, 2, 2, 3]), np.array([9, 4, 5, 4]), 2, (2, 3))
    array([1, 2])
    """
    kept = np.flatnonzero((frequency >= limits[0]) & (frequency <= limits[1]))
    if len(kept) > max_words:
        kept = np.sort(kept[np.argsort(-totals[kept], kind="stable")[:max_words]])
    return kept


def _take_columns(counts: csr_array, columns: np.ndarray) -> csr_array:
    """Return the columns in this order, with sorted indices in each row."""
    taken = counts[:, columns] if len(columns) else csr_array((counts.shape[0], 0), dtype=np.int32)
    taken.sort_indices()
    return taken


def drop_words(
    counts: csr_array, words: Sequence[str], choices: WordChoices
) -> tuple[csr_array, list[str]]:
    """Apply word choices, but `max_ngram`, to counted words; raise CorpusError if none remains."""
    left_out = choices.left_out()
    is_short = [
        len(word) < (choices.min_letters or shortest(word)) or word.lower() in left_out
        for word in words
    ]
    kept = np.flatnonzero(~np.array(is_short, bool))
    counts = _take_columns(counts, kept)
    words = [words[word] for word in kept.tolist()]
    if choices.lemmas:
        counts, words = _merge_forms(counts, words, choices.lemmas)
    return limit_words(counts, words, choices)


def _merge_forms(
    counts: csr_array, words: Sequence[str], language: str
) -> tuple[csr_array, list[str]]:
    """Add the columns of the forms of each lemma."""
    lemmas = list(map(find_lemmas(language), words))
    names, columns = np.unique(np.array(lemmas, object), return_inverse=True)
    shape = (len(words), len(names))
    ones = np.ones(len(words), counts.dtype)
    merged = counts @ csr_array((ones, columns, np.arange(len(words) + 1)), shape=shape)
    merged.sort_indices()
    return csr_array(merged), list(names)


class WordEffect(NamedTuple):
    """What word choices keep of `num_documents`, which are a sample of `of_documents`.

    num_terms: the number of distinct words kept. raw_tokens: the number of words and numbers before
    the choices; 0 if there are only numbers. num_empty: the number of documents without a word.
    words: the most frequent ones. unknown: the share of words that are not in a given vocabulary.
    """

    num_terms: int
    num_tokens: int
    raw_tokens: int
    num_empty: int
    words: tuple[str, ...]
    num_documents: int
    of_documents: int
    unknown: str = ""


def measure_words(
    texts: Sequence[str], choices: WordChoices, of_documents: int | None = None
) -> WordEffect:
    """Try word choices on a sample of the documents of a corpus.

    `min_documents` is scaled to the size of the sample.

    Raises CorpusError if the sample has more than `MAX_TERMS` distinct words and phrases.
    """
    num_documents = len(texts)
    of_documents = of_documents or len(texts)
    choices, _ = resolve_choices(choices, texts)
    texts = _space_all(tuple(texts), choices.tokenizer)
    counter = WordCounter(replace(choices, tokenizer=SPACES))
    counter.add(texts)
    counts, words = counter.everything()
    min_documents, max_share = choices.limits(of_documents)
    share = num_documents / max(1, of_documents)
    kept = find_columns(
        counts, choices, max(1.0, min_documents * share), max(1.0, max_share * num_documents)
    )
    left = _take_columns(counts, kept)
    _, totals = count_columns(left)
    return WordEffect(
        num_terms=len(kept),
        num_tokens=int(left.data.sum(dtype=np.int64)),
        raw_tokens=count_tokens(texts),
        num_empty=int((np.diff(left.indptr) == 0).sum()),
        words=tuple(words[kept[word]] for word in np.argsort(-totals, kind="stable")[:30]),
        num_documents=num_documents,
        of_documents=of_documents,
    )


def count_tokens(texts: Iterable[str]) -> int:
    """Count the words and numbers of texts; 0 if there are only numbers."""
    texts = tuple(texts)
    has_letters = any(map(re.compile(r"[^\W\d_]").search, texts))
    raw = re.compile(TOKEN)
    return sum(len(raw.findall(text)) for text in texts) if has_letters else 0


@lru_cache(maxsize=1)
def _space_all(texts: tuple[str, ...], tokenizer: str | None) -> tuple[str, ...]:
    """Put spaces between the words of texts, once for choices that are tried one after another."""
    choices = WordChoices(tokenizer=tokenizer)
    plain = (normalize("NFC", repair_text(text)) for text in texts)
    return tuple(space_text(text, find_tokenizer(text, choices)) for text in plain)


def count_words(
    texts: Sequence[str], min_documents: int, max_share: float, max_words: int | None = None
) -> tuple[csr_array, list[str]]:
    """Count the words with three or more letters in each text, without English stop words.

    >>> texts = ["Peace, and more peace!", "Don't fear: 2 treaties of peace"]
    >>> counts, words = count_words(texts, 1, 1.0)
    >>> words, counts.toarray().tolist()
    (['fear', 'peace', 'treaties'], [[0, 2, 0], [1, 1, 1]])
    """
    counter = WordCounter(
        WordChoices(
            min_letters=USUAL_LETTERS,
            keeps_digits=False,
            min_documents=min_documents,
            max_share=max_share,
            max_words=max_words or MAX_VOCABULARY,
        ),
        repairs=False,
    )
    counter.add(texts)
    return counter.finish()
