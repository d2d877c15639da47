"""The two kept runs side by side by group of documents: held-out scores, and matched topics."""

from html import escape

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.group_comparison import (
    describe_comparison,
    describe_held_out,
    matched_choices,
    matched_frame,
    score_html,
    score_table,
)
from stickbreaker.app.frames.group_frames import csv_link
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.grouped_runs import MOST_GROUPS, GroupJob
from stickbreaker.app.plots.group_plots import matched_plot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import HELP_STYLE, help_button
from stickbreaker.app.widgets.layouts import (
    ProgressBar,
    StateView,
    fill_if_shown,
    html_pane,
    lay_in_lines,
    stack,
)
from stickbreaker.app.widgets.menus import offer

LABEL = "Compare by group"
HELP = (
    "<p>Reads the documents with the models of both runs, and compares the runs by group, for"
    " example by party or author. The groups of State of the Union are presidents; your own text"
    " has groups if you chose a group column.</p><p><b>Held-out score.</b> How well each run"
    " predicts the words of held-out documents of a group, in nats per held-out word, ± its"
    " standard error. Higher is better. If both runs have the same held-out words, the last column"
    " is their difference; it is bold if its 95 % interval does not contain 0. By chance, about one"
    " difference in twenty is bold.</p><p><b>Shares.</b> The share of a topic in the tokens of each"
    " group, in the left run, and that of its partner in the right run. Bars are 95 % intervals, as"
    f" on Time.</p><p>The {MOST_GROUPS} groups with the most tokens are shown.</p>"
)
RULE = "Nats per held-out word ± standard error; higher is better."
STYLE = """
:host { color: var(--panel-on-surface-color, inherit); font-size: 14px; }
p { margin: 4px 0; } h3 { font-size: 15px; margin: 12px 0 4px; }
table { border-collapse: collapse; max-width: 760px; width: 100%; }
th, td { text-align: right; vertical-align: top; padding: 5px 8px; font-weight: normal;
  font-variant-numeric: tabular-nums;
  border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
th:first-child { text-align: left; overflow-wrap: anywhere; }
thead th, b { font-weight: bold; }
@media (min-width: 600px) { td { white-space: nowrap; } }
"""


class GroupComparison(StateView):
    """A button that starts the comparison, its progress, and what it has found."""

    def __init__(self, state: RunState, commands: RunCommands):
        super().__init__(state)
        self.start = pmui.Button(label=LABEL, variant="text", size="small", margin=0)
        self.start.on_click(lambda event: commands.compare_groups())
        self.cancel = pmui.Button(
            label="Cancel comparison", variant="text", size="small", margin=0, visible=False
        )
        self.cancel.on_click(lambda event: commands.cancel_groups())
        help = pn.pane.HTML(help_button(LABEL, HELP), stylesheets=[HELP_STYLE], margin=(4, 4))
        self._button = pn.Row(self.start, help, margin=(0, 0, 0, 10))
        self.text = html_pane(stylesheets=[STYLE])
        self.bar = ProgressBar("Progress of the comparison")
        self.scores = html_pane(stylesheets=[STYLE])
        self.topic = pmui.Select(label="Topic", options={}, size="small", width=300)
        self.topic.param.watch(lambda event: self._draw(), "value")
        self.figure = stack()
        self.partner = html_pane(stylesheets=[STYLE])
        heading = html_pane("<h3>A topic</h3>", stylesheets=[STYLE])
        self.shares = stack(heading, self.topic, self.partner)
        self._parts = (self.scores, self.shares, self.figure)
        self._found = stack(visible=False)
        self._shown: GroupJob | None = None
        state_of_work = lay_in_lines(self._button, self.cancel)
        self._layout = stack(state_of_work, self.text, self.bar, self._found)
        self._follow()

    @param.depends("state.grouped", "state.pair", "state.role", watch=True)
    @guarded
    def _follow(self) -> None:
        """Show the state of the work, and what was found if it is about the present pair."""
        job = self.state.grouped
        is_ours = list(job.keys) == self.state.pair
        text = describe_comparison(job) if is_ours or job.is_active else ""
        self.text.object = only_if(text, f'<p role="status">{escape(text)}</p>')
        self.bar.show(job.share, job.is_active)
        self._button.visible = self.state.may_act
        self.cancel.visible = job.is_active and self.state.may_act
        is_ready = is_ours and job.status == "ready"
        self.start.disabled = job.is_active or is_ready or not self.state.pair
        fill_if_shown(self._found, self._parts, is_ready)
        if is_ready and job is not self._shown:
            self._shown = job
            self._show(job)

    def _show(self, job: GroupJob) -> None:
        table = score_table(*job.runs)
        note = f"{RULE} {describe_held_out(*job.runs)}"
        link = csv_link(table, "held-out-by-group.csv", "Scores as CSV")
        self.scores.object = f"<h3>Held-out score</h3><p>{note}</p>{score_html(table)}<p>{link}</p>"
        choices = matched_choices(*job.runs)
        offer(self.topic, choices, next(iter(choices.values()), None))
        self.shares.visible = self.figure.visible = bool(choices)
        self._draw()

    def _draw(self) -> None:
        """Draw the selected topic of the left run and its partner."""
        if self._shown is None or self.topic.value is None:
            return
        left, right = self._shown.runs
        pair = self.topic.value
        frame = matched_frame(left, right, pair)
        self.partner.object = (
            f"<p>Matched with “{escape(pair.partner)}” of the right run: JSD"
            f" {pair.divergence:.3f} nats.</p>"
        )
        plot = matched_plot(frame)
        name = f"topics-{pair.left}-{pair.right}-by-group.csv"
        link = csv_link(frame, name, "Shares as CSV")
        self.figure[:] = [
            pn.pane.Bokeh(plot, sizing_mode="stretch_width"),
            pn.pane.HTML(link, margin=(0, 10)),
        ]
