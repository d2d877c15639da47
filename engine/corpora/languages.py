"""Words of languages by optional libraries: those of texts without spaces, and lemmas."""

import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import NamedTuple

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HAN_KANA = f"{HAN}\u3040-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
# Scripts written without spaces between words.
UNSPACED = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff]+|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
UNSPACED_SIGN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff]"
)
# In such a script, words that are separated by spaces are shorter: in Chinese and Japanese, and in
# Thai, Lao, Burmese and Khmer.
LONG_RUNS = (5, 16)
# Foreign words in Japanese are long, and several of them without spaces are longer.
KATAKANA = re.compile("[\u30a0-\u30ff]{1,9}")
KANA_SIGN = re.compile("[\u3040-\u30ff]")
HANGUL_RUN = re.compile(f"[{HANGUL}]+")
# In Japanese, more of the signs are Kana.
LEAST_KANA = 0.05
# In Korean with separated particles, more of the words have one syllable.
MOST_SINGLE = 0.3

# By language: the library that finds its words, and the parts of a text that it gets.
LIBRARIES = {
    "chinese": ("jieba", re.compile(f"[{HAN}]+")),
    "japanese": ("fugashi", re.compile(f"[{HAN_KANA}]+")),
    "thai": ("pythainlp", re.compile("[\u0e01-\u0e5b]+")),
    "korean": ("kiwipiepy", re.compile(rf"[{HANGUL}](?:[{HANGUL} ]*[{HANGUL}])?")),
}
SPACES = "spaces"
INSTALL = "python -m pip install 'stickbreaker[{}]'"
SEPARATE = "separate the words with spaces first, or give WordChoices(tokenizer=...)"
UNKNOWN = "unspaced"
# The languages of lemmas, by their codes.
_LEMMAS = """
ar Arabic, ast Asturian, bg Bulgarian, ca Catalan, cs Czech, cy Welsh, da Danish, de German,
el Greek, en English, enm Middle English, eo Esperanto, es Spanish, et Estonian, fa Persian,
fi Finnish, fr French, ga Irish, gd Gaelic, gl Galician, grc Ancient Greek, gv Manx, hbs
Serbo-Croatian, he Hebrew, hi Hindi, hu Hungarian, hy Armenian, id Indonesian, is Icelandic,
it Italian, ka Georgian, la Latin, lb Luxembourgish, lt Lithuanian, lv Latvian, mk Macedonian,
ml Malayalam, ms Malay, nb Norwegian (Bokmål), nl Dutch, nn Norwegian (Nynorsk), pl Polish,
pt Portuguese, ro Romanian, ru Russian, se Northern Sámi, sk Slovak, sl Slovene, sq Albanian,
sv Swedish, sw Swahili, tl Tagalog, tr Turkish, uk Ukrainian
"""
LEMMAS = dict(pair.strip().split(maxsplit=1) for pair in _LEMMAS.split(","))
# Lemmas that are kept in memory.
NUM_LEMMAS = 1 << 20
# What stands for a function word: a number, which is a token that is never counted.
FUNCTION_WORD = "0"
FUNCTION_WORDS = {
    "chinese": """
的 了 在 是 和 与 及 或 也 都 就 还 又 但 而 并 且 被 把 将 从 到 对 对于 关于 为 为了 以 于 由 向
往 给 让 使 我 你 您 他 她 它 我们 你们 他们 她们 它们 自己 这 那 这个 那个 这些 那些 这里 那里 此
其 该 各 每 某 之 者 所 不 没 没有 很 非常 更 最 太 只 已 已经 曾 会 能 可以 要 应 应该 必须 可能
因为 所以 因此 如果 虽然 但是 然而 而且 并且 以及 或者 着 过 得 地 吗 呢 吧 啊 什么 怎么 如何 哪
哪里 谁 个 一个 一些 一种 有 上 下 中 里 等 等等 时 后 前
們 我們 你們 他們 這 這個 這些 個 一個 為 與 從 對 將 讓 給 還 沒 沒有 會 應該 必須 因為 雖然 過 著
嗎 後 時 裡
""",
    "korean": "하다 되다 있다 없다 같다 않다 그러다 이러다 그렇다 이렇다",
}
JAPANESE_KINDS = frozenset(("名詞", "動詞", "形容詞", "形状詞", "副詞"))
JAPANESE_FUNCTION_KINDS = frozenset(("非自立可能", "助動詞語幹", "数詞"))
KOREAN_KINDS = frozenset(("NNG", "NNP", "VV", "VA", "MAG", "XR"))


class Word(NamedTuple):
    """A word as it is counted, and its place in the text."""

    word: str
    start: int
    end: int


