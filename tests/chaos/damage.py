"""Damage to stored files: each item is refused with a sentence or loads the same content, and the
others stay.

    python -m tests.chaos.damage [--number 10000] [--seed 0] [--json FILE]

Flips a bit, truncates, swaps two blocks or the files of two items, or deletes, in every kind of
file, and reads everything again as a new process would. Prints the number of each outcome: "silent"
is wrong content without a sentence, "foreign" an error that is not the project's own, "others" a
fault in an item that was not touched.
"""

import argparse
import logging
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from stickbreaker.engine.files import verified_files
from tests.chaos.stored import KINDS, Found, Kind, Refusal

DAMAGES = ("flip", "truncate", "swap", "delete")
OUTCOMES = ("same", "refused", "gone", "silent", "foreign", "others", "no sentence")
GOOD = OUTCOMES[:3]
MAX_SENTENCE = 400


def attack(kind: Kind, folder: Path, number: int, seed: int) -> Counter:
    """Damage the files of one kind a number of times; count the pairs of damage and outcome."""
    kind.write(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    contents = {path: path.read_bytes() for path in files}
    before, counted = kind.read(folder), Counter()
    rng = np.random.default_rng([seed, len(kind.name)])
    for _ in range(number):
        damage, path = DAMAGES[rng.integers(len(DAMAGES))], files[rng.integers(len(files))]
        changed = change(
            damage, path, contents if kind.has_own_name else {path: contents[path]}, rng
        )
        for place, content in changed.items():
            place.unlink() if content is None else place.write_bytes(content)
        # As a new process: digests of unchanged files are kept by size and time.
        verified_files.digest_once.cache_clear()
        touched = {
            name for place in changed for name in before if name in (place.stem, place.parent.name)
        }
        counted[damage, judge(kind, folder, before, touched, damage)] += 1
        for place in changed:
            place.write_bytes(contents[place])
    return counted


def change(
    damage: str, path: Path, contents: dict[Path, bytes], rng: np.random.Generator
) -> dict[Path, bytes | None]:
    """The new contents of the files that one damage touches; None deletes a file."""
    content = contents[path]
    if damage == "delete":
        return {path: None}
    if damage == "truncate":
        return {path: content[: rng.integers(len(content))]}
    if damage == "flip":
        place = rng.integers(len(content))
        return {
            path: content[:place]
            + bytes([content[place] ^ 1 << int(rng.integers(8))])
            + content[place + 1 :]
        }
    twins = [each for each in contents if each != path]
    if rng.random() < 0.5 and twins:
        other = twins[rng.integers(len(twins))]
        return {path: contents[other], other: content}
    size = int(rng.integers(1, 65))
    first, second = sorted(rng.integers(0, max(1, len(content) - size), 2).tolist())
    second = max(second, first + size)
    one, two = content[first : first + size], content[second : second + size]
    return {
        path: content[:first]
        + two
        + content[first + size : second]
        + one
        + content[second + size :]
    }


def judge(kind: Kind, folder: Path, before: Found, touched: set[str], damage: str) -> str:
    """The outcome of reading after a damage: one of OUTCOMES, the worst of all items."""
    try:
        found = kind.read(folder)
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return "foreign"
    if any(found.get(name) != content for name, content in before.items() if name not in touched):
        return "others"
    outcomes = [judge_item(found.get(name), before[name], damage) for name in touched]
    return max(outcomes, key=OUTCOMES.index)


def judge_item(found: str | None, before: str, damage: str) -> str:
    """The outcome of reading one damaged item."""
    if found is None:
        return "gone" if damage == "delete" else "silent"
    if not isinstance(found, Refusal):
        return "same" if found == before else "silent"
    is_sentence = found.endswith(".") and len(found) <= MAX_SENTENCE and "\n" not in found
    return "refused" if is_sentence else "no sentence"


def count_outcomes(number: int, seed: int) -> pd.DataFrame:
    """A row for each kind of file and damage, with the number of each outcome."""
    logging.disable(logging.WARNING)
    rows = []
    try:
        for place, kind in enumerate(KINDS):
            with tempfile.TemporaryDirectory() as folder:
                inside = Path(folder) / "files"
                inside.mkdir()
                share = number // len(KINDS) + (place < number % len(KINDS))
                counted = attack(kind, inside, share, seed)
            for damage in DAMAGES:
                row = {outcome: counted[damage, outcome] for outcome in OUTCOMES}
                rows.append({"kind": kind.name, "damage": damage} | row)
    finally:
        logging.disable(logging.NOTSET)
    return pd.DataFrame(rows)


def main() -> None:
    """Print the table, and end with an error if an outcome is bad."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    frame = count_outcomes(options.number, options.seed)
    print(frame.to_string(index=False))
    print(frame[list(OUTCOMES)].sum().to_string())
    if options.json:
        frame.to_json(options.json, orient="records", indent=1)
    sys.exit(int(frame[list(OUTCOMES[len(GOOD) :])].to_numpy().sum() > 0))


if __name__ == "__main__":
    main()
