"""Malformed uploads: generated files of every format, valid and broken, are read or refused with a
short sentence.

    python -m tests.chaos.uploads [--number 10000] [--seed 0] [--json FILE]

Each file goes through `preview`, `load_corpus`, and the upload and the tasks of the page. Prints
how many of each format were read and refused; "foreign" is an error that is not the project's own,
"long" a sentence of over 300 characters. `--number 1 --seed N` repeats one file: file i of a longer
call has the seed N + i.
"""

import argparse
import base64
import gzip
import io
import json
import logging
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from stickbreaker.app.model.text_tasks import TextTaskRunner
from stickbreaker.app.widgets.uploads import Upload
from stickbreaker.engine import WordChoices, load_corpus, preview
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.rows import CorpusError

OUTCOMES = ("read", "refused", "foreign", "long")
BAD = OUTCOMES[2:]
# Before each build the page measures all corpora of its library, so one library for all files would
# take ever longer.
FILES_OF_A_LIBRARY = 100
MAX_SENTENCE = 300
WORDS = WordChoices(min_documents=1, max_share=1.0)
NAMES = (
    "text",
    "date",
    "title",
    "",
    " ",
    "body",
    "text",
    "größe",
    "\u202etxet",
    "<b>x</b>",
    "a" * 300,
)
TEXTS = (
    "war and peace",
    "",
    "  ",
    "cotton trade",
    "\0",
    "\ud83d peace",
    "平和 戦争",
    "<script>",
    "=1+1",
    "x" * 5000,
)
DATES = (
    *(
        "1863",
        "1863-12-08",
        "٢٠٢٠",
        "२०२०-०१-०२",
        "２０２０／０１／０２",
        "13/12/1863",
        "99999",
        "0001-01-01",
        "soon",
        "",
    ),
    *(
        "1e9",
        "Dec 1863",
        "²⁰²⁰",
        "1863-13-45",
        "-5",
        "12345678901234567890",
        "2020-01-01T00:00:00+99:99",
        "१२/१२/१२",
    ),
)
NUMBERS = (0, 1, 2, 3, -1, 2**31, 2**63, 10**30)
DIGITS = "9" * 5_000
DELTAS = {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}
LONG_NAMES = (f"{DIGITS}.txt", f"{'x' * 6_000}.pdf", f"a.{'y' * 6_000}", f"{'z' * 300}/1.txt")

Rng = np.random.Generator


def pick(rng: Rng, items):
    """One of some items."""
    return items[int(rng.integers(len(items)))]


def make_rows(rng: Rng) -> tuple[list[str], list[list[str]]]:
    """Names of columns, and rows of texts and dates."""
    names = [pick(rng, NAMES) if rng.random() < 0.3 else name for name in ("text", "date", "title")]
    column = DATES if rng.random() < 0.5 else ("1863", "1864")
    rows = [
        [pick(rng, TEXTS), pick(rng, column), f"Note {row}"]
        for row in range(int(rng.integers(0, 12)))
    ]
    return names, rows


def write_delimited(rng: Rng, folder: Path) -> Path:
    """CSV or TSV in some encoding."""
    names, rows = make_rows(rng)
    suffix = pick(rng, (".csv", ".tsv"))
    sign = "\t" if suffix == ".tsv" else pick(rng, ",;|")
    lines = [
        sign.join(f'"{cell}"' if rng.random() < 0.3 else cell for cell in row)
        for row in (names, *rows)
    ]
    encoding = pick(rng, ("utf-8", "utf-8", "utf-16", "cp1252", "utf-32", "utf-16-le"))
    return save(
        rng,
        folder / f"a{suffix}",
        pick(rng, ("\n", "\r\n", "\r")).join(lines).encode(encoding, "replace"),
    )


def write_json_lines(rng: Rng, folder: Path) -> Path:
    """JSON lines, with values of odd types."""
    names, rows = make_rows(rng)
    odd = (None, 1e400, [], {"a": 1}, True, 10**400, [[[[]]]], float("nan"))
    lines = [
        json.dumps(
            {
                name: pick(rng, odd) if rng.random() < 0.2 else cell
                for name, cell in zip(names, row, strict=True)
            }
        )
        for row in rows
    ]
    return save(rng, folder / pick(rng, ("a.jsonl", "a.ndjson")), "\n".join(lines).encode())


def write_parquet(rng: Rng, folder: Path) -> Path:
    """Parquet, with columns of odd types and dates that Python cannot express."""
    names, rows = make_rows(rng)
    size = len(rows)
    odd = (
        pa.array([pick(rng, (0, -(10**8), 10**8, 2**31 - 1)) for _ in rows], pa.int32()).cast(
            pa.date32()
        ),
        pa.array(
            [pick(rng, (0, 2**62, -(2**62))) for _ in rows],
            pa.timestamp(pick(rng, ("ms", "us", "ns"))),
        ),
        pa.array([pick(rng, (0, 2**62)) for _ in rows], pa.duration("s")),
        pa.array([b"\xff\xfe"] * size, pa.binary()),
        pa.array([[1, 2]] * size),
        pa.array(["a"] * size).dictionary_encode(),
        pa.nulls(size),
    )
    texts = [
        pa.array([row[place].encode("utf-8", "replace").decode() for row in rows], pa.string())
        for place in (0, 1, 2)
    ]
    columns = [pick(rng, odd) if rng.random() < 0.3 else column for column in texts]
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(columns, names=[mend(name) for name in names]), buffer)
    return save(rng, folder / "a.parquet", buffer.getvalue())


