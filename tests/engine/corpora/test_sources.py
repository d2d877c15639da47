"""What is read at a path: one table with its description, several tables, texts, packed files."""

import bz2
import gzip
import lzma

import pandas as pd
import pyarrow as pa
import pytest

from stickbreaker.engine import build as build_stored
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.sources import find_source
from tests.engine.corpora.small_files import TEXTS, build, pack, reasons, refuses

TABLE = "text,year\n" + "".join(f"{text},1900\n" for text in TEXTS[:3]) + '"peace, at last",1901\n'
ABOUT = {
    "README.md": "About war",
    "LICENSE": "Free",
    "CITATION.cff": "cite",
    "vocab.txt": "war\nfree",
    "metadata.json": "{}",
    "data_dictionary.txt": "text: what was said",
}
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def put(place, files):
    """Write files into a new folder, or into an archive if the place has its suffix."""
    if place.suffix == ".zip":
        return pack(place, **files)
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    return place


@pytest.mark.parametrize("place", ["mine", "mine.zip"])
@pytest.mark.parametrize("name", ["speeches.csv", "data/speeches.tsv", "data/speeches.jsonl"])
@pytest.mark.parametrize("others", [{}, ABOUT])
def test_the_only_table_is_read_next_to_files_that_describe_it(tmp_path, place, name, others):
    table = pd.read_csv(pd.io.common.StringIO(TABLE))
    content = {
        "csv": TABLE,
        "tsv": table.to_csv(sep="\t", index=False),
        "jsonl": table.to_json(orient="records", lines=True),
    }[name.rpartition(".")[2]]
    path = put(tmp_path / place, {**others, name: content})
    built = build(path)
    assert (built.corpus.num_documents, built.bad.count) == (4, 0)
    assert preview(path).columns == ("text", "year")
    stored = build_stored(path, to=tmp_path / "out", text="text", date="year")
    assert stored.num_documents == 4


@pytest.mark.parametrize("place", ["mine", "mine.zip"])
def test_several_tables_are_named(tmp_path, place):
    path = put(tmp_path / place, {"train.csv": TABLE, "test.csv": TABLE, "README.md": "About war"})
    with refuses(r"contains 2 tables \((train|test)\.csv, .*\) and 0 texts"):
        find_source(path)


@pytest.mark.parametrize("place", ["mine", "mine.zip"])
def test_texts_with_a_small_table_are_a_corpus_of_texts(tmp_path, place):
    texts = {f"letter {number}.txt": "peace and trade " * 20 for number in range(12)}
    path = put(tmp_path / place, {**texts, "metadata.csv": TABLE})
    built = build(path)
    assert built.corpus.num_documents == 12
    assert "choose this file on its own" in reasons(built)[0]


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv", "mine.jsonl", "mine.parquet"])
@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_packed_tables_are_read(tmp_path, name, suffix):
    table = pd.read_csv(pd.io.common.StringIO(TABLE))
    plain = tmp_path / name
    write = {
        "mine.csv": lambda: table.to_csv(plain, index=False),
        "mine.tsv": lambda: table.to_csv(plain, index=False, sep="\t"),
        "mine.jsonl": lambda: table.to_json(plain, orient="records", lines=True),
        "mine.parquet": lambda: table.to_parquet(plain),
    }
    write[name]()
    packed = tmp_path / f"{name}.{suffix}"
    content = plain.read_bytes()
    zstd = lambda content: pa.compress(content, "zstd", asbytes=True)  # noqa: E731
    packed.write_bytes(PACK.get(suffix, zstd)(content))
    built = build(packed)
    assert built.corpus.name == "mine"
    assert (built.corpus.counts != build(plain).corpus.counts).nnz == 0


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_a_damaged_or_huge_packed_table_is_refused(tmp_path, suffix):
    zstd = lambda content: pa.compress(content, "zstd", asbytes=True)  # noqa: E731
    packed = tmp_path / f"mine.csv.{suffix}"
    packed.write_bytes(PACK.get(suffix, zstd)(TABLE.encode() * 1_000)[:-20])
    with refuses("Cannot read .*Compress or copy it again"):
        build(packed)
    packed.write_bytes(PACK.get(suffix, zstd)(b"text\n" + b"war " * 5_000_000))
    with refuses("unpacks to more than 200 times its size"):
        build(packed)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("a.docx", "save it again"), ("a.xlsx", "choose this file on its own")],
)
def test_office_files_in_a_folder_are_named_with_their_remedy(tmp_path, name, remedy):
    path = put(tmp_path / "mine", {name: "PK", "b.txt": "peace and trade"})
    assert any(name in reason and remedy in reason for reason in reasons(build(path)))
