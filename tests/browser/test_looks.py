"""Light and dark, wide and narrow, for eyes and for screen readers."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.dashboard import PHONE, WIDE

pytestmark = pytest.mark.browser

SIZES = pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
OVERFLOWS = """() => {
  const wide = []
  const look = (root) => { for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) look(node.shadowRoot)
    const style = getComputedStyle(node)
    if (["auto", "scroll"].includes(style.overflowX) && node.scrollWidth > node.clientWidth + 1 && node.clientWidth
        && !node.matches(".scroller")) wide.push(node.className || node.tagName)
  } }
  look(document)
  const page = document.scrollingElement
  return page.scrollWidth > page.clientWidth ? ["page", ...wide] : wide
}"""


def read_ground(dashboard) -> int:
    """How light the ground of the page is, 0 to 255."""
    color = dashboard.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    return int(color.split("(")[1].split(",")[0])


def find_barriers(page) -> list[str]:
    """What axe finds that is serious or critical."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['html'][:200]}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@SIZES
def test_axe_finds_nothing_serious_and_dark_mode_darkens_the_page_and_goes_back(visit, size):
    dashboard = visit(size)
    dashboard.finish()
    expect(dashboard.page.locator("td.new").first).to_be_attached()
    assert find_barriers(dashboard.page) == []
    assert read_ground(dashboard) > 200
    dashboard.go_dark()
    # Colours fade from one theme to the other for a moment, each component by itself.
    barriers, tries = find_barriers(dashboard.page), 10
    while barriers and tries:
        dashboard.page.wait_for_timeout(300)
        barriers, tries = find_barriers(dashboard.page), tries - 1
    assert barriers == []
    dashboard.expect_state("Finished")
    dashboard.page.get_by_label("Toggle theme").click()
    dashboard.page.wait_for_function(
        "() => parseInt(getComputedStyle(document.body).backgroundColor.split('(')[1]) > 200"
    )


def test_a_phone_shows_everything_without_scrolling_sideways(visit):
    dashboard = visit(PHONE)
    page = dashboard.page
    expect(dashboard.button("Pause")).to_be_in_viewport()
    expect(dashboard.state).to_be_in_viewport()
    assert page.evaluate(OVERFLOWS) == []
    dashboard.pause()
    page.get_by_label("Open drawer").click()
    heading = page.get_by_role("heading", name="Learning, from the next mini-batch on")
    expect(heading).to_be_in_viewport()
    dashboard.press_key("batch_size", "ArrowRight")
    dashboard.expect_marks("S 256 → 512")
    page.keyboard.press("Escape")
    expect(heading).not_to_be_in_viewport()
    dashboard.step()
    page.get_by_role("region", name="Word lists over time").scroll_into_view_if_needed()
    assert page.evaluate(OVERFLOWS) == []
