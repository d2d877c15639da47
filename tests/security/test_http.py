"""Attacks with plain requests: redirects, passwords, frames and paths.

And the headers of every response.
"""

import json
import math
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pandas as pd
import pytest
from panel.command.serve import Serve

from stickbreaker.app.export.tables import write_table
from stickbreaker.app.model.kept_runs import KeptRunError, KeptRuns
from stickbreaker.app.server.handlers import is_local_path
from stickbreaker.app.server.login_delay import FREE_TRIES, MAX_ENTRIES, LoginDelay
from stickbreaker.app.server.response_headers import OPENING_END, OPENING_START, add_nonce
from stickbreaker.app.server.safe_settings import (
    UnsafeSettingsError,
    check_server,
    check_settings,
    choose_secret,
)
from stickbreaker.app.views.export_panel import as_file_name
from stickbreaker.app.widgets.uploads import Upload
from stickbreaker.engine.corpora.library import delete_own, load_own
from stickbreaker.engine.corpora.rows import CorpusError
from tests.browser.conftest import ROOT, TOKEN
from tests.patience import limit
from tests.security.conftest import PASSWORDS
from tests.security.served import ask, open_page

FOREIGN = (
    "//evil.example",
    "///evil.example",
    "////evil.example/app",
    "/\\evil.example",
    "\\\\evil.example",
    "/%2fevil.example",
    "%2f%2fevil.example",
    "/%252fevil.example",
    "/%5cevil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "HTTPS://evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/%09/evil.example",
    "/%0a/evil.example",
    "evil.example",
    ".evil.example",
    "@evil.example",
)
TRAVERSALS = (
    "../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "..\\..\\etc\\passwd",
    "..%5c..%5cetc%5cpasswd",
    "%252e%252e%252fetc%252fpasswd",
    "//etc/passwd",
    "/etc/passwd",
    "....//....//etc/passwd",
    "x/../../../../../../../../etc/passwd",
    "%00/etc/passwd",
    "../app_hooks.py",
    "../main.py",
)
ROUTES = (
    "",
    "static/",
    "app/static/",
    "static/extensions/",
    "static/extensions/panel/",
    "components/",
    "app/",
)
NAMES = (
    "../evil",
    "..",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "..\\evil",
    "\0",
    "",
    ".",
    "x\ny",
    "~root/x",
)
RESPONSES = (
    "/app",
    "/",
    "/healthz",
    "/metrics",
    "/nothing",
    "/static/js/bokeh.min.js",
    "/static/nothing",
)
RESPONSES += ("/app/metadata",)


def quote_once(url):
    return url.replace("%", "%25").replace("\\", "%5C").replace("+", "%2B")


@pytest.mark.parametrize("url", FOREIGN)
def test_a_login_leads_to_no_other_site(login_address, url):
    for sent in (url, quote_once(url)):
        answer = ask(login_address, f"/login?next={sent}")
        assert answer.status == 400
        assert not any("next_url" in cookie for cookie in answer.cookies)
    form = {"username": "anna", "password": PASSWORDS["anna"]}
    answer = ask(login_address, "/login", {"Cookie": f'next_url="{url}"'}, form)
    assert is_local_path(answer.headers.get("Location", "/"))


@pytest.mark.parametrize(
    "url", ["/", "/app", "/app?run=x&corpus=a%20b", "/app?page=Under+the+hood"]
)
def test_a_login_leads_back_to_the_requested_page(login_address, url):
    assert is_local_path(url)
    first = ask(login_address, f"/login?next={quote_once(url).replace('&', '%26')}")
    form = {"username": "anna", "password": PASSWORDS["anna"]}
    answer = ask(login_address, "/login", {"Cookie": first.cookie}, form)
    assert (answer.status, answer.headers["Location"]) == (302, url)


def test_wrong_passwords_delay_only_their_user(login_address, log_in):
    begun, statuses = time.monotonic(), []
    for number in range(20):
        answer = ask(
            login_address, "/login", form={"username": "ben", "password": f"guess {number}"}
        )
        statuses.append(answer.status)
    looked_at = statuses.count(401)
    # The waits are 1 s, 2 s, 4 s, and so on.
    assert looked_at <= FREE_TRIES + 1 + math.log2(1 + time.monotonic() - begun)
    assert statuses.count(429) == 20 - looked_at
    assert int(answer.headers["Retry-After"]) >= 1
    # A right password is not checked either while its user has to wait; other users do not wait.
    assert (
        ask(login_address, "/login", form={"username": "ben", "password": PASSWORDS["ben"]}).status
        == 429
    )
    assert log_in("anna")


def test_waiting_times_double_to_a_minute_end_with_a_login_and_take_bounded_memory():
    now = [0.0]
    delay = LoginDelay(lambda: now[0])
    waits = []
    for _ in range(12):
        delay.fail("anna")
        waits.append(delay.seconds_left("anna"))
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert delay.seconds_left("ben") == 0
    now[0] += 60
    assert delay.seconds_left("anna") == 0
    delay.forget("anna")
    delay.fail("anna")
    assert delay.seconds_left("anna") == 0
    for number in range(MAX_ENTRIES + 100):
        delay.fail(number)
    assert len(delay) == MAX_ENTRIES


