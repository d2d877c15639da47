"""Workarounds for the server and its login: each works, and a test fails once it is no longer needed."""

import hmac
import inspect
import logging
import re
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import panel as pn
import pytest
from bokeh.server.server import BaseServer, Server
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import check_allowlist
from jinja2 import Template
from panel.auth import BasicAuthProvider, BasicLoginHandler, LogoutHandler
from panel.io.location import Location
from panel.io.resources import CDN_DIST
from panel.io.server import ComponentResourceHandler
from panel.util import parse_query
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, HTTPError, RequestHandler

from stickbreaker.app.panel_fixes import (
    ComponentHandler,
    LoginPage,
    LoginProvider,
    LogoutPage,
    keep_addresses_as_text,
    keep_requests_private,
    log_without_query,
    name_request,
    port_of_origin,
    replace_route,
)


def make_handler(kind: type[RequestHandler], address: str) -> RequestHandler:
    """A handler of a request for this address."""
    line = RequestStartLine("GET", address, "HTTP/1.1")
    connection = Mock(context=SimpleNamespace(remote_ip="192.0.2.1", protocol="http"))
    request = HTTPServerRequest(start_line=line, headers=HTTPHeaders(Host="localhost"), connection=connection)
    return kind(Application(cookie_secret="secret"), request)


def written(handler: RequestHandler) -> str:
    """What a handler has written."""
    return b"".join(handler._write_buffer).decode()


def test_bokeh_still_writes_headers_and_cookies_into_tokens_and_refuses_two_lists():
    assert BokehTornado({}).include_headers is None
    assert BokehTornado({}).include_cookies is None
    with pytest.raises(ValueError, match="not both"):
        BokehTornado({}, include_headers=["Host"], exclude_headers=["Cookie"])
    options = {"exclude_headers": ["Cookie"], "exclude_cookies": ["user"]}
    keep_requests_private(options)
    assert options == {"include_headers": [], "include_cookies": []}


def test_panel_still_cannot_read_an_address_with_a_long_number_and_ours_keeps_it_as_text(monkeypatch):
    search = f"?topic={'9' * 5_000}&corpus=x+y"
    monkeypatch.setattr("panel.io.location.parse_query", parse_query)
    with pytest.raises(ValueError, match="4300 digits"):
        assert Location(search=search).query_params
    keep_addresses_as_text()
    assert Location(search=search).query_params == {"topic": "9" * 5_000, "corpus": "x y"}


def test_tornado_still_writes_the_query_of_a_request_that_fails_into_the_log_and_ours_leaves_it_out(caplog):
    handler = make_handler(RequestHandler, "/app?token=secret")
    with caplog.at_level(logging.ERROR):
        handler.log_exception(ValueError, ValueError("x"), None)
    assert caplog.text.count("token=secret") == 2
    assert name_request(handler.request) == "GET /app"


def test_a_server_of_bokeh_still_has_no_public_name_for_its_tornado_application():
    source = inspect.getsource(BaseServer) + inspect.getsource(Server)
    assert "self._tornado = tornado_app" in source
    assert not re.search(r"return self\._tornado\s*$", source, re.MULTILINE)
    options = set(inspect.signature(BokehTornado).parameters)
    assert not {name for name in options if "transform" in name or "log_function" in name}


def test_tornado_still_logs_queries_unless_it_has_another_function(caplog):
    handler = make_handler(RequestHandler, "/app?token=secret")
    with caplog.at_level(logging.INFO, logger="tornado.access"):
        Application().log_request(handler)
        log_without_query(handler)
    plain, own = (record.getMessage() for record in caplog.records)
    assert "token=secret" in plain
    assert "secret" not in own
    assert own.startswith("200 GET /app ")


