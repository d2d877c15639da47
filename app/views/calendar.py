"""Topics over calendar time, as three kinds of charts, and one topic and its words by group."""

from html import escape
from typing import Any, cast

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.frames.group_frames import (
    csv_link,
    group_frame,
    group_words_frame,
    group_words_html,
)
from stickbreaker.app.frames.known_then_frames import then_frame
from stickbreaker.app.frames.reading_frames import (
    ROWS_RULE,
    TYPICAL_RULE,
    calendar_frame,
    fitting_unit,
    typical_rows,
)
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.grouped_runs import MOST_GROUPS
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.plots.group_plots import group_plot
from stickbreaker.app.plots.reading_plots import HEAT_MAP, KINDS, HeatMap, calendar_plot
from stickbreaker.app.state import EARLIEST, LATEST, RunState, guarded
from stickbreaker.app.widgets.help_button import heading_html, make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.algorithm import Reads
from stickbreaker.engine.evaluation.doc_shares import MEASURES, UNITS, Periods, divide
from stickbreaker.engine.evaluation.group_shares import Groups, find_groups
from stickbreaker.engine.evaluation.group_words import OTHERS

MOST_PERIODS = 400
SPLITS = TIME, GROUP = ("time", "group")
KNOWN = NOW, THEN = ("Latest model", "Model at the time")
ONE_LINE = {"& .MuiButtonBase-root": {"whiteSpace": "nowrap", "width": "auto"}}
TITLE = "Topics over time"
TITLES = {GROUP: "Topics by group"}
HEADINGS = {
    NOW: (
        "The topics of the documents of each period, as inferred with the latest model. "
        + ROWS_RULE
    ),
    THEN: (
        "Each document has the topics that the model inferred just before it learned from the"
        " document. They are inferred from nine tenths of the document's distinct words; the rest"
        f" are used for the next-batch score.</p><p>{ROWS_RULE}</p><p>Topics that are gone are"
        " included. Held-out documents, the first mini-batch (the model had not learned yet) and"
        " documents with one word are not included.</p><p>A tooltip shows the words of the last"
        " word list that was recorded before the period was read."
    ),
    GROUP: (
        "The share of the selected topic in the tokens of each group, for example of an author or a"
        f" party, as inferred with the latest model. The {MOST_GROUPS} groups with the most tokens"
        " are shown, those with the largest shares first. Bars are 95 % intervals for groups of"
        " documents drawn at random, by Wilson's method. The dashed line is the share in all"
        " documents.</p><p>The groups of State of the Union are presidents. Its intervals are"
        " those of whole addresses."
    ),
}
OF_WORDS = (
    "Words of the selected topic that one group uses more than another: the difference of their log"
    " odds, with a prior of the topic's words (Monroe, Colaresi and Quinn 2008). z is the"
    " difference in standard errors. Between groups of documents drawn at random, z is above 1.96"
    " for at most about 5 % of words. Standard errors are for whole documents: a word that one"
    " document repeats counts little."
)
WHOLE = (
    "This algorithm uses the whole corpus in each step, so there is no model from before a period"
    " was read. “Model at the time” needs an algorithm that learns from mini-batches."
)
UNSCORED = (
    "“Model at the time” needs “Next-batch scores”. Turn them on under Advanced settings and"
    " restart."
)
TOO_EARLY = "“Model at the time” is available after the second mini-batch."


