"""Dates as `read_dates` and dateparser read them: how many are right, and seconds for many cells.

    python -m tests.benchmarks.dates [--cells 1000000] [--sample 5000] [--json FILE]

The cells are those of tests/engine/corpora/test_dates.py, to which our reading is tuned, and in
each language those that Unicode's CLDR writes (Babel): 24 dates in five forms. A date
is right if it has the right precision too; `days` leaves the precision out. dateparser knows the
language; it reads each cell by itself, `--sample` of them, and its seconds are multiplied.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from stickbreaker.engine.corpora.dates import read_dates
from tests.benchmarks.heldout import to_markdown, write_json
from tests.engine.corpora.test_dates import FORMS

CODES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "swedish": "sv",
    "danish": "da",
    "norwegian": "nb",
    "finnish": "fi",
    "polish": "pl",
    "czech": "cs",
    "russian": "ru",
    "ukrainian": "uk",
    "turkish": "tr",
    "romanian": "ro",
    "hungarian": "hu",
    "catalan": "ca",
    "greek": "el",
    "japanese": "ja",
    "chinese": "zh",
    "korean": "ko",
}
DAYS = [f"{1848 + 7 * month}-{month:02d}-{day:02d}" for month in range(1, 13) for day in (3, 21)]
# Cells of one column, with their dates.
Case = tuple[list[str], list[str]]
Read = Callable[[list[str]], list[str]]


def write_cases(code: str) -> list[Case]:
    """Columns of dates in a language: full, long and medium dates, and months with years."""
    from babel.dates import format_date, format_skeleton

    days = [np.datetime64(day).item() for day in DAYS]
    months = [day[:7] for day in DAYS]
    whole = [
        ([format_date(day, form, locale=code) for day in days], DAYS)
        for form in ("full", "long", "medium")
    ]
    parts = [
        ([format_skeleton(form, day, locale=code) for day in days], months)
        for form in ("yMMMM", "yMMM")
    ]
    return whole + parts


def read_ours(cells: list[str]) -> list[str]:
    """Dates as `read_dates` reads a column, without its times."""
    dates = read_dates(cells)
    if np.datetime_data(dates.dtype)[0] == "s":
        dates = dates.astype("datetime64[D]")
    return [str(each) for each in dates]


def make_dateparser(codes: list[str]) -> Read:
    """Make a reader of cells with dateparser, with the precision that it reports."""
    from dateparser.date import DateDataParser

    settings = {"PREFER_DAY_OF_MONTH": "first", "PREFER_MONTH_OF_YEAR": "first"}
    parser = DateDataParser(languages=codes, settings=settings)
    letters = {"year": 4, "month": 7}

    def read(cells: list[str]) -> list[str]:
        found = [parser.get_date_data(cell) for cell in cells]
        return [
            str(each.date_obj)[: letters.get(each.period, 10)] if each.date_obj else "NaT"
            for each in found
        ]

    return read


def count_right(read: Read, cases: Sequence[Case]) -> tuple[int, int]:
    """Count the right dates, and those whose first day is right."""
    right = days = 0
    for cells, dates in cases:
        for found, date in zip(read(cells), dates, strict=True):
            right += found == date
            days += found != "NaT" and np.datetime64(found, "D") == np.datetime64(date, "D")
    return right, days


def time_million(read: Read, cells: list[str], number: int) -> float:
    """Seconds for a number of cells; those given are read, and their time is multiplied."""
    start = time.perf_counter()
    read(cells)
    return (time.perf_counter() - start) * number / len(cells)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each language, and one for each form that is timed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=5_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    cases = {"our table": (list(CODES.values())[:8], FORMS)}
    cases |= {name: ([code], write_cases(code)) for name, code in CODES.items()}
    rows = []
    for name, (codes, columns) in cases.items():
        ours, our_days = count_right(read_ours, columns)
        theirs, their_days = count_right(make_dateparser(codes), columns)
        rows.append(
            {
                "cells": name,
                "number": sum(len(cells) for cells, _ in columns),
                "right": ours,
                "dateparser": theirs,
                "days": our_days,
                "dateparser's days": their_days,
            }
        )
    print(to_markdown(pd.DataFrame(rows)))
    seconds = []
    rng = np.random.default_rng(0)
    days = np.datetime64("1800-01-01") + rng.integers(0, 80_000, given.cells)
    stamps = pd.DatetimeIndex(days.astype("datetime64[s]"))
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y"):
        cells = list(stamps.strftime(form))
        seconds.append(
            {
                "form": form,
                "cells": given.cells,
                "seconds": round(time_million(read_ours, cells, given.cells), 1),
                "dateparser": round(
                    time_million(make_dateparser(["en"]), cells[: given.sample], given.cells), 1
                ),
            }
        )
    print(to_markdown(pd.DataFrame(seconds)))
    if given.json:
        write_json(given.json, rows + seconds)


if __name__ == "__main__":
    main()
