"""A served page as an attacker uses it: plain requests, and a websocket that sends any message."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from bokeh.util.token import get_token_payload
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.patience import limit

SECONDS = limit(60)
TOKEN_IN_PAGE = re.compile(rb'"token":"([^"]+)"')


@dataclass(frozen=True)
class Answer:
    """The answer of a server to one request."""

    status: int
    headers: dict[str, str]
    cookies: tuple[str, ...]
    body: bytes

    @property
    def cookie(self) -> str:
        """The cookies to send back."""
        pairs = [each.partition(";")[0] for each in self.cookies]
        return "; ".join(pair for pair in pairs if not pair.endswith('=""'))

    @property
    def token(self) -> str:
        """The session token in the page's HTML."""
        return TOKEN_IN_PAGE.search(self.body)[1].decode()

    @property
    def claims(self) -> dict:
        """What the session token says about its user."""
        return get_token_payload(self.token)["stickbreaker"]


def ask(
    address: str, path: str = "/app", headers: dict | None = None, form: dict | None = None
) -> Answer:
    """Make one request, without following a redirect. The path is sent as it is."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=SECONDS)
    sent = dict(headers or {})
    body = None
    if form is not None:
        body = urlencode(form)
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request("GET" if form is None else "POST", path, body, sent)
    response = connection.getresponse()
    said = response.getheaders()
    cookies = tuple(value for name, value in said if name == "Set-Cookie")
    answer = Answer(response.status, dict(said), cookies, response.read())
    connection.close()
    return answer


def open_page(address: str, query: str = "", cookie: str = "", **headers: str) -> Answer:
    """Open the page with these cookies."""
    return ask(address, f"/app{query}", headers | ({"Cookie": cookie} if cookie else {}))


def knock(
    address: str, token: str, origin: str | None = None, cookie: str = "", **headers: str
) -> int:
    """Open the websocket; return the status, 101 if the server acknowledges."""

    async def try_once() -> int:
        try:
            socket = await connect(address, token, origin, cookie, **headers)
        except Exception as error:
            return getattr(error, "code", 0)
        first = await asyncio.wait_for(socket.read_message(), SECONDS)
        await leave(socket)
        return 101 if first and json.loads(first)["msgtype"] == "ACK" else 0

    return asyncio.run(try_once())


async def connect(
    address: str, token: str, origin: str | None = None, cookie: str = "", **headers: str
) -> WebSocketClientConnection:
    """Open the websocket of a session."""
    host = urlsplit(address).netloc
    sent = (
        headers
        | {"Origin": origin or address.rpartition("/")[0]}
        | ({"Cookie": cookie} if cookie else {})
    )
    request = HTTPRequest(
        f"ws://{host}/app/ws", headers=sent, connect_timeout=SECONDS, request_timeout=SECONDS
    )
    return await websocket_connect(request, subprotocols=["bokeh", token], max_message_size=2**28)


async def leave(socket: WebSocketClientConnection) -> None:
    """Close a websocket and wait until it is closed."""
    socket.close()
    while await asyncio.wait_for(socket.read_message(), SECONDS) is not None:
        pass
    # Its stream closes in the next iteration of the loop.
    await asyncio.sleep(0.05)


class Page:
    """One page, driven by the messages of a browser, without a browser."""

    def __init__(self, socket: WebSocketClientConnection):
        self._socket, self._number = socket, 0

    @classmethod
    async def open(cls, address: str, query: str = "", cookie: str = "") -> "Page":
        """Open a page and report that it is drawn, so that the server connects it with its run."""
        answer = await asyncio.to_thread(open_page, address, query, cookie)
        page = cls(await connect(address, answer.token, cookie=cookie))
        await page.receive("ACK")
        await page.send_event("document_ready")
        return page

    async def send(self, message_type: str, content: dict) -> None:
        """Send one message."""
        self._number += 1
        header = {"msgid": str(self._number), "msgtype": message_type}
        for part in (header, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def patch(self, *events: dict) -> None:
        """Send changes of the document."""
        await self.send("PATCH-DOC", {"events": list(events)})

    async def send_event(self, name: str, **values: object) -> None:
        """Send an event of the document or of a model."""
        await self.patch(make_event(name, **values))

    async def pull(self) -> dict[str, dict]:
        """Return every model of the document by its id, as the server has it after all earlier
        messages.
        """
        await self.send("PULL-DOC-REQ", {})
        reply = await self.receive("PULL-DOC-REPLY")
        return {model["id"]: model for model in find_models(reply["doc"])}

    async def receive(self, message_type: str) -> dict:
        """Read messages up to one of this type."""
        while True:
            header = await self._read()
            await self._read()
            content = await self._read()
            buffers = {}
            for _ in range(header.get("num_buffers", 0)):
                name = (await self._read())["id"]
                buffers[name] = sha256(
                    await asyncio.wait_for(self._socket.read_message(), SECONDS)
                ).hexdigest()
            if header["msgtype"] == message_type:
                return put_in(content, buffers)

    async def _read(self) -> dict:
        said = await asyncio.wait_for(self._socket.read_message(), SECONDS)
        assert said is not None, "the server has closed the connection"
        return json.loads(said)

    async def close(self) -> None:
        """Leave."""
        await leave(self._socket)


def make_event(name: str, **values: object) -> dict:
    """Write an event as BokehJS sends it."""
    entries = [list(each) for each in values.items()]
    said = {"type": "event", "name": name, "values": {"type": "map", "entries": entries}}
    return {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": said}


def put_in(content: object, buffers: dict[str, str]) -> Any:
    """Replace the id of each buffer, which differs each time, by a hash of its content."""
    if isinstance(content, dict):
        if content.get("type") == "bytes" and content["data"].get("id") in buffers:
            return {"type": "bytes", "hash": buffers[content["data"]["id"]]}
        return {name: put_in(value, buffers) for name, value in content.items()}
    return [put_in(value, buffers) for value in content] if isinstance(content, list) else content


def find_models(document: object) -> Iterator[dict]:
    """Find every model in the JSON of a document."""
    if isinstance(document, dict):
        if document.get("type") == "object" and "id" in document:
            yield document
        for value in document.values():
            yield from find_models(value)
    elif isinstance(document, list):
        for value in document:
            yield from find_models(value)
