"""The table of the paper, and the topics next to it."""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker.app.frames.word_table import DEFAULT_TOPICS_RULE
from tests.browser.dashboard import PHONE
from tests.browser.test_looks import OVERFLOWS

pytestmark = pytest.mark.browser

# The table turns by whole pixels and lets a column end one pixel beyond its room; widths have
# fractions. So the head of a column, about 67 pixels, is whole if two of them are hidden.
SEEN = 0.96


def test_the_table_fills_column_by_column_marks_new_words_and_adds_a_topic_of_the_list(dashboard):
    page = dashboard.page
    expect(page.get_by_text(DEFAULT_TOPICS_RULE)).to_be_attached()
    expect(page.locator("thead th.planned")).to_have_count(9)
    dashboard.finish()
    expect(dashboard.word_heads).to_have_count(9)
    expect(page.locator("thead th.planned")).to_have_count(0)
    expect(dashboard.word_heads.last).to_contain_text("2021")
    expect(page.locator("tbody")).to_have_count(2)
    expect(page.locator("tbody .note")).to_have_text(
        [re.compile("^stable early"), re.compile("^formed late")]
    )
    expect(page.locator("td.new strong").first).to_be_visible()
    expect(page.locator("td.new:not(:has(.said))")).to_have_count(0)
    assert page.locator("tbody tr").count() == 22
    buttons = page.get_by_role("button", name=re.compile("^show in table: "))
    expect(page.locator("li").filter(has=buttons)).to_have_count(5)
    # The largest topics change once the corpus has been read.
    expect(page.get_by_text("Share of all tokens, as read with the model")).to_be_visible()
    shown = page.locator("tbody .name strong").all_inner_texts()
    labels = [button.get_attribute("aria-label") for button in buttons.all()]
    # By its place: topics can get other labels until the button is pressed.
    other = next(
        i for i, label in enumerate(labels) if label.removeprefix("show in table: ") not in shown
    )
    buttons.nth(other).click()
    expect(page.locator("tbody")).to_have_count(3)
    dashboard.button("Show default topics").click()
    expect(page.locator("tbody")).to_have_count(2)


def test_curves_say_their_protocol_their_phase_and_their_rule(look_at_finished):
    dashboard = look_at_finished()
    page = dashboard.page
    expect(page.get_by_text("Held-out documents are spread over the whole corpus")).to_be_attached()
    expect(page.get_by_text("smallest number of topics that together have 99 %")).to_be_attached()
    expect(page.get_by_text("Warm-up (shaded)")).to_be_attached()
    dashboard.show_curves()
    for axis in ("dates", "seconds", "documents"):
        dashboard.button(axis).click()
        expect(dashboard.button(axis)).to_have_attribute("aria-pressed", "true")


# Heads of columns that are seen in part: behind the ranks, which stay in place, or at the right
# end.
FIND_CUT = """(scroller) => {
  const place = scroller.getBoundingClientRect(), from = scroller.querySelector("th.rank").getBoundingClientRect().right
  return [...scroller.querySelectorAll("thead th:not(.rank)")].filter(head => {
    const {left, right} = head.getBoundingClientRect()
    return (left < from - 1 && right > from + 1) || (left < place.right - 1 && right > place.right + 1)
  }).map(head => head.innerText)
}"""


def test_columns_that_do_not_fit_are_counted_and_can_be_turned_to(look_at_finished):
    dashboard = look_at_finished(PHONE, reduced_motion="reduce")
    page = dashboard.page
    # The height of what is above the table depends on the run.
    dashboard.words.evaluate("scroller => scroller.scrollIntoView({block: 'center'})")
    expect(dashboard.word_heads.last).to_be_in_viewport(ratio=SEEN)
    expect(dashboard.word_heads.first).not_to_be_in_viewport()
    assert dashboard.words.evaluate(FIND_CUT) == []
    earlier = page.get_by_role("button", name=re.compile("^Show [0-9]+ earlier column"))
    later = page.get_by_role("button", name=re.compile("^Show [0-9]+ later column"))
    expect(later).to_be_hidden()
    for _ in range(9):
        if not earlier.is_visible():
            break
        number = re.search("[0-9]+", earlier.get_attribute("aria-label"))[0]
        earlier.press("Enter")
        expect(
            page.get_by_role("button", name=re.compile(f"^Show {number} earlier column"))
        ).to_have_count(0)
    expect(dashboard.word_heads.first).to_be_in_viewport(ratio=SEEN)
    # The button that has done its work is gone; the focus is not lost.
    expect(later).to_be_focused()
    assert page.evaluate(OVERFLOWS) == []
