"""A process of its own for text that somebody brings: reading and counting it never holds up the page or a run.

It is asked one thing at a time, says how far it is, and can be told to stop. It holds the sample that word choices are
tried on, and ends with the page that it belongs to.
"""

import asyncio
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

from stickbreaker.app.model.text_tasks import Report, Stopped
from stickbreaker.engine.corpora.build import Columns
from stickbreaker.engine.corpora.corpus import CorpusError
from stickbreaker.engine.corpora.library import BuildRequest, OwnCorpus, build_own, export_own
from stickbreaker.engine.corpora.preview import Preview, preview
from stickbreaker.engine.corpora.words import WordChoices, WordEffect

# Each takes a process of some 150 MB.
MAX_WORKERS = 4
POLL_SECONDS = 0.03
REPORT_SECONDS = 0.1
PATIENCE_SECONDS = 3.0
STOP = "stop"

class Desk:
    """What the process can be asked; it remembers the file it looked at last.

    folder: where corpora are kept, by default as `engine.corpora.library.find_folder` says.
    """

    def __init__(self, report: Report, folder: Path | None = None):
        self._report, self._folder = report, folder
        self._seen: Preview | None = None

    def look(self, path: Path, columns: dict[str, str | None]) -> Preview:
        """Preview a file, with these columns (None: guess, "": none)."""
        before, self._seen = self._seen, None
        try:
            self._seen = preview(path, **columns, report=self._report)
        except Stopped:
            self._seen = before
            raise
        return self._seen.without_sample()

    def measure(self, words: WordChoices) -> WordEffect:
        """Try word choices on the file looked at."""
        if self._seen is None:
            raise CorpusError("There is no text to try word choices on: choose a file first.")
        return self._seen.measure(words)

    def build(self, path: Path, name: str, columns: Columns, words: WordChoices, keeps_text: bool) -> OwnCorpus:
        """Build a corpus and keep it; whoever watches a run meanwhile comes first."""
        if hasattr(os, "nice"):
            os.nice(5)
        return build_own(BuildRequest(path, name, columns, words, keeps_text), self._report, self._folder)[0]

    def export(self, name: str, target: Path) -> Path:
        """Write a corpus as one Parquet file."""
        return export_own(name, target, self._folder)


def work(pipe: Any, folder: Path | None = None) -> None:
    """Answer until nobody asks any more; the body of the process."""
    told_at = 0.0

    def report(share: float, said: str) -> None:
        nonlocal told_at
        if time.monotonic() - told_at >= REPORT_SECONDS or share == 1.0:
            told_at = time.monotonic()
            pipe.send(("report", (share, said)))
        if pipe.poll() and pipe.recv() == STOP:
            raise Stopped

    desk = Desk(report, folder)
    while True:
        try:
            asked = pipe.recv()
        except (EOFError, OSError):
            return
        if asked == STOP:
            continue
        task, arguments = asked
        try:
            answer = ("done", getattr(desk, task)(*arguments))
        except Stopped:
            answer = ("stopped", None)
        except (CorpusError, ValueError) as error:
            answer = ("refused", str(error))
        except MemoryError:
            answer = ("refused", "There is not enough memory for this file: part it, or take a sample of it.")
        except Exception as error:
            answer = ("refused", f"This did not work: {type(error).__name__}: {error}")
        pipe.send(answer)


class TextWorker:
    """The page's end of the process, which begins with the first question. Use it from one event loop only."""

    num_open = 0

    def __init__(self, folder: Path | None = None):
        self._folder = folder
        self._process: Any = None
        self._pipe: Any = None
        self._turn = asyncio.Lock()
        self._is_asked = False

    async def ask(self, task: str, *arguments: Any, report: Report = lambda share, said: None) -> Any:
        """Do one of the `Desk`'s tasks and return its answer.

        Raises CorpusError with what the process refused, Stopped after `stop`.
        """
        async with self._turn:
            await self._start()
            self._is_asked = True
            try:
                self._pipe.send((task, arguments))
                return await self._listen(report)
            finally:
                self._is_asked = False

    async def _start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        self.close()
        if TextWorker.num_open >= MAX_WORKERS:
            raise CorpusError(f"{MAX_WORKERS} others are bringing text to this server: wait until one has done.")
        TextWorker.num_open += 1
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs, self._folder), name="text_worker", daemon=True)
        await asyncio.to_thread(self._process.start)
        theirs.close()

    async def _listen(self, report: Report) -> Any:
        while True:
            try:
                while not self._pipe.poll():
                    if not self._process.is_alive():
                        raise EOFError
                    await asyncio.sleep(POLL_SECONDS)
                kind, content = self._pipe.recv()
            except (EOFError, OSError, AttributeError) as error:
                self.close()
                raise Stopped from error
            if kind == "report":
                report(*content)
                # Another message may wait already, and so may the page.
                await asyncio.sleep(0)
            elif kind == "done":
                return content
            elif kind == "stopped":
                raise Stopped
            else:
                raise CorpusError(content)

    async def stop(self) -> None:
        """Cancel what is being done; a process that does not listen is ended."""
        if not self._is_asked:
            return
        self._pipe.send(STOP)
        waited = 0.0
        while self._is_asked and waited < PATIENCE_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            waited += POLL_SECONDS
        if self._is_asked and self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process; whoever waits for an answer is told that it was stopped."""
        process, self._process = self._process, None
        if process is not None:
            TextWorker.num_open -= 1
            process.kill()
            self._pipe.close()
