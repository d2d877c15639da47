"""Read dated texts from a JSON-lines file, or from a folder, while another program adds to it."""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stickbreaker.engine.corpora.kinds import Role, find_kind
from stickbreaker.engine.corpora.name_dates import find_name_dates
from stickbreaker.engine.corpora.rows import BadRow, CorpusError
from stickbreaker.engine.corpora.text_files import load_file, make_rows
from stickbreaker.engine.files.messages import explain_error

# Between two looks at a source that has not grown.
WAIT_SECONDS = 1.0
# Longer lines are skipped, so that a file without newlines does not fill the memory. In bytes.
LONGEST_LINE = 16_000_000
# By which a file that another one has replaced is recognized.
TAIL_BYTES = 256
# Skipped lines and files of a source that are all named in warnings.
NUM_NAMED = 10
LINES_SUFFIXES = (".jsonl", ".ndjson")


class Warner:
    """Warns of what is skipped: of the first `NUM_NAMED`, then of the 100th, the 1,000th and so on.

    Python keeps every text of a warning, so that a stream with many bad lines would fill the
    memory.
    """

    def __init__(self) -> None:
        self._number = 0
        self._next = NUM_NAMED

    def __call__(self, text: str) -> None:
        """Warn with this text if it is due."""
        self._number += 1
        if self._number == self._next:
            self._next *= 10
            text += (
                f" This is message {self._number:,} about this source; the next one shown is"
                f" {self._next:,}."
            )
        elif self._number > NUM_NAMED:
            return
        warnings.warn(text, stacklevel=3)


class GrowingSource(Protocol):
    """A source to which another program adds texts."""

    def read_new(self) -> Iterator[tuple[object, str]]:
        """Yield (date, text) of what has been added since the last call.

        Raises CorpusError if it cannot be read.
        """

    def tell(self) -> dict[str, Any]:
        """What has been read so far, as JSON can hold it."""

    def seek(self, position: Mapping[str, Any]) -> None:
        """Continue after what had been read when `tell` returned this position.

        Raises KeyError for another kind.
        """


def explain_table(path: Path, text_column: str) -> str:
    """Why a table cannot be followed, and the remedy; "" for JSON lines and texts."""
    if path.suffix.lower() in LINES_SUFFIXES or find_kind(path.name).role is not Role.TABLE:
        return ""
    return (
        "tables do not grow: write its rows to a .jsonl file, as objects such as"
        f' {{"{text_column}": "..."}}'
    )


def read_growing(source: GrowingSource, idle_seconds: float = 0.0) -> Iterator[tuple[object, str]]:
    """Yield (date, text) of what is added to a source, until nothing has been added for some
    seconds.

    The date is as written, or None. 0 seconds end when everything present has been read, and
    infinity never ends. Raises CorpusError if the source cannot be read.
    """
    waited = 0.0
    while True:
        for row in source.read_new():
            waited = 0.0
            yield row
        if not waited < idle_seconds:
            return
        pause = min(WAIT_SECONDS, idle_seconds - waited)
        time.sleep(pause)
        waited += pause


@dataclass
class GrowingFile:
    """A JSON-lines file, and how much of it has been read: `offset` bytes, which are `line` lines.

    Only complete lines are read, those that end in a newline. A file that has become shorter, or
    whose last bytes that were read are different now, is another file: it is read from its start. A
    line that is not a JSON object with a text, or that is longer than `LONGEST_LINE`, is skipped,
    with a warning that names it. tail: the last bytes that were read. is_inside: whether `offset`
    is inside of such a long line. report: gets the warnings, all of them; by default, a `Warner`.
    """

    path: Path
    text_column: str = "text"
    date_column: str = "date"
    offset: int = 0
    line: int = 0
    is_inside: bool = False
    report: Callable[[str], None] = field(default_factory=Warner)
    tail: bytes = b""
    # Size and time of the file when all of it had been read.
    _stamp: tuple[int, int] = (0, 0)

    def read_new(self) -> Iterator[tuple[object, str]]:
        """Yield (date, text) of the lines that have been completed since the last call."""
        try:
            yield from self.read_lines()
        except OSError as error:
            raise CorpusError(
                f"{self.path} cannot be read ({explain_error(error)}): give the path of a"
                " JSON-lines file."
            ) from error

    def read_lines(self) -> Iterator[tuple[object, str]]:
        """Do the same as `read_new`, but raise OSError if the file cannot be read."""
        found = self.path.stat()
        stamp = found.st_size, found.st_mtime_ns
        if found.st_size < self.offset:
            self._restart("has become shorter")
        # The start of a line that is not complete is not read again as long as nothing is added.
        if stamp == self._stamp:
            return
        with self.path.open("rb") as file:
            file.seek(self.offset - len(self.tail))
            if file.read(len(self.tail)) != self.tail:
                self._restart("has been replaced")
                file.seek(0)
            while raw := file.readline(LONGEST_LINE):
                is_end = raw.endswith(b"\n")
                if not is_end and len(raw) < LONGEST_LINE:
                    break
                was_inside = self.is_inside
                self.is_inside = not is_end
                self.offset += len(raw)
                self.line += not was_inside
                self.tail = (self.tail + raw)[-TAIL_BYTES:]
                if not was_inside and (row := self._parse(raw)):
                    yield row
        self._stamp = stamp

    def tell(self) -> dict[str, Any]:
        """The bytes and lines that have been read."""
        return {
            "offset": self.offset,
            "line": self.line,
            "is_inside": self.is_inside,
            "tail": self.tail.decode("latin-1"),
        }

    def seek(self, position: Mapping[str, Any]) -> None:
        """Continue after these bytes and lines."""
        self.offset = int(position["offset"])
        self.line = int(position["line"])
        self.is_inside = bool(position.get("is_inside"))
        self._stamp = (0, 0)
        self.tail = str(position.get("tail", "")).encode("latin-1")

    def _restart(self, reason: str) -> None:
        self.report(f"{self.path} {reason}: it is read from its start.")
        self.offset = 0
        self.line = 0
        self.is_inside = False
        self.tail = b""

    def _parse(self, raw: bytes) -> tuple[object, str] | None:
        if self.is_inside:
            self.report(
                f"{self.path}, line {self.line}, is skipped: it has more than {LONGEST_LINE:,}"
                " bytes."
            )
            return None
        try:
            values = json.loads(raw)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or not isinstance(values.get(self.text_column), str):
            self.report(
                f"{self.path}, line {self.line}, is skipped: write one object per line, like"
                f' {{"{self.text_column}": "..."}}.'
            )
            return None
        return values.get(self.date_column), values[self.text_column]


