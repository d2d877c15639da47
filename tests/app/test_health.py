"""The health check and the numbers of a server that follows a stream."""

import asyncio
import json
from types import SimpleNamespace

import panel as pn
import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application

from stickbreaker.app.health import ROUTES
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.server.service import SERVICE, Service
from stickbreaker.app.server.stream import STREAM
from tests.app.small_runs import Compiled


@pytest.fixture
def ask(monkeypatch):
    """Ask a server that follows a stream with this progress; returns the status and the body."""
    service = Service(None, Compiled(), 2)

    def ask(path, progress):
        stream = SimpleNamespace(progress=progress, num_pages=3)
        monkeypatch.setattr(
            pn.state, "cache", {(SERVICE,): (service, None), (STREAM,): (stream, None)}
        )
        return asyncio.run(fetch(path))

    yield ask
    service.close()


async def fetch(path):
    socket, port = bind_unused_port()
    server = HTTPServer(Application(ROUTES))
    server.add_socket(socket)
    answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}{path}", raise_error=False)
    server.stop()
    await server.close_all_connections()
    return answer.code, answer.body.decode()


def test_a_stream_that_has_failed_is_reported_without_its_message(ask):
    assert ask("/healthz", Progress(status="running"))[0] == 200
    code, body = ask("/healthz", Progress(status="failed", message="OSError: /secret/news.jsonl"))
    assert code == 503
    assert json.loads(body)["faults"] == [
        "stream: failed; the page and the server log give the reason"
    ]
    assert "secret" not in body


def test_pages_and_documents_of_a_stream_are_counted(ask):
    code, body = ask(
        "/metrics", Progress(status="running", documents_seen=512, corpus_name="secret.jsonl")
    )
    lines = body.splitlines()
    assert code == 200
    assert {"stickbreaker_pages 3", "stickbreaker_stream_documents 512"} <= set(lines)
    assert 'stickbreaker_events_total{event="stream_failed"} 0' in lines
    assert "secret" not in body
