"""Attacks on the page of a stream: every visitor has the same page, and no message changes what
others see.
"""

import asyncio
import random
import re

import pytest

from stickbreaker.app.server.stream_source import PATH
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.app.small_streams import append, write_texts
from tests.browser.conftest import TOKEN, serving
from tests.security.served import Page, ask
from tests.security.test_watcher_messages import draw_event, find_data, resolve

pytestmark = pytest.mark.extended

NUM_MESSAGES, SEED = 2_000, 7
OTHER = "/etc/hostname"


@pytest.fixture(scope="module")
def stream_address(tmp_path_factory):
    """A server that follows a file of 300 documents."""
    folder = tmp_path_factory.mktemp("stream")
    path = folder / "news.jsonl"
    append(path, write_texts(300))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PATH, str(path))
        patch.setenv(FOLDER_VARIABLE, str(folder / "data"))
        with serving(
            ["-m", "panel", "serve", "--plugins", "stickbreaker.app.health"], folder / "log.txt"
        ) as found:
            yield found


def count(address, name):
    """A number of /metrics."""
    return int(
        re.search(rf"^{name} (\d+)$", ask(address, "/metrics").body.decode(), re.MULTILINE)[1]
    )


async def attack(address):
    """Send messages from one page.

    Returns what another page shows before and after, and how many pages are counted.
    """
    attacker = await Page.open(address, f"?follow={OTHER}&corpus={OTHER}")
    other = await Page.open(address)
    while count(address, "stickbreaker_stream_documents") < 256:
        await asyncio.sleep(0.5)
    before, num_pages = await resolve(other), count(address, "stickbreaker_pages")
    draw, models = random.Random(SEED), await attacker.pull()
    for _ in range(NUM_MESSAGES):
        await attacker.patch(draw_event(draw, models))
    await attacker.close()
    after = await resolve(other)
    await other.close()
    return before, after, num_pages


def test_no_message_of_a_page_changes_the_stream_or_another_page(stream_address):
    before, after, num_pages = asyncio.run(attack(stream_address))
    assert "256 documents" in str(before)
    assert OTHER not in str(before)
    assert after == before
    assert num_pages == 2
    assert ask(stream_address, "/healthz").status == 200


def test_the_token_gives_no_controls_and_no_paths(stream_address):
    cookie = ask(stream_address, f"/app?token={TOKEN.replace(' ', '%20')}").cookie

    async def look():
        page = await Page.open(stream_address, cookie=cookie)
        await asyncio.sleep(2)
        found = await page.pull()
        await page.close()
        return {str(find_data(model).get("label")) for model in found.values()} - {"None", ""}

    labels = asyncio.run(look())
    assert "Run" not in labels
    assert not any("path" in label.lower() or "corpus" in label.lower() for label in labels)