def mend(text: str) -> str:
    """Text that Parquet can hold."""
    return text.encode("utf-8", "replace").decode()


def write_zip(rng: Rng, folder: Path) -> Path:
    """A zip of text files, with names in no valid encoding and paths that lead outside."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        for number in range(int(rng.integers(0, 6))):
            name = pick(
                rng,
                (
                    "a.txt",
                    "b/1863.txt",
                    "../x.txt",
                    "ü.txt",
                    "/etc/x.txt",
                    "c.pdf",
                    "d",
                    f"{number}.txt",
                ),
            )
            archive.writestr(
                name, mend(pick(rng, TEXTS)), pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
            )
    content = buffer.getvalue()
    if rng.random() < 0.5:
        content = content.replace("ü".encode(), b"\xff\xfe")
    return save(rng, folder / "a.zip", content)


def write_folder(rng: Rng, folder: Path) -> Path:
    """A folder of text files."""
    inside = folder / "texts"
    inside.mkdir()
    for number in range(int(rng.integers(0, 5))):
        name = pick(
            rng, ("a.txt", "1863-01.txt", "b", "c.md", "d.pdf", "ü.txt", ".hidden", f"{number}.txt")
        )
        save(rng, inside / name, mend(pick(rng, TEXTS)).encode())
    return inside


def write_counts(rng: Rng, folder: Path) -> Path:
    """Counts in one of three formats, with a list of words, packed or not."""
    kind = pick(rng, ("docword.a.txt", "a.ldac", "a.mtx"))
    size = [3, 4, 5] if rng.random() < 0.7 else [pick(rng, NUMBERS) for _ in range(3)]
    entries = [
        [pick(rng, (1, 2, 3, 4, pick(rng, NUMBERS))) for _ in range(3)]
        for _ in range(int(rng.integers(0, 8)))
    ]
    lines = [" ".join(map(str, entry)) for entry in entries]
    if kind == "a.ldac":
        lines = [f"{pick(rng, (1, 1, 1, 7))} {one}:{two}" for one, two, _ in entries]
    elif kind == "a.mtx":
        lines = [
            "%%MatrixMarket matrix coordinate integer general",
            " ".join(map(str, size)),
            *lines,
        ]
    else:
        lines = [*map(str, size), *lines]
    names = {"docword.a.txt": "vocab.a.txt", "a.ldac": "a.vocab", "a.mtx": "a.vocab"}
    words = "\n".join(
        pick(rng, ("war", "peace", "", "ü", "war", "x" * 50))
        for _ in range(pick(rng, (4, 4, 4, 0, 2)))
    )
    (folder / names[kind]).write_text(words)
    content = "\n".join(lines).encode()
    if rng.random() < 0.3:
        return save(rng, folder / f"{kind}.gz", gzip.compress(content))
    return save(rng, folder / kind, content)


def write_long_names(rng: Rng, folder: Path) -> Path:
    """A zip with names of thousands of digits or letters."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in rng.permutation(LONG_NAMES)[: int(rng.integers(1, 5))]:
            archive.writestr(str(name), mend(pick(rng, TEXTS)))
    return save(rng, folder / "a.zip", buffer.getvalue())


def write_long_numbers(rng: Rng, folder: Path) -> Path:
    """Counts with a size or an entry of thousands of digits."""
    kind = pick(rng, ("docword.a.txt", "a.ldac", "a.mtx"))
    numbers = ["4", "4", "1", "1", "1", "1"]
    numbers[int(rng.integers(6))] = DIGITS[: pick(rng, (19, 4_000, 5_000))]
    size, entry = numbers[:3], numbers[3:]
    lines = {
        "docword.a.txt": [*size, " ".join(entry)],
        "a.ldac": [f"{entry[0]} {entry[1]}:{entry[2]}", "1 0:1"],
        "a.mtx": [
            "%%MatrixMarket matrix coordinate integer general",
            " ".join(size),
            " ".join(entry),
        ],
    }
    (folder / ("vocab.a.txt" if kind == "docword.a.txt" else "a.vocab")).write_text(
        "war\npeace\ncotton\ntrade"
    )
    return save(rng, folder / kind, "\n".join(lines[kind]).encode())


