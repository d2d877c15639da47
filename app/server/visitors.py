"""Who looks at a page, as far as its request tells, and where on disk what belongs to them is kept."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any

import panel as pn

from stickbreaker.engine.corpora.library import find_folder

LOOPBACK = ("127.0.0.1", "::1")
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Host")
# No cookie says whose these are, so they are one user; nobody can log in under a name with a line break.
GUEST = "guest\n"
SHOWN_LETTERS = 20


@dataclass(frozen=True)
class Visitor:
    """Who asks for a run: `run` is the address of one to control, `watch` the token of one to look on at.

    user: the name of who has logged in; None where nobody needs to.
    """

    user: str | None = None
    run: str | None = None
    watch: str | None = None


def for_presenters(act: Callable[..., Any]) -> Callable[..., None]:
    """What a page does to its run: left undone where the page `may_act` not, whatever its browser sends."""

    @wraps(act)
    def attempt(page: Any, *arguments: Any) -> None:
        if page.may_act():
            act(page, *arguments)

    return attempt


def find_user() -> str | None:
    """The name under which the page's visitor has logged in; None where the server asks for no login.

    Panel believes a cookie that says "guest" before the signed one, so that a guest is never taken for a user.
    """
    request = _find_request()
    if request is None:
        return None
    if "is_guest" in request.cookies:
        return GUEST
    return pn.state.user or (GUEST if pn.config.basic_auth or pn.config.oauth_provider else None)


def find_data(user: str | None) -> Path:
    """Where the corpora and kept runs of a user are, in a folder that no name can lead out of.

    >>> find_data("../anna").relative_to(find_data(None)).as_posix()
    'users/anna-ec02c72411b3cc9ea6cf1e349ca8be3f'
    """
    shared = find_folder().parent
    if user is None:
        return shared
    letters = "".join(sign for sign in user.lower() if sign.isascii() and sign.isalnum())[:SHOWN_LETTERS]
    return shared / "users" / f"{letters or 'user'}-{sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def may_name_paths() -> bool:
    """Whether the page is looked at from the very machine that serves it, so that it may read files there by name.

    True where there is no server, as in a notebook. False where people log in: the server may read what is another's.
    A proxy that does not say that it is one cannot be told apart.
    """
    request = _find_request()
    if request is None:
        return True
    if find_user() is not None:
        return False
    return request.remote_ip in LOOPBACK and not any(request.headers.get(name) for name in FORWARDED)


def _find_request():
    document = pn.state.curdoc
    return getattr(document.session_context if document is not None else None, "request", None)
