"""A button that starts work on the model of a run in the background, and what has come of it: a
check with the sampler, runs with other seeds, or their consensus as a kept run.
"""

from collections.abc import Callable
from html import escape
from typing import NamedTuple

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.quality_frames import describe_again, describe_keeping
from stickbreaker.app.frames.summary_texts import describe_check
from stickbreaker.app.model.checked_count import NUM_PASSES, NUM_TOKENS, offers_check
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.model_record import offers_consensus
from stickbreaker.app.model.other_runs import NUM_RUNS
from stickbreaker.app.model.progress import has_no_topic
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import HELP_STYLE, help_button
from stickbreaker.app.widgets.layouts import ProgressBar, StateView, fill_if_shown, lay_in_lines

COUNT_HELP = (
    "<p>The Gibbs sampler of the HDP starts from this model: it draws the topic of each word from"
    f" the model, and then draws it again in each of {NUM_PASSES} passes. Topics can appear and"
    " disappear in a pass.</p><p>The result is the smallest and the largest number of topics in"
    f" use over the last {NUM_PASSES // 2} passes, by the 99 % rule. It is not a confidence"
    " interval: the sampler rarely merges or splits large topics, so a different start can give a"
    " different number.</p><p>It reads the training documents, or a random part of them with about"
    f" {NUM_TOKENS // 1_000_000} million tokens. The run and its model do not change.</p>"
)
AGAIN_HELP = (
    f"<p>{NUM_RUNS} runs with the same settings read the training documents, each with another seed"
    " and in another order. Topics of two runs are the same if their fifty most probable words are"
    " similar: the Jensen-Shannon divergence is at most half of the largest possible one. A topic"
    " has at most one partner in a run.</p><p>Words that are among the ten in at least nine tenths"
    " of the runs with the topic are bold, the others grey. Do not rely on a topic that comes back"
    " in few runs: it depends on chance. This run and its model do not change.</p>"
)
KEEP_HELP = (
    "<p>The consensus has the topics that at least half of these runs have, with the mean of their"
    " word counts. It usually predicts held-out words better than a single run, and another twenty"
    " runs give nearly the same topics.</p><p>It becomes a kept run: Compare shows its score and"
    " coherence, and opens it; Topics, Time, Documents and Export then show it.</p>"
)
STYLE = (
    "p { margin: 0; font-size: 14px; line-height: 1.4; color: var(--panel-on-surface-color,"
    " inherit); }"
)


class Check(NamedTuple):
    """A check as the page shows it.

    is_offered(state): whether it is possible. job(state), describe(state): its state, and what to
    say of it. start, cancel: by the commands.
    """

    label: str
    help: str
    is_offered: Callable[[RunState], bool]
    job: Callable[[RunState], ModelJob]
    describe: Callable[[RunState], str]
    start: Callable[[RunCommands], None]
    cancel: Callable[[RunCommands], None]


COUNT = Check(
    label="Check the number of topics",
    help=COUNT_HELP,
    is_offered=lambda state: offers_check(state.shown),
    job=lambda state: state.check,
    describe=lambda state: describe_check(state.check, state.shown),
    start=lambda commands: commands.check_count(),
    cancel=lambda commands: commands.cancel_check(),
)
AGAIN = Check(
    label="Are topics found again?",
    help=AGAIN_HELP,
    is_offered=lambda state: state.shown.status == "finished",
    job=lambda state: state.again,
    describe=lambda state: describe_again(state.again, state.shown, state.reading),
    start=lambda commands: commands.learn_again(),
    cancel=lambda commands: commands.cancel_again(),
)
KEEP = Check(
    label="Keep the consensus model",
    help=KEEP_HELP,
    is_offered=lambda state: offers_consensus(state.reading, state.keeping, state.shown),
    job=lambda state: state.keeping,
    describe=lambda state: describe_keeping(state.keeping, state.reading, state.shown),
    start=lambda commands: commands.keep_consensus(),
    cancel=lambda commands: commands.cancel_keeping(),
)


class CheckNote(StateView):
    """Shows the state of a check, or of other such work. `button` starts it.

    The view itself is the line below with its result.
    """

    def __init__(self, state: RunState, commands: RunCommands, check: Check = COUNT):
        super().__init__(state)
        self._check = check
        self.start = pmui.Button(
            label=check.label, variant="text", size="small", disabled=True, margin=0
        )
        self.start.on_click(lambda event: check.start(commands))
        help = pn.pane.HTML(
            help_button(check.label, check.help), stylesheets=[HELP_STYLE], margin=(4, 4)
        )
        self._button_parts = (self.start, help)
        self.button = pn.Row(margin=(0, 0, 0, 10), css_classes=["check-count"])
        self.cancel = pmui.Button(label="Cancel check", variant="text", size="small", margin=0)
        self.cancel.on_click(lambda event: check.cancel(commands))
        self.text = pn.pane.HTML("", stylesheets=[STYLE], margin=(4, 10))
        self.bar = ProgressBar(
            "Progress of the check", sizing_mode="fixed", width=160, margin=(14, 10)
        )
        self._parts = (self.text, self.bar, self.cancel)
        self._layout = lay_in_lines(visible=False)
        self._draw()

    @param.depends(
        "state.check",
        "state.again",
        "state.keeping",
        "state.reading",
        "state.shown",
        "state.role",
        watch=True,
    )
    @guarded
    def _draw(self) -> None:
        """Show the state of a check of this run; a watcher only sees its result."""
        job = self._check.job(self.state)
        progress = self.state.shown
        may_act = self.state.may_act
        text = "" if progress.status == REPLAYED else self._check.describe(self.state)
        self.text.object = only_if(text, f'<p role="status">{escape(text)}</p>')
        is_active = bool(text) and job.is_active
        fill_if_shown(self._layout, self._parts, bool(text))
        self.bar.show(job.share, is_active)
        self.cancel.visible = is_active and may_act
        is_now = progress.status != REPLAYED and not progress.recorded_on
        offers = may_act and is_now and self._check.is_offered(self.state)
        fill_if_shown(self.button, self._button_parts, offers)
        self.start.disabled = job.is_active or not progress.documents_seen or has_no_topic(progress)
