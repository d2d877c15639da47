"""The start-up token of the printed address, which gives rights on the data of this machine."""

import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from tornado.httputil import HTTPServerRequest

VARIABLE = "STICKBREAKER_TOKEN"
ARGUMENT = "token"
MIN_LENGTH = 16


@dataclass(frozen=True)
class StartToken:
    """A token and the cookie it is exchanged for, which does not reveal it; no repr has either."""

    text: str = field(repr=False)

    @property
    def cookie(self) -> str:
        """The value of the cookie. It stays the same as long as the token does."""
        return hmac.digest(self.text.encode(), b"stickbreaker start-up token", "sha256").hex()

    def is_shown_by(self, text: str) -> bool:
        """Whether this text is the token; takes the same time for every wrong text."""
        return hmac.compare_digest(text.encode(), self.text.encode())


def make_token(environment: Mapping[str, str]) -> StartToken:
    """Take the token that the environment fixes, or draw one for this start."""
    return StartToken(environment.get(VARIABLE) or secrets.token_urlsafe(24))


def name_cookie(request: HTTPServerRequest) -> str:
    """Name the cookie after the port: browsers send the cookies of one host to all its ports."""
    port = request.host.rpartition(":")[2]
    return f"stickbreaker-{port}" if port.isdigit() else "stickbreaker"


def drop_token(path: str, query: str) -> str:
    """Write an address without its token.

    >>> drop_token("/app", "token=abc&run=x&page=Words+%26+more")
    '/app?run=x&page=Words+%26+more'
    >>> drop_token("/app", "token=abc")
    '/app'
    """
    kept = [each for each in parse_qsl(query, keep_blank_values=True) if each[0] != ARGUMENT]
    return f"{path}?{urlencode(kept)}" if kept else path


START_TOKEN = make_token(os.environ)
