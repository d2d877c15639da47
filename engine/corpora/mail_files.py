"""Read e-mail: a mailbox with many messages, or files with one message each."""

import email
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO

from stickbreaker.engine.corpora.encodings import name_encoding
from stickbreaker.engine.corpora.marked_up import read_html
from stickbreaker.engine.corpora.rows import (
    MAX_FILE,
    BadRow,
    Chunk,
    Content,
    CorpusError,
    LeftOut,
    Row,
    Table,
    explain_fault,
    gather,
)
from stickbreaker.engine.files.messages import explain_error

COLUMNS = ("text", "title", "date", "author")
QUOTED = "quoted lines"
SIGNATURES = "signatures"
# Below such a line is an older message, or a signature of PGP.
BELOW = re.compile(r"-{3,} ?(?!BEGIN PGP SIGNED)[^-]{5,60} ?-{3,}\s*")
# The header of an older message, as Outlook writes it: its sender, in ten languages, and then
# fields such as the day and the recipient.
OLD_SENDER = re.compile(r"\W*(?:From|Von|De|Da|Van|Fra|Från|Od|От|发件人|差出人)\*?\s?:.")
FIELD = re.compile(r"\W*[^\W\d]{1,15}\*?\s?:.")
RULE = re.compile(r"_{10,}\s*")
# A line that names the author of the quoted lines below it may go on in a short second line.
SHORT = 20


def open_mailbox(path: Path, encoding: str = "") -> Table:
    """Open a mailbox (mbox): each message is a row.

    Raises CorpusError if it does not begin with a message.
    """
    with path.open("rb") as stream:
        if not stream.readline().startswith(b"From "):
            raise CorpusError(
                f"{path} does not begin with a message, a line that begins with From. Export it"
                " again as mbox."
            )
    done = [0]
    size = max(1, path.stat().st_size)

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        left = LeftOut()
        with path.open("rb") as stream:
            found = rows(stream, wanted, left)
            yield from gather(str(path), wanted, lambda: done[0] / size, found, left)

    def rows(stream: BinaryIO, wanted: Sequence[str], left: LeftOut) -> Iterator[Row]:
        for row, content in enumerate(_split(stream), start=1):
            done[0] = stream.tell()
            if len(content) > MAX_FILE:
                reason = f"the message is larger than {MAX_FILE:,} bytes: remove its attachments"
                yield BadRow(file=str(path), row=row, reason=reason)
                continue
            place = f"{path}, message {row}"
            try:
                found = read_mail(content, place, encoding)
            except CorpusError as error:
                yield BadRow(file=str(path), row=row, reason=explain_fault(error, place))
                continue
            left.add(found.left)
            yield row, [getattr(found, column) for column in wanted]

    return Table(path=path, kind="mailbox", columns=COLUMNS, read=read, has=("text", "title"))


def _split(stream: BinaryIO) -> Iterator[bytes]:
    """The messages of a mailbox; of one that is too large only as much as shows that."""
    lines: list[bytes] = []
    size = 0
    is_blank = True
    for line in stream:
        if is_blank and line.startswith(b"From ") and lines:
            yield b"".join(lines)
            lines.clear()
            size = 0
        elif not line.startswith(b"From ") or not is_blank:
            size += len(line)
            if size <= MAX_FILE + len(line):
                # A line of a text that begins with From is written as >From.
                lines.append(line[line.startswith(b">From ") :])
        is_blank = not line.strip()
    if lines:
        yield b"".join(lines)


def read_mail(content: bytes, place: str, encoding: str = "") -> Content:
    """Read a message: subject, day, sender, and the text without quoted lines and signature."""
    try:
        message = email.message_from_bytes(content)
        kept, left = _leave_out(_find_text(message, place, encoding))
        name, address = parseaddr(_read_header(message, "From"))
    except CorpusError:
        raise
    # A damaged message can lead to any error of Python's readers.
    except Exception as error:
        raise CorpusError(
            f"{place} is a damaged message ({explain_error(error)}): export it again."
        ) from error
    return Content(
        text=kept,
        title=_read_header(message, "Subject"),
        date=_read_day(_read_header(message, "Date")),
        author=name or address,
        left=left,
    )


