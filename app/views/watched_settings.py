"""The settings of a run as text, for a page that watches it."""

from html import escape

import param

from stickbreaker.app.model.presets import describe_rates
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import describe_algorithm, title_corpus
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, html_pane

STYLE = """
h2 { font-size: 16px; margin: 8px 0; } p { font-size: 14px; line-height: 1.4; margin: 0 0 8px; }
:host { color: var(--panel-on-surface-color, inherit); }
"""


class WatchedSettings(StateView):
    """Stands in the place of the controls, which a watcher does not have."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._layout = html_pane(stylesheets=[STYLE], margin=(0, 18))
        self._draw()

    @param.depends("state.progress", watch=True)
    @guarded
    def _draw(self) -> None:
        text = "".join(f"<p>{escape(line)}</p>" for line in list_settings(self.state.progress))
        self._layout.object = f"<h2>Settings of this run</h2>{text}"


def list_settings(progress: Progress) -> list[str]:
    """Say in sentences which corpus is read with which algorithm and learning rates."""
    lines = [f"Corpus: {title_corpus(progress.corpus_name)}."] if progress.corpus_name else []
    algorithm = progress.algorithm_record
    if algorithm is not None:
        lines.append(f"Algorithm: {algorithm.title}. {describe_algorithm(algorithm)}")
    if progress.schedule is not None:
        lines.append(f"Learning with {describe_rates(progress.schedule)}.")
    return [*lines, "The presenter can change them."]
