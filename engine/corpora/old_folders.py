"""Folders of corpora that earlier versions wrote as Parquet tables.

Each is converted when it is opened.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from scipy.sparse import coo_array

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary, number_groups
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.shards import MANIFEST, TEXTS_AT_ONCE, VOCABULARY, name_texts
from stickbreaker.engine.corpora.stored import SHARD_DOCUMENTS, write_corpus
from stickbreaker.engine.files.verified_files import (
    FileHeader,
    Kind,
    read_seal,
    reading,
    verify_part,
)
from stickbreaker.engine.files.whole_files import (
    FileError,
    move_files,
    open_synced,
    remove_file,
    unfinished_folder,
)

ABOUT = "corpus.json"
COUNTS = "counts.parquet"
DOCUMENTS = "documents.parquet"
OLD_CORPUS = Kind(name="corpus", format=2, remedy="delete it and build it again", error=CorpusError)


class OldFolder(NamedTuple):
    """A folder of the earlier format, with the description and the header of its files."""

    place: Path
    about: dict[str, Any]
    header: FileHeader

    def load(self) -> Corpus:
        """Verify and load the corpus; raise CorpusError if a file is missing or damaged."""
        from pyarrow import parquet

        about = self.about
        place = self.place
        for part in (VOCABULARY, COUNTS, DOCUMENTS):
            verify_part(place / part, self.header, OLD_CORPUS)
        with reading(place, OLD_CORPUS):
            words = parquet.read_table(place / VOCABULARY)["word"].to_pylist()
            counts = parquet.read_table(place / COUNTS)
            documents = parquet.read_table(place / DOCUMENTS, columns=["title", "date", "group"])
            rows, columns, data = (
                counts[column].to_numpy() for column in ("document", "word", "count")
            )
            dates = [date or "NaT" for date in documents["date"].to_pylist()]
            grouping = {}
            if about["split_by"] == "group":
                grouping = number_groups(documents["group"].to_pylist()) | {"split_by": "group"}
            return Corpus(
                name=unquote(place.name),
                counts=coo_array(
                    (data, (rows, columns)), shape=(about["num_documents"], len(words))
                ).tocsr(),
                vocabulary=Vocabulary(words),
                dates=np.array(dates, f"datetime64[{about['date_unit']}]"),
                titles=documents["title"].to_pylist(),
                **grouping,
            )

    def write(self, corpus: Corpus, folder: Path) -> None:
        """Write the corpus and its texts as a stored corpus."""
        # The same bytes, which the description of the earlier format names too.
        with open_synced(folder / VOCABULARY) as file:
            file.write((self.place / VOCABULARY).read_bytes())
        if self.about["has_text"]:
            self._write_texts(folder / name_texts(0))
        write_corpus(
            corpus,
            folder,
            SHARD_DOCUMENTS,
            has_texts=self.about["has_text"],
            source=self.about["source"],
            num_skipped=self.about["num_bad"],
            built_at=self.about["built_at"],
            is_loaded=True,
        )

    def _write_texts(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        first = 0
        schema = pa.schema({"document": pa.int64(), "text": pa.large_string()})
        with (
            parquet.ParquetFile(self.place / DOCUMENTS) as old,
            open_synced(path) as file,
            parquet.ParquetWriter(file, schema, compression="zstd") as writer,
        ):
            for batch in old.iter_batches(TEXTS_AT_ONCE, columns=["text"]):
                ids = pa.array(np.arange(first, first + len(batch)))
                writer.write_table(
                    pa.table([ids, batch.column("text").cast(pa.large_string())], schema=schema)
                )
                first += len(batch)


def is_old(place: Path) -> bool:
    """Whether a folder has the earlier format only."""
    return (place / ABOUT).is_file() and not (place / MANIFEST).is_file()


def open_old(place: Path) -> OldFolder:
    """Read the description of a folder of the earlier format; CorpusError if damaged."""
    header = read_seal(place / ABOUT, OLD_CORPUS)
    return OldFolder(place=place, about=dict(header.about or {}), header=header)


def convert(place: Path) -> bool:
    """Turn a folder of the earlier format into a stored corpus, at any time complete in one of the
    two.

    Returns False if the folder cannot be written; it is then as before. Raises CorpusError if the
    corpus is damaged.
    """
    if not (place / ABOUT).is_file():
        return True
    try:
        if is_old(place):
            old = open_old(place)
            corpus = old.load()
            with unfinished_folder(place.parent) as work:
                old.write(corpus, work)
                move_files(work, place, last=MANIFEST)
    # Another process may have converted it meanwhile.
    except CorpusError:
        if is_old(place):
            raise
    except OSError:
        if is_old(place):
            return False
    with suppress(FileError):
        # The description is the last, so that after a kill the next call removes the others.
        for name in (COUNTS, DOCUMENTS, ABOUT):
            remove_file(place / name)
    return True
