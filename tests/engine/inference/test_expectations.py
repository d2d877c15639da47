"""Two expectations of a document's likelihood, by the example of Wang & Blei (2012), Fig. 2."""

import numpy as np
import pytest

from stickbreaker.engine.inference.expectations import expected_log_likelihood, log_expected_likelihood


@pytest.mark.parametrize("case", ["A", "B"])
def test_in_the_example_of_figure_2_only_mean_field_assigns_case_b_to_the_wrong_component(case):
    first = np.append(0.1 if case == "A" else 1.0, np.ones(9))
    counts = np.zeros((20, 10))
    counts[:, 0] = np.arange(1, 21)
    odds = {
        each: each(counts, first) - each(counts, np.full(10, 0.1))
        for each in (log_expected_likelihood, expected_log_likelihood)
    }
    collapsed, mean_field = odds.values()
    assert (np.diff(collapsed) < 0).all()
    if case == "A":
        assert (collapsed < 0).all()
        assert (mean_field < 0).all()
    else:
        assert collapsed[0] == pytest.approx(0.0, abs=1e-12)
        assert (collapsed[1:] < 0).all()
        assert (mean_field > 0).all()
