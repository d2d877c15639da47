"""Read dates from the names of the files of a folder, with one meaning for all of them."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

FIRST_YEAR = 1000
# Numbers below are years only if nothing else can be.
LIKELY_FROM = 1700
# A number with up to two shorter ones: 1863-12-08, 1863_12, 1863.
NUMBERS = re.compile(r"(?<!\d)(\d+)(?:([-_.])(\d\d)(?:\2(\d\d))?)?(?!\d)")
# Of the files with a number in a place, those in which it must be a year.
LEAST_SHARE = 0.8


class _Token(NamedTuple):
    """A number in a name: its year, or None, and the one or two numbers that follow."""

    number: int
    year: int | None
    parts: tuple[int, ...]


def find_name_dates(names: Sequence[str]) -> tuple[list[str], str]:
    """Return the date of each name, "" if it has none, and a note on what was read.

    Numbers are months and days only if that holds for all names, and numbers that count up are no
    years.

    >>> find_name_dates(["letter_1959_01.txt", "letter_1959_13.txt"])[0]
    ['1959', '1959']
    >>> find_name_dates(["1500_Smith_1950.txt", "1501_Jones_1948.txt"])[0]
    ['1950', '1948']
    """
    found = [_find_tokens(name) for name in names]
    places = [place for place in _list_places(found) if _is_year(found, place)]
    if not places:
        return [""] * len(names), ""
    chosen = max(places, key=lambda place: _score(found, place))
    tokens = [_take(tokens, chosen) for tokens in found]
    num_parts = _count_parts([token for token in tokens if token and token.year is not None])
    dates = [_write(token, num_parts) for token in tokens]
    read = next(place for place, date in enumerate(dates) if date)
    kind = ("a year", "a month", "a day")[num_parts]
    note = (
        f"Dates are read from the file names: {dates[read]}, {kind}, in {names[read]}. Choose no"
        " date column if that is wrong."
    )
    return dates, note


def _find_tokens(name: str) -> list[_Token]:
    tokens = []
    for match in NUMBERS.finditer(name):
        digits = match[1][-18:]
        parts = tuple(int(part) for part in match.groups()[2:] if part)
        if len(match[1]) in (6, 8) and not parts:
            parts = tuple(int(digits[at : at + 2]) for at in range(4, len(digits), 2))
            tokens.append(_Token(int(digits), _as_year(int(digits[:4])), parts))
            if _are_months([parts]):
                continue
            tokens[-1] = tokens[-1]._replace(year=None, parts=())
        else:
            year = _as_year(int(digits)) if len(match[1]) == 4 else None
            tokens.append(_Token(int(digits), year, parts))
    return tokens


def _as_year(number: int) -> int | None:
    return number if FIRST_YEAR <= number <= datetime.now(UTC).year + 1 else None


def _list_places(found: Sequence[list[_Token]]) -> Iterator[int]:
    """Places of numbers from the left, and from the right."""
    most = max(map(len, found), default=0)
    yield from (*range(most), *range(-1, -most - 1, -1))


def _take(tokens: list[_Token], place: int) -> _Token | None:
    return tokens[place] if -len(tokens) <= place < len(tokens) else None


def _at(found: Sequence[list[_Token]], place: int) -> list[_Token]:
    taken = (_take(tokens, place) for tokens in found)
    return [token for token in taken if token is not None]


def _is_year(found: Sequence[list[_Token]], place: int) -> bool:
    """Whether the number in a place is a year in nearly all names, and does not count up from or
    to what is no year.
    """
    tokens = _at(found, place)
    years = [token for token in tokens if token.year is not None]
    if len(years) < LEAST_SHARE * len(tokens) or not years:
        return False
    return not (_counts_up(tokens) and min(token.number for token in tokens) < 1400) and not (
        _counts_up(tokens) and len(years) < len(tokens)
    )


def _counts_up(tokens: Sequence[_Token]) -> bool:
    """Whether the numbers of three files or more are different, and nearly all of a range."""
    numbers = {token.number for token in tokens}
    return len(tokens) == len(numbers) > 2 and max(numbers) - min(numbers) < 1.1 * len(numbers)


def _score(found: Sequence[list[_Token]], place: int) -> tuple[bool, bool, int, int]:
    """The better of two places with years: likely years, that do not count up, in most names."""
    tokens = _at(found, place)
    years = [token.year for token in tokens if token.year is not None]
    return (
        min(years) >= LIKELY_FROM,
        not _counts_up(tokens),
        len(years),
        -place if place >= 0 else place - 100,
    )


def _are_months(parts: Sequence[tuple[int, ...]]) -> bool:
    return all(
        (not each or 1 <= each[0] <= 12) and (len(each) < 2 or 1 <= each[1] <= 31) for each in parts
    )


def _count_parts(tokens: Sequence[_Token]) -> int:
    """How many numbers after the year are a month and a day in all names; seasons (2009-10) are
    none.
    """
    given = [token.parts for token in tokens if token.parts]
    if not _are_months(given):
        return 0
    is_season = [
        len(token.parts) == 1 and token.parts[0] == ((token.year or 0) + 1) % 100
        for token in tokens
        if token.parts
    ]
    if len(is_season) > 1 and all(is_season) and len({token.year for token in tokens}) > 1:
        return 0
    return max(map(len, given), default=0)


def _write(token: _Token | None, num_parts: int) -> str:
    if token is None or token.year is None:
        return ""
    return "-".join([f"{token.year}", *(f"{part:02d}" for part in token.parts[:num_parts])])
