"""Pages that leave at a bad moment: Panel and Bokeh log tracebacks, and the websocket of the page
does not.
"""

import asyncio
import gc
import inspect
import logging
import socket
import struct
import time

import bokeh.server.tornado
import panel.io.document
import pytest
from bokeh.application import Application
from bokeh.application.handlers import FunctionHandler
from bokeh.protocol import Protocol
from bokeh.server.server import Server
from bokeh.server.views.ws import WSHandler as BokehHandler
from bokeh.util.token import generate_jwt_token, generate_session_id, get_session_id
from panel.io.server import WSHandler
from tornado.ioloop import IOLoop
from tornado.websocket import WebSocketClosedError, websocket_connect

from stickbreaker.app.fixes.server import LeavingSocket, skip_closed_pages
from tests.patience import limit

WAIT_SECONDS = limit(20)
NUM_TURNS = 20
# An RST instead of the usual end of a connection.
AT_ONCE = struct.pack("ii", 1, 0)


class Served:
    """A server with an empty page, and one browser that is connected to it."""

    def __init__(self, server):
        self.server = server
        self.tornado = server._tornado
        self.client = None

    async def connect(self):
        token = generate_jwt_token(generate_session_id(signed=False), signed=False, expiration=300)
        address = f"ws://localhost:{self.server.port}/ws"
        self.client = await websocket_connect(address, subprotocols=["bokeh", token])

    async def open(self):
        """Connect, and wait for the session."""
        await self.connect()
        for _ in range(3):
            await self.client.read_message()
        (self.connection,) = self.tornado._clients
        self.socket = self.connection._socket

    def leave(self, at_once=False):
        """Close the connection as a browser does, or as a machine does that has restarted."""
        stream = self.client.protocol.stream
        if at_once:
            stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        stream.close()


@pytest.fixture(scope="module", autouse=True)
def old_objects_are_not_examined():
    """Objects of earlier tests take the garbage collector long."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def play(monkeypatch, caplog):
    """Play a scene with a kind of websocket; return the names of the logged errors."""

    def play(socket_class, scene, is_quiet=False):
        monkeypatch.setattr(bokeh.server.tornado, "per_app_patterns", [(r"/ws", socket_class)])
        caplog.set_level(logging.WARNING)
        caplog.clear()

        async def run():
            if is_quiet:
                skip_closed_pages(asyncio.get_running_loop())
            page = Application(FunctionHandler(lambda document: None))
            server = Server({"/": page}, port=0, io_loop=IOLoop.current())
            server.start()
            try:
                served = Served(server)
                await scene(served)
                # The browser has closed its connection; now the object for it ends too.
                served.client.close()
                await take_turns()
                gc.collect()
                await take_turns()
            finally:
                server.unlisten()
                server.stop(wait=False)

        asyncio.run(run())
        return [record.exc_info[0].__name__ for record in caplog.records if record.exc_info]

    return play


async def take_turns():
    """Let the loop do what it has to do."""
    for _ in range(NUM_TURNS):
        await asyncio.sleep(0)


async def until(condition):
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "it never came true"
        await asyncio.sleep(0.005)


async def leave_while_the_server_is_busy(served):
    """The server, busy with another page, hears of the end and has to send pings in the same turn
    of its loop.
    """
    await served.open()
    served.leave()
    asyncio.get_running_loop().call_later(0, served.tornado._keep_alive)
    time.sleep(0.05)
    await until(lambda: served.socket._on_close_called)


async def send_after_the_end(served):
    """A message comes in after the server has closed the connection and could not send a ping."""
    await served.open()
    message = Protocol().create("PULL-DOC-REQ")
    for part in (message.header_json, message.metadata_json, message.content_json):
        served.client.write_message(part)
    served.socket.close()
    served.tornado._keep_alive()
    await until(lambda: served.socket._on_close_called)


async def reset_between_two_writes(served):
    """The connection is reset.

    Panel notices that at the first of its writes, and fails at the second.
    """
    await served.open()
    message = Protocol().create("PULL-DOC-REQ")
    served.leave(at_once=True)
    with pytest.raises(WebSocketClosedError):
        panel.io.document.dispatch_tornado(served.connection, msg=message)
    await until(lambda: served.socket._on_close_called)


SCENES = {
    leave_while_the_server_is_busy: "AssertionError",
    send_after_the_end: "AssertionError",
    reset_between_two_writes: "WebSocketClosedError",
}


def test_a_websocket_notes_its_page_when_a_task_of_bokeh_without_a_public_name_has_opened_it(play):
    assert "add_callback(self._async_open, self._token)" in inspect.getsource(BokehHandler.open)
    noted = []

    class NotingSocket(LeavingSocket):
        def note_open(self, token):
            noted.append((self, get_session_id(token)))

    async def stay(served):
        await served.open()
        await until(lambda: noted)
        assert noted == [(served.socket, served.connection.session.id)]

    assert play(NotingSocket, stay) == []


@pytest.mark.parametrize(
    ("scene", "error"), SCENES.items(), ids=lambda value: getattr(value, "__name__", value)
)
def test_a_page_that_leaves_is_logged_as_an_error_by_the_libraries_only(play, scene, error):
    assert error in play(WSHandler, scene)
    assert play(LeavingSocket, scene, is_quiet=True) == []


async def send_in_a_task(served):
    """As before, in a task, as Panel does it while a page holds its changes."""
    await served.open()
    message = Protocol().create("PULL-DOC-REQ")
    served.leave(at_once=True)

    async def send():
        panel.io.document.dispatch_tornado(served.connection, msg=message)

    task = asyncio.ensure_future(send())
    await asyncio.wait([task])
    del task
    await until(lambda: served.socket._on_close_called)


def test_a_page_that_leaves_while_a_message_is_sent_in_a_task_is_logged_unless_closed_pages_are_skipped(
    play,
):
    assert "WebSocketClosedError" in play(LeavingSocket, send_in_a_task)
    assert play(LeavingSocket, send_in_a_task, is_quiet=True) == []


async def fail_in_a_task(served):
    """A task fails for another reason."""
    await served.open()

    async def fail():
        raise ZeroDivisionError

    await asyncio.wait([asyncio.ensure_future(fail())])


def test_other_errors_are_still_logged(play):
    assert play(LeavingSocket, fail_in_a_task, is_quiet=True) == ["ZeroDivisionError"]


@pytest.mark.parametrize(("socket_class", "num_open"), [(WSHandler, 1), (LeavingSocket, 0)])
def test_a_page_that_leaves_before_its_session_is_made_does_not_stay_open(
    play, socket_class, num_open
):
    found = []

    async def leave_early(served):
        context = served.tornado._applications["/"]
        make, gate, sockets = context.create_session_if_needed, asyncio.Event(), []

        async def wait_and_make(session_id, request, token):
            sockets.append(request)
            await gate.wait()
            return await make(session_id, request, token)

        context.create_session_if_needed = wait_and_make
        await served.connect()
        await until(lambda: sockets)
        served.leave()
        await until(
            lambda: sockets[0].connection.stream is None or sockets[0].connection.stream.closed()
        )
        await take_turns()
        gate.set()
        await until(lambda: context.sessions)
        await take_turns()
        served.client.close()
        found.append(sum(session.connection_count for session in context.sessions))

    assert play(socket_class, leave_early) == []
    assert found == [num_open]
