"""The request handlers of the page: its document, its websocket and the login."""

import math
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, cast

from bokeh.server.session import ServerSession
from bokeh.util.token import check_token_signature, get_session_id, get_token_payload
from jinja2 import Environment
from panel.io.server import DocHandler

from stickbreaker.app.panel_fixes import LeavingSocket, LoginPage, LoginProvider, LogoutPage
from stickbreaker.app.server.claims import find_noted, judge_request, note_claims, read_payload
from stickbreaker.app.server.login_delay import LoginGuard
from stickbreaker.app.server.page_queue import PAGE_QUEUE, refuse_page
from stickbreaker.app.server.service import find_service
from stickbreaker.app.server.start_token import ARGUMENT, START_TOKEN, drop_token, name_cookie

OWN_SESSION_ID = "This server chooses session ids itself: open the address without a session id."
WRONG_TOKEN = "This page is from another server, or was opened before this one was restarted: reload the page."
WRONG_USER = "This page belongs to another user, or was opened with more rights: reload the page."
WRONG_PASSWORD = "Wrong name or password."
TOO_MANY_TRIES = "Too many wrong passwords: wait {} s and try again."
CLIENT_IDS = ("bokeh-session-id", "bokeh-token")
LOGIN_PAGE = Environment(autoescape=True).from_string(Path(__file__).with_name("login.html").read_text("utf-8"))
LOGOUT_PAGE = Path(__file__).with_name("logout.html").read_text("utf-8")
LOGIN_GUARD = LoginGuard()


class PageHandler(DocHandler):
    """Makes a page: refuses session ids of clients, takes the start-up token and writes the claims down."""

    has_left = False
    session: ServerSession | None = None

    async def prepare(self) -> None:
        """Answer requests that need no page; otherwise note for `process_request` who asks."""
        await super().prepare()
        for name in self.request.arguments:
            # This refuses bytes that are no text, at which Panel would fail.
            self.get_arguments(name)
        if self.request.headers.get("Bokeh-Session-Id") or any(self.get_arguments(name) for name in CLIENT_IDS):
            self.set_status(403)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(OWN_SESSION_ID)
        elif tokens := self.get_query_arguments(ARGUMENT):
            self._take_token(tokens[-1])
        elif self.current_user is not None:
            note_claims(self.request, judge_request(self))

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Make the page when it is its turn, unless its client has left or there are too many pages."""
        async with PAGE_QUEUE.wait():
            if self.has_left:
                return
            claims = find_noted(self.request)
            sessions = PAGE_QUEUE.list_open(self.application_context.sessions)
            refusal = refuse_page(sessions, claims) if claims is not None else None
            if refusal is not None:
                find_service().events.write("limit_reached", limit=refusal.limit.variable)
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
    """Opens a page's websocket for the user whose page it is, with at least the rights the page was made with."""

    async def prepare(self) -> None:
        """Refuse before the handshake what is not signed here or belongs to another user."""
        await super().prepare()
        if self._finished:
            return
        claims = self._read_claims()
        if claims is None:
            self._refuse(WRONG_TOKEN)
        elif not judge_request(self).covers(claims):
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


class PasswordHandler(LoginPage):
    """The login page. Wrong passwords are slowed for each user, for each address and for all together."""

    def get(self) -> None:
        """Show the form; remember where it leads to if that is on this server."""
        self.note_next()
        self.show_form(LOGIN_PAGE, "")

    def post(self) -> None:
        """Log in, or say what was wrong."""
        user = self.get_argument("username", "")
        key = user if isinstance(self.passwords(), dict) else "", str(self.request.remote_ip)
        wait = LOGIN_GUARD.seconds_left(*key)
        if wait > 0:
            find_service().events.write("login_delayed")
            self.set_status(429)
            self.set_header("Retry-After", str(math.ceil(wait)))
            self.show_form(LOGIN_PAGE, TOO_MANY_TRIES.format(math.ceil(wait)))
        elif user and self._validate(user, self.get_argument("password", "", strip=False)):
            LOGIN_GUARD.succeed(*key)
            self.let_in(user)
        else:
            LOGIN_GUARD.fail(*key)
            find_service().events.write("login_failed")
            self.set_status(401)
            self.show_form(LOGIN_PAGE, WRONG_PASSWORD)


class LeaveHandler(LogoutPage):
    """Logs out, with a page that loads nothing from elsewhere."""

    page = LOGOUT_PAGE


class PasswordProvider(LoginProvider):
    """Panel's login with passwords, with the two pages above."""

    login_page = PasswordHandler
    logout_page = LeaveHandler
