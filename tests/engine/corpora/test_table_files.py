"""Tables of every format, intact and damaged: what is read, what is skipped, and the messages."""

import csv
import json
import tracemalloc

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from stickbreaker.engine.corpora import build as building
from stickbreaker.engine.corpora import (
    columns,
    json_files,
    packed_files,
    rows,
    table_files,
    text_lines,
)
from stickbreaker.engine.corpora.build import build_corpus
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.corpora.words import count_words
from tests.engine.corpora.small_files import PLAIN, TEXTS, build, reasons, refuses
from tests.engine.corpora.small_sheets import write_xlsx

YEARS = [1900, 1901, 1902, 1903]
NAMES = [f"Speaker {letter}" for letter in "ABCD"]
FRAME = pd.DataFrame({"said": TEXTS, "when": YEARS, "who": NAMES})
SAID = {"text": "said", "date": "when", "title": "who"}


def write_csv(path):
    FRAME.to_csv(path, index=False)


def write_tsv(path):
    FRAME.to_csv(path, sep="\t", index=False)


def write_semicolons(path):
    FRAME.to_csv(path, sep=";", index=False, encoding="utf-16")


def write_json_lines(path):
    path.write_text("\n".join(map(json.dumps, FRAME.to_dict("records"))), encoding="utf-8-sig")


def write_parquet(path):
    FRAME.assign(when=pd.to_datetime(FRAME["when"].astype(str))).to_parquet(path)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv", write_csv),
        ("a.tsv", write_tsv),
        ("a.csv", write_semicolons),
        ("a.jsonl", write_json_lines),
        ("a.parquet", write_parquet),
    ],
)
def test_every_table_format_gives_the_same_corpus(tmp_path, name, write):
    write(tmp_path / name)
    corpus = load_corpus(tmp_path / name, **SAID)
    assert corpus.vocabulary.words == ("cotton", "peace", "tariff", "treaty")
    assert corpus.counts.toarray().tolist() == [
        [0, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 1, 0],
        [0, 2, 0, 0],
    ]
    assert (corpus.name, corpus.titles) == ("a", tuple(NAMES))
    assert corpus.dates.astype("datetime64[Y]").astype(str).tolist() == [
        str(year) for year in YEARS
    ]


def align(rows):
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    lines = (map(str.ljust, row, widths) for row in rows)
    return "\n".join("".join(line).rstrip() for line in lines)


SPEECHES = [
    ["who", "said", "year"],
    *([f"Ann {n}", f"{TEXTS[n % 4]}.", f"190{n}"] for n in range(10)),
]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.txt"])
def test_columns_that_are_parted_by_spaces_are_read(tmp_path, name):
    path = tmp_path / name
    above = "Export of speeches\n\n" * (name != "a.txt")
    path.write_text(above + align(SPEECHES))
    built = build(path, Columns(text="said", date="year", title="who"))
    assert built.corpus.titles == tuple(row[0] for row in SPEECHES[1:])
    assert built.corpus.dates.astype(str).tolist() == [row[2] for row in SPEECHES[1:]]
    assert built.notes[0] == table_files.ALIGNED
    # Below the first rows, a text is too long for its column.
    path.write_text(
        align([*SPEECHES, *SPEECHES[1:] * 24]) + "\nPeace is not as short as a name  1901"
    )
    (reason,) = reasons(build(path, Columns(text="said")))
    assert "row 252: the row has 2 cells instead of 3: save the table as CSV" in reason


def test_cells_may_be_empty_if_the_others_are_below_the_names_of_their_columns(tmp_path):
    rows = [row if n % 3 else ["", *row[1:]] for n, row in enumerate(SPEECHES[1:])]
    path = tmp_path / "a.csv"
    path.write_text(align([SPEECHES[0], *rows]))
    built = build(path, Columns(text="said", group="who"))
    assert built.corpus.group_titles == ("(none)", *(row[0] for row in rows if row[0]))
    path.write_text(
        "\n".join(["who   said   year", *("   ".join(filter(None, row)) for row in rows)])
    )
    with refuses("has columns that are parted by spaces.*save the table as CSV"):
        build(path)
    path.write_text("\n".join(["who said year", *map("   ".join, SPEECHES[1:])]))
    with refuses("has columns that are parted by spaces"):
        build(path)


