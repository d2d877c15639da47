"""The page as a person uses it: what it says, and what can be pressed."""

import re
from contextlib import suppress

from playwright.sync_api import BrowserContext, Error, Locator, Page, TimeoutError, expect

from stickbreaker.app import pages
from tests.patience import limit_ms

PAGES = LIVE, TOPICS, TIME, DOCUMENTS, COMPARE, EXPORT, HOOD = tuple(
    each.title for each in pages.PAGES if each.is_listed
)
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
FIRST_SECONDS = limit_ms(120)
LEAVE_TRIES = 5
DEFAULT_PACE = "One pass a minute"
SLIDERS = {
    "forgetting_rate": "Forgetting rate κ",
    "delay": "Delay τ₀",
    "batch_size": "Mini-batch size S",
}
FIND_MARKS = """() => Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
    .filter(m => m.type === "ColumnDataSource" && "height" in m.data && "align" in m.data)
    .map(m => [...m.data.text].map((text, i) => [m.data.x[i], text]))"""
# The settings come once the side is open.
IS_DRAWN = """() => {
  const models = Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
  const has = (test) => models.some(m => test(m.attributes))
  const isSetting = ({label, text}) => label === "Corpus" || text?.includes?.("Settings of this run")
  return has(({is_unfolded}) => is_unfolded) && (!has(({sidebar_open}) => sidebar_open) || has(isSetting))
    && Bokeh.index.roots.every(root => root.is_idle)
}"""
FIND_STEPS = """() => {
  const models = Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
  const find = (is) => models.find(m => m.type === "Figure" && is(m)).renderers.map(r => r.data_source)
  const steps = find(m => m.title?.text?.startsWith("Topics in use")).find(s => s && "documents_seen" in s.data)
  const [, taken] = find(m => m.below.some(axis => axis.axis_label === "mini-batch t"))
  return [...steps.data.documents_seen].map((seen, i) => [seen, taken.data.y[i]])
}"""


def leave_settings_open(context: BrowserContext) -> None:
    """Let a browser be that of a user who has left the settings open."""
    context.add_init_script(
        "if (origin !== 'null') localStorage['stickbreaker-settings'] ??= 'open'"
    )


