"""Find out what a path contains (a table, a folder or archive of text files, or word counts) and
open it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar, cast

from stickbreaker.engine.corpora.columns import Columns, split_objects
from stickbreaker.engine.corpora.count_files import name_counts, read_counts
from stickbreaker.engine.corpora.count_tables import find_count_form, read_count_table
from stickbreaker.engine.corpora.json_files import open_items
from stickbreaker.engine.corpora.kinds import (
    ARCHIVE,
    BY_NAME,
    EXCEL,
    FOLDER,
    LDA_C,
    MATRIX,
    OPEN_DOCUMENT,
    READ,
    UCI,
    Role,
    find_kind,
)
from stickbreaker.engine.corpora.packed_files import WrittenFile, open_plain, plain_path
from stickbreaker.engine.corpora.rows import (
    MAX_COLUMNS,
    TOO_LARGE,
    Chunk,
    Content,
    CorpusError,
    Counted,
    LeftOut,
    Table,
    shorten,
)
from stickbreaker.engine.corpora.shards import is_stored
from stickbreaker.engine.corpora.table_files import find_text_kind
from stickbreaker.engine.corpora.text_files import (
    is_document,
    is_hidden,
    is_text,
    list_members,
    read_document,
)
from stickbreaker.engine.files.messages import explain_error
from stickbreaker.engine.progress_bars import Report

STORED = "stored corpus"
MAX_FILE_BYTES = 4_000_000_000
# The names of files that describe the texts next to them.
ABOUT = re.compile(
    r"(?i)_|(?:readme|licen[cs]e|copying|citation|change(?:log|s)|authors|contribut(?:ing|ors)|notice|about|info"
    r"|meta(?:data)?|vocab(?:ulary)?|stop.?words|code.?book|data.?(?:card|dictionary|sheet)|manifest|checksums?|sha\d"
    r"|md5|terms|sources?|package|dataset|config|schema|state)(?![a-z]{3})"
)
# A folder with more texts is one of texts, whatever else is in it.
FEW_TEXTS = 10
NUM_LISTED = 5
EACH_TEI = "Each TEI element, and each text in a group, is read as a document."
SHEETS = (EXCEL, OPEN_DOCUMENT)
# A separator in the name of the only column.
SEPARATED = re.compile(r"\w[^\w\s.'’/&@+()-]\w")
Reader = Callable[[Path, str], Table]
Name = TypeVar("Name", str, Path)


def is_remote(path: str) -> bool:
    """Return whether a path is a remote address.

    >>> is_remote("s3://bucket/texts.parquet"), is_remote("C:/texts.parquet")
    (True, False)
    """
    return bool(re.match(r"[a-z][a-z0-9+.]*://", path))


def refuse_remote(path: str | PathLike[str]) -> None:
    """Raise CorpusError if a path is a remote address, which only `build` reads."""
    if is_remote(os.fspath(path)):
        raise CorpusError(f"{path} is a remote address. Build a corpus from it with engine.build.")


def refuse_hidden(path: Path) -> None:
    """Raise CorpusError if a path is in a folder that this user may not search: nothing is found
    there.
    """
    try:
        path.stat()
    except PermissionError as error:
        raise CorpusError(
            f"Cannot read {path} ({explain_error(error)}). Check the permissions of its folder."
        ) from error
    except (OSError, ValueError):
        return


class Source(NamedTuple):
    """What is read at a path: a file or folder, or the table `member` of an archive.

    kind: `STORED`, `FOLDER`, `ARCHIVE`, or the format of a table or of a file of counts. table: one
    in memory, whose name is the path.
    """

    kind: str
    path: Path
    member: str = ""
    table: Table | None = None

    @property
    def is_counted(self) -> bool:
        """Whether it is a file of word counts."""
        return self.kind in (UCI, LDA_C, MATRIX)

    @property
    def name(self) -> str:
        """The name of a corpus from this file or folder: its name without extensions."""
        if self.table is not None:
            return self.path.name
        if self.is_counted:
            return name_counts(self.path, self.kind)
        return self.path.stem if self.member else plain_path(self.path).stem

    def check_text(self) -> None:
        """Raise CorpusError if there is no text to count, because the words are counted already."""
        if self.kind == STORED:
            raise CorpusError(
                f"{self.path} is a stored corpus. Open it with load_corpus, without building it"
                " again."
            )
        if self.is_counted:
            raise CorpusError(
                f"{self.path} contains word counts. Load it with load_corpus, and call"
                " store_corpus."
            )

    def open(self, columns: Columns | None = None) -> Table:
        """Open a table, a folder or an archive, with the encoding or the sheet that is chosen.

        Raise CorpusError if it cannot be opened, or has no text to count.
        """
        columns = columns or Columns()
        if self.table is not None:
            return _split(self.table, columns)
        self.check_text()
        reader: Reader = BY_NAME[self.kind].load_reader()
        chosen = columns.encoding or ""
        if self.kind in SHEETS:
            chosen = "" if columns.sheet is None else str(columns.sheet)
        elif columns.sheet is not None:
            raise CorpusError(f"{self.path} has no sheets. Omit sheet.")
        if not self.is_marked_up:
            return _split(reader(open_plain(self.path, self.member), chosen), columns)
        texts = self.read_texts(chosen)
        left = LeftOut()
        for each in texts:
            left.add(each.left)
        if len(texts) > 1:
            # Their text, title, date and author.
            items = [dict(zip(Content._fields[:4], each[:4], strict=True)) for each in texts]
            table = open_items(self.path, self.kind, items, (EACH_TEI,))
            table = replace(table, has=("text", "title"))
        else:
            table = reader(cast(Path, WrittenFile(self.path, texts[0].text)), "utf-8")

        def read(wanted: Sequence[str]) -> Iterator[Chunk]:
            for number, chunk in enumerate(table.read(wanted)):
                yield chunk if number else chunk._replace(left=left.parts)

        return _split(replace(table, read=read), columns)

    @property
    def is_marked_up(self) -> bool:
        """Whether it is a document that is not plain text, such as a Word file, by its name."""
        name = self.member or self.path.name
        return is_document(name) and not is_text(name)

    def read_texts(self, encoding: str = "") -> tuple[Content, ...]:
        """Read the texts of a document that is not plain text."""
        changed = self.path.stat().st_mtime_ns
        found = read_document(self.path, self.member, changed, encoding)
        return (found, *found.others)

    def has_counts(self, columns: Columns) -> bool:
        """Whether `read` returns word counts."""
        if self.is_counted or columns.text is not None:
            return self.is_counted
        return find_count_form(self.open(columns)) is not None

    def read(self, columns: Columns, report: Report) -> Table | Counted:
        """Open a table of texts, or read word counts; a column of texts that is given decides."""
        if self.is_counted:
            return read_counts(self.path, self.kind, report, columns.encoding or "")
        table = self.open(columns)
        form = find_count_form(table) if columns.text is None else None
        if form is None:
            return table
        return read_count_table(table, form, report)._replace(sheets=table.sheets)


def _split(table: Table, columns: Columns) -> Table:
    """Check a table; its columns of JSON objects are split if a field of them may be needed."""
    table = check_columns(table)
    if columns.text and set(columns.names) <= set(table.columns):
        return table
    return split_objects(table)


def check_columns(table: Table) -> Table:
    """Leave out columns without a name, with a note, and note if one column looks like several.

    Raises CorpusError if the table has more than `MAX_COLUMNS` columns, or none with a name.
    """
    if len(table.columns) > MAX_COLUMNS and find_count_form(table) is None:
        raise CorpusError(
            f"{table.path} has {len(table.columns):,} columns, more than {MAX_COLUMNS:,}."
            " Keep only those for text, date and title."
        )
    named = tuple(column for column in table.columns if column.strip())
    if not named:
        raise CorpusError(
            f"{table.path} has no column with a name. Name the column that contains the texts."
        )
    if len(named) < len(table.columns):
        note = (
            f"{table.path.name} has a column without a name, which is left out. Name it to use it."
        )
        return replace(table, columns=named, notes=(*table.notes, note))
    (only,) = named if len(named) == 1 else ("",)
    if SEPARATED.search(only):
        note = (
            f"The only column is {shorten(only)!r}. If its cells have several values, split them"
            " into columns."
        )
        return replace(table, notes=(*table.notes, note))
    return table


def find_source(
    path: str | PathLike[str], max_bytes: float | None = None, is_one: bool = True
) -> Source:
    """Find out what is read for a path: the file or folder, or the only table, archive or file of
    counts in a folder or archive, next to files that describe it.

    max_bytes: the size of the largest file, by default `MAX_FILE_BYTES`. is_one: whether a folder
    with several tables is refused. Raises CorpusError if the
    file is missing, unreadable, remote, too large or of an unsupported type.
    """
    if not os.fspath(path):
        raise CorpusError("The path is empty. Name a file or a folder.")
    refuse_remote(path)
    path = Path(path).expanduser()
    # The corpus takes its name from the path, and "." has none.
    if not path.name:
        path = path.resolve()
    refuse_hidden(path)
    if is_stored(path):
        return Source(kind=STORED, path=path)
    if os.path.isdir(path):
        return _look_into(path, is_one)
    source = _recognise(name_source(path))
    kind = find_kind(plain_path(path).name)
    is_one_text = kind.role is Role.DOCUMENT
    if not os.path.isfile(path) and (source.kind or is_one_text):
        raise CorpusError(f"File not found: {path.absolute()}. Check the folder and the name.")
    if not source.kind:
        remedy = kind.remedy or f"use {READ}"
        fault = "Unsupported file type" if not is_one_text else "One text is no corpus"
        raise CorpusError(f"{fault}: {path}. {remedy[0].upper()}{remedy[1:]}.")
    most = max_bytes or MAX_FILE_BYTES
    if path.stat().st_size > most:
        raise CorpusError(f"{path} is larger than {most / 1e9:g} GB. {TOO_LARGE}.")
    if source.kind != ARCHIVE:
        return source
    members = list_members(path)
    if found := find_table(path, members):
        return source._replace(kind=name_source(Path(found)).kind, member=found)
    only = Source(kind="", path=path, member=members[0][0] if len(members) == 1 else "")
    recognised = _recognise(only)
    return recognised if recognised.kind else source


def _recognise(source: Source) -> Source:
    """A document that is clearly a table, or has several texts, as such a source."""
    name = source.member or source.path.name
    if source.kind or not is_document(name) or not os.path.isfile(source.path):
        return source
    path = open_plain(source.path, source.member)
    if source.is_marked_up:
        first, *others = source.read_texts()
        if others:
            return source._replace(kind=find_kind(path.name).name)
        path = cast(Path, WrittenFile(path, first.text))
    return source._replace(kind=find_text_kind(path))


def _look_into(folder: Path, is_one: bool) -> Source:
    """The only file of counts in a folder, its only file if it is a table or an archive, or the
    folder.
    """
    try:
        files = [
            file
            for file in sorted(folder.iterdir())
            if file.is_file() and not file.name.startswith(".")
        ]
    except OSError as error:
        raise CorpusError(
            f"Cannot read {folder} ({explain_error(error)}). Check its permissions."
        ) from error
    sources = list(map(name_source, files))
    counted = [source for source in sources if source.is_counted]
    if len(counted) == 1:
        return counted[0]
    if len(sources) == 1 and sources[0].kind:
        return sources[0]
    if len(sources) == 1 == len(list_files(folder)):
        only = _recognise(sources[0])
        return only if only.kind else Source(kind=FOLDER, path=folder)
    if not is_one:
        return Source(kind=FOLDER, path=folder)
    inside = (file for file in folder.rglob("*") if not is_hidden(file.relative_to(folder)))
    sizes = ((str(file), file.stat().st_size) for file in inside if file.is_file())
    if found := find_table(folder, sizes):
        return name_source(Path(found))
    return Source(kind=FOLDER, path=folder)


def has_text(path: PurePosixPath | Path) -> bool:
    """Whether a file is plain text, and does not describe the files next to it, by its name."""
    return is_text(path.name) and not ABOUT.match(path.stem)


def is_table(path: Path) -> bool:
    """Whether a file is a table, and not JSON that describes the files next to it, by its name."""
    kind = find_kind(plain_path(path).name)
    may_describe = kind.name in ("JSON", *SHEETS)
    return kind.role is Role.TABLE and not (may_describe and ABOUT.match(path.stem))


def is_sheet(path: Path) -> bool:
    """Whether a file is of sheets, by its name."""
    return find_kind(plain_path(path).name).name in SHEETS


def pick_tables(names: Iterable[Name]) -> list[Name]:
    """The tables of a folder or archive, by their names: sheets only if there are no others."""
    tables = [name for name in names if is_table(Path(name))]
    return [name for name in tables if not is_sheet(Path(name))] or tables


def find_table(path: Path, files: Iterable[tuple[str, int]]) -> str:
    """Find the only table among the names and sizes of the files in a folder or archive; "" if they
    are texts.

    Files that describe a table are no texts. Raises CorpusError that names the tables if it is not
    clear what to read.
    """
    found: dict[str, int] = {}
    texts: dict[str, int] = {}
    num_other = 0
    for name, size in files:
        plain = PurePosixPath(name)
        if is_table(Path(name)):
            found[name] = size
        elif has_text(plain):
            texts[name] = size
        # A few documents, such as PDF files, describe a table.
        elif is_document(name):
            num_other += 1
        if max(len(texts), num_other) > FEW_TEXTS:
            return ""
    tables = {name: found[name] for name in pick_tables(found)}
    if not tables or sum(tables.values()) < sum(texts.values()):
        return ""
    if len(tables) == 1 and not texts:
        return next(iter(tables))
    names = sorted(PurePosixPath(name).name for name in tables)
    listed = ", ".join(names[:NUM_LISTED]) + " and others" * (len(names) > NUM_LISTED)
    raise CorpusError(
        f"{path} contains {len(tables)} table{'s' * (len(tables) > 1)} ({listed}) and"
        f" {len(texts)} text{'s' * (len(texts) != 1)}. Choose one table, combine several with"
        " engine.build, or keep only the texts."
    )


def name_source(path: Path) -> Source:
    """The source that a file is by its name alone; its kind is "" if it is not supported.

    >>> [name_source(Path(name)).kind for name in ("docword.kos.txt.gz", "ap.csv", "ap.zip", "ap")]
    ['UCI bag-of-words', 'CSV', 'zip of text files', '']
    """
    kind = find_kind(plain_path(path).name)
    is_packed_archive = kind.name == ARCHIVE and path.suffix.lower() != ".zip"
    is_read = kind.role not in (Role.NONE, Role.DOCUMENT) and not is_packed_archive
    return Source(kind=kind.name * is_read, path=path)


def count_bytes(path: Path) -> int:
    """The size of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in list_files(path))


def list_files(folder: Path) -> list[Path]:
    """The files of a folder and its subfolders in order, without hidden ones, such as those of a
    build.
    """
    found = (file for file in folder.rglob("*") if not is_hidden(file.relative_to(folder)))
    return sorted(file for file in found if file.is_file())
