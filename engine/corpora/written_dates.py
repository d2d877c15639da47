"""Read dates that are written in words, or are not exact: "c. 1850", "28. Oktober 2008", "Q3 1998".

Each cell has one meaning only, so they may be mixed with others. No library reads them with the
precision that they have: dateutil and dateparser fill in the day and month of today.
"""

import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from functools import lru_cache

import numpy as np

# The names of the months in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish,
# Danish, Norwegian, Romanian, Catalan, Hungarian, Finnish, Turkish, Czech, Polish, Greek, Russian,
# Ukrainian and Arabic, without accents.
MONTH_NAMES = (
    "january januar janner janvier enero gennaio janeiro januari ianuarie gener tammikuuta ocak"
    " ledna leden stycznia styczen ιανουαριου ιανουαριος января январь січня січень يناير",
    "february februar feber fevrier febrero febbraio fevereiro februari februarie febrer"
    " helmikuuta subat unora unor lutego luty φεβρουαριου φεβρουαριος февраля февраль лютого"
    " лютии فبراير شباط",
    "march mar marz maerz mrz mars marzo marco maart marts mrt martie marcius maaliskuuta mart"
    " brezna brezen marca marzec μαρτιου μαρτιος марта март березня березень مارس اذار",
    "april avril abril aprile aprilie aprilis huhtikuuta nisan dubna duben kwietnia kwiecien"
    " απριλιου απριλιος апреля апрель квітня квітень ابريل نيسان",
    "may mai mayo maggio maio mei maj maig majus toukokuuta mayıs kvetna kveten maja μαιου"
    " μαιος мая маи травня травень مايو ايار",
    "june juni juin junio giugno junho iunie juny junius kesakuuta haziran cervna cerven"
    " czerwca czerwiec ιουνιου ιουνιος июня июнь червня червень يونيو حزيران",
    "july juli juillet julio luglio julho iulie juliol julius heinakuuta temmuz cervence"
    " cervenec lipca lipiec ιουλιου ιουλιος июля июль липня липень يوليو تموز",
    "august aout agosto augustus augusti agost augusztus elokuuta agustos srpna srpen sierpnia"
    " sierpien αυγουστου αυγουστος августа август серпня серпень اغسطس",
    "september septembre septiembre setiembre settembre setembro septembrie setembre szeptember"
    " syyskuuta eylul zari wrzesnia wrzesien σεπτεμβριου σεπτεμβριος сентября сентябрь вересня"
    " вересень سبتمبر ايلول",
    "october oktober octobre octubre ottobre outubro octombrie lokakuuta ekim rijna rijen"
    " pazdziernika pazdziernik οκτωβριου οκτωβριος октября октябрь жовтня жовтень اكتوبر",
    "november novembre noviembre novembro noiembrie marraskuuta kasım listopadu listopad"
    " listopada νοεμβριου νοεμβριος ноября ноябрь листопада листопад نوفمبر",
    "december dezember decembre diciembre dicembre dezembro desember decembrie desembre"
    " joulukuuta aralık prosince prosinec grudnia grudzien δεκεμβριου δεκεμβριος декабря декабрь"
    " грудня грудень ديسمبر",
)
# Spring is March, and winter is January, or December before the second year of "1998-99".
SEASONS = {
    3: "spring fruhling fruhjahr printemps primavera lente voorjaar var",
    6: "summer sommer ete verano estate verao zomer sommar",
    9: "autumn fall herbst automne otono autunno outono herfst host",
    1: "winter hiver invierno inverno vinter",
}
SEASON_MONTHS = {name: month for month, names in SEASONS.items() for name in names.split()}
NOISE = re.compile(
    r"^(?:(?:ca?|circa|cca|about|around|approx(?:imately)?|probably|possibly|before|after|by|early"
    r"|mid|late|um|etwa|vor|nach|vers|environ|env|avant|apres|hacia|verso|rond|omkring|on|the|am"
    r"|den|der|le|el|il|a ?d|anno domini|post|ante|[nos] [adj]|\d{4},? (?:i ?e|recte)"
    r"|公元|西元|西暦|printed|published|written|dated|copyright"
    r"|annees|anos|anni|jahre)"
    r"(?![^\W\d_])[. ,-]*)+"
)
# "Year" or "of our era" after a year.
YEAR_SIGN = re.compile(r"(?<=\d) ?(?:г|года|р|року|r|roku|a ?d|c ?e|n chr|d c|ap j -?c|ff)$")
# Digits that are not known, in catalogues: "188-?", "18uu".
UNKNOWN = re.compile(r"(?<![\d-])(1\d|20)(\d[-?ux_]|[-?ux_]{2})(?![\w-])")
ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th|er|re|eme|[eoa]|\.|°)(?=[ ,/-]|$)")
YEAR = r"(?P<year>1\d{3}|20\d\d|2100)"
SMALL = r"(?P<month>0?[1-9]|1[0-2])"
WORD = r"(?P<name>[^\W\d_]{3,})"
DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
SHORT = r"(?P<short>\d\d)"
QUARTER = r"(?P<quarter>[1-4])"
HALF = r"(?P<half>[12])"
PART = rf"(?:[qt]{QUARTER}|[hs]{HALF})"
WEEK = r"(?P<week>\d\d?)"
# Years before the first of an era of Japan, or of the Republic of China.
ERAS = {
    "明治": 1867,
    "大正": 1911,
    "昭和": 1925,
    "平成": 1988,
    "令和": 2018,
    "民國": 1911,
    "民国": 1911,
}
# A month in Roman numerals, and the last day of several.
ROMAN = r"(?P<name>x?i{1,3}|i?[vx]|vi{1,3})"
DAYS = rf"{DAY}(?: ?[-/&] ?\d\d?)?"
WEEKDAY_AFTER = r"(?:[ ,.]+[^\W\d_]{2,})?"
WEEKDAY = r"(?:[^\W\d_]{2,}(?:-[^\W\d_]+)?[ ,]+(?:den )?)?"
OF = r"[ ,./-]+(?:(?:de|del|do|of|d|du|i) |d')?"
UNTIL = r"(?: ?[-/] ?| to | or | and | bis | a | und )(?P<last>\d{2}|\d{4})"
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        YEAR,
        rf"{YEAR}(?:'?s|er|-?ies|-e)(?: jahre)?",
        rf"{YEAR}[-./ m]{SMALL}",
        rf"{YEAR}[-./_]{SMALL}[-./_]{DAY}(?:z|[+-]\d\d:\d\d| ?/ ?[\d-]+)?",
        rf"{SMALL}[-./ ]{YEAR}",
        rf"(?:between |from |zwischen |entre )?{YEAR}{UNTIL}",
        rf"{YEAR}[ /-]?{PART}",
        rf"{PART}[ ,/-]*{YEAR}",
        rf"(?:{QUARTER}[ -]?(?:quarter|quartal|qtr|q|trimestre|trim|kwartaal|kvartal)"
        rf"|{HALF}[ -]?(?:half|halbjahr|h|hj|semester|semestre|sem))"
        rf"(?: of| de| du| del)?[ ,/-]*{YEAR}",
        rf"{YEAR}[ -]?w{WEEK}(?:-?(?P<weekday>[1-7]))?",
        rf"(?:w|wk|week|kw|woche|semaine|semana|settimana) ?{WEEK}[ ,/-]*(?:of )?{YEAR}",
        rf"(?P<era>{'|'.join(ERAS)}) ?(?P<short>\d{{1,3}}|元) ?年 ?(?:{SMALL} ?月 ?)?"
        r"(?:(?P<day>[1-9]|[12]\d|3[01]) ?日 ?[^\W\d_]*)?",
        rf"{YEAR} ?[年년] ?(?:{SMALL} ?[月월] ?)?(?:{DAY} ?[日일] ?[^\W\d_]*)?",
        rf"{WEEKDAY}{DAYS}{OF}{WORD}{OF}{YEAR}{WEEKDAY_AFTER}",
        rf"{WEEKDAY}{WORD} {DAYS}[ ,]+{YEAR}{WEEKDAY_AFTER}",
        rf"{YEAR}[ .,-]+{WORD}(?:[ -]+{DAY}(?:[ .,]+[^\W\d_]+)?)?",
        rf"{WORD}(?:[-/ ]+[^\W\d_]{{3,}})?{OF}{YEAR}(?:[-/](?P<last>\d{{2,4}}))?",
        rf"{DAY}[ -]+{WORD}[ -]+'?{SHORT}",
        rf"{WORD}[ -]+'?{SHORT}",
        rf"{DAY}{WORD}{YEAR}",
        rf"{DAY}[ ./-]+{ROMAN}[ ./-]+{YEAR}",
        # With dots the day comes first.
        rf"{DAY}\.{SMALL}[. ]{YEAR}",
    )
)
# A time after the year, and what is written with it.
TIME = re.compile(
    r"(?:(?<=[12]\d{3})|(?<=^[12]\d{3}[-/.]\d\d[-/.]\d\d)|(?<=日))"
    r"\D{1,12}\d{1,2}[:h]\d\d(?::\d\d(?:[.,]\d+)?)?\D*$"
)


