"""One browser: its page, the run it shows, and an update of the page when the run notifies it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import panel as pn

from stickbreaker import engine
from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.fixes.page import Keyboard, SideDrawer, TypedNumbers, UndrawnFigures
from stickbreaker.app.model.limits import LimitReachedError
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.recorded_run import can_stand_in, read_recording, stand_in
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.pages import PAGES
from stickbreaker.app.pages.page import Page
from stickbreaker.app.server.run import Run
from stickbreaker.app.server.service import CORPUS_NAME, Service, first_spec, load_by_name
from stickbreaker.app.server.subscribers import Wakeup
from stickbreaker.app.server.text_worker import TextWorker
from stickbreaker.app.server.visitors import Visitor, may_manage, may_name_paths
from stickbreaker.app.session.address import Address, BrowserHistory
from stickbreaker.app.session.browser_session import BrowserSession
from stickbreaker.app.session.links import read_link
from stickbreaker.app.session.opening import describe_opening
from stickbreaker.app.session.tabs import Tabs
from stickbreaker.app.state import DOCUMENTS, LAST, LIVE, PRESENTER, WATCHER
from stickbreaker.app.views.bring_corpus import BringCorpus
from stickbreaker.app.views.controls import Controls
from stickbreaker.app.views.header import Header
from stickbreaker.app.views.names_note import NamesNote
from stickbreaker.app.views.rate_sketch import RateSketch
from stickbreaker.app.views.reading_note import ReadingNote
from stickbreaker.app.views.replay_player import ReplayPlayer
from stickbreaker.app.views.sharing import Sharing
from stickbreaker.app.views.stick import Stick
from stickbreaker.app.views.watched_settings import WatchedSettings
from stickbreaker.app.widgets.layouts import NO_HEIGHT_LIMIT, lay_in_lines, stack
from stickbreaker.engine.files.whole_files import FileError

STOPPED_MILLISECONDS = 15_000
RECORDED_SECONDS = 15

_log = logging.getLogger(__name__)


@cache
def find_recording() -> Progress | None:
    """Read the recorded run, which all pages share; None if it cannot be read."""
    try:
        return read_recording(load_by_name(CORPUS_NAME, Path()))
    except (engine.CorpusError, FileError) as error:
        _log.warning("The recorded run cannot be read: %s", error)
        return None


class Session(BrowserSession):
    """One browser of a user: it joins a run, as a presenter or a watcher, and shows its pages.

    pages: the kinds of pages, in the order of their buttons.
    """

    def __init__(
        self,
        service: Service,
        make_spec: Callable[[], RunSpec] = first_spec,
        user: str | None = None,
        pages: Sequence[type[Page]] = PAGES,
    ):
        super().__init__()
        self._service = service
        self._wakeup: Any = None
        self.address = Address(pn.state.location, self.state, [page.title for page in pages])
        self.commands = RunCommands(
            self.state, service, user, lambda: self.controls, self.address.share
        )
        self._link = self._read_link(make_spec())
        self._visitor = Visitor(user=user, run=self._link.run, watch=self._link.watch)
        if service.may_watch(self._visitor):
            self.state.role = WATCHER
        self._recorded: Progress | None = None
        self._stands_in = (Progress(), Progress())
        self.state.publish(self._preview())
        self._rewind()
        self.header = Header(self.state, self.commands, Stick(self.state).pieces)
        self.bar = self.header.bar
        self.sharing = Sharing(self.state)
        self.names_note = NamesNote(self.state, self.commands)
        self.reading_note = ReadingNote(self.state, self.commands)
        self.player = ReplayPlayer(self.state, self.address.write)
        self.bring = self._make_bring(user)
        self.side = stack()
        self.drawer = SideDrawer(margin=0)
        self.history = BrowserHistory(self.address.go_back, margin=0)
        made = [page(self.state.freeze(), self.commands) for page in pages]
        self.tabs = Tabs(self.state, made)
        self.list_pages(made)
        self._watch()

    def _preview(self) -> Progress:
        """What the page shows before it has joined: a recorded run while the engine is compiled."""
        spec = self._link.spec
        progress = self._service.preview(self._visitor, spec)
        if progress.status == "compiling":
            self._recorded = find_recording()
            if progress.config is None:
                progress = replace(
                    progress,
                    corpus_name=spec.corpus_name,
                    algorithm=spec.algorithm.name,
                    config=spec.config,
                    settings=spec.settings,
                )
        return self._choose(progress)

    def _rewind(self) -> None:
        """Show the first word lists of a recorded run."""
        if self._recorded is not None:
            self.state.moment = self._recorded.columns[0].documents_seen

    def _choose(self, own: Progress) -> Progress:
        """The run, or on Live the recorded one until the run has learned and a replay is over."""
        # A new run has no settings before its thread has published some.
        is_known = own.config is not None
        has_begun = own.documents_seen and own.status != "paused"
        if (
            self._recorded is not None
            and is_known
            and (
                (has_begun and not self.player.is_well_begun)
                or not can_stand_in(self._recorded, own)
            )
        ):
            self._recorded = None
        if self._recorded is None or self.state.page != LIVE:
            return own
        if is_known and own is not self._stands_in[0]:
            self._stands_in = (own, stand_in(self._recorded, own))
        return self._stands_in[1]

    def _hold(self, *events: Any) -> None:
        """Let the run wait while the user looks at the recorded one."""
        if self._recorded is not None and self.run is not None and self.state.may_act:
            self.run.runner.pause()

    def _read_link(self, first: RunSpec) -> Any:
        others = (each for each in engine.REGISTRY if each.name != first.algorithm.name)
        self._algorithms = (first.algorithm, *others)
        corpora = engine.list_corpora(self.commands.library)
        return read_link(self.address.query, first, self._algorithms, corpora, self.address.pages)

    def _make_bring(self, user: str | None) -> BringCorpus:
        """Make the dialog for the user's own text, with the rights of this user."""
        library = self.commands.library
        worker = TextWorker(library, user, partial(self.note_fault, "text_failed"))
        return BringCorpus(worker, self.commands, may_name_paths(), library, may_manage())

    def _watch(self) -> None:
        """Follow what the user asks for, and say when the engine has failed."""
        watch = self.state.param.watch
        watch(lambda event: self.bring.open(), "brings_text")
        self.header.settings.on_click(self.drawer.press)
        self.drawer.param.watch(self._fill_side, "is_open")
        watch(self._hold, ["holds_recorded", "topic", "word"])
        watch(self._open_document, ["document", "num_opened"])
        watch(lambda event: self.history.param.update(topics_key=event.new.topics_key), "progress")
        watch(self._tell_failed, "progress", precedence=LAST + 1)

    def _open_document(self, *events: Any) -> None:
        if self.state.document is not None:
            self.state.page = DOCUMENTS

    def _tell_failed(self, event: Any) -> None:
        if event.new.status == "failed" and event.old.status != "failed":
            self.notify(f"The engine has stopped: {event.new.message}")

    def notify(self, text: str) -> None:
        """Show a text on the page for a while."""
        self.commands.notify(text)

    def note_fault(self, event: str, fault: str) -> None:
        """Write a failure of this page into the log of the server."""
        self.commands.note_fault(event, fault)

    def describe_opening(self) -> dict[str, Any]:
        """Describe the run for what a browser shows until the page is drawn."""
        return describe_opening(self.state.shown, self._link.spec.corpus_name)

    @cached_property
    def controls(self) -> Controls:
        """The settings of the next run, as the link gives them; a watcher has none."""
        corpora = engine.list_corpora(self.commands.library)
        make_sketch = partial(RateSketch, self.state)
        return Controls(
            self.state, self.commands, self._link.spec, corpora, self._algorithms, make_sketch
        )

    @property
    def run(self) -> Run | None:
        """The run that the page shows; None before `start` and after `stop`."""
        return self.commands.run

    def start(self) -> None:
        """Join the run of this address, or start one and write its address."""
        self.document = pn.state.curdoc
        self._wakeup = Wakeup(self.document, self.look)
        try:
            run, is_watching, fault = self._service.join(
                self._visitor, self._wakeup, lambda: self._link.spec
            )
        except LimitReachedError as error:
            self._show_refusal(str(error))
            return
        self.commands.run = run
        self.state.role = WATCHER if is_watching else PRESENTER
        changed = self.address.open(self._link, run, is_watching)
        faults = " ".join(filter(None, (fault, changed, *self._link.faults)))
        if faults:
            self.notify(faults)
        if not is_watching:
            self.header.show_pace(run.runner.seconds_per_batch)
            self._tell_stopped(run.sweep.state)
        self.follow()

    def _show_refusal(self, reason: str) -> None:
        """Say why this page has no run, and draw it; its buttons do nothing."""
        self.state.publish(Progress(message=reason))
        self.notify(reason)
        self.follow()

    def _tell_stopped(self, sweep: SweepState) -> None:
        """Say that a sweep can be continued; the button is on Compare."""
        if sweep.status == "stopped" and pn.state.notifications is not None:
            text = (
                f"The sweep of {len(sweep.plan)} runs stopped after {len(sweep.points)}: continue"
                " it on Compare."
            )
            pn.state.notifications.info(text, duration=STOPPED_MILLISECONDS)

    def look(self) -> None:
        """Publish what has changed since the last call, in one message."""
        run = self.run
        if run is None:
            return
        with pn.io.hold(self.document):
            self.state.publish(
                self._choose(run.runner.progress),
                earlier=(*run.runner.earlier, *run.forecaster.forecast),
                job=run.reader.job,
                check=run.checker.job,
                again=run.again.job,
                keeping=run.keeper.job,
                proposals=run.proposer.job,
                grouped=run.groups.job,
                sweep=run.sweep.state,
                tasks=run.board.state,
                kept_version=self.commands.kept.version,
                num_presenting=len(run.presenters),
                num_watching=run.num_watching,
                fault=run.save_fault,
            )

    def turn(self) -> None:
        """Open the selected page with what is around it."""
        if self._recorded is not None:
            self.look()
        page = self.pages[self.state.page]
        self.player.bar.visible = self.names_note.is_on_page = page.needs_player
        # The page of a class shows the link itself.
        self.sharing.link.visible = page.needs_controls
        self.drawer.is_closed = not page.needs_controls
        super().turn()

    def unfold(self) -> None:
        """Draw the page in one message, once the browser has the run's state."""
        with pn.io.hold(self.document):
            self._rewind()
            self.turn()
            self.bar.is_unfolded = True
            # The browser shows the page once it is idle, which it would be before a second message.
            self._fill_side()
        if self._recorded is not None:
            self.player.play(RECORDED_SECONDS)

    def _fill_side(self, *events: Any) -> None:
        """Draw the settings once the side is open."""
        if self.bar.is_unfolded and self.drawer.is_open and not self.side.objects:
            may_act = self.state.may_act
            self.side.objects = [self.controls if may_act else WatchedSettings(self.state)]

    def stop(self) -> None:
        """Leave the run and release everything of this session."""
        if self.run is not None:
            self._wakeup.close()
            self._service.leave(self.run, self._wakeup)
            self.address.close()
            self.commands.run = None
        super().stop()
        self.bring.close()

    def layout(self) -> pn.viewable.Viewable:
        """Lay out the header and room for the pages; `unfold` fills it."""
        above = lay_in_lines(self.tabs, self.player, sizing_mode="stretch_width")
        notes = (self.names_note, self.reading_note)
        fixes = (Keyboard(), TypedNumbers(margin=0), UndrawnFigures(margin=0), self.drawer)
        shown = (self.header, self.sharing, above, *notes, *self.pages.columns)
        parts = (*shown, self.bring, *fixes, self.history)
        return stack(*parts, margin=(0, 12), styles=NO_HEIGHT_LIMIT)
