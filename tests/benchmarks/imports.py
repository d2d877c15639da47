"""What is read, left out and assumed for generated files of all kinds, and the seconds it takes.

    python -m tests.benchmarks.imports [--rows 100000] [--kinds NAME ...] [--against CHECKOUT] [--json FILE]

Each kind has an oddity that people's files have. Folders and archives of texts have a tenth of the
rows; PDF, Word and .xls files and tables of counts a hundredth (20 at least). The seconds are those
of `load_corpus` in one process, with the columns of the preview. --against: another checkout, which
reads the same files by turns, each time in a new process; the ratio is that of the least of three
times of the processor.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.benchmarks.heldout import to_markdown, write_json
from tests.engine.corpora import small_documents, small_sheets

NUM_WORDS = 60
LETTERS = str.maketrans("0123456789", "abcdefghij")
Write = Callable[[pd.DataFrame, Path], Path]


def make_rows(number: int, seed: int = 0) -> pd.DataFrame:
    """Texts with a Zipf vocabulary, and dates in days; each hundredth text is empty."""
    rng = np.random.default_rng(seed)
    words = np.array(
        [
            # Without digits, which earlier versions did not count.
            ("wört" if place % 7 == 0 else "word") + f"{place:04}".translate(LETTERS)
            for place in range(5_000)
        ]
    )
    chosen = words[np.minimum(rng.zipf(1.3, (number, NUM_WORDS)), len(words)) - 1]
    texts = [" ".join(row) for row in chosen]
    texts[::100] = [""] * len(texts[::100])
    days = pd.Timestamp("1900-01-01") + pd.to_timedelta(rng.integers(0, 36_500, number), "D")
    return pd.DataFrame(
        {"id": np.arange(number), "text": texts, "date": days.astype("datetime64[s]")}
    )


def _csv(rows: pd.DataFrame, path: Path) -> Path:
    rows.to_csv(path, index=False)
    return path


def _windows_csv(rows: pd.DataFrame, path: Path) -> Path:
    dates = rows["date"].dt.strftime("%d.%m.%Y")
    table = rows.assign(date=dates).to_csv(index=False, sep=";")
    path.write_text(f"Export\n\n{table}", encoding="cp1252")
    return path


def _tsv(rows: pd.DataFrame, path: Path) -> Path:
    rows.assign(date=rows["date"].dt.strftime("%d %B %Y")).to_csv(path, index=False, sep="\t")
    return path


def _lines(rows: pd.DataFrame, path: Path) -> Path:
    stamps = rows["date"].astype(np.int64)
    records = zip(rows["id"], rows["text"], stamps, strict=True)
    path.write_text(
        "".join(
            json.dumps({"id": int(n), "post": {"body": text.split()}, "created": int(stamp)}) + "\n"
            for n, text, stamp in records
        )
    )
    return path


def _plain_lines(rows: pd.DataFrame, path: Path) -> Path:
    dated = rows.assign(date=rows["date"].dt.strftime("%Y-%m-%d"))
    dated.to_json(path, orient="records", lines=True)
    return path


def _json(rows: pd.DataFrame, path: Path) -> Path:
    rows.assign(date=rows["date"].dt.strftime("%Y-%m")).to_json(path, orient="records")
    return path


def _parquet(rows: pd.DataFrame, path: Path) -> Path:
    rows.assign(date=rows["date"].dt.tz_localize("Europe/Berlin", ambiguous=True)).to_parquet(path)
    return path


def _gzip(rows: pd.DataFrame, path: Path) -> Path:
    path.write_bytes(gzip.compress(rows.to_csv(index=False).encode(), 1))
    return path


def _zipped_table(rows: pd.DataFrame, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", "About these speeches")
        archive.writestr("data/speeches.csv", rows.to_csv(index=False))
    return path


def _name_texts(rows: pd.DataFrame) -> list[tuple[str, str]]:
    some = rows.iloc[: max(1, len(rows) // 10)]
    days = some["date"].dt.strftime("%Y_%m")
    return [
        (f"letter_{n:06}_{day}.txt", text)
        for n, day, text in zip(some["id"], days, some["text"], strict=True)
    ]


def _folder(rows: pd.DataFrame, path: Path) -> Path:
    path.mkdir()
    for name, text in _name_texts(rows):
        (path / name).write_text(text, encoding="utf-8")
    return path


def _zipped_texts(rows: pd.DataFrame, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _name_texts(rows):
            archive.writestr(name, text)
    return path


def _counts(rows: pd.DataFrame, path: Path) -> Path:
    rng = np.random.default_rng(0)
    path.with_suffix(".vocab").write_text("".join(f'"word{n}"\n' for n in range(1_000)))
    with path.open("w") as out:
        for _ in range(len(rows)):
            ids = np.unique(np.minimum(rng.zipf(1.3, NUM_WORDS), 1_000) - 1)
            out.write(f"{len(ids)} {' '.join(f'{word}:2' for word in ids)}\n")
    return path


def _count_rows(rows: pd.DataFrame) -> pd.DataFrame:
    counts = np.random.default_rng(0).poisson(0.15, (max(20, len(rows) // 100), 200))
    words = [f"{sign}ord{n}" for n in range(20) for sign in "abcdefghij"]
    return pd.DataFrame(counts, columns=words).assign(doc=range(len(counts)))


def _tidy_counts(rows: pd.DataFrame, path: Path) -> Path:
    tidy = _count_rows(rows).melt("doc", var_name="word", value_name="n")
    return _csv(tidy.query("n > 0"), path)


def _count_matrix(rows: pd.DataFrame, path: Path) -> Path:
    table = _count_rows(rows)
    return _csv(table[["doc", *table.columns[:-1]]], path)


def _sheet(rows: pd.DataFrame, path: Path) -> Path:
    # A file of .xls has 65,536 rows at most, and the small ones of the tests fewer.
    some = rows.iloc[: max(20, len(rows) // 100)] if path.suffix == ".xls" else rows
    lines = [["Export"], [], [*rows.columns], *some.astype({"date": object}).to_numpy().tolist()]
    write = small_sheets.WRITERS[path.suffix[1:]]
    path.write_bytes(write({"About": [["These speeches"]], "Speeches": lines}))
    return path


def _mailbox(rows: pd.DataFrame, path: Path) -> Path:
    days = rows["date"].dt.strftime("%d %b %Y 23:30:00 -0500")
    messages = (
        small_documents.write_eml(f"{text}\n> quoted words\n-- \nAnn", Date=day)
        for text, day in zip(rows["text"], days, strict=True)
    )
    path.write_bytes(small_documents.write_mbox(*messages))
    return path


def _documents(suffix: str, share: int) -> Write:
    """A zip of files with one text each; of `share` rows one."""

    def write(rows: pd.DataFrame, path: Path) -> Path:
        some = rows.iloc[: max(share // 5, len(rows) // share)]
        # The small PDF files have short lines.
        texts = some["text"].str.replace(" ", "\n" if suffix == ".pdf" else " ")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for n, day, text in zip(some["id"], some["date"], texts, strict=True):
                name = f"{n:06}_{day:%Y-%m-%d}{suffix}"
                archive.writestr(name, small_documents.WRITERS[suffix](text))
        return path

    return write


KINDS: dict[str, tuple[str, Write]] = {
    "CSV": ("a.csv", _csv),
    "CSV, semicolons, Windows-1252, lines above": ("b.csv", _windows_csv),
    "TSV, dates in words": ("c.tsv", _tsv),
    "JSON lines, token lists in objects, Unix times": ("d.jsonl", _lines),
    "JSON lines": ("w.jsonl", _plain_lines),
    "JSON list, months": ("e.json", _json),
    "Parquet, time zone": ("f.parquet", _parquet),
    "CSV, gzip": ("g.csv.gz", _gzip),
    "zip of a table with a README": ("h.zip", _zipped_table),
    "folder of texts, months in names": ("i", _folder),
    "zip of texts": ("j.zip", _zipped_texts),
    "LDA-C, words in quotes": ("k.ldac", _counts),
    "CSV, a row for each count of a word": ("l.csv", _tidy_counts),
    "CSV, a column for each word": ("m.csv", _count_matrix),
    "Excel (.xlsx), two sheets, lines above": ("n.xlsx", _sheet),
    "Excel (.xls), two sheets, lines above": ("o.xls", _sheet),
    "OpenDocument sheet, two sheets, lines above": ("p.ods", _sheet),
    "mailbox, quoted lines and signatures": ("q.mbox", _mailbox),
    "zip of texts in HTML": ("r.zip", _documents(".html", 10)),
    "zip of texts in TEI": ("s.zip", _documents(".xml", 10)),
    "zip of texts in mail": ("t.zip", _documents(".eml", 10)),
    "zip of Word files": ("u.zip", _documents(".docx", 100)),
    "zip of PDF files": ("v.zip", _documents(".pdf", 100)),
}
LOAD = (
    "import json, sys, time; from stickbreaker.engine.corpora.load import load_corpus;"
    " path, columns = json.loads(sys.argv[1]); start = time.process_time();"
    " load_corpus(path, **columns); print(time.process_time() - start)"
)


def compare(path: Path, columns: dict[str, str | None], other: Path) -> str:
    """The seconds here by those of another checkout; empty if it does not read the file."""
    asked = json.dumps([str(path), columns])
    seconds: list[float] = []
    for checkout in (Path(__file__).parents[2], other) * 3:
        known = {**os.environ, "PYTHONPATH": str(checkout / ".import")}
        command = [sys.executable, "-W", "ignore", "-c", LOAD, asked]
        done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
        if done.returncode:
            return ""
        seconds.append(float(done.stdout))
    return f"{min(seconds[::2]) / min(seconds[1::2]):.2f}"


def measure(kind: str, number: int, folder: Path, other: Path | None = None) -> dict[str, object]:
    """Write, preview and load the file of a kind with this number of rows."""
    name, write = KINDS[kind]
    path = write(make_rows(number), folder / name)
    seen = preview(path)
    columns = {part: getattr(seen.chosen, part) for part in ("text", "date", "title")}
    effect = seen.measure(WordChoices())
    start = time.perf_counter()
    columns = columns if seen.columns else {}
    corpus = load_corpus(path, **columns)
    seconds = time.perf_counter() - start
    ratio = {} if other is None else {"ratio": compare(path, columns, other)}
    return {
        "kind": kind,
        "read as": seen.kind,
        "columns": ", ".join(filter(None, columns.values())),
        "documents": corpus.num_documents,
        "dates": " to ".join(seen.date_span or ()),
        "rows left out": seen.num_bad,
        "tokens left out": f"{1 - effect.num_tokens / max(1, effect.raw_tokens):.0%}",
        "assumed": " ".join(seen.notes).replace(f"{folder}/", ""),
        "seconds": round(seconds, 2),
        **ratio,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--against", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(kind, given.rows, Path(folder), given.against) for kind in given.kinds]
    print(to_markdown(pd.DataFrame(rows)))
    if given.json:
        write_json(given.json, rows)


if __name__ == "__main__":
    main()