def test_columns_that_are_parted_by_spaces_may_have_no_names(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(align(SPEECHES[1:]).replace("  ", "\u00a0 "))
    built = build(path, Columns(text=SPEECHES[1][1]))
    assert built.corpus.num_documents == 9
    assert "Row 1 is read as the names of the columns" in built.notes[1]


@pytest.mark.parametrize("end", ["", "  Trade, too."])
def test_several_spaces_inside_of_texts_do_not_end_cells(tmp_path, end):
    path = tmp_path / "a.csv"
    lines = [f"Peace {n}.  And so on.{end}" for n in range(20)]
    path.write_text("\n".join(["text", *lines]))
    assert find_source(path).open().columns == ("text",)
    path.write_text("\n".join(["text;year", *(f"{line};1900" for line in lines)]))
    assert find_source(path).open().columns == ("text", "year")


def test_a_file_of_many_chunks_is_read_completely_and_reports_progress(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text(
        "text\n" + "".join(f"word{chr(97 + i % 26)} peace\n" for i in range(3 * rows.CHUNK_ROWS))
    )
    told = []
    words = WordChoices(max_share=1.0)
    built = build_corpus(find_source(path), PLAIN, words, lambda share, said: told.append(share))
    assert built.corpus.num_documents == 1500
    assert told == sorted(told)
    assert len(told) > 4

    def cancel(share, said):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_corpus(find_source(path), PLAIN, None, cancel)


def test_the_delimiter_is_found_outside_the_quotes_of_the_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('year;"text, lang";title\n1801;peace war trade;A\n', encoding="utf-8")
    assert find_source(path).open().columns == ("year", "text, lang", "title")


def test_quotes_after_a_separator_and_spaces_enclose_cells(tmp_path):
    path = tmp_path / "a.csv"
    lines = ["year, said, who", '1801, "peace, war", Ann', '1802,  "trade ""and"" cotton", Bob']
    path.write_text("\n".join([*lines, "1803, grain, Cid"]), encoding="utf-8")
    table = find_source(path).open()
    (chunk,) = table.read(table.columns)
    assert table.columns == ("year", "said", "who")
    assert chunk.cells["said"] == ["peace, war", 'trade "and" cotton', "grain"]


def test_spaces_and_quotes_inside_a_text_are_left_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('year,said\n1801, "peace" and war\n1802,trade\n', encoding="utf-8")
    (chunk,) = find_source(path).open().read(["said"])
    assert chunk.cells["said"] == [' "peace" and war', "trade"]


def test_dates_with_time_zone_offsets_in_seconds_are_read(tmp_path):
    when = pd.to_datetime(["1800-01-01", "1801-01-01"]).tz_localize("Europe/Berlin")
    pd.DataFrame({"text": ["peace and trade", "war"], "when": when}).to_parquet(
        tmp_path / "a.parquet"
    )
    dates = load_corpus(tmp_path / "a.parquet", date="when").dates
    assert dates.astype("datetime64[h]").astype(str).tolist() == ["1800-01-01T00", "1801-01-01T00"]


@pytest.mark.parametrize("name", ["mine.zip", "mine.parquet"])
def test_a_file_of_another_format_than_its_extension_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK nothing of the kind")
    with refuses(rf"Cannot (open|read) .*{name} as .*again"):
        build(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty. Choose a file with text"),
        ("a.csv", b" \n\n", "is empty"),
        ("a.csv", b"text\n", "no usable rows. Put texts"),
        (
            "a.csv",
            b"PK\x03\x04rest",
            "a zip archive or an Office document: rename it to .zip, .xlsx, .ods",
        ),
        ("a.csv", bytes(range(256)) * 20, "is a binary file"),
        ("a.tsv", b"\x1f\x8brest", "compressed with gzip: unpack it first"),
        (
            "a.csv",
            b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n",
            r"has 1,000,000 columns, more than 1,000",
        ),
        ("a.csv", b"text" + b"x" * 10_000_000, "line 1 is longer than 10,000,000 characters"),
        ("a.jsonl", b'[{"text": "peace"}]', "one JSON list, not JSON lines"),
        ("a.jsonl", b"peace\n", "no JSON object"),
    ],
)
def test_the_error_for_an_unreadable_file_names_the_reason_and_the_remedy(
    tmp_path, name, content, message
):
    (tmp_path / name).write_bytes(content)
    with refuses(message):
        build(tmp_path / name)


def test_bad_rows_of_tables_are_skipped_and_listed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'text,year\npeace,1900\nwa\0r,1900\n"quo"ted,1900\n,1900\npeace,1900,x\ntrade\n"open,1900\n'
    )
    built = build(path, Columns("text"))
    assert built.corpus.titles == ("a, row 2", "a, row 7")
    for row, said in [
        (3, "NUL byte"),
        (4, "cannot be read"),
        (5, "is empty"),
        (6, "3 cells"),
        (8, "not closed"),
    ]:
        assert any(f"a.csv, row {row}: " in reason and said in reason for reason in reasons(built))
    path = tmp_path / "a.jsonl"
    deep = "[" * 100_000
    path.write_text(
        f'{{"text": "peace"}}\n{{"text": \n[1]\n{{"text": {deep}\n{{"text":'
        f' {"9" * 5_000}}}\n{{"text": "trade"}}\n'
    )
    built = build(path)
    assert built.corpus.titles == ("a, row 1", "a, row 6")
    assert [row.row for row in built.bad.listed] == [2, 3, 4, 5]


