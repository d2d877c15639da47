"""Topics by similarity: a map, on which topics move little from reading to reading, and a tree.

Below them, lines.
"""

import pandas as pd
import param

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
from stickbreaker.app.model.progress import Moment
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.plots.reading_plots import LinesPlot, MapPlot, TreePlot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import heading_html, make_heading
from stickbreaker.app.widgets.layouts import StateView, hideable, stack

HELP = (
    "<p>Each dot of the map is a topic. Dots near each other are topics with similar words; the"
    " distances approximate Jensen-Shannon distances.</p><p>The area of a dot shows the topic's"
    " share of all tokens. Until the corpus has been read, it shows the topic's weight in the"
    " model.</p><p>Click a dot to select the topic. Point at a dot to see its words, and at a word"
    " in a list to see its topics.</p><p>The lines show each topic's share of the tokens in each"
    " period. The lines of the selected topic and of topics that you point at are thick.</p><p>The"
    f" tree shows the {NUM_LEAVES} largest topics and joins the most similar ones first (average"
    " linkage of Jensen-Shannon distances). The farther right two topics join, the less similar"
    " they are.</p>"
)

TITLE, NEAR = "Map of topics", "Topics near each other have similar words."
PAIR_STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 12px; align-items: start; }
@media (min-width: 1350px) { :host { grid-template-columns: minmax(0, 9fr) minmax(0, 5fr); } }
"""


class TopicMap(StateView):
    """The map of topics, the tree next to it and their lines through time.

    They follow and set the selected topic.

    A topic or word that the pointer is on, here or in a list, stands out: other topics are faint.
    """

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.plot = MapPlot(self._pick, self._point)
        self._reading: Reading | None = None
        self._frame: pd.DataFrame | None = None
        self.lines = LinesPlot(self._pick)
        self._topic_lines: TopicLines | None = None
        self._tree_plot = TreePlot(self._pick)
        self._tree: TopicTree | None = None
        self._chart = hideable(self.plot.figure, margin=0)
        self.lines_chart = hideable(self.lines.figure, margin=0)
        self.lines_chart.visible = False
        self._tree_chart = hideable(self._tree_plot.figure, margin=0)
        pair = stack(self._chart, self._tree_chart, stylesheets=[PAIR_STYLE])
        self.heading = make_heading(TITLE, HELP, NEAR)
        self._layout = stack(self.heading, pair, self.lines_chart)
        self._read()

    @param.depends("state.reading", "state.titles", watch=True)
    @guarded
    def _read(self) -> None:
        reading, title = self.state.reading, self.state.progress.topic_title
        if reading is None:
            return
        last, before = None, self._reading
        if (
            self._frame is not None
            and before is not None
            and before.model.run_id == reading.model.run_id
        ):
            last = self._frame["topic_id"].to_numpy(), self._frame[["x", "y"]].to_numpy()
        self._reading = reading
        self._frame = map_frame(reading, title, last)
        self._tree = topic_tree(reading, title)
        self._topic_lines = topic_lines(reading, title)
        if self._topic_lines is not None:
            self.lines.show(self._topic_lines)
        self._draw()

    @param.depends("state.topic", "state.replayed", watch=True)
    @guarded
    def _draw(self) -> None:
        """Show topics at their present places; a replay has the sizes of its moment."""
        is_replayed, moment = self.state.shown.status == REPLAYED, self.state.shown.now
        self.heading.object = heading_html(
            TITLE, HELP, describe_map(moment if is_replayed else None)
        )
        if self._frame is not None:
            frame = map_then(self._frame, moment) if is_replayed else self._frame
            self.plot.show(frame, self.state.topic)
            self._chart.visible = len(self._frame) > 0
        self.lines_chart.visible = self._topic_lines is not None
        self._tree_chart.visible = self._tree is not None
        if self._tree is not None:
            self._tree_plot.show(self._tree, self.state.topic)
        self._light()

    @param.depends("state.pointed_topic", "state.pointed_word", watch=True)
    @guarded
    def _light(self) -> None:
        topic_ids = self._find_pointed()
        self.plot.light(topic_ids)
        lit = {self.state.topic, *(topic_ids or ())}
        self.lines.light(lit)
        self._tree_plot.light(lit)

    def _find_pointed(self) -> set[int] | None:
        """The topics that stand out; None if no topic and no word is pointed at."""
        topic, word, reading = self.state.pointed_topic, self.state.pointed_word, self._reading
        if topic is not None:
            return {topic}
        if word is None or reading is None or word >= len(reading.corpus.vocabulary):
            return None
        places, _ = find_holders(reading, word)
        return set(reading.summary.topic_ids[places].tolist())

    def _point(self, topic_id: int | None) -> None:
        self.state.pointed_topic = topic_id

    def _pick(self, topic_id: int) -> None:
        self.state.topic = topic_id


def describe_map(moment: Moment | None) -> str:
    """Say what the map shows at a moment of the replay, or else in general.

    The lists do not follow the replay.

    >>> describe_map(None)
    'Topics near each other have similar words.'
    """
    if moment is None:
        return NEAR
    return f"Replay: sizes after {count(moment.documents_seen, 'document')}; words as last read."
