"""Tasks for a class: the presenter asks, watchers answer on their own pages, and answers are
counted as they arrive.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.class_commands import ClassCommands
from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.class_questions import rate_frame
from stickbreaker.app.model.class_tasks import ClassState
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.sweep_plan import SweepState, describe_sweep
from stickbreaker.app.plots.compare_plots import rate_plot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.qr_code import qr_code_html
from stickbreaker.app.widgets.scripts import read_script

HELP = (
    "<p>Choose a task. It opens on the page of each watcher, who taps an answer and can change it"
    " until you reveal the right one.</p><p>You see the counts as answers arrive; watchers see them"
    " when you reveal the right answer.</p><p><b>Choose κ</b>: each watcher chooses a forgetting"
    " rate. <b>Start the runs</b> ends the answers and starts one run for each value, with the"
    " other settings unchanged. The curves appear on all pages. On each watcher's page, the curve"
    " of the chosen value is thicker.</p><p>All these runs have the same seed. With another seed,"
    " the order of close curves can change. The runs are kept, and Compare lists them.</p><p>The"
    " Export page has a table of the answers by task and topic, with the key.</p>"
)
NO_TASK = "No task yet: choose one above."
WAITING = "No task yet. It will open here."
NOT_RUN = "When everyone has answered, press “Start the runs”."
NOT_KNOWN = "The right answer is not known yet: let the run continue."
CODE_STYLE = """
img.qr-code { width: min(230px, 60vw); height: auto; display: block; border-radius: 6px; }
p { margin: 6px 0 0; font-size: 14px; overflow-wrap: anywhere;
  color: var(--panel-on-surface-color, inherit); }
"""
SIDES_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 20px; align-items: start; }
@media (min-width: 1000px) { :host { grid-template-columns: minmax(0, 1fr) 240px; } }
"""


class ClassQuestion(PlainScript):
    """A question with its options as plain text; `on_answer(number, option)` is called."""

    number = param.Integer(0)
    question = param.String()
    shown = param.String()
    options = param.List()
    counts = param.List(doc="Answers for each option; empty if they are not shown.")
    chosen = param.Integer(-1, doc="The option that this page chose.")
    correct = param.Integer(-1, doc="The right option, once it is revealed.")
    is_asked = param.Boolean(False, doc="Whether this page answers.")
    is_open = param.Boolean(False, doc="Whether answers are accepted.")
    said = param.String()

    _esm = read_script(Path(__file__).with_name("class_question.js"))
    _stylesheets: ClassVar = [
        Path(__file__).with_name("class_question.css").read_text(encoding="utf-8")
    ]

    def __init__(self, on_answer: Callable[[object, object], None], **params: Any):
        self._on_answer = on_answer
        super().__init__(**params)

    def _hear(self, message: dict[str, Any]) -> None:
        self._on_answer(message.get("task"), message.get("option"))