def test_bokeh_still_adds_port_80_to_an_origin_without_a_port():
    assert check_allowlist("class.example", ["class.example:80"])
    assert not check_allowlist("class.example", ["class.example:443"])
    assert [port_of_origin(port) for port in (80, 443, 5006)] == [80, 80, 5006]


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    """The name of a module that no one has imported."""
    (tmp_path / "panel_unknown.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "panel_unknown"
    sys.modules.pop("panel_unknown", None)


def test_panel_still_imports_any_module_that_a_visitor_names(unknown):
    path = f"{unknown}/Component/_css/sheet.css"
    for kind, is_imported in ((ComponentHandler, False), (ComponentResourceHandler, True)):
        with pytest.raises(HTTPError):
            make_handler_path(kind, path)
        assert (unknown in sys.modules) == is_imported


def make_handler_path(kind: type[ComponentResourceHandler], path: str) -> str:
    """The file that a handler finds for a path."""
    return kind.parse_url_path(kind.__new__(kind), path)


def test_only_the_route_of_component_files_gets_another_handler():
    assert replace_route(("/files", ComponentResourceHandler, {})) == ("/files", ComponentHandler, {})
    assert replace_route(("/other", RequestHandler, {})) == ("/other", RequestHandler, {})


def test_panel_still_compares_passwords_with_an_operator():
    source = inspect.getsource(BasicLoginHandler._validate)
    assert "password == auth_info" in source
    assert "compare_digest" not in source


class Told(str):
    """A password that notes what it is compared with."""

    __hash__ = str.__hash__

    def __new__(cls, text, noted):
        password = super().__new__(cls, text)
        password.noted = noted
        return password

    def __eq__(self, other):
        self.noted.append(other)
        return str(self) == other


def test_panel_still_answers_at_once_for_an_unknown_user_and_ours_compares_passwords(monkeypatch):
    noted, compare = [], hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *given: noted.append(given) or compare(*given))
    plain, own = make_handler(BasicLoginHandler, "/login"), make_handler(LoginPage, "/login")
    with pn.config.set(basic_auth={"ada": "right"}):
        assert not plain._validate("bob", Told("right", noted))
        assert noted == []
        assert plain._validate("ada", Told("right", noted))
        assert noted == ["right"]
        assert not own._validate("bob", "right")
    assert noted[1:] == [(b"right", b"")]


def test_panel_still_answers_after_a_wrong_password_as_after_a_right_one():
    statuses = []
    for password in ("right", "wrong"):
        page = make_handler(BasicLoginHandler, f"/login?username=ada&password={password}")
        page.finish = lambda: None
        with pn.config.set(basic_auth={"ada": "right"}):
            page.post()
        statuses.append(page.get_status())
    assert statuses == [302, 302]


@pytest.mark.parametrize("given", [{"ada": "right"}, "right"])
def test_a_login_accepts_the_right_password_only(given):
    page = make_handler(LoginPage, "/login")
    with pn.config.set(basic_auth=given):
        assert page._validate("ada", "right")
        assert not page._validate("ada", "wrong")
        assert page._validate("bob", "right") == isinstance(given, str)


def test_panel_still_shows_any_text_of_the_address_and_takes_its_style_from_elsewhere():
    page = make_handler(BasicLoginHandler, "/login?error=Call+555")
    page.get()
    assert "Call 555" in written(page)
    assert CDN_DIST in written(page)


def test_the_form_of_a_login_sends_to_a_relative_address_also_if_it_is_the_administrators():
    own = Template("own {{ login_endpoint }} {{ errormessage }}")
    page = make_handler(LoginPage, "/login")
    page.show_form(own, "wrong")
    page._login_template = Template("theirs {{ login_endpoint }} {{ errormessage }}")
    page.show_form(own, "wrong")
    assert written(page) == "own ./login wrongtheirs ./login wrong"


def test_the_page_after_a_logout_of_panel_still_needs_another_site_and_ours_does_not():
    plain, own = make_handler(LogoutHandler, "/logout"), make_handler(LogoutPage, "/logout")
    own.page = "You are logged out."
    plain.get()
    own.get()
    assert CDN_DIST in written(plain)
    assert written(own) == "You are logged out."
    assert {"user", "id_token"} <= set(own._new_cookie)


def test_panel_still_has_no_option_for_the_handlers_of_a_login():
    names = inspect.signature(BasicAuthProvider).parameters
    assert not [name for name in names if "handler" in name]

    class Provider(LoginProvider):
        login_page, logout_page = LoginPage, LogoutPage

    provider = Provider()
    assert (provider.login_handler, provider.logout_handler) == (LoginPage, LogoutPage)
