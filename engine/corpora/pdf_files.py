"""Read the text of PDF files, with pypdf, which is optional."""

import io
import logging

from stickbreaker.engine.corpora.rows import MAX_TEXT, Content, CorpusError
from stickbreaker.engine.files.messages import explain_error

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
    num_empty = sum(not page.strip() for page in pages)
    if num_empty == len(pages):
        raise CorpusError(
            f"{place} is a PDF without text, such as a scan: recognize its text first (OCR)."
        )
    return Content(text="\n\f".join(pages), left={"pages without text": (num_empty, len(pages))})
