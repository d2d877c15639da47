"""The life of topics as rows: lanes over the run, marks on the lanes, events in words. Pure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.frames.word_frames import run_places
from stickbreaker.app.model.counting import agree, count
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.topic_life import BORN, GONE, NEAR_DUPLICATE, STABLE, LifeEvent
from stickbreaker.app.theme import topic_color

NUM_LANES = 30
NUM_EVENTS = 40
NUM_LAST_WORDS = 5
THINNEST = 2.0
THICKEST = 13.0
LANE_COLUMNS = ["topic_id", "title", "y", "x0", "x1", "width", "share", "color"]
MARK_COLUMNS = ["topic_id", "title", "y", "x", "kind", "text", "date", "color"]


def lane_topics(progress: Progress, chosen: int | None) -> list[int]:
    """The thirty topics with the most weight at any moment, and the selected one."""
    peaks: dict[int, float] = {}
    for point in progress.columns:
        for topic_id, share in _shares(point).items():
            peaks[topic_id] = max(peaks.get(topic_id, 0.0), share)
    order = sorted(peaks, key=lambda each: (-peaks[each], each))
    shown = order[:NUM_LANES]
    if chosen in peaks and chosen not in shown:
        shown[-1:] = [chosen]
    return shown


def _shares(point: Moment) -> dict[int, float]:
    """Weight in the model of each topic in use."""
    if point.lists is None:
        return {}
    all_shares = dict(zip(point.topic_ids.tolist(), point.weights.tolist(), strict=True))
    return {topic_id: all_shares[topic_id] for topic_id in point.lists.topic_ids.tolist()}


def lane_frame(progress: Progress, topic_ids: Sequence[int]) -> pd.DataFrame:
    """Pieces of lanes between two moments, if the topic is in use at both: columns as
    `LANE_COLUMNS`.

    y: minus the topic's place in `topic_ids`; width: in pixels, proportional to the topic's weight
    in the model.
    """
    _, places = run_places(progress)
    shares = [_shares(point) for point in progress.columns]
    largest = max((max(each.values(), default=0.0) for each in shares), default=0.0) or 1.0
    rows = []
    for y, topic_id in enumerate(topic_ids):
        for column in range(len(places) - 1):
            if topic_id in shares[column] and topic_id in shares[column + 1]:
                share = (shares[column][topic_id] + shares[column + 1][topic_id]) / 2
                width = max(THINNEST, THICKEST * share / largest)
                head = (topic_id, progress.topic_title(topic_id), -y)
                rows.append(
                    (*head, places[column], places[column + 1], width, share, topic_color(topic_id))
                )
    return pd.DataFrame(rows, columns=LANE_COLUMNS)


def mark_frame(
    progress: Progress, events: Sequence[LifeEvent], topic_ids: Sequence[int]
) -> pd.DataFrame:
    """The events of these topics on their lanes: columns as `MARK_COLUMNS`."""
    _, places = run_places(progress)
    lanes = {topic_id: -y for y, topic_id in enumerate(topic_ids)}
    rows = [
        (
            event.topic_id,
            progress.topic_title(event.topic_id),
            lanes[event.topic_id],
            places[event.column],
            event.kind,
            describe_event(event, progress),
            date_text(progress.columns[event.column].date),
            topic_color(event.topic_id),
        )
        for event in events
        if event.topic_id in lanes
    ]
    return pd.DataFrame(rows, columns=MARK_COLUMNS)


def describe_event(event: LifeEvent, progress: Progress) -> str:
    """Describe an event."""
    alone = {BORN: "born", STABLE: "stable from here on", GONE: "gone"}
    if event.other is None:
        return alone[event.kind]
    other = f"similarity {event.similarity:.2f} to {progress.topic_title(event.other)}"
    with_other = {
        NEAR_DUPLICATE: f"{other} from here on; a merge is proposed",
        GONE: f"gone; {other} before",
    }
    return with_other.get(event.kind) or alone[event.kind]


def event_rows(progress: Progress, events: Sequence[LifeEvent]) -> list[dict[str, Any]]:
    """The newest forty events, newest first: the moment as a bar, the event in words."""
    label, places = run_places(progress)
    end = max(places, default=1.0) or 1.0
    order = sorted(range(len(events)), key=lambda place: -events[place].column)[:NUM_EVENTS]
    return [
        {
            "key": place,
            "title": progress.topic_title(events[place].topic_id),
            "color": topic_color(events[place].topic_id),
            "weight": f"{places[events[place].column]:,.0f} {label.split()[0]}",
            "share": places[events[place].column] / end,
            "words": (
                f"{describe_event(events[place], progress)} ·"
                f" {last_words(progress, events[place].topic_id)}"
            ),
            "action": "select",
        }
        for place in order
    ]


def last_words(progress: Progress, topic_id: int) -> str:
    """The most probable words of a topic at the last column where it was in use."""
    for point in reversed(progress.columns):
        if point.lists is None:
            continue
        found = np.flatnonzero(point.lists.topic_ids == topic_id)
        if len(found):
            return ", ".join(
                str(progress.vocabulary[int(word)])
                for word in point.lists.words[found[0], :NUM_LAST_WORDS]
            )
    return ""


def summarize_life(progress: Progress, events: Sequence[LifeEvent]) -> str:
    """Say how many topics there were and are, and how many events of each kind there were."""
    lists = [point.lists for point in progress.columns if point.lists is not None]
    numbers = {
        kind: sum(event.kind == kind for event in events)
        for kind in (BORN, STABLE, NEAR_DUPLICATE, GONE)
    }
    merges = {0: "no merge is proposed", 1: "1 merge is proposed"}.get(
        numbers[NEAR_DUPLICATE], f"{numbers[NEAR_DUPLICATE]} merges are proposed"
    )
    return (
        f"{count(len(lists[0].topic_ids), 'topic')} at the first moment, {numbers[BORN]:,} born"
        f" since, {numbers[GONE]:,} gone. Of the {len(lists[-1].topic_ids):,} topics in use now,"
        f" {numbers[STABLE]:,} {agree(numbers[STABLE], 'is', 'are')} stable, and {merges}."
    )
