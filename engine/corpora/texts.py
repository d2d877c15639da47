"""The stored texts of a corpus: one that was built with its texts, or a bundled one whose texts a
command stored.
"""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stickbreaker.engine.corpora.bundled import FILES
from stickbreaker.engine.corpora.library import find_converted, find_folder
from stickbreaker.engine.corpora.old_folders import DOCUMENTS, OLD_CORPUS, OldFolder
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import (
    MANIFEST,
    STORED_CORPUS,
    is_stored,
    name_texts,
    read_manifest,
)
from stickbreaker.engine.files.verified_files import (
    FileHeader,
    Kind,
    read_seal,
    reading,
    verify_part,
)

if TYPE_CHECKING:
    import pyarrow as pa

# The folder of the bundled corpora's texts, among the corpora that the user has built.
BUNDLED = ".texts"
HEADER = "texts.json"
TEXTS = Kind(name="file of texts", format=1, remedy="write the texts again", error=CorpusError)
# The commands that store them; they run in a checkout of the project.
TEXT_COMMANDS = {
    "state-of-the-union": "python -m data.build_state_of_the_union --texts",
    "rfc": "python -m data.build_rfc --texts",
    "rfc-documents": "python -m data.build_rfc --texts",
}


class Texts:
    """The texts of the documents of a corpus.

    files: Parquet files with a column `text`, one row per document or, with a column `document`,
    per part of a document. header: names the SHA-256 of the files. kind: what they belong to.
    """

    def __init__(
        self,
        files: Sequence[Path],
        header: FileHeader = FileHeader(),  # noqa: B008
        kind: Kind = TEXTS,
    ):
        self._files = files
        self._header = header
        self._kind = kind

    def read(self, doc_ids: Sequence[int] | np.ndarray) -> list[str]:
        """Read the texts of some documents, in the order of their ids; CorpusError without one."""
        wanted = np.asarray(doc_ids, np.int64)
        found: dict[int, list[str]] = {}
        for ids, texts in self.scan(wanted):
            for row in np.flatnonzero(np.isin(ids, wanted)).tolist():
                found.setdefault(int(ids[row]), []).append(texts[row].as_py())
        missing = [each for each in wanted.tolist() if each not in found]
        if missing:
            raise CorpusError(
                f"{self._files[0]} has no text of document {missing[0]}. Write the texts again."
            )
        return ["".join(found[each]) for each in wanted.tolist()]

    def find(self, words: str) -> np.ndarray:
        """Return the ids (n,) of the documents that contain some words, in any case."""
        import pyarrow.compute as pc

        found = [
            ids[pc.match_substring(texts, words, ignore_case=True).to_numpy()]
            for ids, texts in self.scan()
        ]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def scan(
        self, wanted: np.ndarray | None = None
    ) -> Iterable[tuple[np.ndarray, "pa.ChunkedArray"]]:
        """Yield document ids and texts by row group, only of groups with a wanted document."""
        for file in self._files:
            verify_part(file, self._header, self._kind)
            with reading(file, self._kind):
                yield from _scan_file(file, wanted)


def _scan_file(
    path: Path, wanted: np.ndarray | None
) -> Iterable[tuple[np.ndarray, "pa.ChunkedArray"]]:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        has_ids = "document" in file.schema_arrow.names
        start = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if has_ids:
                ids = file.read_row_group(group, columns=["document"])["document"].to_numpy()
            else:
                ids = np.arange(start, start + size)
            start += size
            if wanted is None or np.isin(ids, wanted).any():
                yield ids, file.read_row_group(group, columns=["text"])["text"]


def find_texts(name: str, folder: str | PathLike[str] | None = None) -> Texts | None:
    """Find the stored texts of a corpus by its name, or by the folder of a stored one.

    None if it has none.

    The texts of bundled corpora are always in the default folder. Raises CorpusError if there is no
    such corpus, or the description of its files is damaged.
    """
    if name in FILES:
        return _find_bundled(name)
    found: Path | OldFolder = Path(name).expanduser()
    if not is_stored(name):
        found = find_converted(name, folder)
    if isinstance(found, OldFolder):
        if not found.about["has_text"]:
            return None
        return Texts([found.place / DOCUMENTS], found.header, OLD_CORPUS)
    files = sorted(found.glob(name_texts("*")))
    if not files:
        return None
    # The texts of a corpus that need not fit in memory are not all verified before one of them is
    # shown.
    header = FileHeader()
    if read_manifest(found).is_loaded:
        header = read_seal(found / MANIFEST, STORED_CORPUS)
    return Texts(files, header, STORED_CORPUS)


def _find_bundled(name: str) -> Texts | None:
    place = find_bundled_folder(name)
    if (place / HEADER).is_file():
        header = read_seal(place / HEADER, TEXTS)
        return Texts([place / next(iter(header.parts or ()))], header)
    # Earlier versions wrote one file without a header.
    file = place.with_name(f"{name}.parquet")
    return Texts([file]) if file.is_file() else None


def find_bundled_folder(name: str) -> Path:
    """The folder of the texts of a bundled corpus."""
    return find_folder() / BUNDLED / name
