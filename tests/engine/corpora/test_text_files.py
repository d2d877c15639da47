"""Folders and zip files of texts, intact and damaged."""

import gzip
import io
import json
import struct
import textwrap

import pytest

from stickbreaker.engine import build as build_stored
from stickbreaker.engine import load_corpus
from stickbreaker.engine.corpora import packed_files, text_files
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.kinds import HEADINGS, LINES, PAGES, PARAGRAPHS
from stickbreaker.engine.corpora.sources import FOLDER, Source, find_source
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.engine.corpora.small_files import TEXTS, build, pack, reasons, refuses


def test_titles_and_dates_of_text_files_come_from_their_names(tmp_path):
    for name, text in zip(
        ["b/2 1863-12-08.txt", "b/10 1864-01.md", "a.txt", ".hidden.txt"], TEXTS, strict=True
    ):
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
        "a.pdf: its text is also in a.txt",
        "blob.txt: a binary file",
        "void.txt: empty",
        "link.txt: it is a symb",
    ):
        assert said in listed
    dated = build(tmp_path / "texts", Columns(date="date", group="folder"))
    assert dated.corpus.dates.astype(str).tolist() == ["1863-12-08", "1864-01-01"]
    assert dated.corpus.group_titles == ("b",)
    grouped = build(tmp_path / "texts", Columns(group="folder"))
    assert grouped.corpus.group_titles == ("(none)", "b")
    assert '1 of 3 rows have no group: they are read as the group "(none)".' in grouped.notes


def test_a_zip_is_read_like_a_folder_and_nothing_is_unpacked_to_disk(tmp_path):
    inner = io.BytesIO()
    pack(inner, deep="peace " * 9)
    members = {
        "b/1900.txt": TEXTS[0],
        "b/1901.txt": TEXTS[1].encode("utf-16"),
        "c.txt": "naïve Verträge".encode("cp1252"),
    }
    members |= {
        "../out.txt": "peace",
        "/root.txt": "peace",
        "C:\\x.txt": "peace",
        "more.zip": inner.getvalue(),
    }
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
    with refuses(r"bomb\.zip unpacks to more than 200 times its size"):
        build(pack(tmp_path / "bomb.zip", a="0" * 20_000_000))
    monkeypatch.setattr(packed_files, "MAX_UNPACKED", 1_000)
    with refuses(r"large\.zip unpacks to .* more than .* Split it"):
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
    path = pack(
        tmp_path / "a.zip",
        **{"a.txt": "peace and trade", "big.txt": "war " * 1_000, "lock.txt": "peace"},
    )
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    listed = "\n".join(reasons(build(path)))
    assert "big.txt: it is larger than 100 bytes: split it" in listed
    assert "lock.txt: it is encrypted" in listed


def test_long_numbers_in_names_are_sorted_and_long_names_are_shortened_in_messages(tmp_path):
    digits = "1" * 5_000
    names = [f"{digits}.txt", "10.txt", "9.txt", f"{'x' * 20_000}.doc", f"b.{'y' * 20_000}"]
    built = build(pack(tmp_path / "a.zip", **dict.fromkeys(names, "peace and trade")))
    assert [title[:5] for title in built.corpus.titles] == ["9", "10", digits[:5]]
    assert built.bad.count == 2
    for reason in reasons(built):
        assert "unsupported file type" in reason
        assert len(reason) <= 300


def test_a_folder_is_read_as_texts_under_any_name(tmp_path):
    folder = tmp_path / "docwords of 1900"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("peace treaty")
    assert find_source(folder) == Source(FOLDER, folder)
    assert build(folder).corpus.titles == ("a", "b")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("cp866", "Письма/Мир в городе"), ("cp850", "Größe\\Äpfel"), ("utf-8", "Größe")],
)
def test_names_in_an_archive_that_do_not_declare_unicode_are_read(tmp_path, encoding, name):
    path = tmp_path / "mine.zip"
    written = name.encode(encoding)
    pack(path, **{"x" * len(written) + ".txt": "peace and trade"})
    path.write_bytes(path.read_bytes().replace(b"x" * len(written), written))
    assert build(path).corpus.titles == (name.replace("\\", "/"),)


def test_a_file_that_describes_the_others_is_left_out_with_a_remedy(tmp_path):
    for name in ("README.md", "part/LICENSE", "part/readme letters.txt"):
        (tmp_path / "part").mkdir(exist_ok=True)
        (tmp_path / name).write_text("peace and trade")
    built = build(tmp_path)
    assert built.corpus.titles == ("part/readme letters",)
    assert all("it describes the other files: rename it to" in said for said in reasons(built))
    (tmp_path / "part/readme letters.txt").unlink()
    assert build(tmp_path).corpus.num_documents == 2


SAID = [f"{text}, in the {number} th year of peace." for number, text in enumerate(TEXTS * 4, 1)]


def write_table(sign):
    said = [text.replace(",", "") if sign == "," else text for text in SAID]
    rows = (f"19{row}{sign}{text}" for row, text in enumerate(said[:12], 10))
    return "\n".join([f"year{sign}text", *rows])


