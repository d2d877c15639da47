"""Dates as people write them: what each form means, and what is said about it."""

import numpy as np
import pytest

from stickbreaker.engine.corpora.dates import explain_form, find_form, read_dates

FORMS = [
    # Numbers of spreadsheets and clocks.
    (["43831", "44197", "20000.5"], ["2020-01-01", "2021-01-01", "1954-10-03"]),
    (["946684800", "1577836800"], ["2000-01-01", "2020-01-01"]),
    (["946684800.5", "-1577923200.0"], ["2000-01-01", "1920-01-01"]),
    (["1577836800000", "946684800000"], ["2020-01-01", "2000-01-01"]),
    (["1577836800000000", "1577923200000000"], ["2020-01-01", "2020-01-02"]),
    (["1577836800000000000", "1577923200000000000"], ["2020-01-01", "2020-01-02"]),
    (["1.5778368e+09", "1.5779232e+09"], ["2020-01-01", "2020-01-02"]),
    (["20200131", "20201231"], ["2020-01-31", "2020-12-31"]),
    (["201901", "186312"], ["2019-01", "1863-12"]),
    # Messages.
    (
        ["Wed Oct 10 20:19:24 +0000 2018", "Thu Jan 01 00:00:00 +0100 2015"],
        ["2018-10-10", "2015-01-01"],
    ),
    (
        ["Tue, 8 Sep 2020 23:59:00 -0800", "Wed, 9 Sep 2020 00:01:00 +0200 (CEST)"],
        ["2020-09-08", "2020-09-09"],
    ),
    (["2000-01-01T00:00:00+01:00", "2000-07-01 00:30:00 Z"], ["2000-01-01", "2000-07-01"]),
    (["2000-01-01 00:00:00 UTC", "2000-07-01 00:00:00.000+0200"], ["2000-01-01", "2000-07-01"]),
    # Parts of years.
    (["2019Q1", "2019Q4"], ["2019-01", "2019-10"]),
    (["Q1 2019", "Q3/2020"], ["2019-01", "2020-07"]),
    (["1. Quartal 2019", "2. Quartal 2019"], ["2019-01", "2019-04"]),
    (["T1 2019", "3e trimestre 2019"], ["2019-01", "2019-07"]),
    (["06/1863", "12/1864"], ["1863-06", "1864-12"]),
    (["1863/06", "1863.12"], ["1863-06", "1863-12"]),
    (["Spring 1998", "Herbst 1999"], ["1998-03", "1999-09"]),
    (["Winter 1998/99", "Winter 2000"], ["1998-12", "2000-01"]),
    (["May-June 1863", "Dec. 1863"], ["1863-05", "1863-12"]),
    (["1863-64", "1864-65"], ["1863", "1864"]),
    (["2008-09", "2009-10", "2010-11"], ["2008", "2009", "2010"]),
    (["1863/64", "1870–1871", "1880 to 1882"], ["1863", "1870", "1880"]),
    # Not exact.
    (["1850s", "1860's", "1870er"], ["1850", "1860", "1870"]),
    (
        ["c. 1850", "ca 1851", "circa 1852", "um 1853", "vers 1854", "c1855"],
        ["1850", "1851", "1852", "1853", "1854", "1855"],
    ),
    (
        ["[1850]", "[1851?]", "(1852)", "1853?", "[c. 1854]"],
        ["1850", "1851", "1852", "1853", "1854"],
    ),
    # Words.
    (
        ["1st March 1850", "22nd of May 1863", "3rd June, 1863"],
        ["1850-03-01", "1863-05-22", "1863-06-03"],
    ),
    (["March 1st, 1850", "Dec. 8, 1863"], ["1850-03-01", "1863-12-08"]),
    (["Tuesday, 8 December 1863", "Freitag, 3. März 1848"], ["1863-12-08", "1848-03-03"]),
    (
        ["1er mai 1968", "3 de mayo de 2009", "12 de março de 1990"],
        ["1968-05-01", "2009-05-03", "1990-03-12"],
    ),
    (["8 декабря 1863", "3 maja 1791", "12 maj 1900"], ["1863-12-08", "1791-05-03", "1900-05-12"]),
    (["1863年12月8日", "1864年1月2日"], ["1863-12-08", "1864-01-02"]),
    (["12-Mar-99", "1-JAN-01"], ["1999-03-12", "2001-01-01"]),
    # Two-digit years are those of the last hundred.
    (["13.04.99", "01.05.12"], ["1999-04-13", "2012-05-01"]),
    (["12/31/63", "1/2/64"], ["1963-12-31", "1964-01-02"]),
    (["31/12/1863 10:30 PM", "1/2/1864 9:00 AM"], ["1863-12-31", "1864-02-01"]),
    # Mixed.
    (["1863-12-08", "c. 1850", "March 1864"], ["1863-12-08", "1850-01-01", "1864-03-01"]),
    (["1863", "1850s", "[1864]"], ["1863", "1850", "1864"]),
]


@pytest.mark.parametrize(("cells", "dates"), FORMS)
@pytest.mark.parametrize("times", [1, 30])
def test_a_form_is_read_with_the_precision_that_it_has(cells, dates, times):
    read = read_dates(cells * times)
    if np.datetime_data(read.dtype)[0] == "s":
        read = read.astype("datetime64[D]")
    assert read.astype(str).tolist() == dates * times


@pytest.mark.parametrize(
    "cells",
    [
        ["soon", "later"],
        ["", ""],
        ["12345678901234567890"],
        ["Room 12", "Room 1850"],
        ["41", "99"],
        ["peace 1863 war"],
        ["99/99/1863"],
        ["1863-13-45"],
        ["Marching 1863 4"],
    ],
)
def test_what_is_no_date_is_not_read(cells):
    assert np.isnat(read_dates(cells)).all()


@pytest.mark.parametrize("day_first", [True, False])
@pytest.mark.parametrize("sign", "/-. ")
@pytest.mark.parametrize("year", ["1963", "63"])
def test_the_order_of_day_and_month_can_be_chosen(day_first, sign, year):
    cells = [f"{day}{sign}4{sign}{year}" for day in range(1, 13)]
    form = find_form(cells, day_first)
    dates = read_dates(cells, form)
    other = [f"1963-04-{day:02d}" if day_first else f"1963-{day:02d}-04" for day in range(1, 13)]
    assert dates.astype(str).tolist() == other
    assert "set day_first" in explain_form(cells, form)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["13/4/1863"], ""),
        (["4/4/1863"], ""),
        (["1863", "1864"], ""),
        (["1863-12-08"], ""),
        (["43831"], "'43831' is read as 2020-01-01."),
        (["13.4.63"], "'13.4.63' is read as 1963-04-13."),
        (["1863", "c. 1850"], "'c. 1850' is read as 1850."),
        (["Spring 1998"], "'Spring 1998' is read as 1998-03."),
    ],
)
def test_what_is_not_certain_is_said(cells, said):
    assert explain_form(cells, find_form(cells)) == said
