"""The line that says which kept names have returned to the topics of a run, with the button that
takes them back.
"""

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.summary_texts import describe_names
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, fill_if_shown, lay_in_lines

STYLE = (
    "p { margin: 0; font-size: 14px; line-height: 1.4; color: var(--panel-on-surface-color,"
    " inherit); }"
)


class NamesNote(StateView):
    """Hidden unless names have returned, or could not be kept."""

    is_on_page = param.Boolean(default=True, doc="Whether the open page shows topics.")

    def __init__(self, state: RunState, commands: RunCommands):
        super().__init__(state)
        self._said = self._closed = ""
        self.text = pn.pane.HTML("", stylesheets=[STYLE], margin=(4, 10))
        self.undo = pmui.Button(label="Undo", variant="text", size="small", margin=0)
        self.undo.on_click(lambda event: commands.undo_names())
        self.close = pmui.Button(label="Close", variant="text", size="small", margin=0)
        self.close.on_click(self._close)
        self._parts = (self.text, self.undo, self.close)
        self._layout = lay_in_lines(visible=False)
        self._draw()

    @param.depends("is_on_page", "state.progress", "state.role", watch=True)
    @guarded
    def _draw(self) -> None:
        """Show the line for a run; a watcher only reads it."""
        progress = self.state.progress
        text = describe_names(progress.returned)
        self._said = f"{progress.run_id} {text}"
        self.text.object = only_if(text, f'<p role="status">{escape(text)}</p>')
        is_shown = self.is_on_page and bool(text) and self._said != self._closed
        fill_if_shown(self._layout, self._parts, is_shown)
        self.undo.visible = self.state.may_act and bool(progress.returned.given)

    def _close(self, event: Any) -> None:
        self._closed = self._said
        self._layout.visible = False
