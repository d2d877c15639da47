"""Who else sees the run: for its presenter the link that lets others look on, for those who do, that they do."""

from pathlib import Path
from typing import ClassVar

import panel as pn
import param

WATCHING = "Watching: the presenter controls this run."
PRESENTER_GONE = "Watching: the presenter has gone; the run goes on as it was left, for as long as somebody watches."


class ShareLink(pn.custom.JSComponent):
    """A link to select or copy, a sentence about it, and how many follow it."""

    link = param.String()
    hint = param.String()
    watching = param.String()

    _esm = Path(__file__).with_name("share_link.js").read_text(encoding="utf-8")
    _stylesheets: ClassVar = [Path(__file__).with_name("share_link.css").read_text(encoding="utf-8")]


class Sharing(pn.viewable.Viewer):
    """A line under the header; nothing for a presenter who has not asked to share."""

    def __init__(self, **params):
        super().__init__(**params)
        self._link = ShareLink(sizing_mode="stretch_width", margin=(0, 10))
        self._said = ShareLink(sizing_mode="stretch_width", margin=(0, 10))
        self._layout = pn.Column(sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def toggle(self, link: str) -> None:
        """Show the link, or put it away."""
        self._link.param.update(link=link, hint=describe_link(link))
        self._layout[:] = [] if self._layout.objects else [self._link]

    def update(self, is_watching: bool, num_presenting: int, num_watching: int) -> None:
        """Show to a presenter how many look on, and to who looks on whether there is a presenter."""
        if is_watching:
            self._said.watching = WATCHING if num_presenting else PRESENTER_GONE
            if not self._layout.objects:
                self._layout[:] = [self._said]
        else:
            self._link.watching = describe_watching(num_watching)


def describe_watching(number: int) -> str:
    """Say how many look on.

    >>> describe_watching(0), describe_watching(1), describe_watching(28)
    ('Nobody watches yet.', '1 watches now.', '28 watch now.')
    """
    return "Nobody watches yet." if not number else f"{number} {'watches' if number == 1 else 'watch'} now."


def describe_link(link: str) -> str:
    """Say what a link does, and where it leads nobody."""
    hint = "Whoever opens this link sees this run, each with their own selection, and changes nothing of it."
    if "://localhost" in link or "://127.0.0.1" in link:
        hint += " From another machine, this machine's name or number stands in place of localhost."
    return hint
