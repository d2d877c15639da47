"""What a page may do for its user, written into the signed token of its session when the page is
made.

The token binds a session to its user. A websocket is checked against it by its own request, so that
no session is controlled by another user.
"""

import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.server.auth_provider import NullAuth
from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler

from stickbreaker.app.server.start_token import START_TOKEN, name_cookie

# Rights of a page: delete corpora, open and delete kept runs; name files of the serving machine.
MANAGE = "manage"
PATHS = "paths"
NEEDS_RIGHTS = (
    "To {}, log in. If this server has no login, open the address that it printed when it started:"
    " it contains a token."
)
LOOPBACK = ("127.0.0.1", "::1")
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Host")
# Visitors who have not logged in are one user; a login name cannot contain a line break.
GUEST = "guest\n"
PAYLOAD_KEY = "stickbreaker"
SEAL_KEY = "stickbreaker_seal"
# Drawn at each start. A server without our hooks seals nothing, so a payload that a client has made
# gives no rights.
SECRET = secrets.token_bytes(32)
# The argument of a link to watch: its page has no rights, whoever opens it.
WATCH = "watch"


@dataclass(frozen=True)
class Claims:
    """Who uses a page and what the page may do.

    user: the login name; None if the server asks for no login. rights: `MANAGE` and `PATHS`.
    """

    user: str | None = None
    rights: frozenset[str] = frozenset()

    def to_payload(self) -> dict[str, Any]:
        """Write the claims for a session token, with the seal of this start."""
        said = {"user": self.user, "rights": sorted(self.rights)}
        return {PAYLOAD_KEY: said, SEAL_KEY: _seal(said)}

    def covers(self, other: "Claims") -> bool:
        """Whether a request with these claims may use a session that was made with the others."""
        return self.user == other.user and self.rights >= other.rights


# Python without a server, as in a notebook, already has all rights of its user.
LOCAL = Claims(user=None, rights=frozenset((MANAGE, PATHS)))
# A session whose token says nothing, or was not sealed by this start: an unknown user without
# rights.
UNKNOWN = Claims(GUEST)


def _seal(said: Any) -> str:
    return hmac.digest(SECRET, json.dumps(said, sort_keys=True).encode(), "sha256").hex()


def read_payload(payload: dict[str, Any]) -> Claims:
    """Read the claims in a session token; `UNKNOWN` unless this start has written them."""
    said = payload.get(PAYLOAD_KEY)
    seal = str(payload.get(SEAL_KEY)).encode("utf-8", "replace")
    if said is None or not hmac.compare_digest(seal, _seal(said).encode()):
        return UNKNOWN
    return Claims(user=said["user"], rights=frozenset(said["rights"]))


def find_claims() -> Claims:
    """Return the claims of the page that is being made or that handles an event."""
    document = pn.state.curdoc
    if document is None or document.session_context is None:
        return LOCAL
    return read_payload(document.session_context.token_payload)


# Who has made each request that is being answered.
_noted: WeakKeyDictionary[HTTPServerRequest, Claims] = WeakKeyDictionary()


def note_claims(request: HTTPServerRequest, claims: Claims) -> None:
    """Note who has made a request, for the token of the session that it opens."""
    _noted[request] = claims


def find_noted(request: HTTPServerRequest) -> Claims | None:
    """Return who has made a request; None if no handler has noted it."""
    return _noted.get(request)


def _find_provider(handler: RequestHandler) -> Any:
    """The login of Bokeh's server; Tornado's own application has none."""
    return getattr(handler.application, "auth_provider")  # noqa: B009  # Tornado's type does not have it


def read_request(handler: RequestHandler) -> Claims:
    """Who asks and what they may do, from the cookies, address and headers."""
    asks_for_login = not isinstance(_find_provider(handler), NullAuth)
    user = find_login(handler) if asks_for_login else None
    if user == GUEST or WATCH in handler.request.arguments:
        return Claims(user)
    return Claims(user, frozenset((MANAGE,)) if asks_for_login else _find_rights(handler))


def find_login(handler: RequestHandler) -> str:
    """The name of the user who is logged in; GUEST on a page open to visitors."""
    from panel.auth import BasicAuthProvider

    is_panel_login = isinstance(_find_provider(handler), BasicAuthProvider)
    if is_panel_login and not handler.get_signed_cookie(
        "user", max_age_days=pn.config.oauth_expiry
    ):
        return GUEST
    user = handler.current_user
    return user.decode() if isinstance(user, bytes) else str(user)


def _find_rights(handler: RequestHandler) -> frozenset[str]:
    """The rights by the start-up token; paths only on the serving machine."""
    shown = handler.get_cookie(name_cookie(handler.request), "") or ""
    if not hmac.compare_digest(shown.encode(), START_TOKEN.cookie.encode()):
        return frozenset()
    request = handler.request
    # Not through a proxy that says so.
    is_local = request.remote_ip in LOOPBACK and not any(map(request.headers.get, FORWARDED))
    return frozenset((MANAGE, PATHS) if is_local else (MANAGE,))
