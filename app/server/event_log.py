"""A log of what happens on the server, one JSON object per line, and the counts of the same events.

It is written to the file named by STICKBREAKER_LOG. It has no texts, no names of corpora or users, and no tokens.
"""

import json
import logging
import os
import threading
from collections import Counter
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

LOG_VARIABLE = "STICKBREAKER_LOG"
LETTERS = 8
EVENTS = ("page_opened", "page_closed", "run_started", "run_restored", "run_finished", "run_failed", "run_not_saved")

_log = logging.getLogger("stickbreaker.events")


class EventLog:
    """Counts events, and writes each as a line of JSON; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter(dict.fromkeys(EVENTS, 0))

    def write(self, event: str, run: str, **facts: Any) -> None:
        """Count an event of `EVENTS` and write it; run: the key of a run, of which the log has a digest."""
        with self._lock:
            self._counts[event] += 1
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        key = sha256(run.encode()).hexdigest()[:LETTERS]
        _log.info(json.dumps({"time": when, "event": event, "run": key, **facts}))

    def counts(self) -> dict[str, int]:
        """The number of events of each kind since the start."""
        with self._lock:
            return dict(self._counts)


def open_log() -> None:
    """Write the events to the file named by STICKBREAKER_LOG, if there is one. Raises OSError if that is impossible."""
    path = os.environ.get(LOG_VARIABLE)
    if path and not any(isinstance(handler, logging.FileHandler) for handler in _log.handlers):
        handler = logging.FileHandler(path, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(message)s"))
        _log.addHandler(handler)
        _log.setLevel(logging.INFO)
    _log.propagate = False
