"""The thread that pulls one run: the only writer of its progress.

Commands set requests under a lock and return at once; the thread reads them between mini-batches. Each turn of its loop
looks at what is requested for and does one thing: begin, change a setting, wait, or learn from one mini-batch.
"""

import logging
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec, title_corpus
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue

PUBLISH_SECONDS = 0.2
# As fast as it goes, what the pages take to draw is missing to the engine.
HURRIED_PUBLISH_SECONDS = 1.0
POLL_SECONDS = 0.2
PASS_SECONDS = 60.0
MAX_LAG_SECONDS = 0.5
LONG_PAUSE_SECONDS = 15.0
PAUSE = "The next step waits for the pace, one every {:.0f} s: a faster one can be chosen."
MAX_EARLIER = 6

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Engine:
    """The engine as a runner needs it.

    load(corpus_name) -> corpus; count_training(corpus, settings) -> documents to learn from;
    run(algorithm, config, corpus, settings) -> events.
    """

    load: Callable[[str], Any]
    count_training: Callable[[Any, Any], int]
    run: Callable[..., Generator]


@dataclass
class Requests:
    """What the pages want. `spec` and `live` are taken once, the others stay as they are.

    number: grows with every wish, so that none is slept through.
    """

    number: int = 0
    is_running: bool = False
    num_steps: int = 0
    spec: RunSpec | None = None
    live: dict[str, Any] | None = None
    forgets_earlier: bool = False
    names: dict[int, str] = field(default_factory=dict)
    is_closed: bool = False


