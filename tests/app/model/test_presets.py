"""The presets of the papers."""

from dataclasses import replace

from stickbreaker.app.model.presets import COMPLETE_PRESETS
from tests.app.small_runs import HDP, small_spec


def test_a_run_is_named_by_its_complete_preset_and_by_what_differs():
    printed = COMPLETE_PRESETS[1]
    config = HDP.config(**printed.settings)

    def name(**changes):
        return replace(small_spec(), config=replace(config, **changes)).label()

    assert name() == f"{printed.label}, κ 0.6, τ₀ 64, S 256, K 150"
    assert name(forgetting_rate=0.9) == f"{printed.label}, κ 0.9, τ₀ 64, S 256, K 150"
    assert name(doc_concentration=2.0).startswith("Online HDP, κ 0.6")
    assert name(precision="float64").endswith("K 150, precision float64")
