import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreaker.app.model.history import History
from stickbreaker.app.model.word_lists import find_top_words


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


def test_top_words_are_the_likeliest_in_order_and_as_many_as_there_are():
    topics = np.array([[0.1, 0.4, 0.2, 0.3], [0.7, 0.1, 0.15, 0.05]], dtype=np.float32)
    assert find_top_words(topics, 10).tolist() == [[1, 3, 2, 0], [0, 2, 1, 3]]
    wide = np.random.default_rng(0).random((5, 100)).astype(np.float32)
    assert (find_top_words(wide, 10) == np.argsort(-wide, axis=1)[:, :10]).all()
