"""Two servers to attack: one without a login, and one with."""

import json
from contextlib import contextmanager

import pytest

from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.browser.conftest import LIFETIME, serving
from tests.security.served import ask

PASSWORDS = {"anna": "correct horse battery staple", "ben": "hunter2 hunter2"}
COOKIE_SECRET = "a cookie secret of these tests"


@pytest.fixture(scope="session")
def log(tmp_path_factory):
    """The log of the server without a login."""
    return tmp_path_factory.mktemp("open") / "log.txt"


@pytest.fixture(scope="module")
def address(share, log):
    """A server without a login, with the health check."""
    return share("open server", lambda: serving_all(log))


@contextmanager
def serving_all(log):
    """Serve everyone, with the data in the folder of the log; gives the address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(log.parent / "data"))
        with serving(
            ["-m", "panel", "serve", "--plugins", "stickbreaker.app.health"], log
        ) as found:
            yield found


@pytest.fixture(scope="module")
def login_address(share, tmp_path_factory):
    """A server that asks for a login."""
    return share("server with a login", lambda: serving_users(tmp_path_factory.mktemp("login")))


@contextmanager
def serving_users(folder, lifetime=LIFETIME, options=()):
    """Serve the users of `PASSWORDS` from this folder; give the address."""
    users = folder / "users.json"
    users.write_text(json.dumps(PASSWORDS))
    command = [
        "-m",
        "panel",
        "serve",
        "--basic-auth",
        str(users),
        "--cookie-secret",
        COOKIE_SECRET,
        *options,
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder / "data"))
        with serving(command, folder / "log.txt", lifetime) as found:
            yield found


@pytest.fixture(scope="module")
def log_in(login_address):
    """Log in as a user; returns the cookies."""

    def log_in(user):
        answer = ask(login_address, "/login", form={"username": user, "password": PASSWORDS[user]})
        assert answer.status == 302
        return answer.cookie

    return log_in
