"""The forecast of a run without its last change, beside the run."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.app.model.progress import FORECAST
from stickbreaker.app.model.record import Record
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.forecaster import Forecaster
from stickbreaker.app.views.curves import legend_html
from stickbreaker.engine import prepare
from tests.app.small_runs import learn, small_corpus, small_spec

CHANGED = {"forgetting_rate": 1.0, "delay": 1.0}
AT = 4


@pytest.fixture
def forecaster():
    forecaster = Forecaster(lambda: None, CpuQueue(2))
    yield forecaster
    forecaster.close()
    forecaster.join()


def begin(num_steps):
    """A run of the small corpus after this many mini-batches."""
    spec = small_spec(duplicates="merge")
    record = Record(spec, 1, lambda: 0.0)
    record.open(small_corpus(), prepare(spec.algorithm, spec.config, small_corpus(), spec.settings))
    for _ in range(num_steps):
        record.advance()
    return record


def change(record):
    """Change settings of a run and let it learn to its end."""
    record.change(replace(record.spec, config=replace(record.spec.config, **CHANGED)))
    while not record.is_over:
        record.advance()
    return record.progress(1).heldout["nats_per_word"]


def test_a_forecast_is_the_run_without_the_change_and_does_not_touch_the_run(forecaster):
    record = begin(AT)
    forecaster.start(record)
    beside = change(record)
    forecaster.join()
    (forecast,) = forecaster.forecast
    unchanged = learn(small_corpus(), begin(0).spec).progress(1)
    assert forecast.status == FORECAST
    for name in ("steps", "heldout"):
        for column in ("documents_seen", "num_topics", "nats_per_word"):
            if column in getattr(unchanged, name).columns:
                np.testing.assert_array_equal(
                    getattr(forecast, name)[column], getattr(unchanged, name)[column]
                )
    np.testing.assert_array_equal(beside, change(begin(AT)))
    assert (beside[AT:] != forecast.heldout["nats_per_word"][AT:]).any()
    legend = legend_html(record.progress(1), (forecast,), "documents")
    assert "Without the last change" in legend
    assert f"{-forecast.heldout['nats_per_word'][-1]:.3f} at the end" in legend
    assert "Earlier runs" not in legend


def test_a_second_change_before_the_next_mini_batch_keeps_the_forecast(forecaster):
    record = begin(AT)
    forecaster.start(record)
    forecaster.join()
    first = forecaster.forecast
    forecaster.start(record)
    assert forecaster.forecast is first
    record.advance()
    forecaster.start(record)
    forecaster.join()
    assert forecaster.forecast[0] is not first[0]


def test_another_run_ends_the_forecast_and_a_run_without_a_mini_batch_has_none(forecaster):
    forecaster.start(begin(AT))
    forecaster.join()
    forecaster.start(None)
    assert forecaster.forecast == ()
    forecaster.start(begin(0))
    forecaster.join()
    assert forecaster.forecast == ()
