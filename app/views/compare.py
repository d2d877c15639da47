"""Kept runs: a table, their held-out curves together, and the topics of any two runs
side by side.
"""

from collections.abc import Mapping
from html import escape

import panel as pn
import panel_material_ui as pmui
import param
from panel.viewable import Viewer

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.compare_frames import (
    LEAST_SIZE,
    MatchedTopics,
    all_words,
    choose_pair,
    describe_end,
    describe_size,
    describe_time,
    differing_settings,
    keep_large,
    kept_progress,
    match_runs,
    overlay_frame,
    run_rows,
    topic_title,
    topic_words,
)
from stickbreaker.app.frames.progress_frames import AXES
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.disk_space import describe_space
from stickbreaker.app.model.kept_runs import (
    MAX_KEPT,
    NUM_KEPT_WORDS,
    KeptContent,
    KeptRun,
    KeptRunError,
    Size,
)
from stickbreaker.app.plots.compare_plots import overlay_plot
from stickbreaker.app.plots.curve_plots import SCORE_HELP
from stickbreaker.app.server.claims import NEEDS_RIGHTS
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.menus import offer
from stickbreaker.app.widgets.run_table import RunTable

MAX_TICKED = 8
HELP = (
    "<p>A run is kept with its settings and curves when it finishes, or when it ends early after"
    f" its first held-out score. At most {MAX_KEPT} runs are kept; the oldest runs without a name"
    " are removed first.</p><p>A finished run keeps its model: <b>Open</b> shows it on all pages"
    " in place of the current run, and <b>Another pass</b> continues it. If the models take too"
    f" much space, the oldest are removed; their results are kept.</p><p>Select up to {MAX_TICKED}"
    " runs to draw their curves. To name a run, replace its settings with a"
    f" name.</p><p>{SCORE_HELP}</p><p>The number of topics, NPMI and diversity are those of the"
    " model at the end of the run. The Topics page shows them after all documents have been read"
    " with the model, so its numbers differ a little.</p>"
)
PAIR_HELP = (
    "<p>Topics are matched one to one, so that the sum of their Jensen-Shannon divergences (JSD)"
    f" is smallest. A divergence compares the {NUM_KEPT_WORDS} most probable words of two topics:"
    " it is 0 for equal topics, and 0.693 nats for topics without a common"
    f" word.</p><p><u><b>Underlined</b></u> words are not among the {NUM_KEPT_WORDS} most probable"
    " words of the other topic.</p><p>Percentages are shares of all tokens, as read with the model"
    " of the run. If the documents of a run have not been read, they are weights in its model, in"
    f" which recent text counts more.</p><p>Topics under {100 * LEAST_SIZE:.1f} % are left out.</p>"
)
STYLE = """
:host { color: var(--panel-on-surface-color, inherit); font-size: 14px; }
p { margin: 4px 0; } h3 { font-size: 15px; margin: 12px 0 4px; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { text-align: left; vertical-align: top; padding: 5px 8px; overflow-wrap: anywhere;
  border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.far { width: 64px; text-align: right; font-variant-numeric: tabular-nums; }
"""


