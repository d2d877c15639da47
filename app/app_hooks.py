"""What the server does before the first page: refuse wrong settings, and compile the kernels once for all pages."""

import gc
import sys
from importlib import import_module
from typing import Any

from tornado.httputil import HTTPServerRequest

from stickbreaker.app.model.limits import LimitError, check_limits
from stickbreaker.app.panel_fixes import ServerParts, lock_documents, protect_server, speed_up_models
from stickbreaker.app.server.claims import find_noted
from stickbreaker.app.server.event_log import open_log
from stickbreaker.app.server.handlers import PageHandler, PasswordProvider, SocketHandler
from stickbreaker.app.server.next_url import is_local_path
from stickbreaker.app.server.protected_server import ProtectedServer
from stickbreaker.app.server.safe_settings import UnsafeSettingsError, choose_secret
from stickbreaker.app.server.scheduler import find_client
from stickbreaker.app.server.service import find_service
from stickbreaker.app.server.stream import find_stream
from stickbreaker.app.server.stream_source import find_source
from stickbreaker.engine import CorpusError
from stickbreaker.engine.parallel.clusters import ClusterError

PARTS = ServerParts(
    server=ProtectedServer,
    page=PageHandler,
    socket=SocketHandler,
    login=PasswordProvider,
    is_local_path=is_local_path,
)

# Bokeh runs this file before it makes the server and reads its settings.
try:
    check_limits()
    find_client()
    find_source()
    protect_server(choose_secret(), PARTS)
except (ClusterError, CorpusError, LimitError, UnsafeSettingsError) as error:
    sys.exit(f"Not started. {error}")
speed_up_models()
lock_documents()


def process_request(request: HTTPServerRequest) -> dict[str, Any]:
    """Write into a session's signed token who asked for the page and which rights it has."""
    claims = find_noted(request)
    return claims.to_payload() if claims is not None else {}


def on_server_loaded(server_context: Any) -> None:
    """Make the service, which starts compiling in the background, and import what the first page needs.

    A stream is followed from here on. Panel collects garbage when a page closes, and all pages wait meanwhile. What is
    imported is never garbage.
    """
    open_log()
    find_service()
    find_stream()
    import_module("stickbreaker.app.session.page")
    gc.collect()
    gc.freeze()


def on_server_unloaded(server_context: Any) -> None:
    """End the engine threads, and save the model of the stream."""
    stream = find_stream()
    if stream is not None:
        stream.close()
    find_service().close()
