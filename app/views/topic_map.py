"""Topics by similarity: a map, on which topics move little from reading to reading, and a tree; below them, lines."""

from typing import Any

import pandas as pd
import panel as pn
from panel.viewable import Viewer

from stickbreaker.app.frames.reading_frames import (
    NUM_LEAVES,
    TopicLines,
    TopicTree,
    find_holders,
    map_frame,
    map_then,
    topic_lines,
    topic_tree,
)
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.reading import Reading, ReadingJob
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.plots.reading_plots import LinesPlot, MapPlot, TreePlot
from stickbreaker.app.widgets.help_button import heading_html, make_heading
from stickbreaker.app.widgets.layouts import hideable

HELP = (
    "<p>Each dot of the map is a topic. Dots near each other are topics with similar words; the distances approximate "
    "Jensen-Shannon distances.</p>"
    "<p>The area of a dot shows the topic's share of all tokens. Until the corpus has been read, it shows the topic's "
    "weight in the model.</p><p>Click a dot to select the topic. Point at a dot to see its words, and at a "
    "word in a list to see its topics.</p>"
    "<p>The lines show each topic's share of the tokens in each period. The lines of the selected topic and of topics "
    "that you point at are thick.</p>"
    f"<p>The tree shows the {NUM_LEAVES} largest topics and joins the most similar ones first (average linkage of "
    "Jensen-Shannon distances). The farther right two topics join, the less similar they are.</p>"
)

TITLE, NEAR = "Map of topics", "Topics near each other have similar words."
PAIR_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 12px; align-items: start; }
@media (min-width: 1350px) { :host { grid-template-columns: minmax(0, 9fr) minmax(0, 5fr); } }
"""


class TopicMap(Viewer):
    """The map of topics, the tree next to it and their lines through time. They follow and set the selected topic.

    A topic or word that the pointer is on, here or in a list, stands out: other topics are faint.
    """

    def __init__(self, selection: Selection, **params: Any) -> None:
        super().__init__(**params)
        self._selection = selection
        self.plot = MapPlot(self._pick, self._point)
        self._shown: tuple[Any, ...] = ()
        self._frame: pd.DataFrame | None = None
        self._moment: Moment | None = None
        self._is_replayed = False
        selection.param.watch(lambda event: self._draw(), "topic")
        selection.param.watch(lambda *events: self._light(), ["pointed_topic", "pointed_word"])
        self.lines = LinesPlot(self._pick)
        self._topic_lines: TopicLines | None = None
        self._tree_plot = TreePlot(self._pick)
        self._tree: TopicTree | None = None
        self._chart = hideable(self.plot.figure, margin=0)
        self.lines_chart = hideable(self.lines.figure, margin=0)
        self.lines_chart.visible = False
        self._tree_chart = hideable(self._tree_plot.figure, margin=0)
        pair = pn.Column(
            self._chart, self._tree_chart, sizing_mode="stretch_width", stylesheets=[PAIR_STYLE], margin=0
        )
        self.heading = make_heading(TITLE, HELP, NEAR)
        self._layout = pn.Column(self.heading, pair, self.lines_chart, sizing_mode="stretch_width", margin=0)

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
        self._tree = topic_tree(reading, progress.topic_title)
        self._topic_lines = topic_lines(reading, progress.topic_title)
        if self._topic_lines is not None:
            self.lines.show(self._topic_lines)
        self._draw()

    def replay(self, progress: Progress) -> None:
        """Show the sizes that topics had at a moment of the run that is replayed, at their present places."""
        is_replayed, moment = progress.status == REPLAYED, progress.now
        if (is_replayed, is_replayed and moment) != (self._is_replayed, self._is_replayed and self._moment):
            self._is_replayed, self._moment = is_replayed, moment
            self._draw()

    def _draw(self) -> None:
        self.heading.object = heading_html(TITLE, HELP, describe_map(self._moment if self._is_replayed else None))
        if self._frame is not None:
            frame = map_then(self._frame, self._moment) if self._is_replayed else self._frame
            self.plot.show(frame, self._selection.topic)
            self._chart.visible = len(self._frame) > 0
        self.lines_chart.visible = self._topic_lines is not None
        self._tree_chart.visible = self._tree is not None
        if self._tree is not None:
            self._tree_plot.show(self._tree, self._selection.topic)
        self._light()

    def _light(self) -> None:
        topic_ids = self._find_pointed()
        self.plot.light(topic_ids)
        lit = {self._selection.topic, *(topic_ids or ())}
        self.lines.light(lit)
        self._tree_plot.light(lit)

    def _find_pointed(self) -> set[int] | None:
        """The topics that stand out; None if no topic and no word is pointed at."""
        topic, word, reading = self._selection.pointed_topic, self._selection.pointed_word, self._shown_reading
        if topic is not None:
            return {topic}
        if word is None or reading is None or word >= len(reading.corpus.vocabulary):
            return None
        places, _ = find_holders(reading, word)
        return set(reading.summary.topic_ids[places].tolist())

    @property
    def _shown_reading(self) -> Reading | None:
        return self._shown[0] if self._shown else None

    def _point(self, topic_id: int | None) -> None:
        self._selection.pointed_topic = topic_id

    def _pick(self, topic_id: int) -> None:
        self._selection.topic = topic_id


def describe_map(moment: Moment | None) -> str:
    """Say what the map shows at a moment of the replay, or else in general; the lists do not follow the replay.

    >>> describe_map(None)
    'Topics near each other have similar words.'
    """
    if moment is None:
        return NEAR
    return f"Replay: sizes after {count(moment.documents_seen, 'document')}; words as last read."
