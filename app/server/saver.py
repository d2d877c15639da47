"""Saves runs in the background, so that learning does not wait for the disk."""

import logging
import threading
from collections.abc import Callable

from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns

LONGEST_FLUSH_SECONDS = 10.0

_log = logging.getLogger(__name__)


class Saver:
    """One thread that writes runs. Of a run that is handed over again before it is written, the newest is written.

    on_fault(run key, sentence): called with what went wrong, and with an empty sentence after the next success.
    """

    def __init__(self, on_fault: Callable[[str, str], None] = lambda key, sentence: None):
        self._on_fault = on_fault
        self._changed = threading.Condition()
        self._waiting: dict[str, tuple[SavedRuns, SavedRun]] = {}
        self._is_writing = self._is_closed = False
        self._thread: threading.Thread | None = None

    def save(self, saved_runs: SavedRuns, run: SavedRun) -> None:
        """Hand over a run; returns at once. After `close` the run is written before this returns."""
        with self._changed:
            if self._is_closed:
                return self._write(saved_runs, run)
            self._waiting[run.key] = (saved_runs, run)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="saver", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, seconds: float = LONGEST_FLUSH_SECONDS) -> bool:
        """Wait until everything that was handed over is written; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._is_writing, seconds)

    def close(self) -> None:
        """Write what is left, and end the thread."""
        self.flush()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
                saved_runs, run = self._waiting.pop(next(iter(self._waiting)))
                self._is_writing = True
            self._write(saved_runs, run)

    def _write(self, saved_runs: SavedRuns, run: SavedRun) -> None:
        try:
            saved_runs.write(run)
            self._on_fault(run.key, "")
        except Exception as error:
            _log.warning("A run could not be saved: %s", error)
            self._on_fault(run.key, str(error))
