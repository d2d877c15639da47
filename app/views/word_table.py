"""The table of word lists: the top ten words of selected topics at each checkpoint."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param
from panel.viewable import Viewer

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.progress_frames import (
    DEFAULT_TOPICS_RULE,
    NO_TOPIC,
    NUM_TOP_WORDS,
    date_text,
    default_topics,
    table_frame,
    topic_choices,
    topics_frame,
)
from stickbreaker.app.frames.stream_texts import name_recent
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Checkpoint, Progress
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.theme import topic_color
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import fill_if_shown
from stickbreaker.app.widgets.menus import Echoes
from stickbreaker.app.widgets.scripts import read_script

MAX_TOPICS = 8
ROLES = ("stable early", "formed late")
MARKS = "+ marks new words, ↑ words that rose by two ranks or more."
# With fewer columns, no topic can be stable or have formed late.
LEAST_COLUMNS = 3


class WordCells(PlainScript):
    """The table in HTML; only cells that have changed are written."""

    columns = param.List(doc="One dict a checkpoint: documents, date, reached.")
    blocks = param.List(doc="One dict a topic: topic_id, title, note, color, cells[rank][column] = [word, mark].")
    empty = param.String(doc="The text to show if there is no block.")

    _esm = read_script(Path(__file__).with_name("word_table.js"))
    _stylesheets: ClassVar = [Path(__file__).with_name("word_table.css").read_text(encoding="utf-8")]


class WordTable(Viewer):
    """Word lists over time, with a menu of topics. `update` shows a new progress, `show` adds a topic."""

    topics = param.List(default=[], item_type=int, doc="Ids of the topics in the table, in order.")

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._progress = Progress()
        self._shown: tuple[object, ...] = ()
        self._echoes = Echoes(clock)
        self.is_chosen = False
        self._is_writing = False
        self._options: tuple[int, ...] = ()
        self.cells = WordCells(sizing_mode="stretch_width", margin=(0, 10))
        self.picker = pmui.MultiChoice(
            label="Topics in the table",
            options={},
            max_items=MAX_TOPICS,
            placeholder="Select topics",
            sizing_mode="stretch_width",
        )
        self.picker.param.watch(self._choose, "value")
        self._reset = pmui.Button(label="Show default topics", variant="text", size="small", margin=0)
        self._reset.on_click(self.go_back)
        self._reset_place = pn.Column(visible=False)
        self._layout = pn.Column(
            make_heading("Word lists over time", f"<p>{escape(DEFAULT_TOPICS_RULE)}</p><p>{MARKS}</p>", aside=MARKS),
            self.cells,
            self.picker,
            self._reset_place,
            sizing_mode="stretch_width",
            css_classes=["word-table"],
            margin=0,
        )
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def update(self, progress: Progress, earlier: Sequence[Progress] = ()) -> None:
        """Show this progress; does nothing between checkpoints. A new run starts with the default topics."""
        if progress.topics_key != self._progress.topics_key:
            self.is_chosen = False
        self._progress = progress
        self._draw()

    def show(self, topic_id: int) -> None:  # type: ignore[override]  # Viewer.show serves a view by itself
        """Add a topic to the table, as if the user had selected it."""
        if topic_id not in self.topics:
            self._set_topics([*self.topics[-(MAX_TOPICS - 1) :], int(topic_id)], is_chosen=True)

    def _choose(self, event: param.parameterized.Event) -> None:
        if self._is_writing:
            return
        if self._echoes.holds(event.new):
            self._write_picker()
        else:
            self._echoes.forget()
            self._set_topics(list(event.new), is_chosen=True)

    def go_back(self, event: object = None) -> None:
        self.is_chosen = False
        self._shown = ()
        self._draw()

    def _set_topics(self, topic_ids: list[int], is_chosen: bool) -> None:
        self.is_chosen = is_chosen
        self.topics = topic_ids
        self._shown = ()
        with pn.io.hold():
            self._draw()

    def _draw(self) -> None:
        progress = self._progress
        shown = (
            progress.run_id,
            tuple(point.documents_seen for point in progress.checkpoints),
            progress.planned_columns,
            progress.status in ("finished", "failed"),
            progress.vocabulary is None,
            progress.titles,
            read_now(progress) is not None,
            progress.now if is_first_to_come(progress) else None,
        )
        if shown == self._shown:
            return
        is_same_start = is_first_to_come(progress) and self._shown[:2] == shown[:2]
        is_same_start = is_same_start or has_same_columns(progress, self._shown[1:2])
        self._shown = shown
        # A replay shows how the topics of the whole run formed; before a new column, topics do not change places.
        if not self.is_chosen and not (self.topics and (progress.status == REPLAYED or is_same_start)):
            self.topics = list(default_topics(fill_first(progress).checkpoints, read_now(progress)))
        self._write_picker()
        blocks = table_blocks(progress, self.topics, self.is_chosen)
        self.cells.param.update(columns=table_columns(progress), blocks=blocks, empty=empty_note(progress, blocks))

    def _write_picker(self) -> None:
        reached = fill_first(self._progress).checkpoints
        last = read_now(self._progress) or (reached[-1] if reached else None)
        options = list_choices(topics_frame(last, self._progress.vocabulary), self.topics, self._progress.topic_title)
        if self.picker.value != self.topics:
            self._echoes.note(list(self.picker.value or ()))
        self._is_writing = True
        try:
            self.picker.param.update(options=options, value=list(self.topics))
            fill_if_shown(self._reset_place, [self._reset], self.is_chosen)
        finally:
            self._is_writing = False


def list_choices(topics: pd.DataFrame, selected: Sequence[int], title: Callable[[int], str]) -> dict[str, int]:
    """List the topics by size, as "war, peace · 4.2 %"; selected ones are listed in any case."""
    ids = [int(topic_id) for topic_id in topics["topic_id"]]
    unused = [(k, title(k)) for k in sorted(set(selected) - set(ids))]
    return topic_choices([(k, title(k)) for k in ids], topics["share"].tolist(), unused)


def is_first_to_come(progress: Progress) -> bool:
    """Whether the run has topics, but has not reached the first column."""
    is_live = progress.status not in ("finished", "failed", REPLAYED)
    return is_live and not progress.checkpoints and progress.now is not None and bool(progress.planned_columns)


def has_same_columns(progress: Progress, shown: Sequence[Any]) -> bool:
    """Whether only the last column of a stream, which has its present words, differs from those shown."""
    seen = tuple(point.documents_seen for point in progress.checkpoints)
    return progress.stream is not None and any(each[:-1] == seen[:-1] for each in shown)


def fill_first(progress: Progress) -> Progress:
    """The progress with the present words in its first column, until that is reached."""
    now, planned = progress.now, progress.planned_columns
    if now is None or not is_first_to_come(progress):
        return progress
    return replace(progress, checkpoints=(replace(now, documents_seen=planned[0]),), planned_columns=planned[1:])


def table_columns(progress: Progress) -> list[dict[str, Any]]:
    """Return the column heads: past checkpoints, then planned ones, the first of which may have the present words."""
    reached = [
        {
            "documents": f"{point.documents_seen:,}",
            "date": date_text(point.date, has_times=progress.stream is not None),
            "reached": True,
        }
        for point in progress.checkpoints
    ]
    to_come = {"finished": "not reached", "failed": "not reached", REPLAYED: "later"}.get(progress.status, "planned")
    planned = [
        {"documents": f"{documents:,}", "date": to_come, "reached": False} for documents in progress.planned_columns
    ]
    if progress.now is not None and is_first_to_come(progress):
        planned[0] |= {"documents": f"{progress.now.documents_seen:,}", "date": "now"}
    return reached + planned


def table_blocks(progress: Progress, topic_ids: Sequence[int], is_chosen: bool) -> list[dict[str, Any]]:
    """Return the blocks of the table with their words by rank and column; None if there is no word."""
    is_early, progress = is_first_to_come(progress), fill_first(progress)
    if progress.vocabulary is None or not progress.checkpoints:
        return []
    frame = table_frame(progress.checkpoints, progress.vocabulary, topic_ids)
    num_columns = len(progress.checkpoints) + len(progress.planned_columns)
    blocks: dict[int, dict[str, Any]] = {
        topic_id: {
            "topic_id": topic_id,
            "color": topic_color(topic_id),
            "title": progress.topic_title(topic_id),
            "note": "",
        }
        | {"cells": [[None] * num_columns for _ in range(NUM_TOP_WORDS)]}
        for topic_id in topic_ids
    }
    for row in frame.itertuples(index=False):
        cells: list[list[list[Any] | None]] = blocks[int(row.topic_id)]["cells"]
        cells[int(row.rank)][int(row.column)] = [row.word, "+" if row.is_new else "↑" if row.has_risen else ""]
    for position, (topic_id, block) in enumerate(blocks.items()):
        has_roles = len(progress.checkpoints) >= LEAST_COLUMNS and len(blocks) >= len(ROLES) and not is_chosen
        role = ROLES[position] if has_roles and position < len(ROLES) else ""
        now = read_now(progress)
        when = "now" if is_early else "in the last column"
        last = len(progress.checkpoints) - 1
        size = _last_weight(frame, topic_id, last, when) if now is None else _share(progress, now, topic_id)
        block["note"] = ", ".join(filter(None, [role, size]))
    return list(blocks.values())


def read_now(progress: Progress) -> Checkpoint | None:
    """The present moment, if all documents have been read with its model."""
    now = progress.now
    return now if now is not None and now.is_read else None


def _share(progress: Progress, now: Checkpoint, topic_id: int) -> str:
    share = now.shares[now.topic_ids == topic_id].sum()
    stream = progress.stream
    where = "the documents that were read with the model" if stream is None else name_recent(stream)
    return f"{100 * share:.1f} % of the tokens in {where}"


def _last_weight(frame: pd.DataFrame, topic_id: int, last_column: int, when: str) -> str:
    weights = frame.loc[(frame["topic_id"] == topic_id) & (frame["column"] == last_column), "weight"]
    return (
        f"{100 * weights.iloc[0]:.1f} % of the model's weight {when}"
        if len(weights)
        else f"not in use {when}"
    )


def empty_note(progress: Progress, blocks: Sequence[dict[str, Any]]) -> str:
    """Say why there is no block; empty if there is one."""
    if blocks:
        return ""
    if progress.checkpoints:
        return "No topic selected." if len(topics_frame(progress.checkpoints[-1], progress.vocabulary)) else NO_TOPIC
    if progress.status in ("finished", "failed"):
        return "This run ended before its first column."
    if progress.stream is not None:
        return "The first column appears with the first mini-batch."
    if progress.planned_columns:
        return f"The first column fills after {count(progress.planned_columns[0], 'document')}."
    return "The first column fills once the run has read its first documents."
