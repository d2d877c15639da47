"""The page in light and dark, wide and narrow, and for screen readers."""

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


# Lays out a figure as it is before it is drawn: without panels.
LAY_OUT_UNDRAWN = """() => {
  const find = (view) => view.model?.type === "Figure" ? view
    : (view.child_views ?? []).map(find).find(Boolean)
  const view = Bokeh.index.roots.map(find).find(Boolean)
  const {layout} = view
  view.layout = undefined
  try { view.measure_layout(); view.after_layout() } finally { view.layout = layout }
  return view.model.type
}"""

# Opens the menu of a select, and returns the places of its last item in each frame until its
# transitions have ended.
FOLLOW_ITEM = """async (select) => {
  const frame = () => new Promise(requestAnimationFrame)
  const find = () => [...select.getRootNode().querySelectorAll(".MuiMenu-root [role=menuitem]")].at(-1)
  const is_moving = (menu) => menu.getAnimations({subtree: true}).some((each) => each instanceof CSSTransition)
  const places = new Set()
  select.click()
  while (!find()) { await frame() }
  do {
    const {x, y, width, height} = find().getBoundingClientRect()
    places.add([x, y, width, height].map(Math.round).join(" "))
    await frame()
  } while (is_moving(find().closest(".MuiMenu-root")))
  return [...places]
}"""


def find_barriers(page) -> list[str]:
    """What axe finds, without the empty layer of panel-material-ui 0.16 for menus."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['html'][:200]}"
        for violation in found
        for node in violation["nodes"]
        if (violation["id"], "data-pmui-layer" in node["html"]) != ("region", True)
    ]


def find_lasting_barriers(page):
    """What axe reports once all colours have faded to those of a new theme."""
    barriers, tries = find_barriers(page), 10
    while barriers and tries:
        page.wait_for_timeout(300)
        barriers, tries = find_barriers(page), tries - 1
    return barriers


@SIZES
def test_axe_finds_nothing_and_dark_mode_darkens_the_page_and_goes_back(look_at_finished, size):
    dashboard = look_at_finished(size)
    expect(dashboard.page.locator("td.new").first).to_be_attached()
    assert find_barriers(dashboard.page) == []
    dashboard.expect_ground(dark=False)
    dashboard.go_dark()
    assert find_lasting_barriers(dashboard.page) == []
    dashboard.expect_state("Finished")
    dashboard.page.get_by_label("Toggle theme").click()
    dashboard.expect_ground(dark=False)


@pytest.mark.extended
@SIZES
def test_a_page_follows_the_theme_of_the_system_until_a_person_chooses_one_and_remembers_it(
    look_at_finished, size
):
    dashboard = look_at_finished(size, color_scheme="dark")
    dashboard.expect_ground(dark=True)
    # What is drawn later has the theme of the rest.
    dashboard.button("Topics").click()
    expect(dashboard.page.get_by_role("combobox", name="Topic").first).to_be_visible()
    dashboard.expect_ground(dark=True)
    dashboard.page.get_by_label("Toggle theme").click()
    dashboard.expect_ground(dark=False)
    dashboard.settle()
    dashboard.button("Compare").click()
    expect(dashboard.page.get_by_role("region", name="Kept runs")).to_be_visible()
    dashboard.settle()
    dashboard.page.reload()
    expect(dashboard.page.get_by_role("region", name="Kept runs")).to_be_visible()
    dashboard.expect_ground(dark=False)


def test_the_items_of_a_menu_stay_in_place_from_the_first_frame(look_at_finished):
    dashboard = look_at_finished()
    places = dashboard.page.get_by_role("combobox", name="Pace").evaluate(FOLLOW_ITEM)
    dashboard.page.keyboard.press("Escape")
    assert len(places) == 1


def test_pages_can_be_left_before_their_figures_are_drawn(look_at_finished):
    dashboard = look_at_finished()
    assert dashboard.page.evaluate(LAY_OUT_UNDRAWN) == "Figure"
    for name in ("Topics", "Compare", "Live", "Time", "Live"):
        dashboard.button(name).click()
    dashboard.settle()
    expect(dashboard.page.get_by_role("heading", name="More curves", exact=True)).to_be_visible()


def test_the_first_headings_of_all_pages_are_equally_large(look_at_finished):
    dashboard, sizes = look_at_finished(), {}
    for page, title in {
        "Topics": "Map of topics",
        "Time": "Topics over time",
        "Documents": "Documents",
        "Compare": "Kept runs",
        "Under the hood": "Under the hood",
    }.items():
        dashboard.button(page).click()
        heading = dashboard.page.get_by_role("heading", name=title, exact=True)
        sizes[page] = heading.evaluate("(heading) => getComputedStyle(heading).fontSize")
    assert set(sizes.values()) == {"18px"}, sizes


def test_the_buttons_of_a_finished_run_take_two_lines_on_a_phone_and_keep_their_names(
    look_at_finished,
):
    dashboard = look_at_finished(PHONE)
    names = ("Another pass", "Step", "Restart", "Share")
    parts = [dashboard.button(name) for name in names] + [
        dashboard.page.get_by_role("combobox", name="Pace")
    ]
    boxes = [part.bounding_box() for part in parts]
    assert all(box["height"] > 30 and box["width"] >= 44 for box in boxes)
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] for box in boxes)
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    assert max(middles[:4]) - min(middles[:4]) < 2


def test_a_phone_shows_everything_without_scrolling_sideways(visit):
    dashboard = visit(PHONE)
    page = dashboard.page
    expect(dashboard.button("Pause")).to_be_in_viewport()
    expect(dashboard.state).to_be_in_viewport()
    assert page.evaluate(OVERFLOWS) == []
    dashboard.pause()
    page.get_by_label("Open drawer").click()
    panel = dashboard.button("Learning settings")
    expect(panel).to_be_in_viewport()
    dashboard.press_key("batch_size", "ArrowRight")
    dashboard.expect_marks("S 256 → 512")
    page.keyboard.press("Escape")
    expect(panel).not_to_be_in_viewport()
    dashboard.step()
    page.get_by_role("region", name="Word lists over time").scroll_into_view_if_needed()
    assert page.evaluate(OVERFLOWS) == []
