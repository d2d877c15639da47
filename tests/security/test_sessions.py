"""Attacks on sessions: foreign origins, forged tokens, chosen session ids, and pages of other
users.
"""

import json
import socket
from urllib.parse import urlsplit

import pytest
from bokeh.util.token import (
    generate_jwt_token,
    generate_session_id,
    get_session_id,
    get_token_payload,
)

from stickbreaker.app.__main__ import make_command, read_options
from stickbreaker.app.server import origins
from stickbreaker.app.server.claims import MANAGE, Claims
from stickbreaker.app.server.origins import list_origins
from tests.security.served import ask, knock, open_page

EVIL = "http://evil.example"


def forge(token, secret, **changes):
    """A token for the same session with other contents."""
    payload = get_token_payload(token) | changes
    del payload["session_expiry"]
    return generate_jwt_token(
        get_session_id(token), secret_key=secret, signed=bool(secret), extra_payload=payload
    )


@pytest.fixture(scope="module")
def token(address):
    """The token of one page; a refused request does not use it up."""
    return open_page(address).token


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://localhost", "http://localhost:1", "http://localhost.evil:5006"]
)
def test_a_foreign_origin_opens_no_websocket(address, token, origin):
    assert knock(address, token, origin) == 403


def test_a_site_whose_name_leads_to_this_machine_opens_no_websocket(address, token):
    host = "evil.example"
    headers = {"Host": host, "Sec-Fetch-Site": "same-origin"}
    assert knock(address, token, f"http://{host}", **headers) == 403


def test_a_page_is_told_why_its_websocket_does_not_open(address):
    said = open_page(address, "?origin=class.example:5006").body
    assert b"start it with --allow-websocket-origin class.example:5006" in said
    assert open_page(address, f"?origin={urlsplit(address).netloc}").body == b""
    assert open_page(address, "?origin=%3Cscript%3E").body == b""


def test_a_page_of_the_served_address_opens_its_websocket(address):
    assert knock(address, open_page(address).token) == 101


def test_a_token_without_a_signature_or_with_a_foreign_one_is_refused(address, token):
    rights = {"stickbreaker": {"user": None, "rights": ["manage", "paths"]}}
    for forged in (
        forge(token, None),
        forge(token, b"another secret"),
        forge(token, None, **rights),
        token.partition(".")[0] + "." + token.partition(".")[2][::-1],
        generate_jwt_token(generate_session_id(b"x", True), b"x", True),
        "",
        "no token",
        "e30.e30",
    ):
        assert knock(address, forged) == 403


def test_a_session_id_that_a_client_chooses_is_refused_with_a_sentence(address):
    own = open_page(address).token
    for query, headers in (
        ("?bokeh-session-id=chosen", {}),
        (f"?bokeh-session-id={get_session_id(own)}", {}),
        (f"?bokeh-token={own}", {}),
        ("", {"Bokeh-Session-Id": "chosen"}),
    ):
        answer = open_page(address, query, **headers)
        assert answer.status == 403
        assert (
            answer.body
            == b"This server chooses session ids itself: open the address without a session id."
        )


def test_the_script_that_hands_sessions_to_other_sites_is_not_served(address):
    answer = ask(address, "/app/autoload.js?bokeh-autoload-element=x", {"Origin": EVIL})
    assert answer.status == 404
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_the_token_in_a_page_holds_neither_cookies_nor_headers(login_address, log_in):
    cookie = log_in("anna")
    answer = open_page(login_address, cookie=cookie, **{"X-Secret": "of a proxy"})
    payload = get_token_payload(answer.token)
    assert payload["cookies"] == payload["headers"] == {}
    assert answer.claims == {"user": "anna", "rights": ["manage"]}
    values = [pair.partition("=")[2].strip('"') for pair in cookie.split("; ")]
    assert all(value.encode() not in answer.body for value in values)


def test_a_session_is_controlled_by_its_user_only(login_address, log_in):
    anna, ben = log_in("anna"), log_in("ben")
    token = open_page(login_address, cookie=anna).token
    assert knock(login_address, token, cookie=ben) == 403
    assert knock(login_address, token) == 403
    assert knock(login_address, token, cookie=anna.replace("2|1:0", "2|1:1")) == 403
    assert knock(login_address, token, cookie=anna) == 101


def test_without_a_login_no_page_of_users_is_made(login_address):
    answer = open_page(login_address)
    assert answer.status == 302
    assert answer.headers["Location"].startswith("./login?next=")


def test_claims_cover_those_of_the_same_user_with_no_more_rights():
    anna = Claims("anna", frozenset((MANAGE,)))
    assert anna.covers(anna)
    assert anna.covers(Claims("anna"))
    assert not Claims("anna").covers(anna)
    assert not anna.covers(Claims("ben"))
    assert not anna.covers(Claims(None))


def test_a_server_for_other_machines_allows_its_own_names_and_the_given_ones():
    name = socket.gethostname().lower()
    allowed = list_origins("0.0.0.0", 5006, ["Class.example:80"])
    assert {"localhost:5006", "127.0.0.1:5006", f"{name}:5006", "class.example:80"} <= set(allowed)
    assert not any("*" in origin or "evil" in origin for origin in allowed)
    assert "192.0.2.7:5006" in list_origins("192.0.2.7", 5006, [])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_link_for_others_names_this_machine_if_they_can_reach_it(host, monkeypatch):
    monkeypatch.setattr(origins, "find_own_address", lambda: "192.0.2.7")
    link = f"http://{host}:5006/app?watch=a"
    origins.note_network(False)
    assert origins.replace_local(link) == link
    origins.note_network(True)
    assert origins.replace_local(link) == "http://192.0.2.7:5006/app?watch=a"
    named = "https://class.example/app?watch=a"
    assert origins.replace_local(named) == named
    monkeypatch.setattr(origins, "find_own_address", lambda: "")
    origins.note_network(True)
    assert origins.replace_local(link) == link
    origins.note_network(False)


def test_the_command_uses_no_wildcard():
    given = ["--port", "0", "--address", "0.0.0.0", "--allow-websocket-origin", "class.example:80"]
    command = make_command(read_options([*given, "--no-show"]))
    assert "*" not in json.dumps(command)
    assert command[1:] == [*given[:2], "--plugins", "stickbreaker.app.health", *given[2:]]
