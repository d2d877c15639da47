"""What a page asks of the process that reads and builds text, and what this process does."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stickbreaker.app.model.disk_space import check_corpora
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.export import export_own
from stickbreaker.engine.corpora.known_words import KnownWords
from stickbreaker.engine.corpora.library import OwnCorpus, find_words_of
from stickbreaker.engine.corpora.preview import Preview, look_through
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import WordEffect

Report = Callable[[float, str], None]


class Stopped(Exception):
    """The task was cancelled."""


class SameWords(NamedTuple):
    """The words and word choices of a corpus, by its name."""

    corpus: str


class TextTaskRunner:
    """Does the tasks that the process accepts, and keeps the preview of the last file.

    folder: where corpora are kept, by default as `engine.corpora.library.find_folder` says.
    """

    def __init__(self, report: Report, folder: Path | None = None):
        self._report = report
        self._folder = folder
        self._preview: Preview | None = None

    def look(self, path: Path, columns: Mapping[str, Any]) -> Preview:
        """Preview a file, with these columns (None: guess, "": none)."""
        before = self._preview
        self._preview = None
        try:
            self._preview = look_through(path, Columns(**columns), self._report)
        except Stopped:
            self._preview = before
            raise
        return self._preview.without_sample()

    def measure(self, words: WordChoices | SameWords) -> WordEffect:
        """Try word choices, or the words of a corpus, on the last file."""
        if self._preview is None:
            raise CorpusError("There is no text to try word choices on: choose a file first.")
        return self._preview.measure(self._find_words(words))

    def _find_words(self, words: WordChoices | SameWords) -> WordChoices | KnownWords:
        return words if isinstance(words, WordChoices) else find_words_of(*words, self._folder)

    def build(
        self,
        path: Path,
        name: str,
        columns: Columns,
        words: WordChoices | SameWords,
        keeps_text: bool,
    ) -> OwnCorpus:
        """Build a corpus and keep it."""
        check_corpora(self._folder, path)
        request = BuildRequest(path, name, columns, self._find_words(words), keeps_text)
        return build_own(request, self._report, self._folder)

    def export(self, name: str, target: Path) -> Path:
        """Write a corpus as one Parquet file."""
        return export_own(name, target, self._folder)