def test_a_long_json_line_does_not_end_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "peace"}\n{"text": "' + "war " * 100 + '"}\n{"text": "trade"}\n')
    monkeypatch.setattr(text_lines, "MAX_TEXT", 100)
    monkeypatch.setattr(json_files, "MAX_TEXT", 100)
    table = find_source(path).open()
    (chunk,) = table.read(["text"])
    assert (chunk.rows, chunk.cells) == ([1, 3], {"text": ["peace", "trade"]})
    assert [str(row) for row in chunk.bad] == [
        f"{path}, row 2: the line is longer than 100 characters: split it"
    ]


@pytest.mark.parametrize(("name", "quote"), [("a.csv", '"'), ("a.tsv", '"'), ("b.csv", "")])
def test_a_long_line_or_cell_of_a_table_does_not_end_the_file(name, quote, tmp_path, monkeypatch):
    path = tmp_path / name
    long = "war " * 100
    lines = [
        "text",
        "peace",
        f"{quote}{long}{quote}",
        "trade",
        '"war',
        *["war"] * 50,
        "cotton",
        f'"{long}',
    ]
    path.write_text("\n".join(lines))
    monkeypatch.setattr(table_files, "MAX_TEXT", 100)
    monkeypatch.setattr(text_lines, "MAX_TEXT", 100)
    (chunk,) = find_source(path).open().read(["text"])
    good = dict(zip(chunk.rows, chunk.cells["text"], strict=True))
    assert (good[2], good[4]) == ("peace", "trade")
    assert "cotton" in good.values()
    said = [str(row) for row in chunk.bad]
    assert said[0] == f"{path}, row 3: a line is longer than 100 characters: split it into rows"
    assert said[-1].endswith("a line is longer than 100 characters: split it into rows")
    if path.suffix == ".csv":
        lost = "a cell is longer than 100 characters, so 25 more lines are lost: close every quote"
        assert said[1] == f"{path}, row 5: {lost}"


def test_rows_and_files_over_the_limits_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + f"{'peace ' * 50}\n" + "trade\n" * 3)
    monkeypatch.setattr(columns, "MAX_ROWS", 3)
    with refuses("more than 3 rows. Build it on disk"):
        build(path)
    monkeypatch.setattr(columns, "MAX_ROWS", 30)
    monkeypatch.setattr(building, "MAX_CHARACTERS", 100)
    with refuses("billion characters. Build it on disk"):
        build(path)
    monkeypatch.setattr("stickbreaker.engine.corpora.sources.MAX_FILE_BYTES", 100)
    with refuses(r"larger than 1e-07 GB. Build it on disk"):
        build(path)
    monkeypatch.setattr("stickbreaker.engine.corpora.words.MAX_TERMS", 1)
    with refuses("more than 1 distinct words"):
        count_words(["peace and trade"], 1, 1.0)


