"""Attacks on what needs the start-up token or a login: paths, corpora and kept runs."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.server.start_token import make_token, name_cookie
from stickbreaker.app.server.text_worker import TextWorker
from stickbreaker.app.state import RunState
from stickbreaker.app.views.bring_corpus import BringCorpus
from stickbreaker.app.views.compare import Compare
from stickbreaker.app.widgets.corpus_menu import CorpusMenu
from tests.app.browser_messages import send
from tests.browser.conftest import TOKEN
from tests.patience import limit
from tests.security.served import Page, ask, knock, open_page

LOCAL = ["manage", "paths"]
PROXIES = ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"X-Real-Ip": "::1"})


@pytest.fixture(scope="module")
def cookie(address):
    answer = ask(address, f"/app?token={TOKEN.replace(' ', '%20')}&run=x")
    assert answer.status == 302
    assert answer.headers["Location"] == "/app?run=x"
    return answer.cookie


def test_a_page_without_the_token_has_no_rights_on_this_machine_either(address):
    assert open_page(address).claims == {"user": None, "rights": []}


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read_and_that_does_not_reveal_it(
    address, cookie
):
    answer = ask(address, f"/app?token={TOKEN.replace(' ', '%20')}")
    assert "HttpOnly" in answer.cookies[0]
    assert "SameSite=Lax" in answer.cookies[0]
    assert TOKEN not in cookie
    assert answer.headers["Location"] == "/app"
    assert open_page(address, cookie=cookie).claims["rights"] == LOCAL


@pytest.mark.parametrize("token", ["", "x", "the%20start-up%20token", "%00", "%ff"])
def test_a_wrong_token_gives_no_cookie_and_leaves_the_address(address, token):
    answer = ask(address, f"/app?token={token}")
    assert (answer.status, answer.cookies) in ((302, ()), (400, ()))


def test_a_forged_cookie_gives_no_rights(address, cookie):
    name = cookie.partition("=")[0]
    for value in ("", "1", TOKEN.replace(" ", "_"), "0" * 64):
        assert open_page(address, cookie=f"{name}={value}").claims["rights"] == []


@pytest.mark.parametrize("headers", PROXIES)
def test_a_visitor_through_a_proxy_cannot_name_paths(address, cookie, headers):
    assert open_page(address, cookie=cookie, **headers).claims["rights"] == ["manage"]


@pytest.mark.parametrize("headers", PROXIES)
def test_a_socket_needs_the_rights_of_its_page_by_its_own_request(address, cookie, headers):
    token = open_page(address, cookie=cookie).token
    assert knock(address, token, cookie=cookie, **headers) == 403
    assert knock(address, token) == 403
    assert knock(address, token, cookie=cookie) == 101


def test_a_page_without_rights_does_not_get_them_from_a_socket_that_has_them(address, cookie):
    assert knock(address, open_page(address).token, cookie=cookie) == 101


def test_a_link_to_watch_has_no_rights_and_does_not_carry_the_token(address, cookie):
    assert open_page(address, "?watch=anything", cookie).claims["rights"] == []
    answer = ask(address, f"/app?watch=x&token={TOKEN.replace(' ', '%20')}")
    assert answer.headers["Location"] == "/app?watch=x"


def test_the_token_is_in_no_line_that_the_server_logs(address, log):
    ask(address, f"/app?token={TOKEN.replace(' ', '%20')}&bokeh-session-id=x")
    ask(address, "/nothing?token=guessed-token")
    lines = log.read_text().splitlines()
    printed = [line for line in lines if "token=" in line]
    assert printed
    assert all(line.startswith("    http") for line in printed)
    assert "guessed-token" not in log.read_text()


def test_a_server_with_a_login_prints_and_accepts_no_token(login_address, log_in):
    cookie = log_in("anna")
    assert open_page(login_address, cookie=cookie).claims["rights"] == ["manage"]
    assert TOKEN not in str(open_page(login_address, cookie=cookie).body)


def test_a_token_is_drawn_at_each_start_unless_it_is_fixed_and_is_in_no_repr():
    assert make_token({}).text != make_token({}).text
    assert make_token({"STICKBREAKER_TOKEN": "fixed for a class"}).text == "fixed for a class"
    assert "fixed" not in repr(make_token({"STICKBREAKER_TOKEN": "fixed for a class"}))
    assert len(make_token({}).text) >= 32


def test_the_cookie_of_one_server_is_not_that_of_another_on_the_same_host():
    request = type("Request", (), {"host": "localhost:5006"})
    assert name_cookie(request) == "stickbreaker-5006"


def test_a_message_of_a_browser_without_rights_reads_no_path(address, tmp_path):
    """The attack over the socket: open the dialog, then name a path in its hidden field."""
    secret = tmp_path / "secret.csv"
    secret.write_text("text\nthese words are secret\n")

    async def attack():
        page = await Page.open(address)
        bring = await find(page, "Bring your own text")
        await page.send_event("dom_event", **press(bring))
        field = await find(page, "Path on the server")
        await page.patch(
            {"kind": "ModelChanged", "model": {"id": field}, "attr": "visible", "new": True}
        )
        for attribute in ("value_input", "value"):
            await page.patch(set_model_data(await page.pull(), field, attribute, str(secret)))
        await asyncio.sleep(3)
        said = str(await page.pull())
        await page.close()
        return said

    said = asyncio.run(attack())
    assert "these words are secret" not in said
    assert "Corpus name" in said


def press(button):
    """The values of the event of a button that is pressed."""
    return {
        "model": {"id": button},
        "node": "click",
        "data": {"type": "map", "entries": [["type", "click"]]},
    }


async def find(page, label):
    """The id of the model with this label, as soon as it exists; the settings are opened."""
    end = time.monotonic() + limit(60)
    while time.monotonic() < end:
        for key, model in (await page.pull()).items():
            attributes = model.get("attributes", {})
            data = attributes.get("data")
            shown = data.get("attributes", {}) if isinstance(data, dict) else {}
            if label in (attributes.get("label"), shown.get("label")):
                return key
            if attributes.get("bundle") == "SideDrawer":
                opened = {"kind": "ModelChanged", "model": {"id": data["id"]}}
                await page.patch(opened | {"attr": "is_open", "new": True})
        await asyncio.sleep(0.2)
    raise AssertionError(f"no {label}")


def set_model_data(models, key, attribute, value):
    """A change of an attribute of a component's data."""
    data = models[key].get("attributes", {}).get("data")
    target = data["id"] if isinstance(data, dict) and "id" in data else key
    return {"kind": "ModelChanged", "model": {"id": target}, "attr": attribute, "new": value}


