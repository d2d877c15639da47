"""Files of every kind, in every encoding, with the oddities that people's files have, read back."""

import csv
import gzip
import io
import json
from collections import Counter
from datetime import UTC, date, datetime, time
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.words import WordChoices
from tests.engine.corpora import small_documents, small_sheets
from tests.engine.corpora.small_files import build, pack

EVERYTHING = WordChoices(min_documents=1, max_share=1.0, languages=(), min_letters=1)
# Words of languages, and the encodings of files in them besides those of Unicode.
LANGUAGES = {
    "english": ("peace trade war treaty tariff cotton nation people congress union", ("ascii",)),
    "german": ("größe für über schön mädchen straße könig müssen länder grün", ("cp1252",)),
    "russian": ("мир торговля война договор народ страна города люди время жизнь", ("cp1251",)),
    "polish": (
        "żółć wśród państwo też światło książka źródło będzie społeczeństwo są",
        ("cp1250",),
    ),
    "greek": ("ειρήνη εμπόριο πόλεμος συνθήκη λαός χώρα άνθρωποι χρόνος ζωή", ("cp1253",)),
}
UNICODE = ("utf-8", "utf-8-sig", "utf-16")
# The ways to write a day, and what is left of it.
FORMS = {
    "%Y-%m-%d": "D",
    "%d.%m.%Y": "D",
    "%d/%m/%Y": "D",
    "%d %B %Y": "D",
    "%Y%m%d": "D",
    "%Y-%m": "M",
    "%Y": "Y",
    "%Y-%m-%dT%H:%M:%SZ": "D",
    "seconds": "D",
}
SEPARATORS = {"csv": ",;|", "tsv": "\t"}
NO_WORDS = ("", "  ", "12 34", "...")
PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


class Rows(NamedTuple):
    """What is written: texts, days, and how."""

    texts: list[str]
    days: list[date]
    form: str
    encoding: str
    separator: str
    oddity: str
    quotes: int
    newline: str

    @property
    def table(self):
        dates = [_write_date(day, self.form) for day in self.days]
        return pd.DataFrame({"who": range(len(dates)), "said": self.texts, "when": dates})


def _write_date(day, form):
    if form == "seconds":
        return str(int(datetime.combine(day, time(12), UTC).timestamp()))
    return day.strftime(form)


def _csv(rows):
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=rows.separator, quoting=rows.quotes, lineterminator=rows.newline
    )
    lines = rows.table.to_numpy().tolist()
    if rows.oddity != "no header":
        lines.insert(0, [*rows.table.columns])
    if rows.oddity == "trailing separator":
        lines = [[*line, ""] for line in lines]
    if rows.oddity == "lines above":
        lines = [["Export of speeches"], [], *lines]
    writer.writerows(lines)
    if rows.oddity == "aligned":
        out = io.StringIO()
        widths = [max(len(str(line[at])) for line in lines) + 2 for at in range(3)]
        for line in lines:
            cells = (str(cell).ljust(width) for cell, width in zip(line, widths, strict=True))
            out.write("".join(cells) + rows.newline)
    first = f"sep={rows.separator}{rows.newline}" * (rows.oddity == "sep")
    return (first + out.getvalue()).encode(rows.encoding)


def _json(rows):
    return rows.table.to_json(orient="records", force_ascii=False).encode(rows.encoding)


def _json_lines(rows):
    records = rows.table.to_dict("records")
    if rows.oddity == "lists":
        records = [{**each, "said": each["said"].split()} for each in records]
    return "".join(
        json.dumps({"by": {"id": 3}, **each}, ensure_ascii=False) + "\n" for each in records
    ).encode(rows.encoding)


def _parquet(rows):
    out = io.BytesIO()
    rows.table.assign(when=pd.to_datetime(rows.days)).to_parquet(out)
    return out.getvalue()


def _sheet(suffix):
    def write(rows):
        lines = [[*rows.table.columns], *rows.table.to_numpy().tolist()]
        if rows.oddity == "date cells":
            lines[1:] = [[*line[:2], day] for line, day in zip(lines[1:], rows.days, strict=True)]
        if rows.oddity == "lines above":
            lines = [["Export of speeches"], [], *lines]
        notes = [["About"]] * (1 + (rows.oddity == "not the largest sheet") * len(lines))
        return small_sheets.WRITERS[suffix]({"Notes": notes, "Speeches": lines})

    return write