class Compare(StateView):
    """The kept runs. `ticked` are the runs to draw.

    below: what is long, and comes after everything else of the page. by_group: a view of the two
    runs side by side, which `state.pair` names.
    """

    def __init__(
        self, state: RunState, commands: RunCommands, by_group: Viewer | None = None
    ) -> None:
        super().__init__(state)
        self._by_group = [] if by_group is None else [by_group]
        self._may_open = commands.may_open
        self._kept = commands.kept
        self._commands = commands
        self._version = -1
        self._runs: tuple[KeptRun, ...] = ()
        self._contents: dict[str, KeptContent] = {}
        self.ticked: tuple[str, ...] = ()
        self.table = RunTable(
            tick=self._tick, rename=self._rename, delete=self._delete, open=self._open
        )
        self.early = pmui.Switch(label="", value=False, margin=(5, 20), visible=False)
        self.newer = pmui.Button(
            label="Show new runs",
            icon="refresh",
            size="small",
            variant="outlined",
            visible=False,
            margin=0,
        )
        self.newer.on_click(lambda event: self.list_runs())
        self._faults = _text("")
        self._space = _text("")
        self._sizes: Mapping[str, Size] = {}
        self._axis = pmui.RadioButtonGroup(
            label="x axis",
            options={axis.capitalize(): axis for axis in AXES},
            value="documents",
            size="small",
            color="primary",
        )
        self.on_live = pmui.Switch(label="Show on Live", margin=(5, 20))
        self._overlay = stack()
        self.left_choice, self.right_choice = (
            pmui.Select(label=label, options={}, size="small", sizing_mode="stretch_width")
            for label in ("Left run", "Right run")
        )
        self.pair = _text("Select two runs.")
        self._offered: tuple[str, ...] = ()
        self._is_writing = False
        for switch in (self._axis, self.early):
            switch.param.watch(lambda event: self._draw(), "value")
        self.on_live.param.watch(lambda event: self._send_live(), "value")
        for widget in (self.left_choice, self.right_choice):
            widget.param.watch(lambda event: self._draw_pair(), "value")
        self._layout = self._lay_out()
        self._let_act()
        self.list_runs()

    def _lay_out(self) -> pn.viewable.Viewable:
        sides = pn.FlexBox(
            *(
                pn.Column(each, styles={"flex": "1 1 300px", "min-width": "0"})
                for each in (self.left_choice, self.right_choice)
            ),
            sizing_mode="stretch_width",
            margin=(8, 0, 0, 0),
        )
        self._drawn = stack(
            pn.FlexBox(self._axis, self.on_live, align_items="center"), self._overlay, visible=False
        )
        heading = make_heading("Two runs side by side", PAIR_HELP)
        self._side_by_side = stack(heading, sides, *self._by_group, self.pair)
        self._side_by_side.visible = False
        self.below = stack(self._side_by_side, self._space)
        if not self._may_open:
            closed = make_heading("Kept runs", "", NEEDS_RIGHTS.format("open kept runs"))
            return stack(closed, css_classes=["compare"])
        return pn.Column(
            # As high as the button, which appears while a sweep runs.
            pn.Row(
                make_heading("Kept runs", HELP),
                self.newer,
                sizing_mode="stretch_width",
                min_height=38,
            ),
            self.table,
            self.early,
            self._faults,
            self._drawn,
            sizing_mode="stretch_width",
            css_classes=["compare"],
            margin=0,
        )

    @param.depends("state.role", watch=True)
    def _let_act(self) -> None:
        """A watcher does not rename and delete kept runs."""
        self.table.is_fixed = not self.state.may_act

    @param.depends("state.kept_version", watch=True)
    @guarded
    def _offer_new(self) -> None:
        """Show new runs; while a sweep runs, offer them, so that the page stays still."""
        is_new = self._may_open and self._version != self._kept.version
        self.newer.visible = is_new and self.state.sweep.status != "none" and bool(self._runs)
        if not self.newer.visible:
            self.list_runs()

    @guarded
    def list_runs(self) -> None:
        """Show the present kept runs; does nothing if they have not changed."""
        if not self._may_open or self._version == self._kept.version:
            return
        self.newer.visible = False
        self._version = self._kept.version
        listing = self._kept.listing()
        self._runs = listing.runs
        self._sizes = listing.sizes
        self._space.object = describe_space(self._commands.list_space(listing.sizes))
        keys = {run.key for run in self._runs}
        # Contents without shares are loaded again: the run may have been read since.
        self._contents = {
            key: content
            for key, content in self._contents.items()
            if key in keys and content.is_read
        }
        self.ticked = tuple(key for key in self.ticked if key in keys)
        self._faults.object = "".join(
            f'<p role="status">{escape(fault)}</p>' for fault in listing.faults
        )
        self._offer_pair()
        self._draw()

    def _tick(self, key: str, is_ticked: bool) -> None:
        if not self._may_open:
            return
        others = tuple(other for other in self.ticked if other != key)
        if is_ticked and len(others) >= MAX_TICKED:
            self._commands.notify(
                f"At most {MAX_TICKED} runs can be drawn at once: deselect another run first."
            )
        elif is_ticked and self._load(key) is not None:
            others = (*others, key)
        self.ticked = others
        self._draw()

    def _rename(self, key: str, name: str) -> None:
        if not self._may_open or not self.state.may_act:
            return
        try:
            self._kept.rename(key, name)
        except (KeptRunError, OSError) as error:
            self._commands.notify(f"The run could not be renamed: {error}")
        self.list_runs()

    def _delete(self, key: str) -> None:
        if not self._may_open or not self.state.may_act:
            return
        try:
            self._kept.delete(key)
        except OSError as error:
            self._commands.notify(f"The run could not be deleted: {error}")
        self.list_runs()

    def _open(self, key: str) -> None:
        if self._may_open and self.state.may_act:
            self._commands.open_kept(key)

    def _load(self, key: str) -> KeptContent | None:
        if key not in self._contents:
            try:
                self._contents[key] = self._kept.load(key)
            except KeptRunError as error:
                self._commands.notify(str(error))
                return None
        return self._contents[key]

    def _chosen(self) -> list[tuple[KeptRun, KeptContent]]:
        runs = {run.key: run for run in self._runs}
        loaded = ((runs[key], self._load(key)) for key in self.ticked)
        return [(run, content) for run, content in loaded if content is not None]

    def _draw(self) -> None:
        with pn.io.hold():
            self._fill_table()
            chosen = self._chosen()
            self._drawn.visible = bool(chosen)
            frame = overlay_frame(chosen, self._axis.value)
            plot = overlay_plot(frame, self._axis.value)
            self._overlay[:] = [pn.pane.Bokeh(plot, sizing_mode="stretch_width")] if chosen else []
            self._send_live()

    def _fill_table(self) -> None:
        """List the runs; those that ended early only if the switch is on, or if they are drawn."""
        early = {run.key for run in self._runs if run.status != "finished"} - set(self.ticked)
        shown = [run for run in self._runs if self.early.value or run.key not in early]
        self.early.param.update(
            label=f"Show {count(len(early), 'run')} that ended early", visible=bool(early)
        )
        empty = "All kept runs ended early." if early else RunTable.param["empty"].default
        self.table.param.update(rows=run_rows(shown, self.ticked, self._sizes), empty=empty)

    def _send_live(self) -> None:
        live = self._chosen() if self.on_live.value else ()
        self.state.kept_on_live = tuple(kept_progress(run, content) for run, content in live)

    def _offer_pair(self) -> None:
        """Offer every run on both sides; two different ones until the user chooses others."""
        options = {
            f"{describe_time(run)} · {run.title} · {run.key[-4:]}": run.key for run in self._runs
        }
        before = self.left_choice.value, self.right_choice.value
        is_chosen = before != self._offered and len({*before} & {*options.values()}) == 2
        pair = choose_pair(self._runs)
        self._offered = tuple(run.key for run in pair or ())
        shown = before if is_chosen else self._offered or (None, None)
        self._is_writing = True
        try:
            for widget, value in zip((self.left_choice, self.right_choice), shown, strict=True):
                offer(widget, options, value)
        finally:
            self._is_writing = False
        self._side_by_side.visible = pair is not None
        self._draw_pair()

    def _draw_pair(self) -> None:
        runs = {run.key: run for run in self._runs}
        sides = [
            runs[widget.value]
            for widget in (self.left_choice, self.right_choice)
            if widget.value in runs
        ]
        if self._is_writing or len(sides) < 2:
            return
        is_pair = sides[0] is not sides[1]
        self.state.pair = [run.key for run in sides] if is_pair else []
        if not is_pair:
            self.pair.object = (
                "<p>Both sides show the same run: select another run on one side.</p>"
            )
            return
        contents = [
            keep_large(content) for run in sides if (content := self._load(run.key)) is not None
        ]
        if len(contents) == len(sides):
            self.pair.object = pair_html(sides, contents)


