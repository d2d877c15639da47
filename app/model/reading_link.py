"""The shares of a reading in the kept run of the same model, if both become known in
either order.
"""

import logging
import threading

from stickbreaker.app.model.kept_runs import KeptRunError, KeptRuns
from stickbreaker.app.model.reading import Model, Reading

_log = logging.getLogger(__name__)


class ReadingLink:
    """Gives the kept run of a page the shares of its reading.

    The one that comes first waits for the other.
    """

    def __init__(self, kept: KeptRuns):
        self._kept = kept
        self._lock = threading.Lock()
        self._run: tuple[tuple[int, int], str] | None = None
        self._reading: Reading | None = None

    def take_run(self, key: str, model: Model) -> None:
        """Note the newest kept run, and which model it ended with."""
        with self._lock:
            self._run = (model.run_id, model.documents_seen), key
            self._join()

    def take_reading(self, reading: Reading) -> None:
        """Note the newest reading."""
        with self._lock:
            self._reading = reading
            self._join()

    def _join(self) -> None:
        if self._run is None or self._reading is None:
            return
        moment, key = self._run
        if moment != (self._reading.model.run_id, self._reading.model.documents_seen):
            return
        try:
            self._kept.take_reading(key, self._reading)
        except KeptRunError as error:
            _log.warning("The shares of a kept run could not be kept: %s", error)
        self._run = self._reading = None
