"""Run, pause, step, restart, pace; several browsers; a reload."""

import re
import time

import pytest
from playwright.sync_api import expect

from stickbreaker.engine.parallel.threads import count_cores
from tests.browser.conftest import SECONDS_UNUSED
from tests.browser.dashboard import SLIDERS

pytestmark = pytest.mark.browser


def test_a_first_visit_begins_to_learn_by_itself_and_says_where_it_is(dashboard):
    dashboard.expect_state("Running")
    expect(dashboard.bar.locator(".corpus")).to_have_text("State of the Union")
    says = re.compile("^Reading 9,384 documents in date order, 1790 to 2021: now")
    expect(dashboard.page.get_by_text(says)).to_be_in_viewport()
    expect(dashboard.page.get_by_role("region", name="Word lists over time")).to_be_in_viewport(
        ratio=0.2
    )
    expect(dashboard.reading).to_have_text(re.compile(r"now at \d{4}"))
    expect(dashboard.documents).to_have_text(
        re.compile(r"^[\d,]+ of 9,\d{3} documents, [\d,]+ held out$")
    )
    expect(dashboard.phase).to_have_text(re.compile(r"^warm-up, temperature [1-4]\.\d$"))
    expect(dashboard.page.get_by_role("progressbar", name="Documents seen")).to_be_visible()


def test_pause_stops_the_run_and_run_continues_it(restarted):
    restarted.choose_pace("Four mini-batches a second")
    restarted.pause()
    seen = restarted.num_seen()
    restarted.page.wait_for_timeout(1_500)
    assert restarted.num_seen() == seen
    restarted.expect_state("Paused")
    restarted.step()
    assert restarted.num_seen() == seen + 256
    restarted.button("Run").click()
    restarted.expect_state("Running")
    expect(restarted.documents).not_to_have_text(re.compile(f"^{seen + 256:,} "))


def test_restart_begins_again_and_leaves_the_earlier_run_as_a_faint_line(restarted):
    restarted.pause()
    restarted.step()
    before = restarted.num_seen()
    restarted.button("Restart").click()
    restarted.expect_state("Running")
    assert restarted.num_seen() < before
    expect(restarted.page.get_by_text("Earlier runs (faint, dashed")).to_be_visible()
    restarted.button("Hide earlier runs").click()
    expect(restarted.page.get_by_text("Earlier runs (faint, dashed")).to_be_hidden()


def test_the_space_bar_pauses_and_runs_from_a_slider_too_and_does_not_move_it(dashboard):
    dashboard.page.keyboard.press("Space")
    dashboard.expect_state("Paused")
    dashboard.page.keyboard.press("Space")
    dashboard.expect_state("Running")
    for name in SLIDERS:
        before = dashboard.slider(name).get_attribute("aria-valuetext")
        dashboard.press_key(name, "Space")
        dashboard.expect_state("Paused")
        dashboard.press_key(name, "Space")
        dashboard.expect_state("Running")
        expect(dashboard.slider(name)).to_have_attribute("aria-valuetext", before)


def test_the_space_bar_presses_a_button_once_and_nothing_else(restarted):
    restarted.pause()
    number = restarted.step_number()
    restarted.step_button.press("Space")
    expect(restarted.sketch).to_contain_text(f"Mini-batch {number + 1} of")
    restarted.page.wait_for_timeout(1_000)
    assert restarted.step_number() == number + 1
    restarted.expect_state("Paused")
    restarted.button("Run").press("Space")
    restarted.expect_state("Running")
    restarted.page.wait_for_timeout(1_000)
    restarted.expect_state("Running", seconds=0.1)


def test_the_space_bar_in_a_text_field_neither_runs_nor_pauses(restarted):
    page = restarted.page
    page.get_by_role("button", name="Advanced settings").click()
    page.get_by_label("Maximum topics K").press("Space")
    page.wait_for_timeout(1_000)
    restarted.expect_state("Running", seconds=0.1)


def test_full_speed_reads_everything_and_can_read_it_again(restarted):
    restarted.finish()
    assert restarted.num_seen() == int(restarted.documents.inner_text().split()[2].replace(",", ""))
    expect(restarted.step_button).to_be_disabled()
    expect(restarted.reading).to_have_text("read up to 2021")
    restarted.choose_pace("One mini-batch a second")
    restarted.button("Another pass").click()
    restarted.expect_state("Running")


def test_a_reload_continues_the_same_run(dashboard):
    seen = dashboard.num_seen()
    dashboard.press_key("batch_size", "ArrowLeft")
    dashboard.expect_marks("S 256 → 128")
    expect(dashboard.page).to_have_url(re.compile("run=.*batch_size=128"))
    place = dashboard.page.url
    dashboard.page.reload()
    dashboard.expect_marks("S 256 → 128")
    dashboard.expect_state("Running")
    assert dashboard.page.url == place
    assert dashboard.num_seen() >= seen


def test_two_browsers_have_separate_runs(visit):
    one = visit()
    one.pause()
    seen = one.documents.inner_text()
    other = visit()
    assert one.page.url != other.page.url
    other.press_key("forgetting_rate", "End")
    other.expect_marks("κ 0.6 → 1")
    other.expect_state("Running")
    assert one.documents.inner_text() == seen
    assert one.marks() == [[]] * 3
    expect(one.slider("forgetting_rate")).to_have_value("0.6")
    one.expect_state("Paused")


def test_two_pages_at_one_address_show_one_run(visit, dashboard):
    twin = visit(at=dashboard.page.url)
    twin.pause()
    dashboard.expect_state("Paused")
    expect(dashboard.documents).to_have_text(twin.documents.inner_text())


@pytest.mark.extended
def test_a_page_that_connects_after_its_session_has_expired_asks_no_other_server_for_styles(visit):
    def hold_up(route):
        time.sleep(SECONDS_UNUSED + 2)
        route.continue_()

    late = visit(prepare=lambda context: context.route("**/bokeh.min.js*", hold_up))
    late.expect_state("Running")


def test_a_page_without_a_free_core_says_so_from_the_first_and_learns_when_there_is_one(visit):
    others = [visit() for _ in range(count_cores())]
    page = visit(learns=False)
    assert page.state.inner_text() == "Waiting"
    expect(page.note).to_contain_text("Waiting for a free processor core")
    expect(page.note).to_contain_text("this run is next")
    assert page.state.inner_text() == "Waiting"
    others[0].pause()
    page.expect_state("Running")


def test_the_count_is_checked_by_the_sampler_with_the_keyboard_and_a_check_can_be_cancelled(
    restarted,
):
    restarted.pause()
    check, page = restarted.button("Check the number of topics"), restarted.page
    check.press("Enter")
    restarted.button("Cancel check").press("Enter")
    expect(page.get_by_text("The check of the count was cancelled.")).to_be_visible()
    check.press("Enter")
    found = re.compile(
        r"^Gibbs sampler started from this model: [\d,]+ (to [\d,]+ )?topics? in use over"
    )
    expect(page.get_by_text(found)).to_be_visible()
    page.get_by_role("button", name="Help: Check the number of topics").click()
    expect(page.get_by_role("note", name="Check the number of topics")).to_be_visible()
    page.keyboard.press("Escape")
