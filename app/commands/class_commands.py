"""The tasks of a class: what the presenter may ask, and the answers of a watcher."""

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

from stickbreaker.app.commands.run_commands import RunCommands
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
from stickbreaker.app.state import CLASS
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.schedules import live_settings

OTHER_SWEEP = "A sweep is running on the Compare page: wait until it has ended, or cancel it there."
OTHER_RUN = "The task is about an earlier run: start it again."
NO_MODEL = "The run has not learned anything yet: let it read some documents first."


class ClassCommands:
    """What the presenter may ask a class, and the answers of this page; all are on the run's board.

    token: by which this page answers. find_texts: the stored texts of a corpus of the run's owner.
    """

    def __init__(self, commands: RunCommands):
        self._commands = commands
        self._state = commands.state
        self.may_act = commands.may_act
        self.find_texts = commands.find_texts
        self.token = secrets.token_hex(8)
        self._number = 0
        self._state.param.watch(self._settle, ["progress", "sweep", "tasks"])
        self._state.param.watch(self._open_new, "tasks")

    @property
    def tasks(self) -> ClassState:
        """The current task of the run with its answers, and those before it."""
        run = self._commands.run
        return run.board.state if run is not None else ClassState()

    def _open_new(self, event: Any) -> None:
        """Open a new task on the page of a watcher."""
        state = self._state.tasks
        if not self._state.may_act and state.number > self._number and not state.is_revealed:
            self._state.page = CLASS
        self._number = state.number

    def _settle(self, *events: Any) -> None:
        """Note when the run, or the runs of a sweep, have answered the question."""
        run = self._commands.run
        if run is None:
            return
        run.board.follow(run.sweep.state)
        state = run.board.state
        if state.task is not None and state.task.kind == FIRST and state.task.correct is None:
            correct = find_first(state.task, run.runner.progress)
            if correct is not None:
                run.board.resolve(state.number, correct)
        self._state.tasks = run.board.state

    @for_presenters
    def intruder(self) -> None:
        """Ask for the intruder among the words of a topic."""
        self._ask(lambda run, model: ask_intruder(model, run.runner.progress, self.tasks.number))

    @for_presenters
    def first(self, word: str) -> None:
        """Ask when a word first appears."""
        self._ask(lambda run, model: ask_first(word, model, run.runner.progress))

    @for_presenters
    def period(self) -> None:
        """Ask from which period a passage is."""

        def make(run: Run, model: Model) -> Task:
            read_text = partial(self._read_text, model.corpus.name)
            return ask_period(model.corpus, self.tasks.number, run.runner.progress.seed, read_text)

        self._ask(make)

    @for_presenters
    def rate(self) -> None:
        """Ask which κ predicts held-out words best."""
        self._ask(lambda run, model: ask_rate(run.runner.progress, model.config))

    @for_presenters
    def start_runs(self) -> None:
        """Run each value of κ that the current task offers; answers end."""
        run = self._commands.run
        model = self._commands.find_model()
        task = self.tasks.task
        if run is None or model is None or task is None or not self.tasks.needs_runs:
            return
        if run.sweep.is_running:
            self._commands.notify(OTHER_SWEEP)
            return
        settings = run.runner.progress.settings
        if task.run_id != model.run_id or settings is None:
            self._commands.notify(OTHER_RUN)
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
        """The text of a document; empty if the corpus has none, or it cannot be read."""
        try:
            if (texts := self.find_texts(corpus_name)) is not None:
                return texts.read([row])[0]
        except CorpusError as error:
            self._commands.notify(f"The passage is shown by its words: {error}")
        return ""

    def _ask(self, make: Callable[[Run, Model], Task]) -> None:
        run = self._commands.run
        if run is None:
            return
        model = run.runner.model()
        if model is None:
            self._commands.notify(NO_MODEL)
            return
        try:
            run.board.ask(make(run, model))
        except ClassTaskError as error:
            self._commands.notify(str(error))
            return
        run.notify()

    def suggest(self) -> list[str]:
        """Words that are worth asking about."""
        model = self._commands.find_model()
        return suggest_words(model) if model is not None else []

    @for_presenters
    def reveal(self) -> None:
        """Show the right answer on all pages."""
        run = self._commands.run
        if run is not None:
            run.board.reveal()
            run.notify()

    def answer(self, number: object, option: object) -> None:
        """Take the answer of this page; only a watcher answers."""
        run = self._commands.run
        if run is None or self._state.may_act:
            return
        run.board.answer(self.token, number, option)
        run.presenters.notify()
        self._state.tasks = run.board.state
