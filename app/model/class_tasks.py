"""Tasks for a class: questions with options, and how often each option was chosen."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState

KINDS = ("word intrusion", "first column of a word", "period of a passage", "best forgetting rate")
INTRUDER, FIRST, PERIOD, RATE = KINDS
# Pages are cheap to open, so one browser could answer often: more answers to one task are refused.
MAX_ANSWERS = 500
MAX_RESULTS = 500


class ClassTaskError(ValueError):
    """A task that cannot be asked now; the message says why and what to do."""


@dataclass(frozen=True)
class Task:
    """A question for a class.

    kind: one of `KINDS`. shown: the words or the passage that it asks about. correct: the place of
    the right option; None while it is not known. run_id, topic_id and label say what it was made
    from; topic_id is None if no topic is asked about. word and columns (documents seen, one per
    option but the last) belong to `FIRST`, and rates (κ, one per option) to `RATE`. is_prediction:
    the answer was not known when the question was asked, so answers end when it is.
    """

    kind: str
    question: str
    options: tuple[str, ...]
    shown: str = ""
    correct: int | None = None
    run_id: int | tuple[str, str] = 0
    topic_id: int | None = None
    label: str = ""
    word: int = -1
    columns: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()
    is_prediction: bool = False


class Result(NamedTuple):
    """A task that was asked, with the number of answers for each option."""

    number: int
    task: Task
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ClassState:
    """The task that a class works on and those before it; replaced as a whole.

    number: of the current task, from 1; 0 before the first. answers: the chosen option by the token
    of a page. results: earlier tasks with at least one answer, the oldest first. plan: the runs
    that give the answer to a `RATE` task, one per option, once they have been started; points:
    those of them that have ended.
    """

    number: int = 0
    task: Task | None = None
    is_revealed: bool = False
    answers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    results: tuple[Result, ...] = ()
    plan: tuple[RunSpec, ...] = ()
    points: tuple[SweepPoint, ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of answers for each option of the current task."""
        chosen = list(self.answers.values())
        options = self.task.options if self.task is not None else ()
        return tuple(map(chosen.count, range(len(options))))

    @property
    def is_open(self) -> bool:
        """Whether answers are accepted: until it is revealed, decided, or its runs begin."""
        task = self.task
        if task is None or self.is_revealed or self.plan:
            return False
        return not task.is_prediction or task.correct is None

    @property
    def needs_runs(self) -> bool:
        """Whether the answer to the current task is found by runs that have not ended."""
        return self.task is not None and self.task.kind == RATE and self.task.correct is None

    @property
    def all_results(self) -> tuple[Result, ...]:
        """All tasks with answers, the present one once its answer is revealed."""
        if self.task is None or not self.is_revealed or not self.answers:
            return self.results
        return (*self.results, Result(number=self.number, task=self.task, counts=self.counts))

    def ask(self, task: Task) -> "ClassState":
        """The state with a new task; the present one is kept if it has a result."""
        return ClassState(
            number=self.number + 1, task=task, results=self.all_results[-MAX_RESULTS:]
        )

    def answer(self, page: str, number: object, option: object) -> "ClassState":
        """The state with a valid answer of a page, which may change while the task is open.

        >>> state = ClassState().ask(Task(PERIOD, "When?", ("1790", "1890"), correct=1))
        >>> state.answer("page", 1, 0).answer("page", 1, 1).counts, state.answer("page", 1,
        ...     2) is state
        ((0, 1), True)
        """
        if self.task is None or not self.is_open or not _is_whole(number) or not _is_whole(option):
            return self
        is_valid = number == self.number and option in range(len(self.task.options))
        if not is_valid or (page not in self.answers and len(self.answers) >= MAX_ANSWERS):
            return self
        return replace(self, answers=MappingProxyType({**self.answers, page: int(str(option))}))

    def begin(self, plan: tuple[RunSpec, ...]) -> "ClassState":
        """The state once the runs that give the answer are started; answers end."""
        return replace(self, plan=plan, points=()) if self.needs_runs else self

    def follow(self, sweep: SweepState) -> "ClassState":
        """The state after the runs of a sweep, the last of which tells the right option."""
        if not self.needs_runs or not self.plan or sweep.plan != self.plan:
            return self
        state = self if sweep.points == self.points else replace(self, points=sweep.points)
        places = enumerate(sweep.points)
        scores = [(each.heldout, -place) for place, each in places if each.heldout is not None]
        if sweep.status != "finished" or not scores:
            return state
        return state.resolve(-max(scores)[1])

    def resolve(self, correct: int) -> "ClassState":
        """The state once the right option of the current task is known."""
        if self.task is None or self.task.correct is not None:
            return self
        return replace(self, task=replace(self.task, correct=correct))

    def reveal(self) -> "ClassState":
        """The state with the right option shown, if it is known."""
        if self.task is None or self.task.correct is None:
            return self
        return replace(self, is_revealed=True)


class ClassBoard:
    """Holds the state, in memory only; read `state` from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.state = ClassState()

    def ask(self, task: Task) -> None:
        """Ask the class a question; the one before it is closed."""
        self._change(lambda state: state.ask(task))

    def answer(self, page: str, number: object, option: object) -> None:
        """Take a valid answer of a page to the task of this number."""
        self._change(lambda state: state.answer(page, number, option))

    def resolve(self, number: int, correct: int) -> None:
        """Note the right option of the current task, once it is known."""
        self._change(lambda state: state.resolve(correct) if state.number == number else state)

    def begin(self, plan: tuple[RunSpec, ...]) -> None:
        """Note that these runs, which give the answer to the current task, are started."""
        self._change(lambda state: state.begin(plan))

    def follow(self, sweep: SweepState) -> None:
        """Note how far they are."""
        self._change(lambda state: state.follow(sweep))

    def reveal(self) -> None:
        """Show the right option to the class, if it is known; answers end."""
        self._change(lambda state: state.reveal())

    def _change(self, change: Callable[[ClassState], ClassState]) -> None:
        with self._lock:
            self.state = change(self.state)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
