"""Sharing a run: the link for watchers, how many there are, and the line that a watcher sees."""

from pathlib import Path
from typing import ClassVar

import param

from stickbreaker.app.commands.run_commands import WATCHING
from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.model.counting import count
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, stack
from stickbreaker.app.widgets.qr_code import ALT, draw_qr_code
from stickbreaker.app.widgets.scripts import read_script

PRESENTER_GONE = (
    "Watching: the presenter has left; the run continues until the last watcher leaves."
)


class ShareLink(PlainScript):
    """A link to select or copy, its QR code, a sentence about it, and the number of watchers."""

    link = param.String()  # type: ignore[assignment]  # a method of Panel that the page does not use
    hint = param.String()
    picture = param.String(doc="The QR code of the link, as the address of an image.")
    alt = param.String(ALT)
    watching = param.String()

    _esm = read_script(Path(__file__).with_name("share_link.js"))
    _stylesheets: ClassVar = [
        Path(__file__).with_name("share_link.css").read_text(encoding="utf-8")
    ]


class Sharing(StateView):
    """A line under the header; empty for a presenter who has not pressed Share."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.link = ShareLink(sizing_mode="stretch_width", margin=(0, 10))
        self.said = ShareLink(sizing_mode="stretch_width", margin=(0, 10))
        self._layout = stack()
        self._draw()

    @param.depends("state.link", watch=True)
    @guarded
    def _show_link(self) -> None:
        """Show the link, or hide it."""
        link = self.state.link
        if link:
            self.link.param.update(link=link, hint=describe_link(link), picture=draw_qr_code(link))
        self._layout[:] = [self.link] if link else []

    @param.depends("state.role", "state.num_presenting", "state.num_watching", watch=True)
    @guarded
    def _draw(self) -> None:
        """Show a presenter the number of watchers, and a watcher if there is a presenter."""
        if self.state.may_act:
            self.link.watching = describe_watching(self.state.num_watching)
        elif self.state.num_watching:
            self.said.watching = WATCHING if self.state.num_presenting else PRESENTER_GONE
            if not self._layout.objects:
                self._layout[:] = [self.said]


def describe_watching(number: int) -> str:
    """Say how many pages watch.

    >>> describe_watching(0), describe_watching(1), describe_watching(28)
    ('No watchers yet.', '1 watcher now.', '28 watchers now.')
    """
    return "No watchers yet." if not number else f"{count(number, 'watcher')} now."


def describe_link(link: str) -> str:
    """Say what a link does, and when it does not work for others."""
    hint = "This link shows the run to others, who cannot change it; each has a separate selection."
    if "://localhost" in link or "://127.0.0.1" in link:
        hint += (
            " It works on this machine only. For other devices, stop the server and start it with"
            " stickbreaker --address 0.0.0.0."
        )
    return hint
