"""The button that checks the number of topics with the sampler, and what the check has found."""

from html import escape

import panel as pn
import panel_material_ui as pmui
import param
from panel.viewable import Viewer

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.summary_texts import describe_check
from stickbreaker.app.model.checked_count import NUM_PASSES, NUM_TOKENS, offers_check
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import has_no_topic
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.state import RunState, StateFollower, guarded
from stickbreaker.app.widgets.help_button import HELP_STYLE, help_button
from stickbreaker.app.widgets.layouts import ProgressBar, fill_if_shown, lay_in_lines

LABEL = "Check the number of topics"
HELP = (
    "<p>The Gibbs sampler of the HDP starts from this model: it draws the topic of each word from"
    f" the model, and then draws it again in each of {NUM_PASSES} passes. Topics can appear and"
    " disappear in a pass.</p><p>The result is the smallest and the largest number of topics in"
    f" use over the last {NUM_PASSES // 2} passes, by the 99 % rule. It is not a confidence"
    " interval: the sampler rarely merges or splits large topics, so a different start can give a"
    " different number.</p><p>It reads the training documents, or a random part of them with about"
    f" {NUM_TOKENS // 1_000_000} million tokens. The run and its model do not change.</p>"
)
STYLE = (
    "p { margin: 0; font-size: 14px; line-height: 1.4; color: var(--panel-on-surface-color,"
    " inherit); }"
)


class CountNote(StateFollower, Viewer):
    """Shows the state of a check. `button` starts one.

    The view itself is the line below with its result.
    """

    def __init__(self, state: RunState, commands: RunCommands):
        super().__init__(state)
        self.start = pmui.Button(label=LABEL, variant="text", size="small", disabled=True, margin=0)
        self.start.on_click(lambda event: commands.check_count())
        help = pn.pane.HTML(help_button(LABEL, HELP), stylesheets=[HELP_STYLE], margin=(4, 4))
        self._button_parts = (self.start, help)
        self.button = pn.Row(margin=(0, 0, 0, 10), css_classes=["check-count"])
        self.cancel = pmui.Button(label="Cancel check", variant="text", size="small", margin=0)
        self.cancel.on_click(lambda event: commands.cancel_check())
        self.text = pn.pane.HTML("", stylesheets=[STYLE], margin=(4, 10))
        self.bar = ProgressBar(
            "Progress of the check", sizing_mode="fixed", width=160, margin=(14, 10)
        )
        self._parts = (self.text, self.bar, self.cancel)
        self._layout = lay_in_lines(visible=False)
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @param.depends("state.check", "state.shown", "state.role", watch=True)
    @guarded
    def _draw(self) -> None:
        """Show the state of a check of this run; a watcher only sees its result."""
        job = self.state.check
        progress = self.state.shown
        may_act = self.state.may_act
        text = "" if progress.status == REPLAYED else describe_check(job, progress)
        self.text.object = only_if(text, f'<p role="status">{escape(text)}</p>')
        is_active = bool(text) and job.is_active
        fill_if_shown(self._layout, self._parts, bool(text))
        self.bar.show(job.share, is_active)
        self.cancel.visible = is_active and may_act
        is_now = progress.status != REPLAYED and not progress.recorded_on
        offers = may_act and is_now and offers_check(progress)
        fill_if_shown(self.button, self._button_parts, offers)
        self.start.disabled = job.is_active or not progress.documents_seen or has_no_topic(progress)
