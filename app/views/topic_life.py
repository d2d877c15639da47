"""The life of topics over the run: lanes with births, when they became clear, proposed merges and deaths on them."""

from html import escape

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from stickbreaker.app.frames.life_frames import (
    NUM_LANES,
    event_rows,
    lane_frame,
    lane_topics,
    last_words,
    mark_frame,
    summarize_life,
)
from stickbreaker.app.frames.word_frames import run_places
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.model.topic_life import (
    ALIKE,
    BORN,
    CLEAR,
    GONE,
    LEAST_LIKENESS,
    NUM_STEADY,
    NUM_WORDS,
    LifeEvent,
    find_events,
)
from stickbreaker.app.plots.life_plots import LifePlot
from stickbreaker.app.widgets.pick_list import PickList

MOST_LABEL = 22
KINDS = {"all": None, "births": BORN, "clear": CLEAR, "merges proposed": ALIKE, "gone": GONE}
RULES = (
    "<h2 style='margin:0'>Life of topics</h2><p style='margin:4px 0'>What became of the topics, as far as the columns "
    "of the word lists tell; more of them, under Advanced settings, tell it more finely. A topic is there at a column "
    f"where it explains a word or more. Drawn are the {NUM_LANES} topics that were ever the largest, each a lane as "
    "thick as its share of words.</p><ul style='margin:4px 0;font-size:14px'>"
    "<li>● <b>born</b>: there for the first time, after the first column.</li>"
    f"<li>★ <b>clear</b>: from here on each of its lists has at least {NUM_STEADY} of the {NUM_WORDS} top words it has "
    "now; known from the second column on, and taken back if they change later.</li>"
    "<li>◆ <b>merge proposed</b>: from here on it has been a near-duplicate of a larger topic, like it by "
    f"{LEAST_LIKENESS} or more (Bhattacharyya coefficient of the fifty likeliest words; 1 for copies).</li>"
    "<li>✕ <b>gone</b>: no longer there, to this day; with the topic it was so like at last, which probably took it "
    "in.</li></ul>"
)


class TopicLife(Viewer):
    """Follows the selection's topic, and sets it. Needs no reading of the corpus."""

    def __init__(self, selection: Selection, **params):
        super().__init__(**params)
        self._selection = selection
        self._progress, self._shown = Progress(), ()
        self._events: tuple[LifeEvent, ...] = ()
        self._summary = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 10))
        self._plot = LifePlot(self._choose)
        drawn = pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_width")
        self._pane = pn.Column(drawn, sizing_mode="stretch_width", margin=0)
        self._kind = pmui.Select(label="Events", options=list(KINDS), value="all", size="small", width=190)
        self._count = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10))
        self._rows = PickList(self._pick)
        self._kind.param.watch(lambda event: self._list(), "value")
        selection.param.watch(lambda event: self._draw(), "topic")
        rules = pn.pane.HTML(RULES, sizing_mode="stretch_width", margin=(16, 10, 0, 10))
        parts = (rules, self._summary, self._pane, self._kind, self._count, self._rows)
        self._layout = pn.Column(*parts, sizing_mode="stretch_width", margin=0)
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show a run's columns; does nothing between two of them."""
        shown = (progress.run_id, len(progress.checkpoints), progress.planned_columns[:1], dict(progress.names))
        self._progress = progress
        if shown != self._shown:
            self._shown = shown
            self._events = find_events(progress.checkpoints)
            self._draw()

    def _draw(self) -> None:
        progress = self._progress
        topic_ids = lane_topics(progress, self._selection.topic)
        self._kind.visible = self._pane.visible = bool(topic_ids)
        if topic_ids:
            self._say(summarize_life(progress, self._events))
            lanes, marks = lane_frame(progress, topic_ids), mark_frame(progress, self._events, topic_ids)
            labels = [self._label(topic_id) for topic_id in topic_ids]
            self._plot.show(lanes, marks, labels, run_places(progress)[0])
        else:
            planned = progress.planned_columns
            when = f" after {count(planned[0], 'document')}" if planned else " once the run has begun to read"
            self._say(f"The first column of the word lists fills{when}.")
        self._list()

    def _label(self, topic_id: int) -> str:
        """A topic's name and first word, cut so that lanes have room on a phone."""
        mark = "▸ " if topic_id == self._selection.topic else ""
        label = f"{self._progress.topic_title(topic_id)} · {last_words(self._progress, topic_id, 1)}"
        return mark + (label if len(label) <= MOST_LABEL else f"{label[: MOST_LABEL - 1]}…")

    def _list(self) -> None:
        """List the events of the chosen kind."""
        wanted = KINDS[self._kind.value]
        self._listed = [each for each in self._events if wanted in (None, each.kind)]
        rows = event_rows(self._progress, self._listed)
        shown = f"The newest {len(rows)} of " if len(rows) < len(self._listed) else ""
        self._count.object = (
            f"<p style='margin:0;font-size:13px'>{shown}{count(len(self._listed), 'event')}</p>" if rows else ""
        )
        self._rows.show(rows, "Nothing of this kind so far." if self._progress.checkpoints else "")

    def _say(self, text: str) -> None:
        self._summary.object = f"<p style='margin:4px 0'>{escape(text)}</p>"

    def _pick(self, place: int) -> None:
        self._choose(self._listed[place].topic_id)

    def _choose(self, topic_id: int) -> None:
        self._selection.topic = topic_id
