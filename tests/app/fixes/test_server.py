"""Workarounds for the server: the fault in the unchanged library, and that it is gone."""

import asyncio
from types import SimpleNamespace

import bokeh.server.server
import panel as pn
import pytest
from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.server.server import Server as BokehServer
from bokeh.server.tornado import BokehTornado
from bokeh.settings import settings
from panel.io.callbacks import PeriodicCallback
from panel.io.server import Server
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from stickbreaker.app.fixes.server import (
    find_missing,
    make_servers_of,
    open_browser_with_token,
    start_cleaning_up,
)
from tests.patience import limit
from tests.security.served import Page

SECRET = "a secret of these tests, long enough"


class OwnApplication(BokehTornado):
    """An application of our own."""


class OwnHTTP(HTTPServer):
    """An HTTP server of our own."""


@pytest.fixture
def unchanged(monkeypatch):
    """Restores the parts and settings of servers after the test."""
    for name in ("BokehTornado", "HTTPServer"):
        monkeypatch.setattr(bokeh.server.server, name, getattr(bokeh.server.server, name))
    for name in ("sign_sessions", "secret_key"):
        setting = getattr(settings, name)
        monkeypatch.setattr(setting, "_user_value", setting._user_value)
    monkeypatch.setitem(vars(settings), "_secret_key_bytes", None)
    monkeypatch.setattr(Server, "show", Server.show)


def test_a_server_is_made_of_our_parts_also_if_its_class_was_imported_before(unchanged):
    make_servers_of(OwnApplication, OwnHTTP, SECRET)

    async def make():
        server = BokehServer({}, port=0)
        assert isinstance(server._tornado, OwnApplication)
        assert isinstance(server._http, OwnHTTP)
        server.unlisten()

    asyncio.run(make())


def test_bokeh_remembers_that_it_had_no_secret_and_here_it_has_ours(unchanged):
    settings.secret_key = SECRET
    assert settings.secret_key_bytes() is None
    make_servers_of(OwnApplication, OwnHTTP, SECRET)
    assert settings.sign_sessions()
    assert settings.secret_key_bytes() == SECRET.encode()


def test_a_missing_name_without_which_no_server_is_protected_is_named(monkeypatch):
    assert find_missing() == ""
    monkeypatch.delattr("bokeh.server.server.HTTPServer")
    assert find_missing().endswith("HTTPServer is missing.")


def test_a_browser_opens_the_address_of_the_application_that_has_one(unchanged, monkeypatch):
    opened = []
    monkeypatch.setattr(
        "bokeh.util.browser.view", lambda address, **options: opened.append(address)
    )
    plain = SimpleNamespace(address=None, port=5006, prefix="")
    own = SimpleNamespace(
        _tornado=SimpleNamespace(show=lambda path: opened.append(f"{path}?token=x"))
    )
    Server.show(plain, "/app")
    for _ in range(2):
        open_browser_with_token()
    for server in (plain, own):
        Server.show(server, "/app")
    assert opened == ["http://localhost:5006/app", "http://localhost:5006/app", "/app?token=x"]


@pytest.mark.parametrize(
    ("prepare", "is_put_off"), [(lambda: None, True), (start_cleaning_up, False)]
)
def test_panel_starts_to_clean_up_again_and_again_unless_it_has_started_before_the_first_page(
    prepare, is_put_off, monkeypatch
):
    if not hasattr(pn.state, "_on_loop_thread"):
        pytest.skip("Panel 1.9 does not have the fault")
    begin, begun, called = PeriodicCallback.start, [], []
    monkeypatch.setattr(PeriodicCallback, "start", lambda self: begun.append(self) or begin(self))
    monkeypatch.setattr(type(pn.state), "_busy_cleanup_scheduled", None)

    def make_page(document):
        document.add_next_tick_callback(lambda: called.append(pn.state._add_busy_event("a page")))

    async def serve():
        server = BokehServer(
            {"/app": Application(FunctionHandler(make_page))}, port=0, io_loop=IOLoop.current()
        )
        server.start()
        prepare()
        page = await Page.open(f"http://localhost:{server.port}/app")
        end = asyncio.get_running_loop().time() + limit(30)
        while not called or (is_put_off and len(begun) < 20):
            assert asyncio.get_running_loop().time() < end
            await asyncio.sleep(0.01)
        await page.close()
        server.stop(wait=False)
        server.unlisten()
        pn.state._busy_cleanup_scheduled.stop()
        pn.state._remove_busy_event("a page")

    asyncio.run(serve())
    assert (len(begun) > 2) == is_put_off
