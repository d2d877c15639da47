"""The tasks of a class on one page: what the presenter may ask, and the answers of a watcher."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from stickbreaker.app.frames.class_questions import (
    ask_first,
    ask_intruder,
    ask_period,
    ask_rate,
    find_first,
    suggest_words,
)
from stickbreaker.app.model.class_tasks import FIRST, ClassState, ClassTaskError, Task
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import plan_sweep
from stickbreaker.app.server.run import Run
from stickbreaker.app.server.visitors import for_presenters
from stickbreaker.app.session.tabs import CLASS, open_page
from stickbreaker.app.views.class_tasks import ClassActions, ClassTasks
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.texts import Texts
from stickbreaker.engine.schedules import live_settings

OTHER_SWEEP = "A sweep is running on the Compare page: wait until it has ended, or cancel it there."
OTHER_RUN = "The task is about an earlier run: start it again."
NO_MODEL = "The run has not learned anything yet: let it read some documents first."


class Classroom:
    """The Class page of one browser. The run's board holds the tasks and answers of all pages.

    find_run: the run that the page shows, or None. may_act: whether the page controls it; a watcher gets a notice.
    notify: shows a text. tabs: the row of buttons that opens the pages. find_texts: the stored texts of a corpus of the
    run's owner.
    """

    def __init__(
        self,
        find_run: Callable[[], Run | None],
        may_act: Callable[[], bool],
        notify: Callable[[str], None],
        tabs: Any,
        find_texts: Callable[[str], Texts | None],
    ):
        self._find_run, self.may_act, self.notify, self._tabs = find_run, may_act, notify, tabs
        self.find_texts = find_texts
        self._token = secrets.token_hex(8)
        self._is_watching, self._number = False, 0
        self.view = ClassTasks(
            ClassActions(
                intruder=self.intruder,
                first=self.first,
                period=self.period,
                rate=self.rate,
                start_runs=self.start_runs,
                suggest=self.suggest,
                reveal=self.reveal,
                answer=self.answer,
            )
        )

    def let_act(self, may_act: bool) -> None:
        """Show the buttons that ask to a presenter only."""
        self._is_watching = not may_act
        self.view.let_act(may_act)

    @property
    def state(self) -> ClassState:
        """The current task with its answers, and those before it."""
        run = self._find_run()
        return ClassState() if run is None else run.board.state

    def find_shown(self) -> object:
        """What this page shows of the tasks; it does not change for watchers when others answer."""
        state = self.state
        shown = (state.number, state.is_open, state.is_revealed, len(state.points))
        return shown if self._is_watching else state

    def look(self) -> None:
        """Show the tasks; a new one opens on the page of a watcher."""
        run = self._find_run()
        if run is None:
            return
        self._settle(run)
        state = run.board.state
        self.view.update(state, run.num_watching, run.sweep.state, self._token)
        if self._is_watching and state.number > self._number and not state.is_revealed:
            open_page(self._tabs, CLASS)
        self._number = state.number

    def _settle(self, run: Run) -> None:
        """Note when the run, or the runs of a sweep, have answered the question."""
        run.board.follow(run.sweep.state)
        state = run.board.state
        if state.task is not None and state.task.kind == FIRST and state.task.correct is None:
            correct = find_first(state.task, run.runner.progress)
            if correct is not None:
                run.board.resolve(state.number, correct)

    @for_presenters
    def intruder(self) -> None:
        """Ask for the intruder among the words of a topic."""
        self._ask(lambda run, model: ask_intruder(model, run.runner.progress, self.state.number))

    @for_presenters
    def first(self, word: str) -> None:
        """Ask when a word first appears."""
        self._ask(lambda run, model: ask_first(word, model, run.runner.progress))

    @for_presenters
    def period(self) -> None:
        """Ask from which period a passage is."""
        self._ask(
            lambda run, model: ask_period(
                model.corpus, self.state.number, run.runner.progress.seed, partial(self._read_text, model.corpus.name)
            )
        )

    @for_presenters
    def rate(self) -> None:
        """Ask which κ predicts held-out words best."""
        self._ask(lambda run, model: ask_rate(run.runner.progress, model.config))

    @for_presenters
    def start_runs(self) -> None:
        """Run each value of κ that the current task offers; answers end."""
        run = self._find_run()
        model = run.runner.model() if run is not None else None
        task = self.state.task
        if run is None or model is None or task is None or not self.state.needs_runs:
            return
        if run.sweep.is_running:
            self.notify(OTHER_SWEEP)
            return
        settings = run.runner.progress.settings
        if task.run_id != model.run_id or settings is None:
            self.notify(OTHER_RUN)
            return
        base = RunSpec(
            corpus_name=model.corpus.name,
            algorithm=model.algorithm,
            config=model.config,
            settings=settings,
            chosen=frozenset(live_settings(model.config)),
        )
        plan = plan_sweep(base, [], {"forgetting_rate": task.rates})
        run.board.begin(plan)
        run.sweep.start(plan)
        run.notify()

    def _read_text(self, corpus_name: str, row: int) -> str:
        """The text of a document; empty if the corpus is stored without its text, or it cannot be read."""
        try:
            texts = self.find_texts(corpus_name)
            return "" if texts is None else texts.read([row])[0]
        except CorpusError as error:
            self.notify(f"The passage is shown by its words: {error}")
            return ""

    def _ask(self, make: Callable[[Run, Model], Task]) -> None:
        run = self._find_run()
        if run is None:
            return
        model = run.runner.model()
        if model is None:
            self.notify(NO_MODEL)
            return
        try:
            run.board.ask(make(run, model))
        except ClassTaskError as error:
            self.notify(str(error))
            return
        run.notify()

    def suggest(self) -> list[str]:
        """Words that are worth asking about."""
        run = self._find_run()
        model = run.runner.model() if run is not None else None
        return [] if model is None else suggest_words(model)

    @for_presenters
    def reveal(self) -> None:
        """Show the right answer on all pages."""
        run = self._find_run()
        if run is not None:
            run.board.reveal()
            run.notify()

    def answer(self, number: object, option: object) -> None:
        """Take the answer of this page; only a watcher answers."""
        run = self._find_run()
        if run is None or not self._is_watching:
            return
        run.board.answer(self._token, number, option)
        run.presenters.notify()
        self.look()
