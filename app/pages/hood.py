"""The page Under the hood: the internals of the algorithm at one moment, for teaching."""

from collections.abc import Sequence
from typing import Any

import panel as pn

from stickbreaker.app.pages.page import Page
from stickbreaker.app.server.subscribers import Wakeup
from stickbreaker.app.views.rate_sketch import RateSketch
from stickbreaker.app.views.typed_text import TypedText
from stickbreaker.app.views.under_the_hood import UnderTheHood


class Hood(Page):
    """The internals of the algorithm; they are computed in a thread while the page is open."""

    title = "Under the hood"

    def view(self) -> Sequence[Any]:
        rates = RateSketch(self.state, is_replayed=False)
        self._wakeup = Wakeup(pn.state.curdoc, self._look)
        self.parts = UnderTheHood(self.state, rates, self.commands.find_model, self._wakeup.notify)
        self.typed = TypedText(self.state, self.commands.find_model)
        self.views = (rates, self.parts, self.typed)
        return [self.parts, self.typed]

    def _look(self) -> None:
        """Show what the thread has computed, in one message."""
        with pn.io.hold():
            self.parts.look()

    def opened(self) -> None:
        self.parts.look()

    def closed(self) -> None:
        self.parts.close()

    def left(self) -> None:
        self._wakeup.close()
