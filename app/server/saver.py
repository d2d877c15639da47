"""Saves runs in the background, so that learning does not wait for the disk."""

import errno
import logging
import threading
import time
from collections.abc import Callable

from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.engine.files.whole_files import Claim

LONGEST_FLUSH_SECONDS = 10.0
RETRY_SECONDS = 30.0
UNSAVED = "This run could not be saved: {}. {}. Saving is tried again every {:.0f} s."
FREE = "Free some space on the disk of the server"
UNLOCK = "Make the data folder of the server writable"
REMEDIES = {
    errno.ENOSPC: FREE,
    errno.EDQUOT: FREE,
    errno.EROFS: UNLOCK,
    errno.EACCES: UNLOCK,
    errno.EPERM: UNLOCK,
}

_log = logging.getLogger(__name__)


class Saver:
    """One thread that writes the newest state of runs, again if it could not be written.

    on_fault(run key, sentence): called with what went wrong, and with an empty sentence after the
    next success.
    """

    def __init__(
        self,
        on_fault: Callable[[str, str], None] = lambda key, sentence: None,
        retry_seconds: float = RETRY_SECONDS,
    ):
        self._on_fault = on_fault
        self._retry_seconds = retry_seconds
        self._changed = threading.Condition()
        self._waiting: dict[str, tuple[SavedRuns, SavedRun]] = {}
        self._failed: dict[str, tuple[SavedRuns, SavedRun]] = {}
        self._claims: dict[str, Claim] = {}
        self._written = ""
        self._retry_at = float("inf")
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def save(self, saved_runs: SavedRuns, run: SavedRun) -> None:
        """Write a run soon, in the background; after `close`, at once."""
        with self._changed:
            if not self._is_closed:
                self._failed.pop(run.key, None)
                self._waiting[run.key] = (saved_runs, run)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._work, name="saver", daemon=True)
                    self._thread.start()
                self._changed.notify_all()
                return
        self._write(saved_runs, run)

    def release(self, key: str, claim: Claim) -> None:
        """Close the claim of a run that has ended, once every state of it is written."""
        with self._changed:
            self._claims[key] = claim
            self._close_claims()

    def flush(self, seconds: float = LONGEST_FLUSH_SECONDS) -> bool:
        """Wait until everything is written, or has failed; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._written, seconds)

    def close(self) -> None:
        """Write what is left, try once more what has failed, and end the thread."""
        with self._changed:
            self._retry_at = float("-inf")
            self._changed.notify_all()
            self._retry()
        self.flush()
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._close_claims()
                self._changed.notify_all()
                wait = None if not self._failed else max(0.0, self._retry_at - time.monotonic())
                self._changed.wait_for(lambda: self._waiting or self._is_closed, wait)
                self._retry()
                if not self._waiting:
                    if self._is_closed:
                        self._failed.clear()
                        return self._close_claims()
                    continue
                self._written = next(iter(self._waiting))
                saved_runs, run = self._waiting.pop(self._written)
            is_written = self._write(saved_runs, run)
            with self._changed:
                if not is_written and self._written not in self._waiting:
                    self._failed[self._written] = (saved_runs, run)
                    self._retry_at = time.monotonic() + self._retry_seconds
                self._written = ""

    def _retry(self) -> None:
        """Write again what has failed, if it is time; the lock is held."""
        if time.monotonic() >= self._retry_at:
            self._waiting = self._failed | self._waiting
            self._failed = {}
            self._retry_at = float("inf")

    def _close_claims(self) -> None:
        """Close the claims of runs of which nothing is left to write; the lock is held."""
        for key in self._claims.keys() - {*self._waiting, *self._failed, self._written}:
            self._claims.pop(key).close()

    def _write(self, saved_runs: SavedRuns, run: SavedRun) -> bool:
        fault = ""
        try:
            saved_runs.write(run)
        except Exception as error:
            _log.warning("A run could not be saved: %s", error)
            fault = describe_fault(error, self._retry_seconds)
        try:
            self._on_fault(run.key, fault)
        except Exception:
            _log.exception("The result of saving a run could not be reported")
        return not fault


def describe_fault(error: BaseException, retry_seconds: float = RETRY_SECONDS) -> str:
    """Say why a run could not be saved and what to do, without names of folders."""
    cause: BaseException | None = error
    while cause is not None and not (isinstance(cause, OSError) and cause.errno):
        cause = cause.__cause__
    number = getattr(cause, "errno", 0)
    reason = getattr(cause, "strerror", "")
    remedy = REMEDIES.get(number, "Check the disk of the server")
    return UNSAVED.format(reason or type(error).__name__, remedy, retry_seconds)