def test_the_login_page_shows_no_text_of_its_address(login_address):
    answer = ask(login_address, "/login?error=%3Cscript%3Ealert(1)%3C/script%3E")
    assert answer.status == 200
    assert b"alert(1)" not in answer.body
    answer = ask(
        login_address, "/login", form={"username": '"><script>alert(1)</script>', "password": "x"}
    )
    assert b"alert(1)" not in answer.body


def check_headers(headers):
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self' 'nonce-" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]


@pytest.mark.parametrize("path", RESPONSES)
def test_every_response_has_headers_against_frames_and_foreign_content(address, path):
    check_headers(ask(address, path).headers)


@pytest.mark.parametrize(
    "path", ["/login", "/logout", "/app", "/nothing", "/login?next=//evil.example"]
)
def test_every_response_of_a_server_with_a_login_has_these_headers_too(login_address, path):
    check_headers(ask(login_address, path).headers)


def test_every_response_has_a_new_nonce(address):
    policies = {open_page(address).headers["Content-Security-Policy"] for _ in range(3)}
    assert len(policies) == 3


def test_only_scripts_outside_of_the_opening_get_the_nonce():
    evil = b"<script>evil()</script>"
    hostile = OPENING_START + evil + OPENING_END + evil + OPENING_START + evil
    page = (
        b"<script>ours()</script>"
        + OPENING_START
        + hostile
        + OPENING_END
        + b"<script>ours()</script>"
    )
    protected = add_nonce(page, "n")
    assert protected.count(b'<script nonce="n">ours()') == 2
    assert protected.count(b"<script>evil()") == 3
    assert add_nonce(b"<script>ours()</script>", "n") == b'<script nonce="n">ours()</script>'
    assert b"nonce" not in add_nonce(OPENING_START + evil, "n")


def test_the_page_marks_its_opening_so_that_only_known_scripts_get_the_nonce(address):
    answer = open_page(address)
    before, _, rest = answer.body.partition(OPENING_START)
    opening, end, after = rest.rpartition(OPENING_END)
    assert end
    assert b"<script" not in opening
    nonce = (
        answer.headers["Content-Security-Policy"].partition("'nonce-")[2].partition("'")[0].encode()
    )
    for part in (before, after):
        assert part.count(b"<script") == part.count(b'<script nonce="' + nonce + b'"') > 0


def test_cookies_are_hidden_from_other_sites_and_from_scripts(login_address):
    form = {"username": "anna", "password": PASSWORDS["anna"]}
    cookies = (
        ask(login_address, "/login", form=form).cookies
        + ask(login_address, "/login?next=/app").cookies
    )
    assert len(cookies) >= 3
    assert all(
        "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Secure" not in cookie
        for cookie in cookies
    )


def test_the_health_check_reports_the_state_and_loads_nothing(address):
    begun = time.monotonic()
    answers = [ask(address, "/healthz") for _ in range(50)]
    assert time.monotonic() - begun < limit(2.5)
    assert {answer.status for answer in answers} == {200}
    state = json.loads(answers[-1].body)
    assert state["healthy"]
    assert state["faults"] == []
    assert set(state) == {"healthy", "faults", "runs", "cores"}


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_leads_out_of_its_folder(address, route):
    for path in TRAVERSALS:
        answer = ask(address, f"/{route}{path}")
        assert answer.status >= 400, path
        assert b"root:" not in answer.body
        assert b"protect_server" not in answer.body


MODULES = [
    "antigravity",
    "this",
    "os",
    "stickbreaker.app.__main__",
    "tests.conftest",
    "panel.command",
]


@pytest.mark.parametrize("module", MODULES)
def test_no_request_imports_a_module(address, module):
    assert ask(address, f"/components/{module}/x/_css/y").status in (403, 404)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_corpus_a_run_or_an_upload_leads_out_of_its_folder(tmp_path, name):
    outside = tmp_path / "evil"
    outside.write_text("kept")
    folder = tmp_path / "data"
    folder.mkdir()
    for act in (load_own, delete_own):
        with pytest.raises(CorpusError):
            act(name, folder)
    for act in (KeptRuns(folder).load, KeptRuns(folder).delete):
        with suppress(KeptRunError, ValueError):
            act(name)
    upload = Upload()
    upload.begin()
    with suppress(CorpusError):
        upload.open(name, 1)
        upload.add("eA==")
        upload.end()
    assert all(path.parent == upload.folder for path in upload.folder.rglob("*"))
    upload.clear()
    assert not set(as_file_name(name)) & set("/\\\0\n")
    assert outside.read_text() == "kept"
    assert list(folder.rglob("*")) == []


def neutral(word):
    word = word.replace("\r", "\n")
    return word if word.startswith("peace") else f"'{word}"


