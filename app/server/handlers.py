"""The request handlers of the page: its document, its websocket and the login."""

import hmac
import json
import math
import re
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import panel as pn
from bokeh.server.session import ServerSession
from bokeh.settings import settings
from bokeh.util.token import check_token_signature, get_session_id, get_token_payload
from jinja2 import Environment
from panel.auth import BasicLoginHandler, LogoutHandler
from panel.io.resources import BASIC_LOGIN_TEMPLATE
from panel.io.server import ComponentResourceHandler, DocHandler
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError

from stickbreaker.app.fixes.server import LeavingSocket
from stickbreaker.app.server.claims import find_noted, note_claims, read_payload, read_request
from stickbreaker.app.server.login_delay import LoginGuard
from stickbreaker.app.server.origins import explain_origin
from stickbreaker.app.server.page_queue import PAGE_QUEUE, refuse_page
from stickbreaker.app.server.service import find_service
from stickbreaker.app.server.start_token import ARGUMENT, START_TOKEN, drop_token, name_cookie

OWN_SESSION_ID = "This server chooses session ids itself: open the address without a session id."
WRONG_TOKEN = (
    "This page is from another server, or was opened before this one was restarted: reload the"
    " page."
)
WRONG_ORIGIN = "This server does not accept pages of this address."
WRONG_USER = "This page belongs to another user, or was opened with more rights: reload the page."
WRONG_PASSWORD = "Wrong name or password."
TOO_MANY_TRIES = "Too many wrong passwords: wait {} s and try again."
CLIENT_IDS = ("bokeh-session-id", "bokeh-token")
LOGIN_PAGE = Environment(autoescape=True).from_string(
    Path(__file__).with_name("login.html").read_text("utf-8")
)
LOGOUT_PAGE = Environment(autoescape=True).from_string(
    Path(__file__).with_name("logout.html").read_text("utf-8")
)
NEXT_URL = "next_url"
# The argument with which a page asks why its websocket does not open.
ORIGIN = "origin"
MAX_DECODINGS = 5
LOCAL_PATH = re.compile(r"/(?!/)[^\\\x00-\x1f\x7f]*")
# Modules whose components may have files of their own; any other name is not imported.
COMPONENT_PACKAGES = ("panel", "panel_material_ui", "stickbreaker")
LOGIN_GUARD = LoginGuard()


class PageHandler(DocHandler):
    """Makes a page: refuses clients' session ids, takes the start-up token, writes claims down."""

    has_left = False
    session: ServerSession | None = None

    async def prepare(self) -> None:
        """Answer requests that need no page; otherwise note for `process_request` who asks."""
        await super().prepare()
        for name in self.request.arguments:
            # This refuses bytes that are no text, at which Panel would fail.
            self.get_arguments(name)
        if self.request.headers.get("Bokeh-Session-Id") or any(
            self.get_arguments(name) for name in CLIENT_IDS
        ):
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(OWN_SESSION_ID)
        elif tokens := self.get_query_arguments(ARGUMENT):
            self._take_token(tokens[-1])
        elif self.current_user is None:
            return
        elif hosts := self.get_query_arguments(ORIGIN):
            allowed = settings.allowed_ws_origin() or self.application.websocket_origins
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(explain_origin(hosts[-1], allowed))
        else:
            note_claims(self.request, read_request(self))

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Make the page in its turn, unless its client has left or there are too many pages."""
        async with PAGE_QUEUE.wait():
            if self.has_left:
                return
            claims = find_noted(self.request)
            sessions = PAGE_QUEUE.list_open(self.application_context.sessions)
            if claims is not None and (refusal := refuse_page(sessions, claims)) is not None:
                find_service().events.write("limit_reached", limit=refusal.limit.name)
                self.set_status(503)
                self.set_header("Content-Type", "text/plain; charset=utf-8")
                self.finish(str(refusal))
            else:
                PAGE_QUEUE.num_made += 1
                page = super().get(*args, **kwargs)
                if page is not None:
                    await page
        if self.has_left and self.session is not None:
            PAGE_QUEUE.stop_expecting(self.session)

    async def get_session(self) -> ServerSession:
        """Make the session of the page, which counts as open from now on."""
        self.session = await cast(Awaitable[ServerSession], super().get_session())
        PAGE_QUEUE.expect(self.session)
        return self.session

    def on_connection_close(self) -> None:
        """Note that the client does not wait for this page any more."""
        self.has_left = True
        super().on_connection_close()

    def _take_token(self, token: str) -> None:
        """Exchange a right token for a cookie, and remove any token from the address bar."""
        if START_TOKEN.is_shown_by(token):
            self.set_cookie(name_cookie(self.request), START_TOKEN.cookie)
        self.redirect(drop_token(self.request.path, self.request.query))


class SocketHandler(LeavingSocket):
    """Opens a page's websocket for its user, with at least the rights the page was made with."""

    async def prepare(self) -> None:
        """Refuse before the handshake what is not signed here or belongs to another user."""
        await super().prepare()
        if self._finished:
            return
        # Since version 6.6, Tornado accepts each origin that is the host of the request, also that
        # of a site whose name leads to this machine.
        origin = self.request.headers.get("Origin")
        claims = self._read_claims()
        if origin and not self.check_origin(origin):
            self._refuse(WRONG_ORIGIN)
        elif claims is None:
            self._refuse(WRONG_TOKEN)
        elif not read_request(self).covers(claims):
            self._refuse(WRONG_USER)
        else:
            # `process_request` writes them down again when Panel signs the token once more.
            note_claims(self.request, claims)

    def note_open(self, token: str) -> None:
        """Note that the page of this token has loaded."""
        PAGE_QUEUE.stop_expecting(self.application_context.get_session(get_session_id(token)))

    def _read_claims(self) -> Any:
        """Return the claims of the token that the socket sends; None if its signature is wrong."""
        token = self.request.headers.get("Sec-WebSocket-Protocol", "").rpartition(",")[2].strip()
        try:
            is_ours = check_token_signature(
                token, secret_key=self.application.secret_key, signed=self.application.sign_sessions
            )
            return read_payload(get_token_payload(token)) if is_ours else None
        except (ValueError, KeyError, TypeError, AssertionError):
            return None

    def _refuse(self, reason: str) -> None:
        self.set_status(403)
        self.finish(reason)


