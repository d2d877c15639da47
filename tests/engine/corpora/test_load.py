"""Loading corpora: the bundled ones, and CSV files, intact and damaged."""

import hashlib
import re
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora import bundled
from stickbreaker.engine.corpora.build_stored import build
from stickbreaker.engine.corpora.bundled import FILES, pack
from stickbreaker.engine.corpora.load import corpus_from, list_corpora, load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.stored import store_corpus
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.evaluation.group_shares import find_groups
from tests.engine.corpora.small_files import (
    TEXTS,
    assert_same_corpora,
    make_rows,
    refuses,
    write_table,
)

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture
def write_csv(tmp_path):
    def write(*lines, name="mine.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding=encoding)
        return path

    return write


@pytest.fixture
def copied_data(tmp_path, monkeypatch):
    shutil.copytree(DATA, tmp_path / "data")
    monkeypatch.setattr(bundled, "find_data_folder", lambda: tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture(scope="module")
def rfc():
    return load_corpus("rfc")


def figures_in_readme(corpus):
    """Documents, words, tokens, entries and groups, which README must contain."""
    figures = (
        corpus.num_documents,
        corpus.vocab_size,
        corpus.num_tokens,
        corpus.counts.nnz,
        len(corpus.group_titles),
    )
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"{figure:,}" in readme for figure in figures)
    return figures


def test_state_of_the_union_agrees_with_its_readme(state_of_the_union):
    corpus = state_of_the_union
    assert figures_in_readme(corpus) == (10384, 7399, 699107, 612672, 233)
    assert (str(corpus.dates.min()), str(corpus.dates.max())) == ("1790", "2021")
    assert "1863 Abraham Lincoln, passage 12" in corpus.titles
    assert (np.diff(corpus.counts.indptr).min() > 0, corpus.split_by) == (True, "document")


def test_rfc_agrees_with_its_readme(rfc):
    assert figures_in_readme(rfc) == (185791, 8000, 25586356, 14477868, 9135)
    assert rfc.dates.dtype == "datetime64[M]"
    assert str(rfc.dates.min()) == "1969-03"
    assert str(rfc.dates.max()) == "2023-01"
    assert (
        "RFC 8446 The Transport Layer Security (TLS) Protocol Version 1.3, passage 12" in rfc.titles
    )
    assert (np.diff(rfc.counts.indptr).min() > 0, rfc.split_by) == (True, "group")
    assert {"routing", "arpanet", "yang"} <= set(rfc.vocabulary)


def test_rfcs_are_in_order_of_publication_and_number(rfc):
    assert (np.diff(rfc.groups) >= 0).all()
    assert (np.diff(rfc.dates.astype(int)) >= 0).all()
    numbers = [int(title.split()[1]) for title in rfc.group_titles]
    months = rfc.dates[np.unique(rfc.groups, return_index=True)[1]]
    assert np.lexsort((numbers, months)).tolist() == list(range(9135))


def test_whole_rfcs_have_the_words_of_their_passages(rfc):
    whole = rfc.merge_groups("rfc-documents")
    assert whole.name == "rfc-documents"
    assert whole.num_documents == 9135
    assert whole.num_tokens == rfc.num_tokens
    assert whole.titles == rfc.group_titles
    number = whole.titles.index("RFC 1 Host Software")
    passages = rfc.select(rfc.groups == number)
    assert (whole.counts.toarray()[[number]] == passages.counts.sum(axis=0)).all()
    assert whole.dates[number] == passages.dates[0] == np.datetime64("1969-04")


def test_two_addresses_of_one_year_are_in_the_order_of_delivery(state_of_the_union):
    names = list(dict.fromkeys(title.split(",")[0] for title in state_of_the_union.titles))
    for outgoing, incoming in (
        ("1953 Harry S Truman", "1953 Dwight D Eisenhower"),
        ("1961 Dwight D Eisenhower", "1961 John F Kennedy"),
    ):
        assert names.index(incoming) == names.index(outgoing) + 1
    assert (np.diff(state_of_the_union.dates.astype(int)) >= 0).all()
    assert len(names) == 233


@pytest.mark.parametrize(
    ("name", "most_bytes"), [("state-of-the-union", 1_000_000), ("rfc", 16_000_000)]
)
def test_the_checksum_in_the_readme_is_that_of_the_file(name, most_bytes):
    content = (DATA / f"{name}.npz").read_bytes()
    assert len(content) < most_bytes
    assert hashlib.sha256(content).hexdigest() in (DATA / "README.md").read_text(encoding="utf-8")


def test_a_bundled_corpus_is_loaded_without_a_call_for_each_document(state_of_the_union):
    calls = Counter()
    sys.setprofile(lambda frame, event, argument: calls.update([event]))
    try:
        load_corpus("state-of-the-union")
    finally:
        sys.setprofile(None)
    assert 0 < calls["call"] + calls["c_call"] < state_of_the_union.num_documents


@pytest.mark.parametrize("name", FILES)
def test_the_error_for_a_damaged_corpus_file_names_it_and_the_remedy(copied_data, name):
    file = copied_data / f"{FILES[name]}.npz"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with refuses(rf"{file.name} is damaged.*reinstall"):
        load_corpus(name)


@pytest.mark.parametrize("missing", ["state-of-the-union.npz", "checksums.json"])
def test_the_error_for_a_missing_corpus_file_names_it_and_the_remedy(copied_data, missing):
    (copied_data / missing).unlink()
    with refuses(rf"Cannot read .*{re.escape(missing)}.*git checkout"):
        load_corpus("state-of-the-union")


def test_a_packed_corpus_is_unpacked_unchanged(state_of_the_union):
    # With the first twelve addresses only, some words do not occur, and gaps of all lengths do.
    corpus = state_of_the_union.select(state_of_the_union.groups < 12)
    corpus = replace(corpus, doc_ids=None, group_titles=corpus.group_titles[:12], split_by="group")
    again = bundled.unpack(corpus.name, pack(corpus))
    assert_same_corpora(again, corpus)
    assert again.split_by == "group"


def test_packing_the_same_corpus_twice_gives_the_same_bytes(state_of_the_union):
    assert pack(state_of_the_union) == pack(state_of_the_union)


def test_the_error_for_an_unknown_name_lists_the_corpora():
    with refuses("Did you mean 'state-of-the-union'"):
        load_corpus("state-of-the-onion")
    with refuses(r"Use state-of-the-union, rfc, rfc-documents, bars, or a file .*\.csv.*Parquet"):
        load_corpus("speeches.dat")


def test_a_bundled_corpus_takes_no_columns():
    assert list_corpora()[:4] == ("state-of-the-union", "rfc", "rfc-documents", "bars")
    with refuses("Omit text, date, title, group, words and like"):
        load_corpus("state-of-the-union", text="text")


def test_without_dates_and_titles_documents_have_the_order_and_numbers_of_their_rows(write_csv):
    corpus = load_corpus(write_csv("text", *(f'"{text}"' for text in TEXTS)))
    assert not corpus.has_dates
    assert corpus.titles == tuple(f"mine, row {row}" for row in (2, 3, 4, 5))


def test_a_column_of_groups_keeps_parts_of_one_text_together(write_csv):
    path = write_csv(
        "part,of", *(f'"{text}",{letter}' for text, letter in zip(TEXTS, "BBAA", strict=True))
    )
    corpus = load_corpus(path, text="part", group="of")
    assert (corpus.group_titles, corpus.groups.tolist()) == (("B", "A"), [0, 0, 1, 1])
    parts = corpus.split(1, seed=0, by="group")
    assert sorted(set(part.groups.tolist()) for part in parts) == [{0}, {1}]
    assert corpus.merge_groups("whole").titles == ("B", "A")
    assert load_corpus(path, text="part").groups.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("num_groups", "split_by"), [(2, "document"), (20, "group")])
