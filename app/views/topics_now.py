"""The largest topics now: id, colour, weight and ten words, moving with the run."""

from collections.abc import Sequence

import numpy as np
import panel as pn
import param
from panel.viewable import Viewer

from stickbreaker.app.frames.progress_frames import NO_TOPIC, list_words, steady_order
from stickbreaker.app.model.progress import Progress, has_no_topic, rank_topics
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.pick_list import PickList

NUM_TOPICS_SHOWN = 12
STILL_ALIKE = "Warm-up: topics still look alike, and part as it cools."


class TopicsNow(Viewer):
    """The largest topics of the run. `picked` becomes the id of a topic whenever its button is pressed."""

    picked = param.Integer(default=None, allow_None=True, doc="The topic asked for last; triggers at every press.")

    def __init__(self, **params):
        super().__init__(**params)
        self._shown: tuple = ()
        self.rows = PickList(self._pick)
        heading = pn.pane.HTML(
            "<h2 style='margin:0'>Largest topics now</h2>"
            "<p style='margin:4px 0'>The share of all words each explains, and its ten top words at this moment.</p>",
            sizing_mode="stretch_width",
            margin=(0, 10),
        )
        self._layout = pn.Column(heading, self.rows, sizing_mode="stretch_width", css_classes=["topics-now"], margin=0)
        self.update(Progress())

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def update(self, progress: Progress, earlier: Sequence[Progress] = ()) -> None:
        """Show the topics of this progress; does nothing where they are those shown."""
        moment = (progress.run_id, progress.now and progress.now.documents_seen, progress.status, dict(progress.names))
        if moment == self._shown:
            return
        before = [row["key"] for row in self.rows.rows] if self._shown[:1] == moment[:1] else []
        self._shown = moment
        alike = STILL_ALIKE if progress.phase == "warm-up" else ""
        self.rows.show(topic_rows(progress, before), empty_note(progress), alike)

    def _pick(self, topic_id: int) -> None:
        if topic_id == self.picked:
            self.param.trigger("picked")
        else:
            self.picked = topic_id


def topic_rows(progress: Progress, shown: Sequence[int]) -> list[dict]:
    """Rows of the largest topics; `shown` are the ids as they stand now, so that equals keep their order."""
    now = progress.now
    ranked = rank_topics(now) if now is not None and progress.vocabulary is not None else np.zeros(0, np.int64)
    if not len(ranked):
        return []
    topic_ids, weights = now.topic_ids[ranked], now.weights[ranked]
    largest = float(weights[0]) or 1.0
    return [
        {
            "key": int(topic_ids[row]),
            "title": progress.topic_title(topic_ids[row]),
            "color": topic_color(topic_ids[row]),
            "weight": f"{100 * weights[row]:.1f} %",
            "share": round(float(weights[row]) / largest, 3),
            "words": " ".join(list_words(now.top_words[ranked[row]], progress.vocabulary)),
            "action": "show in table",
        }
        for row in steady_order(topic_ids, weights, shown, NUM_TOPICS_SHOWN)
    ]


def empty_note(progress: Progress) -> str:
    """What to say while no topic explains anything."""
    if progress.status == "failed":
        return "The engine failed before any topic formed."
    if has_no_topic(progress):
        return NO_TOPIC
    if progress.status == "finished":
        return "This run ended before its first mini-batch."
    return "Topics appear with the first mini-batch."