def _list_months() -> dict[str, int]:
    """The months by name, and by those beginnings of three letters and more that are certain."""
    found: dict[str, set[int]] = {}
    for month, names in enumerate(MONTH_NAMES, 1):
        for name in names.casefold().split():
            for length in range(3, len(name) + 1):
                found.setdefault(name[:length], set()).add(month)
    exact = {
        name: month
        for month, names in enumerate(MONTH_NAMES, 1)
        for name in names.casefold().split()
    }
    return {name: min(months) for name, months in found.items() if len(months) == 1} | exact


ROMANS = "i ii iii iv v vi vii viii ix x xi xii"
MONTHS = _list_months() | {name: month for month, name in enumerate(ROMANS.split(), 1)}


def read_written(cells: Iterable[str]) -> np.ndarray:
    """Read dates (D,) in years, months or days, as the most exact cell needs; NaT for others.

    >>> read_written(["c. 1850", "[1851?]", "1860s"]).astype(str).tolist()
    ['1850', '1851', '1860']
    >>> read_written(["Q3 1998", "Spring 1999", "06/1863"]).astype(str).tolist()
    ['1998-07', '1999-03', '1863-06']
    >>> read_written(["1st March 1850", "28. Oktober 2008", "soon"]).astype(str).tolist()
    ['1850-03-01', '2008-10-28', 'NaT']
    """
    found = [_read_cell(cell) for cell in cells]
    unit = {4: "Y", 7: "M", 10: "D"}[max((len(date) for date in found if date != "NaT"), default=4)]
    return np.array(found, f"datetime64[{unit}]")


