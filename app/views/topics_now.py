"""The largest topics now: label, colour, share and top words, updated with the run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import param

from stickbreaker.app.frames.progress_frames import steady_order
from stickbreaker.app.frames.stream_texts import name_recent
from stickbreaker.app.frames.word_table import NO_TOPIC, list_words
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import Progress, has_no_topic
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.evaluation.held_out import rank_topics

NUM_TOPICS_SHOWN = 5
NUM_WORDS_SHOWN = 3
OF_MODEL = "Weight in the model now (recent text counts more)."
OF_WHOLE = "Weight in the model now."
OF_READING = "Share of all tokens, as read with the model."
STILL_ALIKE = "Warm-up: topics are still similar."


class TopicsNow(StateView):
    """The largest topics of the run; their buttons pick a topic."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._run_id: object = None
        self.rows = PickList(state.pick_topic, self._point)
        heading = html_pane("<h2 style='margin:0;font-size:18px'>Largest topics</h2>")
        self.whole = html_pane()
        self._layout = stack(heading, self.whole, self.rows, css_classes=["topics-now"])
        self._draw()

    @param.depends("state.shown", "state.by_relevance", watch=True)
    @guarded
    def _draw(self) -> None:
        progress = self.state.shown
        before = [row["key"] for row in self.rows.rows] if progress.run_id == self._run_id else []
        self._run_id = progress.run_id
        self.whole.object = f"<p style='margin:2px 0;font-size:14px'>{name_whole(progress)}</p>"
        rows = topic_rows(progress, before, self.state.by_relevance)
        self.rows.show(rows, empty_note(progress), note_above(progress))

    def _point(self, topic_id: int | None) -> None:
        self.state.pointed_topic = topic_id

    @param.depends("state.pointed_topic", watch=True)
    @guarded
    def _mark(self) -> None:
        self.rows.pointed = self.state.pointed_topic


def name_whole(progress: Progress) -> str:
    """Say what the shares of the largest topics are shares of."""
    if progress.now is None or not progress.now.is_read:
        return OF_WHOLE if progress.reads_corpus else OF_MODEL
    if progress.stream is not None:
        return f"Share of the tokens in {name_recent(progress.stream)}."
    return OF_READING


def topic_rows(
    progress: Progress, shown: Sequence[int], by_relevance: bool = True
) -> list[dict[str, Any]]:
    """Return the rows of the largest topics; equal ones keep the order of the ids in `shown`."""
    now = progress.now
    if now is None or progress.vocabulary is None:
        return []
    ranked = rank_topics(now.tokens)
    used = rank_topics(now.expected_tokens)
    if not len(ranked):
        return []
    # The number of topics on this page is that of the model: a topic that it uses is listed,
    # however few tokens it has.
    ranked = np.append(ranked, used[~np.isin(used, ranked)])
    topic_ids = now.topic_ids[ranked]
    shares = now.shares[ranked]
    largest = float(shares[0]) or 1.0
    words = now.find_words(by_relevance)[ranked]
    return [
        {
            "key": int(topic_ids[row]),
            "title": progress.topic_title(topic_ids[row]),
            "color": topic_color(topic_ids[row]),
            "weight": f"{100 * shares[row]:.1f} %",
            "share": round(float(shares[row]) / largest, 3),
            "words": " ".join(list_words(words[row], progress.vocabulary)[:NUM_WORDS_SHOWN]),
            "action": "show in table",
            "button": "show",
        }
        for row in steady_order(topic_ids, shares, shown, NUM_TOPICS_SHOWN)
    ]


def note_above(progress: Progress) -> str:
    """Say of which moment the topics are, if not now, and if a warm-up makes them alike."""
    alike = only_if(progress.phase == Phase.WARM_UP, STILL_ALIKE)
    if progress.status != REPLAYED or progress.now is None:
        return alike
    documents = count(progress.now.documents_seen, "document")
    return f"Replay: the topics after {documents}. {alike}".rstrip()


def empty_note(progress: Progress) -> str:
    """Say why there is no topic yet."""
    if progress.status == "failed":
        return "The engine failed before any topic formed."
    if has_no_topic(progress):
        return NO_TOPIC
    if progress.status == REPLAYED:
        return "Replay: topics appear with the first column of the word lists."
    if progress.status == "finished":
        return "This run ended before its first mini-batch."
    return "Topics appear with the first mini-batch."
