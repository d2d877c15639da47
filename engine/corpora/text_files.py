"""Read the files of a folder or a zip archive that have one text each, such as .txt and .docx.

Archives are unpacked in memory only.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stickbreaker.engine.corpora.encodings import MARKS, Encoding, name_encoding
from stickbreaker.engine.corpora.kinds import ARCHIVE, FOLDER, UNPACK, Kind, Role, find_kind
from stickbreaker.engine.corpora.name_dates import find_name_dates
from stickbreaker.engine.corpora.packed_files import (
    BROKEN,
    COMPRESSIONS,
    check_unpacked,
    open_plain,
)
from stickbreaker.engine.corpora.rows import (
    MAX_FILE,
    MAX_NAME,
    MAX_TEXT,
    BadRow,
    Chunk,
    Content,
    CorpusError,
    LeftOut,
    Row,
    Table,
    explain_fault,
    gather,
    repair,
    shorten,
)
from stickbreaker.engine.files.messages import explain_error

# Plain texts from which the encoding of a folder is found.
NUM_SNIFFED = 20
# The flag of a member of a zip archive whose name is in UTF-8.
UNICODE_NAME = 0x800
DESCRIBES = re.compile(r"(?i)(.*/)?(readme|licen[cs]e|copying|citation|changelog)(\.[a-z]+)?")
# How browsers call the folder of the files of a page, after its name.
SAVED_WITH = ("_files", "-Dateien", "_fichiers", "_archivos", "_file")
COLUMNS = ("text", "title", "folder", "date", "author")

# Longer numbers are sorted in parts: Python reads no number of more than 4,300 digits.
NUMBER_IN_NAME = re.compile(r"(\d{1,18})")


class TextFile(NamedTuple):
    """A file in a folder or archive: its path in it, and its bytes or why it is skipped."""

    name: str
    content: bytes = b""
    fault: str = ""
    date: str = ""
    encoding: str = ""


def open_folder(path: Path, encoding: str = "") -> Table:
    """Open a folder of text files, with its subfolders; raise CorpusError if it contains no file.

    Each file is a row with text, title (the file name), folder, and date (if the name contains
    one).
    """
    found = sorted(
        (file for file in path.rglob("*") if not is_hidden(file.relative_to(path))), key=_natural
    )
    files = [file for file in found if file.is_file() or file.is_symlink()]
    if not files:
        raise CorpusError(f"{path} contains no files. Choose a folder with text files.")

    names = tuple(repair(file.relative_to(path).as_posix()) for file in files)
    return _make_table(
        path,
        FOLDER,
        names,
        lambda places: (load_file(path, files[place]) for place in places),
        encoding,
    )


def _make_table(
    path: Path,
    kind: str,
    names: tuple[str, ...],
    load: Callable[[Sequence[int]], Iterable[TextFile]],
    encoding: str,
) -> Table:
    """The table of files; `load` yields those in some places of the list of their names."""
    documents = [name for name in names if is_document(name)]
    found, note = find_name_dates(documents)
    dates = dict(zip(documents, found, strict=True))
    left_out = {
        name: f"its text is also in {twin}" for name, twin in _find_twins(documents).items()
    }
    about = [name for name in documents if DESCRIBES.fullmatch(name)]
    if len(about) < len(documents):
        left_out |= dict.fromkeys(about, "it describes the other files: rename it to read it")
    left_out |= {name: f"it is a part of {page}" for name, page in _find_parts(names).items()}
    has = {part for name in documents for part in _find_document(name).has}
    plain = [place for place, name in enumerate(names) if find_kind(name).name == "text file"]
    some = plain[:: -(-len(plain) // NUM_SNIFFED) or 1]
    shared = _find_shared(load(some), path) if not encoding else Encoding("")
    in_shared = set(plain if shared.name else ())

    def read(wanted: Sequence[str]) -> Iterator[Chunk]:
        left = LeftOut()
        done = 0

        def rows() -> Iterator[Row]:
            nonlocal done
            files = load(range(len(names)))
            for done, (file, name) in enumerate(zip(files, names, strict=True), start=1):
                file = file._replace(date=dates.get(name, ""), encoding=encoding)
                if done - 1 in in_shared and not _is_unicode(file.content):
                    file = file._replace(encoding=shared.name)
                if name in left_out:
                    file = file._replace(fault=left_out[name])
                yield from make_rows(path, done, file, wanted, left)

        yield from gather(str(path), wanted, lambda: done / max(1, len(names)), rows(), left)

    if "date" in has:
        others = "; others are read from the file names" * bool(note)
        note = f"Dates are those in the files, such as in a header{others}."
    return Table(
        path=path,
        kind=kind,
        columns=tuple(
            name
            for name in COLUMNS
            if name in has or (note if name == "date" else name != "author")
        ),
        read=read,
        notes=shared.notes,
        has=("text", "title"),
        files=names,
        date_note=note,
    )


def _find_shared(files: Iterable[TextFile], path: Path) -> Encoding:
    """The encoding of all files that are not Unicode, with a note; its name is "" without such
    files.

    One short file alone can be read in several ways.
    """
    found = Encoding("")
    others = [file.content for file in files if not _is_unicode(file.content)]
    if others:
        with suppress(CorpusError):
            found = name_encoding(iter([b"\n".join(others)]), str(path))
    return found if found.name != "utf-8" else Encoding("")


def _is_unicode(content: bytes) -> bool:
    """Whether a text declares Unicode or is valid UTF-8."""
    if content.startswith(tuple(mark for mark, _ in MARKS)):
        return True
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _find_twins(names: Sequence[str]) -> dict[str, str]:
    """The files whose text is also in a text file of the same name, and the name of that file.

    >>> _find_twins(["a.pdf", "a.txt", "b.pdf"])
    {'a.pdf': 'a.txt'}
    """
    others = [name for name in names if not is_text(name)]
    if not others:
        return {}
    plain = {name.rpartition(".")[0]: name for name in names if is_text(name)}
    stems = ((name, name.rpartition(".")[0]) for name in others)
    return {name: plain[stem] for name, stem in stems if stem in plain}


def _find_parts(names: Sequence[str]) -> dict[str, str]:
    """The files that a browser has saved with a page, and that page.

    >>> _find_parts(["On peace.html", "On peace_files/menu.html", "my_files/a.html"])
    {'On peace_files/menu.html': 'On peace.html'}
    """
    pages = {name.rpartition(".")[0]: name for name in names if _find_document(name).name == "HTML"}
    places = {page + end: name for page, name in pages.items() for end in SAVED_WITH}
    folders = ((name, name.rpartition("/")[0]) for name in names)
    return {name: places[folder] for name, folder in folders if folder in places}


def load_file(path: Path, file: Path) -> TextFile:
    """Read a file in a folder, or say why it is skipped."""
    name = file.relative_to(path).as_posix()
    if file.is_symlink():
        return TextFile(name, fault="it is a symbolic link: copy the file itself into the folder")
    if fault := _find_fault(name, file.stat().st_size):
        return TextFile(name, fault=fault)
    try:
        return TextFile(name=name, content=file.read_bytes())
    except OSError as error:
        return TextFile(
            name, fault=f"the file cannot be read ({explain_error(error)}): check its permissions"
        )


def open_archive(path: Path, encoding: str = "") -> Table:
    """Open a zip archive of text files, as `open_folder` does.

    Raises CorpusError if it is missing, damaged, empty, or too large when unpacked.
    """
    members = _list_members(path)
    if not members:
        raise CorpusError(f"{path} contains no files. Create an archive of text files.")
    unpacked = sum(member.file_size for member in members)
    check_unpacked(path, unpacked, max(1, path.stat().st_size))

    def load(places: Sequence[int]) -> Iterator[TextFile]:
        with zipfile.ZipFile(path) as archive:
            yield from (
                _unpack(archive, members[place])._replace(name=names[place]) for place in places
            )

    names = _read_names(members)
    return _make_table(path, ARCHIVE, names, load, encoding)


def _read_names(members: Sequence[zipfile.ZipInfo]) -> tuple[str, ...]:
    """The names of the members of an archive.

    Those that do not declare Unicode are in the encoding of a system, which is found from them all,
    but Python reads code page 437.
    """
    unknown = {
        member.filename: member.filename.encode("cp437")
        for member in members
        if not member.flag_bits & UNICODE_NAME and member.filename == member.orig_filename
    }
    found = Encoding("cp437")
    with suppress(CorpusError):
        found = name_encoding(iter([b"\n".join(unknown.values())]), "")
    read = {name: written.decode(found.name, "replace") for name, written in unknown.items()}
    names = (read.get(member.filename, member.filename) for member in members)
    return tuple(repair(name.replace("\\", "/")) for name in names)


def _list_members(path: Path) -> tuple[zipfile.ZipInfo, ...]:
    try:
        return _read_directory(path, path.stat().st_mtime_ns)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise CorpusError(
            f"Cannot open {path} as a zip archive ({explain_error(error)}). Create it again."
        ) from error


@lru_cache(1)
def _read_directory(path: Path, changed: int) -> tuple[zipfile.ZipInfo, ...]:
    """The files of an archive that was changed then: finding out what it is needs them too."""
    with zipfile.ZipFile(path) as archive:
        found = archive.infolist()
    members = (
        member
        for member in found
        if not member.is_dir() and not is_hidden(PurePosixPath(member.filename))
    )
    return tuple(sorted(members, key=lambda member: _natural(member.filename)))


def list_members(path: Path) -> list[tuple[str, int]]:
    """List the names and sizes of the files in an archive.

    Raise CorpusError if it is missing or damaged.
    """
    return [(member.filename, member.file_size) for member in _list_members(path)]


def _find_document(name: str) -> Kind:
    """The kind of a file that may be compressed, by its name."""
    return find_kind(_split_packed(name)[0])


def _split_packed(name: str) -> tuple[str, str]:
    """A name without the suffix of a compression, and that suffix, or ""."""
    plain, dot, end = name.rpartition(".")
    suffix = dot + end.lower()
    return (plain, suffix) if plain and suffix in COMPRESSIONS else (name, "")


def is_document(name: str) -> bool:
    """Whether a file is read as one text, by its name."""
    return _find_document(name).role is Role.DOCUMENT


def is_text(name: str) -> bool:
    """Whether a file is plain text, by its name."""
    return _find_document(name).name == "text file"


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> TextFile:
    name = member.filename
    if (
        ".." in name.replace("\\", "/").split("/")
        or name.startswith(("/", "\\"))
        or ":" in name.partition("/")[0]
    ):
        return TextFile(
            name, fault="its path is outside the archive: create the archive with relative paths"
        )
    if member.flag_bits & 1:
        return TextFile(name, fault="it is encrypted: create the archive without a password")
    if fault := _find_fault(name, member.file_size):
        return TextFile(name, fault=fault)
    try:
        with archive.open(member) as stream:
            # The size in the header may be wrong.
            content = stream.read(MAX_FILE + 1)
    # ValueError: a name or a size that is damaged.
    except (*BROKEN, ValueError) as error:
        fault = f"it is damaged ({explain_error(error)}): create the archive again"
        return TextFile(name, fault=fault)
    return TextFile(name=name, content=content, fault=_find_fault(name, len(content)))


def _find_fault(name: str, size: int) -> str:
    kind = _find_document(name)
    if (kind.remedy == UNPACK and kind.role in (Role.NONE, Role.ARCHIVE)) or kind.name == ARCHIVE:
        return f"archives inside a folder or archive are not opened: {UNPACK}"
    if kind.role is Role.TABLE:
        return "tables are read one at a time: choose this file on its own, unpacked"
    if kind.role is not Role.DOCUMENT:
        remedy = kind.remedy or "use .txt, .md, .rst, .tex or .log"
        return f"unsupported file type {shorten(PurePosixPath(name).suffix)}: {remedy}"
    most = MAX_FILE if kind.is_binary else MAX_TEXT
    return f"it is larger than {most:,} bytes: split it" * (size > most)


def make_rows(
    path: Path, number: int, file: TextFile, wanted: Sequence[str], left: LeftOut | None = None
) -> Iterator[Row]:
    """Make the row of a file in a folder or archive, or one for each of its texts, or say why it is
    skipped.

    left: counts what is left out of the text.
    """
    place = f"{path.name}/{shorten(file.name, MAX_NAME)}"
    if file.fault:
        yield BadRow(file=place, row=None, reason=file.fault)
        return
    try:
        content = _decompress(file, place)
        found: Content = _find_document(file.name).load_reader()(content, place, file.encoding)
    except CorpusError as error:
        yield BadRow(file=place, row=None, reason=explain_fault(error, place))
        return
    folder, name = posixpath.split(posixpath.normpath(file.name))
    stem, suffix = posixpath.splitext(_split_packed(name)[0])
    title = posixpath.join(folder, stem + suffix * suffix[1:].isdigit())
    for each in (found, *found.others):
        if left is not None:
            left.add(each.left)
        cells = {
            "text": each.text,
            "title": each.title or title,
            "folder": folder,
            "date": each.date or file.date,
            "author": each.author,
        }
        yield number, [cells[column] for column in wanted]


@lru_cache(1)
def read_document(path: Path, member: str, changed: int, encoding: str) -> Content:
    """Read a document that is not plain text, alone or in an archive, that was changed then.

    Raises CorpusError if it is damaged or too large.
    """
    file = open_plain(path, member)
    with file.open("rb") as stream:
        content = stream.read(MAX_FILE + 1)
    if fault := _find_fault(file.name, len(content)):
        raise CorpusError(f"{file} cannot be read: {fault}.")
    found: Content = find_kind(file.name).load_reader()(content, str(file), encoding)
    return found


def read_plain(content: bytes, place: str, encoding: str = "") -> Content:
    """Read plain text, with \\n at the ends of lines."""
    name = name_encoding(iter([content]), place, encoding).name
    text = content.decode(name, errors="replace")
    return Content(text=io.IncrementalNewlineDecoder(None, True).decode(text))


def _decompress(file: TextFile, place: str) -> bytes:
    _, suffix = _split_packed(file.name)
    if not suffix:
        return file.content
    try:
        content = COMPRESSIONS[suffix](io.BytesIO(file.content)).read(MAX_FILE + 1)
    except BROKEN as error:
        raise CorpusError(
            f"{place} is damaged ({explain_error(error)}): compress it again"
        ) from error
    if fault := _find_fault(file.name, len(content)):
        raise CorpusError(f"{place} is unpacked, and {fault}")
    return content


def is_hidden(name: Path | PurePosixPath) -> bool:
    """Whether a file, named by its path in a folder, is hidden or in a hidden folder."""
    return any(part.startswith((".", "__MACOSX", "~$")) and part != ".." for part in name.parts)


def _natural(name: Path | str) -> list[tuple[int, str]]:
    """Return a sort key that puts chapter 2 before chapter 10."""
    parts = NUMBER_IN_NAME.split(str(name))
    return [(int(part), "") if number % 2 else (0, part) for number, part in enumerate(parts)]
