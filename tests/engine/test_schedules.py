"""Learning rates, settings that follow the corpus, and forecasts."""

import numpy as np
import pytest

from stickbreaker.engine.algorithms.hdp import ALGORITHM as HDP
from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.schedules import (
    EARLIER_WEIGHT,
    TOO_MUCH_LEFT,
    forecast,
    learning_rate,
    num_batches,
    planned_rates,
    resolve,
    startup_share,
    sum_rates,
)

EXTREMES = [(delay, kappa) for delay in (0.0, 64.0, 1024.0) for kappa in (0.5, 0.6, 1.0)]


@pytest.mark.parametrize(("delay", "kappa"), EXTREMES)
def test_rates_are_between_0_and_1_and_fall(delay, kappa):
    rates = learning_rate(np.arange(1, 5000), delay, kappa)
    assert ((rates > 0) & (rates <= 1)).all()
    assert (np.diff(rates) < 0).all()


@pytest.mark.parametrize("delay", [1, 64])
def test_with_kappa_1_the_start_up_share_after_n_steps_is_delay_over_delay_plus_n(delay):
    for n in (1, 10, 1000):
        assert startup_share(n, delay, 1.0) == pytest.approx(delay / (delay + n), rel=1e-12)


def test_less_than_a_tenth_of_the_start_up_mass_is_left_after_a_default_pass_of_state_of_the_union(
    state_of_the_union,
):
    num_train = state_of_the_union.num_documents - 1000
    config = resolve(HDPConfig(), num_train)
    steps = num_batches(num_train, config.batch_size)
    assert steps == 37
    assert startup_share(steps, config.delay, config.forgetting_rate) < TOO_MUCH_LEFT == 0.1


@pytest.mark.parametrize("batch_size", [1, 16, 256, 4096])
@pytest.mark.parametrize(("delay", "kappa"), EXTREMES)
def test_the_forecast_agrees_with_steps_taken_one_by_one(delay, kappa, batch_size):
    config = HDPConfig(delay=delay, forgetting_rate=kappa, batch_size=batch_size)
    spent, share, number = 0.0, 1.0, num_batches(5000, batch_size)
    for step in range(1, number + 1):
        before, rate = spent, learning_rate(step, delay, kappa)
        spent, share = spent + rate, share * (1 - rate)
    found = forecast(HDP, config, 5000, passes=1)
    assert found.num_steps == number
    assert found.startup_share == pytest.approx(share, rel=1e-9, abs=1e-300)
    assert sum_rates(number, delay, kappa) == pytest.approx(spent, rel=1e-9)
    assert found.leaves_warm_up == (before >= 0.75 * spent)


def test_the_documents_of_a_later_pass_weigh_the_same_at_its_end():
    config = HDPConfig(batch_size=300, delay=2.0)
    rates = planned_rates(HDP, config, 1000, np.arange(1, 9))
    weights = rates * np.append(np.cumprod(1 - rates[::-1])[-2::-1], 1.0)
    of_a_document = weights[4:] / np.array([300, 300, 300, 100])
    np.testing.assert_allclose(of_a_document, of_a_document[0])
    assert weights[4:].sum() == pytest.approx(1 / (1 + EARLIER_WEIGHT))


@pytest.mark.parametrize("changes", [{"later_passes": "forget"}, {"start": "wang"}])
def test_without_averages_the_rate_goes_on_falling_in_later_passes(changes):
    config = HDPConfig(batch_size=300, delay=2.0, **changes)
    rates = planned_rates(HDP, config, 1000, np.arange(1, 9))
    assert rates.tolist() == learning_rate(np.arange(1, 9), 2.0, config.forgetting_rate).tolist()


def test_the_forecast_for_too_few_mini_batches_is_that_a_run_learns_too_little():
    assert forecast(HDP, HDPConfig(batch_size=4096), 10_000, passes=1).is_too_little
    assert not forecast(HDP, HDPConfig(), 9400, passes=1).is_too_little


@pytest.mark.parametrize(
    ("corpus_size", "batch_size", "delay"),
    [(1, 1, 0), (500, 32, 8), (1800, 113, 8), (9384, 256, 18), (10**6, 15625, 32)],
)
def test_settings_left_to_the_corpus_follow_its_size(corpus_size, batch_size, delay):
    resolved = resolve(HDPConfig(), corpus_size)
    assert (resolved.batch_size, resolved.delay) == (batch_size, delay)
    assert not forecast(HDP, HDPConfig(), corpus_size, passes=1).is_too_little or corpus_size < 500
    chosen = HDPConfig(max_topics=20, batch_size=7, delay=3.0)
    assert resolve(chosen, corpus_size, 10**9) == chosen


@pytest.mark.parametrize(
    ("num_tokens", "max_topics"), [(0, 150), (750_000, 150), (1_000_000, 200), (10**9, 300)]
)
def test_the_number_of_topics_follows_the_tokens_of_the_corpus(num_tokens, max_topics):
    assert resolve(HDPConfig(), 9384, num_tokens).max_topics == max_topics