def test_whole_groups_are_held_out_only_if_there_are_twenty(
    write_csv, tmp_path, num_groups, split_by
):
    path = write_csv("part,of", *(f'"peace and war",{row % num_groups}' for row in range(80)))
    words = WordChoices(max_share=1.0)
    corpus = load_corpus(path, text="part", group="of", words=words)
    built = build(path, to=tmp_path / "built", text="part", group="of", words=words)
    assert (corpus.split_by, built.split_by) == (split_by, split_by)
    assert corpus.split(8)[1].num_documents == built.split(8)[1].num_documents == 8
    assert len(built.group_titles) == num_groups


def test_rows_without_a_group_are_one_group_of_which_single_documents_are_held_out(
    write_csv, tmp_path, caplog
):
    # A third has no group, or what programs write instead.
    parties = [("", "NA", "(none)")[row % 3] if row < 30 else row % 20 for row in range(90)]
    path = write_csv("part,of", *(f'"peace and war",{party}' for party in parties))
    columns = {"text": "part", "group": "of"}
    words = WordChoices(max_share=1.0)
    note = '30 of 90 rows have no group: they are read as the group "(none)".'
    assert note in preview(path, **columns).notes
    frame = pd.DataFrame({"part": "peace and war", "of": [None] * 30 + parties[30:]})
    found = [
        load_corpus(path, **columns, words=words),
        build(path, to=tmp_path / "built", **columns, words=words),
        corpus_from(frame, **columns, words=words),
    ]
    assert caplog.text.count(note) == 3
    for corpus in found:
        assert (corpus.group_titles[0], corpus.split_by) == ("(none)", "group")
        assert corpus.num_documents == 90
        assert (corpus.groups[:30] == 0).all()
        parts = corpus.split(9)
        assert 0 < sum(parts[1].groups == 0) < 9 < sum(parts[0].groups == 0)
        assert not set(parts[0].groups[parts[0].groups > 0]) & set(parts[1].groups)
        assert find_groups(corpus).names[-1] == "(none)"
    assert found[0].merge_groups("whole").num_documents == 20 + 30


