"""The second pass of a build on disk: each piece becomes a shard, with the chosen words only.

What a shard needs of the pieces before it is the number of their documents, and their groups. So
all pieces can be surveyed at the same time, and then written at the same time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from stickbreaker.engine.corpora.columns import WORDLESS
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.corpora.pieces import BuildPlan, Piece, PlanFiles, open_piece
from stickbreaker.engine.corpora.rows import MAX_LISTED, BadRow
from stickbreaker.engine.corpora.shards import (
    TEXTS_AT_ONCE,
    Shard,
    ShardSize,
    name_shard,
    name_texts,
    write_shard,
    write_table,
)


class Trimmed(NamedTuple):
    """A piece with the chosen words only: its documents, their rows, and its columns."""

    documents: Documents
    rows: np.ndarray
    columns: Any


class Survey(NamedTuple):
    """What other shards need of a piece, and what is reported.

    groups: those of the documents with chosen words, each once, in order of appearance. wordless:
    the first of the other documents.
    """

    num_documents: int
    groups: list[str]
    num_wordless: int
    wordless: list[BadRow]


class PlannedShard(NamedTuple):
    """One shard: its number, its piece, the id of its first document, and the numbers of its groups
    by name.
    """

    number: int
    piece: Piece
    first: int
    groups: Mapping[str, int]


@dataclass(frozen=True)
class ShardMaker:
    """Makes the shards of a build in the folder `corpus` from the pieces in another one.

    words: the V chosen words. date_unit: the precision of the dates.
    """

    plan: BuildPlan
    pieces: Path
    corpus: Path
    words: Sequence[str]
    date_unit: str

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def trim(self, piece: Piece) -> Trimmed:
        """Read a piece, and leave out the words that are not chosen."""
        words, documents, columns = open_piece(self.pieces, piece.name)
        documents, kept = keep_words(
            documents, np.array([self._ids.get(word, -1) for word in words], np.int32)
        )
        return Trimmed(documents=documents, rows=np.flatnonzero(kept), columns=columns)

    def survey_piece(self, piece: Piece) -> Survey:
        """Read a piece, and count documents and groups."""
        return self.survey(self.trim(piece))

    def write_piece(self, task: PlannedShard) -> ShardSize:
        """Read a piece, and write its shard, unless it is complete."""
        return self.write(task, self.trim(task.piece))

    def survey(self, trimmed: Trimmed) -> Survey:
        """Count documents and groups."""
        columns = trimmed.columns
        is_wordless = np.ones(len(columns), bool)
        is_wordless[trimmed.rows] = False
        places = np.flatnonzero(is_wordless)
        sources = PlanFiles(self.plan)
        files, rows = (
            columns.column(name).to_numpy()[places[:MAX_LISTED]].tolist()
            for name in ("file", "row")
        )
        wordless = [
            sources.table(file).name_bad(row, WORDLESS)
            for file, row in zip(files, rows, strict=True)
        ]
        return Survey(
            num_documents=len(trimmed.rows),
            groups=list(dict.fromkeys(self._list_groups(trimmed))),
            num_wordless=len(places),
            wordless=wordless,
        )

    def write(self, task: PlannedShard, trimmed: Trimmed) -> ShardSize:
        """Write the shard of a piece, unless it is complete."""
        documents, rows, columns = trimmed
        groups = np.array([task.groups[name] for name in self._list_groups(trimmed)], np.int64)
        dates = columns.column("date").to_numpy()[rows].view(f"datetime64[{task.piece.date_unit}]")
        shard = Shard(
            documents=documents,
            doc_ids=np.arange(task.first, task.first + len(rows)),
            dates=dates.astype(f"datetime64[{self.date_unit}]").view(np.int64),
            titles=columns.column("title").take(rows),
            rows=columns.column("row").to_numpy()[rows],
            groups=groups if self.plan.columns.group else None,
        )
        path = self.corpus / name_shard(task.number)
        if self.plan.keeps_text and not (self.corpus / name_texts(task.number)).exists():
            self._write_texts(task, rows, shard.doc_ids)
        if not path.exists():
            write_shard(path, shard)
        return shard.measure(path.name)

    def _list_groups(self, trimmed: Trimmed) -> list[str]:
        """The groups of the documents; none without a column of groups."""
        if self.plan.columns.group is None:
            return []
        return cast(list[str], trimmed.columns.column("group").take(trimmed.rows).to_pylist())

    def _write_texts(self, task: PlannedShard, rows: np.ndarray, doc_ids: np.ndarray) -> None:
        from pyarrow import parquet

        texts = parquet.read_table(self.pieces / f"texts-{task.piece.name}.parquet")["text"].take(
            rows
        )
        write_table(
            self.corpus / name_texts(task.number),
            {"document": doc_ids, "text": texts},
            TEXTS_AT_ONCE,
        )


def keep_words(documents: Documents, ids: np.ndarray) -> tuple[Documents, np.ndarray]:
    """Number words by `ids` (W,), without -1; return documents with words, and their mask."""
    words = ids[documents.words]
    is_kept = words >= 0
    ends = np.append(0, is_kept.cumsum())[documents.starts]
    has_words = np.diff(ends) > 0
    kept = Documents(
        starts=np.append(0, ends[1:][has_words]),
        words=words[is_kept],
        counts=documents.counts[is_kept],
    )
    # Known words may be in another order than that of the alphabet.
    if np.any(np.diff(ids[ids >= 0]) < 0):
        order = np.lexsort((kept.words, kept.rows()))
        kept = kept._replace(words=kept.words[order], counts=kept.counts[order])
    return kept, has_words
