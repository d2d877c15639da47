"""The table of the paper, and the topics next to it."""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker.app.frames.progress_frames import DEFAULT_TOPICS_RULE

pytestmark = pytest.mark.browser


def test_the_table_fills_column_by_column_marks_new_words_and_adds_a_topic_of_the_list(dashboard):
    page = dashboard.page
    expect(page.get_by_text(DEFAULT_TOPICS_RULE)).to_be_attached()
    expect(page.locator("thead th.planned")).to_have_count(9)
    dashboard.finish()
    expect(dashboard.word_heads).to_have_count(9)
    expect(page.locator("thead th.planned")).to_have_count(0)
    expect(dashboard.word_heads.last).to_contain_text("2021")
    expect(page.locator("tbody")).to_have_count(2)
    expect(page.locator("tbody .note")).to_have_text([re.compile("^clear early"), re.compile("^formed late")])
    expect(page.locator("td.new strong").first).to_be_visible()
    expect(page.locator("td.new:not(:has(.said))")).to_have_count(0)
    assert page.locator("tbody tr").count() == 22
    expect(page.locator("li")).to_have_count(6)
    # The largest topics change once the corpus has been read.
    expect(page.get_by_text("Share of all words, as read with the model.")).to_be_visible(timeout=60_000)
    buttons = page.get_by_role("button", name=re.compile("^show in table: "))
    shown = page.locator("tbody .name strong").all_inner_texts()
    labels = [button.get_attribute("aria-label") for button in buttons.all()]
    # By its place: topics can get other labels until the button is pressed.
    other = next(i for i, label in enumerate(labels) if label.removeprefix("show in table: ") not in shown)
    buttons.nth(other).click()
    expect(page.locator("tbody")).to_have_count(3)
    dashboard.button("Show default topics").click()
    expect(page.locator("tbody")).to_have_count(2)


def test_curves_say_their_protocol_their_phase_and_their_rule(dashboard):
    page = dashboard.page
    expect(page.get_by_text("Held-out passages come from all years")).to_be_attached()
    expect(page.get_by_text("fewest topics whose expected tokens cover 99 %")).to_be_attached()
    expect(page.get_by_text("Warm-up (shaded)")).to_be_attached()
    for axis in ("dates", "seconds", "documents"):
        dashboard.button(axis).click()
        expect(dashboard.button(axis)).to_have_attribute("aria-pressed", "true")
