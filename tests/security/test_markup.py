"""Markup in words, titles, columns, names, run names and file names is text on every page and in
exports.
"""

import asyncio
import csv
import random
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlencode

import panel as pn
import pytest
from bokeh.resources import INLINE
from playwright.sync_api import TimeoutError, expect

from stickbreaker import engine
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.notebook import LiveRun, show_model
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.browser.conftest import is_fault, let_in
from tests.browser.dashboard import PAGES, WIDE, Dashboard

pytestmark = pytest.mark.browser
MARKUP = (
    "<img src=x onerror=window.isTaken=1>",
    "</script><script>window.isTaken=1</script>",
    "<svg onload=window.isTaken=1>",
    "javascript:window.isTaken=1",
    "\"'><iframe srcdoc='<script>parent.isTaken=1</script>'>",
    "{{7*7}}${7*7}<%= 7*7 %>",
)
EVIL = "".join(MARKUP)
IS_TAKEN = """() => window.isTaken || document.querySelectorAll("img[src=x], iframe[srcdoc], svg[onload]").length"""
NUM_DOCUMENTS, REVEAL_MILLISECONDS = 300, 5_000
TASKS = ("Find the intruder", "Guess the period", "Choose κ")


def write_table(folder):
    """A table with malicious titles, columns and file name."""
    draw = random.Random(0)
    path = folder / "<img src=x onerror=window.isTaken=1>.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow([f"text {MARKUP[0]}", f"date {MARKUP[3]}", f"title {MARKUP[1]}"])
        for number in range(NUM_DOCUMENTS):
            words = draw.choices(
                ("peace war army navy" if number % 2 else "cotton tariff trade wool").split(), k=25
            )
            rows.writerow([" ".join(words) + EVIL, 1900 + number // 3, f"{EVIL} {number}"])
    return path, Columns(f"text {MARKUP[0]}", f"date {MARKUP[3]}", f"title {MARKUP[1]}")


def write_counts(folder):
    """Counts of words that are markup."""
    draw = random.Random(0)
    words = [f"{MARKUP[number % len(MARKUP)]}{number}" for number in range(30)]
    (folder / "counts.vocab").write_text("\n".join(words))
    rows = []
    for number in range(NUM_DOCUMENTS):
        chosen = draw.sample(range(15 * (number % 2), 15 * (number % 2) + 15), 6)
        rows.append(f"6 {' '.join(f'{word}:{draw.randint(1, 3)}' for word in chosen)}")
    path = folder / "counts.ldac"
    path.write_text("\n".join(rows))
    return path


@pytest.fixture(scope="module")
def names(address, log, tmp_path_factory):
    """Names of two corpora of the server, both of them markup."""
    folder, library = tmp_path_factory.mktemp("evil"), log.parent / "data" / "corpora"
    path, columns = write_table(folder)
    table, counts = f"table {MARKUP[0]}", f"counts {MARKUP[2]}"
    build_own(BuildRequest(path, table, columns, WordChoices(max_share=1.0)), folder=library)
    build_own(BuildRequest(write_counts(folder), counts), folder=library)
    return table, counts


@pytest.fixture
def open_corpus(browser, address):
    """Open the page of a corpus and read all of it; no script runs and no error appears."""
    opened = []

    def open_corpus(name):
        context = browser.new_context(viewport=WIDE)
        faults = []
        context.on("console", lambda said: faults.append(said.text) if is_fault(said) else None)
        context.on("weberror", lambda thrown: faults.append(str(thrown.error)))
        context.on("dialog", lambda shown: faults.append(shown.message))
        let_in(context, address)
        dashboard = Dashboard(context.new_page())
        opened.append((context, dashboard, faults))
        dashboard.page.goto(f"{address}?{urlencode({'corpus': name})}")
        dashboard.state.wait_for()
        expect(dashboard.page.locator(".bar .corpus")).to_have_text(name)
        dashboard.finish()
        return dashboard

    yield open_corpus
    for context, _, faults in opened:
        context.close()
        assert faults == []


def look_at_all_pages(dashboard):
    for name in PAGES:
        dashboard.button(name).click()
        dashboard.settle()
        assert not dashboard.page.evaluate(IS_TAKEN), name


def name_a_topic(dashboard):
    """Give the selected topic a name that is markup."""
    dashboard.button("Topics").click()
    field = dashboard.page.get_by_role("textbox", name="Topic name")
    field.fill(EVIL)
    field.press("Enter")
    expect(dashboard.page.get_by_role("combobox", name="Topic").first).to_have_text(
        re.compile(r"^<img src=x")
    )


def look_at_class(dashboard):
    """Set every task of a class about words, titles and texts that are markup."""
    page = dashboard.page
    # The list of documents, which may be removed a moment later, has a button of this name too.
    dashboard.button("Share").first.click()
    for task in TASKS:
        dashboard.button("Class").click()
        button = dashboard.button(task)
        if not button.is_enabled():
            continue
        button.click()
        expect(page.get_by_role("region", name="Task for the class")).to_be_visible()
        # A prediction has no answer yet; its button may be that of the task before for a moment.
        if dashboard.button("Reveal the answer").is_enabled():
            with suppress(TimeoutError):
                dashboard.button("Reveal the answer").click(timeout=REVEAL_MILLISECONDS)
        dashboard.settle()
        assert not page.evaluate(IS_TAKEN), task
    dashboard.button("Share").first.click()


def look_at_opening(dashboard):
    """Load the page: until it is drawn, words and names are shown as text."""
    page = dashboard.page
    html = page.context.request.get(page.url).text()
    opening = html[html.index('<div id="opening">') : html.rindex("<!-- end of the opening -->")]
    assert "isTaken" in opening
    for tag in ("<img", "<script", "<svg onload", "<iframe"):
        assert tag not in opening
    page.reload(wait_until="commit")
    page.wait_for_function(
        "document.getElementById('opening') || document.querySelector('.is-drawn')"
    )
    assert not page.evaluate(IS_TAKEN)
    dashboard.state.wait_for()
    dashboard.settle()
    assert not page.evaluate(IS_TAKEN)


@pytest.mark.parametrize("place", [0, 1])
def test_markup_of_a_corpus_and_of_its_runs_is_text_on_every_page_and_in_exports(
    names, place, open_corpus, log, tmp_path, browser
):
    dashboard = open_corpus(names[place])
    kept = KeptRuns(log.parent / "data" / "runs")
    for run in kept.listing().runs:
        kept.rename(run.key, EVIL)
    name_a_topic(dashboard)
    look_at_all_pages(dashboard)
    look_at_class(dashboard)
    look_at_opening(dashboard)
    dashboard.button("Export").click()
    button = dashboard.button("Run as web page")
    expect(button).to_be_enabled()
    with dashboard.page.expect_download() as download:
        button.click()
    path = tmp_path / "page.html"
    download.value.save_as(path)
    assert re.fullmatch(r"[\w.-]+\.html", download.value.suggested_filename)
    offline = browser.new_page()
    offline.goto(path.as_uri())
    offline.wait_for_timeout(500)
    assert "isTaken" in offline.locator("body").inner_text()
    assert not offline.evaluate(IS_TAKEN)
    offline.close()


def test_markup_in_the_name_and_the_columns_of_a_file_is_text_in_its_preview(
    names, open_corpus, tmp_path
):
    dashboard = open_corpus(names[1])
    page = dashboard.page
    path, columns = write_table(tmp_path)
    dashboard.button("Bring your own text").click()
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(path)
    expect(page.get_by_text(re.compile("a vocabulary of"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Text", exact=True)).to_have_text(columns.text)
    expect(page.get_by_label("Corpus name")).to_have_value(re.compile("<img src=x"))
    assert not page.evaluate(IS_TAKEN)
    page.get_by_role("button", name="Word choices").click()
    page.get_by_label("Your stop words").fill(EVIL)
    page.keyboard.press("Tab")
    page.wait_for_timeout(500)
    assert not page.evaluate(IS_TAKEN)


def test_markup_in_words_and_titles_is_text_in_the_views_of_a_notebook(browser, tmp_path):
    corpus = engine.load_corpus(write_counts(tmp_path))
    corpus = replace(corpus, titles=[f"{EVIL} {number}" for number in range(corpus.num_documents)])
    hdp = engine.find_algorithm("hdp")
    live = LiveRun(corpus, hdp, hdp.config(max_topics=5), engine.RunSettings(num_test=10))
    # Playwright's own event loop is running on this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, live.learn()).result()
    model = engine.OnlineHDP(max_topics=5).fit(corpus)
    path = tmp_path / "notebook.html"
    pn.Column(live.finished_views(), show_model(model, corpus)).save(path, resources=INLINE)
    page = browser.new_page(viewport=WIDE)
    page.goto(path.as_uri())
    page.wait_for_function(
        "window.Bokeh && Bokeh.index.roots.length && Bokeh.index.roots.every(r => r.is_idle)"
    )
    assert "isTaken" in page.content()
    for plot in page.locator(".bk-Figure").all():
        box = plot.bounding_box()
        for across in range(1, 10):
            page.mouse.move(box["x"] + box["width"] * across / 10, box["y"] + box["height"] / 2)
    page.wait_for_timeout(500)
    assert not page.evaluate(IS_TAKEN)
    page.close()
