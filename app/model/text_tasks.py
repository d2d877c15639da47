"""What a view may ask of the process that reads and builds text, and how a cancelled task ends."""

from collections.abc import Callable
from typing import Any, Protocol

Report = Callable[[float, str], None]


class Stopped(Exception):
    """The task was cancelled."""


class TextTasks(Protocol):
    """Reads, measures, builds and exports text, one task at a time; `server.text_worker.TextWorker` does this.

    user: who asks; None without logins.
    """

    user: str | None

    async def ask(self, task: str, *arguments: Any, report: Report = ...) -> Any:
        """Do a task and return its result. Raises CorpusError if it is refused, Stopped if it is cancelled."""

    async def stop(self) -> None:
        """Cancel the current task."""

    def close(self) -> None:
        """Release the resources of the tasks."""
