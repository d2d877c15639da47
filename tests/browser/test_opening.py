"""The opening of a page: text appears at once, and nothing jumps afterwards."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_looks import SIZES

pytestmark = pytest.mark.browser

MOST_SHIFT = 0.05
WATCH_SHIFTS = """() => {
  window.shifts = []
  const place = ({x, y, width, height}) => [x, y, width, height].map(Math.round).join(",")
  const describe = ({node, previousRect, currentRect}) =>
    `${node?.nodeName}.${node?.className} (${place(previousRect)} -> ${place(currentRect)})`
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) shifts.push([entry.value, Math.round(entry.startTime),
        entry.sources.map(describe).join(" ")])
    }
  }).observe({type: "layout-shift", buffered: true})
  // The frame in which the page appears: nobody saw where its parts were before.
  window.appears = []
  new MutationObserver((_, watcher) => {
    if (!document.documentElement.classList.contains("is-drawn")) { return }
    watcher.disconnect()
    appears.push(performance.now())
    requestAnimationFrame(() => requestAnimationFrame(() => appears.push(performance.now())))
  }).observe(document, {subtree: true, attributeFilter: ["class"]})
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


def cumulate(shifts):
    """The largest sum of layout shifts, less than 1 s apart, in a window of at most 5 s."""
    largest = total = began = last = 0.0
    for value, at, _ in shifts:
        if at - last >= 1_000 or at - began >= 5_000:
            total, began = 0.0, at
        total, last = total + value, at
        largest = max(largest, total)
    return largest


def test_shifts_add_up_within_a_window():
    assert cumulate([]) == 0.0
    assert cumulate([(0.1, 100, ""), (0.2, 1_000, ""), (0.25, 2_500, "")]) == pytest.approx(0.3)


@SIZES
def test_the_page_appears_as_a_whole_and_does_not_jump_while_controls_arrive_and_columns_fill(
    visit, size
):
    watch = f"({WATCH_SHIFTS})(); ({WATCH_PARTS})()"
    dashboard = visit(size, prepare=lambda context: context.add_init_script(watch))
    page = dashboard.page
    assert page.evaluate("() => [...early]") == []
    expect(page.locator("thead th.planned")).to_have_count(7)
    page.wait_for_timeout(1_000)
    first, last = page.evaluate("() => appears")
    shifts = [each for each in page.evaluate("() => shifts") if not first <= each[1] <= last]
    assert cumulate(shifts) < MOST_SHIFT, shifts
