"""The file or folder that a server follows, named at its start and never by a page."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stickbreaker.app.model.counting import count
from stickbreaker.engine import CorpusError
from stickbreaker.engine.corpora.growing_files import LONGEST_LINE, GrowingFile, GrowingFolder

PATH = "STICKBREAKER_FOLLOW"
TEXT = "STICKBREAKER_FOLLOW_TEXT"
DATE = "STICKBREAKER_FOLLOW_DATE"
# Lines at the start of a file of which one must have a text.
NUM_TRIED = 10
LINES = 'one object per line, like {{"{}": "...", "{}": "2026-11-26 10:05"}}'


@dataclass(frozen=True)
class StreamSource:
    """A JSON-lines file or a folder, and the names of the text and of the date in JSON lines."""

    path: Path
    text_column: str = "text"
    date_column: str = "date"

    @property
    def name(self) -> str:
        """Its name on a page, which does not show the folders of the server."""
        return f"{self.path.name}/" if self.path.is_dir() else self.path.name

    def shorten(self, text: str) -> str:
        """Leave the folders of the server out of a message."""
        return text.replace(f"{self.path.parent}{os.sep}", "")

    def open(self, report: Callable[[str], None]) -> GrowingFile | GrowingFolder:
        """Open it at its start; report: gets a sentence about each line or file that is skipped."""
        kind = GrowingFolder if self.path.is_dir() else GrowingFile
        opened: GrowingFile | GrowingFolder = kind(self.path)
        opened.text_column = self.text_column
        opened.date_column = self.date_column
        opened.report = report
        return opened


@lru_cache(1)
def find_source() -> StreamSource | None:
    """The source that the variables name, if any; or a CorpusError."""
    written = os.environ.get(PATH, "")
    if not written:
        return None
    path = Path(written).expanduser().absolute()
    source = StreamSource(
        path=path,
        text_column=os.environ.get(TEXT) or StreamSource.text_column,
        date_column=os.environ.get(DATE) or StreamSource.date_column,
    )
    try:
        if not path.exists():
            raise CorpusError(
                f"{PATH} is {written[:200]!r}, and there is no such file or folder: correct the"
                " path."
            )
        if path.is_dir():
            next(path.iterdir(), None)
        elif path.is_file():
            _check_lines(source)
        else:
            raise CorpusError(
                f"{path} is neither a file nor a folder: give the path of a JSON-lines file."
            )
    except OSError as error:
        raise CorpusError(
            f"{path} cannot be read ({error.strerror}): allow this account to read it."
        ) from error
    return source


def _check_lines(source: StreamSource) -> None:
    """Raise CorpusError if a file has lines, but the first one has no text."""
    with source.path.open("rb") as file:
        first = file.readline(LONGEST_LINE)
    if len(first) == LONGEST_LINE:
        raise CorpusError(
            f"{source.path} has a line of more than {LONGEST_LINE:,} bytes: write one line per"
            " document."
        )
    skipped: list[str] = []

    def report(text: str) -> None:
        skipped.append(text)
        if len(skipped) == NUM_TRIED:
            raise CorpusError(text)

    try:
        has_text = next(source.open(report).read_new(), None) is not None
    except CorpusError:
        has_text = False
    if skipped and not has_text:
        lines = LINES.format(source.text_column, source.date_column)
        raise CorpusError(
            f"{source.path} has no text in its first {count(len(skipped), 'line')}: write {lines},"
            " or name the text and the date of your lines with --follow-text and --follow-date"
            f" ({TEXT}, {DATE})."
        )
