"""The player shows a finished run again: its table, topics, curves and map at the same moment."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.dashboard import PHONE, WIDE
from tests.browser.test_looks import OVERFLOWS, SIZES, find_barriers

pytestmark = [pytest.mark.browser, pytest.mark.extended]

NUM_POINTS = """() => {
  const models = Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
  const sources = models.filter(m => m.type === "ColumnDataSource" && "documents_seen" in m.data)
  return Math.max(...sources.flatMap(s => [...s.data.documents_seen]))
}"""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
def test_the_slider_moves_sentence_table_topics_and_curves_to_one_moment(look_at_finished, size):
    dashboard = look_at_finished(size)
    page = dashboard.page
    dashboard.show_curves()
    slider = page.get_by_role("slider", name="Moment of the replay")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("Replay of reading 9,384 documents")).to_be_visible()
    expect(page.locator("thead th.planned")).to_have_count(9)
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("2,560$"))
    expect(page.locator("thead th.planned")).to_have_count(7)
    expect(page.get_by_text("Replay: the topics after 2,304 documents.")).to_be_attached()
    page.wait_for_function(f"() => ({NUM_POINTS})() === 2560")
    assert "moment=2560" in page.url
    expect(dashboard.documents).to_contain_text("2,560 of 9,384 documents")
    expect(dashboard.reading).to_have_text("replay at 1860")
    # Words have less contrast while they fade in.
    page.wait_for_timeout(1_500)
    assert find_barriers(page) == []
    assert page.evaluate(OVERFLOWS) == []
    page.keyboard.press("End")
    expect(page.locator("thead th.planned")).to_have_count(0)
    expect(page.get_by_text("Read 9,384 documents in date order")).to_be_visible()
    expect(dashboard.documents).to_contain_text("9,384 of 9,384 documents")


def test_a_replay_plays_to_the_end_by_itself_and_a_link_opens_its_moment(look_at_finished):
    dashboard = look_at_finished()
    page = dashboard.page
    page.get_by_role("combobox", name="Length of the replay").select_option("15 s")
    page.get_by_role("button", name="Play the replay").click()
    expect(page.get_by_text("Replay of reading")).to_be_visible()
    page.get_by_role("button", name="Pause the replay").click()
    expect(page.get_by_role("button", name="Play the replay")).to_be_visible()
    moment = page.get_by_role("slider", name="Moment of the replay").get_attribute("aria-valuetext")
    page.wait_for_url(re.compile(f"moment={moment.split()[-1].replace(',', '')}(&|$)"))
    page.reload()
    expect(page.get_by_role("slider", name="Moment of the replay")).to_have_attribute(
        "aria-valuetext", moment
    )
    page.get_by_role("combobox", name="Length of the replay").select_option("15 s")
    page.get_by_role("button", name="Play the replay").click()
    expect(page.get_by_text("Read 9,384 documents in date order")).to_be_visible()
    expect(dashboard.documents).to_contain_text("9,384 of 9,384 documents")
    expect(page.get_by_role("button", name="Play the replay")).to_be_visible()


def test_back_leads_to_the_page_that_was_left_while_the_replay_played(look_at_finished):
    dashboard = look_at_finished()
    page = dashboard.page
    dashboard.button("Topics").click()
    expect(page).to_have_url(re.compile("page=Topics"))
    dashboard.button("Live").click()
    expect(page).not_to_have_url(re.compile("page=Topics"))
    page.get_by_role("button", name="Play the replay").click()
    expect(page.get_by_text("Replay of reading")).to_be_visible()
    dashboard.button("Time").click()
    expect(page).to_have_url(re.compile("page=Time"))
    page.go_back()
    expect(dashboard.button("Live")).to_have_attribute("aria-pressed", "true")


def test_the_map_of_topics_follows_the_player(look_at_finished):
    dashboard = look_at_finished()
    page = dashboard.page
    slider = page.get_by_role("slider", name="Moment of the replay")
    dashboard.button("Time").click()
    expect(slider).to_be_hidden()
    dashboard.button("Topics").click()
    expect(slider).to_be_visible()
    shown = """() => Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
        .find(m => m.type === "ColumnDataSource" && "line" in m.data)?.data.title.length ?? 0"""
    page.wait_for_function(f"() => ({shown})() > 20")
    slider = page.get_by_role("slider", name="Moment of the replay")
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_function(f"() => ({shown})() === 0")
    page.keyboard.press("End")
    page.wait_for_function(f"() => ({shown})() > 20")


@SIZES
def test_a_recorded_run_is_shown_until_the_engine_is_compiled(waiting_page, visit, size):
    address, wait = waiting_page
    dashboard = visit(size, at=address, learns=False)
    dashboard.settle()
    page = dashboard.page
    expect(page.get_by_text("Recorded on 20")).to_be_visible()
    expect(dashboard.words.locator("td.now:not(.blank)").first).to_be_visible()
    expect(page.get_by_text("This is a recorded run. Yours starts by itself.")).to_be_visible()
    dashboard.expect_state("Compiling")
    place = page.get_by_role("slider", name="Moment of the replay")
    place.press("End")
    dashboard.expect_state("Ready")
    expect(page.get_by_text("This is a recorded run. Press Run to see yours.")).to_be_visible()
    wait.unlink()
    dashboard.button("Run").click()
    dashboard.expect_state("Running")
    expect(dashboard.documents).to_have_text(re.compile("^256 "))
    expect(page.get_by_text("Recorded on 20")).to_have_count(0)
