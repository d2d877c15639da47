"""A run as it was earlier."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.model.replay import (
    REPLAYED,
    can_replay,
    film,
    find_moment,
    list_moments,
    rewind,
)
from tests.app.small_runs import begin, small_corpus, small_spec


@pytest.fixture(scope="module")
def told():
    """What a page was told after each of ten mini-batches, and at the end."""
    spec, corpus = small_spec(), small_corpus()
    record = begin(spec, corpus)
    states = []
    while not record.is_over:
        record.advance()
        states.append(record.progress(len(states)))
    return states


@pytest.mark.parametrize("step", range(9))
def test_a_rewound_run_shows_what_the_page_showed_at_that_step(told, step):
    then, again = told[step], rewind(told[-1], told[step].documents_seen)
    assert again.status == REPLAYED
    for name in ("documents_seen", "date", "phase", "planned_columns"):
        assert getattr(again, name) == getattr(then, name)
    for name in ("steps", "heldout", "next_batch"):
        assert [column.tolist() for column in getattr(again, name).columns.values()] == [
            column.tolist() for column in getattr(then, name).columns.values()
        ]
    assert again.columns == then.columns
    assert again.now is (then.columns[-1] if then.columns else None)


def test_between_two_steps_the_earlier_one_is_shown_and_before_the_first_one_that(told):
    end = told[-1]
    assert [find_moment(end, seen) for seen in (0, 10, 19, 20, 100, 1_000, None)] == [
        0,
        0,
        0,
        1,
        9,
        9,
        9,
    ]
    assert rewind(end, 19).documents_seen == 10


def test_a_run_that_learns_and_the_last_step_are_not_rewound(told):
    end, running = told[-1], replace(told[5], status="running")
    assert rewind(end, None) is end
    assert rewind(end, 100) is end
    assert not can_replay(running)
    assert rewind(running, 10) is running


def test_a_film_goes_through_all_steps_in_order_and_ends_with_the_run(told):
    end = told[-1]
    shown = list(film(end, 19))
    seen = [each.documents_seen for each in shown]
    assert seen == sorted(seen)
    assert set(seen) == set(list_moments(end).tolist())
    assert shown[-1] is end
    assert np.isin(seen[0], list_moments(end))