class ComponentHandler(ComponentResourceHandler):
    """Files of imported components; Panel would import any module that a visitor names."""

    def parse_url_path(self, path: str) -> str:
        """Find the file, or answer 404."""
        module = path.partition("/")[0]
        if module.partition(".")[0] not in COMPONENT_PACKAGES or module not in sys.modules:
            raise HTTPError(404)
        return super().parse_url_path(path)


def is_local_path(url: str) -> bool:
    r"""Whether an address is a path of this server, however often it is percent-encoded.

    >>> [is_local_path(url) for url in ("/app?run=x", "/", "//evil.example", "/%2fevil.example",
    ...     "/\\evil.example")]
    [True, True, False, False, False]
    """
    for _ in range(MAX_DECODINGS):
        if not LOCAL_PATH.fullmatch(url):
            return False
        decoded = unquote(url)
        if decoded == url:
            return True
        url = decoded
    return False


def leads_elsewhere(request: HTTPServerRequest) -> bool:
    """Whether a request for a login asks to be led to another site afterwards."""
    asked = [text.decode("utf-8", "replace") for text in request.query_arguments.get("next", ())]
    if (kept := request.cookies.get(NEXT_URL)) is not None:
        asked.append(kept.value)
    return not all(is_local_path(address) for address in asked if address)


class PasswordHandler(BasicLoginHandler):
    """The login page.

    Wrong passwords are slowed for each user, for each address and for all together.

    Panel's own compares passwords with `==`, which takes longer the more characters are right, and
    answers at once for an unknown user. It shows any text that the address has as `error`, loads
    its style from a CDN, and answers after a wrong password as after a right one, with another
    address.
    """

    def get(self) -> None:
        """Show the form; remember where it leads to, which is on this server."""
        self.set_cookie(NEXT_URL, self.get_argument("next", pn.state.base_url))
        self._show_form("")

    def post(self) -> None:
        """Log in, or say what was wrong."""
        user = self.get_argument("username", "")
        passwords = find_passwords()
        key = user if isinstance(passwords, dict) else "", str(self.request.remote_ip)
        wait = LOGIN_GUARD.seconds_left(*key)
        if wait > 0:
            find_service().events.write("login_delayed")
            self.set_status(429)
            self.set_header("Retry-After", str(math.ceil(wait)))
            self._show_form(TOO_MANY_TRIES.format(math.ceil(wait)))
        elif user and is_right(passwords, user, self.get_argument("password", "", strip=False)):
            LOGIN_GUARD.succeed(*key)
            self.set_current_user(user)
            self._go_on()
        else:
            LOGIN_GUARD.fail(*key)
            find_service().events.write("login_failed")
            self.set_status(401)
            self._show_form(WRONG_PASSWORD)

    def _go_on(self) -> None:
        """Go where the login leads to."""
        base = pn.state.base_url
        next_url = self.get_cookie(NEXT_URL) or base
        self.redirect(next_url if next_url.startswith(base) else next_url.replace("/", base, 1))

    def _show_form(self, fault: str) -> None:
        """Show the form, or the administrator's own, with a relative address."""
        form = getattr(self, "_login_template", BASIC_LOGIN_TEMPLATE)
        if form is BASIC_LOGIN_TEMPLATE:
            form = LOGIN_PAGE
        endpoint = getattr(self, "_login_endpoint", "/login")
        self.write(form.render(login_endpoint=f".{endpoint}", errormessage=fault, PANEL_CDN=""))


def find_passwords() -> Any:
    """Return passwords by user, or the one password of all."""
    given = pn.config.basic_auth
    if isinstance(given, str) and Path(given).is_file():
        return json.loads(Path(given).read_text("utf-8"))
    return given


def is_right(passwords: Any, user: str, password: str) -> bool:
    """Whether a password is right; takes the same time for an unknown user."""
    known = passwords if isinstance(passwords, dict) else {user: passwords}
    expected = str(known.get(user, ""))
    return hmac.compare_digest(password.encode(), expected.encode()) and user in known


class LeaveHandler(LogoutHandler):
    """Logs out, with a page that loads nothing from elsewhere, which Panel's does."""

    _logout_template = LOGOUT_PAGE
