"""What the server does before the first page: refuse wrong settings, compile the kernels."""

import asyncio
import gc
import sys
from importlib import import_module
from typing import Any

from tornado.httputil import HTTPServerRequest

from stickbreaker.app.fixes.page import compare_all_values, load_fonts_once, lock_documents
from stickbreaker.app.fixes.server import (
    make_servers_of,
    open_browser_with_token,
    skip_closed_pages,
    start_cleaning_up,
)
from stickbreaker.app.model.limits import LimitError, check_limits
from stickbreaker.app.server.claims import find_noted
from stickbreaker.app.server.event_log import open_log
from stickbreaker.app.server.protected_server import ProtectedHTTP, ProtectedTornado
from stickbreaker.app.server.safe_settings import UnsafeSettingsError, check_server, choose_secret
from stickbreaker.app.server.scheduler import find_client
from stickbreaker.app.server.service import find_service
from stickbreaker.app.server.stream import find_stream
from stickbreaker.app.server.stream_source import find_source
from stickbreaker.engine import CorpusError
from stickbreaker.engine.parallel.clusters import ClusterError

# Bokeh runs this file before it makes the server and reads its settings.
try:
    check_server()
    check_limits()
    find_client()
    find_source()
    make_servers_of(ProtectedTornado, ProtectedHTTP, choose_secret())
except (ClusterError, CorpusError, LimitError, UnsafeSettingsError) as error:
    sys.exit(f"Not started. {error}")
open_browser_with_token()
load_fonts_once()
compare_all_values()
lock_documents()


def process_request(request: HTTPServerRequest) -> dict[str, Any]:
    """Write into a session's signed token who asked for the page and which rights it has."""
    claims = find_noted(request)
    return claims.to_payload() if claims is not None else {}


def on_server_loaded(server_context: Any) -> None:
    """Make the service, which starts compiling, and import what the first page needs.

    A stream is followed from here on. Panel collects garbage when a page closes, and all pages wait
    meanwhile. What is imported is never garbage.
    """
    skip_closed_pages(asyncio.get_running_loop())
    start_cleaning_up()
    open_log()
    find_service()
    find_stream()
    import_module("stickbreaker.app.session.page")
    gc.collect()
    gc.freeze()


def on_server_unloaded(server_context: Any) -> None:
    """End the engine threads, and save the model of the stream."""
    if (stream := find_stream()) is not None:
        stream.close()
    find_service().close()