def test_files_of_twenty_documents_and_of_one_keep_their_words(write_csv):
    twenty = load_corpus(
        write_csv(
            "text", *(f"peace treaty number word{'abcdefghijklmnopqrst'[i]}" for i in range(20))
        )
    )
    assert (twenty.num_documents, twenty.vocab_size) == (20, 20)
    assert load_corpus(write_csv("text", "peace and trade")).vocabulary.words == ("peace", "trade")


def test_rare_and_common_words_of_a_large_file_are_removed(write_csv):
    lines = [
        f"everywhere {'cotton' if i % 8 == 0 else 'indigo' if i < 3 else 'trade'}"
        for i in range(1200)
    ]
    assert load_corpus(write_csv("text", *lines)).vocabulary.words == ("cotton",)


def test_rows_without_words_are_skipped_and_reported(write_csv, caplog):
    corpus = load_corpus(
        write_csv("text,year", "peace,1900", ",1901", "", "the,not a year", "treaty,1904"),
        date="year",
    )
    assert corpus.titles == ("mine, row 2", "mine, row 6")
    assert "skipped 3 of 5 rows" in caplog.text
    assert re.search(
        r"row 3: the text is empty; .*row 4: the text is empty; .*row 5: 'not a year' is not a"
        r" date",
        caplog.text,
    )


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["1600", "1863"], ["1600", "1863"]),
        (["1863.0", "1864.0"], ["1863", "1864"]),
        (["1863-12", "1864-01"], ["1863-12", "1864-01"]),
        (["1863-12-08", " 1600-02-03 "], ["1863-12-08", "1600-02-03"]),
        (["2020-01-02T03:04:05Z", "2020-01-02"], ["2020-01-02T03:04:05", "2020-01-02T00:00:00"]),
        (['"December 8, 1863"', '"January 2, 1864"'], ["1863-12-08", "1864-01-02"]),
        (["12/8/1863", "1/2/1864"], ["1863-12-08", "1864-01-02"]),
        (["Dec 1863", "January 1864"], ["1863-12", "1864-01"]),
        (["Dec 1600", "January 1864"], ["1600-12", "1864-01"]),
        (['"December 8, 1600"', '"January 2, 1864"'], ["1600-12-08", "1864-01-02"]),
        (
            ["1600-02-03T01:30:00+02:00", "1863-12-08"],
            ["1600-02-03T01:30:00", "1863-12-08T00:00:00"],
        ),
    ],
)
def test_dates_keep_their_precision(write_csv, cells, dates):
    path = write_csv("text,when", *(f"peace,{cell}" for cell in cells))
    assert load_corpus(path, date="when").dates.astype(str).tolist() == dates


