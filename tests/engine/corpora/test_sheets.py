"""Excel and OpenDocument files: which sheet is read, its dates and names, and damaged files."""

import gzip
import io
import zipfile
from datetime import date, datetime

import numpy as np
import pytest

from stickbreaker.engine import build as build_stored
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.sources import find_source
from tests.engine.corpora import small_sheets
from tests.engine.corpora.small_files import TEXTS, build, pack, reasons, refuses
from tests.engine.corpora.small_sheets import WRITERS, pack_bytes, write_ole, write_xlsx

HEADER = ["who", "said", "when", "year"]
DAYS = [date(1963, 12, 8), date(1964, 1, 2), datetime(1965, 3, 4, 12, 30), date(1966, 5, 6)]
ROWS = [
    [f"T{n}", text, day, 1963.0 + n] for n, (text, day) in enumerate(zip(TEXTS, DAYS, strict=True))
]
SHEETS = {"About": [["Export of speeches"]], "Speeches": [HEADER, *ROWS], "Empty": []}
SAID = Columns(text="said", date="when", title="who")
NOTE = "The sheet 'Speeches' with 5 rows is read; 'About' is left out."


def put(folder, suffix, sheets=SHEETS):
    path = folder / f"mine.{suffix}"
    path.write_bytes(WRITERS[suffix](sheets))
    return path


@pytest.mark.parametrize("suffix", WRITERS)
def test_the_largest_sheet_is_read_with_the_dates_of_its_cells(tmp_path, suffix):
    path = put(tmp_path, suffix)
    seen = preview(path)
    assert (seen.chosen, seen.num_rows, seen.num_bad) == (SAID, 4, 0)
    assert seen.kind == ("OpenDocument" if suffix == "ods" else "Excel")
    assert any(note.startswith(NOTE) for note in seen.notes)
    corpus = build(path, SAID).corpus
    assert corpus.titles == ("T0", "T1", "T2", "T3")
    assert corpus.dates.astype("datetime64[D]").tolist() == [
        getattr(day, "date", lambda day=day: day)() for day in DAYS
    ]
    assert corpus.rows.tolist() == [2, 3, 4, 5]
    years = build(path, SAID._replace(date="year")).corpus.dates
    assert years.astype("datetime64[Y]").astype(str).tolist() == ["1963", "1964", "1965", "1966"]


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("place", ["folder", "zip", "gz"])
def test_a_sheet_is_read_like_a_csv_file_in_folders_archives_and_builds(tmp_path, suffix, place):
    plain = put(tmp_path, suffix)
    others = {"README.md": "About war", "~$mine.xlsx": "lock"}
    if place == "zip":
        path = pack(tmp_path / "mine.zip", **others, **{f"data/mine.{suffix}": plain.read_bytes()})
    elif place == "gz":
        path = tmp_path / f"mine.{suffix}.gz"
        path.write_bytes(gzip.compress(plain.read_bytes()))
    else:
        path = tmp_path / "mine"
        path.mkdir()
        plain.rename(path / plain.name)
        for name, content in others.items():
            (path / name).write_text(content)
    built = build(path, SAID)
    assert built.corpus.num_documents == 4
    stored = build_stored(path, to=tmp_path / "out", text="said", date="when")
    np.testing.assert_array_equal(stored.dates, built.corpus.dates)


@pytest.mark.parametrize("suffix", WRITERS)
def test_rows_above_the_names_of_the_columns_are_left_out(tmp_path, suffix):
    rows = [["Export"], [], HEADER, *ROWS]
    seen = build(put(tmp_path, suffix, {"A": rows}), SAID)
    assert seen.corpus.rows.tolist() == [4, 5, 6, 7]
    assert "in row 3; the rows above it are left out" in seen.notes[0]


