"""Keeps a run on the disk of its user, and what belongs to it: readings, names, a sweep."""

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from scipy.sparse import csr_array

from stickbreaker.app.model.disk_space import UserFiles, limit_kept_models, limit_saved_readings
from stickbreaker.app.model.kept_runs import KeptRunError, KeptRuns
from stickbreaker.app.model.other_runs import NUM_RUNS, OtherRuns
from stickbreaker.app.model.reading import Model, Reading
from stickbreaker.app.model.run_store import Ending, RunStore
from stickbreaker.app.model.saved_runs import Address, SavedRun
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.model.topic_names import NamedTopic
from stickbreaker.app.server.event_log import RunEvents
from stickbreaker.app.server.saver import Saver
from stickbreaker.app.server.visitors import list_data
from stickbreaker.engine.files.whole_files import Claim
from stickbreaker.engine.runs.checkpoint import Checkpoint

CONSENSUS_NAME = f"Consensus of {NUM_RUNS} runs"

_log = logging.getLogger(__name__)


class ReadingLink:
    """Gives the kept run of a page the shares of its reading; the first that comes waits."""

    def __init__(self, kept: KeptRuns):
        self._kept = kept
        self._lock = threading.Lock()
        self._run: tuple[tuple[Any, int, int], str] | None = None
        self._reading: Reading | None = None

    def take_run(self, key: str, model: Model) -> None:
        """Note the newest kept run, and which model it ended with."""
        with self._lock:
            self._run = model.key, key
            self._join()

    def take_reading(self, reading: Reading) -> None:
        """Note the newest reading."""
        with self._lock:
            self._reading = reading
            self._join()

    def _join(self) -> None:
        if self._run is None or self._reading is None:
            return
        model_key, key = self._run
        if model_key != self._reading.model.key:
            return
        try:
            self._kept.take_reading(key, self._reading)
        except KeptRunError as error:
            _log.warning("The shares of a kept run could not be kept: %s", error)
        self._run = self._reading = None


class DiskStore(RunStore):
    """The store of a run whose address this process claims, so that no other server opens it."""

    def __init__(
        self,
        address: Address,
        files: UserFiles,
        saver: Saver,
        events: RunEvents,
        claim: Claim | None,
    ):
        self._address = address
        self._files = files
        self._saver = saver
        self._events = events
        self._link = ReadingLink(files.kept)
        self._claim = claim or files.runs.claim(address.file_name) or Claim()

    def save(self, checkpoint: Checkpoint) -> None:
        self._saver.save(
            self._files.runs, SavedRun(**self._address._asdict(), checkpoint=checkpoint)
        )

    def keep(self, ending: Ending, sweep: str = "") -> None:
        with self._events.keeping():
            key, progress, model, checkpoint = ending
            kept = self._files.kept.keep(progress, model, sweep, key, checkpoint)
        if kept is not None:
            limit_kept_models(list_data())
            if not sweep:
                self._link.take_run(ending.key, ending.model)

    def keep_consensus(self, ending: Ending) -> None:
        key, progress, model, checkpoint = ending
        if self._files.kept.has(key):
            return
        with self._events.keeping():
            self._files.kept.keep(progress, model, key=key, checkpoint=checkpoint)
            self._files.kept.rename(key, CONSENSUS_NAME)
        limit_kept_models(list_data())

    def name_topics(self, key: str, names: Mapping[int, str]) -> None:
        self._files.kept.name_topics(key, names)

    def reopen(self, key: str, model: Model) -> None:
        self._link.take_run(key, model)

    def keep_names(
        self, corpus_name: str, topics: Sequence[NamedTopic], forgotten: Collection[str]
    ) -> None:
        self._files.names.change(corpus_name, topics, forgotten)

    def find_names(self, corpus_name: str) -> Sequence[NamedTopic]:
        return self._files.names.read(corpus_name)

    def find_shares(self, model: Model) -> csr_array | None:
        return self._files.readings.find(model)

    def keep_reading(self, reading: Reading, is_new: bool) -> None:
        self._link.take_reading(reading)
        if is_new and reading.doc_shares is not None:
            self._files.readings.write(reading.model, reading.doc_shares)
            limit_saved_readings(list_data())

    def keep_again(self, model: Model, again: OtherRuns) -> None:
        self._files.readings.write_again(model, again)

    def find_again(self, model: Model) -> OtherRuns | None:
        return self._files.readings.find_again(model)

    def save_sweep(self, state: SweepState) -> None:
        self._files.sweeps.write(self._address.key, state)

    def close(self) -> None:
        self._saver.release(self._address.key, self._claim)
