"""The line that says which kept names have returned to the topics of a run, with the button that takes them back."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from stickbreaker.app.frames.summary_texts import describe_names
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.widgets.layouts import fill_if_shown, lay_in_lines

STYLE = "p { margin: 0; font-size: 14px; line-height: 1.4; color: var(--panel-on-surface-color, inherit); }"


class NamesNote(Viewer):
    """Hidden unless names have returned, or could not be kept. undo(): take them back."""

    def __init__(self, undo: Callable[[], None]):
        super().__init__()
        self._may_act = True
        self._said = self._closed = ""
        self.text = pn.pane.HTML("", stylesheets=[STYLE], margin=(4, 10))
        self.undo = pmui.Button(label="Undo", variant="text", size="small", margin=0)
        self.undo.on_click(lambda event: undo())
        self.close = pmui.Button(label="Close", variant="text", size="small", margin=0)
        self.close.on_click(self._close)
        self._parts = (self.text, self.undo, self.close)
        self._layout = lay_in_lines(visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def let_act(self, may_act: bool) -> None:
        """Let the user take names back; a watcher only reads the line."""
        self._may_act = may_act
        self.undo.visible = self.undo.visible and may_act

    def update(self, progress: Progress, is_on_page: bool = True) -> None:
        """Show the line for a run; is_on_page: whether the open page shows topics."""
        text = describe_names(progress.returned)
        self._said = f"{progress.run_id} {text}"
        html = f'<p role="status">{escape(text)}</p>' if text else ""
        if html != self.text.object:
            self.text.object = html
        is_shown = is_on_page and bool(text) and self._said != self._closed
        fill_if_shown(self._layout, self._parts, is_shown)
        self.undo.visible = self._may_act and bool(progress.returned.given)

    def _close(self, event: Any) -> None:
        self._closed, self._layout.visible = self._said, False
