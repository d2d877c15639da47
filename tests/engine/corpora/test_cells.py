"""Lists, objects and times in the cells of JSON, Parquet and CSV files."""

import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine import build as build_stored
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.sources import find_source
from tests.engine.corpora.small_files import build, reasons, refuses

CELLS = [
    (["first line\nanchor", "harbour"], "first line\nanchor\nharbour"),
    (["new", "york"], "new york"),
    ([["peace", "treaty"], ["tariff"]], "peace treaty\ntariff"),
    ([], ""),
    (["peace", None, "", "war"], "peace war"),
]


def write(path, rows):
    """Write rows as JSON lines, Parquet or CSV, by the name of the file."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        pd.DataFrame(rows).to_csv(path, index=False)
    return path


def read(path, column):
    return [
        text for chunk in find_source(path).open().read([column]) for text in chunk.cells[column]
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize(("value", "text"), CELLS)
def test_a_list_is_joined_by_line_ends_or_spaces(tmp_path, suffix, value, text):
    assert read(write(tmp_path / f"a.{suffix}", [{"body": value}]), "body") == [text]


def test_texts_in_objects_among_the_texts_of_a_list_are_read(tmp_path):
    value = ["The", {"type": "bold", "text": "treaty"}, {"type": "line"}, "of"]
    assert read(write(tmp_path / "a.jsonl", [{"body": value}]), "body") == ["The treaty of"]


@pytest.mark.parametrize("as_text", [repr, json.dumps])
def test_a_list_in_a_cell_of_a_csv_file_is_joined(tmp_path, as_text):
    rows = [{"text": as_text(["first line\nanchor", "harbour"])}, {"text": "[deleted] harbour"}]
    built = build(write(tmp_path / "a.csv", rows))
    assert set(built.corpus.vocabulary) == {"line", "anchor", "harbour", "deleted"}


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (str(np.array(["new", "york's"])), {"new", "york"}),
        (str(np.array(["A treaty", 'the "peace"\nof'], dtype=object)), {"treaty", "peace"}),
        (repr("Über Häfen".encode()), {"über", "häfen"}),
    ],
)
def test_lists_of_numpy_and_bytes_in_cells_are_read(tmp_path, cell, words):
    built = build(write(tmp_path / "a.csv", [{"text": cell}, {"text": "treaty"}]))
    assert set(built.corpus.vocabulary) == words | {"treaty"}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_fields_of_objects_are_columns(tmp_path, suffix):
    rows = [
        {"id": n, "post": {"body": "peace treaty", "by": {"name": "Ann"}}, "tags": [{"is": "a"}]}
        for n in range(3)
    ]
    path = write(tmp_path / f"a.{suffix}", rows)
    assert find_source(path).open().columns == ("id", "post.body", "post.by.name", "tags.is")
    assert read(path, "tags.is") == ["a"] * 3
    assert set(build(path, Columns("post.body")).corpus.vocabulary) == {"peace", "treaty"}
    with refuses(r"no column 'post'. Choose one of 'id', 'post.body'"):
        build(path, Columns("post"))


def test_an_object_that_is_written_as_text_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", [{"text": '{"body": "peace"}'}, {"text": "treaty"}])
    built = build(path)
    assert set(built.corpus.vocabulary) == {"treaty"}
    assert "JSON object" in reasons(built)[0]


FORMS = (
    json.dumps,
    str,
    lambda item: json.dumps([item]),
    lambda item: json.dumps(json.dumps(item)),
)
OBJECTS = [{"text": text, "by": {"name": "Ann"}, "n": n} for n, text in enumerate(["peace", "war"])]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("form", FORMS)
def test_fields_of_objects_that_are_written_in_cells_are_columns(tmp_path, suffix, form):
    rows = [{"body": form(item), "year": f"190{n}"} for n, item in enumerate([*OBJECTS, {"n": 3}])]
    path = write(tmp_path / f"a.{suffix}", rows)
    seen = preview(path)
    assert seen.columns == ("body.text", "body.by.name", "body.n", "year")
    assert seen.chosen[:2] == ("body.text", "year")
    assert seen.notes[0] == "The fields of the JSON objects in 'body' are columns."
    assert (seen.num_rows, seen.num_bad) == (2, 1)
    columns = Columns(text="body.text", date="year", group="body.by.name")
    corpus = build(path, columns).corpus
    assert (set(corpus.vocabulary), corpus.group_titles) == ({"peace", "war"}, ("Ann",))
    stored = build_stored(path, to=tmp_path / "out", text="body.text", title="body.n")
    assert tuple(stored.titles) == ("0", "1")


@pytest.mark.parametrize(
    "change", [str, lambda text: text[:-3], lambda text: text.replace(":", "=>")]
)
def test_a_column_of_objects_is_not_read_as_text(tmp_path, change):
    """Also if they are cut, or written in Ruby."""
    rows = [{"id": "a", "body": change(json.dumps(item))} for item in OBJECTS]
    path = write(tmp_path / "a.csv", rows)
    remedy = (
        "choose a field of it, such as 'body.text', 'body.by.name'" if change is str else "write"
    )
    with refuses(f"row 2: the text in 'body' is a JSON object: {remedy}"):
        build(path, Columns("body"))


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_the_written_day_is_kept_in_each_time_zone(tmp_path, suffix):
    times = pd.to_datetime(["1999-12-31T23:00Z", "2000-06-30T22:30Z"]).tz_convert("Europe/Berlin")
    cells = times if suffix == "parquet" else [str(time) for time in times]
    rows = pd.DataFrame({"text": ["peace treaty", "tariff"], "when": cells})
    path = tmp_path / f"a.{suffix}"
    if suffix == "jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        write(path, rows)
    dates = build(path, Columns("text", "when")).corpus.dates
    assert dates.astype("datetime64[D]").astype(str).tolist() == ["2000-01-01", "2000-07-01"]


def test_python_times_keep_their_day():
    from stickbreaker.engine.corpora.cells import write_cell

    assert write_cell(datetime(2000, 1, 1, tzinfo=UTC)) == "2000-01-01T00:00:00"


ITEMS = [{"id": n, "body": {"text": text}} for n, text in enumerate(["peace treaty", "war"])]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ITEMS),
        json.dumps(ITEMS, indent=2),
        json.dumps({"count": 2, "tags": ["a"], "items": ITEMS}, indent=1),
        json.dumps({"name": "x", "tags": ["a", "b", "c"], "found": {"items": ITEMS}}),
        "".join(json.dumps(item) + "\n" for item in ITEMS),
        ",\n".join(json.dumps(item) for item in ITEMS),
    ],
)
def test_a_json_file_may_be_a_list_or_have_one_or_be_lines(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    assert find_source(path).open().columns == ("id", "body.text")
    assert read(path, "body.text") == ["peace treaty", "war"]
    built = build(path, Columns("body.text"))
    assert built.corpus.titles == ("a, row 1", "a, row 2")


FRAME = pd.DataFrame(
    {"id": ["a", "b", "c"], "text": ["The treaty of peace between them", "War", "Tariff"]}
)


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "content",
    [
        *(json.loads(FRAME.to_json(orient=form)) for form in ("columns", "split", "table")),
        FRAME.to_dict("list"),
        FRAME.set_index("id").to_dict("index"),
    ],
)
def test_a_data_frame_in_json_is_read_by_rows(tmp_path, content, indent):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content, indent=indent))
    assert preview(path).chosen[::2] == ("text", "id", None, None)
    assert read(path, "text") == FRAME["text"].tolist()


def test_one_document_in_json_is_not_its_lists_and_lists_that_are_left_out_are_named(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"text": "The treaty of peace", "by": [{"name": "Ann"}] * 2}))
    assert read(path, "text") == ["The treaty of peace"]
    path.write_text(json.dumps({"train": ITEMS, "test": ITEMS[:1]}))
    assert preview(path).notes[0] == "The list 'train' is read. Left out: 'test'."


def test_a_json_list_of_texts_is_read_and_other_json_is_refused(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(["peace treaty", "war"]))
    assert set(build(path).corpus.vocabulary) == {"peace", "treaty", "war"}
    for wrong in ("[1, 2]", '{\n"a": {"b": 1}}', "[{"):
        path.write_text(wrong)
        with refuses("list of objects"):
            build(path)
