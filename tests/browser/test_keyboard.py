"""Everything that a mouse can use can be reached with the Tab and arrow keys, with
visible focus.
"""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker.app.state import CLASS
from tests.browser.dashboard import COMPARE, DOCUMENTS, EXPORT, HOOD, LIVE, PAGES, TIME, TOPICS
from tests.browser.test_looks import find_barriers

pytestmark = pytest.mark.extended

MOST_STOPS = 200
SETTLE_MILLISECONDS = 300
# These elements exist when a page is drawn.
LANDMARKS = {
    LIVE: ("region", "Word lists over time"),
    TOPICS: ("button", re.compile("^open: ")),
    TIME: ("combobox", "Period"),
    DOCUMENTS: ("button", re.compile("^open: ")),
    COMPARE: ("checkbox", re.compile("^Show the curve of ")),
    EXPORT: ("button", "Save figure"),
    HOOD: ("button", re.compile("^select topic: slot")),
    CLASS: ("button", "Find the intruder"),
}
# The control that has the focus, through all shadow roots.
FOCUSED = """
  let focused = document.activeElement
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement
"""
# What can be pressed: controls by their element or role, and other elements that have the pointer
# of a control. A label counts as its box, an icon as the tool of the plot around it, a slider's
# track as its thumb.
COLLECT = """() => {
  const controls = "button, a[href], input:not([type=hidden]), select, textarea, summary, [tabindex], " +
    "[contenteditable=true], [role=button], [role=combobox], [role=slider], [role=switch], [role=checkbox]"
  const found = []
  const look = (root) => { for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) look(node.shadowRoot)
    const has_pointer = getComputedStyle(node).cursor === "pointer"
      && !node.closest(`${controls}, label, .MuiSlider-root`) && !node.matches(".bk-tool-icon")
    if (!node.matches(controls) && !has_pointer) continue
    if (node.disabled || node.closest("[aria-disabled=true], [aria-hidden=true]")) continue
    if (node.checkVisibility({visibilityProperty: true}) && node.getBoundingClientRect().width) found.push(node)
  } }
  look(document)
  window.collected = found
  window.looks = found.map(window.describe_look)
  return found.map(node =>
    `${node.tagName} ${node.getAttribute("aria-label") || node.title || node.innerText || node.className}`.slice(0, 90))
}"""
# The look of a control and of what is around it: a different ring, frame or background shows the
# focus.
DESCRIBE_LOOK = """() => { window.describe_look = (node) => {
  const near = [node, node.parentElement, ...(node.parentElement?.children ?? [])].filter(Boolean)
  return near.map(each => { const style = getComputedStyle(each)
    return [style.outlineStyle, style.outlineColor, style.boxShadow, style.borderTopColor, style.borderTopWidth,
      style.backgroundColor, each.matches(":focus") ? "" : style.opacity].join()
  }).join("|")
} }"""
LOOK = f"""() => {{ {FOCUSED}
  const place = window.collected.indexOf(focused)
  const group = focused.closest("[role=group]")
  return [place, focused.tagName, place < 0 || window.describe_look(focused) !== window.looks[place],
    group ? group.querySelectorAll("button").length : 1]
}}"""
ARE_SHOWN = "() => window.collected.every(node => node.isConnected && node.checkVisibility())"
IS_IN_DIALOG = """() => {
  let focused = document.activeElement
  while (focused?.shadowRoot?.activeElement) { focused = focused.shadowRoot.activeElement }
  return Boolean(focused?.closest("[class*=MuiDialog]"))
}"""
NAME_FOCUSED = f"""() => {{ {FOCUSED}
  return focused.getAttribute("aria-label") || focused.innerText || focused.outerHTML.slice(0, 90) }}"""


def collect_settled(page):
    """Names of all controls, as soon as no more appear."""
    seen = [page.evaluate(COLLECT)]
    while len(seen) < 3 or seen[-3:] != 3 * seen[-1:]:
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        seen.append(page.evaluate(COLLECT))
    return seen[-1]


class Round:
    """A round with the Tab key: `reached` are places of controls, `unseen` are those that do not
    show the focus.
    """

    def __init__(self, page):
        self.page = page
        self.names = collect_settled(page)
        self.reached, self.unseen = set(), set()
        self.start, _, _, size = page.evaluate(LOOK)
        self._walk_group(size)
        # Another page shows how it looks without the focus.
        self.unseen.discard(self.start)

    def go(self, is_whole):
        """Press Tab to the end of the page; fail if the focus stays or goes back."""
        for _ in range(MOST_STOPS):
            self.page.keyboard.press("Tab")
            place, tag, is_seen, size = self.page.evaluate(LOOK)
            if place in self.reached or (tag in ("BODY", "HTML") and not is_whole):
                break
            assert place >= 0 or tag in (
                "BODY",
                "HTML",
            ), f"{self.page.evaluate(NAME_FOCUSED)} cannot be seen"
            self._note(place, is_seen)
            self._walk_group(size)
        else:
            raise AssertionError(f"{MOST_STOPS} stops, and not come round")
        first = 0 if is_whole else self.start
        return [
            name
            for place, name in enumerate(self.names)
            if place >= first and place not in self.reached
        ]

    def not_seen(self):
        return [self.names[place] for place in sorted(self.unseen)]

    def _note(self, place, is_seen):
        self.reached.add(place)
        self.reached.discard(-1)
        if not is_seen:
            self.unseen.add(place)

    def _walk_group(self, size):
        """Go through a row of buttons, one Tab stop, with the arrow keys, and back."""
        for _ in range(size if size > 1 else 0):
            self.page.keyboard.press("ArrowRight")
            place, _, is_seen, _ = self.page.evaluate(LOOK)
            self._note(place, is_seen)


