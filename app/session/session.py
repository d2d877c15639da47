"""One browser: its page, the run it shows, and an update of the page when the run notifies it."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import panel as pn

from stickbreaker import engine
from stickbreaker.app.fixes.page import Keyboard, SideDrawer, TypedNumbers, UndrawnFigures
from stickbreaker.app.model.disk_space import list_items
from stickbreaker.app.model.limits import LimitReachedError, find_fault
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.replay import rewind
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.model.sweep_plan import SweepError, SweepState, plan_sweep
from stickbreaker.app.model.user_files import CORPORA
from stickbreaker.app.server.run import Run
from stickbreaker.app.server.service import Service, first_spec
from stickbreaker.app.server.subscribers import Wakeup, call_on_loop
from stickbreaker.app.server.text_worker import TextWorker
from stickbreaker.app.server.visitors import Visitor, find_data, for_presenters, may_manage, may_name_paths
from stickbreaker.app.session.address import Address, BrowserHistory
from stickbreaker.app.session.classroom import Classroom
from stickbreaker.app.session.links import read_link
from stickbreaker.app.session.opening import describe_opening
from stickbreaker.app.session.pages import Pages, Readers, lay_at_end, lay_side_by_side
from stickbreaker.app.session.tabs import (
    ALL_PAGES,
    CLASS,
    COMPARE,
    DOCUMENTS,
    EXPORT,
    HOOD,
    LIVE,
    READING_PAGES,
    TOPICS,
    make_tabs,
    offer_class,
)
from stickbreaker.app.views.bring_corpus import BringActions, BringCorpus
from stickbreaker.app.views.compare import Compare, CompareActions
from stickbreaker.app.views.controls import ControlActions, Controls
from stickbreaker.app.views.count_note import CountNote
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.header import Header, HeaderActions
from stickbreaker.app.views.names_note import NamesNote
from stickbreaker.app.views.rate_sketch import RateSketch
from stickbreaker.app.views.replay_player import ReplayPlayer
from stickbreaker.app.views.run_summary import RunSummary
from stickbreaker.app.views.sharing import WATCHING, Sharing
from stickbreaker.app.views.sweep import SweepActions, SweepPanel
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.under_the_hood import UnderTheHood
from stickbreaker.app.views.watched_settings import WatchedSettings
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.layouts import NO_HEIGHT_LIMIT, lay_in_lines
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.corpora.texts import Texts, find_texts
from stickbreaker.engine.files.whole_files import FileError

SAFETY_NET_MILLISECONDS = 1_000
REFUSED_MILLISECONDS = 4_000
STOPPED_MILLISECONDS = 15_000
# Long enough to be read; the engine's failure also stays in the line at the top.
ERROR_MILLISECONDS = 60_000

_log = logging.getLogger(__name__)


class Session:
    """The views of one browser of a user. `start` when its websocket opens, `stop` when it closes."""

    def __init__(self, service: Service, make_spec: Callable[[], RunSpec] = first_spec, user: str | None = None):
        self._service, self._make_spec = service, make_spec
        files = service.find_files(user)
        self._library, self.kept, self._kept_names = files.folder / CORPORA, files.kept, files.names
        self._run: Run | None = None
        self._wakeup: Any = None
        self.seen: Any = None
        self.document: Any = None
        self._reported: set[str] = set()
        self.selection = Selection()
        self._has_earlier_topic = False
        self.tabs = make_tabs()
        self.address = Address(pn.state.location, self.selection, self.tabs)
        first = self._make_spec()
        others = (algorithm for algorithm in engine.REGISTRY if algorithm.name != first.algorithm.name)
        self._algorithms = (first.algorithm, *others)
        corpora = engine.list_corpora(self._library)
        self._link = read_link(self.address.query, first, self._algorithms, corpora, ALL_PAGES)
        self._visitor = Visitor(user=user, run=self._link.run, watch=self._link.watch)
        actions = HeaderActions(
            toggle=self.toggle,
            step=self.step,
            restart=self.restart,
            pace=self.set_pace,
            share=self.share,
            extend=self.extend,
        )
        self.header = Header(actions)
        self.watched_settings = WatchedSettings()
        self.bring = self._make_bring()
        self.curves, self.table, self.now, self.summary = Curves(waits=True), WordTable(), TopicsNow(), RunSummary()
        self.count_note = CountNote(self.check_count, self.cancel_check)
        self.names_note = NamesNote(self.undo_names)
        self.readers = Readers(
            self.selection,
            self.read,
            self.rename,
            lambda: self._run.runner.earlier if self._run else (),
            self._find_texts,
            lambda: self.classroom.state.all_results,
        )
        self.readers.note_fault = self._note_fault
        self.classroom = Classroom(lambda: self._run, self.may_act, self.notify, self.tabs, self._find_texts)
        self.player = ReplayPlayer(self.selection, self.address.write)
        self._may_open = may_manage()
        self.hood = self._make_hood()
        self._follow_choices()
        self.side, self.drawer = pn.Column(sizing_mode="stretch_width", margin=0), SideDrawer(margin=0)
        self.history = BrowserHistory(self.address.go_back, margin=0)
        self.sharing = Sharing()
        self._take_role(service.may_watch(self._visitor))
        self._first = service.preview(self._visitor, self._link.spec)
        self.header.update(self._first)

    def describe_opening(self) -> dict[str, Any]:
        """Describe the run for what a browser shows until the page is drawn."""
        return describe_opening(self._first, self._link.spec.corpus_name)

    @cached_property
    def controls(self) -> Controls:
        """The settings of the next run, as the link gives them; a watcher has none."""
        actions = ControlActions(
            configure=self.configure, restart=self.restart, clear=self.clear, bring=self.open_bring, weigh=self.weigh
        )
        return Controls(self._link.spec, engine.list_corpora(self._library), self._algorithms, self.sketch, actions)

    @cached_property
    def sketch(self) -> RateSketch:
        """The learning rates, next to the settings."""
        return RateSketch()

    def _make_bring(self) -> BringCorpus:
        """Make the dialog for the user's own text, with the rights of this user."""
        worker = TextWorker(self._library, self._visitor.user, partial(self._note_fault, "text_failed"))
        actions = BringActions(
            offer=self.offer_corpora,
            run=self.run_on,
            count_names=self._kept_names.count,
            deleted=self._forget_names,
            note=self._note_fault,
        )
        return BringCorpus(worker, actions, may_name_paths(), self._library, may_delete=may_manage())

    def _make_hood(self) -> UnderTheHood:
        """Make the Under the hood page, which reads the current model of the run."""
        return UnderTheHood(
            self.selection,
            RateSketch,
            lambda: self._run.runner.model() if self._run else None,
            lambda: self._wakeup and self._wakeup.notify(),
        )

    def _follow_choices(self) -> None:
        """Show what the user selects: a topic in the table, a page, or a document."""
        self.now.param.watch(lambda event: self.table.show(event.new), "picked", onlychanged=False)
        self.tabs.param.watch(lambda event: self._turn(), "value")
        self.selection.param.watch(lambda event: self._show_moment(), "moment")
        self.selection.param.watch(lambda event: self._note_topic(), "topic")
        self.selection.param.watch(
            lambda event: event.new is None or self.tabs.param.update(value=DOCUMENTS), "document"
        )

    def _note_topic(self) -> None:
        """Note whether a topic is selected in the reading of an earlier run, shown until the present run has one."""
        run = self._run
        is_earlier = run is not None and _has_other_topics(run.reader.job, run.runner.progress)
        self._has_earlier_topic = is_earlier and self.tabs.value in READING_PAGES

    def _drop_earlier_topic(self) -> None:
        """Clear a topic that was selected in the reading of an earlier run: its id now means another topic."""
        if self._has_earlier_topic:
            self._has_earlier_topic = False
            self.selection.param.update(topic=None, pointed_topic=None)

    def _find_texts(self, name: str) -> Texts | None:
        """Find the texts of a corpus of the run's owner, who may be another user than a watcher."""
        return find_texts(name, self._library if self._run is None else find_data(self._run.user) / CORPORA)

    @cached_property
    def compare(self) -> Compare:
        """The kept runs, made when the Compare page is first opened."""
        list_space = partial(list_items, self._library.parent)
        actions = CompareActions(
            show_live=self._draw_curves, report=self.notify, open_run=self.open_kept, list_space=list_space
        )
        compare = Compare(self.kept, actions, may_open=self._may_open)
        compare.let_act(not self.is_watching)
        return compare

    @cached_property
    def sweep(self) -> SweepPanel:
        """The form of sweeps, made when the Compare page is first opened."""
        actions = SweepActions(
            plan=self.plan_sweep, start=self.start_sweep, resume=self.resume_sweep, cancel=self.cancel_sweep
        )
        sweep = SweepPanel(self._algorithms, actions)
        sweep.let_act(not self.is_watching)
        return sweep

    @property
    def run(self) -> Run | None:
        """The run that the page shows; None before `start` and after `stop`."""
        return self._run

    @property
    def _controlled(self) -> Run:
        """The run that this page controls; `may_act` has said that there is one."""
        assert self._run is not None
        return self._run

    def start(self) -> None:
        """Join the run of this address, or start one and write its address."""
        self.document = pn.state.curdoc
        self._wakeup = Wakeup(self.document, self.look)
        try:
            self._run, is_watching, fault = self._service.join(self._visitor, self._wakeup, lambda: self._link.spec)
        except LimitReachedError as error:
            self._show_refusal(str(error))
            return
        self._take_role(is_watching)
        changed = self.address.open(self._link, self._run, is_watching)
        faults = " ".join(filter(None, (fault, changed, *self._link.faults)))
        if faults:
            self.notify(faults)
        if not is_watching:
            self.header.show_pace(self._run.runner.seconds_per_batch)
            self._tell_stopped(self._run.sweep.state)
        pn.state.add_periodic_callback(self._beat, SAFETY_NET_MILLISECONDS)
        # Panel may deliver changes that are made during loading after later ones.
        for act in (self.look, self.unfold):
            call_on_loop(self.document, act)

    def _show_refusal(self, reason: str) -> None:
        """Say why this page has no run, and draw it; its buttons do nothing."""
        self.header.update(Progress(message=reason))
        self.notify(reason)
        pn.state.add_periodic_callback(self._beat, SAFETY_NET_MILLISECONDS)
        call_on_loop(self.document, self.unfold)

    def _note_fault(self, event: str, fault: str) -> None:
        """Write a failure of this page into the log of the server."""
        self._service.events.write_fault(event, fault, self._run.key if self._run is not None else "")

    def _tell_stopped(self, sweep: SweepState) -> None:
        """Say that a sweep can be continued; the button is on Compare."""
        if sweep.status == "stopped" and pn.state.notifications is not None:
            text = f"The sweep of {len(sweep.plan)} runs stopped after {len(sweep.points)}: continue it on Compare."
            pn.state.notifications.info(text, duration=STOPPED_MILLISECONDS)

    def unfold(self) -> None:
        """Draw the open page and the settings in one message, after the browser has the state of the run."""
        with pn.io.hold(self.document):
            self._turn()
            self.side.objects = [self.watched_settings if self.is_watching else self.controls]
            self.header.bar.is_unfolded = True

    def _take_role(self, is_watching: bool) -> None:
        """Show the controls to a presenter, and hide them from a watcher."""
        self.is_watching = is_watching
        made = [vars(self)[name] for name in ("compare", "sweep") if name in vars(self)]
        views = (self.header, self.readers, self.count_note, self.names_note, self.classroom)
        for view in (*views, *made):
            view.let_act(not is_watching)

    def stop(self) -> None:
        """Leave the run and release everything of this session."""
        if self._run is not None:
            self._wakeup.close()
            self._service.leave(self._run, self._wakeup)
            self.address.close()
            self._run = self.document = None
        self.hood.close()
        self.bring.close()
        self.readers.close()

    def _beat(self) -> None:
        """Tell a served page that the connection works, and look again; called every second."""
        if self.document is not None and self.document.session_context is not None:
            self.header.bar.beat += 1
        self.look()

    def look(self) -> None:
        """Show the changes since the last call, in one message."""
        if self._run is None:
            return
        runner = self._run.runner
        progress, earlier = runner.progress, runner.earlier
        jobs = self._run.reader.job, self._run.checker.job, self.hood.job
        present = len(self._run.presenters), self._run.num_watching
        of_class = self.classroom.find_shown()
        fault = self._run.save_fault
        seen = (progress, earlier, jobs, self.kept.version, self._run.sweep.state, present, of_class, fault)
        if seen == self.seen:
            return
        before, self.seen = self.seen, seen
        with pn.io.hold(self.document):
            has_moved = before is None or before[:2] != seen[:2]
            self.history.topics_key = progress.topics_key
            if before is not None and 0 < before[0].run_id != progress.run_id:
                has_same_topics = before[0].topics_key == progress.topics_key
                self.selection.leave_run(before[0].corpus_name == progress.corpus_name, has_same_topics)
            if has_moved:
                settings = self.watched_settings if self.is_watching else self.controls
                for view in (settings, self.player):
                    self._attempt(view.update, progress, earlier)
                self._draw_rates()
            self.header.show_fault(fault)
            self.sharing.update(self.is_watching, *present)
            self._attempt(self.classroom.look)
            self._update_page(has_moved)
            self.address.write()
            # Bokeh may send each change as a message of its own: the state of the run is the last of them.
            self._attempt(self.header.update, progress, self.moment())
            if progress.status == "failed" and (before is None or before[0].status != "failed"):
                self.notify(f"The engine has stopped: {progress.message}")

    def moment(self) -> Progress:
        """Return the run at the selected moment: as it is now unless the user replays it."""
        return rewind(self._controlled.progress, self.selection.moment)

    def _show_moment(self) -> None:
        """Show the selected moment on the open page."""
        with pn.io.hold(self.document):
            self._update_page()
            self._draw_rates()
            if self._run is not None:
                self._attempt(self.header.update, self._run.runner.progress, self.moment())

    def _draw_rates(self) -> None:
        """Show the learning rates until the selected moment, next to the settings that a watcher does not have."""
        if self._run is not None and not self.is_watching:
            self._attempt(self.sketch.update, self.moment())

    def _draw_curves(self) -> None:
        """Draw the live curves again, with the selected kept runs."""
        if self._run is not None:
            runner = self._run.runner
            kept = self.compare.live if "compare" in vars(self) else ()
            self.curves.update(self.moment(), (*kept, *runner.earlier))

    def _update_page(self, has_moved: bool = True) -> None:
        """Show changes on the open page; has_moved: whether the run or the earlier runs have changed."""
        if self._run is not None:
            self._attempt(self.names_note.update, self._run.runner.progress, self.tabs.value in (LIVE, TOPICS))
        if self.tabs.value not in READING_PAGES:
            self._drop_earlier_topic()
        if self.tabs.value == LIVE and self._run is not None:
            if has_moved:
                self._attempt(self._draw_curves)
            self._ask_at_end()
            for view in (self.summary, self.table, self.now):
                self._attempt(view.update, self.moment())
            self._attempt(self.count_note.read, self._run.checker.job, self.moment())
        elif self.tabs.value in READING_PAGES:
            self._update_readers()
        elif self.tabs.value == COMPARE:
            sweep = self._run.sweep.state if self._run is not None else SweepState()
            self._attempt(self.compare.look, sweep.status != "none")
            self._attempt(self.sweep.read, sweep)
        elif self.tabs.value == HOOD and self._run is not None:
            self._attempt(self.hood.look, self._controlled.progress)

    def _ask_at_end(self) -> None:
        """Read the corpus when the run has finished, so that the live page shows shares of all words."""
        run = self._controlled
        if run.runner.progress.status == "finished" and run.reader.job.status != "failed":
            run.reader.ask()

    def _update_readers(self) -> None:
        """Show the reading of the corpus in the open views."""
        if self._run is None:
            return
        progress, job = self._controlled.progress, self._run.reader.job
        is_new = job.reading is None or _is_of_earlier_run(job, progress)
        if progress.documents_seen and job.status != "failed" and (is_new or progress.status == "finished"):
            self._run.reader.ask()
            job = self._run.reader.job
        if not _has_other_topics(job, progress):
            self._drop_earlier_topic()
        for view in self.readers.on_page(self.tabs.value):
            self._attempt(view.read, job, progress)
        if self.tabs.value == TOPICS:
            self._attempt(self.readers.replay, self.moment())

    def _attempt(self, draw: Callable[..., None], *arguments: Any) -> None:
        """Let a view draw; an error does not stop the other views."""
        try:
            draw(*arguments)
        except Exception as error:
            self.report(error)

    def read(self) -> None:
        """Read the corpus with the current model."""
        if self._run is not None:
            self._run.reader.ask()

    @for_presenters
    def rename(self, topic_id: int, name: str) -> None:
        """Name a topic on every page of the run."""
        self._controlled.runner.rename(topic_id, name)

    @for_presenters
    def undo_names(self) -> None:
        """Take back the names that the topics of the run were given at its end."""
        self._controlled.runner.undo_names()

    def _forget_names(self, corpus_name: str) -> None:
        """Forget the names of the topics of a corpus that was deleted."""
        try:
            self._kept_names.remove(corpus_name)
        except OSError as error:
            self.notify(f"The topic names of the deleted corpus could not be removed: {error}")

    def report(self, error: Exception) -> None:
        """Show an error of the page once; the log has the traceback."""
        _log.error("An error on the page", exc_info=error)
        text = f"Error on this page: {type(error).__name__}: {error}"
        if text not in self._reported:
            self._reported.add(text)
            self._note_fault("page_error", find_fault(error))
            self.notify(text)

    @for_presenters
    def toggle(self) -> None:
        """Run or pause; restart a finished run."""
        runner = self._controlled.runner
        if runner.progress.status in ("finished", "failed"):
            self.restart()
        elif runner.wants_to_run:
            runner.pause()
        else:
            runner.resume()

    @for_presenters
    def step(self) -> None:
        """Learn from one mini-batch."""
        self._controlled.runner.step()

    @for_presenters
    def set_pace(self, seconds_per_batch: float | None) -> None:
        """Change the pace."""
        self._controlled.runner.set_pace(seconds_per_batch)

    @for_presenters
    def share(self) -> None:
        """Show the link for watchers, or hide it."""
        self.sharing.toggle(self.address.share())
        offer_class(self.tabs)

    @for_presenters
    def configure(self, settings: LiveSettings) -> None:
        """Send learning settings to the run, which applies them from its next mini-batch."""
        try:
            self._controlled.runner.configure(settings)
        except ValueError as error:
            self.notify(str(error))

    @for_presenters
    def restart(self) -> None:
        """Start a new run with the settings of the controls, unless a form shows an error."""
        spec = self._read_spec()
        if spec is None:
            self.notify("The run was not restarted: correct the setting under Advanced settings.")
            return
        self.controls.apply()
        self._controlled.runner.restart(spec)

    @for_presenters
    def extend(self) -> None:
        """Read the corpus of a finished run once more."""
        self._controlled.runner.extend()

    @for_presenters
    def open_kept(self, key: str) -> None:
        """Show a kept run in full, in place of the present one."""
        if not self._may_open:
            return
        try:
            self._controlled.runner.restore(self.kept.load_position(key))
        except (FileError, KeyError, ValueError) as error:
            self.notify(f"The run could not be opened: {error}")
            return
        self.tabs.value = LIVE

    def _read_spec(self) -> RunSpec | None:
        """Return the settings of the controls; None if a form shows an error."""
        answers = self.controls.read()
        if answers is None:
            return None
        config, changed = answers
        algorithm = next(each for each in self._algorithms if each.name == self.controls.algorithm.value)
        settings = replace(self._make_spec().settings, **changed)
        corpus_name, chosen = self.controls.corpus.value, self.controls.chosen
        return RunSpec(
            corpus_name=corpus_name,
            algorithm=algorithm,
            config=algorithm.config(**config),
            settings=settings,
            chosen=chosen,
        )

    def plan_sweep(self, values: dict[str, tuple[float | int, ...]], systems: list[str]) -> tuple[RunSpec, ...]:
        """Make the runs of a sweep around the settings of the controls. Raises SweepError if there is no such sweep."""
        spec = self._read_spec()
        if spec is None:
            raise SweepError("Correct the setting under Advanced settings first.")
        return plan_sweep(spec, [each for each in self._algorithms if each.name in systems], values)

    @for_presenters
    def start_sweep(self, plan: tuple[RunSpec, ...]) -> None:
        """Run these in the background."""
        self._controlled.sweep.start(plan)

    @for_presenters
    def resume_sweep(self) -> None:
        """Continue a sweep that the end of the server has stopped."""
        self._controlled.sweep.resume()

    @for_presenters
    def cancel_sweep(self) -> None:
        """End the sweep after its present mini-batch."""
        self._controlled.sweep.cancel()

    @for_presenters
    def check_count(self) -> None:
        """Start the sampler from the current model, to check its number of topics."""
        self._controlled.checker.start()

    @for_presenters
    def cancel_check(self) -> None:
        """End the check after its present sweep."""
        self._controlled.checker.cancel()

    @for_presenters
    def open_bring(self) -> None:
        """Open the dialog for the user's own text."""
        self.bring.open()

    def offer_corpora(self, name: str | None = None) -> None:
        """List the corpora that there are now, with one of them selected."""
        self.controls.offer(engine.list_corpora(self._library), name)

    @for_presenters
    def run_on(self, name: str) -> None:
        """Start a new run on this corpus."""
        self.offer_corpora(name)
        self.restart()

    def weigh(self, algorithm: Algorithm, config: Any) -> int:
        """Return the bytes that an algorithm stores about the documents of this corpus; 0 if none."""
        corpus = self._run.runner.corpus if self._run is not None else None
        return 0 if corpus is None or algorithm.memory is None else algorithm.memory(config, corpus.documents())

    @for_presenters
    def clear(self) -> None:
        """Remove the faint lines of earlier runs."""
        self._controlled.runner.forget_earlier()

    def layout(self) -> pn.viewable.Viewable:
        """Lay out the header and room for the pages; `unfold` fills it."""
        right = pn.Column(self.now, self.curves.held_out, sizing_mode="stretch_width", margin=0)
        top = lay_at_end(self.summary, self.count_note.button)
        middle = lay_side_by_side(self.table, right)
        live = pn.Column(top, self.count_note, middle, self.curves, sizing_mode="stretch_width", margin=0)
        own: dict[str, Callable[[], tuple[Any, ...]]]
        own = {LIVE: lambda: (live,), HOOD: lambda: (self.hood,)}
        own[COMPARE] = lambda: (self.compare, self.sweep, self.compare.below)
        own[CLASS] = lambda: (self.classroom.view,)
        make_parts = {name: own.get(name, partial(self.readers.parts, name)) for name in ALL_PAGES}
        self.pages = Pages(make_parts, self.readers.note)
        fixes = (TypedNumbers(margin=0), UndrawnFigures(margin=0), self.drawer)
        unseen = (self.bring, Keyboard(), *fixes, self.history)
        above = lay_in_lines(self.tabs, self.player, sizing_mode="stretch_width")
        parts = (self.header, self.sharing, above, self.names_note, *self.pages.columns, *unseen)
        return pn.Column(*parts, sizing_mode="stretch_width", margin=(0, 12), styles=NO_HEIGHT_LIMIT)

    def _turn(self) -> None:
        """Update the selected page, then open it."""
        page = self.tabs.value
        self.readers.open_export(page == EXPORT)
        self.player.bar.visible = page in (LIVE, TOPICS)
        if page != HOOD:
            self.hood.close()
        self.sharing.make_room(page == CLASS)
        self.drawer.is_closed = page == CLASS
        if page == CLASS and self._run is not None:
            self.classroom.view.open(self.address.share())
        if page == COMPARE:
            self._attempt(self.compare.look)
        self._update_page()
        self.pages.open(page)

    def may_act(self) -> bool:
        """Return whether this page controls a run; a watcher gets a notice."""
        if self.is_watching and pn.state.notifications is not None:
            pn.state.notifications.info(WATCHING, duration=REFUSED_MILLISECONDS)
        return self._run is not None and not self.is_watching

    def notify(self, text: str) -> None:
        if pn.state.notifications is not None:
            pn.state.notifications.error(text, duration=ERROR_MILLISECONDS)


def _is_of_earlier_run(job: ReadingJob, progress: Progress) -> bool:
    """Whether a reading is that of an earlier run."""
    return job.reading is not None and job.reading.model.run_id != progress.run_id


def _has_other_topics(job: ReadingJob, progress: Progress) -> bool:
    """Whether the numbers of topics mean other topics in a reading than in the present run."""
    return job.reading is not None and job.reading.model.topics_key != progress.topics_key
