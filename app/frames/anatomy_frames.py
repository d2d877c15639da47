"""The internals of an algorithm as tidy frames for plots and as rows for lists. Pure."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import topic_choices
from stickbreaker.app.model.anatomy import Dissection
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.anatomy import NO_TOPIC, Breaking, SlotTrace, TopicStep

NUM_PIECES = 15
NUM_SLOTS_LISTED = 8
NUM_TOPICS = 40
REST_COLOR = "#808080"
LEAST_SHARE = 0.005

Title = Callable[[int], str]


def stick_frame(stick: Breaking, title: Title) -> pd.DataFrame:
    """The first pieces of a stick, then the rest: label, title, start, end, cut, weight, color."""
    ends = np.cumsum(stick.weights)
    number = min(NUM_PIECES, len(ends))
    rows = []
    for k in range(number):
        topic_id = int(stick.topic_ids[k])
        name = "left for new topics"
        color = REST_COLOR
        if topic_id != NO_TOPIC:
            name = title(topic_id)
            color = topic_color(topic_id)
        rows.append(
            (
                f"{k + 1}",
                name,
                ends[k] - stick.weights[k],
                ends[k],
                stick.cuts[k],
                stick.weights[k],
                color,
            )
        )
    if number < len(ends):
        start = ends[number - 1]
        label = f"{number + 1} to {len(ends)}"
        rows.append(
            (label, f"{len(ends) - number} more topics", start, 1.0, 1.0, 1.0 - start, REST_COLOR)
        )
    return pd.DataFrame(rows, columns=["label", "title", "start", "end", "cut", "weight", "color"])


def slot_frame(trace: SlotTrace, title: Title) -> pd.DataFrame:
    """Slots after each iteration, stacked from bottom to top, as shares of the document's tokens.

    Columns iteration, slot, bottom, top, tokens, share (E[π_jt]), topic_id, title, held, color: a
    slot's topic is the most probable in φ_jt, and held is its probability.
    """
    leading = trace.slot_topics.argmax(2)
    held = np.take_along_axis(trace.slot_topics, leading[:, :, None], 2)[:, :, 0]
    shares = trace.tokens / np.maximum(trace.tokens.sum(1, keepdims=True), 1e-30)
    tops = shares.cumsum(1)
    iteration, slot = (index.ravel() + 1 for index in np.indices(leading.shape))
    ids = trace.topic_ids[leading].ravel()
    return pd.DataFrame(
        {
            "iteration": iteration,
            "slot": slot,
            "bottom": (tops - shares).ravel(),
            "top": tops.ravel(),
            "tokens": shares.ravel(),
            "share": trace.shares.ravel(),
            "topic_id": ids,
            "title": [title(int(topic_id)) for topic_id in ids],
            "held": held.ravel(),
            "color": [topic_color(int(topic_id)) for topic_id in ids],
        }
    )


def bound_frame(trace: SlotTrace) -> pd.DataFrame:
    """The document's part of the bound per token after each iteration: columns x, y."""
    tokens = max(float(trace.tokens[0].sum()), 1.0)
    return pd.DataFrame({"x": np.arange(1, len(trace.bounds) + 1), "y": trace.bounds / tokens})


def slot_rows(trace: SlotTrace, title: Title) -> list[dict[str, Any]]:
    """The slots with tokens after the last iteration: topic, E[π_jt], topic's probability."""
    frame = slot_frame(trace, title)
    last = min(trace.num_taken, len(trace.bounds))
    frame = frame[(frame["iteration"] == last) & (frame["tokens"] >= LEAST_SHARE)]
    number = trace.tokens[last - 1]
    return [
        {
            "key": int(each.slot),
            "title": f"slot {each.slot}: {each.title}",
            "color": each.color,
            "weight": f"{100 * each.share:.1f} %",
            "share": float(each.share),
            "words": f"φ {each.held:.2f} · {number[each.slot - 1]:.1f} words",
            "action": "select topic",
        }
        for each in frame.sort_values("tokens", ascending=False).head(NUM_SLOTS_LISTED).itertuples()
    ]


def arrow_frame(arrows: TopicStep, vocabulary: Any) -> pd.DataFrame:
    """λ of words before a step, its target, and λ after it: word, before, target, after."""
    return pd.DataFrame(
        {
            "word": [vocabulary[int(word)] for word in arrows.words],
            "before": arrows.before,
            "target": arrows.target,
            "after": arrows.after,
        }
    )


def corpus_bound_frame(progress: Progress) -> pd.DataFrame:
    """The bound after each pass, if the algorithm computes it: columns x, y."""
    curve = progress.bounds
    return pd.DataFrame({"x": curve["step"], "y": curve["nats_per_word"]})


def largest_choices(progress: Progress) -> dict[str, int]:
    """List the largest topics, as "war, peace · 4.2 %"."""
    now = progress.now
    if now is None:
        return {}
    order = [k for k in np.argsort(-now.tokens, kind="stable")[:NUM_TOPICS] if now.tokens[k] > 0]
    ids = now.topic_ids[order].tolist()
    return topic_choices([(k, progress.topic_title(k)) for k in ids], now.shares[order].tolist())


def describe_moment(dissection: Dissection, progress: Progress) -> str:
    """Say which moment is shown, and how far the run has come since."""
    model = dissection.model
    text = f"The model after {count(model.documents_seen, 'document')}."
    if model.run_id != progress.run_id:
        return f"{text} It belongs to an earlier run."
    if progress.documents_seen != model.documents_seen:
        text += f" The run has now learned from {count(progress.documents_seen, 'document')}."
    return text