@dataclass
class GrowingFolder:
    """A folder of JSON-lines files, which may grow, and of text files, each of which is one
    document.

    Files are read in order of modification time, and in order of name if the times are equal. A
    text file is read once: write it elsewhere, and move it into the folder when it is complete. Its
    date is the one in its name, otherwise the day on which it was changed last. Files that cannot
    be read are skipped, with a warning. Hidden files and subfolders are left out. A file that
    leaves the folder is forgotten, so the memory is that of the names in the folder. report: gets
    the warnings, all of them; by default, a `Warner`.
    """

    path: Path
    text_column: str = "text"
    date_column: str = "date"
    report: Callable[[str], None] = field(default_factory=Warner)
    _files: dict[str, GrowingFile] = field(default_factory=dict)
    _texts: set[str] = field(default_factory=set)
    # Files that cannot be read at present.
    _unread: set[str] = field(default_factory=set)

    def read_new(self) -> Iterator[tuple[object, str]]:
        """Yield (date, text) of the lines and files that have been added since the last call."""
        for file in self._list_files():
            try:
                yield from self._read_file(file)
                self._unread.discard(file.name)
            except FileNotFoundError:
                # Another program has removed it since it was listed.
                pass
            except OSError as error:
                if file.name not in self._unread:
                    self.report(
                        f"{file} is left out until it can be read ({explain_error(error)}):"
                        " check its permissions."
                    )
                self._unread.add(file.name)

    def _read_file(self, file: Path) -> Iterator[tuple[object, str]]:
        """Yield what a file has and was not read before. Raises OSError if it cannot be read."""
        if file.suffix.lower() in LINES_SUFFIXES:
            lines = self._files.setdefault(file.name, GrowingFile(file, report=self.report))
            lines.text_column = self.text_column
            lines.date_column = self.date_column
            yield from lines.read_lines()
        elif file.name not in self._texts:
            texts = [*self._read_texts(file)]
            self._texts.add(file.name)
            yield from texts

    def tell(self) -> dict[str, Any]:
        """The names of the text files that have been read, and the positions in the other files."""
        return {
            "texts": list(self._texts),
            "files": {name: file.tell() for name, file in self._files.items()},
        }

    def seek(self, position: Mapping[str, Any]) -> None:
        """Continue after these files."""
        self._texts = set(position["texts"])
        self._files = {
            name: GrowingFile(self.path / name, report=self.report) for name in position["files"]
        }
        for name, file in self._files.items():
            file.seek(position["files"][name])

    def _list_files(self) -> list[Path]:
        """The files, in the order in which they are read.

        One that is removed meanwhile is left out.
        """
        found = []
        listed = set()
        try:
            for each in self.path.iterdir():
                if not each.name.startswith("."):
                    listed.add(each.name)
                    with suppress(FileNotFoundError):
                        if each.is_file():
                            found.append((each.stat().st_mtime_ns, each.name))
        except OSError as error:
            raise CorpusError(
                f"{self.path} cannot be read ({explain_error(error)}): give the path of a folder."
            ) from error
        self._texts &= listed
        self._unread &= listed
        self._files = {name: file for name, file in self._files.items() if name in listed}
        return [self.path / name for _, name in sorted(found)]

    def _read_texts(self, file: Path) -> Iterator[tuple[object, str]]:
        if reason := explain_table(file, self.text_column):
            self.report(f"{file} is skipped, because {reason}.")
            return
        (date,), _ = find_name_dates([file.name])
        read = load_file(self.path, file)._replace(date=date)
        changed = str(np.datetime64(int(file.stat().st_mtime), "s").astype("datetime64[D]"))
        for row in make_rows(self.path, 0, read, ("text", "date")):
            if isinstance(row, BadRow):
                self.report(f"{file} is skipped: {row.reason}.")
            else:
                text, date = row[1]
                yield date or changed, text