@pytest.mark.parametrize("cell", ["soon", "1863-13-40", "13/13/1863", "0063-01-01", "9999-12-31"])
def test_a_row_with_a_wrong_date_is_skipped_and_listed(write_csv, caplog, cell):
    path = write_csv("text,when", "peace,1863-12-08", '"two\nlines",1863-12-09', f"treaty,{cell}")
    corpus = load_corpus(path, date="when")
    assert corpus.dates.astype(str).tolist() == ["1863-12-08", "1863-12-09"]
    assert re.search(rf"skipped 1 of 3 rows\. First: .*mine\.csv, row 4: '{cell}' is ", caplog.text)
    assert load_corpus(path).num_documents == 3


def test_the_error_for_a_column_without_dates_names_its_first_row(write_csv):
    with refuses("row 2: 'yore' is not a date"):
        load_corpus(write_csv("text,when", "peace,yore"), date="when")


@pytest.mark.parametrize("column", ["text", "date", "title", "group"])
def test_the_error_for_a_missing_column_lists_the_columns(write_csv, column):
    with refuses(r"mine\.csv has no column 'txt'\. Choose one of 'text', 'year'"):
        load_corpus(write_csv("text,year", "peace,1900"), **{column: "txt"})


def test_the_text_column_must_be_given_if_it_is_not_clear(write_csv):
    with refuses("choose the column with the text, .* 'body', 'year'"):
        load_corpus(write_csv("body,year", "peace,1900"))


def test_a_column_called_text_in_any_case_is_the_text(write_csv):
    assert load_corpus(write_csv("Text,Year", "peace,1900")).num_documents == 1


@pytest.mark.parametrize("name", ["", "The treaty of peace. " * 500, "x" * 300 + ".csv"])
def test_the_error_for_an_impossible_path_is_short(name):
    with refuses("No corpus '") as refused:
        load_corpus(name)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("mine.csv.7z", "Unpack it first"),
        (
            "mine.txt",
            "If it is a table, rename it to .csv; if each line is a document, write text above",
        ),
        ("mine.numbers", "Save the table as CSV"),
        ("mine.dat", "Rename it to .ldac"),
        ("mine.xyz", "Use CSV .*folder or a .zip of text files"),
    ],
)
def test_the_error_for_an_unsupported_file_type_names_the_remedy(tmp_path, name, remedy):
    (tmp_path / name).write_text("peace")
    fault = "One text is no corpus" if name == "mine.txt" else "Unsupported file type"
    with refuses(rf"{fault}: .*{re.escape(name)}\. .*{remedy}"):
        load_corpus(tmp_path / name)


def test_a_corpus_from_the_current_folder_has_the_name_of_the_folder(tmp_path, monkeypatch):
    (tmp_path / "one.txt").write_text("peace treaty")
    monkeypatch.chdir(tmp_path)
    assert load_corpus(".").name == tmp_path.name


