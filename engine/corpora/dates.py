"""Read dates as people write them, with the precision that they have.

pandas parses each form. It cannot do the rest: it turns "1863" into a full date and guesses the
form from the first cell only. dateutil also fills missing parts from today's date, and parses each
cell by itself.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from stickbreaker.engine.corpora.rows import repair
from stickbreaker.engine.corpora.written_dates import read_written
from stickbreaker.engine.files.messages import cut

if TYPE_CHECKING:
    import pandas as pd

FIRST_YEAR = 1000
LAST_YEAR = 2100
# Texts of the common era are rarely older.
EARLY = np.datetime64("1500")
NUM_GUESSED_FROM = 20
ISO = "ISO8601"
# A date is the day that was written, so a time zone is left out: "2020-09-08T10:01:00Z",
# "Tue, 8 Sep 2020 10:01:00 +0200 (CEST)".
ZONE = re.compile(
    r"(?<=:\d\d)(?:[.,]\d+)? ?(?:Z|[A-Z]{3,5}|(?:UTC|GMT)?[+-]\d\d(?::?\d\d){0,2})"
    r"(?: ?[(\[][A-Za-z/_ ]+[)\]])?(?= \d{4}$|$)"
)
EARLY_YEAR = r"(?<!\d)1[0-6]\d\d(?!-?W)"
SEASONS = "seasons"
SERIAL = "serial numbers"
STAMPS = "stamps"
COMPACT = "compact months"
# Forms of one meaning only.
CERTAIN = ("years", "months", "iso")
# Excel counts days from here.
FIRST_DAY = np.datetime64("1899-12-30", "D")
SERIAL_RANGE = (10_000, 74_000)
# Seconds, milliseconds, microseconds and nanoseconds, by the size of the number.
STAMP_RANGES = tuple((10.0 ** (8 + 3 * unit), 10.0 ** (3 * unit)) for unit in range(4))
NUMBER = r"-?\d{1,20}(?:\.\d+)?|-?\d\.\d+e\+?\d\d"
# "12/8/1863", "8.12.63 10:30", "12-8-1863, 5:30:00 PM".
ORDERED = re.compile(
    r"\d{1,2}(?P<sign>[./ -])\d{1,2}(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?:,? )?(?:\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)?"
)
SEASON = re.compile(r"(\d{4})-(\d\d)")
BEFORE = re.compile(r"(?i)\d ?(?:b\.? ?c|v\. ?chr|av\. ?j)")
HINT = "use a year (1863), an ISO date (1863-12-08), or one other form in all rows"


def read_dates(cells: Sequence[str], form: str = "") -> np.ndarray:
    """Read dates (D,) in a form from `find_form`, by default in the form that most cells have.

    Cells of other forms are read if they can have one meaning only ("c. 1850", "March 1848").

    The unit is the precision: years, months, days or seconds. NaT marks a cell that is empty, has
    another form, or lies outside the years 1000 to 2100.

    >>> read_dates(["1863", "soon", "1864.0"]).astype(str).tolist()
    ['1863', 'NaT', '1864']
    >>> read_dates(["13/12/1863", "12/1/1864"]).astype(str).tolist()
    ['1863-12-13', '1864-01-12']
    >>> read_dates(["28. Oktober 2008", "3. März 2009"]).astype(str).tolist()
    ['2008-10-28', '2009-03-03']
    >>> read_dates(["Tue, 8 Sep 2020 10:01:00 +0200 (CEST)"]).astype(str).tolist()
    ['2020-09-08T10:01:00']
    >>> read_dates(["now", "today"]).astype(str).tolist()
    ['NaT', 'NaT']
    >>> read_dates(["٢٠٢٠", "२०२१", "２０２２"]).astype(str).tolist()
    ['2020', '2021', '2022']
    """
    texts = _clean(cells)
    return _read(texts, form or _find_form(texts, None))


def find_form(cells: Sequence[str], day_first: bool | None = None) -> str:
    """Find the form that most cells have: a key of `FORMS`, or a form of `strptime`.

    day_first: whether 3/4/1863 is 3 April; by default as most cells need it.

    >>> find_form(["1863", "1864"]), find_form(["13/12/1863", "12/1/1864"])
    ('years', '%d/%m/%Y')
    >>> find_form(["3/4/1863"]), find_form(["3/4/1863"], day_first=True)
    ('%m/%d/%Y', '%d/%m/%Y')
    """
    return _find_form(_clean(cells), day_first)


def swap_order(form: str) -> str:
    """Exchange day and month in a form; "" if it has another meaning then, or no order."""
    parts = re.split("(%d|%m)", form)
    if parts[1::2] not in (["%d", "%m"], ["%m", "%d"]) or "%Y" in parts[0]:
        return ""
    parts[1], parts[3] = parts[3], parts[1]
    return "".join(parts)


def is_order_open(cells: Sequence[str], form: str) -> bool:
    """Whether day and month fit in both orders, and it matters.

    >>> is_order_open(["3/4/1863"], "%m/%d/%Y"), is_order_open(["3/3/1863"], "%m/%d/%Y")
    (True, False)
    """
    texts = _clean(cells)
    return _is_open(texts, _read_form(texts, form), form)


def _is_open(texts: "pd.Series", dates: np.ndarray, form: str) -> bool:
    other = swap_order(form)
    if not other:
        return False
    swapped = _read_form(texts, other)
    both = ~np.isnat(dates) & ~np.isnat(swapped)
    return bool((both == ~np.isnat(dates)).all() and (dates[both] != swapped[both]).any())


def explain_form(cells: Sequence[str], form: str) -> str:
    """Say how dates are read whose meaning is not certain, with an example; "" if it is.

    >>> explain_form(["3/4/1863"], "%m/%d/%Y")
    "'3/4/1863' is read as 1863-03-04: set day_first if the day comes first."
    """
    texts = _clean(cells)
    plain = _read_form(texts, form)
    dates = _add_written(texts, plain)
    unusual = ~np.isnat(dates)
    remedy = ""
    if _is_open(texts, plain, form):
        unusual &= dates != _read(texts, swap_order(form))
        first = "month" if form.index("%d") < form.index("%m") else "day"
        remedy = f": set day_first if the {first} comes first"
    elif form in CERTAIN or ("%" in form and "%y" not in form):
        # An early year may be one of another calendar.
        unusual &= np.isnat(plain) | (dates < EARLY)
    if not unusual.any():
        return ""
    place = int(unusual.argmax())
    if not remedy and dates[place] < EARLY:
        remedy = ", in the common era"
    return f"{cells[place].strip()!r:.60} is read as {dates[place]}{remedy}."


class DateReader:
    """Reads the dates of a stream in one form, which the first of them have.

    Warns if the order of day and month is open, and if later dates need the other one.

    form: that of dates that were read before. day_first: as in `find_form`.
    """

    def __init__(self, form: str = "", day_first: bool | None = None) -> None:
        self.form = form
        self._day_first = day_first

    def read(self, cells: Sequence[str]) -> np.ndarray:
        """Read further dates (D,); NaT for cells that are none."""
        if not self.form and any(cell.strip() for cell in cells):
            self.form = find_form(cells, self._day_first)
            if self._day_first is None and is_order_open(cells, self.form):
                warnings.warn(explain_form(cells, self.form), stacklevel=3)
        dates = read_dates(cells, self.form)
        other = swap_order(self.form)
        if not other or self._day_first is not None or not np.isnat(dates).any():
            return dates
        swapped = read_dates(cells, other)
        if np.isnat(swapped).sum() < np.isnat(dates).sum():
            place = int((np.isnat(dates) & ~np.isnat(swapped)).argmax())
            warnings.warn(
                f"{cells[place]!r:.60} has day and month in the other order than earlier dates: it"
                " and all later dates are read in its order. Set day_first to choose one.",
                stacklevel=3,
            )
            self.form = other
            return swapped
        return dates


def _clean(cells: Sequence[str]) -> "pd.Series":
    # pandas takes a second to import, and the bundled corpora do not need it.
    import pandas as pd

    texts = pd.Series([_plain_signs(cell) for cell in cells], dtype=str)
    # pandas reads words such as "today" as the date on which it runs.
    return texts.where(texts.str.contains(r"[\d元]"), "")


def _plain_signs(cell: str) -> str:
    """Write the digits and signs of a cell in ASCII, those of other scripts and full-width ones,
    and leave out a time zone.
    """
    if not cell.isascii():
        signs = unicodedata.normalize("NFKC", repair(cell))
        # Marks of the direction of writing are left out.
        cell = "".join(
            str(unicodedata.decimal(sign, sign))
            for sign in signs
            if unicodedata.category(sign) != "Cf"
        )
    cell = cell.strip().removesuffix(".0")
    return ZONE.sub("", cell) if ":" in cell else cell


def _find_form(texts: "pd.Series", day_first: bool | None) -> str:
    """The form that most texts have."""
    if _are_seasons(texts):
        return SEASONS
    found = "iso"
    most = 0
    num_filled = int(texts.ne("").sum())
    for form in chain(
        list(FORMS)[:-1], _ordered_forms(texts, day_first), _guess_forms(texts, day_first)
    ):
        num_read = int((~np.isnat(_read_form(texts, form))).sum())
        if num_read > most:
            found = form
            most = num_read
        if most == num_filled:
            break
    return found


def _read_form(texts: "pd.Series", form: str) -> np.ndarray:
    """The dates of the texts that have this form; NaT for others."""
    read = FORMS.get(form) or partial(_parse, form=form)
    return _drop_implausible(read(texts))


def _read(texts: "pd.Series", form: str) -> np.ndarray:
    """The dates of the texts that have this form, or another one with one meaning only."""
    return _add_written(texts, _read_form(texts, form))


def _add_written(texts: "pd.Series", dates: np.ndarray) -> np.ndarray:
    """The dates, with those of other texts that have one meaning only."""
    unread = np.flatnonzero(np.isnat(dates) & texts.ne("").to_numpy(bool))
    if not len(unread):
        return dates
    others = _drop_implausible(read_written(texts.iloc[unread].tolist()))
    if np.isnat(others).all():
        return dates
    unit = others.dtype
    if not np.isnat(dates).all():
        unit = np.promote_types(dates.dtype, unit)
    dates = dates.astype(unit)
    dates[unread] = others.astype(unit)
    return dates


def _are_seasons(texts: "pd.Series") -> bool:
    """Whether all texts are two years in sequence, as 2009-10, and not only months."""
    found = [SEASON.fullmatch(text) for text in texts if text]
    years = {int(each[1]) for each in found if each}
    return len(years) > 1 and all(
        each is not None and (int(each[1]) + 1) % 100 == int(each[2]) for each in found
    )


def explain_date(cell: str) -> str:
    """Explain why `read_dates` gives NaT for a cell, with the remedy.

    >>> explain_date("0001-01-01")
    "'0001-01-01' is outside the years 1000 to 2100: correct the date"
    >>> explain_date("44 BC")
    "'44 BC' is outside the years 1000 to 2100: choose no date column"
    """
    if not cell.strip():
        return (
            "the date is missing: add one, or choose no date column to keep the order of the rows"
        )
    shown = repr(cut(cell.strip(), 60))
    if BEFORE.search(cell):
        outside = f"{shown} is outside the years {FIRST_YEAR} to {LAST_YEAR}"
        return f"{outside}: choose no date column"
    years = [int(year) for year in re.findall(r"(?<!\d)\d{4,5}(?!\d)", cell)]
    if len(years) == 1 and not FIRST_YEAR <= years[0] <= LAST_YEAR:
        return f"{shown} is outside the years {FIRST_YEAR} to {LAST_YEAR}: correct the date"
    return f"{shown} is not a date: {HINT}"


def _drop_implausible(dates: np.ndarray) -> np.ndarray:
    years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
    is_implausible = ~np.isnat(dates) & ((years < FIRST_YEAR) | (years > LAST_YEAR))
    # A NaT without the unit of the dates is deprecated since NumPy 2.5.
    kept: np.ndarray = np.where(is_implausible, np.array("NaT", dates.dtype), dates)
    return kept


def _read_digits(cells: "pd.Series", pattern: str, unit: str) -> np.ndarray:
    """The dates of cells of this pattern: the first four digits, and for months the last two."""
    fits = cells.str.fullmatch(pattern).to_numpy(bool)
    digits = cells[fits].str[:4]
    if unit == "M":
        digits += "-" + cells[fits].str[-2:].str.replace(r"\D", "0", regex=True)
    dates = np.full(len(cells), "NaT", f"datetime64[{unit}]")
    dates[fits] = digits.to_numpy(dtype=str).astype(dates.dtype)
    return dates


def _read_numbers(cells: "pd.Series") -> np.ndarray:
    """The numbers, NaN for other cells; not those that are written as dates, such as 20200131."""
    is_number = cells.str.fullmatch(NUMBER, case=False).to_numpy(bool)
    return np.where(is_number, cells.to_numpy(dtype=str), "nan").astype(np.float64)


def _read_serial(cells: "pd.Series") -> np.ndarray:
    """Read the days of spreadsheets."""
    numbers = _read_numbers(cells)
    is_serial = (numbers >= SERIAL_RANGE[0]) & (numbers < SERIAL_RANGE[1])
    days = np.where(is_serial, numbers, 0.0)
    seconds = FIRST_DAY.astype("datetime64[s]") + np.rint(days * 86_400).astype("timedelta64[s]")
    return _coarsest(np.where(is_serial, seconds, np.datetime64("NaT", "s")))


def _read_stamps(cells: "pd.Series") -> np.ndarray:
    """Read Unix times in seconds, milliseconds, microseconds or nanoseconds."""
    numbers = _read_numbers(cells)
    seconds = np.full(len(numbers), np.nan)
    for least, scale in STAMP_RANGES:
        is_unit = (abs(numbers) >= least) & (abs(numbers) < 1_000 * least)
        seconds[is_unit] = numbers[is_unit] / scale
    # Around 1970 the numbers are small, which only the others show to be seconds.
    num_large = int((~np.isnan(seconds)).sum())
    if num_large and 2 * num_large >= (~np.isnan(numbers)).sum():
        seconds = np.where(np.isnan(seconds), numbers, seconds)
    whole = np.floor(np.where(np.isnan(seconds), 0.0, seconds)).astype(np.int64)
    times = whole.astype("datetime64[s]")
    return _coarsest(np.where(np.isnan(seconds), np.datetime64("NaT", "s"), times))


def _ordered_forms(cells: "pd.Series", day_first: bool | None) -> Iterator[str]:
    """Forms with day, month and year as numbers, in both orders."""
    found: dict[str, None] = {}
    for cell in cells[cells != ""].iloc[:NUM_GUESSED_FROM]:
        if (parts := ORDERED.fullmatch(cell)) is None:
            continue
        sign = parts["sign"]
        time = re.sub("(?i)[ap]m", "%p", cell[parts.end("year") :])
        for code in ("%I" if "%p" in time else "%H", "%M", "%S"):
            time = re.sub(r"\d+", code, time, count=1)
        year = {4: "%Y", 2: "%y"}[len(parts["year"])]
        forms = [f"{order.replace(' ', sign)}{sign}{year}{time}" for order in ("%m %d", "%d %m")]
        # With dots the day comes first (12.5.2020 is 12 May).
        if day_first or (day_first is None and sign == "."):
            forms.reverse()
        if day_first is not None:
            del forms[1]
        found |= dict.fromkeys(forms)
    yield from found


def _guess_forms(cells: "pd.Series", day_first: bool | None) -> Iterator[str]:
    """Forms that pandas guesses from the first cells, with day and month in both orders."""
    from pandas.tseries.api import guess_datetime_format

    forms: dict[str, None] = {}
    orders = (False, True) if day_first is None else (day_first,)
    with warnings.catch_warnings():
        # pandas warns if a date contradicts the given order of day and month.
        warnings.simplefilter("ignore")
        for cell in cells[cells != ""].iloc[:NUM_GUESSED_FROM]:
            for order in sorted(orders, reverse="." in cell):
                if form := guess_datetime_format(cell, dayfirst=order):
                    forms[form] = None
    yield from list(forms)[:8]


def _parse(cells: "pd.Series", form: str) -> np.ndarray:
    """Times (D,) in UTC, in days or seconds, of the cells that have this form; NaT for others."""
    import pandas as pd

    times = pd.to_datetime(cells, format=form, errors="coerce", utc=True)
    seconds: np.ndarray = times.dt.tz_localize(None).to_numpy().astype("datetime64[s]")
    if "%y" in form:
        # Two-digit years are those of the last hundred.
        years = seconds.astype("datetime64[Y]").astype(np.int64) + 1970
        is_future = ~np.isnat(seconds) & (years > datetime.now(UTC).year)
        seconds[is_future] -= np.timedelta64(36_525, "D")
    # pandas 2 counts nanoseconds in 64 bits, which cannot express a date before September 1677.
    unread = np.flatnonzero(np.isnat(seconds))
    for row in unread[cells.iloc[unread].str.contains(EARLY_YEAR).to_numpy(bool)]:
        seconds[row] = _parse_early(cells.iloc[row], form)
    return _coarsest(seconds)


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


FORMS: dict[str, Callable[["pd.Series"], np.ndarray]] = {
    "years": partial(_read_digits, pattern=r"\d{4}", unit="Y"),
    "months": partial(_read_digits, pattern=r"\d{4}[-/.](0?[1-9]|1[0-2])", unit="M"),
    COMPACT: partial(_read_digits, pattern=r"(1[0-9]|20)\d\d(0[1-9]|1[0-2])", unit="M"),
    "iso": partial(_parse, form=ISO),
    SERIAL: _read_serial,
    STAMPS: _read_stamps,
    # Only a whole column can be of seasons.
    SEASONS: partial(_read_digits, pattern=SEASON.pattern, unit="Y"),
}
