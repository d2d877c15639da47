"""Join what PDF files and web pages split, and leave out the tags and entities of HTML."""

import re
from html import unescape
from unicodedata import normalize

# Ligatures in letters, the long s, and marks that no word has: soft hyphens, byte-order marks, and
# those of the direction of writing.
JOINED = {sign: normalize("NFKC", sign) for sign in "ﬀﬁﬂﬃﬄﬅﬆſ"} | dict.fromkeys(
    "\u00ad\ufeff\u2060\u200e\u200f", ""
)
LINE_END = re.compile(r"(?<=[^\W\d_])[-¬⸗=]\r?\n[ \t\f]*(?=[^\W\d_A-Z])")
# Edited manuscripts have other signs than hyphens, and unread mail has those of its encoding.
LINE_ENDS = [sign + end for sign in "-¬⸗=" for end in "\r\n"]
# What the tags of HTML become: those inside a line separate no words. A pattern that looks for any
# tag is faster than one that lists them.
INLINE = (
    "a abbr b bdi big cite code del em font i ins kbd mark q s small span strike strong sub sup tt"
    " u"
)
BLOCKS = (
    "article aside blockquote body br button caption center dd div dl dt figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 head header hr html iframe img input label li link main meta nav ol"
    " option p pre script section select style svg table tbody td tfoot th thead time title tr ul"
    " video"
)
SPACING = dict.fromkeys(INLINE.split(), "") | dict.fromkeys(BLOCKS.split(), "\n")
TAG = re.compile(r"(?i)<(?:!(?:--|doctype)[^<>]*|/?([a-z]+[1-6]?)(?:\s[^<>]*=[^<>]*)?\s*/?)>")
SCRIPT = re.compile(r"(?i)<(?:script|style)\b")
SCRIPT_END = re.compile(r"(?i)</(?:script|style)\s*>")
# UTF-8 that was read as Windows-1252: "CafÃ©", "itâ€™s".
MISREAD = re.compile("[ÂÃ][\u0080-\u00bf]|â€[\u0080-\u00ff‘’“”„•–—˜š›œžŸ€‚ƒ…†‡ˆ‰Š‹ŒŽ™]")
ZERO_WIDTH = re.compile("(?<=[A-Za-z\u00c0-\u052f])\u200b+(?=[A-Za-z\u00c0-\u052f])")
# What programs write for signs in quotes.
ESCAPED = re.compile(r"\\(?:r|n|t)|\\u[0-9a-fA-F]{4}")
IS_ESCAPED = re.compile(r"\\r\\n|\\n\\n|\\u[0-9a-fA-F]{4}")


def repair_text(text: str) -> str:
    """Join what PDF files and web pages split: ligatures, soft hyphens, words with a hyphen at
    the ends of lines, the tags and entities of HTML, and letters that were read wrongly before.

    A text without any of them is returned itself.

    >>> repair_text("e\\ufb03cient har\\u00adbour, Caf&eacute;, hyphen-\\nated <b>CafÃ©</b>")
    'efficient harbour, Café, hyphenated Café'
    >>> repair_text("trea¬\\nty, Waſſer")
    'treaty, Wasser'
    """
    if "<" in text:
        text = _drop_tags(text)
    if "&" in text:
        text = unescape(text)
    if "\\" in text and IS_ESCAPED.search(text):
        text = ESCAPED.sub(_read_escape, text)
    if "Ã" in text or "Â" in text or "â€" in text:
        text = MISREAD.sub(_read_again, text)
    if "\u200b" in text:
        text = ZERO_WIDTH.sub("", text)
    # A translation of every text would take as long as the count.
    if not text.isascii() and any(map(text.__contains__, JOINED)):
        for sign, letters in JOINED.items():
            text = text.replace(sign, letters)
    if any(map(text.__contains__, LINE_ENDS)):
        return LINE_END.sub("", text)
    return text


def _drop_tags(text: str) -> str:
    """Leave out the tags of HTML, and the scripts between them."""
    first, *others = SCRIPT.split(text)
    text = first + "".join(f"<p>{SCRIPT_END.split(part, maxsplit=1)[-1]}" for part in others)
    return TAG.sub(lambda tag: SPACING.get((tag[1] or "p").lower(), tag[0]), text)


def _read_escape(found: re.Match[str]) -> str:
    """The sign of an escape; a space for those that are no letters alone."""
    sign = chr(int(found[0][2:], 16)) if found[0][1] == "u" else " "
    return sign if sign.isprintable() else " "


def _read_again(found: re.Match[str]) -> str:
    """The letter whose bytes in UTF-8 are these signs in Windows-1252."""
    codes = (sign.encode("latin-1" if sign < "\u0100" else "cp1252") for sign in found[0])
    return b"".join(codes).decode("utf-8", "replace")
