"""A run whose server is killed opens again where it stopped."""

import os
import re
import time
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from stickbreaker.app.model.page_notes import read_status
from stickbreaker.engine.runs import checkpoint
from tests.browser.conftest import LIFETIME, OPTIONS, ROOT, TOKEN, let_in, start
from tests.browser.dashboard import WIDE, Dashboard
from tests.patience import limit

pytestmark = [pytest.mark.browser, pytest.mark.extended]


@contextmanager
def server_to_kill(folder, name, *options):
    """Serve the page with its data in this folder; yields the process and the address."""
    environment = os.environ | {"STICKBREAKER_TOKEN": TOKEN, "STICKBREAKER_DATA": str(folder)}
    command = ["-m", "panel", "serve", *OPTIONS, *LIFETIME, *options]
    server, address = start(command, folder / f"{name}.txt", environment, ROOT)
    try:
        yield server, address
    finally:
        server.kill()
        server.wait()


def test_a_run_opens_where_it_stopped_after_its_server_was_killed(new_context, tmp_path):
    # Without the usual watch for faults: the browser says that the killed server does not answer.
    context = new_context(viewport=WIDE)
    with server_to_kill(tmp_path, "first") as (server, address):
        let_in(context, address)
        dashboard = Dashboard(context.new_page()).open(address)
        dashboard.slider("forgetting_rate").press("ArrowRight")
        expect(dashboard.page).to_have_url(re.compile("forgetting_rate="))
        dashboard.pause()
        seen, query = dashboard.documents.inner_text(), dashboard.page.url.partition("?")[2]
        expect_saved(tmp_path, dashboard)
        server.kill()
        server.wait()
    with server_to_kill(tmp_path, "second") as (_, address):
        let_in(context, address)
        dashboard = Dashboard(context.new_page()).open(f"{address}?{query}")
        dashboard.expect_state("Paused")
        expect(dashboard.documents).to_have_text(seen)
        expect(dashboard.note).to_contain_text("Restored where it stopped")
        expect(dashboard.page).to_have_url(f"{address}?{query}")
        dashboard.button("Run").click()
        dashboard.finish()
        expect(dashboard.word_heads).to_have_count(9)


def expect_saved(folder, dashboard):
    """Wait until the paused run, not only its first mini-batch, is on disk."""
    end = time.monotonic() + limit(60)
    while time.monotonic() < end:
        saved = [checkpoint.load(path) for path in folder.glob("open-runs/[!.]*.npz")]
        if [(read_status(each), each.documents_seen) for each in saved] == [
            ("paused", dashboard.num_seen())
        ]:
            return
        dashboard.page.wait_for_timeout(100)
    pytest.fail("the run was not saved")