class Tokenizer(str):
    """The name of a function that a user has given, "module:name", with the function.

    Files keep the name alone. No function is imported because a file names it.
    """

    function: Callable[[str], Iterable[str]]


_GIVEN: dict[str, Tokenizer] = {}


def check_tokenizer(tokenizer: object) -> str | None:
    """Return a tokenizer as word choices keep it, by its name.

    The name of a function from a file becomes the function if this process has been given it.
    Raises ValueError for anything but None, a name or a function.
    """
    if tokenizer is None or isinstance(tokenizer, Tokenizer):
        return tokenizer
    if isinstance(tokenizer, str) and (tokenizer in (*LIBRARIES, SPACES) or ":" in tokenizer):
        return _GIVEN.get(tokenizer, tokenizer)
    if isinstance(tokenizer, str) or not callable(tokenizer):
        raise ValueError(
            f"tokenizer is {tokenizer!r:.80}: give {', '.join(map(repr, LIBRARIES))}, {SPACES!r} or"
            " a function that takes a text and returns a list of its words."
        )
    module, name = (
        getattr(tokenizer, each, None) or getattr(type(tokenizer), each)
        for each in ("__module__", "__qualname__")
    )
    given = Tokenizer(f"{module}:{name}")
    given.function = tokenizer
    _GIVEN[given] = given
    return given


def find_language(texts: Iterable[str]) -> tuple[str, float]:
    """Find the language of texts whose words a library finds, and the share of their characters for
    which this is so; "" and 0 if words are separated, as in most languages.

    The language is "spaces" if words are separated in a script that does not separate them, and
    "unspaced" for scripts that no library reads (Lao, Burmese, Khmer). The share is that of the
    characters in runs longer than words; in Korean, of its letters among all.

    >>> find_language(["今天天气很好，我们去公园。"])[0], find_language(["今天 天气 很 好"])
    ('chinese', ('spaces', 0.0))
    """
    num_letters = num_unspaced = num_long = num_east = num_kana = num_thai = 0
    syllables: list[int] = []
    for text in texts:
        if text.isascii():
            num_letters += len(text)
            continue
        num_letters += sum(map(str.isalpha, text))
        syllables += map(len, HANGUL_RUN.findall(text))
        for run in UNSPACED.findall(text):
            is_east = run[0] > "\u3000"
            num_unspaced += len(run)
            if len(run) >= LONG_RUNS[not is_east] and not KATAKANA.fullmatch(run):
                num_long += len(run)
            num_east += len(run) * is_east
            num_kana += len(KANA_SIGN.findall(run))
            num_thai += len(run) * (run[0] < "\u0e80")
    share = num_long / max(1, num_unspaced)
    if num_unspaced > 0.3 * num_letters:
        if share <= 0.4:
            return SPACES, 0.0
        if num_east > 0.5 * num_unspaced:
            return "japanese" if num_kana > LEAST_KANA * num_east else "chinese", share
        return "thai" if num_thai > 0.5 * num_unspaced else UNKNOWN, share
    korean = sum(syllables) / max(1, num_letters)
    if korean > 0.5 and syllables.count(1) < MOST_SINGLE * len(syllables):
        return "korean", korean
    return "", 0.0


def explain_language(language: str) -> str:
    """Say how the words of texts in a language of `find_language` are found, or what that needs."""
    if language == UNKNOWN:
        return f"The texts have no spaces between words: {SEPARATE}."
    name = f"The texts are in {language.capitalize()}"
    library = LIBRARIES[language][0]
    if has_library(language):
        return f"{name}: {library} finds the words, and function words are left out."
    if language == "korean":
        return f"{name}: particles count as parts of words. {INSTALL.format(language)} finds words."
    return (
        f"{name}, without spaces between words: {INSTALL.format(language)} finds them; or"
        f" {SEPARATE}."
    )


def explain_unspaced(number: int) -> str:
    """Say that a number of texts among others have no spaces and no library, and what to do."""
    extras = ", ".join(f"stickbreaker[{each}]" for each in ("chinese", "japanese", "thai"))
    return (
        f"{number:,} of the texts have no spaces between words, so that clauses count as words:"
        f" install {extras}, or {SEPARATE}."
    )


def has_library(language: str) -> bool:
    """Whether the library of a language is installed."""
    return language != UNKNOWN and find_spec(LIBRARIES[language][0]) is not None


