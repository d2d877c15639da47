"""The life of topics over the run: lanes with births, stable topics, proposed merges and topics
that are gone.
"""

from html import escape

import panel_material_ui as pmui
import param

from stickbreaker.app.frames.life_frames import (
    NUM_LANES,
    event_rows,
    lane_frame,
    lane_topics,
    mark_frame,
    summarize_life,
)
from stickbreaker.app.frames.word_frames import run_places
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.topic_life import (
    BORN,
    GONE,
    LEAST_SIMILARITY,
    NEAR_DUPLICATE,
    NUM_STEADY,
    STABLE,
    LifeEvent,
    find_events,
)
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS
from stickbreaker.app.plots.life_plots import LifePlot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, hideable, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList

MOST_LABEL = 22
KINDS = {
    "all": None,
    "born": BORN,
    "stable": STABLE,
    "merges proposed": NEAR_DUPLICATE,
    "gone": GONE,
}
HELP = (
    f"<p>The {NUM_LANES} topics with the largest weight in the model at any moment are shown. The"
    " thicker a lane, the larger the weight.</p><p>The topics in use at a moment are the fewest"
    " that cover 99 % of the expected tokens. For more detail, set more “Columns of word lists”"
    " under Advanced settings.</p><ul style='margin:4px 0;font-size:14px'><li>● <b>born</b>: in"
    " use for the first time, after the first moment.</li><li>★ <b>stable</b>: from here on, each"
    f" of its lists has at least {NUM_STEADY} of its current {NUM_TOP_WORDS} top words. The mark"
    " can appear from the second moment on, and disappears if the words change later.</li><li>◆"
    " <b>merge proposed</b>: from here on, the topic is a near-duplicate of a larger one, with a"
    f" similarity of at least {LEAST_SIMILARITY} (Bhattacharyya coefficient of the fifty most"
    " probable words; 1 for identical topics).</li><li>✕ <b>gone</b>: no longer in use. If it was"
    " a near-duplicate before, the topic that probably absorbed it is named.</li></ul>"
)


class TopicLife(StateView):
    """The life of topics; needs no reading of the corpus."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._events: tuple[LifeEvent, ...] = ()
        self.summary = html_pane(margin=(4, 10))
        self.plot = LifePlot(self._choose)
        self.pane = hideable(self.plot.figure)
        self.kind = pmui.Select(
            label="Events", options=list(KINDS), value="all", size="small", width=190
        )
        self._count = html_pane()
        self.rows = PickList(self._pick)
        self.kind.param.watch(lambda event: self._list(), "value")
        rules = make_heading(
            "Life of topics", HELP, "The events of the topics, from the columns of the word lists."
        )
        self._layout = stack(rules, self.summary, self.pane, self.kind, self._count, self.rows)
        self._follow()

    @param.depends("state.columns", "state.titles", watch=True)
    @guarded
    def _follow(self) -> None:
        self._events = find_events(self.state.progress.columns)
        self._draw()

    @param.depends("state.topic", watch=True)
    @guarded
    def _draw(self) -> None:
        progress = self.state.progress
        topic_ids = lane_topics(progress, self.state.topic)
        self.kind.visible = self.pane.visible = bool(topic_ids)
        if topic_ids:
            self._say(summarize_life(progress, self._events))
            lanes = lane_frame(progress, topic_ids)
            marks = mark_frame(progress, self._events, topic_ids)
            labels = [self._label(topic_id) for topic_id in topic_ids]
            self.plot.show(lanes, marks, labels, run_places(progress)[0])
        else:
            planned = progress.planned_columns
            when = "once the run has started"
            if planned:
                when = f"after {count(planned[0], 'document')}"
            self._say(f"The first column of the word lists is recorded {when}.")
        self._list()

    def _label(self, topic_id: int) -> str:
        """A topic's name or label, shortened so that it fits on a phone."""
        mark = only_if(topic_id == self.state.topic, "▸ ")
        label = self.state.progress.topic_title(topic_id)
        return mark + (label if len(label) <= MOST_LABEL else f"{label[: MOST_LABEL - 1]}…")

    def _list(self) -> None:
        """List the events of the selected kind."""
        wanted = KINDS[self.kind.value]
        self._listed = [each for each in self._events if wanted in (None, each.kind)]
        rows = event_rows(self.state.progress, self._listed)
        shown = only_if(len(rows) < len(self._listed), f"The newest {len(rows)} of ")
        self._count.object = only_if(
            rows,
            f"<p style='margin:0;font-size:14px'>{shown}{count(len(self._listed), 'event')}</p>",
        )
        self.rows.show(rows, only_if(self.state.progress.columns, "No events of this kind yet."))

    def _say(self, text: str) -> None:
        self.summary.object = f"<p style='margin:4px 0'>{escape(text)}</p>"

    def _pick(self, place: int) -> None:
        self._choose(self._listed[place].topic_id)

    def _choose(self, topic_id: int) -> None:
        self.state.topic = topic_id
