"""Read data frames, data sets and lists of objects in memory, as JSON files are read."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stickbreaker.engine.corpora.json_files import open_items
from stickbreaker.engine.corpora.rows import CorpusError, Table

KIND = "data frame"
# What makes a data frame of polars, Dask or Spark, which is not computed before.
LAZY = ("collect", "compute", "toPandas")


def open_frame(frame: Any, name: str, wanted: Sequence[str] = ()) -> Table:
    """Open a data frame of pandas or polars, a data set of Hugging Face, or a list of objects or of
    texts, under this name; its rows are numbered from 0. Raises TypeError for another object, and
    CorpusError if it has no row with a column, or two columns of one name.

    wanted: columns, which may also be names of rows (an index).
    """
    # pandas takes a second to import.
    import pandas as pd

    classes = _find_classes(frame)
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if isinstance(frame, pd.Series):
        frame = frame.to_frame("text")
    if isinstance(frame, pd.DataFrame):
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise CorpusError(f"{name} has two columns {str(twice)!r}. Rename one of them.")
        levels = [each for each in frame.index.names if each in wanted and each not in frame]
        frame = frame.reset_index(level=levels) if levels else frame
        # Missing values of all types become None.
        frame = frame.astype(object).where(frame.notna(), None).to_dict("records")
    else:
        _refuse_others(frame)
    items = [_name_fields(item, classes) for item in frame]
    if not any(isinstance(item, Mapping) and item for item in items):
        raise CorpusError(
            f'{name} has no rows with columns. Give objects, such as {{"text": ...}}.'
        )
    return open_items(Path(name), KIND, items, first=0)


def _find_classes(frame: Any) -> dict[str, list[str]]:
    """The names of the classes that a data set of Hugging Face stores as numbers, by column."""
    features = getattr(frame, "features", None)
    if not isinstance(features, Mapping):
        return {}
    names = {column: getattr(feature, "names", None) for column, feature in features.items()}
    return {column: each for column, each in names.items() if isinstance(each, list)}


def _refuse_others(frame: Any) -> None:
    """Raise TypeError that names the remedy for what has no rows to read."""
    remedy = (
        'give a data frame, one split of a data set, or a list of objects, such as [{"text": ...}]'
    )
    if method := next((each for each in LAZY if hasattr(frame, each)), ""):
        remedy = f"call {method}() first"
    elif isinstance(frame, Mapping) and any(hasattr(each, "features") for each in frame.values()):
        remedy = f"give one split, such as frame[{next(iter(frame))!r}]"
    elif not isinstance(frame, str | bytes | Mapping) and isinstance(frame, Iterable):
        return
    raise TypeError(f"frame is a {type(frame).__name__}: {remedy}.")


def _name_fields(item: Any, classes: Mapping[str, list[str]]) -> Any:
    """An object, with texts as the names of its fields and classes; a text becomes an object."""
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, Mapping):
        return item
    named = {str(key): value for key, value in item.items()}
    for column, names in classes.items():
        number = named.get(column)
        # -1 is an unknown class.
        named[column] = None if number is None or number < 0 else names[int(number)]
    return named