class Runner:
    """Runs one spec after another on its own thread and publishes `progress`, an immutable record, as it goes.

    seconds_per_batch: the pace; 0 is as fast as it goes, None is one pass a minute,
        or the whole run where each step is a pass.
    earlier: the last progress of each run that a restart has replaced, oldest first.
    keep(progress, model): called once for each run that has finished, or is left after it has learned.
    """

    def __init__(
        self,
        engine: Engine,
        cpu_queue: CpuQueue,
        compilation: Compilation,
        notify: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
        keep: Callable[[Progress, Model], None] = lambda progress, model: None,
    ):
        self._engine, self._cpu_queue, self._compilation = engine, cpu_queue, compilation
        self._notify, self._clock = notify, clock
        self._keep = keep
        self._changed = threading.Condition()
        self._requests = Requests()
        self._num_applied = 0
        self._is_stale = False
        self._record: Record | None = None
        self._events: Any = None
        self._num_runs = 0
        self._version = 0
        self._due = self._published_at = float("-inf")
        self.seconds_per_batch: float | None = None
        self.earlier: tuple[Progress, ...] = ()
        self.progress = Progress()
        self._thread = threading.Thread(target=self._work, name="run", daemon=True)
        self._thread.start()

    def restart(self, spec: RunSpec, is_running: bool = True) -> None:
        """Leave the present run behind and begin this one; it learns at once, or waits for `resume`."""
        self._request(spec=spec, live=None, is_running=is_running, num_steps=0)

    def resume(self) -> None:
        """Go on learning."""
        self._request(is_running=True)

    def pause(self) -> None:
        """Stop after the present mini-batch."""
        self._request(is_running=False, num_steps=0)

    def step(self) -> None:
        """Learn from one more mini-batch, then stand still."""
        self._request(is_running=False, num_steps=self._requests.num_steps + 1)

    def configure(self, **values: Any) -> None:
        """Change learning settings from the next mini-batch on; raises ValueError where the config refuses one."""
        with self._changed:
            spec = self._requests.spec or (self._record.spec if self._record else None)
            if spec is None:
                raise ValueError("there is no run to change yet; begin one with restart(spec)")
            requested = {**(self._requests.live or {}), **values}
            spec.with_live(requested)
            self._request(live=requested)

    def set_pace(self, seconds_per_batch: float | None) -> None:
        """Set the seconds from one mini-batch to the next: 0 as fast as it goes, None one pass a minute."""
        self.seconds_per_batch = seconds_per_batch
        self._due = float("-inf")
        self._request()

    def forget_earlier(self) -> None:
        """Drop the runs before this one."""
        self._request(forgets_earlier=True)

    def rename(self, topic_id: int, name: str) -> None:
        """Call a topic of the present run so, on every page; an empty name takes its own back."""
        self._request(names={**self._requests.names, topic_id: name})

    def model(self) -> Model | None:
        """Return the model of the present run as it stands; None before its first mini-batch."""
        record = self._record
        return None if record is None else record.model()

    @property
    def corpus(self) -> Any:
        """The corpus of the present run, once it has been opened."""
        return self._record.corpus if self._record is not None else None

    def close(self) -> None:
        """End the thread after the present mini-batch and give the slot back."""
        self._request(is_closed=True)

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout)

    @property
    def wants_to_run(self) -> bool:
        """True from `resume` until `pause`, or until there is nothing left to learn from."""
        return self._requests.is_running

    def _request(self, **values: Any) -> None:
        with self._changed:
            for name, value in values.items():
                setattr(self._requests, name, value)
            self._requests.number += 1
            self._changed.notify()

    def _work(self) -> None:
        while not self._requests.is_closed:
            try:
                self._turn()
            except BaseException as error:
                _log.exception("The run has failed")
                self._fail(error)
        self._cpu_queue.leave(self)
        self._stop_events()
        if self._record is not None and self._record.documents_seen:
            self._hand_over(self._record, self.progress)

    def _turn(self) -> None:
        self._apply()
        record = self._record
        if record is None or record.is_over or not (self._requests.is_running or self._requests.num_steps):
            self._stand_still()
        elif not (job := self._compilation.ask(record.spec)).is_done:
            self._hold_up("compiling", job.message, job.share)
        elif job.error:
            raise RuntimeError(job.error)
        elif place := self._cpu_queue.take(self):
            self._hold_up("waiting", describe_wait(place, self._cpu_queue.num_cores))
        elif self._clock() < self._due and not self._requests.num_steps:
            self._keep_pace()
        else:
            self._advance(record)

    def _apply(self) -> None:
        left = None
        with self._changed:
            requests = self._requests
            self._num_applied = requests.number
            spec, live, forgets, names = requests.spec, requests.live, requests.forgets_earlier, requests.names
            requests.spec = requests.live = None
            requests.forgets_earlier, requests.names = False, {}
            for topic_id, name in names.items():
                if self._record is not None:
                    self._record.rename(topic_id, name)
            if spec is not None:
                left = self._record_new(spec)
            if live is not None and self._record is not None:
                self._record.configure(live)
        if left is not None:
            self._hand_over(left, self.earlier[-1])
        if forgets:
            self.earlier = ()
        if spec is not None:
            self._begin()
        if live is not None or forgets or names:
            self._publish()

    def _record_new(self, spec: RunSpec) -> Record | None:
        """Begin a record; returns the one that is left, if it has learned anything."""
        left = self._record if self._record is not None and self._record.documents_seen else None
        if left is not None:
            left.stand_still()
            self._version += 1
            self.earlier = (*self.earlier, left.progress(self._version))[-MAX_EARLIER:]
        self._num_runs += 1
        self._record = Record(spec, self._num_runs, self._clock)
        return left

    def _hand_over(self, record: Record, progress: Progress) -> None:
        """Give a run away to be kept, once; a disk that is full ends no run."""
        if record.is_kept or progress.status == "failed":
            return
        record.is_kept = True
        try:
            self._keep(progress, record.model())
        except Exception:
            _log.exception("The run could not be kept")

    def _begin(self) -> None:
        self._stop_events()
        self._due = float("-inf")
        record = self._record
        if place := self._cpu_queue.take(self):
            record.status, record.message = "waiting", describe_wait(place, self._cpu_queue.num_cores)
        else:
            record.status, record.message = "opening", f"Opening the corpus: {title_corpus(record.spec.corpus_name)}"
        self._publish()
        corpus = self._engine.load(record.spec.corpus_name)
        record.prepare(corpus, self._engine.count_training(corpus, record.spec.settings))

    def _advance(self, record: Record) -> None:
        started, is_single = self._clock(), self._requests.num_steps > 0
        if self._events is None:
            self._events = record.begin(self._engine.run)
        record.start_step()
        self._show_running(is_news=record.is_slow)
        record.advance(self._events)
        self._due = self._next_due(started, is_single) + self._delay(record)
        if is_single:
            with self._changed:
                self._requests.num_steps = max(0, self._requests.num_steps - 1)
        self._is_stale = True
        interval = HURRIED_PUBLISH_SECONDS if self.seconds_per_batch == 0 else PUBLISH_SECONDS
        if self._clock() - self._published_at >= interval:
            self._publish()

    def _show_running(self, message: str = "", is_news: bool = False) -> None:
        self._record.status, self._record.message = "running", message
        if is_news or (self.progress.status, self.progress.message) != ("running", message):
            self._publish()

    def _keep_pace(self) -> None:
        delay = self._delay(self._record)
        self._show_running(PAUSE.format(delay) if delay >= LONG_PAUSE_SECONDS else "")
        if self._is_stale:
            self._sleep(max(0.0, min(self._due, self._published_at + PUBLISH_SECONDS) - self._clock()))
            if self._clock() - self._published_at >= PUBLISH_SECONDS:
                self._publish()
        else:
            self._sleep(max(0.0, self._due - self._clock()))

    def _next_due(self, started: float, is_single: bool) -> float:
        """From when the pace is counted: a mini-batch a little late does not put off those after it."""
        return started if is_single or started - self._due > MAX_LAG_SECONDS else self._due

    def _delay(self, record: Record) -> float:
        if self.seconds_per_batch is not None:
            return self.seconds_per_batch
        return PASS_SECONDS * record.batch_size / max(1, record.corpus_size)

    def _stand_still(self) -> None:
        self._cpu_queue.leave(self)
        self._due = float("-inf")
        record = self._record
        if record is not None:
            if record.is_over:
                self._settle()
            record.stand_still()
            if self._is_stale or record.status != self.progress.status:
                self._publish()
            if record.status == "finished":
                self._hand_over(record, self.progress)
        self._sleep(None)

    def _settle(self) -> None:
        with self._changed:
            if self._requests.spec is None:
                self._requests.is_running, self._requests.num_steps = False, 0

    def _hold_up(self, status: str, message: str, share: float = 0.0) -> None:
        record = self._record
        if (status, message) != (record.status, record.message):
            record.status, record.message, record.compile_share = status, message, share
            self._publish()
        self._sleep(POLL_SECONDS)

    def _sleep(self, seconds: float | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._requests.number != self._num_applied, seconds)

    def _publish(self) -> None:
        if self._record is None:
            return
        self._version += 1
        self._is_stale = False
        self.progress = self._record.progress(self._version)
        self._published_at = self._clock()
        self._notify()

    def _fail(self, error: BaseException) -> None:
        self._cpu_queue.leave(self)
        self._settle()
        if self._record is not None:
            self._record.fail(error)
            self._publish()

    def _stop_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.close()


def describe_wait(place: int, num_cores: int) -> str:
    """Say what a run at this place of the queue, from 1, waits for."""
    others = "another run is" if num_cores == 1 else f"{num_cores} other runs are"
    turn = "this one is next" if place == 1 else f"{place - 1} more wait before this one"
    return f"Waiting for a free processor core: {others} learning, {turn}."