def test_the_error_for_a_missing_file_gives_its_full_path(tmp_path):
    with refuses(re.escape(f"File not found: {tmp_path / 'mine.csv'}")):
        load_corpus(tmp_path / "mine.csv")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["text,year", '"peace,1900', "war,1901"], "close every quote"),
        (['"text,year', "peace,1900"], "row 1, as CSV .*Close every quote"),
        (
            ["text", "the", "of a"],
            "No words remain in 2 rows.*Choose another column, fewer letters or fewer stop words",
        ),
        (["text,year", "peace, trade and war,1900"], "put texts with a comma in quotes"),
    ],
)
def test_the_error_for_an_unusable_file_names_the_remedy(write_csv, lines, message):
    with refuses(rf"mine\.csv.*{message}"):
        load_corpus(write_csv(*lines))


def test_only_the_row_with_an_extra_comma_is_skipped(write_csv, caplog):
    corpus = load_corpus(
        write_csv("text,year", "peace,1900", "peace, trade and war,1900", "trade,1901")
    )
    assert corpus.titles == ("mine, row 2", "mine, row 4")
    assert re.search(
        "row 3: the row has 3 cells instead of 2: put texts with a comma in quotes", caplog.text
    )


def test_a_quote_that_is_not_closed_says_how_many_lines_are_lost_with_it(write_csv, caplog):
    corpus = load_corpus(
        write_csv("text,year", '"peace,1900', "war,1901", 'trade "good",1902', "tax,1903")
    )
    assert corpus.titles == ("mine, row 3",)
    assert re.search(
        "row 2: the row cannot be read .*, so 2 more lines are lost: close every quote", caplog.text
    )


def test_loading_shows_a_bar_only_on_request_and_calls_back_with_the_share(write_csv, capfd):
    path, shares = write_csv("text", *TEXTS), []
    load_corpus(path, callback=shares.append)
    assert shares == sorted(shares)
    assert (shares[-1], len(shares) > 1) == (1.0, True)
    assert "".join(capfd.readouterr()) == ""
    load_corpus(path, verbose=True)
    assert "Done: 100%" in capfd.readouterr().err
    load_corpus("state-of-the-union", callback=shares.append)
    assert shares[-2:] == [1.0, 1.0]


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
def test_a_text_file_that_is_a_table_or_a_list_of_texts_is_read_under_another_name(
    tmp_path, separator
):
    """As the error for its extension says."""
    texts = [*TEXTS, "War, and ships, and trade"]
    table = (f"19{row}{separator}{text}" for row, text in enumerate(texts, start=10))
    (tmp_path / "a.csv").write_text("\n".join([f"year{separator}text", *table]))
    assert load_corpus(tmp_path / "a.csv", date="year").num_documents == len(texts)
    (tmp_path / "b.csv").write_text("\n".join(["text", *texts]))
    assert load_corpus(tmp_path / "b.csv").num_documents == len(texts)


def test_each_document_leads_to_its_row_of_the_file(tmp_path, caplog):
    rows = make_rows(400)
    path = write_table(rows, tmp_path / "a.csv")
    corpus = load_corpus(path, text="said", date="when")
    stored = build(path, to=tmp_path / "built", text="said", date="when", shard_documents=100)
    kept = store_corpus(corpus.select(corpus.rows > 200), tmp_path / "stored")
    np.testing.assert_array_equal(stored.rows, corpus.rows)
    assert load_corpus(tmp_path / "stored").rows.tolist() == kept.rows.tolist()
    assert len(set(range(2, 402)) - set(corpus.rows)) == len(rows) - corpus.num_documents > 0
    for part in (corpus, corpus.order("shuffled"), stored.split(50)[1], kept):
        dates = rows["when"].to_numpy()[part.rows - 2].astype("datetime64[D]")
        np.testing.assert_array_equal(part.dates, dates)
    assert f"skipped {400 - corpus.num_documents} of 400 rows" in caplog.text
