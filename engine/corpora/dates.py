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
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from stickbreaker.engine.corpora.rows import repair

if TYPE_CHECKING:
    import pandas as pd

FIRST_YEAR = 1000
LAST_YEAR = 2100
NUM_GUESSED_FROM = 20
ISO = "ISO8601"
# The names of the months in English, German, French, Spanish, Italian, Portuguese, Dutch and Greek,
# without accents.
MONTH_NAMES = (
    "january januar janner janvier enero gennaio janeiro januari ιανουαριου ιανουαριος",
    "february februar feber fevrier febrero febbraio fevereiro februari φεβρουαριου φεβρουαριος",
    "march marz maerz mars marzo marco maart μαρτιου μαρτιος",
    "april avril abril aprile απριλιου απριλιος",
    "may mai mayo maggio maio mei μαιου μαιος",
    "june juni juin junio giugno junho ιουνιου ιουνιος",
    "july juli juillet julio luglio julho ιουλιου ιουλιος",
    "august aout agosto augustus αυγουστου αυγουστος",
    "september septembre septiembre setiembre settembre setembro σεπτεμβριου σεπτεμβριος",
    "october oktober octobre octubre ottobre outubro οκτωβριου οκτωβριος",
    "november novembre noviembre novembro νοεμβριου νοεμβριος",
    "december dezember decembre diciembre dicembre dezembro δεκεμβριου δεκεμβριος",
)
MONTHS = {
    name: f"{number:02d}" for number, names in enumerate(MONTH_NAMES, 1) for name in names.split()
}
# "28. Oktober 2008", "1er mai 1968", "3 de mayo de 2009", "März 1848".
NAMED_DATE = (
    r"(?:(?P<day>\d{1,2})(?:\.|er|º|°)? +(?:de )?)?(?P<month>[^\W\d_]{3,}) +(?:de |del"
    r" )?(?P<year>\d{4})"
)
# A date is the day that was written, so a time zone is left out: "2020-09-08T10:01:00Z",
# "Tue, 8 Sep 2020 10:01:00 +0200 (CEST)".
ZONE = re.compile(
    r"(?<=:\d\d)(?:[.,]\d+)? ?(?:Z|[A-Z]{3,5}|(?:UTC|GMT)?[+-]\d\d(?::?\d\d){0,2})"
    r"(?: ?[(\[][A-Za-z/_ ]+[)\]])?(?= \d{4}$|$)"
)
EARLY_YEAR = r"(?<!\d)1[0-6]\d\d(?!-?W)"
HINT = "use a year (1863), an ISO date (1863-12-08), or one other form in all rows"


