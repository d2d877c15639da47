"""The tasks of the class that watches a run: any page reads them; changes are made one by one."""

import threading
from collections.abc import Callable

from stickbreaker.app.model.class_tasks import ClassState, Task
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import SweepState


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
