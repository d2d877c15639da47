"""Settings of a server that are refused, each with a sentence that says what to do."""

import os
import secrets
import sys
from collections.abc import Mapping
from typing import Any

from bokeh.settings import settings
from panel.config import config

from stickbreaker.app.fixes.server import find_missing
from stickbreaker.app.server.start_token import MIN_LENGTH, VARIABLE

MIN_SECRET = 32
MIN_COOKIE_SECRET = 16
WILDCARD = (
    "The websocket origin {!r} is refused: a wildcard lets pages of other sites control this"
    " server; name each host instead (--allow-websocket-origin HOST:PORT)."
)
SHORT = (
    "{} is too short to be secret: give at least {} characters, or omit it to get a new one at each"
    " start."
)
UNSIGNED = "Sessions without a signature are refused: leave out --session-ids."
EXTERNAL = "Session ids that clients supply are refused: leave out --session-ids."
PROCESSES = "Several processes cannot share runs: leave out --num-procs."
REUSED = "Sessions shared by several visitors are refused: leave out --reuse-sessions."
ADMIN = "Panel's admin page shows every session to every visitor: leave out --admin."
ASGI = (
    "Panel's FastAPI and ASGI servers are refused, because they would serve pages unprotected:"
    " leave out --server."
)
REST = (
    "Panel's REST endpoints run code for any visitor: leave out --rest-provider,"
    " --rest-session-info and history."
)


class UnsafeSettingsError(Exception):
    """A server is not started; the message says why and what to do."""


def choose_secret(environment: Mapping[str, str] = os.environ) -> str:
    """What signs session tokens: the administrator's good secret, or one of this start."""
    given = environment.get("BOKEH_SECRET_KEY", "")
    if given and len(given) < MIN_SECRET:
        raise UnsafeSettingsError(SHORT.format("BOKEH_SECRET_KEY", MIN_SECRET))
    if 0 < len(environment.get(VARIABLE, "")) < MIN_LENGTH:
        raise UnsafeSettingsError(SHORT.format(VARIABLE, MIN_LENGTH))
    return given or secrets.token_urlsafe(48)


def check_server() -> None:
    """Raise UnsafeSettingsError for a server that is not protected.

    `panel serve` imports one of its other servers before it runs our hooks.
    """
    if "panel.io.asgi" in sys.modules:
        raise UnsafeSettingsError(ASGI)
    if missing := find_missing():
        raise UnsafeSettingsError(missing)


def check_settings(options: Mapping[str, Any]) -> None:
    """Raise UnsafeSettingsError for an option of the server that would open it to others."""
    named = [*(options.get("extra_websocket_origins") or ()), *(settings.allowed_ws_origin() or ())]
    faults = [WILDCARD.format(name) for name in named if "*" in name]
    cookie_secret = options.get("cookie_secret") or ""
    if cookie_secret and len(cookie_secret) < MIN_COOKIE_SECRET:
        faults.append(SHORT.format("--cookie-secret", MIN_COOKIE_SECRET))
    routes = [str(route[0]) for route in options.get("extra_patterns") or ()]
    is_wrong = {
        UNSIGNED: not options.get("sign_sessions") or not options.get("secret_key"),
        EXTERNAL: not options.get("generate_session_ids", True),
        REUSED: bool(config.reuse_sessions),
        ADMIN: bool(config.admin),
        REST: config.session_history != 0 or any("rest" in route for route in routes),
    }
    faults += [sentence for sentence, is_so in is_wrong.items() if is_so]
    if faults:
        raise UnsafeSettingsError(faults[0])
