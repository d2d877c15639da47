"""From a topic to its words, its documents and its periods, as a person explores it."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.dashboard import PHONE, WIDE

# How far the main part of the page is scrolled.
FIND_SCROLLED = """function find(root) {
  const main = root.querySelector(".main-content")
  return main ? main.scrollTop : [...root.querySelectorAll("*")].reduce(
    (found, node) => found ?? (node.shadowRoot && find(node.shadowRoot)), null)
}"""


@pytest.fixture
def finished(look_at_finished):
    return look_at_finished()


def test_a_topic_is_named_and_leads_to_its_words_and_to_a_document(dashboard):
    page = dashboard.page
    expect(page.get_by_text("Weight in the model now (recent text counts more).")).to_be_visible()
    dashboard.finish()
    expect(page.get_by_text("Share of all tokens, as read with the model")).to_be_visible()
    dashboard.button("Topics").click()
    expect(
        page.get_by_text(re.compile("all 10,384 documents, including held-out ones"))
    ).to_be_visible()
    page.get_by_role("textbox", name="Topic name").fill("the large one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Topic").first).to_have_text(
        re.compile("^the large one")
    )
    page.get_by_role("textbox", name="Find topics by word").fill("treaty")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Topics with “treaty”")).to_be_visible()
    expect(page.get_by_role("heading", name="“treaty” over the run")).to_be_visible()
    expect(page.get_by_text(re.compile("^in the lists from [0-9,]+"))).not_to_have_count(0)
    page.get_by_role("button", name=re.compile("^open: ")).first.click()
    expect(page.get_by_text("not in the order of the text")).to_be_visible()
    expect(dashboard.button("topic the large one, at least 10 %")).to_be_visible()
    page.get_by_role("slider", name="Minimum topic share, %").fill("60")
    expect(dashboard.button("topic the large one, at least 60 %")).to_be_visible()
    dashboard.button("Live").click()
    expect(page.get_by_text("the large one", exact=True).first).to_be_visible()


def test_a_topic_is_added_and_the_edit_is_undone(dashboard):
    page = dashboard.page
    dashboard.finish()
    dashboard.button("Topics").click()
    page.get_by_role("textbox", name="Words of a new topic").fill("canal, panama")
    page.get_by_role("textbox", name="Name of the new topic").fill("Isthmus")
    dashboard.button("Add topic").click()
    done = page.get_by_text(re.compile("^After [0-9,]+ documents: seeded “Isthmus”"))
    expect(done).to_be_visible()
    dashboard.button("Compare").click()
    expect(page.get_by_text("changed during the run: seeded “Isthmus”").first).to_be_visible()
    dashboard.button("Topics").click()
    dashboard.button("Undo edit").click()
    expect(done).to_have_count(0)


def test_the_back_button_returns_from_a_document_to_its_topic(finished):
    page = finished.page
    finished.button("Topics").click()
    expect(page).to_have_url(re.compile("page=Topics&topic="))
    title = page.get_by_role("button", name=re.compile("^open: ")).first
    title.click()
    expect(page).to_have_url(re.compile("page=Documents.*&document="))
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="Map of topics")).to_be_visible()
    expect(page).to_have_url(re.compile("page=Topics"))
    page.go_forward()
    expect(page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("&document="))


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
def test_a_document_is_in_view_when_it_is_opened_far_down_the_list_or_from_a_topic(
    look_at_finished, size
):
    dashboard = look_at_finished(size)
    page = dashboard.page
    document = page.get_by_role("heading", name=re.compile("^[0-9]{4} .+, passage [0-9]+$"))
    dashboard.button("Documents").click()
    page.get_by_role("button", name=re.compile("^open: ")).nth(20).click()
    expect(document).to_be_in_viewport()
    dashboard.button("Topics").click()
    expect(document).to_be_hidden()
    page.get_by_role("button", name=re.compile("^open: ")).nth(1).click()
    expect(document).to_be_in_viewport()


# The canvas of the map, and its dots: where each is on the canvas, and how opaque; none until it is
# drawn.
FIND_MAP = """
  const find = (view) => view.model?.type === "Figure"
    && view.model.renderers.some(each => each.data_source?.data?.alpha) ? view
    : (view.child_views ?? []).map(find).find(Boolean)
  const view = Bokeh.index.roots.map(find).find(Boolean)