class ClassTasks(StateView):
    """The Class page: a presenter has the buttons that ask, a watcher the question."""

    drawn = param.Tuple(
        default=(0, 0), doc="The number of the task, and how many of its curves are drawn."
    )

    def __init__(self, state: RunState, commands: ClassCommands):
        super().__init__(state)
        self._commands = commands
        self.question = ClassQuestion(commands.answer, sizing_mode="stretch_width", margin=(6, 10))
        self.intruder = _make_button(
            "Find the intruder", "search", lambda event: commands.intruder()
        )
        self.word = pmui.TextInput(label="Word", value="", size="small", width=190, max_length=60)
        self.first = _make_button(
            "When does it appear?", "timeline", lambda event: commands.first(self.word.value)
        )
        self.period = _make_button("Guess the period", "event", lambda event: commands.period())
        self.rate = _make_button("Choose κ", "tune", lambda event: commands.rate())
        self.start_runs = _make_button(
            "Start the runs", "play_arrow", lambda event: commands.start_runs()
        )
        self.start_runs.visible = False
        self.reveal = pmui.Button(
            label="Reveal the answer",
            icon="visibility",
            color="primary",
            disabled=True,
            on_click=lambda event: commands.reveal(),
        )
        self.buttons = pn.FlexBox(
            self.intruder,
            self.period,
            self.rate,
            self.word,
            self.first,
            self.start_runs,
            self.reveal,
            align_items="flex-start",
            gap="8px",
        )
        self.curves = stack(margin=(6, 10))
        self.code = html_pane(stylesheets=[CODE_STYLE], margin=(6, 10))
        self._heading = make_heading("Tasks for the class", HELP)
        self._sides = stack(self.question, self.code, stylesheets=[SIDES_STYLE])
        self._layout = stack(self._heading, self.buttons, self._sides, self.curves)
        self._let_act()
        self._follow()

    @param.depends("state.role", watch=True)
    def _let_act(self) -> None:
        """Show the buttons and the QR code to a presenter, and let a watcher answer."""
        may_act = self.state.may_act
        for part in (self._heading, self.buttons, self.code):
            part.visible = may_act
        self.question.is_asked = not may_act

    def open(self, link: str) -> None:
        """Show a presenter the link of the class as a QR code, and fill in a word to ask about."""
        if not self.state.may_act:
            return
        self.code.object = f"{qr_code_html(link)}<p>Scan to join.</p>" if link else ""
        if not self.word.value:
            words = self._commands.suggest()
            helper = only_if(len(words) > 1, f"For example {', '.join(words[1:4])}")
            self.word.param.update(value=next(iter(words), ""), helper_text=helper)

    @param.depends("state.tasks", "state.num_watching", "state.sweep", "state.role", watch=True)
    @guarded
    def _follow(self) -> None:
        """Show the current task."""
        state = self.state.tasks
        sweep = self.state.sweep
        page = self._commands.token
        may_act = self.state.may_act
        task = state.task
        if task is None:
            self.question.said = NO_TASK if may_act else WAITING
            return
        shows_counts = may_act or state.is_revealed
        correct = task.correct if state.is_revealed and task.correct is not None else -1
        self.question.param.update(
            number=state.number,
            question=task.question,
            shown=only_if(not state.points, task.shown),
            options=list(task.options),
            counts=list(state.counts) if shows_counts else [],
            chosen=state.answers.get(page, -1),
            correct=correct,
            is_open=state.is_open,
            said=(
                describe_answers(state, self.state.num_watching, sweep)
                if may_act
                else describe_own(state, page)
            ),
        )
        self.reveal.disabled = state.is_revealed or task.correct is None
        is_at_work = sweep.status == "running" and sweep.plan == state.plan
        self.start_runs.visible = may_act and state.needs_runs and not is_at_work
        self.drawn = (state.number, len(state.points))

    @param.depends("drawn", watch=True)
    def _draw(self) -> None:
        """Draw the curves of a question about κ, again only when one is added."""
        state = self.state.tasks
        frame = rate_frame(state, state.answers.get(self._commands.token, -1))
        self.curves[:] = (
            [] if frame.empty else [pn.pane.Bokeh(rate_plot(frame), sizing_mode="stretch_width")]
        )


def describe_answers(state: ClassState, num_watching: int, sweep: SweepState) -> str:
    """Say how many watchers have answered, how many answers are right once that is shown, and what
    is missing.

    >>> describe_answers(ClassState(), 3, SweepState())
    '0 answers, 3 watchers.'
    """
    task = state.task
    number = len(state.answers)
    said = f"{count(number, 'answer')}, {count(num_watching, 'watcher')}."
    if task is None:
        return said
    if state.needs_runs:
        if not state.plan or sweep.plan != state.plan:
            return f"{said} {NOT_RUN}"
        return f"{said} {describe_sweep(sweep)}"
    if task.correct is None:
        return f"{said} {NOT_KNOWN}"
    if state.is_revealed and number:
        said += f" {state.counts[task.correct]} of {number} right."
        if task.label:
            said += f" The topic: {task.label}."
    return said


def describe_own(state: ClassState, page: str) -> str:
    """Tell a watcher whether an answer is expected, was sent, or is right."""
    task = state.task
    if task is not None and state.is_open:
        if page not in state.answers:
            return "Tap your answer."
        end = "the presenter reveals the answer"
        if state.needs_runs:
            end = "the presenter starts the runs"
        elif task.is_prediction:
            end = "the right answer is known"
        return f"Answer sent. You can change it until {end}."
    if not state.is_revealed:
        return "Answers are no longer accepted. The right answer will appear here."
    if task is None or page not in state.answers:
        return "This is the right answer."
    return (
        "Your answer is right." if state.answers[page] == task.correct else "Your answer is wrong."
    )


def _make_button(label: str, icon: str, on_click: Callable[[Any], None]) -> pmui.Button:
    return pmui.Button(label=label, icon=icon, variant="outlined", on_click=on_click)
