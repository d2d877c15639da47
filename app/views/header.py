"""The line at the top: corpus, state, phase and progress of the run, and its buttons."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import Progress, has_no_topic
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.run_spec import title_corpus
from stickbreaker.app.state import LAST, RunState, guarded
from stickbreaker.app.theme import STATUS_COLORS
from stickbreaker.app.widgets.layouts import StateView, fill_if_shown, lay_in_lines
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.schedules import FEWEST_BATCHES

PACES = {
    "One pass a minute": "minute",
    "One mini-batch a second": 1.0,
    "Two mini-batches a second": 0.5,
    "Four mini-batches a second": 0.25,
    "Ten mini-batches a second": 0.1,
    "Full speed": 0.0,
}
STATES = {
    "ready": "Ready",
    "opening": "Opening",
    "compiling": "Compiling",
    "waiting": "Waiting",
    "running": "Running",
    "paused": "Paused",
    "finished": "Finished",
    "failed": "Failed",
}
STATE = ("color", "status", "state")
FOLLOWING = "Following"
READ = {"running": "now at", REPLAYED: "replay at"}
FEW_DOCUMENTS = (
    "Too few documents: {:,}. Use at least 100, for example a CSV with one paragraph per row."
)
PHASE_HELP: dict[str, str] = {
    Phase.WARM_UP: (
        "A document is spread over many topics, and over fewer as the temperature falls to 1; then"
        " the warm-up ends."
    )
}


# On a phone the buttons of a finished run take two lines: three of them show their icons alone, as
# wide as a finger.
PHONE = "@media (max-width: 600px)"
ICON_ALONE = {
    "width": "44px",
    "minWidth": 0,
    "minHeight": "36.5px",
    "padding": 0,
    "fontSize": 0,
    "& .MuiButton-startIcon": {"margin": 0},
    "& .MuiButton-startIcon > *": {"fontSize": "20px !important"},
}
# Panel writes the width of a component into the style of what it contains, where a style sheet
# cannot reduce it.
FREE_WIDTH = ":host, :host > div { width: auto !important; min-width: 0 !important; }"
PACE_STYLE = f"""
{PHONE} {{
  :host {{ flex: 1 1 150px; max-width: 235px !important; }}
  {FREE_WIDTH}
}}
"""


class StatusBar(PlainScript):
    """Writes only what has changed.

    Sends "toggle" if the user presses the space bar outside of an input.

    The browser counts the seconds of a long step, so that the server does not send them. It says
    within three seconds that the connection is lost, and opens the page again as soon as the server
    answers. Its notes are below the buttons, so that the buttons do not move when a note appears: a
    press would miss them.
    """

    status = param.String("ready")
    state = param.String("Ready")
    color = param.String(STATUS_COLORS["ready"])
    phase = param.String()
    phase_help = param.String()
    corpus = param.String()
    reading = param.String()
    documents = param.String()
    speed = param.String()
    share = param.Number(0.0)
    share_label = param.String("Documents seen", doc="What `share` is a share of.")
    share_text = param.String(doc="The share as text; empty: the documents or the state.")
    note = param.String()
    work = param.String(doc="What the engine does; shown with its seconds if it takes long.")
    is_unfolded = param.Boolean(
        False, doc="All parts of the page have been sent; the browser then shows the page."
    )
    beat = param.Integer(
        0, doc="Grows every second on a served page, so that the browser notices a lost connection."
    )
    work_seconds = param.Number(0.0, doc="Seconds since it began, when `work` is sent.")
    stick = pn.custom.Child(allow_None=True, default=None)
    buttons = pn.custom.Child(allow_None=True, default=None)

    _esm = Path(__file__).with_name("status_bar.js").read_text()
    _stylesheets = [Path(__file__).with_name("status_bar.css").read_text()]

    def write(self, texts: dict[str, Any]) -> None:
        """Show texts, the state last: a page that shows a state shows everything that led to it."""
        self.param.update(**{name: text for name, text in texts.items() if name not in STATE})
        self.param.update(**{name: texts[name] for name in STATE})


class Header(StateView):
    """Shows the state of the run, and the buttons to run, pause, step, restart, pace
    and share it.

    stick: a component above the progress of the run.
    """

    def __init__(self, state: RunState, commands: RunCommands, stick: PlainScript | None = None):
        super().__init__(state)
        self._commands = commands
        self.run = pmui.Button(
            label="Pause",
            icon="pause",
            color="primary",
            width=158,
            margin=0,
            on_click=lambda event: commands.toggle(),
        )
        self.step = pmui.Button(
            label="Step",
            icon="skip_next",
            variant="outlined",
            margin=0,
            sx=_fit_phones(92),
            on_click=lambda event: commands.step(),
        )
        self.restart = pmui.Button(
            label="Restart",
            icon="replay",
            variant="outlined",
            margin=0,
            sx=_fit_phones(112),
            on_click=lambda event: commands.restart(),
        )
        self.pace = pmui.Select(
            label="Pace",
            options=PACES,
            value="minute",
            size="small",
            width=235,
            margin=0,
            stylesheets=[PACE_STYLE],
        )
        self.pace.param.watch(self._change_pace, "value")
        self.share = pmui.Button(
            label="Share",
            icon="share",
            variant="outlined",
            margin=0,
            on_click=lambda event: commands.share(),
            sx=_fit_phones(98),
        )
        self.settings = pmui.Button(
            label="Settings",
            icon="tune",
            variant="outlined",
            margin=0,
            # A phone has the button at the top left only.
            sx={"width": "116px", PHONE: {"display": "none"}},
        )
        self._parts = (
            self.run,
            self.step,
            self.restart,
            self.share,
            self.pace,
            self.settings,
        )
        self.buttons = lay_in_lines(gap="10px 8px", margin=(10, 0, 0, 0))
        self.bar = self._layout = StatusBar(
            stick=stick, buttons=self.buttons, sizing_mode="stretch_width", margin=(0, 10)
        )
        self.bar.on_msg(lambda event: commands.toggle())
        self._show_buttons()
        self._write()
        state.param.watch(self._write, ["progress", "shown", "fault"], precedence=LAST)

    @param.depends("state.role", watch=True)
    def _show_buttons(self) -> None:
        """Show the buttons; a watcher has none."""
        fill_if_shown(self.buttons, self._parts, self.state.may_act)

    @guarded
    def _write(self, *events: Any) -> None:
        """Show the state of the run, with phase, date and documents of the moment shown."""
        progress = self.state.progress
        described = describe_progress(progress, self.state.shown)
        if progress.work != self.bar.work:
            seconds = time.perf_counter() - progress.begun_at if progress.work else 0.0
            self.bar.param.update(work=progress.work, work_seconds=seconds)
        is_going = progress.status in ("running", "opening", "compiling", "waiting")
        is_over = progress.status in ("finished", "failed")
        label, icon = ("Pause", "pause") if is_going else ("Run", "play_arrow")
        if progress.status == "finished":
            label = "Another pass"
            icon = "replay_circle_filled"
        self.run.param.update(label=label, icon=icon, disabled=progress.status == "failed")
        self.step.disabled = is_over
        self.bar.write(described | {"note": f"{described['note']} {self.state.fault}".strip()})

    def show_pace(self, seconds_per_batch: float | None) -> None:
        """Show the pace of the run."""
        self.pace.value = "minute" if seconds_per_batch is None else seconds_per_batch

    def _change_pace(self, event: Any) -> None:
        self._commands.set_pace(None if event.new == "minute" else event.new)


def _fit_phones(width: int) -> dict[str, Any]:
    """The look of a button whose label only wide windows and screen readers have."""
    return {"width": f"{width}px", PHONE: ICON_ALONE}


def describe_progress(progress: Progress, moment: Progress | None = None) -> dict[str, Any]:
    """Return the texts of the status bar.

    moment: whose phase, date and documents they are.
    """
    moment = moment or progress
    share = progress.share_done
    stream = progress.stream
    if progress.status == "compiling":
        share = progress.compile_share
    elif stream is not None:
        share = stream.num_waiting / stream.batch_size
    return {
        "status": progress.status,
        "color": STATUS_COLORS[progress.status],
        "state": (
            FOLLOWING
            if stream and progress.status == "running"
            else STATES.get(progress.status, progress.status)
        ),
        "phase": _describe_phase(moment),
        "phase_help": PHASE_HELP.get(moment.phase, ""),
        "corpus": title_corpus(progress.corpus_name),
        "reading": _describe_date(moment),
        "documents": _describe_documents(moment),
        "speed": (
            only_if(progress.documents_per_second, f"{progress.documents_per_second:,.0f} a second")
        ),
        "share": round(share, 4),
        "share_label": "Documents of the next mini-batch" if stream else "Documents seen",
        "share_text": (
            f"{stream.num_waiting:,} of {count(stream.batch_size, 'document')}" if stream else ""
        ),
        "note": _describe_note(progress),
    }


def _describe_phase(progress: Progress) -> str:
    if progress.phase == Phase.WARM_UP:
        return f"{Phase.WARM_UP}, temperature {progress.temperature:.1f}"
    # Under the hood has the two parts of a pass of the online HDP.
    return only_if(progress.phase not in ("", Phase.TWO_LEVEL), f"{progress.phase} phase")


def _describe_documents(progress: Progress) -> str:
    if progress.stream is not None and progress.documents_seen:
        return count(progress.documents_seen, "document")
    if not progress.documents_total:
        return ""
    read = f"{progress.documents_seen:,} of {count(progress.documents_total, 'document')}"
    if progress.num_held_out:
        read += f", {progress.num_held_out:,} held out"
    return read


def _describe_date(progress: Progress) -> str:
    # The sentence below the bar has the date of a stream.
    if (
        progress.date is None
        or np.isnat(progress.date)
        or progress.reads_corpus
        or progress.stream is not None
    ):
        return ""
    return f"{READ.get(progress.status, 'read up to')} {progress.date}"


def _describe_note(progress: Progress) -> str:
    if progress.status == "failed":
        return (
            f"The engine has stopped: {progress.message.rstrip('.')}. The results so far are below."
        )
    if 0 < progress.corpus_size < FEWEST_BATCHES and (
        progress.now is None or has_no_topic(progress)
    ):
        return f"{FEW_DOCUMENTS.format(progress.corpus_size)} {progress.message}".rstrip()
    # A finished or recorded run says it in its summary, so that nothing moves.
    is_said = progress.status == "finished" or progress.recorded_on
    return only_if(not is_said, progress.message)