"""
FIND_CANVAS = f"() => {{ {FIND_MAP} return view.canvas_view.el }}"
FIND_DOTS = (
    f"() => {{ {FIND_MAP}"
    """
  if (!view?.is_idle) return []
  const {data} = view.model.renderers.find(each => each.data_source?.data?.alpha).data_source
  return [...data.title].map((title, i) => ({title, alpha: data.alpha[i],
    x: view.frame.x_scale.compute(data.x[i]), y: view.frame.y_scale.compute(data.y[i])}))
}"""
)
ARE_ALIKE = f"() => {{ const dots = ({FIND_DOTS})(); return dots.length && dots.every(dot => dot.alpha === 0.7) }}"
IS_LIT = (
    f"([least, most]) => {{ const lit = ({FIND_DOTS})().filter(dot => dot.alpha > 0.5).length\n"
    + "return lit >= least && lit <= most }"
)


def test_a_word_lights_its_topics_on_the_map_and_a_topic_its_words(finished):
    page = finished.page
    finished.button("Topics").click()
    # Until all documents are read, another topic may be the largest, with other words.
    expect(page.get_by_text(re.compile("^Topics of all 10,384 documents"))).to_be_visible()
    words = page.get_by_role("button", name=re.compile("^show topics: "))
    expect(words).to_have_count(20)
    own = words.first.get_attribute("aria-label")
    page.wait_for_function(ARE_ALIKE)
    dots = page.evaluate(FIND_DOTS)
    words.nth(1).hover()
    page.wait_for_function(IS_LIT, arg=[1, 6])
    # With the keyboard too: the focus does what the pointer does.
    page.mouse.move(5, 5)
    page.wait_for_function(IS_LIT, arg=[len(dots)] * 2)
    words.nth(2).focus()
    page.wait_for_function(IS_LIT, arg=[1, 6])
    words.nth(2).blur()
    page.wait_for_function(IS_LIT, arg=[len(dots)] * 2)
    # The largest topic is selected; the second one has other words.
    canvas = page.evaluate_handle(FIND_CANVAS).as_element()
    for aside in (-3, 0, 1):
        # The pointer waits until the map is in view and stays at its place.
        canvas.hover(position={axis: dots[1][axis] + aside for axis in "xy"})
    expect(page.get_by_role("heading", name=f"Words of “{dots[1]['title']}”")).to_be_visible()
    page.wait_for_function(IS_LIT, arg=[1, 1])
    page.mouse.move(5, 5)
    expect(page.get_by_role("heading", name="Words", exact=True)).to_be_visible()
    expect(words.first).to_have_attribute("aria-label", own)


FIND_LARGEST = """() => {
  const models = Bokeh.documents.flatMap(d => d.roots()).flatMap(r => [...r.references()])
  const {data} = models.find(m => m.type === "ColumnDataSource" && m.data.documents?.length && "place" in m.data)
  const largest = []
  data.place.forEach((place, i) => { largest[place] = Math.max(largest[place] ?? 0, data.value[i]) })
  return largest
}"""


def test_the_calendar_names_its_axes_and_a_span_narrows_the_documents(finished):
    page = finished.page
    finished.button("Time").click()
    expect(page.get_by_role("combobox", name="Period")).to_have_text("decade")
    finished.button("Model at the time").click()
    expect(page.get_by_text("inferred just before it learned from the document")).to_be_attached()
    finished.button("Latest model").click()
    expect(
        page.get_by_text("as inferred with the latest model. Up to 15 topics are shown")
    ).to_be_attached()
    # No decade is empty: the topic that is largest in it has a row.
    are_large = (
        f"() => {{ const all = ({FIND_LARGEST})(); return all.length === 24 && Math.min(...all) >"
        " 0.05 }"
    )
    page.wait_for_function(are_large)
    expect(page.get_by_text(re.compile("1[0-9]{2} topics at the first moment"))).to_be_visible()
    expect(page.get_by_text(re.compile("^stable from here on"))).not_to_have_count(0)
    page.get_by_role("combobox", name="Documents from").click()
    page.get_by_role("menuitem", name="1990s").or_(page.get_by_role("option", name="1990s")).click()
    finished.button("Documents").click()
    page.get_by_role("button", name=re.compile("^topic ")).click()
    finished.button("Date").click()
    expect(page.get_by_role("button", name=re.compile("^open: 199"))).not_to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("^open: 1[78]"))).to_have_count(0)


def test_the_wheel_scrolls_the_page_over_a_plot_and_back_returns_to_the_place(finished):
    page = finished.page
    finished.button("Time").click()
    expect(page.get_by_role("heading", name="Topics over time")).to_be_visible()
    page.get_by_role("heading", name="Topics over time").click()
    page.mouse.move(800, 500)
    page.mouse.wheel(0, 400)
    page.wait_for_function(f"() => ({FIND_SCROLLED})(document) === 400")
    document = page.get_by_role("button", name=re.compile("^open: ")).first
    document.hover()
    place = page.evaluate(f"() => ({FIND_SCROLLED})(document)")
    document.click()
    expect(page).to_have_url(re.compile("page=Documents"))
    page.go_back()
    expect(page).to_have_url(re.compile("page=Time"))
    page.wait_for_function(f"place => ({FIND_SCROLLED})(document) === place", arg=place)


def test_axe_finds_nothing_on_the_pages_of_a_finished_run(finished):
    for name in ("Topics", "Time", "Documents"):
        finished.button(name).click()
        expect(finished.page.get_by_text(re.compile("all 10,384 documents"))).to_be_visible()
        found = Axe().run(finished.page).response["violations"]
        assert [each["id"] for each in found] == [], name


def test_under_the_hood_the_topic_of_a_slot_is_the_one_whose_arrows_are_drawn(finished):
    page = finished.page
    finished.button("Under the hood").click()
    expect(page.get_by_text("The model after 9,384 documents.", exact=True)).to_be_visible()
    expect(page.get_by_text("These iterations maximise the document")).to_be_visible()
    expect(
        page.get_by_text(re.compile("The run stops after [0-9]+ iterations, up to the dashed line"))
    ).to_be_visible()
    slot = page.get_by_role("button", name=re.compile("^select topic: slot")).last
    topic = re.search(r"slot \d+: (.+)$", slot.get_attribute("aria-label") or slot.inner_text())[1]
    slot.click()
    expect(page.get_by_text(f"Shown for {topic}, from")).to_be_visible()
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found] == []


def test_the_back_button_does_not_select_a_topic_of_an_earlier_run(dashboard):
    page = dashboard.page
    dashboard.button("Topics").click()
    expect(page).to_have_url(re.compile("page=Topics&topic="))
    dashboard.button("Live").click()
    expect(page).to_have_url(re.compile("&topic="))
    expect(page).not_to_have_url(re.compile("page=Topics"))
    dashboard.button("Restart").click()
    expect(page).not_to_have_url(re.compile("topic="))
    page.go_back()
    expect(page).not_to_have_url(re.compile("topic="))
    page.go_back()
    expect(page).to_have_url(re.compile("page=Topics"))


def test_pieces_of_the_stick_are_as_long_as_their_shares_and_only_wide_ones_have_a_label(finished):
    stick = finished.page.get_by_role("group", name="Topics by share")
    stick.evaluate("stick => Promise.all(stick.getAnimations().map(each => each.finished))")
    pieces = stick.get_by_role("button").evaluate_all(
        """pieces => pieces.map(piece => {
          const {width, bottom} = piece.getBoundingClientRect()
          const label = piece.firstChild.getBoundingClientRect()
          return [piece.ariaLabel, width, label.top < bottom - 1]
        })"""
    )
    whole = stick.bounding_box()["width"]
    for title, width, has_label in pieces:
        percent = float(re.search("([0-9.]+) %$", title)[1])
        assert 100.0 * width / whole == pytest.approx(percent, abs=0.06 + 100.0 / whole)
        assert has_label is (width >= 56.0)
    assert {has_label for *_, has_label in pieces} == {True, False}
