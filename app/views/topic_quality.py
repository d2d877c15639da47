"""All topics in use as a table: how large, how coherent and how exclusive each is."""

from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from stickbreaker.app.frames.quality_frames import describe_quality, quality_rows
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.topic_table import TopicTable

HELP = (
    "NPMI measures how often the top ten words of a topic "
    "occur in the same documents: 1 is always, 0 is as often as by chance, and −1 is never. Exclusivity is high if the "
    "top words are frequent in this topic and rare in others."
)


class TopicQualityView(Viewer):
    """The table of topics. It follows and sets the selected topic."""

    def __init__(self, selection: Selection, **params: Any) -> None:
        super().__init__(**params)
        self._selection = selection
        self._shown: tuple[Any, ...] = ()
        self.table = TopicTable(self._pick, empty="Available once the corpus has been read.")
        self.summary = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10))
        heading = make_heading("All topics", HELP)
        self._layout = pn.Column(heading, self.summary, self.table, sizing_mode="stretch_width", margin=0)
        selection.param.watch(lambda event: self._mark(), "topic")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show the topics of a reading; does nothing if they are shown already."""
        reading = job.reading
        shown = (reading, progress.titles)
        if reading is None or shown == self._shown:
            return
        self._shown = shown
        with pn.io.hold():
            rows = quality_rows(reading, progress.topic_title)
            self.table.param.update(rows=rows, empty=NO_TOPIC, chosen=self._selection.topic)
            self.summary.object = f"<p style='margin:4px 0'>{escape(describe_quality(reading))}</p>"

    def _mark(self) -> None:
        self.table.chosen = self._selection.topic

    def _pick(self, topic_id: int) -> None:
        self._selection.topic = topic_id
