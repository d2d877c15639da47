"""The learning rate over a run's mini-batches, with the present one marked."""

from collections.abc import Callable
from functools import partial
from math import ceil
from typing import Any, cast

import numpy as np
import panel as pn
import param
from bokeh.models import Range1d

from stickbreaker.app.frames.progress_frames import END_ROOM
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Curve, Progress
from stickbreaker.app.plots.curve_plots import rate_plot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.declarations import resolved
from stickbreaker.engine.inference.states import ScheduleConfig
from stickbreaker.engine.schedules import FEWEST_BATCHES, Forecast, planned_rates, resolve

MAX_POINTS = 200
# The room of a warning is there before it, so that nothing moves.
TEXT_STYLE = """
:host { min-height: 7em; font-size: 14px; color: var(--panel-on-surface-color, inherit); }
p { margin: 4px 0 0; padding: 4px 10px; border-left: 4px solid #ef6c00; border-radius: 4px;
  background: color-mix(in srgb, #ef6c00 15%, transparent); }
"""


class RateSketch(StateView):
    """ρ over the mini-batches of the run: planned, past and present. `show` previews settings.

    is_replayed: whether it shows the selected moment of the run, or the run as it is now.
    Hidden if the algorithm has no κ and τ₀.
    """

    def __init__(self, state: RunState, is_replayed: bool = True) -> None:
        super().__init__(state)
        self._is_replayed = is_replayed
        self.plot = rate_plot()
        self.text = html_pane(stylesheets=[TEXT_STYLE])
        figure = pn.pane.Bokeh(self.plot.figure, sizing_mode="stretch_width", margin=0)
        self._layout = stack(figure, self.text, css_classes=["rate-sketch"])
        self.follow()

    @property
    def is_shown(self) -> bool:
        """Whether the page shows the sketch: the algorithm has a learning rate."""
        return bool(self._layout.visible)

    def show(  # type: ignore[override]  # Viewer.show serves a view by itself
        self, algorithm: Algorithm, config: Any, corpus_size: int, expected: Forecast
    ) -> None:
        """Draw the rates of the run if it goes on with these settings, or of a run with them.

        Nothing, if the algorithm has no learning rate.
        """
        self._layout.visible = algorithm.has_learning_rate
        if not algorithm.has_learning_rate:
            return
        config = resolve(config, corpus_size)
        progress = self.state.progress
        is_on = progress.algorithm == algorithm.name and progress.status != "finished"
        if is_on and progress.documents_seen:
            self._draw_run(progress, algorithm, config)
        else:
            plan = partial(planned_rates, algorithm, config, corpus_size)
            self._draw(plan, np.array([]), np.array([]), expected, corpus_size)

    @param.depends("state.shown", "state.progress", watch=True)
    @guarded
    def follow(self) -> None:
        """Draw the past rates of a run, and the future rates of its current settings."""
        progress = self.state.shown if self._is_replayed else self.state.progress
        config = progress.schedule
        algorithm = progress.algorithm_record
        self._layout.visible = progress.config is None or config is not None
        if algorithm is not None and config is not None and progress.documents_total:
            self._draw_run(progress, algorithm, config)

    def _draw_run(self, progress: Progress, algorithm: Algorithm, config: ScheduleConfig) -> None:
        taken = steps_taken(progress.steps)
        step = int(taken.max(initial=0))
        left = ceil(
            (progress.documents_total - progress.documents_seen) / resolved(config.batch_size)
        )
        plan = partial(planned_rates, algorithm, config, progress.corpus_size)
        to_come = plan(np.arange(step + 1, step + left + 1))
        at_end = progress.startup_share * float(np.prod(1 - to_come))
        expected = Forecast(step + left, startup_share=at_end, leaves_warm_up=True)
        rates = progress.steps["learning_rate"]
        self._draw(plan, taken, rates, expected, progress.corpus_size, progress.startup_share)

    def _draw(
        self,
        plan: Callable[[np.ndarray], np.ndarray],
        taken: np.ndarray,
        rates: np.ndarray,
        expected: Forecast,
        corpus_size: int,
        now: float = 1.0,
    ) -> None:
        step = int(taken.max(initial=0))
        num_steps = expected.num_steps
        planned = planned_steps(max(1, step), num_steps)
        plot = self.plot
        plot.planned.data = {"x": planned, "y": plan(planned)}
        plot.taken.data = {"x": taken, "y": rates}
        plot.present.data = {"x": taken[-1:], "y": rates[-1:]}
        end = (1 + END_ROOM) * max(2, num_steps)
        x_range = cast(Range1d, plot.figure.x_range)
        if x_range.end != end:
            x_range.end = end
        rate = float(rates[-1]) if step else None
        text = summary_html(step, num_steps, rate, now, expected.startup_share)
        warning = warn(expected, corpus_size)
        self.text.object = text + only_if(warning, f"<p role='status'>⚠ {warning}</p>")


def steps_taken(steps: Curve) -> np.ndarray:
    """Return the number of each step of a curve, from 1; evenly spaced if thinned."""
    if not len(steps):
        return np.array([])
    last = round(float(steps["documents_seen"][-1]) / float(np.mean(steps["batch_size"])))
    return np.linspace(1, max(last, len(steps)), len(steps))


def planned_steps(first: int, last: int) -> np.ndarray:
    """Return the steps at which to draw the planned rates: all of them, or enough for a smooth
    line.

    >>> planned_steps(3, 6).tolist()
    [3.0, 4.0, 5.0, 6.0]
    """
    last = max(first, last)
    return np.linspace(first, last, min(MAX_POINTS, last - first + 1))


def summary_html(step: int, num_steps: int, rate: float | None, now: float, at_end: float) -> str:
    """Write the sketch in words, with the share of the random start that is left in the topics."""
    said = (
        f"Mini-batches: {num_steps:,}. Share of the random start that will be left at the end:"
        f" {at_end:.0%}."
    )
    if step:
        said = (
            f"Mini-batch {step:,} of {num_steps:,}: ρ = {rate:.4f}. Random start left in the"
            f" topics: {now:.0%} at this step, {at_end:.0%} at the end."
        )
    return said.replace("%", " %")


def warn(expected: Forecast, corpus_size: int) -> str:
    """Warn about settings that learn too little, with a remedy; "" if there is no problem."""
    if not expected.is_too_little:
        return ""
    if corpus_size < FEWEST_BATCHES:
        return f"Too few documents: {corpus_size:,}. Use more passes or more documents."
    if not expected.leaves_warm_up:
        return "The warm-up does not end: lower S or τ₀, or use more passes."
    return "Much of the random start stays: lower κ, S or τ₀, or use more passes."
