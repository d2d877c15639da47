"""Files of word counts, intact and damaged."""

import gzip
import re

import pytest

from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.engine.corpora.small_files import build, reasons, refuses

UCI = "3\n4\n5\n1 2 1\n1 4 1\n2 3 1\n2 4 1\n3 2 2\n"
WORDS = "cotton\npeace\ntariff\ntreaty\n"
COUNTS = [[0, 1, 0, 1], [0, 0, 1, 1], [0, 2, 0, 0]]
MATRIX = "%%MatrixMarket matrix coordinate integer general\n% by hand\n"


def write_counts(tmp_path, name, content, vocabulary="vocab.txt", words=WORDS):
    (tmp_path / vocabulary).write_text(words)
    path = tmp_path / name
    path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content", "vocabulary"),
    [
        ("docword.mine.txt", UCI, "vocab.mine.txt"),
        ("docword.mine.txt.gz", UCI, "vocab.mine.txt"),
        ("mine.uci", UCI, "mine.uci.vocab"),
        ("mine.mm", MATRIX + "3 4 5\n" + UCI.split("\n", 3)[3], "mine.mm.vocab"),
        ("mine.lda-c", "2 1:1 3:1\n2 2:1 3:1\n1 1:2\n", "mine.lda-c.vocab"),
        ("mine.ldac", "2 1:1 3:1\n2 2:1 3:1\n1 1:2\n", "mine.vocab"),
        ("mine.mtx", MATRIX + "3 4 5\n" + UCI.split("\n", 3)[3], "mine_vocab.txt"),
        ("mine.mtx", MATRIX + "4 3 5\n2 1 1\n4 1 1\n3 2 1\n4 2 1\n2 3 2\n", "vocab.txt"),
        (
            "mine.mtx",
            MATRIX.replace("integer", "real") + "3 4 5\n" + UCI.split("\n", 3)[3],
            "vocab.txt",
        ),
    ],
)
def test_every_format_of_counts_gives_the_same_corpus(tmp_path, name, content, vocabulary):
    path = write_counts(tmp_path, name, content, vocabulary)
    for place in (path, tmp_path):
        corpus = load_corpus(place)
        assert corpus.counts.toarray().tolist() == COUNTS
        assert corpus.vocabulary.words == tuple(WORDS.split())
        assert (corpus.name, corpus.titles[2]) == ("mine", "document 3")
    fewer = load_corpus(
        path, words=WordChoices(own_stop_words="Tariff", min_letters=6, max_share=1.0)
    )
    assert fewer.vocabulary.words == ("treaty",)


def test_the_encoding_of_the_words_can_be_given_and_counts_have_no_dates(tmp_path):
    path = write_counts(tmp_path, "mine.ldac", "2 0:1 1:1\n")
    (tmp_path / "vocab.txt").write_bytes("Zölle\nżal\n".encode("cp1250"))
    assert load_corpus(path, encoding="cp1250").vocabulary.words == ("Zölle", "żal")
    for more in ({"day_first": True}, {"date": "day"}):
        with refuses("contains word counts. Omit text, date, title, group, day_first and sheet"):
            load_corpus(path, **more)


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
        tmp_path,
        "b.ldac",
        "2 1:1 3:1\n2 2:1\n1 9:1\n1 1:0\npeace\n\n1 1:2\n1 0:99999999999999999999\n",
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
        ("docword.a.txt", f"{'9' * 90}\n4\n5\n", r"more than 50,000,000 documents"),
        ("a.mtx", f"{MATRIX}{'9' * 5_000} 4 5\n", r"more than 50,000,000 documents"),
        (
            "a.mtx",
            f"%%MatrixMarket matrix coordinate {'x' * 900} general\n",
            r"in the form 'coordinate x+…x+ general'",
        ),
        ("a.ldac", f"{'9' * 4_000} 0:1\n", r"First problem: .*1 words instead of 9+…9+"),
        ("a.ldac", f"1 0:{'9' * 4_000}\n", r"First problem: .*9+…9+ is too large"),
        ("a.ldac", f"{'9' * 5_000} 0:1\n", r"First problem: .*must look like"),
        ("a.mtx", "3 4 5\n", r"does not begin with %%MatrixMarket"),
        (
            "a.mtx",
            MATRIX.replace("coordinate", "array") + "3 4\n",
            r"Save it as coordinate integer general",
        ),
        ("a.mtx", MATRIX + "3 9 5\n", r"The rows or the columns must be the words"),
        ("a.ldac", "1 9:1\n", r"no documents with words\. First problem: .*a\.ldac, row 1"),
        ("docword.a.txt", "2\n4\n2\n1 1 0.2\n2 2 0.5\n", r"First problem: .*row 4: the count 0\.2"),
    ],
)
def test_the_error_for_unreadable_counts_names_the_reason(tmp_path, name, content, message):
    with refuses(message) as refused:
        build(write_counts(tmp_path, name, content))
    assert len(str(refused.value).replace(str(tmp_path), "")) <= 300


