"""What a view may ask of whoever reads and builds text in the background, and how a cancelled task ends."""

from collections.abc import Callable
from typing import Any, Protocol

Report = Callable[[float, str], None]


class Stopped(Exception):
    """The task was cancelled."""


class TextTasks(Protocol):
    """Reads, measures, builds and exports text, one task at a time; `server.text_worker.TextWorker` is one."""

    async def ask(self, task: str, *arguments: Any, report: Report = ...) -> Any:
        """Do a task and return its answer. Raises CorpusError if it is refused, Stopped if it is cancelled."""

    async def stop(self) -> None:
        """Cancel the present task."""

    def close(self) -> None:
        """Release what the tasks hold."""
