"""A TCP proxy between a browser and a server that stalls, cuts all connections, and changes to
another server.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

READ_BYTES = 65_536


class Proxy:
    """Passes bytes on in both directions. `port` stays the same for all servers.

    stall(): passes nothing on, and closes no connection. go_on(): passes on what has waited.
    cut(): closes all connections.
    connect_to(port): the server of later connections; None refuses them.
    """

    def __init__(self) -> None:
        self.port = 0
        self._target: int | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def start(self) -> None:
        """Listen at a free port."""
        self._thread.start()
        self._do(self._listen())

    def stall(self) -> None:
        """Hold back everything."""
        self._loop.call_soon_threadsafe(self._moves.clear)

    def go_on(self) -> None:
        """Pass on what was held back."""
        self._loop.call_soon_threadsafe(self._moves.set)

    def cut(self) -> None:
        """Close all connections."""
        self._do(self._cut())

    def connect_to(self, port: int | None) -> None:
        """Pass later connections on to this port of this machine."""
        self._target = port

    def close(self) -> None:
        """Close everything and end the thread."""
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self) -> None:
        self._moves = asyncio.Event()
        self._moves.set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        far = None
        try:
            if self._target is not None:
                far_reader, far = await asyncio.open_connection("127.0.0.1", self._target)
                self._writers.add(far)
                await asyncio.gather(self._pass_on(reader, far), self._pass_on(far_reader, writer))
        except OSError:
            pass
        finally:
            for each in filter(None, (writer, far)):
                self._writers.discard(each)
                each.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while content := await reader.read(READ_BYTES):
                await self._moves.wait()
                writer.write(content)
                await writer.drain()
        # Each side closes after the other one.
        with suppress(OSError):
            writer.close()

    async def _cut(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _end(self) -> None:
        self._moves.set()
        self._server.close()
        await self._cut()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def proxying() -> Iterator[Proxy]:
    """Yield a proxy that listens."""
    proxy = Proxy()
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.close()
