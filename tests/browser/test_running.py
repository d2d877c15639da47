"""Run, pause, step, restart, pace; several browsers; a reload."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_first_visit_begins_to_learn_by_itself_and_says_where_it_is(dashboard):
    dashboard.expect_state("Running")
    expect(dashboard.bar.locator(".corpus")).to_have_text("State of the Union")
    expect(dashboard.reading).to_have_text(re.compile(r"now reading \d{4}"))
    expect(dashboard.documents).to_have_text(re.compile(r"^[\d,]+ of 9,\d{3} documents$"))
    expect(dashboard.phase).to_have_text("warm-up phase")
    expect(dashboard.page.get_by_role("progressbar", name="Documents seen")).to_be_visible()


def test_pause_stands_still_and_run_goes_on(dashboard):
    dashboard.pause()
    seen = dashboard.num_seen()
    dashboard.step()
    assert dashboard.num_seen() == seen + 256
    dashboard.button("Run").click()
    dashboard.expect_state("Running")
    expect(dashboard.documents).not_to_have_text(re.compile(f"^{seen + 256:,} "))


def test_restart_begins_again_and_leaves_the_earlier_run_as_a_faint_line(dashboard):
    dashboard.pause()
    dashboard.step()
    before = dashboard.num_seen()
    dashboard.button("Restart").click()
    dashboard.expect_state("Running")
    assert dashboard.num_seen() < before
    expect(dashboard.page.get_by_text("Earlier runs (faint, dashed")).to_be_visible()
    dashboard.button("Clear earlier runs").click()
    expect(dashboard.page.get_by_text("Earlier runs (faint, dashed")).to_be_hidden()


def test_the_space_bar_pauses_and_runs(dashboard):
    dashboard.page.keyboard.press("Space")
    dashboard.expect_state("Paused")
    dashboard.page.keyboard.press("Space")
    dashboard.expect_state("Running")


def test_as_fast_as_it_goes_reads_everything_and_can_run_again(dashboard):
    dashboard.finish()
    assert dashboard.num_seen() == int(dashboard.documents.inner_text().split()[2].replace(",", ""))
    expect(dashboard.step_button).to_be_disabled()
    expect(dashboard.reading).to_have_text("read up to 2021")
    dashboard.choose_pace("One batch a second")
    dashboard.button("Run again").click()
    dashboard.expect_state("Running")


def test_a_reload_goes_on_with_the_same_run(dashboard):
    seen, place = dashboard.num_seen(), dashboard.page.url
    assert "run=" in place
    dashboard.press_key("batch_size", "ArrowLeft")
    dashboard.expect_marks("S 256 → 128")
    dashboard.page.reload()
    dashboard.expect_marks("S 256 → 128")
    dashboard.expect_state("Running")
    assert dashboard.page.url == place
    assert dashboard.num_seen() >= seen


def test_two_browsers_have_a_run_each(visit):
    one = visit()
    one.pause()
    seen = one.documents.inner_text()
    other = visit()
    assert one.page.url != other.page.url
    other.press_key("forgetting_rate", "End")
    other.expect_marks("κ 0.6 → 1")
    other.expect_state("Running")
    assert one.documents.inner_text() == seen
    assert one.marks() == [[]] * 4
    expect(one.slider("forgetting_rate")).to_have_value("0.6")
    one.expect_state("Paused")


def test_two_pages_at_one_address_show_one_run(visit, dashboard):
    twin = visit(at=dashboard.page.url)
    twin.pause()
    dashboard.expect_state("Paused")
    expect(dashboard.documents).to_have_text(twin.documents.inner_text())
