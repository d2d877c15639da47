"""The kinds of files: what their names and first bytes look like, what reads them, and what can go
wrong.
"""

from enum import Enum
from functools import cache
from pkgutil import resolve_name
from typing import Any, NamedTuple

PACKAGE = "stickbreaker.engine.corpora"
UNPACK = "unpack it first"
CHOOSE_FOLDER = (
    "choose the folder or a .zip of all such files: each is a document; or begin the parts of this"
    " one with Letter 1, Letter 2, ..."
)


class Role(Enum):
    """What a file contains."""

    TABLE = "a table of texts"
    DOCUMENT = "one text"
    COUNTS = "word counts"
    ARCHIVE = "other files"
    NONE = "nothing that is read"


class Kind(NamedTuple):
    """A kind of file.

    suffixes: of the names; the first is the usual one. reader: the function that opens a table or
    an archive, or reads a document, as `module:function`. signatures: the first bytes, by which
    such a file is found under another name; what: the file, in that message. remedy: what to do
    with it there, or on its own. example: a whole file of this kind. has: what is read with the
    text. is_binary: whether the file can be much larger than its text.
    """

    name: str
    suffixes: tuple[str, ...]
    role: Role = Role.NONE
    reader: str = ""
    signatures: tuple[bytes, ...] = ()
    what: str = ""
    remedy: str = UNPACK
    example: str = ""
    has: tuple[str, ...] = ()
    is_binary: bool = False

    def load_reader(self) -> Any:
        """Return the function that opens a table or an archive, or reads a document."""
        return _load(self.reader)


@cache
def _load(reader: str) -> Any:
    return resolve_name(f"{PACKAGE}.{reader}")


