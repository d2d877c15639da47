"""What a page is, and the pages of one browser: one is open, and each is made and sent when it is
first opened.
"""

from collections.abc import Sequence
from typing import Any

import panel as pn
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.state import RunState, StateFollower, guarded
from stickbreaker.app.widgets.layouts import stack


class Page(StateFollower):
    """A page: `view` makes it when it is first opened, and its views follow the run while it is
    open.

    title: names it, on its button and in addresses. needs_player: it shows the moment that the
    player selects. needs_controls: the settings at the side stay open. is_listed: its button is
    there from the start. views: those that follow the run. They keep a copy of its state while the
    page is closed, so that they cost nothing.
    """

    title = ""
    needs_reading = False
    needs_player = False
    needs_controls = True
    is_listed = True

    def __init__(self, state: RunState, commands: Any = None):
        super().__init__(state)
        # None for the page of a stream, which has no controls.
        self.commands: RunCommands = commands
        self.views: tuple[StateFollower, ...] = ()

    def view(self) -> Sequence[Any]:
        """Make the parts of the page, from top to bottom."""
        raise NotImplementedError

    def follow(self, state: RunState) -> None:
        """Let the page and its views follow this state, and show what differs."""
        for follower in (self, *self.views):
            follower.state = state

    def opened(self) -> None:
        """Called when the page is opened, before it is shown."""

    def closed(self) -> None:
        """Called when another page is opened, and when the browser leaves."""

    def left(self) -> None:
        """Called when the browser leaves, if the page has been opened."""


class ReadingPage(Page):
    """A page that shows a reading, below the note that says with which model."""

    needs_reading = True

    def opened(self) -> None:
        self._read()

    @param.depends("state.progress", "state.job", watch=True)
    @guarded
    def _read(self) -> None:
        """Read the corpus if the run has no reading, and again when it has finished."""
        progress = self.state.progress
        reading = self.state.reading
        is_new = (
            reading is None
            or reading.model.run_id != progress.run_id
            or reading.model.num_edits != len(progress.edits.done)
        )
        has_failed = self.state.job.status == "failed"
        if progress.documents_seen and not has_failed and (is_new or progress.status == "finished"):
            self.commands.read()


class Pages:
    """The pages of one browser, each in a column that is empty until the page is first opened."""

    def __init__(self, state: RunState, pages: Sequence[Page]):
        self._state = state
        self._pages = {page.title: page for page in pages}
        self._columns = {title: _make_column() for title in self._pages}
        self._open: Page | None = None

    def __getitem__(self, title: str) -> Any:
        return self._pages[title]

    @property
    def titles(self) -> list[str]:
        """The titles of all pages, in order."""
        return list(self._pages)

    @property
    def columns(self) -> list[pn.Column]:
        """The columns of all pages, in order."""
        return list(self._columns.values())

    def open(self, title: str) -> None:
        """Show this page and no other."""
        page = self._pages[title]
        column = self._columns[title]
        if page is not self._open:
            self._close()
        self._open = page
        self._state.shows_reading = page.needs_reading
        page.follow(self._state)
        parts = column.objects or list(page.view())
        page.opened()
        for each, other in self._columns.items():
            other.visible = each == title
        if not column.objects:
            column.objects = parts

    def leave(self) -> None:
        """Close the open page and leave all that have been made, as the browser leaves."""
        self._close()
        for title, column in self._columns.items():
            if column.objects:
                self._pages[title].left()

    def _close(self) -> None:
        """Let the open page follow the run no longer."""
        if self._open is not None:
            self._open.follow(self._state.freeze())
            self._open.closed()
            self._open = None


def _make_column() -> pn.Column:
    return stack(visible=False)