def test_a_csv_file_contains_no_formula_and_ordinary_words_do_not_change(tmp_path):
    evil = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "peace\r=1",
        '=HYPERLINK("http://evil.example")',
    ]
    evil += ["＝1+1", "＋1", "－1", "＠SUM(A1)"]
    words = ["peace", "well-known", "a=b", "x@y", "1+1", "", "“so”", "naïve", "'tis"]
    numbers = [-0.5, 1e-9, *range(len(evil) + len(words) - 2)]
    frame = pd.DataFrame({"word": evil + words, "number": numbers})
    write_table(frame, tmp_path / "table.csv")
    back = pd.read_csv(tmp_path / "table.csv", keep_default_na=False)
    assert back["word"].tolist() == [neutral(word) for word in evil] + words
    assert back["number"].tolist() == numbers
    write_table(frame, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), frame)


SAFE = {"sign_sessions": True, "secret_key": b"x", "extra_patterns": []}
UNSAFE = (
    ({"extra_websocket_origins": ["*:80"]}, "wildcard"),
    ({"extra_websocket_origins": ["localhost:5006", "*.example:80"]}, "wildcard"),
    ({"sign_sessions": False}, "signature"),
    ({"secret_key": None}, "signature"),
    ({"generate_session_ids": False}, "clients supply"),
    ({"cookie_secret": "short"}, "too short"),
    ({"extra_patterns": [("/rest/x", object, {})]}, "REST"),
)


@pytest.mark.parametrize(("options", "said"), UNSAFE)
def test_an_unsafe_setting_is_refused_with_a_sentence(options, said):
    check_settings(SAFE)
    with pytest.raises(UnsafeSettingsError, match=said):
        check_settings(SAFE | options)


def test_secrets_of_the_administrator_are_used_if_they_are_long_enough():
    assert choose_secret({"BOKEH_SECRET_KEY": "x" * 32}) == "x" * 32
    assert choose_secret({}) != choose_secret({})
    for environment in ({"BOKEH_SECRET_KEY": "short"}, {"STICKBREAKER_TOKEN": "short"}):
        with pytest.raises(UnsafeSettingsError, match="too short"):
            choose_secret(environment)


def test_a_server_that_is_not_tornado_is_refused_with_a_sentence(monkeypatch):
    check_server()
    monkeypatch.setitem(sys.modules, "panel.io.asgi", object())
    with pytest.raises(UnsafeSettingsError, match="leave out --server"):
        check_server()


def test_a_server_is_refused_if_it_cannot_be_protected(monkeypatch):
    monkeypatch.delattr("tornado.web.Application.get_handler_delegate")
    with pytest.raises(UnsafeSettingsError, match="get_handler_delegate is missing"):
        check_server()


NOT_STARTED = (
    (("--session-ids", "unsigned"), {}, "signature"),
    (("--num-procs", "2"), {}, "processes"),
    ((), {"BOKEH_ALLOW_WS_ORIGIN": "*"}, "wildcard"),
    ((), {"STICKBREAKER_KEPT_MODELS": "1 GB"}, "such as STICKBREAKER_KEPT_MODELS=1"),
)


def serve_unsafely(options, variables):
    """Start a server with these options; return its exit code and error messages."""
    command = [sys.executable, "-m", "panel", "serve", "app", "--port", "0", *options]
    environment = os.environ | {"STICKBREAKER_TOKEN": TOKEN} | variables
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit(90),
        check=False,
    )
    return ended.returncode, ended.stderr


@pytest.fixture(scope="module")
def ended_servers():
    """The messages of all servers that must not start, two at a time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda each: serve_unsafely(*each[:2]), NOT_STARTED))


@pytest.mark.skipif("--server" not in dict(Serve.args), reason="Panel 1.9 has one server")
@pytest.mark.parametrize("name", ["asgi", "fastapi"])
def test_panel_serve_does_not_start_another_server(tmp_path, name):
    (tmp_path / "uvicorn.py").write_text("# Panel looks whether it is installed.")
    code, errors = serve_unsafely(
        ("--server", name), {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / '.import'}"}
    )
    assert code == 1
    assert "Not started. Panel's FastAPI and ASGI servers are refused" in errors


@pytest.mark.parametrize(
    ("place", "said"), [(place, said) for place, (*_, said) in enumerate(NOT_STARTED)]
)
def test_panel_serve_does_not_start_with_it(ended_servers, place, said):
    code, errors = ended_servers[place]
    assert code == 1
    assert "Not started." in errors
    assert said in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("name", ["topic", "max_topics", "run", "theme", "seed"])
@pytest.mark.parametrize("value", ["9" * 5_000, "1e400", "%5B" * 5_000, "%00%ff"])
def test_no_value_in_an_address_breaks_its_page(address, log, name, value):
    before = log.read_text().count("Traceback")
    answer = open_page(address, f"?{name}={value}")
    if "%ff" in value:
        assert answer.status == 400
    else:
        assert OPENING_START in answer.body
    assert log.read_text().count("Traceback") == before


def test_a_server_stays_up_after_all_this(address):
    assert open_page(address).status == 200