class Dashboard:
    """One page. Its methods do what a person does, and wait as a person would."""

    def __init__(self, page: Page):
        self.page = page
        page.set_default_timeout(limit_ms(60))
        self.state = page.locator(".bar .state")
        self.phase = page.locator(".bar .phase")
        self.documents = page.locator(".bar .documents")
        self.reading = page.locator(".bar .reading")
        self.note = page.locator(".bar .note:not(.work)")
        self.progress = page.get_by_role("progressbar", name="Documents seen")
        self.bar = page.locator(".bar")
        self.pace = page.get_by_role("combobox", name="Pace")
        self.step_button = self.button("Step")
        self.sketch = page.get_by_text(re.compile(r"Random start left in the topics"))
        self.words = page.get_by_role("region", name="Word lists over time")
        self.word_heads = self.words.locator("thead th:not(.rank)")
        self.notifications = page.locator(".notyf__toast, .notyf__message, .MuiAlert-root")

    def open(self, address: str, learns: bool = True) -> "Dashboard":
        """Load the page; wait until a mini-batch is learned, or a message is shown."""
        self.page.goto(address)
        if learns:
            expect(self.documents).to_have_text(re.compile(r"^[1-9]"), timeout=FIRST_SECONDS)
            self.settle()
            recorded = self.page.get_by_text("This is a recorded run.")
            expect(recorded).to_have_count(0, timeout=FIRST_SECONDS)
            self.settle()
        else:
            self.state.wait_for(timeout=FIRST_SECONDS)
        return self

    def settle(self) -> None:
        """Wait until everything is drawn, as a person does before pressing the next button."""
        self.page.wait_for_function(IS_DRAWN)

    def return_to_live(self) -> None:
        """Close all dialogs and menus, and show the current model on the Live page."""
        self.page.keyboard.press("Escape")
        live = self.button("Live")
        if live.get_attribute("aria-pressed") != "true":
            live.click()
        if "moment=" in self.page.url:
            self.page.get_by_role("slider", name="Moment of the replay").press("End")
            expect(self.page).not_to_have_url(re.compile("moment="))

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def slider(self, setting: str) -> Locator:
        return self.page.get_by_role("slider", name=SLIDERS[setting])

    def expect_state(self, state: str, seconds: float = 60) -> None:
        expect(self.state).to_have_text(state, timeout=limit_ms(seconds))

    def pause(self) -> None:
        self.button("Pause").click()
        self.expect_state("Paused")

    def leave(self) -> None:
        """Pause the run, so that its core is free, if it still learns."""
        pause = self.button("Pause")
        if not pause.is_visible():
            return
        self.page.keyboard.press("Escape")
        # A press that is not made in time on a busy machine is tried again; one that is made must
        # not be made twice.
        for _ in range(LEAVE_TRIES):
            with suppress(TimeoutError):
                if pause.is_visible():
                    pause.click(timeout=3000)
                break
        expect(pause).to_be_hidden()

    def step(self) -> None:
        """Take one mini-batch and wait until the page shows it."""
        before = self.documents.inner_text()
        self.step_button.click()
        expect(self.documents).not_to_have_text(before)
        self.expect_state("Paused")

    def choose_pace(self, name: str) -> None:
        option = self.page.get_by_role("menuitem", name=name).or_(
            self.page.get_by_role("option", name=name)
        )
        self.pace.click()
        option.click()
        self._expect_no_menu()

    def _expect_no_menu(self) -> None:
        """Wait until a menu has closed; until then it holds the focus."""
        expect(self.page.locator(".MuiMenu-root")).to_have_count(0)

    def finish(self) -> None:
        """Read the rest at full speed."""
        self.choose_pace("Full speed")
        self.expect_state("Finished")

    def go_dark(self) -> None:
        self.page.get_by_label("Toggle theme").click()
        self.expect_ground(dark=True)

    def expect_ground(self, dark: bool) -> None:
        """Wait until the background of the page is dark, or light."""
        self.page.wait_for_function(
            "dark => { const ground ="
            " parseInt(getComputedStyle(document.body).backgroundColor.split('(')[1])\nreturn dark"
            " ? ground < 60 : ground > 200 }",
            arg=dark,
        )

    def num_seen(self) -> int:
        # A text that is not shown yet has no inner text.
        expect(self.documents).to_be_visible()
        return int(self.documents.inner_text().split()[0].replace(",", ""))

    def step_number(self) -> int:
        return int(
            re.search(r"Mini-batch ([\d,]+) of", self.sketch.inner_text())[1].replace(",", "")
        )

    def press_key(self, setting: str, key: str) -> None:
        self.slider(setting).focus()
        self.page.keyboard.press(key)

    def click_slider(self, setting: str, share: float) -> None:
        """Click the slider's track at this share of its length."""
        track = (
            self.slider(setting)
            .locator("xpath=ancestor::*[contains(@class, 'MuiSlider-root')]")
            .first
        )
        track.scroll_into_view_if_needed()
        box = track.bounding_box()
        self.page.mouse.click(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)

    def show_curves(self) -> None:
        """Reach the curves, which are sent when a user first sees their places."""
        axis, place = self.button("dates"), self.button("Show more curves")
        expect(place.or_(axis)).to_be_attached()
        for each in (self.button("Show the curve of held-out words"), place):
            # A place is replaced by its curve, perhaps while it is scrolled to.
            with suppress(Error):
                if each.count():
                    each.scroll_into_view_if_needed()
        expect(axis).to_be_visible()
        self.settle()

    def expect_marks(self, text: str, at: int | None = None) -> None:
        """Wait until each of the three curves has a mark with this label, at this place."""
        self.show_curves()
        self.page.wait_for_function(
            f"""([text, at]) => {{
                const all = ({FIND_MARKS})()
                return all.length === 3 && all.every(m => m.some(([x, t]) => t === text && x === (at ?? x)))
            }}""",
            arg=[text, at],
        )

    def marks(self) -> list[list[tuple[float, str]]]:
        """Place and label of every mark, curve by curve."""
        self.show_curves()
        return self.page.evaluate(FIND_MARKS)

    def steps(self) -> list[tuple[int, float]]:
        """Documents seen and learning rate of every step, as the curve draws them."""
        self.show_curves()
        return [tuple(step) for step in self.page.evaluate(FIND_STEPS)]
