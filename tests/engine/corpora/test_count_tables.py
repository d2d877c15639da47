"""Tables of word counts are read as counts, and tables with a few numbers are not."""

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora.build_stored import BuildRequest, build, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.library import load_own
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from tests.engine.corpora.small_files import build as build_file
from tests.engine.corpora.small_files import reasons, refuses

WORDS = ["bärtig", "covid19", "don't", "harbour", "new york", "of", "ship", "year"]
COUNTS = np.random.default_rng(1).poisson(0.7, (30, len(WORDS)))
TITLES = [f"letter {number}" for number in range(30)]
MATRIX = pd.DataFrame(COUNTS, columns=WORDS).assign(letter=TITLES)[["letter", *WORDS]]
TIDY = MATRIX.melt("letter", var_name="term", value_name="freq").query("freq > 0")


def write(table, path, **choices):
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=choices.pop("index", False), **choices)
    return path


@pytest.mark.parametrize(
    ("table", "name", "choices"),
    [
        (MATRIX, "a.csv", {}),
        (MATRIX, "a.csv", {"sep": ";", "encoding": "utf-16"}),
        (MATRIX.replace(0, np.nan), "a.csv", {}),
        (MATRIX.set_index("letter"), "a.tsv", {"index": True, "index_label": "", "sep": "\t"}),
        (MATRIX, "a.parquet", {}),
        (MATRIX, "a.jsonl", {}),
        (TIDY, "a.csv", {}),
        (TIDY, "a.csv", {"index": True}),
        (TIDY.assign(freq=TIDY["freq"].astype(float), year=1959), "a.parquet", {}),
        (TIDY[["term", "freq", "letter"]], "a.jsonl", {}),
        (TIDY.sort_values("term"), "a.csv", {}),
    ],
)
def test_a_table_of_counts_is_read_as_counts(tmp_path, table, name, choices):
    path = write(table, tmp_path / name, **choices)
    corpus = load_corpus(path)
    named = [corpus.vocabulary.index(word) for word in WORDS]
    kept = [TITLES.index(title) for title in corpus.titles]
    np.testing.assert_array_equal(corpus.counts.toarray()[:, named], COUNTS[kept])
    assert set(kept) == set(np.flatnonzero(COUNTS.sum(axis=1)))
    seen = preview(path)
    assert seen.kind.endswith("of word counts")
    assert seen.columns == ()
    assert "is read as" in seen.notes[-1]


def test_columns_that_counts_do_not_have_are_named(tmp_path, caplog):
    load_corpus(write(TIDY.assign(year=1959, author="Adams"), tmp_path / "a.csv"))
    assert "Left out: the columns 'year', 'author'." in caplog.text
    dated = MATRIX.assign(day="1959-01-01")
    assert "Left out: the column 'day'." in preview(write(dated, tmp_path / "b.csv")).notes[0]


def test_documents_without_a_name_and_names_that_are_numbers_are_read(tmp_path):
    numbered = MATRIX.assign(letter=range(30)).rename(columns={"letter": "doc_id"})
    for table in (MATRIX[WORDS].assign(ships=0), numbered):
        corpus = load_corpus(write(table, tmp_path / "a.csv"))
        assert (corpus.num_tokens, "doc_id" in corpus.vocabulary) == (COUNTS.sum(), False)


@pytest.mark.parametrize(
    "columns",
    [
        {"text": ["A treaty of peace", "the harbour"] * 9, "likes": [0, 3] * 9},
        {"author": ["Ann", "Ben"] * 9, "said": ["Peace", "War"] * 9, "score": range(18)},
        {"country": ["DE", "FR"] * 9, "city": [f"City{c}" for c in "abcdefghijklmnopqr"], "m": 3},
        {"comment": ["you are great", "no"] * 9} | {f"is_{c}": [0, 1] * 9 for c in "abcdefghij"},
        {"who": ["Ann", "Ben"] * 9} | {f"answer_{c}": [1, 5] * 9 for c in "abcdefghij"},
        {"id": range(18), "headline": ["Peace at last in Europe"] * 18}
        | {f"{c}like": [0, 1] * 9 for c in "abcdefghij"},
    ],
)
def test_a_table_with_some_numbers_is_no_table_of_counts(tmp_path, columns):
    seen = preview(write(pd.DataFrame(columns), tmp_path / "a.csv"))
    assert (seen.kind, seen.columns) == ("CSV", tuple(columns))


def test_a_chosen_column_is_read_as_texts(tmp_path):
    path = write(TIDY, tmp_path / "a.csv")
    assert preview(path, text="term").chosen.text == "term"
    assert load_corpus(path, text="term").num_documents > 30
    with refuses("contains word counts. Omit text, date"):
        load_corpus(path, date="letter")


def test_wrong_counts_are_left_out_and_named(tmp_path):
    wrong = pd.DataFrame({"letter": "x", "term": ["ship", ""], "freq": ["2.5", "1"]})
    table = pd.concat([TIDY.astype(str), wrong])
    built = build_file(write(table, tmp_path / "a.csv"))
    assert "the count '2.5' is not a whole number" in reasons(built)[0]
    assert "the word is empty" in reasons(built)[1]
    wide = MATRIX.astype(str)
    wide.iloc[-1, 1] = "-1"
    built = build_file(write(wide, tmp_path / "b.csv"))
    assert [row.row for row in built.bad.listed if "'-1'" in row.reason] == [31]
    assert built.corpus.vocab_size == len(WORDS)
    assert built.corpus.rows.tolist() == [n + 2 for n in np.flatnonzero(COUNTS.sum(axis=1))[:-1]]


def test_a_matrix_may_have_more_columns_than_other_tables(tmp_path):
    wide = pd.DataFrame(np.eye(1_100, dtype=int), columns=[f"word{n}" for n in range(1_100)])
    assert load_corpus(write(wide, tmp_path / "a.csv")).vocab_size == 1_100


def test_a_corpus_is_built_from_a_table_of_counts_or_the_remedy_is_named(tmp_path):
    path = write(MATRIX, tmp_path / "a.csv")
    build_own(BuildRequest(path, "mine", Columns()), folder=tmp_path / "own")
    assert load_own("mine", tmp_path / "own").num_tokens == COUNTS.sum()
    with refuses("contains word counts. Load it with load_corpus, and call store_corpus"):
        build(path, to=tmp_path / "built")


def test_documents_may_share_a_date(tmp_path):
    path = tmp_path / "a.csv"
    rows = [
        f"1959-01-1{n // 2},letter {n},{word}{'abcdefgh'[n]},2" for n in range(8) for word in "uv"
    ]
    path.write_text("\n".join(["day,letter,term,n", *rows]))
    assert load_corpus(path).titles == tuple(TITLES[:8])


def test_positions_of_words_are_no_counts(tmp_path):
    words = ["the", "harbour", "was", "quiet", "and", "the", "ships", "lay", "at", "anchor"]
    rows = [f"d{number},{place},{word}" for number in range(3) for place, word in enumerate(words)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["doc,position,token", *rows]))
    assert preview(path).chosen.text == "token"
    assert "single words" in preview(path).notes[0]


def test_a_table_with_a_row_for_each_word_is_not_read_as_rows_of_counts(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"word{letter},1,0,2,{number}" for number, letter in enumerate("abcdefghijkl", 1)]
    path.write_text("\n".join(["term,doc1,doc2,doc3,doc4", *rows]))
    assert "single words" in preview(path).notes[0]
