"""The page of a sweep works without a server: its sliders choose the run that it shows."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from stickbreaker.app.export.explorable import write_explorable
from stickbreaker.app.model.recorded_run import learn
from stickbreaker.app.model.sweep_plan import plan_sweep
from tests.app.small_runs import small_corpus, small_spec
from tests.browser.dashboard import PHONE, WIDE
from tests.browser.test_looks import OVERFLOWS

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of a small sweep."""
    grid = {"forgetting_rate": (0.6, 0.8), "batch_size": (5, 20)}
    runs = [learn(spec, small_corpus()).progress(1) for spec in plan_sweep(small_spec(), (), grid)]
    path = tmp_path_factory.mktemp("explorable") / "page.html"
    write_explorable(path, runs)
    return path


@pytest.fixture
def explorable(new_context, written, noticed):
    """Open the page in a browser of this size without a network; its errors are noticed."""

    def explorable(size, scheme):
        page = new_context(viewport=size, color_scheme=scheme, offline=True).new_page()
        page.on("console", lambda message: noticed.append(message.text))
        page.on("pageerror", lambda error: noticed.append(str(error)))
        page.goto(written.as_uri())
        return page

    return explorable


def read_run(page):
    """What the page shows of its run: words, curves, and the pieces of the stick."""
    pieces = page.get_by_role("group", name="Topics by share").get_by_role("button")
    return (
        page.get_by_role("table").inner_text(),
        page.locator("svg .run").evaluate_all("lines => lines.map(line => line.outerHTML)"),
        pieces.evaluate_all("pieces => pieces.map(piece => piece.ariaLabel)"),
    )


def test_sliders_change_words_curves_and_stick_and_a_run_is_replayed(explorable):
    page = explorable(WIDE, "light")
    rate = page.get_by_role("slider", name="Forgetting rate κ")
    page.get_by_role("slider", name="Mini-batch size S").press("Home")
    rate.press("Home")
    expect(rate).to_have_attribute("aria-valuetext", "0.6")
    before = read_run(page)
    rate.press("End")
    expect(rate).to_have_attribute("aria-valuetext", "0.8")
    for then, now in zip(before, read_run(page), strict=True):
        assert then != now
    page.get_by_role("button", name="Play the replay").click()
    expect(page.locator("thead th.planned")).to_have_count(1)
    expect(page.get_by_text(re.compile("after 50 of 100 documents"))).to_be_visible()
    expect(page.get_by_text(re.compile("after 100 of 100 documents"))).to_be_visible()
    expect(page.get_by_role("button", name="Play the replay")).to_be_visible()
    piece = page.get_by_role("group", name="Topics by share").get_by_role("button").last
    piece.click()
    expect(piece).to_have_attribute("aria-pressed", "true")
    title = page.locator("tbody th.title strong").first.inner_text()
    assert piece.get_attribute("aria-label").startswith(f"{title}: ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "narrow"])
def test_nothing_is_cut_and_axe_finds_nothing(explorable, size, scheme):
    page = explorable(size, scheme)
    expect(page.locator("svg .run")).to_have_count(2)
    assert page.evaluate(OVERFLOWS) == []
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