LINES = "text file with one text per line"
PARAGRAPHS = "text file with paragraphs"
PAGES = "text file with pages"
HEADINGS = "text file with numbered headings"
FOLDER = "folder of text files"
ARCHIVE = "zip of text files"
UCI = "UCI bag-of-words"
LDA_C = "LDA-C"
MATRIX = "Matrix Market"
EXCEL = "Excel"
OPEN_DOCUMENT = "OpenDocument"
KINDS = (
    Kind(
        "CSV",
        (".csv",),
        Role.TABLE,
        "table_files:open_delimited",
        example="text,year\nPeace and trade,1901",
    ),
    Kind(
        "TSV",
        (".tsv", ".tab"),
        Role.TABLE,
        "table_files:open_delimited",
        example="text\tyear\nPeace and trade\t1901",
    ),
    Kind(
        "JSON",
        (".json",),
        Role.TABLE,
        "json_files:open_json",
        example='[{"text": "Peace and trade", "year": 1901}]',
    ),
    Kind(
        "JSON lines",
        (".jsonl", ".ndjson"),
        Role.TABLE,
        "json_files:open_json_lines",
        example='{"text": "Peace and trade", "year": 1901}',
    ),
    Kind(
        "Parquet",
        (".parquet", ".pq"),
        Role.TABLE,
        "parquet_files:open_parquet",
        signatures=(b"PAR1",),
        what="a Parquet file",
        remedy="rename it to end in .parquet",
    ),
    Kind(
        EXCEL,
        (".xlsx", ".xls", ".xlsm", ".xlsb"),
        Role.TABLE,
        "sheets:open_sheet",
    ),
    Kind(OPEN_DOCUMENT, (".ods",), Role.TABLE, "sheets:open_sheet"),
    Kind(
        "mailbox",
        (".mbox",),
        Role.TABLE,
        "mail_files:open_mailbox",
        example="From ann@example.org Mon Jan  7 10:00:00 1901\nSubject: Peace\n\nPeace and trade",
    ),
    Kind(LINES, (), Role.TABLE, "text_lines:open_lines"),
    Kind(PARAGRAPHS, (), Role.TABLE, "text_lines:open_paragraphs"),
    Kind(PAGES, (), Role.TABLE, "text_lines:open_pages"),
    Kind(HEADINGS, (), Role.TABLE, "text_lines:open_headings"),
    Kind(
        "text file",
        (".txt", ".text", ".md", ".rst", ".log", ".tex", ""),
        Role.DOCUMENT,
        "text_files:read_plain",
        remedy="if it is a table, rename it to .csv; if each line is a document, write text above"
        " them and rename it to .csv; if it is one of several documents, choose their folder; if it"
        " has several, begin each with Letter 1, Letter 2, ...",
        example="Peace and trade",
    ),
    Kind(
        "Word",
        (".docx",),
        Role.DOCUMENT,
        "marked_up:read_word",
        remedy=CHOOSE_FOLDER,
        is_binary=True,
    ),
    Kind(
        "OpenDocument text",
        (".odt",),
        Role.DOCUMENT,
        "marked_up:read_open_text",
        remedy=CHOOSE_FOLDER,
        is_binary=True,
    ),
    Kind(
        "HTML",
        (".html", ".htm", ".xhtml"),
        Role.DOCUMENT,
        "marked_up:read_html",
        remedy=CHOOSE_FOLDER,
        example="<title>Peace</title><p>Peace and trade</p>",
        has=("date", "author"),
    ),
    Kind(
        "XML",
        (".xml", ".tei"),
        Role.DOCUMENT,
        "marked_up:read_xml",
        remedy=CHOOSE_FOLDER,
        example="<TEI><text><p>Peace and trade</p></text></TEI>",
        has=("date", "author"),
    ),
    Kind(
        "mail",
        (".eml",),
        Role.DOCUMENT,
        "mail_files:read_mail",
        remedy=CHOOSE_FOLDER,
        example="Subject: Peace\n\nPeace and trade",
        has=("date", "author"),
        is_binary=True,
    ),
    Kind(
        "MHTML",
        (".mhtml", ".mht"),
        Role.DOCUMENT,
        "mail_files:read_web_archive",
        remedy=CHOOSE_FOLDER,
        example="Content-Type: text/html\n\n<p>Peace and trade",
        has=("date", "author"),
        is_binary=True,
    ),
    Kind(
        "PDF",
        (".pdf",),
        Role.DOCUMENT,
        "pdf_files:read_pdf",
        signatures=(b"%PDF",),
        what="a PDF",
        remedy=CHOOSE_FOLDER,
        is_binary=True,
    ),
    Kind(FOLDER, (), Role.ARCHIVE, "text_files:open_folder"),
    Kind(
        ARCHIVE,
        (".zip",),
        Role.ARCHIVE,
        "text_files:open_archive",
        signatures=(b"PK\x03\x04",),
        what="a zip archive or an Office document",
        remedy="rename it to .zip, .xlsx, .ods or .docx",
    ),
    Kind(UCI, (".uci",), Role.COUNTS),
    Kind(LDA_C, (".ldac", ".lda-c"), Role.COUNTS),
    Kind(MATRIX, (".mtx", ".mm"), Role.COUNTS),
    Kind("gzip", (".gz", ".tgz"), signatures=(b"\x1f\x8b",), what="compressed with gzip"),
    Kind("bzip2", (".bz2",), signatures=(b"BZh",), what="compressed with bzip2"),
    Kind("xz", (".xz",), signatures=(b"\xfd7zXZ",), what="compressed with xz"),
    Kind("zstd", (".zst",), signatures=(b"\x28\xb5\x2f\xfd",), what="compressed with zstd"),
    Kind("tar", (".tar", ".jar")),
    Kind("data", (".dat",), remedy="rename it to .ldac if it has counts (LDA-C), or to .csv"),
    Kind("7z", (".7z",), signatures=(b"7z\xbc\xaf",), what="a 7z archive"),
    Kind("RAR", (".rar",), signatures=(b"Rar!",), what="a RAR archive"),
    Kind(
        "old Office document",
        (".doc", ".ppt"),
        signatures=(b"\xd0\xcf\x11\xe0",),
        what="an old or encrypted Office document",
        remedy="if it has sheets, rename it to .xls; otherwise save it as .docx without a password",
    ),
    Kind(
        "text of a word processor",
        (".rtf", ".pages", ".wpd"),
        signatures=(b"{\\rtf",),
        what="a text in RTF",
        remedy="save it as .docx or .txt",
    ),
    Kind("e-book", (".epub", ".mobi"), remedy="save the text as .txt, in a folder"),
    Kind("Numbers", (".numbers",), remedy="save the table as CSV UTF-8"),
    Kind(
        "database",
        (".sqlite", ".db"),
        signatures=(b"SQLite format 3",),
        what="a database",
        remedy="export the table as CSV",
    ),
    Kind(
        "picture",
        (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"),
        signatures=(b"\x89PNG", b"\xff\xd8\xff"),
        what="a picture",
        remedy="use a text file",
    ),
)
BY_SUFFIX = {suffix: kind for kind in KINDS for suffix in kind.suffixes}
UNKNOWN = Kind("", (), remedy="")
BY_NAME = {kind.name: kind for kind in KINDS}
# What a message lists.
TABLES, DOCUMENTS, COUNTS = (
    ", ".join(
        f"{kind.name} ({kind.suffixes[0]})" for kind in KINDS if kind.role is role and kind.suffixes
    )
    for role in (Role.TABLE, Role.DOCUMENT, Role.COUNTS)
)
READ = (
    f"{TABLES}; a folder or a .zip of text files: {DOCUMENTS}; {COUNTS} with a list of words in the"
    " same folder; also as .gz, .bz2, .xz or .zst"
)


def find_kind(name: str) -> Kind:
    """Return the kind of a file by its name; `UNKNOWN` if it has none.

    >>> [find_kind(name).name for name in ("Ann.XLSX", "letter.1863", "docword.kos.txt", "a.bin")]
    ['Excel', 'text file', 'UCI bag-of-words', '']
    """
    last = name.lower().rpartition("/")[2]
    if last.startswith("docword"):
        return BY_SUFFIX[".uci"]
    # Folders can have a million files, and paths are slow.
    stem, _, end = last.rpartition(".")
    suffix = f".{end}" if stem and end and not end.isdigit() else ""
    return BY_SUFFIX.get(suffix, UNKNOWN)
