"""A class: one page controls a run, another looks on at it through a link."""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker.app.views.sharing import PRESENTER_GONE, WATCHING
from tests.browser.dashboard import SLIDERS

pytestmark = [pytest.mark.browser, pytest.mark.extended]


def test_a_watcher_follows_the_presenter_on_a_separate_page_without_controls(visit):
    presenter = visit()
    presenter.pause()
    presenter.button("Share").click()
    link = presenter.page.get_by_label("Link to watch this run").input_value()
    watcher = visit(at=link)
    expect(watcher.page.get_by_text(WATCHING)).to_be_visible()
    for name in (
        "Run",
        "Pause",
        "Step",
        "Restart",
        "Share",
        "Bring your own text",
    ):
        expect(watcher.button(name)).to_have_count(0)
    for setting in SLIDERS:
        expect(watcher.slider(setting)).to_have_count(0)
    expect(watcher.page.get_by_text("Learning with κ")).to_be_visible()
    expect(presenter.page.get_by_text("1 watcher now.")).to_be_visible()

    watcher.page.locator("body").press("Space")
    watcher.button("Export").click()
    presenter.step()
    expect(watcher.documents).to_have_text(presenter.documents.inner_text())
    expect(watcher.button("Curves")).to_be_enabled()
    expect(presenter.button("Curves")).to_have_count(0)
    # The page may have selected a topic by itself.
    expect(watcher.page).to_have_url(re.compile(re.escape(f"{link}&page=Export")))

    presenter.page.goto("about:blank")
    expect(watcher.page.get_by_text(PRESENTER_GONE)).to_be_visible()