@pytest.mark.parametrize("place", ["mine.txt", "mine.txt.gz", "folder/mine.txt", "mine.zip"])
@pytest.mark.parametrize(
    ("content", "kind", "date", "rows"),
    [
        *((write_table(sign), "CSV", "year", range(2, 14)) for sign in "\t;|,"),
        (
            "\n".join(json.dumps({"text": text, "year": 1900}) for text in SAID),
            "JSON lines",
            "year",
            range(1, len(SAID) + 1),
        ),
        ("\n".join(SAID) + "\n", LINES, None, range(1, len(SAID) + 1)),
        ("\r\n".join(text * 9 + " and so" for text in SAID), LINES, None, range(1, len(SAID) + 1)),
        ("\n \n".join(SAID).replace("in", "in\n"), PARAGRAPHS, None, range(1, 3 * len(SAID), 3)),
        ("\n\f".join(["peace\nand\nwar", "\ftrade", "", "cotton\n\n"]), PAGES, None, (1, 3, 5)),
        (
            "\n\n".join(f"Letter {n}. Ann\n{text[:20]}" for n, text in enumerate(SAID[:6], 1)),
            HEADINGS,
            None,
            range(1, 18, 3),
        ),
    ],
)
def test_a_text_file_that_is_clearly_a_table_or_a_list_of_texts_is_read(
    tmp_path, place, content, kind, date, rows
):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    if place.endswith(".zip"):
        pack(path, **{"data/mine.txt": content})
    elif place.endswith(".gz"):
        path.write_bytes(gzip.compress(content.encode("utf-16")))
    else:
        path.write_text(content)
    source = find_source(path.parent if "/" in place else path)
    corpus = load_corpus(path.parent if "/" in place else path, date=date)
    assert (source.kind, corpus.rows.tolist(), source.name) == (kind, [*rows], "mine")
    assert build_stored(source.path, to=tmp_path / "built", date=date).rows.tolist() == [*rows]


@pytest.mark.parametrize(
    "name", ["Chapter {0}", "## BRIEF {1}. Of peace", "{0}.", "{1}", "{0}. Kapitel", "Sonnet {1}"]
)
def test_numbered_headings_are_the_titles_of_the_texts_below_them(tmp_path, name):
    names = [name.format(n, roman) for n, roman in enumerate(("I", "II", "III", "IV"), 1)]
    parts = [f"{name}\n\nTable {n}\nPeace\nin May" for n, name in enumerate(names)]
    path = tmp_path / "mine.txt"
    path.write_text("\n".join(["Of peace", "by Ann", "", *names, "", *parts]))
    corpus = load_corpus(path)
    assert corpus.titles == ("Of peace", *(name.strip("# ") for name in names))
    assert find_source(path).open().notes == (
        "Each part below a numbered heading is read as a document.",
    )


@pytest.mark.parametrize(
    "content",
    [
        # A text that is broken into lines, few paragraphs, verses with and without spaces between
        # them, and a table without a header row.
        "\n".join(textwrap.wrap(" ".join(SAID), 60)),
        "\n\n".join(SAID[:9]),
        "\n\n".join(text.split(",")[0] for text in SAID),
        "\n".join(text.split(",")[0] for text in SAID),
        "\n".join(f"{row}\t{text}" for row, text in enumerate(SAID)),
        # Of a table, only some rows have more commas.
        "\n".join(["year,text", *(f"19{row},{text}" for row, text in enumerate(SAID, 10))]),
        "\n".join(SAID[:9]),
        # Captions, and numbers that do not count up.
        "\n".join(f"Table {n}\nChapter {n}9\npeace" for n in range(1, 10)),
    ],
)
def test_another_text_file_stays_one_document_of_a_folder(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    assert (find_source(tmp_path).kind, build(tmp_path).corpus.num_documents) == (FOLDER, 1)
    with refuses("If it is a table, rename it to .csv"):
        load_corpus(path)
    path.write_text("\n".join(SAID))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "other.txt").write_text("peace")
    assert build(tmp_path).corpus.num_documents == 2


@pytest.mark.parametrize("place", ["mine", "mine.zip"])
def test_all_texts_of_a_folder_that_are_not_unicode_have_one_encoding(tmp_path, place):
    """Alone, the last one is read as Russian."""
    greek = "ειρήνη ειρήνη εμπόριο πόλεμος πόλεμος πόλεμος"
    files = {f"{n}.txt": f"ειρήνη και πόλεμος {n}".encode("cp1253") for n in range(3)}
    files |= {"4.txt": "größe".encode(), "5.txt": "größe".encode("utf-16")}
    files["6.txt"] = greek.encode("cp1253")
    path = tmp_path / place
    if place == "mine":
        path.mkdir()
        for name, content in files.items():
            (path / name).write_bytes(content)
    else:
        pack(path, **files)
    built = build(path, words=WordChoices(min_documents=1, max_share=1.0))
    assert set(built.corpus.vocabulary) == {"ειρήνη", "πόλεμος", "και", "εμπόριο", "größe"}
    assert (
        f"{place} is not UTF-8; it is read as Windows-1253: 'ειρήνη και πόλεμος" in built.notes[0]
    )
    assert not build(path, Columns(encoding="cp1253")).notes
