"""A page says that its connection is lost, and reconnects automatically."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import let_in
from tests.browser.dashboard import WIDE, Dashboard
from tests.browser.test_restored import expect_saved, server_to_kill
from tests.chaos.proxy import proxying

pytestmark = [pytest.mark.browser, pytest.mark.extended]


def test_a_page_says_that_its_connection_is_lost_and_opens_again_where_the_run_was(
    new_context, tmp_path
):
    # Without the usual watch for faults: the browser says that the server does not answer.
    context = new_context(viewport=WIDE)
    with proxying() as proxy:
        reached = f"http://localhost:{proxy.port}/app"
        origin = ("--allow-websocket-origin", f"localhost:{proxy.port}")
        with server_to_kill(tmp_path, "first", *origin) as (server, address):
            proxy.connect_to(urlsplit(address).port)
            let_in(context, reached)
            dashboard = Dashboard(context.new_page()).open(reached)
            dashboard.pause()
            expect(dashboard.page).to_have_url(re.compile("run="))
            seen = dashboard.documents.inner_text()
            run = re.search("run=([^&]+)", dashboard.page.url)[1]
            expect_saved(tmp_path, dashboard)
            # The page shows a stalled connection; when it works again, the same page continues.
            dashboard.page.evaluate("window.isSame = true")
            proxy.stall()
            dashboard.expect_state("No connection")
            expect(dashboard.note).to_contain_text("reconnects automatically")
            proxy.go_on()
            dashboard.expect_state("Paused")
            assert dashboard.page.evaluate("window.isSame")
            # The connection is cut while the server runs: the page opens again on its run.
            proxy.cut()
            dashboard.page.wait_for_function("!window.isSame")
            dashboard.expect_state("Paused")
            expect(dashboard.documents).to_have_text(seen)
            server.kill()
            server.wait()
            dashboard.expect_state("No connection")
            # Panel's own words for it are in a toast, which is not shown.
            toast = dashboard.page.get_by_text("Server connection lost.")
            expect(toast).to_be_attached()
            expect(toast).to_be_hidden()
        with server_to_kill(tmp_path, "second", *origin) as (_, address):
            proxy.connect_to(urlsplit(address).port)
            dashboard.expect_state("Paused")
            expect(dashboard.note).to_contain_text("Restored where it stopped")
            expect(dashboard.documents).to_have_text(seen)
            expect(dashboard.page).to_have_url(re.compile(f"run={run}"))
        context.close()
