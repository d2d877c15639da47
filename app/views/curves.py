"""Three curves of a run over one x axis: held-out and next-batch likelihood, number of topics."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param
from bokeh.models import ColumnDataSource, Range1d

from stickbreaker.app.frames.progress_frames import (
    AXES,
    CURVES,
    axis_span,
    curve_columns,
    earlier_frame,
    mark_frame,
    topics_by_pass,
    warm_up_columns,
    write_score,
)
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import FORECAST, Progress, has_no_topic
from stickbreaker.app.model.run_spec import name_groups
from stickbreaker.app.plots.curve_plots import (
    CURVE_HEIGHT,
    SCORE_HELP,
    SMALL_HEIGHT,
    CurvePlot,
    curve_plot,
    curve_title,
    mark_columns,
    resize_curve,
    set_x_axis,
    wrap_note,
)
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import heading_html, make_heading
from stickbreaker.app.widgets.layouts import StateView, fill_when_seen, html_pane, stack
from stickbreaker.engine.corpora.bars import find_true_topics
from stickbreaker.engine.evaluation.held_out import NUM_TOPICS_RULE

GRID_STYLE = """
:host { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 280px), 1fr));
  gap: 12px; }
"""
HELP = (
    "Higher is better for both likelihoods. {held_out}</p><p>Each mini-batch is scored just"
    " before the model learns from it (progressive validation; the corpus size and the vocabulary"
    f" are known from the start).</p><p>{SCORE_HELP}"
)
STREAM_HELP = (
    "Each mini-batch is scored just before the model learns from it (progressive validation)."
    f" Words that are new in it do not count. Higher is better.</p><p>{SCORE_HELP}"
)
HELD_OUT = "Held-out documents are spread over the whole corpus."
HELD_OUT_WHOLE = "Whole {texts}, spread over the corpus, are held out."
MERGING_LINE = (
    "</p><p>Some documents are set aside. Topics that do not help to predict them are removed, late"
    " in a pass, so the number can drop."
)
WARM_UP_LINE = (
    "<b>Warm-up</b> (shaded): in the first mini-batches each document is spread over many topics,"
    " and over fewer as the temperature falls to 1."
)
TITLE = "More curves"
# The learning rate is drawn once, next to its settings.
ON_PAGE = tuple(name for name in CURVES if name != "learning_rate")
NOTES = {
    "heldout": "The first score",
    "next_batch": "The first score",
    "num_topics": "The first count",
}


class Curves(StateView):
    """The curves of the run, with earlier runs on its corpus as faint lines.

    held_out: the curve of held-out words, which the page places by itself. waits: the plots are
    made and sent when a user can first see their places. axes: the x axes to choose from. title:
    above the other curves. plots: those made so far.
    """

    axis: str = param.Selector(default="documents", objects=list(AXES))  # type: ignore[assignment]  # a descriptor
    earlier: tuple[Progress, ...] = param.Parameter(default=(), doc="Runs to draw faintly.")  # type: ignore[assignment]

    def __init__(
        self,
        state: RunState,
        waits: bool = False,
        axes: Sequence[str] = tuple(AXES),
        title: str = TITLE,
    ) -> None:
        super().__init__(state)
        self.param.axis.objects = list(axes)
        self._title = title
        self.x_range = Range1d(start=0, end=1)
        self._span: tuple[float, float] | None = None
        self.plots: dict[str, CurvePlot] = {}
        self._run_id: object = None
        self._heading = make_heading(title, "")
        self._legend = html_pane(margin=(4, 10), styles={"font-size": "14px"})
        picker = pmui.RadioButtonGroup.from_param(
            self.param.axis, label="x axis", size="small", color="primary", margin=(0, 10)
        )
        self.larger = pmui.Switch(label="Large curves", value=False, margin=(0, 10))
        self.larger.param.watch(lambda event: self._resize(), "value")
        choices = pn.FlexBox(picker, self.larger, align_items="center")
        # Their room is there before them, so that nothing moves.
        self.held_out = _lay_in_grid(min_height=CURVE_HEIGHT)
        grid = _lay_in_grid(min_height=SMALL_HEIGHT)
        more = stack(min_height=SMALL_HEIGHT + 40)

        def make_more() -> list[Any]:
            grid.objects = self._make_plots(ON_PAGE[1:])
            return [choices, grid]

        if waits:
            fill_when_seen(
                self.held_out,
                lambda: self._make_plots(ON_PAGE[:1]),
                "Show the curve of held-out words",
            )
            fill_when_seen(more, make_more, f"Show {title.lower()}")
        else:
            self.held_out.objects = self._make_plots(ON_PAGE[:1])
            more.objects = make_more()
        self._layout = stack(self._heading, more, self._legend, css_classes=["curves"])
        self._follow()

    def _make_plots(self, names: Sequence[str]) -> list[Any]:
        """Make the plots of some curves with what they show now."""
        made = {name: curve_plot(name, self.x_range) for name in names}
        self.plots |= made
        for plot in made.values():
            set_x_axis(plot.figure, self.axis)
        self._resize()
        self._draw_earlier()
        self._draw(is_fresh=True)
        return [
            pn.pane.Bokeh(plot.figure, sizing_mode="stretch_width", margin=0)
            for plot in made.values()
        ]

    def _resize(self) -> None:
        """Draw all curves but that of held-out words large, or as small multiples."""
        with pn.io.hold():
            for name in ON_PAGE[1:]:
                if name in self.plots:
                    resize_curve(self.plots[name], name, self.larger.value)

    @param.depends("axis", watch=True)
    def _change_axis(self) -> None:
        with pn.io.hold():
            for plot in self.plots.values():
                set_x_axis(plot.figure, self.axis)
            self._draw_earlier()
            self._draw(is_fresh=True)

    @param.depends("state.shown", "state.earlier", "state.kept_on_live", watch=True)
    @guarded
    def _follow(self) -> None:
        progress = self.state.shown
        runs = (*self.state.kept_on_live, *self.state.earlier)
        self.earlier = tuple(run for run in runs if run.corpus_name == progress.corpus_name)
        is_fresh = progress.run_id != self._run_id
        self._run_id = progress.run_id
        self._draw(is_fresh)

    @param.depends("earlier", watch=True)
    def _draw_earlier(self) -> None:
        for name, plot in self.plots.items():
            plot.earlier.data = earlier_frame(self.earlier, name, self.axis).to_dict("list")

    def _draw(self, is_fresh: bool) -> None:
        progress = self.state.shown
        self._move_range()
        marks = mark_columns(mark_frame(progress.marks, self.axis), self._span)
        warm_up = warm_up_columns(progress, self.axis)
        for name, plot in self.plots.items():
            self._draw_curve(name, plot, is_fresh)
            replace_if_changed(plot.marks, marks)
            replace_if_changed(plot.warm_up, warm_up)
        self._write_legend()

    def _draw_curve(self, name: str, plot: CurvePlot, is_fresh: bool) -> None:
        columns = curve_columns(self.state.shown, name, self.axis)
        x = columns["x"]
        y = columns["y"]
        if grow_source(plot.points, columns, is_fresh) or is_fresh:
            plot.newest.data = {"x": x[-1:].tolist(), "y": y[-1:].tolist()}
            plot.figure.title.update(text=curve_title(name, y[-1] if len(y) else None))
        self._draw_note(name, plot, is_empty=not len(y))

    def _draw_note(self, name: str, plot: CurvePlot, is_empty: bool) -> None:
        """Say in an empty plot what it will show, and when; its axis has no numbers."""
        text = [wrap_note(first_value_note(self.state.shown, name))] if is_empty else []
        replace_if_changed(plot.note, {"text": text})
        # In a replay the axis has room for the whole run.
        whole = curve_columns(self.state.progress, name, self.axis)["y"]
        truth = true_value(self.state.shown, name)
        replace_if_changed(plot.truth, {"y": truth})
        own = np.append(whole[np.isfinite(whole)], truth)
        values = [y for y in (own, *plot.earlier.data["ys"]) if len(y)]
        first = next(iter(values), [0.0, 1.0])
        # The browser may draw between the change of the points and that of the seed, which is
        # therefore never empty.
        replace_if_changed(
            plot.seed, {"x": [0, 0], "y": [float(np.min(first)), float(np.max(first))]}
        )
        plot.figure.yaxis.major_label_text_alpha = float(bool(values))

    def _move_range(self) -> None:
        """Let the shared axis follow the run, unless the user has zoomed in."""
        known = axis_span((self.state.progress, *self.earlier), self.axis)
        span = known or (0.0, 1.0)
        for plot in self.plots.values():
            plot.figure.xaxis.major_label_text_alpha = float(bool(known))
        follows = self._span is None or (self.x_range.start, self.x_range.end) == self._span
        axis_changed = self.x_range.tags != [self.axis]
        if span != self._span or axis_changed:
            self.x_range.update(reset_start=span[0], reset_end=span[1])
            if follows or axis_changed:
                self.x_range.update(start=span[0], end=span[1], tags=[self.axis])
            self._span = span

    def _write_legend(self) -> None:
        self._heading.object = heading_html(self._title, help_html(self.state.shown))
        self._legend.object = legend_html(self.state.shown, self.earlier, self.axis)


def _lay_in_grid(min_height: int) -> pn.Column:
    return stack(min_height=min_height, stylesheets=[GRID_STYLE], css_classes=["curves-grid"])


def first_value_note(progress: Progress, name: str) -> str:
    """Say when the first value of an empty plot comes, or why there is none."""
    if progress.status == "failed":
        return "The engine failed before this curve had a value."
    if name == "heldout" and progress.num_held_out == 0:
        texts = (
            name_groups(progress.corpus_name) if progress.held_out_by == "group" else "documents"
        )
        return f"None: too few {texts} to hold any out."
    if name == "num_topics" and has_no_topic(progress):
        return NO_TOPIC
    if progress.status == "finished":
        return "This run ended without a value for this curve."
    if progress.stream is not None and name == "next_batch":
        return f"{NOTES[name]} appears with the second mini-batch."
    settings = progress.settings
    if name == "next_batch" and settings is not None and not settings.score_next_batch:
        return "Off: this run does not score the next batch."
    if progress.reads_corpus and name == "next_batch":
        return "None: each step of this algorithm reads the whole corpus."
    if progress.reads_corpus:
        return f"{NOTES[name]} appears after the first pass."
    if name == "heldout" and settings is not None and settings.num_evaluations:
        number = progress.corpus_size // settings.num_evaluations
        when = f"about {count(number, 'document')}" if number else "the first document"
        return f"{NOTES[name]} appears after {when}."
    return f"{NOTES[name]} appears with the first mini-batch."


def true_value(progress: Progress, name: str) -> list[int]:
    """The true number of topics, on its own curve and where it is known."""
    known = len(find_true_topics(progress.vocabulary or ()))
    return [known] if known and name == "num_topics" else []


def help_html(progress: Progress) -> str:
    """Write what the curves show and how to read them."""
    held_out = HELD_OUT
    if progress.held_out_by == "group":
        held_out = HELD_OUT_WHOLE.format(texts=name_groups(progress.corpus_name))
    merging = only_if(progress.removes_topics, MERGING_LINE)
    scores = HELP.format(held_out=held_out) if progress.stream is None else STREAM_HELP
    return f"<p>{scores}</p><p>Topics in use while learning: {escape(NUM_TOPICS_RULE)}{merging}</p>"


def legend_html(progress: Progress, earlier: Sequence[Progress], axis: str) -> str:
    """Write the lines under the plots: which run they show, and what is drawn in them."""
    lines = []
    numbers = topics_by_pass(progress)
    if len(numbers) > 1:
        lines.append(
            "<b>Topics in use after each pass</b>:"
            f" {', '.join(f'{number:,}' for number in numbers)}."
        )
    if progress.label:
        lines.append(f"<b>This run</b> (solid blue): {escape(progress.label)}.")
    if len(progress.steps) and (progress.steps["phase"] == 0).any():
        lines.append(WARM_UP_LINE)
    if progress.marks:
        lines.append("<b>Dashed vertical lines</b>: a setting was changed there.")
    if true := true_value(progress, "num_topics"):
        lines.append(f"<b>Dotted horizontal line</b>: the true number of topics, {true[0]}.")
    forecast = [run for run in earlier if run.status == FORECAST]
    earlier = [run for run in earlier if run.status != FORECAST]
    lines += map(describe_forecast, forecast)
    if earlier:
        labels = "; ".join(escape(run.label or f"run {run.run_id}") for run in earlier)
        lines.append(
            f"<b>Earlier runs</b> (faint, dashed; point at a line for its settings): {labels}."
        )
    if (
        axis == "dates"
        and progress.settings is not None
        and progress.settings.order != "chronological"
    ):
        lines.append(
            "Documents are read in shuffled order: choose documents or seconds as the x axis."
        )
    return "".join(f"<p style='margin:2px 0'>{line}</p>" for line in lines)


def describe_forecast(forecast: Progress) -> str:
    """Say what the run would have given without its last change."""
    scores = forecast.heldout["nats_per_word"]
    found = ""
    if len(scores):
        is_over = forecast.documents_seen >= forecast.documents_total
        place = "at the end" if is_over else f"after {count(forecast.documents_seen, 'document')}"
        found = f": a held-out log likelihood of {write_score(scores[-1])} {place}"
    return f"<b>Without the last change</b> (dashed): {escape(forecast.label)}{found}."


def replace_if_changed(source: ColumnDataSource, columns: dict[str, list[Any]]) -> None:
    """Replace the columns of a small source if they differ."""
    if {name: list(values) for name, values in source.data.items()} != columns:
        source.data = columns


def grow_source(source: ColumnDataSource, columns: dict[str, np.ndarray], is_fresh: bool) -> bool:
    """Update a source to these columns; return whether anything changed.

    `documents_seen` identifies a row. Rows that follow those in the source are streamed;
      otherwise, as for a thinned curve, all rows are replaced.
    """
    shown = source.data["documents_seen"]
    seen = columns["documents_seen"]
    num_shown = len(shown)
    num_rows = len(seen)
    is_prefix = (
        0 < num_shown <= num_rows and shown[0] == seen[0] and shown[-1] == seen[num_shown - 1]
    )
    if is_fresh or not is_prefix:
        has_changed = bool(num_shown or num_rows)
        if has_changed:
            source.data = columns
        return has_changed
    if num_shown < num_rows:
        source.stream({column: values[num_shown:] for column, values in columns.items()})
    return num_shown < num_rows
