"""The user of a page, from its request, and the folder of the user's corpora and kept runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from stickbreaker.app.model.shelf import hash_name
from stickbreaker.app.server.claims import MANAGE, PATHS, find_claims
from stickbreaker.engine.corpora.library import find_folder

SHOWN_LETTERS = 20


@dataclass(frozen=True)
class Visitor:
    """Who asks: login name (or None), key of a run to control, token of one to watch."""

    user: str | None = None
    run: str | None = None
    watch: str | None = None


def for_presenters(act: Callable[..., Any]) -> Callable[..., None]:
    """Make an action do nothing unless the page `may_act`, whatever its browser asks."""

    @wraps(act)
    def attempt(page: Any, *arguments: Any) -> None:
        if page.may_act():
            act(page, *arguments)

    return attempt


def find_user() -> str | None:
    """Return the login name of the page's user; None if the server asks for no login."""
    return find_claims().user


def find_data(user: str | None) -> Path:
    """The folder of a user's corpora and kept runs; no user name leads out of it.

    >>> find_data("../anna").relative_to(find_data(None)).as_posix()
    'users/anna-ec02c72411b3cc9ea6cf1e349ca8be3f'
    """
    shared = find_folder().parent
    if user is None:
        return shared
    letters = [sign for sign in user.lower() if sign.isascii() and sign.isalnum()]
    shown = "".join(letters[:SHOWN_LETTERS])
    return shared / "users" / f"{shown or 'user'}-{hash_name(user)}"


def list_data() -> list[Path]:
    """The folders of all users, as `find_data` gives them, that of no user first."""
    shared = find_folder().parent
    try:
        return [shared, *sorted(place for place in (shared / "users").iterdir() if place.is_dir())]
    except OSError:
        return [shared]


def may_name_paths() -> bool:
    """Whether the page may read files of the serving machine by name: with the start-up token in a
    browser on that machine, or without a server, as in a notebook.
    """
    return PATHS in find_claims().rights


def may_manage() -> bool:
    """Whether the page may manage corpora and kept runs: logged in or with the token."""
    return MANAGE in find_claims().rights