def _mailbox(rows):
    messages = zip(rows.texts, rows.days, strict=True)
    return small_documents.write_mbox(
        *(
            small_documents.write_eml(
                f"{text}\n> quoted\n-- \nsigned", Date=f"{day:%d %b %Y} 12:00:00 +0000"
            )
            for text, day in messages
        )
    )


TABLES = {
    "csv": _csv,
    "tsv": _csv,
    "json": _json,
    "jsonl": _json_lines,
    "parquet": _parquet,
    "mbox": _mailbox,
} | {suffix: _sheet(suffix) for suffix in small_sheets.WRITERS}
ODDITIES = {
    "csv": ("", "no header", "trailing separator", "lines above", "sep", "aligned"),
    "tsv": ("", "no header", "trailing separator", "lines above"),
    "jsonl": ("", "lists"),
} | dict.fromkeys(small_sheets.WRITERS, ("", "date cells", "lines above", "not the largest sheet"))


@st.composite
def some_rows(draw, kind):
    # The small PDF files have only the letters of Windows-1252.
    languages = ("english", "german") if kind == ".pdf" else sorted(LANGUAGES)
    words, encodings = LANGUAGES[draw(st.sampled_from(languages))]
    oddity = draw(st.sampled_from(ODDITIES.get(kind, ("",))))
    separator = draw(st.sampled_from(SEPARATORS.get(kind, ",")))
    # Signs that an unquoted cell cannot have, and others.
    signs = st.sampled_from(
        [", ", "; ", ' "quoted" ', "\n", " – " if encodings != ("ascii",) else " "]
    )
    # Encodings are recognised by words that have several letters outside of ASCII.
    text = st.permutations(words.split()).map(" ".join)
    texts = draw(st.lists(text, min_size=8, max_size=14))
    if kind in ("csv", "json", "parquet"):
        texts = [f"{each}{draw(signs)}{each}" for each in texts]
    for place in draw(st.sets(st.integers(1, len(texts) - 1), max_size=2)):
        texts[place] = draw(st.sampled_from(NO_WORDS))
    if oddity == "aligned":
        texts = [" ".join(each.split()) or "..." for each in texts]
    form = draw(st.sampled_from([*FORMS]))
    # Dates of sheets begin in 1900, and numbers of nine digits are seconds.
    start = np.datetime64("1975-01-13")
    days = [(start + np.timedelta64(40 * n, "D")).astype(object) for n in range(len(texts))]
    days = [day.replace(day=13 + number % 15) for number, day in enumerate(days)]
    return Rows(
        texts=texts,
        days=days,
        form=form,
        encoding=draw(st.sampled_from((*UNICODE, *encodings))),
        separator=separator,
        oddity=oddity,
        quotes=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        newline=draw(st.sampled_from(["\n", "\r\n"])),
    )


def _place(folder, kind, content, packed, place):
    """Write a file, alone or in a folder or archive next to a file that describes it."""
    name = f"speeches.{kind}{packed}"
    content = PACK[packed](content)
    if place == "zip":
        return pack(folder / "mine.zip", **{"README.md": "About war", f"data/{name}": content})
    if place == "folder":
        (folder / "README.md").write_text("About war")
    (folder / name).write_bytes(content)
    return folder if place == "folder" else folder / name


def _assert_read(built, texts, days, unit):
    """Each text with words is a document with its words and its day; the others are skipped."""
    kept = [place for place, text in enumerate(texts) if any(map(str.isalpha, text))]
    corpus = built.corpus
    words = np.array(corpus.vocabulary)
    counts = corpus.counts.toarray()
    assert [dict(zip(words[row > 0], row[row > 0], strict=True)) for row in counts] == [
        dict(Counter("".join(sign if sign.isalpha() else " " for sign in texts[place]).split()))
        for place in kept
    ]
    expected = np.array([days[place] for place in kept], "datetime64[D]").astype(
        f"datetime64[{unit}]"
    )
    np.testing.assert_array_equal(corpus.dates.astype(f"datetime64[{unit}]"), expected)
    assert built.bad.count == len(texts) - len(kept)