class Calendar(StateView):
    """Topics over time, and the typical documents of the selected topic and span."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self._reading: Reading | None = None
        self._groups: Groups | None = None
        shared: dict[str, Any] = {
            "size": "small",
            "sizing_mode": "stretch_width",
            "margin": (5, 10),
        }
        self.split = pmui.Select(label="Split by", options=list(SPLITS), value=TIME, **shared)
        self.unit = pmui.Select(label="Period", options=list(UNITS), value="year", **shared)
        self._measure = pmui.Select(
            label="Measure", options=list(MEASURES), value=MEASURES[0], **shared
        )
        self.kind = pmui.Select(label="Chart type", options=list(KINDS), value=KINDS[0], **shared)
        self._from = pmui.Select(
            label="Documents from", options=["the start"], value="the start", **shared
        )
        self._to = pmui.Select(label="to", options=["the end"], value="the end", **shared)
        self.known = pmui.RadioButtonGroup(
            label="Model used", options=list(KNOWN), value=NOW, size="small", sx=ONE_LINE
        )
        self.heading = make_heading(TITLE, f"<p>{HEADINGS[NOW]}</p>")
        self.note = html_pane()
        self._heat_map = HeatMap(self.pick_cell)
        self._heat_pane = pn.pane.Bokeh(self._heat_map.figure, sizing_mode="stretch_width")
        self.pane = stack(self._heat_pane, visible=False)
        self.pair = tuple(
            pmui.Select(label=label, options=[OTHERS], value=OTHERS, size="small", width=300)
            for label in ("Words more in", "than in")
        )
        self.group_words = html_pane()
        self._words = stack(
            make_heading("Words by group", f"<p>{OF_WORDS}</p>"),
            pn.FlexBox(*self.pair),
            self.group_words,
            visible=False,
        )
        self.typical_heading = html_pane(margin=(10, 10, 0, 10))
        self.typical = PickList(self._open)
        self._is_writing = False
        for widget in (self.split, self.unit, self._measure, self.kind, self.known):
            widget.param.watch(lambda event: self._draw(), "value")
        for widget in (self._from, self._to):
            widget.param.watch(lambda event: self._select_span(), "value")
        for widget in self.pair:
            widget.param.watch(lambda event: self._show_words(), "value")
        asked = (self.split, self.unit, self._measure, self.kind, self._from, self._to)
        # Two side by side on a phone, all in one row on a wide page.
        cells = [
            pn.Column(each, styles={"flex": "1 1 150px", "max-width": "210px"}) for each in asked
        ]
        self.split_cell, *self._time_cells = cells[:4]
        controls = pn.FlexBox(*cells, sizing_mode="stretch_width")
        parts = (
            self.heading,
            self.known,
            controls,
            self.note,
            self.pane,
            self._words,
            self.typical_heading,
            self.typical,
        )
        self._layout = stack(*parts)
        self._read()

    @param.depends("state.reading", "state.titles", watch=True)
    @guarded
    def _read(self) -> None:
        """Draw the periods of a reading."""
        before, self._reading = self._reading, self.state.reading
        if self._reading is not None and (
            before is None or before.corpus is not self._reading.corpus
        ):
            self.unit.value = fitting_unit(self._reading.corpus.dates)
            self._groups = find_groups(self._reading.corpus)
        self._draw()
        self._list_typical()

    def pick_cell(self, topic_id: int, place: int) -> None:
        """Select the topic and the period of a cell, whose typical documents are listed."""
        starts, ends = self._spans
        # The first choice of each menu is the start, or the end, of all times.
        period = list(starts)[place + 1]
        self._is_writing = True
        try:
            self._from.value = self._to.value = period
        finally:
            self._is_writing = False
        self.state.param.update(topic=topic_id, span=(starts[period], ends[period]))

    def _open(self, row: int) -> None:
        self.state.open_document(row)

    @param.depends("state.topic", "state.span", watch=True)
    @guarded
    def _list_typical(self) -> None:
        """List the typical documents of the selected topic and span."""
        reading = self.state.reading
        position = None if reading is None else reading.position(self.state.topic)
        if reading is None or reading.doc_shares is None or position is None:
            self.typical_heading.object = ""
            self.typical.show([])
            return
        title = escape(self.state.progress.topic_title(int(reading.summary.topic_ids[position])))
        between = only_if(self.state.span, f", {self._from.value} to {self._to.value}")
        heading = f"<h3 style='margin:0'>Typical documents of {title}{between}</h3>"
        self.typical_heading.object = (
            f"{heading}<p style='margin:4px 0 0;font-size:14px'>{TYPICAL_RULE}</p>"
        )
        self.typical.show(typical_rows(reading, position, self.state.span), "No typical documents.")

    @param.depends("state.topic", watch=True)
    @guarded
    def _draw(self) -> None:
        reading, known = self.state.reading, self.known.value
        is_grouped = self._groups is not None and self.split.value == GROUP
        self.split_cell.visible = self._groups is not None
        self._words.visible = False
        for part in (*self._time_cells, self.known):
            part.visible = not is_grouped
        self.heading.object = _heading(GROUP if is_grouped else known)
        if reading is None or reading.doc_shares is None:
            self._say("Available once all documents have been read.")
            return
        if is_grouped:
            self._show_groups(reading)
            return
        periods = divide(reading.corpus.dates, self.unit.value)
        if not 0 < len(periods.names) <= MOST_PERIODS:
            too_many = (
                f"{len(periods.names):,} periods are too many to draw (at most {MOST_PERIODS}):"
                " choose longer periods."
            )
            self._say(only_if(periods.names, too_many) or "The documents have no dates.")
            return
        self._write_spans(periods)
        if known == THEN and reading.first is None:
            self._say(explain_missing(reading, self.state.progress))
            return
        frame = self._frame(reading)
        num_undated = int((periods.of_document < 0).sum())
        said = f"Documents without a date are not included: {num_undated:,}."
        self._say(only_if(num_undated, said))
        self._show(frame)
        self.pane.visible = True

    @param.depends("state.span", watch=True)
    @guarded
    def _draw_span(self) -> None:
        if self.split.value == GROUP:
            self._draw()

    def _show_groups(self, reading: Reading) -> None:
        """Draw the selected topic, or the largest one, in each group."""
        position = self._position(reading)
        frame = group_frame(reading, cast(Groups, self._groups), position, self.state.span)
        self._say(only_if(frame.empty, "No documents in these periods."))
        topic_id = int(reading.summary.topic_ids[position])
        drawn = group_plot(frame, topic_id, self.state.progress.topic_title(topic_id))
        link = csv_link(frame, f"{self._name_topic(reading)}-groups.csv", "Shares as CSV")
        self.pane[:] = [
            pn.pane.Bokeh(drawn, sizing_mode="stretch_width"),
            pn.pane.HTML(link, margin=(0, 10)),
        ]
        self.pane.visible = self._words.visible = not frame.empty
        self._is_writing = True
        groups = frame["group"].tolist()
        try:
            for select, offered in zip(self.pair, (groups, [OTHERS, *groups]), strict=True):
                value = select.value if select.value in offered else (offered or [None])[0]
                select.param.update(options=offered, value=value)
        finally:
            self._is_writing = False
        self._show_words()

    def _show_words(self) -> None:
        """List the words that the selected topic has more in one group than in another."""
        if self._is_writing or not self._words.visible or self._reading is None:
            return
        position = self._position(self._reading)
        pair = tuple(each.value for each in self.pair)
        words = group_words_frame(
            self._reading, cast(Groups, self._groups), position, self.state.span, pair
        )
        self.group_words.object = group_words_html(words, pair, self._name_topic(self._reading))

    def _name_topic(self, reading: Reading) -> str:
        """The name of files about the topic that is drawn."""
        return f"{reading.corpus.name}-topic-{reading.summary.topic_ids[self._position(reading)]}"

    def _position(self, reading: Reading) -> int:
        """The place of the selected topic, or of the largest one."""
        position = reading.position(self.state.topic)
        if position is None:
            return int(np.argmax(reading.summary.expected_tokens))
        return position

    def _show(self, frame: pd.DataFrame) -> None:
        """Draw a frame; only the heat map, the usual kind, is not built each time."""
        kind, measure = self.kind.value, self._measure.value
        if kind != HEAT_MAP:
            self.pane[:] = [
                pn.pane.Bokeh(calendar_plot(frame, kind, measure), sizing_mode="stretch_width")
            ]
            return
        self._heat_map.show(frame, measure)
        if self.pane.objects != [self._heat_pane]:
            self.pane[:] = [self._heat_pane]

    def _frame(self, reading: Reading) -> pd.DataFrame:
        unit, measure, chosen = self.unit.value, self._measure.value, self.state.topic
        if self.known.value == THEN:
            return then_frame(reading, unit, measure, chosen, self.state.progress.topic_title)
        return calendar_frame(
            reading, unit, measure, reading.position(chosen), self.state.progress.topic_title
        )

    def _say(self, text: str) -> None:
        self.note.object = only_if(text, f"<p style='margin:4px 0'>{text}</p>")
        if text:
            self.pane.visible = False

    def _write_spans(self, periods: Periods) -> None:
        """Offer the periods as ends of a span; one that ends elsewhere stays."""
        starts = dict(zip(periods.names, periods.starts, strict=True))
        ends = np.append(
            periods.starts[1:], periods.starts[-1:] + np.timedelta64(36600, "D")
        ) - np.timedelta64(1, "D")
        self._spans = (
            {"the start": None} | starts,
            {"the end": None} | dict(zip(periods.names, ends, strict=True)),
        )
        self._is_writing = True
        span = self.state.span or (None, None)
        try:
            for widget, offered, chosen in zip(
                (self._from, self._to), self._spans, span, strict=True
            ):
                if list(offered) != widget.options:
                    named = (name for name, end in offered.items() if end == chosen)
                    value = next(named, next(iter(offered)))
                    widget.param.update(options=list(offered), value=value)
        finally:
            self._is_writing = False

    def _select_span(self) -> None:
        if self._is_writing:
            return
        first, last = (
            spans.get(widget.value)
            for spans, widget in zip(self._spans, (self._from, self._to), strict=True)
        )
        is_all = first is None and last is None
        ends = (EARLIEST, LATEST)
        bounds = (
            open_end if end is None else end
            for end, open_end in zip((first, last), ends, strict=True)
        )
        self.state.span = None if is_all else tuple(bounds)


def _heading(shown: str) -> str:
    return heading_html(TITLES.get(shown, TITLE), f"<p>{HEADINGS[shown]}</p>")


def explain_missing(reading: Reading, progress: Progress) -> str:
    """Say why the run has no first readings."""
    if reading.model.algorithm.reads is Reads.CORPUS:
        return WHOLE
    is_scored = progress.settings is None or progress.settings.score_next_batch
    return TOO_EARLY if is_scored else UNSCORED
