"""Data frames, data sets and lists in memory are read as files of the same rows."""

import json
from datetime import datetime

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine import WordChoices, corpus_from, load_corpus
from stickbreaker.engine.corpora.frames import KIND
from tests.engine.corpora.small_files import assert_same_corpora, refuses

ROWS = [
    {"body": "War and peace", "day": "3/4/1812", "who": "Adams", "head": "One", "about": {"a": 1}},
    {"body": None, "day": "13/4/1812", "who": "Adams", "head": "Two", "about": {"a": 2}},
    {"body": ["Trade", "of", "cotton"], "day": "30/4/1815", "who": "Bell", "head": "", "about": {}},
    {"body": "[deleted]", "day": "30/4/1815", "who": "Bell", "head": "Four", "about": {}},
    {"body": "Peace", "day": "soon", "who": "Bell", "head": "Five", "about": None},
    {"body": "Harbour", "day": "1/5/1815", "who": "Cole", "head": None, "about": {"a": 6}},
]
COLUMNS = {"text": "body", "date": "day", "group": "who", "title": "head"}


class DataSet:
    """A data set as those of Hugging Face are: only the conversion is used."""

    def __init__(self, frame):
        self._frame = frame

    def to_pandas(self):
        # Lists come as arrays.
        return self._frame.map(lambda value: np.array(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(
    "make",
    [list, iter, pd.DataFrame, lambda rows: DataSet(pd.DataFrame(rows))],
    ids=["list", "iterator", "pandas", "data set"],
)
def test_a_frame_is_read_as_the_json_file_of_its_rows_with_the_same_notes(make, tmp_path, caplog):
    path = tmp_path / f"{KIND}.json"
    path.write_text(json.dumps(ROWS))
    expected = load_corpus(path, **COLUMNS)
    said = caplog.text.replace(str(path), KIND).replace(path.name, KIND)
    caplog.clear()
    found = corpus_from(make(ROWS), **COLUMNS)
    assert found.rows.tolist() == [0, 2, 5]
    assert pd.DataFrame(ROWS).iloc[found.rows]["who"].tolist() == ["Adams", "Bell", "Cole"]
    for row, other in zip([1, 3, 4], [2, 4, 5], strict=True):
        assert f"{KIND}, row {row}:" in caplog.text
        assert f"{KIND}, row {other}:" in said
    assert caplog.text.count(KIND) == said.count(KIND)
    titles = [title.replace("row 2", "row 3").replace("row 5", "row 6") for title in found.titles]
    assert titles == list(expected.titles)
    assert found.dates.tolist() == expected.dates.tolist()
    assert (found.counts != expected.counts).nnz == 0
    assert found.vocabulary == expected.vocabulary
    assert found.groups.tolist() == expected.groups.tolist()


def test_types_of_pandas_and_missing_values_are_read():
    days = ["2020-01-31 23:30+0100", None, "2021-02-01 12:00+0100"]
    frame = pd.DataFrame(
        {
            "text": pd.array(["war", "peace", pd.NA], dtype="string"),
            "day": pd.to_datetime(days),
            "year": [1812, np.nan, 1815],
            7: pd.Categorical(["a", "b", "a"]),
        },
        index=list("xyz"),
    )
    assert corpus_from(frame).rows.tolist() == [0, 1]
    assert corpus_from(frame, date="day").dates.tolist()[0].isoformat() == "2020-01-31T23:30:00"
    dated = corpus_from(frame, date="year", group="7", name="notes")
    assert (dated.dates.astype(str).tolist(), dated.group_titles) == (["1812"], ("a",))
    assert (dated.name, list(dated.titles)) == ("notes", ["notes, row 0"])


def test_texts_without_columns_counts_and_the_words_of_a_corpus_are_read():
    corpus = corpus_from(["war and peace", "peace"])
    assert_same_corpora(corpus, corpus_from(pd.Series(["war and peace", "peace"])))
    assert corpus_from(["navy", "The peace"], like=corpus).counts.toarray().tolist() == [[1, 0]]
    choices = WordChoices(max_ngram=2)
    assert "war peace" in corpus_from(["war and peace"], words=choices).vocabulary
    table = {"document": list("aab") * 9, "word": [f"w{i}x" for i in range(27)], "n": range(1, 28)}
    counted = corpus_from(pd.DataFrame(table))
    assert (counted.num_documents, counted.num_tokens) == (2, 378)


@pytest.mark.parametrize("frame", ["text", {"train": []}, 3])
def test_the_error_for_another_object_says_what_to_give(frame):
    with pytest.raises(TypeError, match="one split of a data set, or a list of objects"):
        corpus_from(frame)


def test_the_error_for_a_frame_that_is_not_computed_or_a_data_set_with_splits_names_the_remedy():
    class Lazy:
        """As those of Dask: an iteration gives the names of the columns."""

        def compute(self):
            raise AssertionError

        def __iter__(self):
            return iter(["text", "year"])

    with pytest.raises(TypeError, match=r"frame is a Lazy: call compute\(\) first"):
        corpus_from(Lazy())
    with pytest.raises(TypeError, match=r"give one split, such as frame\['train'\]"):
        corpus_from({"train": ClassSet()})
    with refuses("data frame has two columns 'text'. Rename one"):
        corpus_from(pd.DataFrame([["war", "peace"]], columns=["text", "text"]))


class ClassSet:
    """A data set with numbers of classes, as those of Hugging Face are."""

    class Names:
        names = ["Adams", "Bell"]

    features = {"text": None, "who": Names()}

    def __iter__(self):
        whos = (1, 0, None, -1)
        return iter([{"text": "War and peace", "who": who} for who in whos])


def test_numbers_of_classes_are_read_as_their_names():
    corpus = corpus_from(ClassSet(), text="text", group="who")
    assert (corpus.group_titles, corpus.rows.tolist()) == (
        ("Bell", "Adams", "(none)"),
        [0, 1, 2, 3],
    )


def test_real_frames_of_polars_are_read():
    polars = pytest.importorskip("polars")
    days = [datetime(2020, 1, 31, 23, 30), datetime(2020, 6, 30, 22, 30), None]
    zoned = polars.Series(days).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    whos = polars.Series(["a", "b", "a"]).cast(polars.Categorical)
    texts = [["war", "peace"], ["trade"], ["navy"]]
    frame = polars.DataFrame({"body": texts, "day": zoned, "who": whos})
    corpus = corpus_from(frame, text="body", date="day", group="who")
    assert corpus.dates.astype(str).tolist() == ["2020-02-01T00:30:00", "2020-07-01T00:30:00"]
    assert (corpus.group_titles, corpus.num_tokens) == (("a", "b"), 3)
    with pytest.raises(TypeError, match=r"call collect\(\) first"):
        corpus_from(frame.lazy())


def test_real_data_sets_of_hugging_face_are_read():
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"body": datasets.Value("string"), "who": datasets.ClassLabel(names=["Adams", "Bell"])}
    )
    rows = {"body": ["War and peace", "Trade", None], "who": [1, 0, 0]}
    frame = datasets.Dataset.from_dict(rows, features=features)
    for each in (frame, frame.to_iterable_dataset(), frame.with_format("numpy")):
        corpus = corpus_from(each, text="body", group="who")
        assert (corpus.group_titles, corpus.rows.tolist()) == (("Bell", "Adams"), [0, 1])
    with pytest.raises(TypeError, match=r"give one split, such as frame\['train'\]"):
        corpus_from(datasets.DatasetDict({"train": frame}))


def test_the_error_for_a_frame_without_rows_or_columns_names_it():
    for frame in ([], pd.DataFrame(), [1, 2], [{}]):
        with refuses("letters has no rows with columns"):
            corpus_from(frame, name="letters")
    with refuses("letters has no column 'bod'. Choose one of 'body'"):
        corpus_from(ROWS, text="bod", name="letters")


def test_the_names_of_rows_can_be_chosen_as_columns():
    frame = pd.DataFrame(ROWS).groupby("who").agg(body=("body", "last"))
    corpus = corpus_from(frame.iloc[:0:-1], text="body", title="who")
    assert (corpus.titles, corpus.rows.tolist()) == (("Cole", "Bell"), [0, 1])
    assert corpus_from(frame).num_documents == 3


@pytest.mark.parametrize("column", [0, ["body", "day"]])
def test_a_column_that_is_not_named_by_a_text_is_refused(column):
    with refuses("is no name of a column: give its name as a text"):
        corpus_from(ROWS, text=column)
