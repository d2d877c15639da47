"""The consensus of twenty other runs becomes a kept run that opens."""

import re

import pytest
from playwright.sync_api import expect

from stickbreaker import engine
from stickbreaker.app.model.disk_space import OWN_CORPORA
from tests.browser.conftest import serving_page
from tests.patience import limit_ms

pytestmark = [pytest.mark.browser, pytest.mark.extended]


@pytest.fixture
def few_bars(tmp_path, monkeypatch):
    """The address of a page with a small corpus, on which twenty runs take seconds."""
    pictures = engine.load_corpus("bars").select(range(600))
    engine.store_corpus(pictures, tmp_path / OWN_CORPORA / "few-bars")
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    with serving_page(tmp_path / "log.txt") as address:
        yield f"{address}?corpus=few-bars"


def test_the_consensus_of_other_runs_is_kept_compared_and_opened(few_bars, visit):
    dashboard = visit(at=few_bars)
    page = dashboard.page
    dashboard.finish()
    dashboard.button("Topics").click()
    dashboard.button("Are topics found again?").click()
    dashboard.button("Keep the consensus model").click(timeout=limit_ms(240))
    expect(page.get_by_text("The consensus is a kept run now").first).to_be_visible()
    told = page.get_by_text(re.compile("Their consensus has [0-9]+ topics, and scores")).first
    number = re.search("consensus has ([0-9]+)", told.inner_text())[1]
    dashboard.button("Compare").click()
    row = page.get_by_role("row", name="Show the curve of Consensus of 20 runs")
    expect(row).to_contain_text(number)
    page.get_by_role("button", name="Open Consensus of 20 runs").click()
    expect(dashboard.button("Live")).to_have_attribute("aria-pressed", "true")
    dashboard.button("Topics").click()
    expect(page.get_by_text(re.compile(f"^{number} topics in use"))).to_be_visible()
    expect(page.get_by_text("Their consensus has").filter(visible=True)).to_have_count(0)