def pair_html(runs: list[KeptRun], contents: list[KeptContent]) -> str:
    """The differences of two runs and their matched topics, as two escaped tables."""
    matched = match_runs(*contents)
    left, right = (escape(run.title) for run in runs)
    settings = "".join(
        f"<tr><th scope='row'>{escape(row.what)}</th>"
        f"<td>{escape(row.left)}</td><td>{escape(row.right)}</td></tr>"
        for row in differing_settings(*runs).itertuples()
    )
    differ = "<p>No differences: corpus, settings, seed and versions are equal.</p>"
    if settings:
        differ = (
            f"<table><thead><tr><th>Setting</th><th>{left}</th><th>{right}</th></tr></thead>"
            f"<tbody>{settings}</tbody></table>"
        )
    heads = (
        f"<th scope='col' class='far'>JSD, nats</th><th scope='col'>{left}</th><th"
        f" scope='col'>{right}</th>"
    )
    topics = "".join(
        f"<tr><td class='far'>{distance:.3f}</td>{_cells(runs, contents, i, j)}</tr>"
        for i, j, distance in matched.pairs
    )
    early = "".join(
        f"<p>{escape(describe_end(run))}</p>" for run in runs if run.status != "finished"
    )
    return (
        f"<h3>Differences</h3>{early}{differ}<h3>Topics</h3><p>{_count(matched)}</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{topics}</tbody></table>"
        f"{_left_over(runs, contents, matched)}"
    )


def _count(matched: MatchedTopics) -> str:
    return (
        f"{count(len(matched.pairs), 'topic')} matched, the largest of the left run first. Not"
        f" matched: {len(matched.only_left):,} of the left run and {len(matched.only_right):,} of"
        " the right run."
    )


def _cells(runs: list[KeptRun], contents: list[KeptContent], i: int, j: int) -> str:
    return _cell(runs[0], contents[0], i, all_words(contents[1], j)) + _cell(
        runs[1], contents[1], j, all_words(contents[0], i)
    )


def _cell(run: KeptRun, content: KeptContent, place: int, others: set[str]) -> str:
    words = (
        escape(word) if word in others else f"<u><b>{escape(word)}</b></u>"
        for word in topic_words(content, place)
    )
    title = escape(topic_title(run, content, place))
    return f"<td><b>{title}</b> · {describe_size(content, place)}<br>{' '.join(words)}</td>"


def _left_over(runs: list[KeptRun], contents: list[KeptContent], matched: MatchedTopics) -> str:
    parts = []
    for side, run, content, places in zip(
        ("left", "right"), runs, contents, matched[1:], strict=True
    ):
        items = "".join(
            f"<li><b>{escape(topic_title(run, content, place))}</b> ·"
            f" {describe_size(content, place)}:"
            f" {escape(' '.join(topic_words(content, place)))}</li>"
            for place in places
        )
        parts.append(only_if(items, f"<h3>Only in the {side} run</h3><ul>{items}</ul>"))
    return "".join(parts)


def _text(html: str) -> pn.pane.HTML:
    return html_pane(html, stylesheets=[STYLE])
