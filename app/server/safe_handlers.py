"""What every handler of a request does: safe cookies, and no query in the log."""

import logging
from functools import cache
from types import TracebackType
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.log import access_log, app_log, gen_log
from tornado.web import HTTPError, RequestHandler

FIRST_CLIENT_ERROR = 400
FIRST_SERVER_ERROR = 500


class SafeHandler(RequestHandler):
    """Gives every cookie SameSite=Lax, HttpOnly and, under TLS, Secure.

    Logs errors without the query, which may hold a token or the address of a run.
    """

    def set_cookie(self, name: str, value: str | bytes, *arguments: Any, **options: Any) -> None:
        """Set a cookie with the safe attributes."""
        safe = {"samesite": "Lax", "httponly": True, "secure": self.request.protocol == "https"}
        super().set_cookie(name, value, *arguments, **(options | safe))

    def log_exception(
        self, typ: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        """Log an error as Tornado does, without the query."""
        name = name_request(self.request)
        if not isinstance(value, HTTPError):
            app_log.error("Uncaught exception %s", name, exc_info=(typ, value, tb))  # type: ignore[arg-type]
        elif value.log_message:
            said = value.log_message % value.args if value.args else value.log_message
            gen_log.warning("%d %s: %s", value.status_code, name, said)


@cache
def make_safe(kind: Any) -> type[RequestHandler]:
    """Make a safe handler of any kind of handler."""
    return type(
        kind.__name__, (SafeHandler, kind), {"__doc__": kind.__doc__, "__module__": kind.__module__}
    )


def name_request(request: HTTPServerRequest) -> str:
    """Name a request without its query."""
    return f"{request.method} {request.path}"


def log_without_query(handler: RequestHandler) -> None:
    """Log a request by its path."""
    status = handler.get_status()
    request = handler.request
    levels = (logging.INFO, logging.WARNING, logging.ERROR)
    level = levels[(status >= FIRST_CLIENT_ERROR) + (status >= FIRST_SERVER_ERROR)]
    milliseconds = 1_000 * request.request_time()
    access_log.log(level, "%d %s %.2fms", status, name_request(request), milliseconds)
