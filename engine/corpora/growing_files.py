"""Read dated texts from a JSON-lines file while another program appends to it."""

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stickbreaker.engine.corpora.corpus import CorpusError

# Between two looks at a file that has not grown.
WAIT_SECONDS = 1.0


@dataclass
class GrowingFile:
    """A JSON-lines file, and how much of it has been read: `offset` bytes, which are `line` lines.

    Only complete lines are read, those that end in a newline. A file that has become shorter is read from its start.
    """

    path: Path
    text_column: str = "text"
    date_column: str = "date"
    offset: int = 0
    line: int = 0

    def read(self, idle_seconds: float = 0.0) -> Iterator[tuple[object, str]]:
        """Yield (date, text) of further lines, until none has arrived for some seconds.

        A line that is not a JSON object with a text is skipped, with a warning that names it.

        Parameters
        ----------
        idle_seconds : float
            How long to wait for more lines; 0 ends at the end of the file, and infinity never ends.

        Yields
        ------
        tuple of object and str
            The date as it is written, None where there is none, and the text.

        Raises
        ------
        CorpusError
            If the file cannot be read.
        """
        waited = 0.0
        while True:
            for row in self._read_lines():
                waited = 0.0
                yield row
            if waited >= idle_seconds:
                return
            pause = min(WAIT_SECONDS, idle_seconds - waited)
            time.sleep(pause)
            waited += pause

    def _read_lines(self) -> Iterator[tuple[object, str]]:
        """Rows of the lines that are complete now."""
        try:
            if self.path.stat().st_size < self.offset:
                warnings.warn(f"{self.path} has become shorter: it is read from its start.", stacklevel=2)
                self.offset = self.line = 0
            with self.path.open("rb") as file:
                file.seek(self.offset)
                while (raw := file.readline()).endswith(b"\n"):
                    self.offset += len(raw)
                    self.line += 1
                    row = self._parse(raw)
                    if row is not None:
                        yield row
        except OSError as error:
            raise CorpusError(f"{self.path} cannot be read ({error}): give the path of a JSON-lines file.") from error

    def _parse(self, raw: bytes) -> tuple[object, str] | None:
        try:
            values = json.loads(raw)
        except ValueError:
            values = None
        text = values.get(self.text_column) if isinstance(values, dict) else None
        if not isinstance(text, str):
            warnings.warn(
                f'{self.path}, line {self.line}, is skipped: write one object per line, like {{"{self.text_column}":'
                ' "..."}.',
                stacklevel=2,
            )
            return None
        return values.get(self.date_column), text