def plain_letters(text: str) -> str:
    """Lower-case letters without accents."""
    lower = text.casefold()
    if lower.isascii():
        return lower
    parts = unicodedata.normalize("NFKD", lower)
    return unicodedata.normalize(
        "NFC", "".join(sign for sign in parts if not unicodedata.combining(sign))
    )


@lru_cache(100_000)
def _read_cell(cell: str) -> str:
    """The date of a cell as in ISO 8601; "NaT" if it is none."""
    plain = plain_letters(cell[:80]).strip()
    if not plain.isascii():
        plain = re.sub(r"[‐-―−]", "-", plain).replace("’", "'")
    # A year before our era.
    if plain[:1] == "-" and plain[1:2].isdigit():
        return "NaT"
    plain = UNKNOWN.sub(lambda found: found[1] + re.sub(r"\D", "0", found[2]), plain)
    if "-00" in plain:
        plain = re.sub(r"(?:-00){1,2}(?![\d-])", "", plain)
    plain = " ".join(re.sub(r"[\[\](){}<>?~*©]|(?<=[^\W\d_])\.", " ", plain).split())
    if ":" in plain or "h" in plain:
        plain = TIME.sub("", plain)
    plain = NOISE.sub("", plain).strip(" .,;:-")
    plain = YEAR_SIGN.sub("", plain)
    plain = ORDINAL.sub(r"\1", plain).replace(" ,", ",")
    for pattern in PATTERNS:
        if (found := pattern.fullmatch(plain)) and (written := _write(found.groupdict())):
            return written
    return "NaT"


def _write(found: dict[str, str | None]) -> str:
    """The date of a match; "" if it is none after all."""
    if era := found.get("era"):
        year = ERAS[era] + int((found["short"] or "").replace("元", "1"))
    else:
        year = int(found.get("year") or _complete(found.get("short") or "00"))
    if week := found.get("week"):
        with suppress(ValueError):
            return str(date.fromisocalendar(year, int(week), int(found.get("weekday") or 1)))
        return ""
    month = int(found.get("month") or 0)
    if quarter := found.get("quarter"):
        month = 3 * int(quarter) - 2
    if half := found.get("half"):
        month = 6 * int(half) - 5
    if name := found.get("name"):
        month = MONTHS.get(name) or SEASON_MONTHS.get(name, 0)
        if not month:
            return ""
    if last := found.get("last"):
        if (int(last) - (year if len(last) == 4 else year % 100)) % 100 > 60:
            return ""
        month = 12 if found.get("name") in SEASONS[1].split() else month
    if not month:
        return f"{year}"
    if not found.get("day"):
        return f"{year}-{month:02d}"
    with suppress(ValueError):
        return str(date(year, month, int(found["day"] or 0)))
    return ""


def _complete(short: str) -> int:
    """The year of the last hundred that ends in two digits."""
    this_year = int(str(np.datetime64("today", "Y")))
    year = this_year - this_year % 100 + int(short)
    return year if year <= this_year else year - 100
