"""Numbers of tables of a restaurant, against counted permutations and customers
seated one by one.
"""

import numpy as np
import pytest
from scipy.special import logsumexp

from stickbreaker.engine.kernels.tables import MOST_COUNTED, MOST_SEATED, draw_tables, log_stirling
from tests import naive_free

NUM_ERRORS = 5


def test_the_naive_twins_give_the_stirling_numbers_of_the_literature():
    # Unsigned s(5, m), m = 0..5 (Abramowitz & Stegun, table 24.3).
    known = [0, 24, 50, 35, 10, 1]
    assert [naive_free.stirling(5, m) for m in range(6)] == known
    np.testing.assert_allclose(naive_free.table_odds(5, 1.0) * 120, known[1:], rtol=1e-12)


def test_log_stirling_equals_the_count_of_permutations_by_their_cycles():
    counted = [[naive_free.stirling(n, m) for m in range(8)] for n in range(8)]
    np.testing.assert_allclose(np.exp(log_stirling(7)), counted, rtol=1e-12)


def test_log_stirling_rows_sum_to_factorials_and_never_overflow():
    logs = log_stirling(MOST_COUNTED)
    sums = np.cumsum(np.log(np.arange(1, MOST_COUNTED + 1)))
    np.testing.assert_allclose(logsumexp(logs[1:], axis=1), sums, rtol=1e-12)


@pytest.mark.parametrize("num_customers", [1, 2, 7, MOST_COUNTED, MOST_COUNTED + 5])
@pytest.mark.parametrize("concentration", [1e-6, 0.3, 20.0])
def test_draws_of_tables_have_the_distribution_of_customers_seated_one_by_one(
    num_customers, concentration
):
    rng, number = np.random.default_rng(0), 20_000
    logs = log_stirling(MOST_COUNTED)
    drawn = np.array([draw_tables(num_customers, concentration, logs, rng) for _ in range(number)])
    odds = naive_free.table_odds(num_customers, concentration)
    seen = np.bincount(drawn, minlength=num_customers + 1)[1:] / number
    assert (abs(seen - odds) <= NUM_ERRORS * np.sqrt(odds * (1 - odds) / number) + 1e-12).all()


def test_tables_of_more_customers_than_are_seated_have_the_expected_mean():
    rng, logs, num_customers = np.random.default_rng(0), log_stirling(MOST_COUNTED), 3 * MOST_SEATED
    opens = 2.0 / (2.0 + np.arange(num_customers))
    drawn = [draw_tables(num_customers, 2.0, logs, rng) for _ in range(500)]
    assert abs(np.mean(drawn) - opens.sum()) <= NUM_ERRORS * np.sqrt(
        (opens * (1 - opens)).sum() / len(drawn)
    )