def test_a_page_without_rights_deletes_no_corpus(tmp_path):
    gone = []
    calls = dict.fromkeys(("export", "send", "refuse", "deleted", "count_names"), gone.append)
    corpora = CorpusMenu(**calls, folder=tmp_path, may_delete=False)
    corpora.menu.param.update(options=["mine"], value="mine")
    corpora.delete_corpus(None)
    corpora.delete_corpus(None)
    assert gone == []
    assert not corpora.delete.visible


def test_a_page_without_rights_lists_opens_renames_and_deletes_no_kept_run(tmp_path):
    asked = []

    class Watched(KeptRuns):
        def listing(self):
            asked.append("listing")

        def load(self, key):
            asked.append("load")

        def rename(self, key, name):
            asked.append("rename")

        def delete(self, key):
            asked.append("delete")

    noted = dict.fromkeys(("notify", "open_kept", "list_space"), asked.append)
    compare = Compare(RunState(), SimpleNamespace(kept=Watched(tmp_path), may_open=False, **noted))
    compare.list_runs()
    send(compare.table, {"do": "tick", "key": "key", "value": True})
    send(compare.table, {"do": "rename", "key": "key", "value": "mine"})
    send(compare.table, {"do": "delete", "key": "key"})
    send(compare.table, {"do": "open", "key": "key"})
    assert asked == []


def test_the_dialog_of_a_page_without_rights_says_what_is_missing_and_reads_no_path(tmp_path):
    commands = SimpleNamespace(note_fault=print, count_names=print, corpus_name="")
    bring = BringCorpus(
        TextWorker(tmp_path), commands, may_name_paths=False, folder=tmp_path, may_delete=False
    )
    bring.open()
    bring.path.value = "/etc/passwd"
    assert bring.chosen_path is None
    assert not bring.path.visible
    assert any("token" in pane.object for pane in bring.results if hasattr(pane, "object"))
    bring.close()
