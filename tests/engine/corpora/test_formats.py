"""Files of every format, intact and damaged: what is read, what is skipped, and the messages."""

import csv
import gzip
import io
import json
import re
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine.corpora import build as building
from stickbreaker.engine.corpora import rows, table_files, text_files
from stickbreaker.engine.corpora.build import Columns, build_corpus
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.sources import find_source
from stickbreaker.engine.corpora.stop_words import LANGUAGES, guess_language, stop_words
from stickbreaker.engine.corpora.table_files import open_table
from stickbreaker.engine.corpora.words import MAX_VOCABULARY, WordChoices, count_words, measure_words

TEXTS = ["Treaty of peace", "The treaty and the tariff", "Tariff on cotton", "Peace, peace at last"]
YEARS = [1900, 1901, 1902, 1903]
NAMES = [f"Speaker {letter}" for letter in "ABCD"]
FRAME = pd.DataFrame({"said": TEXTS, "when": YEARS, "who": NAMES})
SAID = {"text": "said", "date": "when", "title": "who"}
PLAIN = Columns()


def write_tsv(path):
    FRAME.to_csv(path, sep="\t", index=False)


def write_semicolons(path):
    FRAME.to_csv(path, sep=";", index=False, encoding="utf-16")


def write_json_lines(path):
    path.write_text("\n".join(map(json.dumps, FRAME.to_dict("records"))), encoding="utf-8-sig")


def write_parquet(path):
    FRAME.assign(when=pd.to_datetime(FRAME["when"].astype(str))).to_parquet(path)


