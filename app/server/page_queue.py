"""Whether a page is made: one at a time, for clients that still wait, within the limits."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from weakref import WeakSet

from bokeh.server.session import ServerSession
from bokeh.util.token import get_token_payload

from stickbreaker.app.model.limits import PAGES, PAGES_PER_USER, LimitReachedError, find_limit
from stickbreaker.app.server.claims import GUEST, Claims, read_payload

# After each page the server answers other requests and notices which clients have left.
PAUSE_SECONDS = 0.01
FULL = "This server has {} open pages, which is its maximum. Close a page, or try again later."
FULL_FOR_USER = (
    "You have {} open pages, which is the maximum for each user. Close one, and try again."
)


class PageQueue:
    """The pages of one server that wait or load, and how many have been made."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._loading: WeakSet[ServerSession] = WeakSet()
        self.num_made = 0

    @asynccontextmanager
    async def wait(self) -> AsyncIterator[None]:
        """Wait for the turn of a page; the next one has its turn at the end."""
        async with self._turn:
            yield
            await asyncio.sleep(PAUSE_SECONDS)

    def expect(self, session: ServerSession) -> None:
        """Count a page as open until it opens its websocket; then that one counts."""
        self._loading.add(session)

    def stop_expecting(self, session: ServerSession) -> None:
        """Note that a page has opened its websocket, or that its client has left."""
        self._loading.discard(session)

    def list_open(self, sessions: Iterable[ServerSession]) -> list[ServerSession]:
        """The sessions of pages that load or are connected, without those just closed."""
        return [
            session for session in sessions if session.connection_count or session in self._loading
        ]


PAGE_QUEUE = PageQueue()


def refuse_page(sessions: Iterable[ServerSession], claims: Claims) -> LimitReachedError | None:
    """Say why one more page is not made, or None. sessions: of the open pages."""
    users = [read_payload(get_token_payload(session.token)).user for session in sessions]
    if len(users) >= (most := find_limit(PAGES)):
        return LimitReachedError(PAGES, FULL.format(most))
    is_known = claims.user not in (None, GUEST)
    if is_known and users.count(claims.user) >= (most := find_limit(PAGES_PER_USER)):
        return LimitReachedError(PAGES_PER_USER, FULL_FOR_USER.format(most))
    return None
