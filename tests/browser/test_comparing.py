"""The Compare page: kept runs are drawn together and matched, and sweeps run."""

import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.dashboard import PHONE, WIDE
from tests.browser.test_looks import find_barriers

pytestmark = pytest.mark.extended

FIND_TOO_HIGH = """() => {
  const found = []
  const look = (root) => { for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) look(node.shadowRoot)
    const is_part = node.matches(".compare, .sweep, .curves")
    if (is_part && node.scrollHeight > node.clientHeight + 1) found.push(node.className)
  } }
  look(document)
  return found
}"""

# Top and height of a part, in every frame that the browser draws.
WATCH_PLACE = """(part) => {
  window.places = new Set()
  const look = () => {
    const {y, height} = part.getBoundingClientRect()
    places.add(`${Math.round(y)} ${Math.round(height)}`)
    requestAnimationFrame(look)
  }
  look()
}"""


def open_compare(dashboard):
    """Open the Compare page."""
    dashboard.button("Compare").click()
    expect(
        dashboard.page.get_by_role("row", name=re.compile("State of the Union")).first
    ).to_be_visible()
    return dashboard.page


@pytest.fixture
def swept(used_page):
    """The Compare page of a finished run, without values of an earlier sweep."""
    if used_page.state.inner_text() != "Finished":
        used_page.finish()
    page = open_compare(used_page)
    for symbol in ("S", "κ"):
        page.get_by_role("textbox", name=f"Values of {symbol}").fill("")
    page.keyboard.press("Tab")
    return used_page


def test_a_sweep_fills_its_plot_and_its_runs_are_named_drawn_and_matched(swept):
    page = swept.page
    page.get_by_role("textbox", name="Values of S").fill("512, 1024")
    page.get_by_role("textbox", name="Values of κ").fill("0.7, 1")
    page.keyboard.press("Tab")
    expect(page.get_by_text(re.compile(r"^4 runs\. The same in all: "))).to_be_visible()
    swept.button("Start sweep").click()
    expect(page.get_by_text(re.compile(r"^Run \d of 4"))).to_be_visible()
    # The press of the button makes room for the progress bar; after that nothing moves.
    expect(page.locator(".sweep").get_by_role("progressbar")).to_be_visible()
    page.locator(".sweep").evaluate(WATCH_PLACE)
    expect(page.get_by_text(re.compile("^All 4 runs"))).to_be_visible()
    newer = swept.button("Show new runs")
    expect(newer).to_be_visible()
    assert len(page.evaluate("() => [...places]")) == 1
    newer.click()
    sweep, pair = (
        page.get_by_role("heading", name=name, exact=True)
        for name in ("Sweep", "Two runs side by side")
    )
    assert sweep.bounding_box()["y"] < pair.bounding_box()["y"]
    rows = page.get_by_role("row", name=re.compile("sweep of 4 runs"))
    expect(rows.nth(3)).to_be_attached()
    name = f"<b>{time.monotonic_ns()}</b>"
    rows.first.get_by_role("textbox").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=f"Delete {name}")).to_be_visible()
    page.get_by_role("checkbox", name=f"Show the curve of {name}").check()
    expect(
        page.get_by_text(re.compile("topics matched, the largest of the left run first"))
    ).to_be_visible()
    swept.button("Compare by group").click()
    expect(page.get_by_role("heading", name="Held-out score", exact=True)).to_be_visible()
    expect(page.get_by_role("rowheader", name=re.compile("^All documents"))).to_be_visible()
    expect(page.get_by_text(re.compile("^Matched with “"))).to_be_visible()
    assert find_barriers(page) == []


def test_a_sweep_is_cancelled(swept):
    page = swept.page
    page.get_by_role("textbox", name="Values of S").fill("1, 2, 3")
    page.keyboard.press("Tab")
    expect(page.get_by_text(re.compile(r"^3 runs\. "))).to_be_visible()
    swept.button("Start sweep").click()
    expect(page.get_by_text(re.compile(r"^Run \d of 3"))).to_be_visible()
    swept.button("Cancel sweep").click()
    expect(page.get_by_text(re.compile(r"^Cancelled after \d of 3 runs"))).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
def test_no_part_is_higher_than_its_place_and_axe_finds_nothing(look_at_finished, size):
    page = open_compare(look_at_finished(size))
    expect(page.get_by_role("heading", name="Sweep", exact=True)).to_be_attached()
    assert page.evaluate(FIND_TOO_HIGH) == []
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found] == []
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.get_by_role("heading", name="More curves", exact=True)).to_be_visible()
    assert page.evaluate(FIND_TOO_HIGH) == []


def test_a_phone_shows_every_value_of_a_kept_run_without_scrolling_sideways(look_at_finished):
    page = open_compare(look_at_finished(PHONE))
    region = page.get_by_role("region", name="Kept runs")
    region.scroll_into_view_if_needed()
    assert region.evaluate("region => region.scrollWidth <= region.clientWidth")
    for name in ("Corpus", "Kept (UTC)"):
        cell = region.locator(f'td[data-column="{name}"]').first
        expect(cell).to_be_visible()
        assert name in cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    expect(region.get_by_role("button", name=re.compile("^Delete")).first).to_be_in_viewport(
        ratio=1
    )


def test_a_run_that_was_left_early_is_listed_on_request(dashboard):
    # The first held-out score, without which no run is kept, comes with the first column of the
    # word lists.
    dashboard.choose_pace("Four mini-batches a second")
    expect(dashboard.documents).to_have_text(re.compile(r"^[1-9],\d{3} "))
    dashboard.pause()
    dashboard.button("Restart").click()
    dashboard.finish()
    page = open_compare(dashboard)
    left_early = page.get_by_role("row", name=re.compile("ended early"))
    expect(left_early).to_have_count(0)
    page.get_by_role("switch", name=re.compile(r"Show \d+ runs? that ended early")).check()
    expect(left_early).not_to_have_count(0)