def pack(path, **members):
    """Write a zip archive; the keywords are the names of its members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def build(path, columns=PLAIN, words=None):
    return build_corpus(find_source(path), columns, words)


def reasons(built):
    return [str(row) for row in built.bad.listed]


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.tsv", write_tsv), ("a.csv", write_semicolons), ("a.jsonl", write_json_lines), ("a.parquet", write_parquet)],
)
def test_every_table_format_gives_the_same_corpus(tmp_path, name, write):
    write(tmp_path / name)
    corpus = load_corpus(tmp_path / name, **SAID)
    assert corpus.vocabulary.words == ("cotton", "peace", "tariff", "treaty")
    assert corpus.counts.toarray().tolist() == [[0, 1, 0, 1], [0, 0, 1, 1], [1, 0, 1, 0], [0, 2, 0, 0]]
    assert corpus.titles == tuple(NAMES)
    assert corpus.dates.astype("datetime64[Y]").astype(str).tolist() == [str(year) for year in YEARS]


def test_a_file_of_many_chunks_is_read_completely_and_reports_progress(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("text\n" + "".join(f"word{chr(97 + i % 26)} peace\n" for i in range(3 * rows.CHUNK_ROWS)))
    told, kept = [], []
    built = build_corpus(path, PLAIN, WordChoices(max_share=1.0), lambda share, said: told.append(share), kept.extend)
    assert built.corpus.num_documents == len(kept) == 1500
    assert told == sorted(told)
    assert len(told) > 4

    def cancel(share, said):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_corpus(path, PLAIN, None, cancel)


def test_titles_and_dates_of_text_files_come_from_their_names(tmp_path):
    for name, text in zip(["b/2 1863-12-08.txt", "b/10 1864-01.md", "a.txt", ".hidden.txt"], TEXTS, strict=True):
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / name).write_text(text)
    (tmp_path / "texts/a.pdf").write_bytes(b"%PDF")
    (tmp_path / "texts/blob.txt").write_bytes(bytes(range(32)) * 9)
    (tmp_path / "texts/void.txt").touch()
    (tmp_path / "secret.txt").write_text("secret peace")
    (tmp_path / "texts/link.txt").symlink_to(tmp_path / "secret.txt")
    built = build(tmp_path / "texts")
    assert built.corpus.titles == ("a", "b/2 1863-12-08", "b/10 1864-01")
    listed = "\n".join(reasons(built))
    assert built.bad.count == 4
    for said in (
        "a.pdf: unsupported file type .pdf",
        "blob.txt: a binary file",
        "void.txt: empty",
        "link.txt: it is a symb",
    ):
        assert said in listed
    dated = build(tmp_path / "texts", Columns(date="date", group="folder"))
    assert dated.corpus.dates.astype(str).tolist() == ["1863-12-08", "1864-01-01"]
    assert dated.corpus.group_titles == ("b",)
    assert "texts/a.txt: the group is missing" in "\n".join(reasons(dated))


def test_a_zip_is_read_like_a_folder_and_nothing_is_unpacked_to_disk(tmp_path):
    inner = io.BytesIO()
    pack(inner, deep="peace " * 9)
    members = {
        "b/1900.txt": TEXTS[0],
        "b/1901.txt": TEXTS[1].encode("utf-16"),
        "c.txt": "naïve Verträge".encode("cp1252"),
    }
    members |= {"../out.txt": "peace", "/root.txt": "peace", "C:\\x.txt": "peace", "more.zip": inner.getvalue()}
    members |= {"__MACOSX/b.txt": "x", "nul.txt": "pea\0ce " + "and many more words after it " * 9}
    built = build(pack(tmp_path / "texts.zip", **members))
    assert built.corpus.titles == ("b/1900", "b/1901", "c")
    assert "naïve" in built.corpus.vocabulary
    listed = "\n".join(reasons(built))
    assert listed.count("outside the archive") == 3
    assert "more.zip: archives inside a folder or archive are not opened" in listed
    assert "NUL byte" in listed
    assert sorted(file.name for file in tmp_path.iterdir()) == ["texts.zip"]


def test_a_table_in_a_zip_is_skipped_with_a_remedy(tmp_path):
    path = pack(tmp_path / "kept.zip", **{"a.txt": "peace and trade", "table.csv": "text\npeace"})
    assert "table.csv: tables are read one at a time" in reasons(build(path))[0]


def test_a_zip_bomb_is_not_opened(tmp_path, monkeypatch):
    with pytest.raises(CorpusError, match=r"bomb\.zip unpacks to more than 200 times its size"):
        build(pack(tmp_path / "bomb.zip", a="0" * 20_000_000))
    monkeypatch.setattr(text_files, "MAX_UNPACKED", 1_000)
    with pytest.raises(CorpusError, match=r"large\.zip unpacks to .* more than .* Split it"):
        build(pack(tmp_path / "large.zip", a="peace " * 1_000))


def test_a_zip_member_with_a_wrong_size_is_skipped(tmp_path):
    path = pack(tmp_path / "liar.zip", **{"a.txt": "peace and trade", "big.txt": "war " * 100_000})
    content = bytearray(path.read_bytes())
    place = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    content[place + 24 : place + 28] = struct.pack("<I", 8)
    path.write_bytes(content)
    built = build(path)
    assert built.corpus.titles == ("a",)
    assert "big.txt: it is damaged" in reasons(built)[0]


def test_large_and_encrypted_zip_members_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "MAX_TEXT", 100)
    path = pack(tmp_path / "a.zip", **{"a.txt": "peace and trade", "big.txt": "war " * 1_000, "lock.txt": "peace"})
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    listed = "\n".join(reasons(build(path)))
    assert "big.txt: it is larger than 100 bytes: split it" in listed
    assert "lock.txt: it is encrypted" in listed


def test_the_delimiter_is_found_outside_the_quotes_of_the_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('year;"text, lang";title\n1801;peace war trade;A\n', encoding="utf-8")
    assert open_table(path).columns == ("year", "text, lang", "title")


def test_dates_with_time_zone_offsets_in_seconds_are_read(tmp_path):
    when = pd.to_datetime(["1800-01-01", "1801-01-01"]).tz_localize("Europe/Berlin")
    pd.DataFrame({"text": ["peace and trade", "war"], "when": when}).to_parquet(tmp_path / "a.parquet")
    dates = load_corpus(tmp_path / "a.parquet", date="when").dates
    assert dates.astype("datetime64[h]").astype(str).tolist() == ["1799-12-31T23", "1800-12-31T23"]


@pytest.mark.parametrize("name", ["mine.zip", "mine.parquet"])
def test_a_file_of_another_format_than_its_extension_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"PK nothing of the kind")
    with pytest.raises(CorpusError, match=rf"Cannot (open|read) .*{name} as .*again"):
        build(tmp_path / name)


UCI = "3\n4\n5\n1 2 1\n1 4 1\n2 3 1\n2 4 1\n3 2 2\n"
WORDS = "cotton\npeace\ntariff\ntreaty\n"
COUNTS = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 2, 0, 0]]


def write_counts(tmp_path, name, content, vocabulary="vocab.txt", words=WORDS):
    (tmp_path / vocabulary).write_text(words)
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


MATRIX = "%%MatrixMarket matrix coordinate integer general\n% by hand\n"


@pytest.mark.parametrize(
    ("name", "content", "vocabulary"),
    [
        ("docword.mine.txt", UCI, "vocab.mine.txt"),
        ("docword.mine.txt.gz", UCI, "vocab.mine.txt"),
        ("mine.ldac", "2 1:1 3:1\n2 2:1 3:1\n1 1:2\n", "mine.vocab"),
        ("mine.mtx", MATRIX + "3 4 5\n" + UCI.split("\n", 3)[3], "mine_vocab.txt"),
        ("mine.mtx", MATRIX + "4 3 5\n2 1 1\n4 1 1\n3 2 1\n4 2 1\n2 3 2\n", "vocab.txt"),
        ("mine.mtx", MATRIX.replace("integer", "real") + "3 4 5\n" + UCI.split("\n", 3)[3], "vocab.txt"),
    ],
)
def test_every_format_of_counts_gives_the_same_corpus(tmp_path, name, content, vocabulary):
    path = write_counts(tmp_path, name, content, vocabulary)
    for place in (path, tmp_path):
        corpus = load_corpus(place)
        assert corpus.counts.toarray().tolist() == COUNTS
        assert corpus.vocabulary.words == tuple(WORDS.split())
        assert (corpus.name, corpus.titles[2]) == ("mine", "document 3")
    fewer = load_corpus(path, words=WordChoices(own_stop_words="Tariff", min_letters=6, max_share=1.0))
    assert fewer.vocabulary.words == ("treaty",)


def test_bad_lines_of_counts_are_skipped_and_listed(tmp_path):
    path = write_counts(
        tmp_path,
        "docword.a.txt",
        UCI + "9 1 1\n1 9 1\n1 1 0\n1 1 0.5\nx\n2 1\n3 1 2 9\n1 1 5e9\n3 1 2\n",
        "vocab.a.txt",
    )
    built = build(path)
    assert built.corpus.counts.toarray().tolist() == [*COUNTS[:2], [2, 2, 0, 0]]
    # No entry is missing: the file has eight wrong lines and the five announced entries.
    assert built.bad.count == 8
    listed = "\n".join(reasons(built))
    for row, said in [
        (9, "outside the size"),
        (10, "outside the size"),
        (11, "not a number of occurrences"),
        (12, "not a number of occurrences"),
        (13, "write the document, word and count"),
        (15, "write the document, word and count"),
        (16, "too large"),
    ]:
        assert re.search(rf"row {row}: .*{said}", listed)
    path = write_counts(
        tmp_path, "b.ldac", "2 1:1 3:1\n2 2:1\n1 9:1\n1 1:0\npeace\n\n1 1:2\n1 0:99999999999999999999\n"
    )
    built = build(path)
    assert built.corpus.counts.toarray().tolist() == [COUNTS[0], COUNTS[2]]
    # Five wrong lines, and one without words.
    assert built.bad.count == 5 + 1
    assert sum("no counted words" in reason for reason in reasons(built)) == 1
    assert built.corpus.titles[1] == "document 7"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("docword.a.txt", "3\n5\n5\n1 2 1\n", r"has 5 words but its list has 4"),
        ("docword.a.txt", "three\n", r"must begin with three lines"),
        ("docword.a.txt", "99000000\n4\n5\n", r"more than 50,000,000 documents"),
        ("a.mtx", "3 4 5\n", r"does not begin with %%MatrixMarket"),
        ("a.mtx", MATRIX.replace("coordinate", "array") + "3 4\n", r"Save it as coordinate integer general"),
        ("a.mtx", MATRIX + "3 9 5\n", r"The rows or the columns must be the words"),
        ("a.ldac", "1 9:1\n", r"no documents with words\. First problem: .*a\.ldac, row 1"),
        ("docword.a.txt", "2\n4\n2\n1 1 0.2\n2 2 0.5\n", r"First problem: .*row 4: the count 0\.2"),
    ],
)
def test_the_error_for_unreadable_counts_names_the_reason(tmp_path, name, content, message):
    with pytest.raises(CorpusError, match=message):
        build(write_counts(tmp_path, name, content))


def test_the_error_for_a_missing_list_of_words_names_the_file_to_write(tmp_path):
    (tmp_path / "docword.a.txt").write_text(UCI)
    with pytest.raises(
        CorpusError, match=r"No list of words .* one word per line into vocab\.a\.txt in the same folder"
    ):
        build(tmp_path / "docword.a.txt")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_other_encodings_are_detected_and_noted(tmp_path, encoding):
    path = tmp_path / "mine.csv"
    path.write_text("text,year\nGröße und naïve Verträge der Nation,1900\n", encoding=encoding)
    built = build(path, Columns("text", "year"))
    assert {"größe", "naïve", "verträge"} <= set(built.corpus.vocabulary)
    assert bool(built.notes) == (encoding in ("utf-16-le", "cp1252"))


def test_a_utf8_file_with_a_few_wrong_bytes_is_read_as_utf8(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"text\n" + "Größe Verträge\n".encode() * 50 + b"br\xffken\n")
    built = build(path, words=WordChoices(max_share=1.0))
    assert {"größe", "verträge"} <= set(built.corpus.vocabulary)
    assert "1 invalid UTF-8 sequences" in built.notes[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \n\n", "is empty"),
        ("a.csv", b"text\n", "no usable rows"),
        ("a.csv", b"PK\x03\x04rest", "a zip archive or an Office document: .* save it as CSV UTF-8"),
        ("a.csv", bytes(range(256)) * 20, "is a binary file"),
        ("a.tsv", b"\x1f\x8brest", "compressed with gzip: unpack it first"),
        ("a.csv", b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n", r"has 1,000,000 columns, more than 1,000"),
        ("a.csv", b"text" + b"x" * 10_000_000, "line 1 is longer than 10,000,000 characters"),
        ("a.jsonl", b'[{"text": "peace"}]', "one JSON list, not JSON lines"),
        ("a.jsonl", b"peace\n", "no JSON object"),
        ("a.xlsx", b"PK", r"Unsupported file type: .*a\.xlsx\. Save the table as CSV"),
        ("a.txt", b"peace", r"Unsupported file type: .*a\.txt\. Put it into a folder"),
        ("a.dat", b"peace", r"Unsupported file type: .*a\.dat\. Use CSV .*folder or a .zip of text files"),
    ],
)
def test_the_error_for_an_unreadable_file_names_the_reason_and_the_remedy(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        build(tmp_path / name)


def test_bad_rows_of_tables_are_skipped_and_listed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,year\npeace,1900\nwa\0r,1900\n"quo"ted,1900\n,1900\npeace,1900,x\ntrade\n"open,1900\n')
    built = build(path, Columns("text"))
    assert built.corpus.titles == ("a, row 2", "a, row 7")
    for row, said in [(3, "NUL byte"), (4, "cannot be read"), (5, "is empty"), (6, "3 cells"), (8, "not closed")]:
        assert any(f"a.csv, row {row}: " in reason and said in reason for reason in reasons(built))
    path = tmp_path / "a.jsonl"
    deep = "[" * 100_000
    path.write_text(
        f'{{"text": "peace"}}\n{{"text": \n[1]\n{{"text": {deep}\n{{"text": {"9" * 5_000}}}\n{{"text": "trade"}}\n'
    )
    built = build(path)
    assert built.corpus.titles == ("a, row 1", "a, row 6")
    assert [row.row for row in built.bad.listed] == [2, 3, 4, 5]


def test_rows_cells_and_files_over_the_limits_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("text\n" + f"{'peace ' * 50}\n" + "trade\n" * 3)
    monkeypatch.setattr(table_files, "MAX_TEXT", 200)
    with pytest.raises(CorpusError, match="line 2 is longer than 200 characters"):
        build(path)
    monkeypatch.setattr(table_files, "MAX_TEXT", 10_000)
    monkeypatch.setattr(building, "MAX_ROWS", 3)
    with pytest.raises(CorpusError, match="more than 3 rows. Build it on disk"):
        build(path)
    monkeypatch.setattr(building, "MAX_ROWS", 30)
    monkeypatch.setattr(building, "MAX_CHARACTERS", 100)
    with pytest.raises(CorpusError, match="billion characters. Build it on disk"):
        build(path)
    monkeypatch.setattr("stickbreaker.engine.corpora.sources.MAX_FILE_BYTES", 100)
    with pytest.raises(CorpusError, match=r"larger than 1e-07 GB. Build it on disk"):
        build(path)
    monkeypatch.setattr("stickbreaker.engine.corpora.words.MAX_TERMS", 1)
    with pytest.raises(CorpusError, match="more than 1 distinct words"):
        count_words(["peace and trade"], 1, 1.0)


def test_missing_and_repeated_column_names_become_unique(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w") as stream:
        csv.writer(stream).writerows([["text", "", "text"], ["peace", "x", "trade"]])
    assert load_corpus(path, text="text (3)", title="column 2").vocabulary.words == ("trade",)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({}, ["tariff", "treaty", "verträge"]),
        ({"min_letters": 1}, ["tariff", "treaty", "uk", "verträge"]),
        ({"min_letters": 7}, ["verträge"]),
        ({"languages": ("english", "german"), "own_stop_words": "tariff, Vertra\u0308ge"}, ["treaty"]),
        ({"languages": (), "min_letters": 8}, ["verträge"]),
        ({"max_ngram": 2, "min_documents": 2}, ["tariff", "treaty", "treaty tariff"]),
        ({"min_documents": 2}, ["tariff", "treaty"]),
        ({"max_share": 0.4}, ["verträge"]),
        ({"max_words": 1}, ["treaty"]),
    ],
)
def test_each_word_choice_changes_the_counted_words(tmp_path, choices, words):
    path = tmp_path / "a.csv"
    path.write_text("text\nthe treaty tariff\nThe treaty treaty tariff\nUK Vertra\u0308ge\n", encoding="utf-8")
    choices = WordChoices(**{"min_documents": 1, "max_share": 1.0} | choices)
    assert list(load_corpus(path, words=choices).vocabulary) == words


def test_the_error_for_a_word_choice_outside_its_bounds_names_the_bounds():
    with pytest.raises(ValueError, match=rf"max_words is 200000: give a whole number from 1 to {MAX_VOCABULARY}"):
        WordChoices(max_words=200_000)
    with pytest.raises(ValueError, match="No stop words for 'klingon'. Choose from english, german"):
        WordChoices(languages=("klingon",))
    with pytest.raises(ValueError, match="own_stop_words is .* Use one string of words, separated by spaces"):
        WordChoices(own_stop_words=["peace", "war"])
    assert WordChoices(languages="german").languages == ("german",)


def test_the_measured_effect_on_all_documents_equals_the_corpus():
    choices = WordChoices(min_documents=2, max_share=0.6)
    effect = measure_words(TEXTS, choices)
    counts, words = count_words(TEXTS, 2, 0.6)
    assert (effect.num_terms, effect.num_tokens) == (len(words), counts.sum())
    assert effect.raw_tokens == sum(len(re.findall(r"\w+", text)) for text in TEXTS)
    assert effect.words[0] == "peace"
    assert effect.num_empty == int((np.diff(counts.indptr) == 0).sum())
    sample = measure_words(TEXTS[:2], WordChoices(min_documents=2, max_share=1.0), of_documents=4)
    assert (sample.num_terms, sample.num_documents, sample.of_documents) == (3, 2, 4)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "The peace and the tariff of this nation"),
        ("german", "Der Friede und die Zölle, von denen wir reden"),
        ("french", "La paix et les droits de douane dont nous parlons"),
        ("spanish", "La paz y los aranceles de los que hablamos"),
        ("italian", "La pace e i dazi di cui parliamo con gli altri"),
        ("portuguese", "A paz e as tarifas de que falamos com os outros, não"),
        ("dutch", "De vrede en de tarieven waarover wij het hebben"),
        ("swedish", "Freden och tullarna som vi talar om är inte nya"),
        ("unspaced", "平和と関税について話す"),
        ("", "zxq vbnm wrtp"),
    ],
)
def test_a_language_is_guessed_from_its_stop_words(language, text):
    assert guess_language([text])[0] == language


def test_vowel_signs_and_joiners_do_not_split_words(tmp_path):
    # Hindi, Tamil, Persian with a joiner, and a letter whose mark has no form together with it.
    words = ["भारत", "महान", "தமிழ்", "மொழி", "می\u200cخواهم", "m\u0304akua"]
    path = tmp_path / "a.csv"
    path.write_text("text\n" + "\n".join([*words, "x1 _y"]) + "\n", encoding="utf-8")
    choices = WordChoices(languages=(), min_documents=1, max_share=1.0)
    assert set(load_corpus(path, words=choices).vocabulary) == set(words)


def test_stop_words_are_lower_case_and_whole():
    for language in LANGUAGES:
        words = stop_words(language)
        assert len(words) > 150
        assert all(word == word.lower() and word.isalpha() for word in words)


def test_a_tsv_file_with_plain_quotation_marks_keeps_all_rows_and_says_so(tmp_path):
    path = tmp_path / "mine.tsv"
    lines = ["text\tyear", '"Peace\t1900', 'the "treaty" of 6" guns\t1901', 'Tariff"\t1902', "Cotton\t1903"]
    path.write_text("\n".join(lines))
    built = build(path, Columns("text", "year"), WordChoices(min_documents=1, max_share=1.0))
    assert (built.corpus.num_documents, built.bad.count) == (4, 0)
    assert set(built.corpus.vocabulary) == {"peace", "treaty", "guns", "tariff", "cotton"}
    assert any("Quotation marks are read as plain characters" in note for note in built.notes)


def test_a_tsv_file_with_quoted_cells_of_several_lines_is_read_with_quotes(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text('text\tyear\n"Peace\nand\ttreaty"\t1900\n"the ""tariff"" of cotton"\t1901\nCotton\t1902\n')
    built = build(path, Columns("text", "year"), WordChoices(min_documents=1, max_share=1.0))
    assert (built.corpus.num_documents, built.bad.count, built.notes) == (3, 0, ())
    assert built.corpus.counts.toarray().sum(1).tolist() == [2, 2, 1]
