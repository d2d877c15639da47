"""The opening of a page: text appears at once, and nothing jumps afterwards."""

import time

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import SIZES

pytestmark = pytest.mark.browser

# Pixels: a line and a half.
MOST_MOVED = 36
# Headings, controls and columns in the window that are elsewhere than in the frame before. The browser's own sum of
# layout shifts also counts, on a busy computer, what pictures of its frames do not show.
WATCH_MOVES = """() => {
  window.moves = []
  window.seen = 0
  const marks = "h2, .state, thead th, [role=slider], [aria-label^=Help]"
  let before = new Map()
  const look = () => {
    if (document.documentElement?.classList.contains("is-drawn")) {
      const now = new Map()
      const walk = (root) => {
        for (const node of root.querySelectorAll("*")) {
          const {x, y, height} = node.matches(marks) ? node.getBoundingClientRect() : {height: 0}
          if (height && y < innerHeight) { now.set(node, [Math.round(x), Math.round(y)]) }
          if (node.shadowRoot) { walk(node.shadowRoot) }
        }
      }
      walk(document)
      for (const [node, place] of now) {
        const [x, y] = before.get(node) ?? place
        const moved = Math.max(Math.abs(place[0] - x), Math.abs(place[1] - y))
        if (moved) { moves.push([moved, node.ariaLabel ?? node.textContent, x, y, ...place]) }
      }
      seen += before.size
      before = now
    }
    requestAnimationFrame(look)
  }
  look()
}"""

# Parts of the page, also those inside other components, that a person sees before the page has been
# drawn.
WATCH_PARTS = """() => {
  window.early = new Set()
  const isSeen = (node) => {
    let each = node.checkVisibility({visibilityProperty: true}) && node
    while (each && (getComputedStyle(each).display === "contents" || getComputedStyle(each).opacity !== "0")) {
      each = each.assignedSlot ?? each.parentElement ?? each.parentNode?.host
    }
    return each === undefined
  }
  const look = () => {
    if (document.documentElement?.classList.contains("is-drawn")) { return }
    const walk = (root) => {
      for (const node of root.querySelectorAll("*")) {
        const isText = [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim())
        if (isText && root !== document && isSeen(node)) {
          early.add(node.textContent.trim())
        }
        if (node.shadowRoot) { walk(node.shadowRoot) }
      }
    }
    walk(document)
    setTimeout(look, 20)
  }
  look()
}"""


@SIZES
def test_the_page_appears_as_a_whole_and_does_not_jump_while_controls_arrive_and_columns_fill(
    visit, size
):
    def prepare(context):
        context.add_init_script(f"({WATCH_MOVES})(); ({WATCH_PARTS})()")
        # Letters and icons of another font are wider.
        context.route("**/*.woff2", lambda route: (time.sleep(2), route.continue_()))

    dashboard = visit(size, prepare=prepare)
    page = dashboard.page
    assert page.evaluate("() => [...early]") == []
    expect(page.locator("thead th.planned")).to_have_count(7)
    page.wait_for_timeout(1_000)
    assert page.evaluate("() => seen") > 100
    assert [each for each in page.evaluate("() => moves") if each[0] > MOST_MOVED] == []
