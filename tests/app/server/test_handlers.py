"""Handlers of the server: component files and the login, where Panel's own ones have faults that
ours have not.
"""

import hmac
import logging
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import panel as pn
import pytest
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import check_allowlist
from jinja2 import Template
from panel.auth import BasicLoginHandler, LogoutHandler
from panel.io.resources import CDN_DIST
from panel.io.server import ComponentResourceHandler
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, HTTPError, RequestHandler

from stickbreaker.app.server.handlers import (
    ComponentHandler,
    LeaveHandler,
    PasswordHandler,
    is_right,
    leads_elsewhere,
)
from stickbreaker.app.server.safe_handlers import log_without_query, make_safe


def make_handler(kind: type[RequestHandler], address: str) -> RequestHandler:
    """A handler of a request for this address."""
    line = RequestStartLine("GET", address, "HTTP/1.1")
    connection = Mock(context=SimpleNamespace(remote_ip="192.0.2.1", protocol="http"))
    request = HTTPServerRequest(
        start_line=line, headers=HTTPHeaders(Host="localhost"), connection=connection
    )
    return kind(Application(cookie_secret="secret"), request)


def written(handler: RequestHandler) -> str:
    """What a handler has written."""
    return b"".join(handler._write_buffer).decode()


def test_bokeh_writes_all_headers_and_cookies_into_tokens_unless_told_not_to():
    assert BokehTornado({}).include_headers is None
    assert BokehTornado({}).include_cookies is None


def test_tornado_logs_the_query_of_a_request_that_fails_and_a_safe_handler_does_not(caplog):
    for kind, is_logged in ((RequestHandler, True), (make_safe(RequestHandler), False)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="tornado.general"):
            handler = make_handler(kind, "/app?token=secret")
            handler.log_exception(ValueError, ValueError("x"), None)
            handler.log_exception(HTTPError, HTTPError(400, "wrong %s", "name"), None)
        assert ("token=secret" in caplog.text) == is_logged
        assert "400 GET /app" in caplog.text


def test_tornado_sets_bare_cookies_and_a_safe_handler_does_not():
    plain, safe = (
        make_handler(kind, "/app") for kind in (RequestHandler, make_safe(RequestHandler))
    )
    for handler in (plain, safe):
        handler.set_cookie("name", "value")
    assert plain._new_cookie["name"].OutputString() == "name=value; Path=/"
    assert safe._new_cookie["name"].OutputString() == "name=value; HttpOnly; Path=/; SameSite=Lax"


def test_tornado_logs_queries_unless_it_has_another_function(caplog):
    handler = make_handler(RequestHandler, "/app?token=secret")
    with caplog.at_level(logging.INFO, logger="tornado.access"):
        Application().log_request(handler)
        log_without_query(handler)
    plain, own = (record.getMessage() for record in caplog.records)
    assert "token=secret" in plain
    assert "secret" not in own
    assert own.startswith("200 GET /app ")


def test_bokeh_adds_port_80_to_an_origin_without_a_port():
    assert check_allowlist("class.example", ["class.example:80"])
    assert not check_allowlist("class.example", ["class.example:443"])


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    """The name of a module that no one has imported."""
    (tmp_path / "panel_unknown.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "panel_unknown"
    sys.modules.pop("panel_unknown", None)


def test_panel_imports_any_module_that_a_visitor_names(unknown):
    path = f"{unknown}/Component/_css/sheet.css"
    for kind, is_imported in ((ComponentHandler, False), (ComponentResourceHandler, True)):
        with pytest.raises(HTTPError):
            make_handler_path(kind, path)
        assert (unknown in sys.modules) == is_imported


def make_handler_path(kind: type[ComponentResourceHandler], path: str) -> str:
    """The file that a handler finds for a path."""
    return kind.parse_url_path(kind.__new__(kind), path)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", False),
        ("?next=/app", False),
        ("?next=///evil.example", True),
        ("?next=/app&next=//evil.example", True),
    ],
)
def test_a_login_leads_to_a_path_of_this_server(query, expected):
    assert leads_elsewhere(make_handler(RequestHandler, f"/login{query}").request) == expected


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


def test_panel_answers_at_once_for_an_unknown_user_and_ours_compares_passwords(monkeypatch):
    noted, compare = [], hmac.compare_digest
    monkeypatch.setattr(
        hmac, "compare_digest", lambda *given: noted.append(given) or compare(*given)
    )
    plain, passwords = make_handler(BasicLoginHandler, "/login"), {"ada": "right"}
    with pn.config.set(basic_auth=passwords):
        assert not plain._validate("bob", Told("right", noted))
        assert noted == []
        assert plain._validate("ada", Told("right", noted))
        assert noted == ["right"]
    assert not is_right(passwords, "bob", "right")
    assert noted[1:] == [(b"right", b"")]


@pytest.mark.parametrize("given", [{"ada": "right"}, "right"])
def test_a_login_accepts_the_right_password_only(given):
    assert is_right(given, "ada", "right")
    assert not is_right(given, "ada", "wrong")
    assert is_right(given, "bob", "right") == isinstance(given, str)


def test_panel_shows_any_text_of_the_address_and_takes_its_style_from_elsewhere():
    plain, own = (
        make_handler(kind, "/login?error=Call+555") for kind in (BasicLoginHandler, PasswordHandler)
    )
    for page in (plain, own):
        page.get()
    assert "Call 555" in written(plain)
    assert CDN_DIST in written(plain)
    assert "Call 555" not in written(own)
    assert CDN_DIST not in written(own)
    assert 'action="./login"' in written(own)


def test_the_form_of_the_administrator_is_shown_with_a_relative_address():
    page = make_handler(PasswordHandler, "/login")
    page._login_template = Template("theirs {{ login_endpoint }} {{ errormessage }}")
    page.get()
    assert written(page) == "theirs ./login "


def test_the_page_after_a_logout_of_panel_needs_another_site_and_ours_does_not():
    plain, own = (make_handler(kind, "/logout") for kind in (LogoutHandler, LeaveHandler))
    for page in (plain, own):
        page.get()
    assert CDN_DIST in written(plain)
    assert "http" not in written(own).replace("http://www.w3.org", "")
    assert {"user", "id_token"} <= set(own._new_cookie)
