"""Exports: tables, sheets, arrays, the whole run as a page, the model, the input of pyLDAvis,
figures, and a link.
"""

import asyncio
import logging
import tempfile
from html import escape
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.export.figures import (
    CURVE_FIGURES,
    FIGURES,
    FORMATS,
    draw_figure,
    make_savable,
)
from stickbreaker.app.export.offered import CODES, EXPORTS, Taken
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.limits import find_fault
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.model.replay import can_replay
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.file_transfer import FileTransfer
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.engine.evaluation.group_shares import find_groups

STYLE = """
:host { color: var(--panel-on-surface-color, inherit); }
p { margin: 2px 0; font-size: 14px; line-height: 1.45; } h2 { font-size: 18px; margin: 10px 0 0; }
pre { font-size: 13px; margin: 4px 0; padding: 8px 12px; overflow-x: auto; border-radius: 4px;
  white-space: pre-wrap;
  background: color-mix(in srgb, currentColor 9%, transparent); overflow-wrap: anywhere; }
p.fault { padding: 8px 12px; border-left: 4px solid #c62828;
  background: color-mix(in srgb, #c62828 14%, transparent); }
"""
CSV, PARQUET = "CSV", "Parquet"

_log = logging.getLogger(__name__)


class ExportPanel(StateView):
    """The Export page."""

    drawn = param.Parameter(doc="What the figure depends on: it is drawn again when this changes.")

    def __init__(self, state: RunState, commands: RunCommands) -> None:
        super().__init__(state)
        self._commands = commands
        self._is_busy = self.is_closed = False
        self._figure: Any = None
        self._grouped: tuple[Reading | None, bool] = (None, False)
        self.mover = FileTransfer(
            lambda path: None, self._refuse, takes_files=False, height=0, margin=0
        )
        self.said = _html("")
        self.format = pmui.RadioButtonGroup(
            label="Table format", options=[CSV, PARQUET], value=CSV, size="small"
        )
        self.buttons = {what: self._make_button(what) for what in EXPORTS}
        self._codes = {what: _html("") for what in CODES}
        self._make_figures()
        self._layout = self._lay_out()
        self._follow()

    def _make_button(self, what: str) -> pmui.Button:
        return pmui.Button(
            label=EXPORTS[what].label,
            icon="download",
            variant="outlined",
            width=280,
            on_click=lambda event: self._begin(what),
        )

    def _make_figures(self) -> None:
        self.figure = pmui.Select(
            label="Figure", options=list(FIGURES), value=FIGURES[0], size="small", width=300
        )
        self.picture = pmui.RadioButtonGroup(
            label="Figure format", options=list(FORMATS), value="PNG", size="small"
        )
        self.save = pmui.Button(
            label="Save figure", icon="image", variant="outlined", on_click=self._save
        )
        self.redraw = pmui.Button(
            label="Redraw figure", icon="refresh", variant="text", on_click=self._redraw
        )
        self._pane = stack()
        self._figure_note = _html("")
        for widget in (self.figure, self.picture):
            widget.param.watch(lambda event: self._draw(), "value")

    def _lay_out(self) -> pn.viewable.Viewable:
        tables = [self._row(what) for what, export in EXPORTS.items() if not export.ending]
        rest = [self._row(what) for what, export in EXPORTS.items() if export.ending]
        choices = pn.FlexBox(
            self.figure, self.picture, self.save, self.redraw, align_items="center", gap="8px"
        )
        return stack(
            self.said,
            self.mover,
            _html("<h2>Tables</h2>"),
            self.format,
            *tables,
            _html("<h2>Other files</h2>"),
            *rest,
            _html("<h2>Figures</h2>"),
            choices,
            self._figure_note,
            self._pane,
            _html(
                "<h2>Link</h2><p>The address of this page contains the corpus, the settings and"
                " your selection. Anyone who opens it can control this run. If the run has been"
                " removed, a new one starts with the same settings.</p><p>With the link from Share,"
                " others can only watch.</p>"
            ),
        )

    def _row(self, what: str) -> pn.viewable.Viewable:
        about = stack(
            _html(f"<p>{escape(EXPORTS[what].sentence)}</p>"),
            *([self._codes[what]] if what in CODES else []),
            styles={"flex": "1 1 300px", "min-width": "0"},
        )
        return pn.FlexBox(
            self.buttons[what],
            about,
            align_items="center",
            gap="0 8px",
            sizing_mode="stretch_width",
        )

    @param.depends("state.progress", "state.reading", "state.tasks", "state.sweep", watch=True)
    @guarded
    def _follow(self) -> None:
        """Enable the exports that a run and its reading make possible."""
        progress = self.state.progress
        has = self._has()
        for what, button in self.buttons.items():
            button.disabled = self._is_busy or EXPORTS[what].needs not in has
        for what, code in CODES.items():
            self._codes[
                what
            ].object = f"<pre>{escape(code.format(name=self._file_name(what)))}</pre>"
        of_reading = None
        if self.figure.value not in CURVE_FIGURES:
            of_reading = self._reading(), progress.titles
        self.drawn = (
            progress.run_id,
            progress.status == "finished",
            bool(progress.documents_seen),
            of_reading,
        )

    def _reading(self) -> Reading | None:
        """The reading, if it belongs to the current run."""
        reading = self.state.reading
        if reading is None or reading.model.run_id != self.state.progress.run_id:
            return None
        return reading

    def _has_groups(self, reading: Reading) -> bool:
        """Whether the corpus of a reading of all documents has groups."""
        if self._grouped[0] is not reading:
            self._grouped = reading, reading.is_read and find_groups(reading.corpus) is not None
        return self._grouped[1]

    def _has(self) -> set[str]:
        """The parts that can be exported, as `Export.needs` names them."""
        reading, progress = self._reading(), self.state.progress
        has_swept = any(each.heldout for each in self.state.sweep.points)
        parts = {
            "steps": progress.documents_seen,
            "columns": progress.columns,
            "answers": self.state.tasks.all_results,
            "sweep": has_swept and self._commands.may_open,
            "replay": can_replay(progress) and progress.columns,
            "topics": reading is not None,
            "documents": reading is not None and reading.is_read,
            "groups": reading is not None and self._has_groups(reading),
        }
        return {name for name, is_there in parts.items() if is_there}

    def _file_name(self, what: str) -> str:
        ending = EXPORTS[what].ending if what in EXPORTS else ""
        run = f"{self.state.progress.corpus_name}-{self.state.progress.algorithm}"
        return as_file_name(f"{run}-{what}").removesuffix(ending) + ending

    def _begin(self, what: str) -> None:
        """Write one file outside the event loop, then send it to the browser."""

        async def run() -> None:
            await self.take(what)

        pn.state.execute(run)

    async def take(self, what: str) -> None:
        """Write an export of the current state and send it to the browser; one at a time."""
        export = EXPORTS[what]
        if self._is_busy or export.needs not in self._has():
            return
        state = self.state
        results = state.tasks.all_results
        taken = Taken(
            progress=state.progress,
            earlier=state.earlier,
            reading=self._reading(),
            listed_topics=state.listed_topics,
            by_relevance=state.by_relevance,
            results=results,
            read_sweep=self._commands.read_sweep,
        )
        ending = export.ending or (".csv" if self.format.value == CSV else ".parquet")
        name = self._file_name(what).removesuffix(ending) + ending
        self._set_busy(True, f'<p role="status">Writing {escape(name)} …</p>')
        with tempfile.NamedTemporaryFile(
            prefix="stickbreaker-", suffix=ending, delete=False
        ) as file:
            path = Path(file.name)
        is_written = False
        try:
            await asyncio.to_thread(export.write, taken, path)
            said = f'<p role="status">{escape(name)}: {path.stat().st_size:,} bytes.</p>'
            is_written = True
        except Exception as error:
            _log.exception("%s could not be written", name)
            self._commands.note_fault("export_failed", find_fault(error))
            said = _fault(f"{name} could not be written: {error}")
        self._set_busy(False, said)
        if self.is_closed or not is_written:
            path.unlink(missing_ok=True)
        else:
            self.mover.send_file(path, name)

    def _set_busy(self, is_busy: bool, said: str) -> None:
        self._is_busy, self.said.object = is_busy, said
        self._follow()

    def _refuse(self, text: str) -> None:
        self.said.object = _fault(text)

    def _redraw(self, event: Any) -> None:
        self._draw()

    @param.depends("drawn", watch=True)
    @guarded
    def _draw(self) -> None:
        progress = self.state.progress
        drawn = draw_figure(
            self.figure.value, progress, self.state.earlier, self._reading(), self.state.topic
        )
        self._figure, self.save.disabled = drawn, drawn is None
        self._pane.visible = drawn is not None
        if drawn is None:
            self._figure_note.object = "<p>No data to draw yet.</p>"
            return
        stem = as_file_name(f"{progress.corpus_name}-{self.figure.value.lower()}")
        make_savable(drawn, self.picture.value, stem)
        note = f"State after {count(progress.documents_seen, 'document')}."
        note += " A figure has the colours of the page, light or dark."
        if self.picture.value == "PDF":
            note += " Choose “Save as PDF” in the print window that opens."
        self._figure_note.object = f"<p>{note}</p>"
        self._pane[:] = [pn.pane.Bokeh(drawn, sizing_mode="stretch_width", margin=0)]

    def _save(self, event: Any) -> None:
        if self._figure is not None:
            self._figure.tags = [*self._figure.tags, len(self._figure.tags)]

    def close(self) -> None:
        """Cancel a transfer in progress, at the end of the page."""
        self.is_closed = True
        self.mover.close()


def _fault(text: str) -> str:
    return f'<p class="fault" role="alert">{escape(text)}</p>'


def as_file_name(name: str) -> str:
    """The letters, digits and the signs "-_." of a name; all else becomes "-"."""
    return "-".join(
        "".join(sign if sign.isalnum() or sign in "-_." else " " for sign in name).split()
    )


def _html(text: str) -> pn.pane.HTML:
    return html_pane(text, stylesheets=[STYLE])
