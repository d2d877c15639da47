import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreaker.app.model.history import History


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
