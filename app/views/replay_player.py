"""The player: it shows the run of a page again, from its first step, at the moment that the page
has selected.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import panel as pn
import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.model.replay import can_replay, date_at, find_moment, list_moments
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView
from stickbreaker.app.widgets.scripts import read_script

LENGTHS = (15, 30, 60, 120)
# Past this part of a run, people want to see its end.
WELL_BEGUN = 1 / 3
TICK_MILLISECONDS = 100
WAITING = "Pause to replay"


class PlayerBar(PlainScript):
    """A slider over the steps of a run, with buttons; shows what the server says."""

    num_moments = param.Integer(0, doc="Steps to choose from; fewer than two disable the player.")
    place = param.Integer(0, doc="The step that is shown, from 0.")
    columns = param.List(default=[], doc="Steps at which a column of the word lists was filled.")
    is_playing = param.Boolean(False)
    text = param.String(WAITING, doc="Date and documents of the step that is shown.")
    length = param.Integer(30, doc="Seconds that the whole run takes.")
    lengths = param.List(default=list(LENGTHS))

    _esm = read_script(Path(__file__).with_name("replay_player.js"))
    _stylesheets: ClassVar = [
        Path(__file__).with_name("replay_player.css").read_text(encoding="utf-8")
    ]

    def __init__(self, act: Callable[[str, int], None], **params: Any):
        self._act = act
        super().__init__(**params)

    def _hear(self, message: dict[str, Any]) -> None:
        if type(message.get("value")) is int:
            self._act(str(message.get("what")), message["value"])


class ReplayPlayer(StateView):
    """Sets the selected moment of a paused or finished run. `tick` plays on.

    At the last step no moment is selected, so that the page follows the run. A run that learns
    cannot be replayed. settle() is called when the user has stopped at a moment.
    """

    def __init__(
        self,
        state: RunState,
        settle: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(state)
        self._settle = settle
        self._clock = clock
        self._began = (0.0, 0)
        self._timer: Any = None
        self.bar = self._layout = PlayerBar(
            self._act, sizing_mode="stretch_width", margin=(6, 10), css_classes=["replay"]
        )
        self._draw()

    def play(self, length: int | None = None) -> None:
        """Play from the selected moment, or from the start if it is the last.

        length: seconds of the whole run; None: those that are selected.
        """
        if not can_replay(self.state.progress):
            return
        self.bar.length = length or self.bar.length
        if self._place >= self._last:
            self._go(0)
        self._began = (self._clock(), self._place)
        self.bar.is_playing = True
        if self._timer is None:
            self._timer = pn.state.add_periodic_callback(self.tick, TICK_MILLISECONDS)

    def pause(self) -> None:
        """Stop at the moment that is shown."""
        self.bar.is_playing = False
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def tick(self) -> None:
        """Show the step that is due now; pause after the last one."""
        if not self.bar.is_playing:
            return
        began, start = self._began
        place = start + int((self._clock() - began) / self.bar.length * self._last)
        if place != self._place:
            self._go(place)
        if place >= self._last:
            self.pause()
            self._settle()

    @property
    def is_well_begun(self) -> bool:
        """Whether a replay plays that had better be seen to its end."""
        return self.bar.is_playing and self._place > WELL_BEGUN * self._last

    @property
    def _last(self) -> int:
        return len(self.state.progress.steps) - 1

    @property
    def _place(self) -> int:
        return find_moment(self.state.progress, self.state.moment)

    def _go(self, place: int) -> None:
        """Select a step; all views of the page show it in one message."""
        is_end = place >= self._last
        with pn.io.hold():
            self.state.moment = (
                None if is_end else int(list_moments(self.state.progress)[max(0, place)])
            )

    def _act(self, what: str, value: int) -> None:
        """Do what has been pressed."""
        if not can_replay(self.state.progress):
            return
        self.state.holds_recorded = True
        if what == "length" and value in LENGTHS:
            self._began = (self._clock(), self._place)
            self.bar.length = value
        elif what == "toggle":
            (self.pause if self.bar.is_playing else self.play)()
        elif what in ("place", "step"):
            self.pause()
            self._go(self._place + value if what == "step" else value)
        # While the slider is dragged it sends places only.
        if what in ("toggle", "step", "stop"):
            self._settle()

    @param.depends("state.progress", "state.shown", watch=True)
    @guarded
    def _draw(self) -> None:
        """Offer the steps of the run, with the selected moment marked."""
        progress = self.state.progress
        if not can_replay(progress):
            self.pause()
            self.bar.param.update(num_moments=0, place=0, text=WAITING, columns=[])
            return
        place = self._place
        moments = list_moments(progress)
        columns = np.searchsorted(moments, [point.documents_seen for point in progress.columns])
        parts = (date_text(date_at(progress, place)), f"{moments[place]:,}")
        self.bar.param.update(
            num_moments=len(moments),
            place=place,
            text=" · ".join(filter(None, parts)),
            columns=columns.tolist(),
        )