def test_a_merged_cell_counts_for_each_of_its_rows_and_is_no_name_of_a_column(tmp_path):
    rows = [["Letters"], ["Speaker", "", "Speech"], ["party", "name", "said"]]
    rows += [["Whig" * (n == 0) + "Tory" * (n == 3), f"Ann {n}", TEXTS[n % 4]] for n in range(5)]
    path = tmp_path / "mine.xlsx"
    path.write_bytes(write_xlsx({"A": rows}, merged=("A1:C1", "A2:B2", "A4:A6", "A7:A8")))
    built = build(path, Columns(text="said", group="party", title="name"))
    assert [built.corpus.group_titles[group] for group in built.corpus.groups] == [
        *["Whig"] * 3,
        *["Tory"] * 2,
    ]
    assert built.notes[-1] == "A merged cell counts for each of its rows."
    rows = [rows[1], *([first, last, 4 * text] for first, last, text in rows[3:])]
    path.write_bytes(write_xlsx({"A": rows}, merged=("A1:B1",)))
    assert preview(path).columns == ("Speaker", "column 2", "Speech")


@pytest.mark.parametrize("suffix", WRITERS)
def test_another_sheet_is_read_if_it_is_chosen(tmp_path, suffix):
    letters = [["said", "when"], ["Peace and trade", DAYS[0]], ["War and tariff", DAYS[1]]]
    path = put(tmp_path, suffix, SHEETS | {"Letters": letters})
    seen = preview(path, sheet="Letters")
    assert seen.sheets == ("Letters", "Speeches", "About")
    assert (seen.chosen.sheet, seen.num_rows, seen.notes) == ("Letters", 2, ())
    corpus = load_corpus(path, text="said", sheet="Letters")
    assert set(corpus.vocabulary) == {"peace", "trade", "war", "tariff"}
    stored = build_stored(path, to=tmp_path / "out", text="said", sheet="Letters")
    assert stored.num_tokens == corpus.num_tokens


def test_a_sheet_that_is_not_there_is_refused_with_the_names_of_those_that_are(tmp_path):
    path = put(tmp_path, "xlsx")
    for name in ("Empty", "speech", 0):
        with refuses(
            f"mine.xlsx has no sheet '{name}' with cells. Choose one of 'Speeches', 'About'"
        ):
            load_corpus(path, text="said", sheet=name)
    (tmp_path / "a.csv").write_text("text\nPeace")
    with refuses(r"a.csv has no sheets. Omit sheet"):
        preview(tmp_path / "a.csv", sheet="Speeches")


def test_a_sheet_of_word_counts_can_be_chosen(tmp_path):
    counts = [["", *"abcdefghij"], *([f"T{n}", 0, 0, 0, *range(7)] for n in range(3))]
    path = put(tmp_path, "xlsx", SHEETS | {"Counts": counts})
    assert load_corpus(path, sheet="Counts").num_tokens == 3 * 21
    assert preview(path, sheet="Counts").chosen == Columns(sheet="Counts")
    with refuses("contains word counts. Omit text, date"):
        load_corpus(path, sheet="Counts", date="a")


def test_empty_rows_and_columns_around_the_table_are_left_out(tmp_path):
    path = tmp_path / "mine.xlsx"
    path.write_bytes(write_xlsx({"A": [["", *row] for row in [HEADER, *ROWS]]}, first=4))
    built = build(path, SAID)
    assert find_source(path).open().columns == tuple(HEADER)
    assert built.corpus.rows.tolist() == [5, 6, 7, 8]


def test_a_hidden_sheet_is_read_only_if_there_is_no_other(tmp_path):
    path = tmp_path / "mine.xlsx"
    sheets = {"Codes": [HEADER, *ROWS], "Speeches": [HEADER, *ROWS[:2]]}
    path.write_bytes(write_xlsx(sheets, hidden=["Codes"]))
    assert build(path, SAID).corpus.num_documents == 2
    path.write_bytes(write_xlsx({"Codes": [HEADER, *ROWS]}, hidden=["Codes"]))
    assert build(path, SAID).corpus.num_documents == 4


def test_sheets_next_to_another_table_and_sheets_that_describe_it_are_left_out(tmp_path):
    table = tmp_path / "speeches.csv"
    table.write_text("said\n" + "\n".join(TEXTS))
    put(tmp_path, "xlsx")
    assert find_source(tmp_path).path == table
    table.unlink()
    (tmp_path / "codebook.xlsx").write_bytes(write_xlsx(SHEETS))
    assert find_source(tmp_path).path == tmp_path / "mine.xlsx"


