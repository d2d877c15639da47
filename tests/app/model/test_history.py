import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreaker.app.model.history import History, RecentItems

GAPS = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=300)


@given(num_rows=st.integers(0, 300), max_points=st.integers(2, 20))
def test_a_history_is_bounded_in_order_and_holds_its_first_and_newest_rows(num_rows, max_points):
    history = History({"step": np.int64}, max_points)
    for step in range(num_rows):
        history.append(step)
    steps = history.curve()["step"]
    assert len(steps) <= max_points + 1
    assert (np.diff(steps) > 0).all()
    assert steps.tolist()[:1] + steps.tolist()[-1:] == ([0, num_rows - 1] if num_rows else [])


def test_a_curve_taken_from_a_history_does_not_change_with_it():
    history = History({"step": np.int64}, 4)
    history.append(1)
    curve = history.curve()
    for step in range(2, 9):
        history.append(step)
    assert curve["step"].tolist() == [1]
    with pytest.raises(ValueError, match="read-only"):
        curve["step"][0] = 5


@given(gaps=GAPS, most=st.integers(2, 20), seconds=st.floats(1.0, 1000.0))
def test_items_are_few_in_order_and_include_the_newest(gaps, most, seconds):
    items, at = RecentItems(most, seconds), 0.0
    for number, gap in enumerate(gaps):
        at += gap
        items.add(at, number)
        found = items.find()
        assert len(found) <= most + 1
        assert found[-1] == number
        assert found == sorted(set(found))


def test_items_at_even_times_reach_back_the_whole_time_at_even_distances():
    items = RecentItems(most=10, seconds=100.0)
    for second in range(1000):
        items.add(float(second), second)
    assert items.find() == [*range(900, 1000, 10), 999]


def test_rare_items_reach_back_further():
    items = RecentItems(most=5, seconds=100.0)
    for number in range(20):
        items.add(1000.0 * number, number)
    assert items.find() == [15, 16, 17, 18, 19]


def test_items_of_a_burst_give_way_to_later_ones():
    items = RecentItems(most=4, seconds=100.0)
    for number in range(100):
        items.add(number / 1000, number)
    for second in range(1, 300):
        items.add(float(second), 100 + second)
    assert min(items.find()) > 200
