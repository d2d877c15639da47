"""Detect the encoding of a text file, and refuse files that are not text.

engine/decisions/text-reading.md says why no library does it.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from stickbreaker.engine.corpora.kinds import KINDS
from stickbreaker.engine.corpora.rows import CorpusError, shorten
from stickbreaker.engine.files.messages import explain_error

BLOCK = 1 << 20
HEAD = 4096
# The most characters of the name of a text in a message.
MAX_PLACE = 200

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
SIGNATURES = (
    *(mark for mark, _ in MARKS),
    *(sign for kind in KINDS for sign in kind.signatures),
)
# They change the alphabet in the Japanese encoding of seven bits.
ESCAPES = (b"\x1b$B", b"\x1b$@")
WESTERN = (
    "éèêëàâçîïôùûüœæ",
    "äöüß",
    "áéíóúñü",
    "áâãàçéêíóôõú",
    "àèéìíòóù",
    "åäöæøé",
    "éëïóèü",
    "áðéíóúýþæö",
    "äöüßéèêàçïëñ",
)
CENTRAL = (
    "ąćęłńóśźż",
    "áäčďéěíĺľňóôŕřšťúůýž",
    "áéíóöőúüű",
    "ăâîşţ",
    "čćđšž",
)
CYRILLIC = (
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "оаніиевтркслдмупязьбгчхйжїцюєфшщґ",
    "аиоенрсјткувдмпљгзбшчћхжњцђфџ",
)
GREEK = "αοιετσνηυρκπλμγδθωχφβξζψςάέήίόύώϊϋΐΰ"
ARABIC = "اليمنوترهبعدسفكقحجصشذطخضظغثزءآأؤإئىةپچژگ"
# The lower-case letters of the languages of an encoding, without those of ASCII; in other scripts
# the frequent ones come first. The first of two equally good encodings is taken.
ALPHABETS = {
    "cp1252": WESTERN,
    "cp1250": CENTRAL,
    "cp1251": CYRILLIC,
    "cp1253": (GREEK,),
    "cp1254": ("çğıöşüâîû",),
    "cp1255": ("יוהלאמתשרבדנחעקפטזסגצכםןךףץ",),
    "cp1256": (ARABIC,),
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž"),
    "mac_roman": WESTERN,
    "cp850": WESTERN,
    "iso8859_2": CENTRAL,
    "koi8_r": CYRILLIC[:1],
    "cp866": CYRILLIC[:1],
    "koi8_u": CYRILLIC[1:2],
    "iso8859_6": (ARABIC,),
    "iso8859_7": (GREEK,),
    "iso8859_5": CYRILLIC,
    "mac_cyrillic": CYRILLIC,
    "cp874": ("".join(map(chr, range(0xE01, 0xE4F))),),
}
# What much of a text in an encoding of two bytes for a character is, and the least share of it.
FREQUENT = {
    "cp932": (r"[\u3040-\u30ff]", 0.2),
    "euc_jp": (r"[\u3040-\u30ff]", 0.2),
    "cp949": (r"[\uac00-\ud7a3]", 0.6),
    "gb18030": (
        "[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里，。]",
        0.12,
    ),
    "big5": (
        "[的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡，。]",
        0.12,
    ),
}
SHOWN_NAMES = {
    "cp1252": "Windows-1252 (Latin-1)",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "mac_roman": "MacRoman",
} | {f"cp{number}": f"Windows-{number}" for number in (1250, 1251, *range(1253, 1258))}
NAMES = ("utf-8", *ALPHABETS, *FREQUENT)
NEUTRAL = "’‘“”„‚–—…«»‹›°§£€\u00a0¿¡·•"
# Control characters that texts do not have.
CONTROLS = bytes((*range(9), *range(14, 27), *range(28, 32)))
SAMPLE_BYTES = 60_000
SHOWN_LETTERS = 40


class Encoding(NamedTuple):
    """The name of an encoding, and notes for the user if the file is unusual."""

    name: str
    notes: tuple[str, ...] = ()


def find_encoding(file: Path, given: str = "") -> Encoding:
    """Detect the encoding of a file from all its bytes; given: the one that the user has set.

    A note says if it is neither UTF-8 nor declared.

    Raises CorpusError if the file is missing, unreadable, empty or not text.
    """
    try:
        with file.open("rb") as stream:
            return name_encoding(iter(lambda: stream.read(BLOCK), b""), str(file), given)
    except OSError as error:
        raise CorpusError(
            f"Cannot read {file} ({explain_error(error)}). Check its permissions."
        ) from error


def name_encoding(blocks: Iterator[bytes], place: str, given: str = "") -> Encoding:
    """Detect the encoding of a text from all its bytes.

    The first block has 4,096 bytes or all of them.

    Raises CorpusError that begins with `place`, the name of the text, if it is empty or not text.
    """
    place = shorten(place, MAX_PLACE)
    first = next(blocks, b"")
    if not first.strip():
        raise CorpusError(f"{place} is empty. Choose a file with text.")
    if given:
        try:
            return Encoding(codecs.lookup(given).name)
        except LookupError as error:
            names = ", ".join(NAMES)
            raise CorpusError(
                f"encoding is {given!r:.40}: use one that Python knows, such as {names}."
            ) from error
    # One comparison with all of them: a folder can have a million files.
    if first.startswith(SIGNATURES):
        for mark, name in MARKS:
            if first.startswith(mark):
                return Encoding(name)
        for kind in KINDS:
            if kind.signatures and first.startswith(kind.signatures):
                raise CorpusError(f"{place} is {kind.what}: {kind.remedy}.")
    if any(map(first.__contains__, ESCAPES)):
        return Encoding("iso2022_jp")
    if wide := _find_wide(first[:HEAD]):
        note = f"{place} has no byte-order mark; it is read as {wide.upper()}."
        return Encoding(name=wide, notes=(note,))
    if _is_binary(first[:HEAD]):
        raise CorpusError(f"{place} is a binary file, not text. Save its text as UTF-8.")
    return _tell_utf8(first, blocks, place)


def _find_wide(head: bytes) -> str:
    """Recognise UTF-16 without a byte-order mark: in Latin text, every second byte is zero."""
    half = len(head) // 2
    if half < 2 or b"\0" not in head:
        return ""
    even = head[0 : 2 * half : 2].count(0)
    odd = head[1 : 2 * half : 2].count(0)
    for name, one, other in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if one > 0.7 * half and other < 0.05 * half:
            return name
    return ""


def _is_binary(head: bytes) -> bool:
    return len(head) - len(head.translate(None, CONTROLS)) > 0.02 * len(head)


def _tell_utf8(first: bytes, blocks: Iterable[bytes], place: str) -> Encoding:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    num_wrong = num_other = 0
    sample: list[bytes] = []
    for block in chain((first,), blocks):
        text = decoder.decode(block)
        if not text.isascii():
            num_wrong += text.count("�")
            num_other += len(text) - len(text.encode("ascii", "ignore"))
            if sum(map(len, sample)) < SAMPLE_BYTES:
                sample += (line for line in block.splitlines() if not line.isascii())
    num_wrong += decoder.decode(b"", final=True).count("�")
    if not num_wrong:
        return Encoding("utf-8")
    if 10 * num_wrong > num_other - num_wrong:
        kept = b"\n".join(sample)[:SAMPLE_BYTES]
        name = guess_encoding(kept)
        letters = kept.decode(name, errors="replace")
        start = next((at for at, letter in enumerate(letters) if letter > "~"), 0)
        line = letters[max(0, start - 10) :].partition("\n")[0][:SHOWN_LETTERS].strip()
        note = (
            f"{place} is not UTF-8; it is read as {SHOWN_NAMES.get(name, name)}: {line!r}. Set"
            " encoding if letters are wrong."
        )
        return Encoding(name=name, notes=(note,))
    note = f"{place} has {num_wrong:,} invalid UTF-8 sequences; they are read as �."
    return Encoding(name="utf-8", notes=(note,))


def guess_encoding(sample: bytes) -> str:
    """Guess an encoding other than Unicode from lines with letters outside of ASCII.

    >>> guess_encoding("Мирный договор".encode("koi8_r")), guess_encoding("Größe".encode("cp1252"))
    ('koi8_r', 'cp1252')
    """
    shares: dict[str, float] = {}
    for name, (frequent, least) in FREQUENT.items():
        try:
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeDecodeError:
            continue
        num_others = sum(letter > "~" for letter in text)
        # Between two Latin letters there is no sign of East Asia.
        outside = rf"(?<![A-Za-z])(?:{frequent})|(?:{frequent})(?![A-Za-z])"
        shares[name] = len(re.findall(outside, text)) / max(1, num_others) / least
    if shares and max(shares.values()) > 1:
        return max(shares, key=lambda name: shares[name])
    scores = {name: _score(sample.decode(name, "replace"), name) for name in ALPHABETS}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] > 0.5 else "cp1252"


def _score(text: str, name: str) -> float:
    """The share of the signs outside of ASCII that are letters of one language of an encoding, in
    places where they can be.
    """
    fits: list[str] = []
    num_signs = 0
    is_latin = name in ("cp1250", "cp1252", "cp1254", "cp1257", "iso8859_2", "mac_roman", "cp850")
    for before, sign, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        # A sign of money does not follow a letter.
        in_word = before.isalpha() and (after.isalpha() or sign in "§£€")
        if sign <= "~" or (sign in NEUTRAL and not in_word):
            continue
        if sign in "’" and before.isalpha():
            continue
        num_signs += 1
        is_inside = sign.isupper() and before.islower()
        is_mixed = not is_latin and (before.isascii() and before.isalpha())
        if not is_inside and not is_mixed:
            fits.append(sign.lower())
    extra = 0.3 * (not is_latin)
    most = max(
        sum(sign in alphabet for sign in fits) + extra * sum(sign in alphabet[:10] for sign in fits)
        for alphabet in ALPHABETS[name]
    )
    return most / max(1, num_signs)
