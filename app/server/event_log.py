"""A log of what happens on the server, one JSON object per line, and the counts of the same events.

It is written to the file named by STICKBREAKER_LOG. It has no texts, no names of corpora or users,
and no tokens.
"""

import json
import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from stickbreaker.app.model.limits import LIMITS, find_fault
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.sweep_plan import SweepState

LOG_VARIABLE = "STICKBREAKER_LOG"
LETTERS = 8
EVENTS = (
    "page_opened",
    "page_closed",
    "page_error",
    "run_started",
    "run_restored",
    "run_finished",
    "run_failed",
    "run_not_saved",
    "run_not_kept",
    "sweep_run_failed",
    "reading_failed",
    "text_failed",
    "upload_failed",
    "export_failed",
    "limit_reached",
    "login_failed",
    "login_delayed",
    "stream_failed",
    "stream_not_saved",
)
# The events of statuses in which a run has ended.
ENDS = {"finished": "run_finished", "failed": "run_failed"}
LIMIT_NAMES = {limit.name for limit in LIMITS}

_log = logging.getLogger("stickbreaker.events")


class EventLog:
    """Counts events, and writes each as a line of JSON; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter(dict.fromkeys(EVENTS, 0))

    def write(self, event: str, run: str = "", **facts: Any) -> None:
        """Count and write an event of `EVENTS`, with a digest of the run's key."""
        with self._lock:
            self._counts[event] += 1
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        if run:
            facts = {"run": sha256(run.encode()).hexdigest()[:LETTERS], **facts}
        _log.info(json.dumps({"time": when, "event": event, **facts}))

    def write_fault(self, event: str, fault: str, run: str = "") -> None:
        """Count and write a failure or a reached limit, as `find_fault` gives it."""
        if fault in LIMIT_NAMES:
            self.write("limit_reached", run, limit=fault)
        else:
            self.write(event, run, fault=fault)

    def counts(self) -> dict[str, int]:
        """The number of events of each kind since the start."""
        with self._lock:
            return dict(self._counts)


class RunEvents:
    """Writes what happens to one run, its readings and its sweep, once; safe from any thread.

    key: of the run. told, sweep: the run with its status and the sweep with which it begins, so
    that what had ended is counted once.
    """

    def __init__(
        self,
        log: EventLog,
        key: str,
        told: tuple[Any, str] = (0, ""),
        sweep: SweepState | None = None,
    ):
        self._log = log
        self._key = key
        self._told = told
        self._lock = threading.Lock()
        self._reading: ReadingJob | None = None
        self._num_points = len(sweep.points) if sweep is not None else 0

    def look(self, progress: Progress, reading: ReadingJob, sweep: SweepState) -> None:
        """Write what has ended or failed since the last call."""
        with self._lock:
            told = self._told
            self._told = (progress.run_id, progress.status)
            has_ended = progress.status in ENDS and told != self._told
            before = self._reading
            self._reading = reading
            points = sweep.points[self._num_points :]
            self._num_points = len(sweep.points)
        if has_ended:
            self._log.write(ENDS[progress.status], self._key, **_describe(progress))
        if reading.status == "failed" and reading is not before:
            self._log.write_fault("reading_failed", _name_fault(reading.message), self._key)
        for point in points:
            if point.status == "failed":
                self._log.write_fault("sweep_run_failed", _name_fault(point.message), self._key)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Write that the run could not be kept if this block raises an error."""
        try:
            yield
        except Exception as error:
            self._log.write_fault("run_not_kept", find_fault(error), self._key)
            raise


def _describe(progress: Progress) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "algorithm": progress.algorithm,
        "documents": progress.documents_seen,
        "seconds": round(progress.seconds, 3),
    }
    if progress.status == "failed":
        facts["fault"] = _name_fault(progress.message)
    return facts


def _name_fault(message: str) -> str:
    """The type of an error: its message may contain a text."""
    return message.partition(":")[0]


def open_log() -> None:
    """Write the events to the file named by STICKBREAKER_LOG, if there is one."""
    path = os.environ.get(LOG_VARIABLE)
    if path and not any(isinstance(handler, logging.FileHandler) for handler in _log.handlers):
        handler = logging.FileHandler(path, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)
    _log.propagate = False
