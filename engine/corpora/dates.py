"""Dates as people write them, each as precise as it is written."""

import re
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

FIRST_YEAR, LAST_YEAR = 1000, 2100
NUM_GUESSED_FROM = 20
ISO = "ISO8601"
EARLY_YEAR = r"(?<!\d)1[0-6]\d\d(?!-?W)"
HINT = "write a year (1863) or an ISO date (1863-12-08), or one other form throughout"


def read_dates(cells: Sequence[str]) -> np.ndarray:
    """Dates (D,) of the form that most cells have: years as years, months as months, days as days, times to the second.

    NaT where a cell is empty, of another form, or absurd: before the year 1000 or after 2100.

    >>> read_dates(["1863", "soon", "1864.0"]).astype(str).tolist()
    ['1863', 'NaT', '1864']
    >>> read_dates(["13/12/1863", "12/1/1864"]).astype(str).tolist()
    ['1863-12-13', '1864-01-12']
    >>> read_dates(["now", "today"]).astype(str).tolist()
    ['NaT', 'NaT']
    """
    # pandas takes a second to import, and the corpora that come with the project do without.
    import pandas as pd

    cells = pd.Series(list(cells), dtype=str).str.strip()
    forms = (_read_years, _read_months, _read_named_months, _read_iso, _read_stamps, _read_other)
    best, most = np.full(len(cells), "NaT", "datetime64[D]"), 0
    num_filled = int((cells != "").sum())
    # What a day of this is called, as "today", is another date tomorrow.
    cells = cells.where(cells.str.contains(r"\d"), "")
    for form in forms:
        dates = _drop_absurd(form(cells))
        num_read = int((~np.isnat(dates)).sum())
        if num_read > most:
            best, most = dates, num_read
        if most == num_filled:
            break
    return best


def explain_date(cell: str) -> str:
    """Why a cell gave no date, as a reason of a bad row.

    >>> explain_date("0001-01-01")[:62]
    "'0001-01-01' is a date before 1000 or after 2100, hardly of a "
    """
    if not cell.strip():
        return "it has no date: give it one, or leave the dates out to take the rows in their order"
    shown = repr(cell.strip() if len(cell.strip()) <= 60 else cell.strip()[:59] + "…")
    years = [int(year) for year in re.findall(r"(?<!\d)\d{4,5}(?!\d)", cell)]
    if len(years) == 1 and not FIRST_YEAR <= years[0] <= LAST_YEAR:
        return f"{shown} is a date before {FIRST_YEAR} or after {LAST_YEAR}, hardly of a text: correct it"
    return f"{shown} is not a date: {HINT}"


def _drop_absurd(dates: np.ndarray) -> np.ndarray:
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    is_absurd = ~np.isnat(dates) & ((years < FIRST_YEAR) | (years > LAST_YEAR))
    dates = dates.copy()
    dates[is_absurd] = np.datetime64("NaT")
    return dates


def _read_years(cells: "pd.Series") -> np.ndarray:
    is_year = cells.str.fullmatch(r"\d{4}(\.0)?").to_numpy(bool)
    return np.where(is_year, cells.str[:4].to_numpy(dtype=str), "NaT").astype("datetime64[Y]")


def _read_months(cells: "pd.Series") -> np.ndarray:
    is_month = cells.str.fullmatch(r"\d{4}-(0[1-9]|1[0-2])").to_numpy(bool)
    return np.where(is_month, cells.to_numpy(dtype=str), "NaT").astype("datetime64[M]")


def _read_named_months(cells: "pd.Series") -> np.ndarray:
    """May 1863, in full or by three letters."""
    short, full = (_parse(cells, form).astype("datetime64[M]") for form in ("%b %Y", "%B %Y"))
    return np.where(np.isnat(short), full, short)


def _read_iso(cells: "pd.Series") -> np.ndarray:
    return _coarsest(_parse(cells, ISO))


def _read_stamps(cells: "pd.Series") -> np.ndarray:
    """Seconds or milliseconds since 1970, as computers write them."""
    digits = cells.str.fullmatch(r"\d{10}|\d{13}").to_numpy(bool)
    seconds = np.where(digits, cells.str[:10].to_numpy(dtype=str), "0").astype(np.int64)
    return np.where(digits, seconds.astype("datetime64[s]"), np.datetime64("NaT"))


def _read_other(cells: "pd.Series") -> np.ndarray:
    """The form pandas sees in the first cells, or the same with day and month changed round: whichever reads more."""
    from pandas.tseries.api import guess_datetime_format

    forms: dict[str, None] = {}
    with warnings.catch_warnings():
        # pandas warns where a date speaks against the order of day and month it was told.
        warnings.simplefilter("ignore")
        for cell in cells[cells != ""].iloc[:NUM_GUESSED_FROM]:
            # 12.5.2020 is the 12th of May wherever dots are written, 12/5/2020 as pandas takes it.
            for day_first in (True, False) if "." in cell else (False, True):
                if form := guess_datetime_format(cell, dayfirst=day_first):
                    forms[form] = None
    best, most = np.full(len(cells), "NaT", "datetime64[D]"), 0
    for form in list(forms)[:8]:
        dates = _coarsest(_parse(cells, form))
        num_read = int((~np.isnat(dates)).sum())
        if num_read > most:
            best, most = dates, num_read
    return best


def _parse(cells: "pd.Series", form: str) -> np.ndarray:
    """Times (D,) in UTC, to the second, of the cells that have this form; NaT for the others."""
    import pandas as pd

    times = pd.to_datetime(cells, format=form, errors="coerce", utc=True)
    seconds: np.ndarray = times.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
    # pandas 2 counts nanoseconds in 64 bits, which cannot express a date before September 1677.
    is_early = np.isnat(seconds) & cells.str.contains(EARLY_YEAR).to_numpy(bool)
    for row in np.flatnonzero(is_early):
        seconds[row] = _parse_early(cells.iloc[row], form)
    return seconds


def _parse_early(cell: str, form: str) -> np.datetime64:
    """The time in UTC of one cell, NaT if it is of another form."""
    try:
        time = datetime.fromisoformat(cell) if form == ISO else datetime.strptime(cell, form)
    except ValueError:
        return np.datetime64("NaT", "s")
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    second: np.datetime64 = np.datetime64(time, "us").astype("datetime64[s]")
    return second


def _coarsest(seconds: np.ndarray) -> np.ndarray:
    days = seconds.astype("datetime64[D]")
    return days if ((days == seconds) | np.isnat(seconds)).all() else seconds
