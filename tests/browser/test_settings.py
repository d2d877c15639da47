"""Sliders, presets and the advanced form."""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker.engine.schedules import learning_rate

pytestmark = pytest.mark.browser

CHANGES = {
    "forgetting_rate": ("ArrowRight", "κ 0.6 → 0.61"),
    "delay": ("ArrowLeft", "τ₀ 18 → 16"),
    "batch_size": ("ArrowRight", "S 256 → 512"),
}


def read_settings(dashboard) -> dict[str, float]:
    texts = {name: dashboard.slider(name).get_attribute("aria-valuetext") for name in CHANGES}
    return {name: float(text.replace(",", "")) for name, text in texts.items()}


def rates_of(settings: dict[str, float], *steps: int) -> list[float]:
    return [learning_rate(step, settings["delay"], settings["forgetting_rate"]) for step in steps]


def expect_applied_from_the_next_step(dashboard, move) -> tuple[dict[str, float], dict[str, float]]:
    """Change a setting and take a step: earlier steps keep their rates and sizes, and the next one
    has the new ones.

    A mark is between them. Returns both settings.
    """
    old, taken, number = read_settings(dashboard), dashboard.steps(), dashboard.step_number()
    text = move()
    new = read_settings(dashboard)
    dashboard.expect_marks(
        (text or describe_change(old, new)).replace(", ", "\n"), at=dashboard.num_seen()
    )
    assert dashboard.steps() == taken
    dashboard.step()
    assert dashboard.step_number() == number + 1
    (rate,) = rates_of(new, number + 1)
    assert dashboard.steps() == [
        *taken,
        (taken[-1][0] + new["batch_size"], pytest.approx(rate, rel=1e-9)),
    ]
    assert dashboard.num_seen() == taken[-1][0] + new["batch_size"]
    expect(dashboard.sketch).to_contain_text(f"Mini-batch {number + 1} of")
    expect(dashboard.sketch).to_contain_text(f"ρ = {rate:.4f}")
    return old, new


def pause_untouched(dashboard) -> None:
    """Pause a run whose steps all have the rates and sizes of the sliders."""
    dashboard.pause()
    taken, number = dashboard.steps(), dashboard.step_number()
    rates = rates_of(read_settings(dashboard), *range(1, number + 1))
    assert [rate for _, rate in taken] == pytest.approx(rates, rel=1e-9)
    assert [seen for seen, _ in taken] == [256 * step for step in range(1, number + 1)]


def describe_change(old: dict[str, float], new: dict[str, float]) -> str:
    symbols = {name: text.split()[0] for name, (_, text) in CHANGES.items()}
    return ", ".join(
        f"{symbols[name]} {old[name]:g} → {new[name]:g}"
        for name in CHANGES
        if old[name] != new[name]
    )


def test_a_slider_moved_by_key_acts_from_exactly_the_next_mini_batch_and_marks_every_curve(
    dashboard,
):
    pause_untouched(dashboard)
    for name, (key, text) in CHANGES.items():

        def move(name=name, key=key, text=text):
            dashboard.press_key(name, key)
            return text

        old, new = expect_applied_from_the_next_step(dashboard, move)
        assert [each for each in CHANGES if old[each] != new[each]] == [name]


@pytest.mark.extended
def test_a_slider_moved_by_mouse_acts_from_exactly_the_next_mini_batch_and_marks_every_curve(
    dashboard,
):
    pause_untouched(dashboard)
    for name, share in {"forgetting_rate": 0.9, "delay": 0.2, "batch_size": 0.2}.items():

        def move(name=name, share=share):
            before = dashboard.slider(name).get_attribute("aria-valuetext")
            dashboard.click_slider(name, share)
            expect(dashboard.slider(name)).not_to_have_attribute("aria-valuetext", before)

        old, new = expect_applied_from_the_next_step(dashboard, move)
        assert [each for each in CHANGES if old[each] != new[each]] == [name]


def test_a_preset_moves_all_three_sliders_and_acts_from_the_next_mini_batch(dashboard):
    def move():
        dashboard.page.get_by_role("button", name="Hoffman 2013: κ 0.9, τ₀ 1, S 500").click()
        dashboard.expect_marks("κ 0.6 → 0.9\nτ₀ 18 → 1\nS 256 → 500")

    pause_untouched(dashboard)
    _, new = expect_applied_from_the_next_step(dashboard, move)
    assert [new[name] for name in CHANGES] == [0.9, 1, 500]


def test_the_page_warns_of_settings_that_cannot_learn(dashboard):
    dashboard.press_key("batch_size", "End")
    dashboard.press_key("delay", "End")
    # A run that has learned much before it takes these settings needs no warning.
    dashboard.button("Restart").click()
    expect(dashboard.page.get_by_text("S or τ₀, or use more passes").first).to_be_visible()


def test_an_advanced_setting_acts_on_restart_and_a_wrong_one_says_why(dashboard):
    page = dashboard.page
    dashboard.pause()
    page.get_by_role("button", name="Advanced settings").click()
    expect(page.get_by_text("Changes apply when you press Restart")).to_be_visible()
    field = page.get_by_label("Maximum topics K")
    field.fill("0")
    field.press("Tab")
    dashboard.button("Restart").click()
    expect(page.get_by_text("max_topics").first).to_be_visible()
    expect(page.get_by_text("The run was not restarted").first).to_be_visible()
    dashboard.expect_state("Paused")
    field.fill("40")
    field.press("Tab")
    dashboard.button("Restart").click()
    dashboard.expect_state("Running")
    expect(page.get_by_text("K 40")).to_be_visible()


@pytest.mark.extended
def test_compilation_for_a_new_precision_is_shown_while_the_page_stays_usable(
    compiling_address, visit
):
    dashboard = visit(at=compiling_address)
    page = dashboard.page
    dashboard.pause()
    page.get_by_role("button", name="Advanced settings").click()
    page.get_by_role("combobox", name="Floating-point precision").click()
    page.get_by_role("option", name="float64").or_(
        page.get_by_role("menuitem", name="float64")
    ).click()
    expect(page.get_by_role("combobox", name="Floating-point precision")).to_have_text("float64")
    dashboard.button("Restart").click()
    dashboard.expect_state("Compiling")
    expect(dashboard.note).to_contain_text("for precision float64")
    expect(dashboard.note).to_contain_text(re.compile("[3-9] of 10"))
    expect(dashboard.progress).to_have_attribute("aria-valuenow", re.compile("[3-9]0"))
    dashboard.press_key("forgetting_rate", "End")
    expect(page.get_by_text("κ 1, τ₀ 18, S 256").last).to_be_visible()
    dashboard.expect_state("Compiling", seconds=0.1)
    dashboard.expect_state("Running")
    expect(dashboard.documents).to_have_text(re.compile("^[1-9]"))
    dashboard.pause()
    assert dashboard.steps()[0][1] == pytest.approx(
        rates_of({"delay": 18, "forgetting_rate": 1.0}, 1)[0]
    )


def test_settings_are_closed_at_the_first_visit_and_then_as_the_user_left_them(visit):
    dashboard = visit(is_first=True)
    panel = dashboard.button("Learning settings")
    expect(panel).not_to_be_in_viewport()
    dashboard.button("Settings").click()
    expect(panel).to_be_in_viewport()
    dashboard.page.reload()
    expect(panel).to_be_in_viewport()
    dashboard.button("Settings").click()
    expect(panel).not_to_be_in_viewport()
    dashboard.page.reload()
    dashboard.settle()
    expect(panel).not_to_be_in_viewport()