def turn_by_keys(dashboard, name):
    """Move to the next page in the row of pages, and open it."""
    page = dashboard.page
    if name != LIVE:
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(dashboard.button(name)).to_have_attribute("aria-pressed", "true")
    role, landmark = LANDMARKS[name]
    expect(page.get_by_role(role, name=landmark).first).to_be_visible()
    assert page.evaluate(NAME_FOCUSED) == name


def act_by_keys(dashboard):
    """Choose a topic, name it, open a dialog and close it; the focus stays or returns."""
    page, keys = dashboard.page, dashboard.page.keyboard
    topic = page.get_by_role("combobox", name="Topic").first
    expect(topic).to_be_visible()
    collect_settled(page)
    before = topic.inner_text()
    topic.press("Enter")
    expect(
        page.get_by_role("menuitem", name=before).or_(page.get_by_role("option", name=before))
    ).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(topic).not_to_have_text(before)
    expect(topic).to_be_focused()
    # The field of the name is emptied for the new topic, a moment after the topic has changed.
    collect_settled(page)
    page.get_by_role("textbox", name="Topic name").focus()
    keys.type("by keys")
    keys.press("Enter")
    expect(topic).to_have_text(re.compile("^by keys"))
    expect(page.get_by_role("textbox", name="Topic name")).to_be_focused()
    nearest = page.get_by_role("button", name=re.compile("^select: ")).first
    nearest.press("Enter")
    expect(topic).not_to_have_text(re.compile("^by keys"))
    assert page.evaluate(NAME_FOCUSED).startswith("select: ")
    bring = dashboard.button("Bring your own text")
    bring.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Choose files")).to_be_visible()
    # A dialog takes the focus a moment after it is drawn.
    page.wait_for_function(IS_IN_DIALOG)
    keys.press("Tab")
    assert page.evaluate(NAME_FOCUSED) == "close"
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(bring).to_be_focused()


def set_a_task_by_keys(dashboard):
    """Share the run, open the Class page, and ask a question, by keys alone."""
    page = dashboard.page
    dashboard.button("Share").press("Enter")
    expect(dashboard.button(CLASS)).to_be_visible()
    dashboard.button(HOOD).focus()
    turn_by_keys(dashboard, CLASS)
    dashboard.button("Choose κ").press("Enter")
    expect(
        page.get_by_role("region", name="Task for the class").get_by_text("κ = 0.7")
    ).to_be_visible()
    dashboard.button(CLASS).focus()
    around = Round(page)
    assert (around.go(is_whole=False), around.not_seen()) == ([], [])
    assert find_barriers(page) == []


def test_the_keyboard_reaches_everything_on_every_page_and_does_what_the_mouse_does(dashboard):
    page = dashboard.page
    dashboard.button("Pause").press("Enter")
    dashboard.expect_state("Paused")
    dashboard.button("Run").press("Enter")
    dashboard.expect_state("Running")
    dashboard.finish()
    # The largest topics change once the corpus has been read.
    expect(page.get_by_text("Share of all tokens, as read with the model")).to_be_visible()
    page.evaluate(DESCRIBE_LOOK)
    dashboard.button(LIVE).focus()
    found = {}
    for name in PAGES:
        turn_by_keys(dashboard, name)
        around = Round(page)
        # The parts around the pages are the same on all of them.
        try:
            found[name] = (around.go(is_whole=name == LIVE), around.not_seen())
        except AssertionError:
            # A plot may be drawn during the round: then one more round, of what is there now.
            if page.evaluate(ARE_SHOWN) and page.evaluate(COLLECT) == around.names:
                raise
            dashboard.button(name).focus()
            around = Round(page)
            found[name] = (around.go(is_whole=name == LIVE), around.not_seen())
        dashboard.button(name).focus()
    assert found == {name: ([], []) for name in PAGES}
    set_a_task_by_keys(dashboard)
    dashboard.button(TOPICS).press("Enter")
    act_by_keys(dashboard)
    page.get_by_role("button", name=re.compile("^open: ")).first.press("Enter")
    expect(page.get_by_text("not in the order of the text")).to_be_visible()
    page.keyboard.press("Tab")
    # A browser continues where the page was scrolled to: at the opened document, or else at the
    # start of the page.
    first = page.get_by_role("textbox", name=re.compile("^(Your text|Find documents)$"))
    reached = first.or_(page.get_by_role("button", name=re.compile("passage")))
    expect(reached.and_(page.locator(":focus"))).to_be_visible()
