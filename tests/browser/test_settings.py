"""Sliders, presets and the advanced form."""

import pytest
from playwright.sync_api import expect

from engine.schedules import learning_rate

pytestmark = pytest.mark.browser

CHANGES = {
    "forgetting_rate": ("ArrowRight", "κ 0.6 → 0.61"),
    "delay": ("ArrowLeft", "τ₀ 64 → 32"),
    "batch_size": ("ArrowRight", "S 256 → 512"),
}


def read_setting(dashboard, name: str) -> float:
    return float(dashboard.slider(name).get_attribute("aria-valuetext").replace(",", ""))


def expect_obeyed(dashboard) -> None:
    """Take a step and compare its size and its rate with what the sliders say."""
    seen = dashboard.num_seen()
    delay, forgetting_rate, size = (read_setting(dashboard, n) for n in ("delay", "forgetting_rate", "batch_size"))
    dashboard.step()
    assert dashboard.num_seen() - seen == size
    rates = [learning_rate(step, delay, forgetting_rate) for step in (2, 3, 4, 5, 6)]
    said = dashboard.page.get_by_text("Learning rate ρ: ")
    assert said.count() == 0  # Titles are drawn on a canvas, so the sketch's words are read.
    assert any(f"ρ = {rate:.4f}" in dashboard.sketch.inner_text() for rate in rates)


@pytest.mark.parametrize("name", CHANGES)
def test_a_slider_moved_by_key_acts_on_the_next_mini_batch_and_marks_every_curve(dashboard, name):
    key, text = CHANGES[name]
    dashboard.pause()
    dashboard.press_key(name, key)
    dashboard.expect_marks(text)
    expect_obeyed(dashboard)


@pytest.mark.parametrize(("name", "share"), [("forgetting_rate", 0.9), ("delay", 0.2), ("batch_size", 0.2)])
def test_a_slider_moved_by_mouse_acts_on_the_next_mini_batch_and_marks_every_curve(dashboard, name, share):
    dashboard.pause()
    before = dashboard.slider(name).get_attribute("aria-valuetext")
    dashboard.click_slider(name, share)
    expect(dashboard.slider(name)).not_to_have_attribute("aria-valuetext", before)
    symbol = CHANGES[name][1].split()[0]
    dashboard.expect_marks(f"{symbol} {float(before):g} → {read_setting(dashboard, name):g}")
    expect_obeyed(dashboard)


def test_a_preset_moves_all_three_sliders_and_acts(dashboard):
    dashboard.pause()
    dashboard.page.get_by_role("button", name="SVI 2013").click()
    dashboard.expect_marks("κ 0.6 → 0.9, τ₀ 64 → 1, S 256 → 500")
    assert [read_setting(dashboard, name) for name in CHANGES] == [0.9, 1, 500]
    expect_obeyed(dashboard)


def test_settings_that_cannot_learn_are_warned_of_before_the_start(dashboard):
    dashboard.pause()
    dashboard.press_key("batch_size", "End")
    expect(dashboard.page.get_by_text("S or τ₀, or take more passes").first).to_be_visible()


def test_an_advanced_setting_acts_on_restart_and_a_wrong_one_says_why(dashboard):
    page = dashboard.page
    dashboard.pause()
    page.get_by_role("button", name="Advanced settings").click()
    expect(page.get_by_text("These act on restart, not on the run you see.")).to_be_visible()
    field = page.get_by_label("Most topics K")
    field.fill("0")
    field.press("Tab")
    dashboard.button("Restart with these").click()
    expect(page.get_by_text("max_topics").first).to_be_visible()
    expect(page.get_by_text("The run was not restarted").first).to_be_visible()
    dashboard.expect_state("Paused")
    field.fill("40")
    field.press("Tab")
    dashboard.button("Restart with these").click()
    dashboard.expect_state("Running")
    expect(page.get_by_text("K 40, start warm")).to_be_visible()