def check_library(tokenizer: str | None, lemmas: str | None) -> None:
    """Raise ValueError with the remedy if a tokenizer's library or function is missing."""
    if lemmas and not find_spec("simplemma"):
        raise ValueError(f"lemmas={lemmas!r} needs simplemma: {INSTALL.format('lemmas')}.")
    if tokenizer is None:
        return
    if tokenizer in LIBRARIES and not has_library(tokenizer):
        raise ValueError(
            f"tokenizer={tokenizer!r} needs {LIBRARIES[tokenizer][0]}: {INSTALL.format(tokenizer)}."
        )
    if ":" in tokenizer and not isinstance(tokenizer, Tokenizer) and tokenizer not in _GIVEN:
        module, _, name = tokenizer.partition(":")
        raise ValueError(
            f"The words were found by the function {name} of {module}, which this session does not"
            f" know. Import it, and call WordChoices(tokenizer={name}) once."
        )


def cut_text(text: str, tokenizer: str | None) -> Iterator[Word]:
    """Cut a text into the words of a tokenizer, and the unchanged parts that it does not read.

    Function words are "0". A word of a user's function that is not in the text has no place.
    """
    end = 0
    if tokenizer in LIBRARIES:
        cut = _load(tokenizer)
        for run in LIBRARIES[tokenizer][1].finditer(text):
            yield Word(text[end : run.start()], end, run.start())
            for word, first, last in cut(run.group()):
                yield Word(word, run.start() + first, run.start() + last)
            end = run.end()
    elif tokenizer not in (None, SPACES, UNKNOWN):
        for word in _call(tokenizer, text):
            start = text.find(word, end)
            if start < 0:
                yield Word(word, end, end)
            else:
                end = start + len(word)
                yield Word(word, start, end)
        return
    yield Word(text[end:], end, len(text))


def _call(tokenizer: str, text: str) -> Iterable[str]:
    given = tokenizer if isinstance(tokenizer, Tokenizer) else _GIVEN[tokenizer]
    words = given.function(text)
    if isinstance(words, str):
        raise TypeError(f"{tokenizer} returned a str: a tokenizer returns a list of words.")
    return words


@cache
def _load(language: str) -> Callable[[str], Iterable[Word]]:
    """Load the library of a language, once for each process."""
    # Some of their modules cause warnings when they are imported.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "chinese": _load_chinese,
            "japanese": _load_japanese,
            "thai": _load_thai,
            "korean": _load_korean,
        }[language]()


def _load_chinese() -> Callable[[str], Iterable[Word]]:
    import jieba

    jieba.setLogLevel(logging.ERROR)
    function_words = frozenset(FUNCTION_WORDS["chinese"].split())

    def cut(run: str) -> Iterator[Word]:
        for word, start, end in jieba.tokenize(run):
            yield Word(FUNCTION_WORD if word in function_words else word, start, end)

    return cut


def _load_japanese() -> Callable[[str], Iterable[Word]]:
    import fugashi

    tagger = fugashi.Tagger()

    def cut(run: str) -> Iterator[Word]:
        end = 0
        for node in tagger(run):
            start = run.index(node.surface, end)
            end = start + len(node.surface)
            kind = node.feature
            is_word = kind.pos1 in JAPANESE_KINDS and kind.pos2 not in JAPANESE_FUNCTION_KINDS
            base = kind.orthBase or node.surface
            yield Word(base if is_word else FUNCTION_WORD, start, end)

    return cut


def _load_thai() -> Callable[[str], Iterable[Word]]:
    from pythainlp.corpus import thai_stopwords
    from pythainlp.tokenize import word_tokenize

    function_words = thai_stopwords()

    def cut(run: str) -> Iterator[Word]:
        end = 0
        for word in word_tokenize(run):
            start = run.index(word, end)
            end = start + len(word)
            yield Word(FUNCTION_WORD if word in function_words else word, start, end)

    return cut


def _load_korean() -> Callable[[str], Iterable[Word]]:
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1)
    function_words = frozenset(FUNCTION_WORDS["korean"].split())

    def cut(run: str) -> Iterator[Word]:
        for token in kiwi.tokenize(run):
            is_word = token.tag.partition("-")[0] in KOREAN_KINDS
            is_word = is_word and token.lemma not in function_words
            end = token.start + token.len
            yield Word(token.lemma if is_word else FUNCTION_WORD, token.start, end)

    return cut


@cache
def find_lemmas(language: str) -> Callable[[str], str]:
    """Return the function that finds the lemma of a word in lower case, which it keeps.

    >>> list(map(find_lemmas("en"), ("nations", "nation", "covid19")))
    ['nation', 'nation', 'covid19']
    """
    import simplemma

    @lru_cache(NUM_LEMMAS)
    def find(word: str) -> str:
        lemma: str = simplemma.lemmatize(word, lang=language)
        return lemma.lower()

    return find