def read_dates(cells: Sequence[str], form: str = "") -> np.ndarray:
    """Read dates (D,) in a form from `find_form`, by default in the form that most cells have.

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
    return _read(texts, form) if form else _find_form(texts)[1]


def find_form(cells: Sequence[str]) -> str:
    """Find the form that most cells have: a key of `FORMS`, or a form of `strptime`.

    >>> find_form(["1863", "1864"]), find_form(["13/12/1863", "12/1/1864"])
    ('years', '%d/%m/%Y')
    """
    return _find_form(_clean(cells))[0]


def _clean(cells: Sequence[str]) -> "pd.Series":
    # pandas takes a second to import, and the bundled corpora do not need it.
    import pandas as pd

    texts = pd.Series([_plain_signs(cell) for cell in cells], dtype=str)
    # pandas reads words such as "today" as the date on which it runs.
    return texts.where(texts.str.contains(r"\d"), "")


def _plain_signs(cell: str) -> str:
    """Write the digits and signs of a cell in ASCII, those of other scripts and full-width ones,
    and leave out a time zone.
    """
    if not cell.isascii():
        signs = unicodedata.normalize("NFKC", repair(cell))
        cell = "".join(
            str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in signs
        )
    cell = cell.strip()
    return ZONE.sub("", cell) if ":" in cell else cell


def _find_form(texts: "pd.Series") -> tuple[str, np.ndarray]:
    """The form that most texts have, and their dates in this form."""
    found = "iso"
    best = np.full(len(texts), "NaT", "datetime64[D]")
    most = 0
    num_filled = int(texts.ne("").sum())
    for form in chain(FORMS, _guess_forms(texts)):
        dates = _read(texts, form)
        num_read = int((~np.isnat(dates)).sum())
        if num_read > most:
            found = form
            best = dates
            most = num_read
        if most == num_filled:
            break
    return found, best


def _read(texts: "pd.Series", form: str) -> np.ndarray:
    return _drop_implausible(
        FORMS[form](texts) if form in FORMS else _coarsest(_parse(texts, form))
    )


def explain_date(cell: str) -> str:
    """Explain why `read_dates` gives NaT for a cell, with the remedy.

    >>> explain_date("0001-01-01")
    "'0001-01-01' is outside the years 1000 to 2100: correct the date"
    """
    if not cell.strip():
        return (
            "the date is missing: add one, or choose no date column to keep the order of the rows"
        )
    shown = repr(cell.strip() if len(cell.strip()) <= 60 else cell.strip()[:59] + "…")
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


def _read_years(cells: "pd.Series") -> np.ndarray:
    is_year = cells.str.fullmatch(r"\d{4}(\.0)?").to_numpy(dtype=bool)
    return np.where(is_year, cells.str[:4].to_numpy(dtype=str), "NaT").astype("datetime64[Y]")


def _read_months(cells: "pd.Series") -> np.ndarray:
    is_month = cells.str.fullmatch(r"\d{4}-(0[1-9]|1[0-2])").to_numpy(bool)
    return np.where(is_month, cells.to_numpy(dtype=str), "NaT").astype("datetime64[M]")


def _read_named_months(cells: "pd.Series") -> np.ndarray:
    """Read "May 1863" and "Dec 1863"."""
    short, full = (_parse(cells, form).astype("datetime64[M]") for form in ("%b %Y", "%B %Y"))
    dates: np.ndarray = np.where(np.isnat(short), full, short)
    return dates


def _read_dates_with_names(cells: "pd.Series") -> np.ndarray:
    """Read dates with the name of a month in one of several languages.

    Months if no cell has a day.
    """
    found = cells.map(_plain_letters).str.extract(f"^{NAMED_DATE}$")
    days = found["day"].fillna("01").str.zfill(2)
    months = found["month"].map(MONTHS)
    dates = _parse((found["year"] + "-" + months + "-" + days).fillna(""), ISO)
    return (
        dates.astype("datetime64[M]")
        if found["day"].isna().all()
        else dates.astype("datetime64[D]")
    )


def _plain_letters(text: str) -> str:
    """Lower-case letters without accents."""
    lower = text.casefold()
    if lower.isascii():
        return lower
    return "".join(
        sign for sign in unicodedata.normalize("NFKD", lower) if not unicodedata.combining(sign)
    )


def _read_iso(cells: "pd.Series") -> np.ndarray:
    return _coarsest(_parse(cells, ISO))


def _read_stamps(cells: "pd.Series") -> np.ndarray:
    """Read Unix times in seconds or milliseconds."""
    digits = cells.str.fullmatch(r"\d{10}|\d{13}").to_numpy(bool)
    seconds = np.where(digits, cells.str[:10].to_numpy(dtype=str), "0").astype(np.int64)
    return np.where(digits, seconds.astype("datetime64[s]"), np.datetime64("NaT", "s"))


def _guess_forms(cells: "pd.Series") -> Iterator[str]:
    """Forms that pandas guesses from the first cells, with day and month in both orders."""
    from pandas.tseries.api import guess_datetime_format

    forms: dict[str, None] = {}
    with warnings.catch_warnings():
        # pandas warns if a date contradicts the given order of day and month.
        warnings.simplefilter("ignore")
        for cell in cells[cells != ""].iloc[:NUM_GUESSED_FROM]:
            # With dots the day comes first (12.5.2020 is 12 May); otherwise pandas' default is
            # tried first.
            for day_first in (True, False) if "." in cell else (False, True):
                if form := guess_datetime_format(cell, dayfirst=day_first):
                    forms[form] = None
    yield from list(forms)[:8]


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


FORMS: dict[str, Callable[["pd.Series"], np.ndarray]] = {
    "years": _read_years,
    "months": _read_months,
    "named months": _read_named_months,
    "iso": _read_iso,
    "stamps": _read_stamps,
    "dates with names": _read_dates_with_names,
}