def test_the_error_for_a_missing_list_of_words_names_the_file_to_write(tmp_path):
    (tmp_path / "docword.a.txt").write_text(UCI)
    with refuses(r"No list of words .* one word per line into vocab\.a\.txt in the same folder"):
        build(tmp_path / "docword.a.txt")


def test_a_list_with_a_word_without_an_end_is_refused(tmp_path):
    (tmp_path / "docword.a.txt").write_text(UCI)
    (tmp_path / "vocab.a.txt").write_text("war\n" + "x" * 100_000 + "\nnavy\npeace\n")
    with refuses(r"vocab\.a\.txt, line 2: a word has more than 200 letters\. Put one word"):
        build(tmp_path / "docword.a.txt")


def test_an_lda_c_file_that_counts_from_1_is_refused_or_noted(tmp_path):
    path = tmp_path / "mine.ldac"
    (tmp_path / "mine.vocab").write_text("cotton\npeace\ntariff\n")
    path.write_text("2 1:2 2:1\n1 3:1\n")
    with refuses("has no word number 0.* but this file from 1"):
        build(path)
    path.write_text("2 1:2 2:1\n1 2:1\n")
    assert "no word number 0, which is 'cotton'" in build(path).notes[0]
    path.write_text("2 0:2 2:1\n1 1:1\n")
    assert build(path).notes == ()
    (tmp_path / "mine.vocab").write_text("word\ncotton\npeace\ntariff\n")
    assert "no word number 3, the last of its list, 'tariff'" in build(path).notes[0]


@pytest.mark.parametrize("entry", ["0 1 1", "3 0 1"])
def test_a_uci_file_that_counts_from_0_is_refused(tmp_path, entry):
    head = "3\n4\n3\n"
    entries = "1 1 1\n2 3 1\n" if entry[0] == "0" else "1 1 1\n2 2 1\n"
    with refuses("numbers documents or words from 0, but its format from 1. Add 1 to each."):
        build(write_counts(tmp_path, "docword.a.txt", f"{head}{entries}{entry}\n"))


@pytest.mark.parametrize("form", ["{word}\t{number}", "{number} {word}", '"{number}","{word}"'])
def test_a_list_of_words_with_numbers_is_refused(tmp_path, form):
    lines = [form.format(number=number, word=word) for number, word in enumerate(WORDS.split())]
    with refuses("has numbers next to the words, .*cotton.* Remove them."):
        build(write_counts(tmp_path, "docword.a.txt", UCI, words="\n".join(lines)))


def test_only_line_ends_separate_words(tmp_path):
    path = write_counts(tmp_path, "docword.a.txt", UCI, words="war\u2028\npe\x85ace\na\nb\n")
    assert build(path).corpus.vocabulary.words == ("war", "pe\x85ace", "a", "b")


def test_words_in_quotes_are_read_without_them(tmp_path):
    path = tmp_path / "mine.ldac"
    (tmp_path / "mine.vocab").write_text('"cotton"\n"new ""york"""\n"\n')
    path.write_text("3 0:2 1:1 2:1\n")
    assert build(path).corpus.vocabulary.words == ("cotton", 'new "york"', '"')
