"""A server that follows a file: its page shows what arrives while it is open."""

import json
from itertools import islice

import numpy as np
import pytest
from playwright.sync_api import expect

from stickbreaker import engine
from stickbreaker.app.server.stream_source import PATH
from tests.browser.conftest import PAGE_ERROR, serving
from tests.browser.dashboard import FIRST_SECONDS
from tests.browser.test_looks import OVERFLOWS, SIZES, find_lasting_barriers

pytestmark = [pytest.mark.browser, pytest.mark.extended]

BATCH_SIZE = 256
IS_DRAWN = """() => document.documentElement.classList.contains("is-drawn")
  && Bokeh.index.roots.every(root => root.is_idle)"""


class GrowingNews:
    """A JSON-lines file with the passages of State of the Union, as if one arrived each minute."""

    def __init__(self, path):
        self.path, self.num_written = path, 0
        path.touch()
        self.texts = write_passages()

    def append(self, number):
        """Add some documents."""
        start = np.datetime64("2026-11-26T06:00")
        with self.path.open("a", encoding="utf-8") as file:
            for text in islice(self.texts, number):
                date = start + np.timedelta64(self.num_written, "m")
                file.write(json.dumps({"date": str(date), "text": text}) + "\n")
                self.num_written += 1

    def fill(self, num_batches):
        """Add documents until this number of mini-batches and fifty more are there."""
        self.append(num_batches * BATCH_SIZE + 50 - self.num_written)


def write_passages():
    """The words of the passages of a corpus, passage by passage, from the latest on."""
    corpus = engine.load_corpus("state-of-the-union")
    counts, words = corpus.counts.tocsr(), np.array(corpus.vocabulary.words)
    for row in range(corpus.num_documents - 1, -1, -1):
        entries = slice(counts.indptr[row], counts.indptr[row + 1])
        yield " ".join(np.repeat(words[counts.indices[entries]], counts.data[entries]))


@pytest.fixture(scope="module")
def news(tmp_path_factory):
    """The file that grows."""
    return GrowingNews(tmp_path_factory.mktemp("news") / "news.jsonl")


@pytest.fixture(scope="module")
def stream_address(news, tmp_path_factory):
    """The address of a server that follows it; its log must have no errors of views."""
    folder = tmp_path_factory.mktemp("stream")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PATH, str(news.path))
        patch.setenv("STICKBREAKER_DATA", str(folder))
        with serving(["-m", "panel", "serve"], folder / "log.txt") as found:
            yield found
    assert PAGE_ERROR not in (folder / "log.txt").read_text()


@pytest.fixture
def open_page(visit, stream_address):
    """Open the page of the stream in a browser of this size."""

    def open_page(size=None, **emulated):
        dashboard = visit(size, at=stream_address, learns=False, **emulated)
        dashboard.page.wait_for_function(IS_DRAWN, timeout=FIRST_SECONDS)
        return dashboard

    return open_page


def test_a_page_follows_a_file_that_grows(open_page, news):
    dashboard = open_page()
    page, says = dashboard.page, dashboard.page.locator(".run-summary")
    expect(says).to_contain_text(
        "Waiting for documents: 0 of 256 documents have arrived.", timeout=FIRST_SECONDS
    )
    expect(page.get_by_text("The first column appears with the first mini-batch.")).to_be_visible()
    expect(page.get_by_role("button", name="Share")).to_have_count(0)
    news.append(100)
    expect(says).to_contain_text("Waiting for documents: 100 of 256 documents have arrived.")
    expect(
        page.get_by_role("progressbar", name="Documents of the next mini-batch")
    ).to_have_attribute("aria-valuetext", "100 of 256 documents")
    news.fill(1)
    expect(dashboard.documents).to_have_text("256 documents", timeout=FIRST_SECONDS)
    dashboard.expect_state("Following")
    expect(says).to_contain_text(
        "Following news.jsonl: 256 documents read, the last of 2026-11-26 10:15."
    )
    expect(dashboard.word_heads).to_have_count(1)
    expect(dashboard.words.locator("tbody").first.locator("td").first).not_to_be_empty()
    expect(page.locator("li")).to_have_count(5)
    for number in (2, 3):
        news.fill(number)
        expect(dashboard.documents).to_have_text(f"{number * BATCH_SIZE} documents")
    expect(dashboard.word_heads).to_have_count(3)
    expect(says).not_to_contain_text("–")
    facts = page.locator(".stream-facts")
    expect(facts).to_contain_text("50 of 256 documents so far")
    expect(facts).to_contain_text("New, dropped and left out: in the last 768 documents.")
    page.get_by_role("heading", name="Curves").scroll_into_view_if_needed()
    page.get_by_role("button", name="dates").click()


def test_a_wrong_line_is_named_and_the_stream_goes_on(open_page, news):
    dashboard = open_page()
    news.fill(4)
    with news.path.open("a") as file:
        file.write("this is not JSON\n")
    line = news.num_written + 1
    expect(dashboard.note).to_have_text(
        f'news.jsonl, line {line}, is skipped: write one object per line, like {{"text": "..."}}.'
    )
    news.fill(5)
    expect(dashboard.documents).to_have_text("1,280 documents")
    dashboard.expect_state("Following")


@SIZES
def test_axe_finds_nothing_on_the_page_of_a_stream_light_or_dark_and_nothing_is_cut_off(
    open_page, news, size
):
    news.fill(6)
    dashboard = open_page(size)
    # Mini-batches that arrive together may share a column.
    expect(dashboard.word_heads.nth(1)).to_be_attached()
    dashboard.page.get_by_role("heading", name="Curves").scroll_into_view_if_needed()
    expect(dashboard.button("dates")).to_be_visible()
    assert find_lasting_barriers(dashboard.page) == []
    assert dashboard.page.evaluate(OVERFLOWS) == []
    dashboard.go_dark()
    assert find_lasting_barriers(dashboard.page) == []
