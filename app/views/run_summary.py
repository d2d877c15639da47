"""What the run is doing, in one sentence, with its two main numbers: the top of the live page."""

import re
from html import escape

import param

from stickbreaker.app.frames.summary_texts import describe_reading, list_figures
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, html_pane

HINT = "Each column shows what a topic was about at that point."
DATE = r"\d+-\d\d(-\d\d)?"
STYLE = """
:host { color: var(--panel-on-surface-color, #222); }
.summary { display: flex; flex-wrap: wrap; gap: 4px 28px; align-items: center;
  justify-content: space-between; }
.says { flex: 1 1 360px; min-width: 0; }
.says p { margin: 0; font-size: 14px; }
.says p:first-child { font-size: 18px; line-height: 1.3; min-height: 2.6em; }
.date { white-space: nowrap; }
/* The numbers keep their places while they and the sentence change. */
dl { display: flex; gap: 28px; margin: 0; }
dl div { min-width: 8.5em; }
dt { font-size: 14px; }
dd { margin: 0; font-size: 14px; }
dd strong { font-size: 24px; line-height: 1.15; font-variant-numeric: tabular-nums; }
@media (max-width: 600px) {
  dl div { min-width: 0; }
  .says p, dt, dd { font-size: 13px; }
  .says p:first-child { font-size: 16px; min-height: 3.9em; }
  dd strong { font-size: 20px; }
}
"""


class RunSummary(StateView):
    """One sentence and two numbers about the run."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._layout = html_pane(stylesheets=[STYLE], css_classes=["run-summary"])
        self._draw()

    @param.depends("state.shown", watch=True)
    @guarded
    def _draw(self) -> None:
        progress = self.state.shown
        figures = "".join(
            f"<div><dt>{label}</dt><dd><strong>{value}</strong> {unit}</dd></div>"
            for label, value, unit in list_figures(progress)
        )
        says = re.sub(DATE, r"<span class='date'>\g<0></span>", escape(describe_reading(progress)))
        is_here = progress.status == "finished" or progress.recorded_on
        hint = only_if(is_here, escape(self.state.progress.message))
        self._layout.object = (
            "<div class='summary'><div"
            f" class='says'><p>{says}</p><p>{hint or HINT}</p></div><dl>{figures}</dl></div>"
        )
