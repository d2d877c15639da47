"""The page Export: files of the run to save."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import ReadingPage
from stickbreaker.app.views.export_panel import ExportPanel


class Export(ReadingPage):
    """Tables, other files and figures of the run."""

    title = "Export"

    def view(self) -> Sequence[Any]:
        self.panel = ExportPanel(self.state, self.commands)
        self.views = (self.panel,)
        return self.views

    def left(self) -> None:
        self.panel.close()