@pytest.mark.parametrize(
    ("suffix", "row", "hidden_row"),
    [
        ("xlsx", '<row r="2">', '<row r="2" ht="15" hidden="1">'),
        ("ods", "<table:table-row>", '<table:table-row table:visibility="filter">'),
    ],
)
def test_hidden_rows_are_read_and_said(tmp_path, monkeypatch, suffix, row, hidden_row):
    path = put(tmp_path, suffix, {"A": [HEADER, *ROWS]})
    assert build(path, SAID).notes == ()
    hide = lambda members: pack_bytes(  # noqa: E731
        {name: content.replace(row, hidden_row) for name, content in members.items()}
    )
    monkeypatch.setattr(small_sheets, "pack_bytes", hide)
    built = build(put(tmp_path, suffix, {"A": [HEADER, *ROWS]}), SAID)
    assert built.corpus.num_documents == 4
    assert built.notes == ("The file has hidden rows; they are read too.",)


def test_empty_cells_and_cells_with_errors_are_rows_without_text(tmp_path):
    rows = [["said"], ["Peace"], [""], [TEXTS[1]], ["#N/A"]]
    built = build(put(tmp_path, "xlsx", {"A": rows}))
    assert reasons(built)[0].endswith("mine.xlsx, row 3: the text is empty")
    assert built.corpus.rows.tolist() == [2, 4]


LOCKED = write_ole("EncryptedPackage")
CUT = write_xlsx(SHEETS)[:-30]


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"said,when\nPeace,1900\n", "is not an Excel or OpenDocument file.*rename it to .csv"),
        (LOCKED, "damaged or has a password .*Save it again without a password"),
        (CUT, "damaged or has a password"),
        (b"", "is not an Excel or OpenDocument file"),
        (write_xlsx({"A": []}), "has no rows. Choose a file with a sheet of texts"),
    ],
    ids=["text", "locked", "cut", "nothing", "empty"],
)
def test_a_file_that_is_no_sheet_is_refused_with_its_name_and_a_remedy(
    tmp_path, suffix, content, message
):
    path = tmp_path / f"mine.{suffix}"
    path.write_bytes(content)
    with refuses(rf"mine\.{suffix}.*{message}"):
        build(path)


@pytest.mark.parametrize("suffix", WRITERS)
def test_damaged_sheets_are_refused_or_read(tmp_path, suffix):
    """Also if the reader panics."""
    rng = np.random.default_rng(0)
    path = put(tmp_path, suffix)
    good = path.read_bytes()
    refused = []
    # A damaged number of a row in .xls can make a sheet large, and the test slow.
    number = 20 if suffix == "xls" else 200
    for _ in range(number):
        content = bytearray(good)
        for place in rng.integers(0, len(content), 4):
            content[place] = rng.integers(256)
        path.write_bytes(content)
        try:
            table = find_source(path).open()
        except CorpusError as error:
            refused.append(str(error))
        else:
            assert list(table.read(table.columns[:1]))[-1].share == 1.0
    assert len(refused) > number / 10
    assert all("mine" in error for error in refused)


def test_sheets_that_need_too_much_memory_are_refused(tmp_path):
    path = tmp_path / "mine.xlsx"
    path.write_bytes(write_xlsx({"A": [["text"], ["peace " * 4_000_000]]}))
    with refuses("unpacks to more than 200 times its size"):
        build(path)
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(write_xlsx({"A": [["text"], ["peace"]]}))) as old,
        zipfile.ZipFile(out, "w") as new,
    ):
        for name in old.namelist():
            content = old.read(name).replace(b'r="A2"', b'r="XFD1048576"')
            new.writestr(name, content.replace(b'<row r="2"', b'<row r="1048576"'))
    path.write_bytes(out.getvalue())
    with refuses(r"has cells up to column XFD and row 1,048,576. Delete what is far"):
        build(path)