def write_repeated_text(rng: Rng, folder: Path) -> Path:
    """Parquet of a few hundred bytes that stands for 100 MB of text."""
    text, buffer = "war and peace " * 15_000, io.BytesIO()
    column = pick(rng, ([text] * 500, [f"{text}{row}" for row in range(500)], [[text] * 10] * 50))
    is_plain = isinstance(column[0], str)
    coding = pick(rng, ({}, {"use_dictionary": False}, DELTAS)) if is_plain else {}
    parquet.write_table(pa.table({"text": column}), buffer, compression="zstd", **coding)
    return save(rng, folder / "a.parquet", buffer.getvalue())


WRITERS: dict[str, Callable[[Rng, Path], Path]] = {
    "csv, tsv": write_delimited,
    "json lines": write_json_lines,
    "parquet": write_parquet,
    "zip": write_zip,
    "folder": write_folder,
    "counts": write_counts,
}
# Written in the place of some files of their format. The seeds of past failures still give the same
# files.
EXTREMES = {"zip": write_long_names, "counts": write_long_numbers, "parquet": write_repeated_text}
SHARE_EXTREME = 0.1


def save(rng: Rng, path: Path, content: bytes) -> Path:
    """Write a file; a third of them with damaged bytes, a tenth cut off."""
    changed = bytearray(content)
    if changed and rng.random() < 0.33:
        for _ in range(int(rng.integers(1, 4))):
            changed[rng.integers(len(changed))] = rng.integers(256)
    if changed and rng.random() < 0.1:
        del changed[rng.integers(len(changed)) :]
    path.write_bytes(bytes(changed))
    return path


def upload(path: Path) -> Upload:
    """Send a file or folder as a browser does."""
    sent = Upload()
    sent.begin()
    root = path if path.is_dir() else path.parent
    for file in sorted(each for each in root.rglob("*") if each.is_file()):
        content = file.read_bytes()
        sent.open(file.name, len(content), file.parent.relative_to(root.parent).parts)
        sent.add(base64.b64encode(content).decode())
    return sent


def take_page_path(path: Path, library: Path) -> None:
    """Upload, preview and build as the page does."""
    sent = upload(path)
    try:
        tasks = TextTaskRunner(lambda share, text: None, library)
        path = sent.end()
        found = tasks.look(path, dict.fromkeys(Columns._fields))
        tasks.measure(WORDS)
        tasks.build(path, f"corpus {uuid4().hex}", found.chosen, WORDS, True)
    finally:
        sent.clear()


def try_file(seed: int, library: Path) -> tuple[str, str, str]:
    """The format of the file with this seed, the worst outcome, and the messages."""
    rng = np.random.default_rng(seed)
    kind = pick(rng, tuple(WRITERS))
    is_extreme = kind in EXTREMES and np.random.default_rng([seed, 4]).random() < SHARE_EXTREME
    with tempfile.TemporaryDirectory() as folder:
        path = (EXTREMES if is_extreme else WRITERS)[kind](rng, Path(folder))
        readers = (
            preview,
            lambda path: load_corpus(path, words=WORDS),
            lambda path: take_page_path(path, library),
        )
        said = [say(lambda read=read: read(path), folder) for read in readers]
    outcome, words = max(said, key=lambda each: OUTCOMES.index(each[0]))
    return kind, outcome, words


def say(read: Callable[[], object], folder: str) -> tuple[str, str]:
    """The outcome of reading a file, and its sentence without the folder, or its traceback."""
    try:
        found = read()
    except CorpusError as error:
        sentence = str(error).replace(folder, "")
        return (
            "refused" if len(sentence) <= MAX_SENTENCE and "\n" not in sentence else "long"
        ), sentence
    except Exception:
        return "foreign", traceback.format_exc()
    rows = [str(row).replace(folder, "") for row in getattr(found, "bad", ())]
    longest = max(rows, key=len, default="")
    return ("read", "") if len(longest) <= MAX_SENTENCE else ("long", longest)


def count_outcomes(seeds: list[int] | range) -> tuple[pd.DataFrame, dict[int, str]]:
    """A row for each format with its outcomes, and what was said for each bad seed."""
    logging.disable(logging.WARNING)
    counted, faults = Counter(), {}
    for first in range(0, len(seeds), FILES_OF_A_LIBRARY):
        with tempfile.TemporaryDirectory() as folder:
            for seed in seeds[first : first + FILES_OF_A_LIBRARY]:
                kind, outcome, words = try_file(seed, Path(folder))
                counted[kind, outcome] += 1
                if outcome in BAD:
                    faults[seed] = words
    logging.disable(logging.NOTSET)
    rows = [
        {"format": kind} | {outcome: counted[kind, outcome] for outcome in OUTCOMES}
        for kind in WRITERS
    ]
    return pd.DataFrame(rows), faults


def main() -> None:
    """Print the table and every fault with its seed, and end with an error if there is one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    frame, faults = count_outcomes(range(options.seed, options.seed + options.number))
    print(frame.to_string(index=False))
    for seed, words in faults.items():
        print(f"seed {seed}: {words}")
    if options.json:
        frame.to_json(options.json, orient="records", indent=1)
    sys.exit(int(bool(faults)))


if __name__ == "__main__":
    main()
