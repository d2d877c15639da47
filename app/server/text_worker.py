"""A process that reads and counts a user's text, so that this never blocks a page or a run.

It does one task at a time and ends with its page. A `ProcessPoolExecutor` cannot end a running task
(only from Python 3.14 on), delays the server's exit until the task is done, and leaves its process
behind if the server is killed.
"""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, ClassVar, TypeVar, TypeVarTuple

from stickbreaker.app.model.limits import (
    TEXT_MEMORY,
    TEXT_PROCESSES,
    TEXT_PROCESSES_PER_USER,
    LimitReachedError,
    find_fault,
    find_limit,
    write_bytes,
)
from stickbreaker.app.model.text_tasks import Report, Stopped, TextTaskRunner
from stickbreaker.engine.corpora.rows import CorpusError

# Of a process that has built a corpus: the runs of the server go first.
NICENESS = 5
MANY = (
    "{} pages are importing text, which is the maximum of this server: try again when one of them"
    " has been closed."
)
MANY_OF_USER = (
    "You have {} pages that are importing text, which is the maximum for each user: close one of"
    " them."
)
MUCH_MEMORY = (
    "Reading this file needs more than {} of memory, which is the limit (STICKBREAKER_TEXT_MEMORY):"
    " split it, or take a sample of it."
)
POLL_SECONDS = 0.03
REPORT_SECONDS = 0.1
PATIENCE_SECONDS = 3.0
STOP = "stop"

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


def work(pipe: "Connection[Any, Any]", folder: Path | None = None) -> None:
    """Do tasks until the page or the server ends; this is the main function of the process."""
    # What reads files is loaded first, so that a file reaches the limit of memory and not a
    # library.
    for library in ("pandas", "pyarrow.parquet", "python_calamine"):
        import_module(library)
    _limit_memory()
    last_report = 0.0

    def report(share: float, text: str) -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= REPORT_SECONDS or share == 1.0:
            last_report = time.monotonic()
            pipe.send(("report", (share, text)))
        if pipe.poll() and pipe.recv() == STOP:
            raise Stopped

    tasks = TextTaskRunner(report, folder)
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        # The task that this was meant for has ended in the meantime.
        if message == STOP:
            continue
        task, arguments = message
        if task is TextTaskRunner.build:
            _lower_priority()
        pipe.send(_answer(tasks, task, arguments))


def _lower_priority() -> None:
    """Take `NICENESS`; a second call changes nothing."""
    if sys.platform != "win32":
        os.nice(max(0, NICENESS - os.nice(0)))


def _limit_memory() -> None:
    """Limit the memory of this process, where the system can."""
    if sys.platform == "linux":
        import resource

        most = find_limit(TEXT_MEMORY)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _answer(
    tasks: TextTaskRunner, task: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[str, Any]:
    """Return "done" with a result, "stopped", or "refused" with a reason and a fault."""
    try:
        return "done", task(tasks, *arguments)
    except Stopped:
        return "stopped", None
    except (CorpusError, ValueError) as error:
        return "refused", (str(error), find_fault(error))
    except MemoryError:
        return "refused", (_explain_memory(), TEXT_MEMORY.name)
    except Exception as error:
        return "refused", (f"Unexpected error: {type(error).__name__}: {error}", find_fault(error))


def _explain_memory() -> str:
    return MUCH_MEMORY.format(write_bytes(find_limit(TEXT_MEMORY)))


class TextWorker:
    """The page's side of the process, which starts with the first task; for one event loop.

    user: who asks; None without logins. users: those of the processes that are open. note(fault):
    called for each refusal, with its fault as `find_fault` gives it.
    """

    users: ClassVar[list[str | None]] = []

    def __init__(
        self,
        folder: Path | None = None,
        user: str | None = None,
        note: Callable[[str], None] = lambda fault: None,
    ):
        self._folder = folder
        self.user = user
        self._note = note
        self.process: SpawnProcess | None = None
        self._pipe: Connection[Any, Any] | None = None
        self._lock = asyncio.Lock()
        self._is_asked = False

    async def ask(
        self,
        task: Callable[[TextTaskRunner, *Arguments], Result],
        *arguments: *Arguments,
        report: Report = lambda share, text: None,
    ) -> Result:
        """Do one of the tasks of `TextTaskRunner` and return its result.

        Raises CorpusError with the reason of a refusal, Stopped after `stop` or if the process
        ends.
        """
        async with self._lock:
            process, pipe = await self._start()
            self._is_asked = True
            try:
                pipe.send((task, arguments))
                result: Result = await self._listen(process, pipe, report)
                return result
            except (EOFError, OSError) as error:
                self.close()
                await asyncio.to_thread(process.join, PATIENCE_SECONDS)
                # Libraries in C++ abort the process if they get no memory.
                if process.exitcode == -signal.SIGABRT:
                    self._note(TEXT_MEMORY.name)
                    raise CorpusError(_explain_memory()) from error
                raise Stopped from error
            finally:
                self._is_asked = False

    async def _start(self) -> "tuple[SpawnProcess, Connection[Any, Any]]":
        """Return the process and its pipe; start them unless they are running."""
        if self.process is not None and self._pipe is not None and self.process.is_alive():
            return self.process, self._pipe
        self.close()
        try:
            self._check_number()
        except LimitReachedError as error:
            self._note(find_fault(error))
            raise
        TextWorker.users.append(self.user)
        context = multiprocessing.get_context("spawn")
        pipe, far_end = context.Pipe()
        process = context.Process(
            target=work, args=(far_end, self._folder), name="text_worker", daemon=True
        )
        self.process = process
        self._pipe = pipe
        await asyncio.to_thread(process.start)
        far_end.close()
        # The page may have closed during the start.
        if self.process is not process:
            process.kill()
            raise Stopped
        return process, pipe

    def _check_number(self) -> None:
        """Raise LimitReachedError if there are too many processes, in total or of the user."""
        most = find_limit(TEXT_PROCESSES_PER_USER)
        if self.user is not None and TextWorker.users.count(self.user) >= most:
            raise LimitReachedError(TEXT_PROCESSES_PER_USER, MANY_OF_USER.format(most))
        if len(TextWorker.users) >= (most := find_limit(TEXT_PROCESSES)):
            raise LimitReachedError(TEXT_PROCESSES, MANY.format(most))

    async def _listen(
        self, process: SpawnProcess, pipe: "Connection[Any, Any]", report: Report
    ) -> Any:
        """Pass reports on until the result comes; EOFError or OSError if the process has ended."""
        while True:
            while not pipe.poll():
                if not process.is_alive():
                    raise EOFError
                await asyncio.sleep(POLL_SECONDS)
            kind, content = pipe.recv()
            if kind == "report":
                report(*content)
                # The next message may be there already; the page's other events come first.
                await asyncio.sleep(0)
            elif kind == "done":
                return content
            elif kind == "stopped":
                raise Stopped
            else:
                reason, fault = content
                self._note(fault)
                raise CorpusError(reason)

    async def stop(self) -> None:
        """Cancel the current task; a process that does not react in time is killed."""
        if not self._is_asked or self.process is None or self._pipe is None:
            return
        process = self.process
        with contextlib.suppress(OSError):
            self._pipe.send(STOP)
        waited = 0.0
        while self._is_asked and waited < PATIENCE_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
        if self._is_asked:
            process.kill()

    def close(self) -> None:
        """End the process; a task that is waited for raises Stopped."""
        process = self.process
        pipe = self._pipe
        self.process = self._pipe = None
        if process is not None and pipe is not None:
            TextWorker.users.remove(self.user)
            pipe.close()
            if process.pid is not None:
                process.kill()
