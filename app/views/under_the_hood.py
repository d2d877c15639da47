"""Under the hood, for teaching: the stick, the slots of a document, ρ, the noisy gradient of a
topic, the bound.
"""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.viewable import Viewer

from stickbreaker.app.frames import anatomy_captions, anatomy_frames
from stickbreaker.app.frames.pictures import document_html
from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.model.anatomy import Anatomist, AnatomyJob, AnatomyQuestion, Dissection
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.plots.anatomy_plots import ArrowPlot, BoundPlot, SlotPlot, StickPlot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, hideable, html_pane, stack
from stickbreaker.app.widgets.menus import offer
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.algorithm import SlotTrace

STYLE = """
:host { color: var(--panel-on-surface-color, inherit); }
p { margin: 4px 0; font-size: 14px; line-height: 1.5; } h3 { font-size: 17px; margin: 6px 0 0; }
"""
WAITING = "Available after the first mini-batch."
COMING = "Computing …"
LOOKING = "Computing … The first time takes a few seconds longer."


class UnderTheHood(StateView):
    """The Under the hood page; it computes nothing before `look` and after `close`.

    rates: the plot of the learning rate. find_model(): the current model of the run.
    notify(): called from a thread when there are new results, which `look` shows.
    """

    dissection: Dissection | None = param.Parameter(doc="The internals that are shown.")  # type: ignore[assignment]

    def __init__(
        self,
        state: RunState,
        rates: Viewer,
        find_model: Callable[[], Model | None],
        notify: Callable[[], None],
    ) -> None:
        super().__init__(state)
        self._rates, self._find_model = rates, find_model
        self.anatomist = Anatomist(notify)
        self._is_writing = False
        self._place = 0
        self._stick, self._slots, self._arrows = StickPlot(), SlotPlot(), ArrowPlot()
        self._own_bound, self._bound = BoundPlot("iterations of Eq. 15 to 18"), BoundPlot("passes")
        self._list = PickList(self._pick_slot)
        self.moment = _html(f"<p role='status'>{WAITING}</p>")
        self.texts = {
            name: _html() for name in ("stick", "slots", "end", "own", "rate", "arrows", "bound")
        }
        self.topic = pmui.Select(
            label="Topic shown", options={}, size="small", sizing_mode="stretch_width"
        )
        shared: dict[str, Any] = {"variant": "outlined", "size": "small", "margin": (4, 10)}
        self.again = pmui.Button(label="Update to the current model", icon="visibility", **shared)
        self._other = pmui.Button(label="Another document", icon="shuffle", **shared)
        self.again.on_click(lambda event: self._ask())
        self._other.on_click(lambda event: self.show_next_document())
        self.topic.param.watch(self._choose, "value")
        self._layout = self._lay_out()
        self._show(AnatomyJob())

    def _lay_out(self) -> pn.viewable.Viewable:
        panes = {
            name: hideable(plot.figure)
            for name, plot in (
                ("stick", self._stick),
                ("slots", self._slots),
                ("own", self._own_bound),
                ("arrows", self._arrows),
                ("bound", self._bound),
            )
        }
        for pane in panes.values():
            pane.visible = False
        self.panes, texts = panes, self.texts
        left = [
            _heading("The stick of the corpus"), texts["stick"], panes["stick"],
            _heading("The learning rate"), texts["rate"], self._rates,
            _heading("The noisy gradient of a topic"), texts["arrows"], self.topic, panes["arrows"],
        ]  # fmt: skip
        right = [
            _heading("The slots of a document"), texts["slots"], self._other, panes["slots"],
            texts["end"], self._list, texts["own"], panes["own"],
            _heading("The bound"), texts["bound"], panes["bound"],
        ]  # fmt: skip
        columns = [
            stack(*parts, styles={"flex": "1 1 420px", "min-width": "0"}) for parts in (left, right)
        ]
        head = make_heading("Under the hood", "", anatomy_captions.INTRODUCTION)
        body = pn.FlexBox(
            *columns, gap="24px", align_items="flex-start", sizing_mode="stretch_width"
        )
        return stack(head, self.moment, self.again, body)

    @property
    def job(self) -> AnatomyJob:
        """The state of the last computation."""
        return self.anatomist.job

    @param.depends("state.progress", watch=True)
    @guarded
    def look(self) -> None:
        """Show the internals: after each step of a paused run, now and then of a running one."""
        progress = self.state.progress
        found = self.job.dissection
        is_new = found is None or found.model.run_id != progress.run_id
        if self.job.status != "failed" and (
            is_new or progress.status != "running" or self.anatomist.is_rested
        ):
            self._ask()
        self._show(self.job)

    def close(self) -> None:
        """Release the model; the next look starts again."""
        self.anatomist.forget()

    @param.depends("state.topic", watch=True)
    @guarded
    def _ask(self) -> None:
        """Start a computation for the current model and the selected topic and document."""
        model, chosen, now = self._find_model(), self.state, self.state.progress.now
        topic = chosen.topic
        if topic is None and now is not None and now.is_read:
            topic = int(now.topic_ids[now.tokens.argmax()])
        if model is not None:
            self.anatomist.ask(
                AnatomyQuestion(
                    model=model, topic=topic, document=chosen.document, place=self._place
                )
            )

    def _show(self, job: AnatomyJob) -> None:
        progress, dissection = self.state.progress, job.dissection
        self.moment.object = f"<p role='status'>{escape(_describe(job, progress))}</p>"
        moment = None
        if dissection is not None:
            moment = dissection.model.run_id, dissection.model.documents_seen
        self.again.disabled = moment == (progress.run_id, progress.documents_seen)
        self.texts["rate"].object = f"<p>{anatomy_captions.explain_rate(progress)}</p>"
        self._draw_bound()
        self._offer_topics(dissection)
        self.dissection = dissection
        if dissection is None:
            self._draw()

    def _draw_bound(self) -> None:
        progress = self.state.progress
        algorithm, name = progress.algorithm_record, progress.label.partition(",")[0]
        text = WAITING
        if algorithm is not None:
            text = anatomy_captions.explain_bound(algorithm, bool(len(progress.bounds)), name)
        self.texts["bound"].object = f"<p>{escape(text)}</p>"
        frame = anatomy_frames.corpus_bound_frame(progress)
        self.panes["bound"].visible = bool(len(frame))
        if len(frame) and list(self._bound.source.data["x"]) != frame["x"].tolist():
            self._bound.show(frame)

    @param.depends("dissection", "state.titles", watch=True)
    @guarded
    def _draw(self) -> None:
        found = self.dissection
        stick = trace = arrows = None
        if found is not None:
            stick = found.stick
            trace = found.trace
            arrows = found.arrows
        for name, part in {"stick": stick, "slots": trace, "arrows": arrows, "own": trace}.items():
            self.panes[name].visible = part is not None
        self._other.visible = self._list.visible = trace is not None
        self.topic.visible = arrows is not None
        title = self.state.progress.topic_title
        waiting = COMING if self.state.progress.documents_seen else WAITING
        texts = dict.fromkeys(("stick", "slots", "arrows"), waiting) | {"end": "", "own": ""}
        if found is not None:
            name = escape(title(found.topic)) if found.topic is not None else ""
            texts |= {
                "stick": anatomy_captions.explain_stick(found),
                "slots": anatomy_captions.explain_slots(found),
            }
            texts["arrows"] = anatomy_captions.explain_arrows(found, name)
            if arrows is not None:
                self._arrows.show(anatomy_frames.arrow_frame(arrows, found.model.corpus.vocabulary))
            if trace is not None:
                end = anatomy_captions.explain_end(trace.num_taken, len(trace.bounds))
                texts |= {"end": end, "own": anatomy_captions.explain_document_bound(found)}
                texts["slots"] += f"</p><p>{_describe_document(found)}"
                self._draw_document(trace)
        if stick is not None:
            self._stick.show(anatomy_frames.stick_frame(stick, title))
        for name, text in texts.items():
            self.texts[name].object = only_if(text, f"<p>{text}</p>")

    def _draw_document(self, trace: SlotTrace) -> None:
        title = self.state.progress.topic_title
        self._slots.show(anatomy_frames.slot_frame(trace, title), trace.num_taken)
        self._own_bound.show(anatomy_frames.bound_frame(trace), trace.num_taken)
        self._list.show(anatomy_frames.slot_rows(trace, title), "This document has no words.")

    def _offer_topics(self, found: Dissection | None) -> None:
        """Offer the topics, with the topic of the arrows selected."""
        topic = None if found is None else found.topic
        options = {} if topic is None else anatomy_frames.largest_choices(self.state.progress)
        if topic is not None and topic not in options.values():
            options[self.state.progress.topic_title(topic)] = topic
        if options == self.topic.options and topic == self.topic.value:
            return
        self._is_writing = True
        try:
            offer(self.topic, options, topic)
        finally:
            self._is_writing = False

    def _choose(self, event: Any) -> None:
        if not self._is_writing and event.new is not None:
            self.state.topic = int(event.new)

    def _pick_slot(self, slot: int) -> None:
        found = self.dissection
        if found is None or found.trace is None:
            return
        trace = found.trace
        last = min(trace.num_taken, len(trace.bounds)) - 1
        self.state.topic = int(trace.topic_ids[trace.slot_topics[last, slot - 1].argmax()])

    def show_next_document(self) -> None:
        """Show the document that the run reads next, and deselect the selected one."""
        self._place += 1
        self.state.document = None
        self._ask()


def _describe(job: AnatomyJob, progress: Progress) -> str:
    if job.status == "failed":
        return f"The internals of the algorithm could not be computed: {job.message}"
    if job.dissection is None:
        return LOOKING if job.status == "looking" else WAITING
    return anatomy_frames.describe_moment(job.dissection, progress)


def _describe_document(found: Dissection) -> str:
    corpus, row = found.model.corpus, found.row
    source = "Selected on the Documents page" if found.is_chosen else "Next document"
    title, date = escape(str(corpus.titles[row])), escape(date_text(corpus.dates[row]))
    size = int(corpus.counts[[row]].sum())
    about = f"{source}: <b>{title}</b>{only_if(date, f', {date}')}, {count(size, 'token')}."
    return about + document_html(corpus, row)


def _heading(text: str) -> pn.pane.HTML:
    return _html(f"<h3>{escape(text)}</h3>")


def _html(text: str = "") -> pn.pane.HTML:
    return html_pane(text, stylesheets=[STYLE])
