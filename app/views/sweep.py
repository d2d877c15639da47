"""A sweep: its values, its progress, and the final scores as in Fig. 4 of Wang 2011."""

from collections.abc import Sequence
from html import escape

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.sweep_frames import sweep_frame, x_setting
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import (
    MAX_RUNS,
    SWEPT,
    SweepError,
    SweepState,
    describe_plan,
    describe_sweep,
    parse_values,
)
from stickbreaker.app.plots.compare_plots import HEIGHT, sweep_plot
from stickbreaker.app.plots.curve_plots import SCORE_HELP
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import ProgressBar, StateView, html_pane, stack
from stickbreaker.engine.algorithm import Algorithm

HELP = (
    "<p>A sweep runs all combinations of these values and algorithms in the background, at most"
    f" {MAX_RUNS} runs. An empty field takes the current value of the settings.</p><p>The final"
    " scores are drawn over the first of S, κ, τ₀ and K that has several values. Each combination"
    " of the others is a line, as in Fig. 4 of Wang, Paisley and Blei"
    f" (2011).</p><p>{SCORE_HELP}</p>"
)
EXAMPLES = {
    "forgetting_rate": "0.6, 0.8, 1",
    "delay": "1, 64",
    "batch_size": "64, 256, 1024",
    "max_topics": "50, 150",
}
STYLE = "p { margin: 4px 0; font-size: 14px; color: var(--panel-on-surface-color, inherit); }"
# The place of the longest usual text, so that the page does not move while runs of the sweep end.
SAID_STYLE = (
    ":host(.placed) { min-height: 50px; } @media (max-width: 600px) { :host(.placed) { min-height:"
    " 92px; } }"
)
NO_SCORES = "<p>The first score appears when the first run has finished.</p>"


class SweepPanel(StateView):
    """Reads the values of a sweep, starts and cancels it, and shows its progress and scores."""

    def __init__(self, state: RunState, commands: RunCommands, algorithms: Sequence[Algorithm]):
        super().__init__(state)
        self._commands = commands
        self._shown: SweepState | None = None
        self.values = {
            name: pmui.TextInput(
                label=f"Values of {symbol}",
                placeholder=f"for example {EXAMPLES[name]}",
                size="small",
                sizing_mode="stretch_width",
            )
            for name, symbol in SWEPT.items()
        }
        self.systems = pmui.CheckBoxGroup(
            label="Algorithms",
            options={algorithm.title: algorithm.name for algorithm in algorithms},
            value=[],
            inline=True,
            sizing_mode="stretch_width",
        )
        self._said = _text()
        self._count = _text()
        self._said.stylesheets = [STYLE, SAID_STYLE]
        # The buttons below do not move when the number of runs appears, which is when one of them
        # is pressed.
        self._count.styles = {"min-height": "30px"}
        self._bar = ProgressBar("Progress of the sweep")
        self.start = pmui.Button(
            label="Start sweep", icon="grid_view", color="primary", disabled=True
        )
        self.resume = pmui.Button(
            label="Continue sweep", icon="play_arrow", color="primary", visible=False
        )
        self.cancel = pmui.Button(
            label="Cancel sweep", icon="close", variant="outlined", visible=False
        )
        self.start.on_click(lambda event: self._start())
        self.resume.on_click(lambda event: commands.resume_sweep())
        self.cancel.on_click(lambda event: commands.cancel_sweep())
        for widget in (*self.values.values(), self.systems):
            widget.param.watch(lambda event: self._preview(), "value")
        self._figure = stack()
        self._layout = self._lay_out()
        self._let_act()
        self._follow()

    def _lay_out(self) -> pn.viewable.Viewable:
        cells = [
            pn.Column(each, styles={"flex": "1 1 180px", "min-width": "0"})
            for each in self.values.values()
        ]
        self.asked = stack(
            pn.FlexBox(*cells, sizing_mode="stretch_width", margin=(8, 0, 0, 0)),
            self.systems,
            self._count,
            pn.FlexBox(self.start, self.cancel),
        )
        return stack(
            make_heading("Sweep", HELP),
            self.asked,
            self._said,
            self.resume,
            self._bar,
            self._figure,
            css_classes=["sweep"],
        )

    @param.depends("state.role", "state.sweep", watch=True)
    def _let_act(self) -> None:
        """Let the user start sweeps; a watcher only sees them."""
        self.asked.visible = may_act = self.state.may_act
        self.resume.visible = may_act and self.state.sweep.status == "stopped"

    @param.depends("state.sweep", watch=True)
    @guarded
    def _follow(self) -> None:
        state = self.state.sweep
        before = self._shown
        self._shown = state
        is_running = state.status == "running"
        _say(self._said, describe_sweep(state), role="status")
        if state.status != "none":
            self._said.css_classes = ["placed"]
            self._figure.styles = {"min-height": f"{HEIGHT}px"}
        self._bar.show(state.share_done, is_shown=state.status != "none")
        self.cancel.visible = is_running
        if before is None or before.status != state.status:
            self._preview()
        if before is None or (before.status, before.points) != (state.status, state.points):
            self._draw(state)

    def _draw(self, state: SweepState) -> None:
        setting = x_setting(state.points)
        frame = sweep_frame(state.points, setting)
        if frame.empty:
            self._figure[:] = (
                [pn.pane.HTML(NO_SCORES, stylesheets=[STYLE])] if state.status == "running" else []
            )
            return
        is_logarithmic = bool(setting != "forgetting_rate" and (frame["x"] > 0).all())
        plot = sweep_plot(frame, SWEPT[setting], is_logarithmic)
        self._figure[:] = [pn.pane.Bokeh(plot, sizing_mode="stretch_width")]

    def _read(self) -> tuple[RunSpec, ...]:
        values = {
            name: parse_values(widget.value or "", name) for name, widget in self.values.items()
        }
        return self._commands.plan_sweep(values, self.systems.value or [])

    def _preview(self) -> None:
        """Show the number of runs, or why there is no such sweep."""
        is_running = self.state.sweep.status == "running"
        try:
            text = describe_plan(self._read())
            can_start = not is_running
        except SweepError as error:
            text = str(error)
            can_start = False
        _say(self._count, text)
        self.start.disabled = not can_start

    def _start(self) -> None:
        try:
            self._commands.start_sweep(self._read())
        except SweepError as error:
            _say(self._count, str(error))


def _text() -> pn.pane.HTML:
    return html_pane(stylesheets=[STYLE])


def _say(pane: pn.pane.HTML, text: str, role: str = "") -> None:
    attribute = only_if(role, f' role="{role}"')
    html = only_if(text, f"<p{attribute}>{escape(text)}</p>")
    pane.object = html
