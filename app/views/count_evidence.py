"""What speaks for the number of topics of the current run."""

from html import escape
from typing import Any

import panel as pn
import param

from stickbreaker.app.frames.count_evidence import list_evidence, number_frame
from stickbreaker.app.plots.compare_plots import sweep_plot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, lay_at_end, stack

HELP = (
    "Held-out scores, runs with other seeds, the prior and the Gibbs sampler say how far the number"
    " of topics is a property of the corpus, and how far it depends on chance and settings."
)
STYLE = "p { margin: 4px 0; font-size: 14px; color: var(--panel-on-surface-color, inherit); }"


class CountEvidence(StateView):
    """Sentences, and the score by number of topics.

    note: the view of a check by other runs; keep: that of keeping their consensus.
    """

    def __init__(self, state: RunState, note: Any, keep: Any):
        super().__init__(state)
        self.text = pn.pane.HTML("", stylesheets=[STYLE], sizing_mode="stretch_width")
        self.figure = stack()
        self._layout = stack(
            lay_at_end(make_heading("How many topics?", HELP), note.button),
            note,
            keep.button,
            keep,
            self.text,
            self.figure,
        )
        self._drawn: object = None
        self._draw()

    @param.depends("state.progress", "state.check", "state.reading", watch=True)
    @guarded
    def _draw(self) -> None:
        """Write the sentences once the run has finished, and draw the curve once it is known."""
        progress = self.state.progress
        again = None if self.state.reading is None else self.state.reading.again
        self._layout.visible = progress.status == "finished"
        sentences = list_evidence(progress, self.state.check, again)
        self.text.object = "".join(f"<p>{escape(each)}</p>" for each in sentences)
        if again is self._drawn:
            return
        self._drawn = again
        plots = []
        if again is not None and len(again.numbers) > 1:
            title = "Documents set aside, by number of topics"
            plots = [sweep_plot(number_frame(again), "topics", True, title)]
        self.figure[:] = [pn.pane.Bokeh(each, sizing_mode="stretch_width") for each in plots]
