"""What a change of settings did: the run goes on beside itself with the settings before it."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from stickbreaker.app.model.progress import FORECAST, Progress
from stickbreaker.app.model.record import Record
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import POLL_SECONDS, PUBLISH_SECONDS
from stickbreaker.engine.corpora.stored import StoredCorpus
from stickbreaker.engine.runs.checkpoint import Checkpoint

_log = logging.getLogger(__name__)


class Forecaster:
    """Learns the rest of a run with the settings before its last change, in the background.

    `forecast` has the progress of that, or nothing; `notify` is called when it changes.
    """

    def __init__(
        self,
        notify: Callable[[], None],
        cpu_queue: CpuQueue,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._notify = notify
        self._cpu_queue = cpu_queue
        self._clock = clock
        # Ends the present forecast; a later one has an event of its own.
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # The run and its documents at the change; another change there has the same forecast.
        self._place: tuple[int, int] | None = None
        self.forecast: tuple[Progress, ...] = ()

    def start(self, record: Record | None) -> None:
        """Go on from a run whose settings are about to change; None: end with the run.

        Corpora on disk have no forecast: they are read for minutes or hours.
        """
        place = None if record is None else (record.run_id, record.documents_seen)
        if place is not None and place == self._place:
            return
        self.close()
        self._place = place
        saved = None if record is None or record.is_over else record.save()
        if record is None or saved is None or isinstance(record.corpus, StoredCorpus):
            return
        corpus, prepared = record.corpus, record.prepared
        assert corpus is not None
        assert prepared is not None
        twin = Record(record.spec, record.run_id, self._clock)
        twin.open(corpus, prepared.with_config(record.spec.config))
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._work, args=(twin, saved, self._stop), name="forecast", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the forecast after its present mini-batch, and drop it."""
        with self._lock:
            self._stop.set()
            self.forecast = ()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the present forecast has ended."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _work(self, twin: Record, saved: Checkpoint, stop: threading.Event) -> None:
        try:
            twin.restore(saved)
            published_at = self._clock()
            while not (twin.is_over or stop.is_set()):
                if self._cpu_queue.take(stop):
                    stop.wait(POLL_SECONDS)
                    continue
                twin.start_step()
                twin.advance()
                if twin.is_over or self._clock() - published_at >= PUBLISH_SECONDS:
                    published_at = self._clock()
                    self._publish(twin, stop)
        except Exception:
            _log.exception("The run could not go on with the settings before the change")
        finally:
            twin.close()
            self._cpu_queue.leave(stop)

    def _publish(self, twin: Record, stop: threading.Event) -> None:
        progress = replace(twin.progress(0), status=FORECAST)
        with self._lock:
            if stop.is_set():
                return
            self.forecast = (progress,)
        self._notify()
