"""Dates in the names of files."""

import pytest

from stickbreaker.engine.corpora.name_dates import find_name_dates

YEARS = range(1801, 1861)


@pytest.mark.parametrize(
    ("names", "dates"),
    [
        ([f"letter_1959_{n:02d}" for n in range(1, 61)], ["1959"] * 60),
        ([f"scan_{n}" for n in range(1001, 1061)], [""] * 60),
        ([f"page_{n}" for n in range(1, 1501)], [""] * 1500),
        ([f"IMG_{n:04d}" for n in range(980, 1100)], [""] * 120),
        ([f"no. {n}" for n in range(1990, 2100)], [""] * 110),
        (
            [
                f"{n}_Smith_{y}"
                for n, y in zip(
                    range(1500, 1506), (1950, 1948, 1960, 1950, 1931, 1900), strict=True
                )
            ],
            ["1950", "1948", "1960", "1950", "1931", "1900"],
        ),
        (["1500_Smith_1950"], ["1950"]),
        ([f"season {y}-{(y + 1) % 100:02d}" for y in (1998, 1999, 2009)], ["1998", "1999", "2009"]),
        (
            [f"{y}-{m:02d}" for y in (1998, 1999) for m in (1, 12)],
            ["1998-01", "1998-12", "1999-01", "1999-12"],
        ),
        ([f"speech {y}" for y in YEARS], list(map(str, YEARS))),
        (["1863-12-08 a", "1864_01_02 b"], ["1863-12-08", "1864-01-02"]),
        (["18631208", "18640102"], ["1863-12-08", "1864-01-02"]),
        (["190013", "186312"], ["", ""]),
        (["3 musketeers 1844", "Emma 1815", "notes"], ["1844", "1815", ""]),
        (["1959/letter 3", "1960/letter 4 of 7"], ["1959", "1960"]),
        (["peace", "war"], ["", ""]),
        ([], []),
    ],
)
@pytest.mark.parametrize("suffix", [".txt", ""])
def test_numbers_in_names_have_one_meaning_in_the_folder(names, dates, suffix):
    found, note = find_name_dates([f"{name}{suffix}" for name in names])
    assert found == list(dates)
    assert bool(note) == any(dates)
    assert not note or next(filter(None, dates)) in note