def read_web_archive(content: bytes, place: str, encoding: str = "") -> Content:
    """Read the page of a web archive (.mhtml), which is written as a message."""
    message = email.message_from_bytes(content)
    for part in message.walk():
        page = part.get_payload(decode=True)
        if part.get_content_type() == "text/html" and isinstance(page, bytes):
            return read_html(page, place, encoding or part.get_content_charset(""))
    raise CorpusError(f"{place} is a web archive without a page: save the page as .html.")


def _read_header(message: Message, name: str) -> str:
    written = str(message.get(name, ""))
    # A charset that is unknown, or signs that are not of it.
    with suppress(LookupError, ValueError):
        written = str(make_header(decode_header(written)))
    return " ".join(written.split())


def _read_day(written: str) -> str:
    """The written calendar day of a date, as ISO 8601; what cannot be read is returned as it is."""
    try:
        return parsedate_to_datetime(written).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return written


def _find_text(message: Message, place: str, encoding: str) -> str:
    """The plain text of a message, or the text of its HTML."""
    parts = [part for part in message.walk() if part.get_content_disposition() != "attachment"]
    for kind in ("text/plain", "text/html"):
        found = [part for part in parts if part.get_content_type() == kind]
        texts = [_read_part(part, place, encoding) for part in found]
        if text := "\n".join(filter(str.strip, texts)):
            return text
    return ""


def _read_part(part: Message, place: str, encoding: str) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content.strip():
        return ""
    charset = encoding or part.get_content_charset("")
    try:
        "".encode(charset or "utf-8")
    except LookupError:
        charset = ""
    if part.get_content_type() == "text/html":
        return read_html(content, place, charset, is_mail=True).text
    return content.decode(name_encoding(iter([content]), place, charset).name, errors="replace")


def _leave_out(text: str) -> tuple[str, dict[str, tuple[int, int]]]:
    """The lines that the sender wrote, and how many characters are left out.

    >>> _leave_out("Yes.\\n\\nOn Monday, Ann wrote:\\n> Peace?\\n-- \\nBob")
    ('Yes.\\n', {'quoted lines': (29, 36), 'signatures': (3, 36)})
    """
    kept: list[str] = []
    num_quoted = num_signed = 0
    lines = text.splitlines()
    in_quote = False
    for number, line in enumerate(lines):
        # A message that is only forwarded is kept.
        is_old = (
            OLD_SENDER.match(line) is not None
            and all(map(FIELD.match, lines[number + 1 : number + 3]))
            and any(map(str.strip, kept))
        )
        if is_old and RULE.fullmatch(kept[-1]):
            kept.pop()
        if line.rstrip() == "--" or BELOW.fullmatch(line) or is_old:
            rest = sum(map(len, lines[number + 1 :]))
            is_signed = line.rstrip() == "--" or "PGP SIGNATURE" in line
            num_signed += rest * is_signed
            num_quoted += rest * (not is_signed)
            break
        if line.lstrip().startswith(">"):
            num_quoted += len(line) + (0 if in_quote else _take_introduction(kept))
            in_quote = True
        else:
            kept.append(line)
            in_quote = in_quote and not line.strip()
    total = num_quoted + num_signed + sum(map(len, kept))
    return "\n".join(kept), {QUOTED: (num_quoted, total), SIGNATURES: (num_signed, total)}


def _take_introduction(kept: list[str]) -> int:
    """Remove the last line if it announces a quotation; return how many characters it has."""
    while kept and not kept[-1].strip():
        kept.pop()
    size = 0
    if kept and kept[-1].rstrip().endswith(":"):
        size = len(kept[-1])
        last = kept.pop()
        above = kept[-1].strip() if kept else ""
        if (len(last) <= SHORT or last.startswith("<")) and above and above[-1] not in ".!?":
            size += len(kept.pop())
    return size
