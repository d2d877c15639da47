"""Read data frames, data sets and lists of objects in memory, as JSON files are read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.rows import Table
from stickbreaker.engine.corpora.table_files import open_items

KIND = "data frame"


def open_frame(frame: Any, name: str) -> Table:
    """Open a data frame of pandas or polars, a data set of Hugging Face, or a list of objects or of
    texts, under this name; its rows are numbered from 0.

    Raises TypeError for another object, and CorpusError if it has no row with a column.
    """
    # pandas takes a second to import.
    import pandas as pd

    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if isinstance(frame, pd.Series):
        frame = frame.to_frame("text")
    if isinstance(frame, pd.DataFrame):
        # Missing values of all types become None.
        frame = frame.astype(object).where(frame.notna(), None).to_dict("records")
    elif isinstance(frame, str | bytes | Mapping) or not isinstance(frame, Iterable):
        raise TypeError(
            f"frame is a {type(frame).__name__}: give a data frame, one split of a data set, or a"
            ' list of objects, such as [{"text": ...}].'
        )
    items = [_name_fields(item) for item in frame]
    if not any(isinstance(item, Mapping) and item for item in items):
        raise CorpusError(
            f'{name} has no rows with columns. Give objects, such as {{"text": ...}}.'
        )
    return open_items(Path(name), KIND, items, first=0)


def _name_fields(item: Any) -> Any:
    """An object, with texts as the names of its fields; a text becomes an object."""
    if isinstance(item, str):
        return {"text": item}
    return {str(key): value for key, value in item.items()} if isinstance(item, Mapping) else item
