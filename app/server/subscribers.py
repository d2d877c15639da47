"""Wake-ups of sessions from engine threads. They carry no data, and several become one."""

import threading
from collections.abc import Callable
from typing import Any

from panel.io.state import set_curdoc


def call_on_loop(document: Any, act: Callable[[], None]) -> None:
    """Call `act` later, from any thread, with the document's lock and on the loop of the server.

    Bokeh (3.10) calls a plain function on another thread. There Panel's `hold` lasts longer than
    the lock: a change of the user that comes in between is sent back to the page, where it undoes
    the next change.
    """

    async def answer() -> None:
        with set_curdoc(document):
            act()

    document.add_next_tick_callback(answer)


class Wakeup:
    """Asks one session to look again, from any thread; several calls before a look cause one look.

    After `close` nothing happens, so no document outlives its session.
    """

    def __init__(self, document: Any, look: Callable[[], None]):
        self._document = document
        self._look: Callable[[], None] | None = look
        self._lock = threading.Lock()
        self._is_pending = False

    def notify(self) -> None:
        """Ask for a look; cheap, and safe from any thread."""
        with self._lock:
            if self._is_pending or self._document is None:
                return
            self._is_pending = True
            document = self._document
        call_on_loop(document, self._answer)

    def close(self) -> None:
        """Stop notifying and release the session."""
        with self._lock:
            self._document = None
            self._look = None

    def _answer(self) -> None:
        with self._lock:
            self._is_pending = False
            look = self._look
        if look is not None:
            look()


class Subscribers:
    """The wakeups of all pages that show one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakeups: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self._wakeups)

    def add(self, wakeup: Any) -> None:
        with self._lock:
            self._wakeups = (*self._wakeups, wakeup)

    def remove(self, wakeup: Any) -> None:
        """Remove a wakeup; a missing one is ignored, because a page may leave twice."""
        with self._lock:
            self._wakeups = tuple(other for other in self._wakeups if other is not wakeup)

    def notify(self) -> None:
        """Wake every page once."""
        for wakeup in self._wakeups:
            wakeup.notify()
