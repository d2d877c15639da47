"""The table of word lists: the top ten words of selected topics at each moment."""

import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import ClassVar

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.fixes.page import PlainScript
from stickbreaker.app.frames.word_table import (
    DEFAULT_TOPICS_RULE,
    MARKS,
    empty_note,
    fill_first,
    list_choices,
    read_now,
    table_blocks,
    table_columns,
    topics_frame,
)
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import Reveal, StateView, fill_if_shown, stack
from stickbreaker.app.widgets.menus import Echoes
from stickbreaker.app.widgets.scripts import read_script
from stickbreaker.engine.evaluation.topic_space import RELEVANCE

MAX_TOPICS = 8
ORDERS = {"by relevance": True, "by probability": False}
HELP = (
    f"<p>{escape(DEFAULT_TOPICS_RULE)}</p><p>By relevance, words that are frequent in all topics"
    f" come later (λ = {RELEVANCE:g}, as on Topics); by probability is the order of the"
    f" papers.</p><p>{MARKS}</p>"
)


class WordCells(PlainScript):
    """The table in HTML; only cells that have changed are written."""

    columns = param.List(doc="One dict a moment: documents, date, reached.")
    blocks = param.List(
        doc="One dict a topic: topic_id, title, note, color, cells[rank][column] = [word, mark]."
    )
    empty = param.String(doc="The text to show if there is no block.")
    pointed = param.Integer(default=None, allow_None=True, doc="The topic to highlight.")

    _esm = read_script(Path(__file__).with_name("word_table.js"))
    _stylesheets: ClassVar = [
        Path(__file__).with_name("word_table.css").read_text(encoding="utf-8")
    ]


class WordTable(StateView):
    """Word lists over time, with a menu of topics. `show` adds a topic."""

    topics = param.List(default=[], item_type=int, doc="Ids of the topics in the table, in order.")

    def __init__(self, state: RunState, clock: Callable[[], float] = time.monotonic):
        super().__init__(state)
        self._echoes = Echoes(clock)
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
        self._reset = pmui.Button(
            label="Show default topics", variant="text", size="small", margin=0
        )
        self._reset.on_click(self.go_back)
        self._reset_place = pn.Column(visible=False)
        self._reveal = Reveal(margin=0)
        order = pmui.RadioButtonGroup.from_param(
            self.state.param.by_relevance,
            options=ORDERS,
            label="",
            description=None,
            size="small",
            width=250,
            margin=(6, 10, 0, 10),
        )
        self._layout = stack(
            self._reveal,
            pn.Row(
                make_heading("Word lists over time", HELP),
                order,
                sizing_mode="stretch_width",
                styles={"flex-wrap": "wrap", "padding-right": "110px"},
            ),
            self.cells,
            pn.pane.HTML(f"<p style='margin:0;font-size:14px'>{MARKS}</p>", margin=(0, 10)),
            self.picker,
            self._reset_place,
            css_classes=["word-table"],
        )
        self._draw()

    def show(self, topic_id: int) -> None:  # type: ignore[override]  # Viewer.show serves a view by itself
        """Put a topic first in the table, as if the user had selected it, and into view."""
        others = [k for k in self.topics if k != topic_id]
        self.state.listed_topics = [int(topic_id), *others[: MAX_TOPICS - 1]]
        self._reveal.number += 1

    @param.depends("state.num_picked", watch=True)
    @guarded
    def _show_picked(self) -> None:
        if self.state.topic is not None:
            self.show(self.state.topic)

    @param.depends("state.pointed_topic", watch=True)
    @guarded
    def _mark(self) -> None:
        self.cells.pointed = self.state.pointed_topic

    def _choose(self, event: param.parameterized.Event) -> None:
        if self._is_writing:
            return
        if self._echoes.holds(event.new):
            self._write_picker()
        else:
            self._echoes.forget()
            self.state.listed_topics = list(event.new)

    def go_back(self, event: object = None) -> None:
        self.state.listed_topics = None

    @param.depends(
        "state.columns",
        "state.titles",
        "state.by_relevance",
        "state.listed_topics",
        watch=True,
    )
    @guarded
    @pn.io.hold()
    def _draw(self) -> None:
        progress = self.state.shown
        listed = self.state.listed_topics
        self.topics = list(progress.default_topics) if listed is None else list(listed)
        self._write_picker()
        blocks = table_blocks(progress, listed, self.state.by_relevance)
        self.cells.param.update(
            columns=table_columns(progress), blocks=blocks, empty=empty_note(progress, blocks)
        )

    def _write_picker(self) -> None:
        progress = self.state.shown
        reached = fill_first(progress).columns
        last = read_now(progress) or next(reversed(reached), None)
        options = list_choices(
            topics_frame(last, progress.vocabulary), self.topics, progress.topic_title
        )
        if self.picker.value != self.topics:
            self._echoes.note(list(self.picker.value or ()))
        has_new_labels = options != self.picker.options
        self._is_writing = True
        try:
            self.picker.param.update(options=options, value=list(self.topics))
            if has_new_labels:
                # Panel sends only the options, so the page keeps the labels of the selected ones.
                self.picker.param.trigger("value")
            fill_if_shown(self._reset_place, [self._reset], self.state.listed_topics is not None)
        finally:
            self._is_writing = False