def check_table(folder, kind, rows, packed, place):
    """A table is read as it was written."""
    path = _place(folder, kind, TABLES[kind](rows), packed, place)
    columns = Columns(text="said", date="when")
    texts, days, unit = rows.texts, rows.days, FORMS[rows.form]
    if kind == "mbox":
        columns = Columns(date="date")
    if kind in ("mbox", "parquet") or rows.oddity == "date cells":
        unit = "D"
    if rows.oddity == "no header":
        columns = Columns(text=texts[0].strip(), date=_write_date(days[0], rows.form))
        texts, days = texts[1:], days[1:]
    if rows.oddity == "not the largest sheet":
        columns = columns._replace(sheet="Speeches")
    built = build(path, columns, EVERYTHING)
    _assert_read(built, texts, days, unit)
    said = " ".join(built.notes)
    assert ("in row 3; the rows above" in said) == (rows.oddity == "lines above")
    assert ("Row 1 is read as the names" in said) == (rows.oddity == "no header")
    assert ("Cells are read from the place" in said) == (rows.oddity == "aligned")
    has_note = kind in small_sheets.WRITERS and not columns.sheet
    assert ("The sheet 'Speeches'" in said) == has_note
    assert ("Left out: quoted lines" in said) == (kind == "mbox")


def check_documents(folder, suffix, rows, packed, place):
    """A folder or an archive of documents is read as it was written."""
    write = small_documents.WRITERS[suffix]
    if suffix == ".txt":
        write = lambda text: text.encode(rows.encoding)  # noqa: E731
    days = [date(1863, 12, 8)] * len(rows.days) if suffix in (".eml", ".xml") else rows.days
    files = {
        f"{number:03} {day:%Y-%m-%d}{suffix}{packed}": PACK[packed](write(text))
        for number, (text, day) in enumerate(zip(rows.texts, rows.days, strict=True))
    }
    path = folder / "mine"
    if place == "zip":
        path = pack(folder / "mine.zip", **files)
    else:
        path.mkdir()
        for name, content in files.items():
            (path / name).write_bytes(content)
    _assert_read(build(path, Columns(date="date"), EVERYTHING), rows.texts, days, "D")


def check_single(folder, suffix, rows, packed, place):
    """A single document with a text in each line is read as it was written."""
    texts = [f"{number} {' '.join(text.split())}." for number, text in enumerate(rows.texts * 2)]
    write = small_documents.WRITERS[suffix]
    if suffix == ".txt":
        write = lambda text: text.encode(rows.encoding)  # noqa: E731
    name = f"mine{suffix}{packed}"
    content = PACK[packed](write("\n".join(texts)))
    path = folder / name
    if place == "zip":
        path = pack(folder / "mine.zip", **{name: content})
    else:
        path.write_bytes(content)
    built = build(folder if place == "folder" else path, Columns(), EVERYTHING)
    _assert_read(built, texts, np.full(len(texts), "NaT"), "D")
    assert "Each line is read as a document." in built.notes


@pytest.mark.parametrize("num_examples", [60, pytest.param(500, marks=pytest.mark.extended)])
@pytest.mark.parametrize(
    ("check", "kinds"),
    [
        (check_table, TABLES),
        (check_documents, small_documents.WRITERS),
        (check_single, small_documents.WRITERS),
    ],
    ids=["tables", "documents", "single"],
)
def test_files_of_every_kind_are_read_as_they_were_written(tmp_path, num_examples, check, kinds):
    numbers = iter(range(10**6))

    @settings(max_examples=num_examples, deadline=None, derandomize=True)
    @given(st.data())
    def one(data):
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        kind = data.draw(st.sampled_from(sorted(kinds)))
        rows = data.draw(some_rows(kind))
        packed = data.draw(st.sampled_from(sorted(PACK)))
        check(folder, kind, rows, packed, data.draw(st.sampled_from(["file", "folder", "zip"])))

    one()
