"""All topics in use as a table: how large, how coherent and how exclusive each is."""

from collections.abc import Sequence
from html import escape
from typing import Any

import panel as pn
import param

from stickbreaker.app.frames.quality_frames import describe_quality, quality_rows
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.topic_table import TopicTable

HELP = (
    "NPMI measures how often the top ten words of a topic occur in the same documents: 1 is always,"
    " 0 is as often as by chance, and −1 is never. Exclusivity is high if the top words are"
    " frequent in this topic and rare in others."
)


class TopicQualityView(StateView):
    """The table of topics. It follows and sets the selected topic.

    of_runs: what other runs say of the topics, above the table.
    """

    def __init__(self, state: RunState, of_runs: Sequence[Any] = ()) -> None:
        super().__init__(state)
        self.table = TopicTable(self._pick, empty="Available once the corpus has been read.")
        self.summary = html_pane()
        heading = make_heading("All topics", HELP)
        self._layout = stack(heading, self.summary, *of_runs, self.table)
        self._draw()

    @param.depends("state.reading", "state.titles", watch=True)
    @guarded
    def _draw(self) -> None:
        reading = self.state.reading
        if reading is None:
            return
        with pn.io.hold():
            rows = quality_rows(reading, self.state.progress.topic_title)
            self.table.param.update(rows=rows, empty=NO_TOPIC, chosen=self.state.topic)
            self.summary.object = f"<p style='margin:4px 0'>{escape(describe_quality(reading))}</p>"

    @param.depends("state.topic", watch=True)
    def _mark(self) -> None:
        self.table.chosen = self.state.topic

    def _pick(self, topic_id: int) -> None:
        self.state.topic = topic_id
