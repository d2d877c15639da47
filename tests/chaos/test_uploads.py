"""Malformed uploads that once failed, and a part of the generated ones."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from stickbreaker import engine
from stickbreaker.engine import WordChoices, load_corpus, preview
from stickbreaker.engine.corpora import packed_files
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.corpora.count_files import parse_document, parse_entries
from stickbreaker.engine.corpora.dates import FIRST_YEAR, LAST_YEAR, read_dates
from stickbreaker.engine.corpora.rows import CorpusError
from tests.chaos import uploads

WORDS = WordChoices(min_documents=1, max_share=1.0)
# Each of these once ended with an error that was not the project's own, or with a sentence of over
# 300 characters.
PAST_FAILURES = (42, 60, 521, 535, 551, 2086, 9021, 11_502, 1_000_043, 5_000_091, 5_000_410)


def test_files_that_once_failed_are_read_or_refused_with_a_short_sentence():
    frame, faults = uploads.count_outcomes(PAST_FAILURES)
    assert frame[list(uploads.OUTCOMES)].to_numpy().sum() == len(PAST_FAILURES)
    assert faults == {}


def test_generated_files_are_read_or_refused_with_a_short_sentence():
    frame, faults = uploads.count_outcomes(range(1_000_000, 1_000_300))
    assert faults == {}
    assert (frame[["read", "refused"]] > 0).all(axis=None)


@pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "０１２３４５６７８９"])
def test_dates_in_other_digits_are_read(tmp_path, digits):
    cells = [
        date.translate({48 + place: digit for place, digit in enumerate(digits)})
        for date in ("1863", "1864")
    ]
    (tmp_path / "a.csv").write_text(
        "date,text\n" + "".join(f"{cell},war and peace\n" for cell in cells)
    )
    corpus = load_corpus(tmp_path / "a.csv", text="text", date="date", words=WORDS)
    assert np.datetime_as_string(corpus.dates).tolist() == ["1863", "1864"]


def test_a_zip_with_a_name_in_no_valid_encoding_is_refused_or_leaves_that_file_out(tmp_path):
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("ü.txt", "war and peace")
        archive.writestr("a.txt", "cotton and trade")
    good = (tmp_path / "good.zip").read_bytes()
    first = good.index("ü".encode())
    (tmp_path / "all.zip").write_bytes(good.replace("ü".encode(), b"\xff\xfe"))
    with pytest.raises(CorpusError, match="Cannot open .* as a zip archive .*Create it again"):
        preview(tmp_path / "all.zip")
    (tmp_path / "one.zip").write_bytes(good[:first] + b"\xff\xfe" + good[first + 2 :])
    corpus = load_corpus(tmp_path / "one.zip", words=WORDS)
    assert corpus.titles == ("a",)


def test_a_date_outside_the_range_of_python_skips_its_row_only(tmp_path):
    days = pa.array([0, 10**8], pa.int32()).cast(pa.date32())
    parquet.write_table(
        pa.table({"text": ["war and peace"] * 2, "when": days}), tmp_path / "a.parquet"
    )
    found = preview(tmp_path / "a.parquet", date="when")
    assert found.num_rows == 2
    assert found.num_undated == 1
    assert found.date_span == ("1970-01-01", "1970-01-01")
    assert "outside the years 1 to 9999" in str(found.bad[0])


def test_a_column_without_a_name_is_left_out_and_a_file_of_only_such_columns_is_refused(tmp_path):
    pd.DataFrame({"": ["cotton"] * 2, "text": ["war and peace"] * 2}).to_json(
        tmp_path / "a.jsonl", orient="records", lines=True
    )
    found = preview(tmp_path / "a.jsonl")
    assert found.columns == ("text",)
    assert "has a column without a name, which is left out" in found.notes[0]
    pd.DataFrame({"": ["cotton"] * 2}).to_json(tmp_path / "b.jsonl", orient="records", lines=True)
    with pytest.raises(CorpusError, match=r"b\.jsonl has no column with a name"):
        preview(tmp_path / "b.jsonl")


def test_a_corpus_without_words_is_refused_before_an_algorithm_sees_it():
    empty = engine.Corpus(
        "empty",
        np.zeros((4, 0), int),
        Vocabulary(()),
        np.full(4, "NaT", "datetime64[Y]"),
        list("abcd"),
    )
    algorithm = engine.find_algorithm("hdp")
    with pytest.raises(CorpusError, match="empty has no words, so there is nothing to learn"):
        engine.prepare(algorithm, algorithm.config(), empty)


def test_packed_counts_that_unpack_to_more_than_text_can_are_refused(tmp_path, monkeypatch):
    (tmp_path / "vocab.a.txt").write_text("war\npeace\n")
    monkeypatch.setattr(packed_files, "RATIO_FROM", 1_000_000)
    content = b"2\n2\n600000\n" + b"1 1 1\n" * 600_000
    (tmp_path / "docword.a.txt.gz").write_bytes(gzip.compress(content))
    with pytest.raises(CorpusError, match="unpacks to more than 200 times its size"):
        load_corpus(tmp_path / "docword.a.txt.gz")


def test_a_small_parquet_file_with_a_million_empty_rows_is_refused_at_once(tmp_path, monkeypatch):
    parquet.write_table(
        pa.table({"text": pa.nulls(1_000_000, pa.string())}), tmp_path / "a.parquet"
    )
    monkeypatch.setattr(packed_files, "RATIO_FROM", 100_000)
    with pytest.raises(CorpusError, match="unpacks to more than 200 times its size"):
        preview(tmp_path / "a.parquet")


@pytest.mark.parametrize("kind", uploads.EXTREMES)
def test_long_names_and_numbers_and_repeated_texts_are_read_or_refused_with_a_short_sentence(
    kind, tmp_path
):
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = uploads.EXTREMES[kind](np.random.default_rng(seed), folder)
        outcome, words = uploads.say(lambda path=path: preview(path), str(folder))
        assert outcome in ("read", "refused"), words


@given(st.lists(st.text(max_size=20), max_size=6))
def test_any_cells_are_dates_within_the_range_or_no_dates(cells):
    dates = read_dates(cells)
    years = dates[~np.isnat(dates)].astype("datetime64[Y]").astype(int) + 1970
    assert len(dates) == len(cells)
    assert ((years >= FIRST_YEAR) & (years <= LAST_YEAR)).all()


@given(
    st.dates(
        min_value=pd.Timestamp("1000-01-01").date(), max_value=pd.Timestamp("2100-12-31").date()
    )
)
def test_every_iso_date_is_read_as_itself(date):
    assert read_dates([date.isoformat()]).astype("datetime64[D]").astype(object).tolist() == [date]


@given(st.binary(max_size=60))
def test_any_line_of_counts_is_read_or_explained(line):
    pairs = parse_document(line.replace(b"\n", b" "), 5)
    assert isinstance(pairs, str) or ((pairs[:, 0] < 5).all() and (pairs[:, 1] >= 1).all())


@given(
    st.lists(
        st.binary(max_size=30).map(lambda line: line.replace(b"\n", b" ").replace(b"\r", b" ")),
        max_size=5,
    )
)
def test_any_block_of_entries_is_read_line_by_line(lines):
    entries, bad = parse_entries(None, b"".join(line + b"\n" for line in lines), 1)
    assert entries.shape[1] == 4
    assert len(entries) + len(bad) <= len(lines)


@given(
    st.lists(
        st.text(st.characters(blacklist_categories=["Cs"]), max_size=20), min_size=1, max_size=4
    )
)
def test_any_csv_is_read_or_refused_with_a_sentence(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("table") / "a.csv"
    path.write_text("\n".join(lines))
    outcome, words = uploads.say(lambda: preview(path), str(path.parent))
    assert outcome in ("read", "refused"), words