def test_missing_and_repeated_column_names_become_unique(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w") as stream:
        csv.writer(stream).writerows([["text", "", "text"], ["peace", "x", "trade"]])
    assert load_corpus(path, text="text (3)", title="column 2").vocabulary.words == ("trade",)


def test_a_tsv_file_with_plain_quotation_marks_keeps_all_rows_and_says_so(tmp_path):
    path = tmp_path / "mine.tsv"
    lines = [
        "text\tyear",
        '"Peace\t1900',
        'the "treaty" of 6" guns\t1901',
        'Tariff"\t1902',
        "Cotton\t1903",
    ]
    path.write_text("\n".join(lines))
    built = build(path, Columns("text", "year"), WordChoices(min_documents=1, max_share=1.0))
    assert (built.corpus.num_documents, built.bad.count) == (4, 0)
    assert set(built.corpus.vocabulary) == {"peace", "treaty", "guns", "tariff", "cotton"}
    assert any("Quotation marks are read as plain characters" in note for note in built.notes)


def test_a_tsv_file_with_quoted_cells_of_several_lines_is_read_with_quotes(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text(
        'text\tyear\n"Peace\nand\ttreaty"\t1900\n"the ""tariff"" of cotton"\t1901\nCotton\t1902\n'
    )
    built = build(path, Columns("text", "year"), WordChoices(min_documents=1, max_share=1.0))
    assert (built.corpus.num_documents, built.bad.count, built.notes) == (3, 0, ())
    assert built.corpus.counts.toarray().sum(1).tolist() == [2, 2, 1]


BIG = "war and peace " * 15_000
DELTAS = {"use_dictionary": False, "column_encoding": {"said": "DELTA_BYTE_ARRAY"}}


@pytest.mark.parametrize(("end", "coding"), [("", {}), ("{}", DELTAS)])
def test_a_parquet_file_that_repeats_a_text_is_decoded_in_parts_and_refused(
    tmp_path, monkeypatch, end, coding
):
    path = tmp_path / "a.parquet"
    texts = pa.table({"said": [BIG + end.format(row) for row in range(500)]})
    parquet.write_table(texts, path, compression="zstd", **coding)
    assert path.stat().st_size < 1_000
    with refuses(r"a\.parquet unpacks to more than 200 times its size"):
        build(path, Columns("said"))
    monkeypatch.setattr(packed_files, "MAX_RATIO", 10**9)
    usual, pool = pa.default_memory_pool(), pa.system_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    num_rows = sum(len(chunk.rows) for chunk in find_source(path).open().read(["said"]))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pa.set_memory_pool(usual)
    assert num_rows == 500
    # Of 105 MB of text, Arrow decodes 16 rows at once and a chunk has ten.
    assert pool.max_memory() < 20_000_000
    assert most < 20_000_000


@pytest.mark.parametrize(
    ("content", "columns", "texts", "said"),
    [
        # The separator of the rows, not of the header.
        (
            "id;text, in full, as spoken;year\n" + "1;peace, and war;1900\n" * 4,
            ("id", "text, in full, as spoken", "year"),
            ["peace, and war"] * 4,
            "",
        ),
        ("id|a;b;c\n" + "1|peace, war\n" * 4, ("id", "a;b;c"), ["peace, war"] * 4, ""),
        # Spreadsheets.
        ("sep=;\nid;text\n1;peace\n2;war\n", ("id", "text"), ["peace", "war"], "in row 2"),
        ("id,text\n1,peace,\n2,war,,\n", ("id", "text"), ["peace", "war"], ""),
        ("id;text;\n1;peace;\n2;war;\n", ("id", "text"), ["peace", "war"], ""),
        # Lines above the header.
        (
            "Speeches of the archive\n\nMade in 1900\nid,text\n" + "1,peace\n2,war\n" * 2,
            ("id", "text"),
            ["peace", "war"] * 2,
            "in row 4",
        ),
        (
            "# made in 1900;;\nid;text;x\n" + "1;peace;\n2;war;y\n" * 2,
            ("id", "text", "x"),
            ["peace", "war"] * 2,
            "in row 2",
        ),
        # Exports of databases.
        (
            'id,text\n1,"He said \\\\"peace\\\\", twice"\n2,"war"\n'.replace("\\\\", "\\"),
            ("id", "text"),
            ['He said "peace", twice', "war"],
            "",
        ),
        # Numbers of rows without a name, as R writes them.
        (
            '"id","text"\n"1","a","peace"\n"2","b","war"\n',
            ("column 1", "id", "text"),
            ["peace", "war"],
            "",
        ),
        # One column.
        ("text~n\npeace~1\n", ("text~n",), ["peace~1"], "The only column is 'text~n'"),
        ("text\npeace; war\n", ("text",), ["peace; war"], ""),
        (
            'text\npeace, war, and trade\n"a, b"\nof, the\n',
            ("text",),
            ["peace, war, and trade", "a, b", "of, the"],
            "",
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_form_of_a_table_is_found_from_its_rows(tmp_path, content, columns, texts, said, end):
    path = tmp_path / "a.csv"
    path.write_text(content, newline=end)
    table = find_source(path).open()
    column = next(each for each in columns if each.startswith(("text", "a;")))
    found = [text for chunk in table.read([column]) for text in chunk.cells[column]]
    assert (tuple(each for each in table.columns if each in columns), found) == (columns, texts)
    assert not [row for chunk in table.read([column]) for row in chunk.bad]
    assert (said in " ".join(table.notes)) if said else table.notes == ()


def test_a_comma_in_each_text_is_no_sign_of_numbers_without_a_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text\n1,peace, and war\n2,trade, and navy\n")
    with refuses("row 2: the row has 3 cells instead of 2: put texts with a comma in quotes"):
        build(path)


def test_a_tsv_file_without_tabs_has_other_separators(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("year;text\n" + "1900;peace\n" * 3)
    assert find_source(path).open().columns == ("year", "text")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_rows_that_repeat_the_names_of_the_columns_are_left_out(tmp_path, mark):
    path = tmp_path / "a.csv"
    path.write_text(f"{mark}id,text\n1,peace\n{mark}id,text\n2,war\n")
    built = build(path, Columns("text", title="id"))
    assert built.corpus.titles == ("1", "2")
    assert reasons(built)[0].endswith("row 3: the row repeats the names of the columns")


def test_the_rows_of_a_table_below_other_lines_keep_their_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Speeches\n\nid,text\n1,peace\n2,\n3,war\n")
    built = build(path)
    assert built.corpus.titles == ("a, row 4", "a, row 6")
    assert [row.row for row in built.bad.listed] == [5]


@pytest.mark.parametrize("first", ["We are here to speak of peace and of the treaty", "1863"])
def test_a_first_row_that_is_a_document_is_noted(tmp_path, first):
    path = tmp_path / "a.csv"
    path.write_text(f"{first}\nThe war is over\n")
    assert "Row 1 is read as the names of the columns" in find_source(path).open().notes[0]


def test_comments_above_the_names_of_the_columns_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("# archive, volume 3\n# 1900\n#id,text,year\n" + "1,the treaty,1900\n" * 3)
    built = build(path, Columns(text="text"))
    assert built.corpus.num_documents == 3
    assert "The names of the columns seem to be in row 3" in built.notes[0]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "below",
    [
        [["Recorded, in UTC", "What do you\nremember?"], ['{"ImportId":"a"}', '{"ImportId":"Q"}']],
        [["", "Open-Ended Response"]],
    ],
)
def test_rows_of_survey_services_that_describe_the_columns_are_left_out(tmp_path, suffix, below):
    rows = [["date", "Q1"], *below, *([f"2021-03-0{n}", text] for n, text in enumerate(TEXTS, 1))]
    path = tmp_path / f"survey.{suffix}"
    if suffix == "csv":
        with path.open("w", newline="") as text:
            csv.writer(text).writerows(rows)
    else:
        path.write_bytes(write_xlsx({"A": rows}))
    built = build(path, Columns(text="Q1", date="date"))
    first = len(below) + 2
    assert built.corpus.rows.tolist() == list(range(first, first + 4))
    assert [note for note in built.notes if "describes the columns" in note] == [
        f"Row {row} describes the columns, as survey services write it, and is left out."
        for row in range(2, first)
    ]


def test_a_broken_row_that_describes_the_columns_is_reported(tmp_path):
    path = tmp_path / "survey.csv"
    numbers = ",".join(['"{""ImportId"":""Q""}"'] * 2)
    answers = "".join(f"2021-03-01,{text.replace(',', '')}\n" for text in TEXTS)
    path.write_text(f'date,Q1\nRecorded,"What" is new?\n{numbers}\n{answers}')
    built = build(path, Columns(text="Q1", date="date"))
    assert built.corpus.rows.tolist() == [4, 5, 6, 7]
    assert [bad.row for bad in built.bad.listed] == [2]


def test_carets_separate_cells_only_if_they_separate_the_names_of_the_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id^text^year\n" + "1^the treaty^1900\n" * 3)
    assert build(path, Columns(text="text", date="year")).corpus.num_documents == 3
    path.write_text("text\n" + "the treaty x^2 ^_^\n" * 3)
    assert build(path).corpus.num_documents == 3
