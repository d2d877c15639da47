"""Read the text of PDF files, with pypdf, which is optional."""

import io
import logging
import re
from collections import Counter
from collections.abc import Sequence

from stickbreaker.engine.corpora.rows import MAX_TEXT, Content, CorpusError
from stickbreaker.engine.files.messages import explain_error

# Lines at the top and at the bottom of a page that may repeat.
AT_EDGE = 3
# Titles of left pages are on half of them.
LEAST_REPEATED = 3
SHARE_OF_PAGES = 0.4
INSTALL = "python -m pip install 'stickbreaker[documents]'"


def read_pdf(content: bytes, place: str, encoding: str = "") -> Content:
    """Read the text of the pages of a PDF, with a form feed before each of them but the first.

    Raises CorpusError if it is damaged, has a password, or has no text because it is scanned.
    """
    try:
        from pypdf import PdfReader
        from pypdf.errors import FileNotDecryptedError
    except ImportError as error:
        raise CorpusError(
            f"{place} is a PDF: to read PDF files, install pypdf: {INSTALL}."
        ) from error

    # What it says about each fault of a file is for those who write PDF files.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    try:
        for page in PdfReader(io.BytesIO(content)).pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > MAX_TEXT:
                raise CorpusError(f"{place} is longer than {MAX_TEXT:,} characters: split it.")
    except CorpusError:
        raise
    except FileNotDecryptedError as error:
        raise CorpusError(f"{place} is protected by a password: save it without one.") from error
    # A damaged file can lead to any error.
    except Exception as error:
        raise CorpusError(f"{place} is damaged ({explain_error(error)}): save it again.") from error
    num_letters = sum(map(len, pages))
    pages, num_dropped = _drop_titles(pages)
    num_empty = sum(not page.strip() for page in pages)
    if num_empty == len(pages):
        raise CorpusError(
            f"{place} is a PDF without text, such as a scan: recognize its text first (OCR)."
        )
    left = {
        "pages without text": (num_empty, len(pages)),
        "page numbers and running titles": (num_dropped, num_letters),
    }
    return Content(text="\n\f".join(pages), left=left)


def _drop_titles(pages: Sequence[str]) -> tuple[list[str], int]:
    """Leave out first and last lines that many pages have, but for their numbers; count their
    characters.

    >>> _drop_titles(["Peace 1\\nWar", "Peace 2\\nTrade", "Peace 3\\nCotton"])
    (['War', 'Trade', 'Cotton'], 21)
    """
    divided = [page.splitlines() for page in pages]
    found: Counter[str] = Counter()
    for lines in divided:
        found.update({_without_number(line) for line in lines[:AT_EDGE] + lines[-AT_EDGE:]})
    least = max(LEAST_REPEATED, SHARE_OF_PAGES * len(pages))
    repeated = {line for line, number in found.items() if number >= least}
    kept = []
    num_dropped = 0
    for page, lines in zip(pages, divided, strict=True):
        first, last = 0, len(lines)
        while first < last and _without_number(lines[first]) in repeated:
            first += 1
        while first < last and _without_number(lines[last - 1]) in repeated:
            last -= 1
        # A page of titles alone is kept.
        text = "\n".join(lines[first:last]) or page
        num_dropped += sum(map(len, lines)) - sum(map(len, text.splitlines()))
        kept.append(text)
    return kept, num_dropped


def _without_number(line: str) -> str:
    return re.sub(r"\d+|\b[ivxlc]+\b", "0", line.strip())
