"""The replay as a GIF."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from stickbreaker.app.export.film import (
    LAST_SECONDS,
    SIZE,
    draw_moment,
    list_cells,
    name_columns,
    write_film,
)
from stickbreaker.app.model.progress import HELDOUT_COLUMNS, Curve
from stickbreaker.app.model.replay import rewind
from tests.app.views.test_views import progress

RUN = progress(9, status="finished")


def test_a_film_lasts_its_seconds_and_ends_with_the_finished_run(tmp_path):
    path = tmp_path / "run.gif"
    write_film(path, RUN, seconds=9.0)
    with Image.open(path) as film:
        milliseconds, last = 0, film.n_frames - 1
        for frame in range(film.n_frames):
            film.seek(frame)
            milliseconds += film.info["duration"]
        assert film.size == SIZE
        assert film.info["loop"] == 0
        shown = np.asarray(film.convert("RGB"), float)
    assert milliseconds == pytest.approx(1000 * (9.0 + LAST_SECONDS), abs=10 * (last + 1))
    drawn = np.asarray(draw_moment(RUN, RUN, (0, 1)), float)
    assert np.abs(shown - drawn).mean() < 3


def test_the_words_of_a_moment_are_those_of_the_columns_until_then():
    moment = rewind(RUN, 600)
    cells = list_cells(moment, 0)
    assert {cell.column for cell in cells} == {0, 1}
    words = [cell.word for cell in cells if cell.column == 1]
    assert words == [RUN.vocabulary[word] for word in RUN.columns[1].find_words(True)[0]]
    before = {cell.word: cell.rank for cell in cells if cell.column == 0}
    assert all(cell.before == before.get(cell.word) for cell in cells if cell.column == 1)


def test_moments_differ_and_a_moment_is_always_drawn_the_same():
    first, second = (np.asarray(draw_moment(rewind(RUN, seen), RUN, (0, 1))) for seen in (300, 600))
    assert (first != second).any()
    assert (first == np.asarray(draw_moment(rewind(RUN, 300), RUN, (0, 1)))).all()


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        (replace(RUN, status="running"), "pause the run"),
        (replace(RUN, columns=()), "before its first column"),
    ],
)
def test_a_run_without_a_replay_says_why(tmp_path, run, fault):
    with pytest.raises(ValueError, match=fault):
        write_film(tmp_path / "run.gif", run)


def test_a_run_without_dates_and_scores_has_a_film_too(tmp_path):
    write_film(tmp_path / "run.gif", replace(RUN, date=None, heldout=Curve.build(HELDOUT_COLUMNS)))
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames > len(RUN.columns)


@pytest.mark.parametrize(
    ("dates", "names"),
    [
        (["1860-06-24", "1867-11-05"], ["1860-06-24", "1867-11-05"]),
        (["1860-06-24", "1867-11-05"] * 5, ["1860-06", "1867-11"] * 5),
        (["1860", "1867"] * 10, ["1860", "1867"] * 10),
        ([None, "1867-11-05"] * 10, ["300", "1867"] * 10),
    ],
)
def test_dates_of_columns_are_as_precise_as_they_have_room_for(dates, names):
    moments = [
        replace(RUN.columns[0], date=None if date is None else np.datetime64(date))
        for date in dates
    ]
    assert name_columns(replace(RUN, columns=tuple(moments))) == names
