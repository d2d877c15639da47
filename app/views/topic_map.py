"""The map of topics: similar topics are near each other, and topics move little from reading to reading."""

from typing import Any

import pandas as pd
import panel as pn
from panel.viewable import Viewer

from stickbreaker.app.frames.reading_frames import map_frame
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.panel_fixes import hideable
from stickbreaker.app.plots.reading_plots import MapPlot

HEADING = (
    "<h2 style='margin:0'>Map of topics</h2><p style='margin:4px 0'>Distances approximate the Jensen-Shannon distances "
    "between topics in two dimensions, and the area of a dot is the topic's share of all words: until the corpus has "
    "been read, of the model's weight. Click a dot to select the topic.</p>"
)


class TopicMap(Viewer):
    """The map of topics. It follows and sets the selected topic."""

    def __init__(self, selection: Selection, **params: Any) -> None:
        super().__init__(**params)
        self._selection = selection
        self._plot = MapPlot(self._pick)
        self._shown: tuple[Any, ...] = ()
        self._frame: pd.DataFrame | None = None
        selection.param.watch(lambda event: self._draw(), "topic")
        self._chart = hideable(self._plot.figure, margin=0)
        heading = pn.pane.HTML(HEADING, sizing_mode="stretch_width", margin=(10, 10, 0, 10))
        self._layout = pn.Column(heading, self._chart, sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show the topics of a reading."""
        reading = job.reading
        shown = (reading, progress.titles)
        if reading is None or shown == self._shown:
            return
        last = None
        if self._frame is not None and self._shown[0].model.run_id == reading.model.run_id:
            last = self._frame["topic_id"].to_numpy(), self._frame[["x", "y"]].to_numpy()
        self._shown = shown
        self._frame = map_frame(reading, progress.topic_title, last)
        self._draw()

    def _draw(self) -> None:
        if self._frame is not None:
            self._plot.show(self._frame, self._selection.topic)
            self._chart.visible = len(self._frame) > 0

    def _pick(self, topic_id: int) -> None:
        self._selection.topic = topic_id
