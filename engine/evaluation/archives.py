"""Zip files of what a model has learned: arrays for other programs, and sheets for people who judge
topics.
"""

import json
import zipfile
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.intrusion import ReadDocuments, ask_topics, ask_words
from stickbreaker.engine.files.whole_files import replacing

# Some spreadsheets read the full-width signs of Japanese and Chinese keyboards as the plain ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
ROWS_AT_ONCE = 4096


def write_arrays(
    path: str | PathLike[str],
    summary: TopicSummary,
    words: Sequence[str],
    labels: Mapping[int, str],
    read: ReadDocuments,
) -> None:
    """Write topic shares (D, K) and topics (K, V) as float32 .npy, and what their rows and columns
    are as vocabulary.json, into a zip file.

    The file is written completely or not at all; labels: by topic id.
    """
    ids = summary.topic_ids.tolist()
    about = {
        "words": [str(word) for word in words],
        "topic_ids": ids,
        "labels": [labels.get(topic_id, f"topic {topic_id}") for topic_id in ids],
        "expected_tokens": summary.expected_tokens.tolist(),
        "doc_ids": read.doc_ids.tolist(),
        "titles": [str(title) for title in read.titles],
    }
    with replacing(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _write_rows(archive, "theta.npy", read.shares)
        _write_rows(archive, "topics.npy", summary.topics)
        archive.writestr("vocabulary.json", json.dumps(about, ensure_ascii=False, indent=1))


def _write_rows(archive: zipfile.ZipFile, name: str, rows: csr_array | np.ndarray) -> None:
    """Write a matrix as .npy some rows at a time, to need little memory."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype("<f4")),
        "fortran_order": False,
        "shape": rows.shape,
    }
    with archive.open(name, "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, rows.shape[0], ROWS_AT_ONCE):
            part = rows[first : first + ROWS_AT_ONCE]
            if not isinstance(part, np.ndarray):
                part = part.toarray()
            file.write(np.ascontiguousarray(part, "<f4").tobytes())


def write_sheets(
    path: str | PathLike[str],
    summary: TopicSummary,
    words: Sequence[str],
    labels: Mapping[int, str],
    read: ReadDocuments,
    seed: int = 0,
) -> None:
    """Write sheets of word and topic intrusion, with their keys, as CSV into a zip file.

    The file is written completely or not at all.
    """
    sheets = {
        "word-intrusion": ask_words(summary, words, labels, seed),
        "topic-intrusion": ask_topics(summary, words, read, seed),
    }
    with replacing(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, sheet in sheets.items():
            archive.writestr(f"{name}.csv", _as_csv(sheet.questions))
            archive.writestr(f"{name}-key.csv", _as_csv(sheet.key))


def _as_csv(frame: pd.DataFrame) -> str:
    return str(neutralise_formulas(frame).to_csv(index=False))


def neutralise_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before every text that a spreadsheet would read as a formula.

    Numbers do not change.

    Carriage returns become line feeds.

    >>> neutralise_formulas(pd.DataFrame({"word": ["peace", "=1+1"], "share": [-0.5,
    ...     0.5]}))["word"].tolist()
    ['peace', "'=1+1"]
    """
    texts = {
        name: _neutralise(column)
        for name, column in frame.items()
        if not pd.api.types.is_numeric_dtype(column)
    }
    return frame.assign(**texts)


def _neutralise(column: pd.Series) -> pd.Series:
    cells = [_neutralise_cell(cell) for cell in column]
    return pd.Series(cells, index=column.index, dtype=column.dtype)


def _neutralise_cell(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    # Python's csv writes a carriage return without quotes, so the text after it would start a new
    # row.
    cell = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
