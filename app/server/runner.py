"""The thread that learns: the only writer of a run's progress.

Commands set requests under a lock and return at once. Each turn of the thread's loop looks at the
requests and does one thing: begin, change a setting, wait, or learn from one mini-batch.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stickbreaker import engine
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.kept_runs import make_key
from stickbreaker.app.model.limits import RUN_MEMORY, find_limit
from stickbreaker.app.model.page_notes import read_page, read_spec
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.record import Names, Record
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec, title_corpus
from stickbreaker.app.model.run_store import Ending, RunStore
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue, describe_wait
from stickbreaker.app.server.run_requests import Requests, Start
from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.memory import check_memory

if TYPE_CHECKING:
    from distributed import Client

PUBLISH_SECONDS = 0.2
# At the fastest pace, the time that pages take to draw slows the engine down.
HURRIED_PUBLISH_SECONDS = 1.0
POLL_SECONDS = 0.2
PASS_SECONDS = 60.0
MAX_LAG_SECONDS = 0.5
LONG_PAUSE_SECONDS = 15.0
PAUSE = (
    "At this pace there is one step every {:.0f} s. Choose a faster pace to see the next step"
    " sooner."
)
MAX_EARLIER = 6
SAVE_SECONDS = 30.0
LEAST_SAVE_SECONDS = 5.0
# At full speed a run can be over after a second, and a save in it costs 3 % of it.
FIRST_SAVE_SECONDS = 1.0

_log = logging.getLogger(__name__)

# load(corpus_name): opens a corpus.
Load = Callable[[str], engine.Corpus]


class Runner:
    """Runs one spec after another on its own thread and publishes `progress`, an immutable record,
    after each step.

    seconds_per_batch: the pace; 0 is as fast as possible, None is one pass a minute.
    earlier: the last progress of each run that a restart has replaced, oldest first.
    store: what keeps the run. find_client: the Dask client on whose workers runs learn; None: here.
    on_change(record): called before the settings of a run change, and with None at another run.
    """

    def __init__(  # noqa: PLR0913
        self,
        load: Load,
        cpu_queue: CpuQueue,
        compilation: Compilation,
        notify: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
        store: RunStore | None = None,
        find_client: Callable[[], "Client | None"] = lambda: None,
        on_change: Callable[[Record | None], None] = lambda record: None,
    ) -> None:
        self._load = load
        self._on_change = on_change
        self._cpu_queue = cpu_queue
        self._compilation = compilation
        self._notify = notify
        self._clock = clock
        self._store = store or RunStore()
        self._find_client = find_client
        self._changed = threading.Condition()
        self.requests = Requests()
        self._is_unsaved = self._is_stale = False
        self._record: Record | None = None
        self._num_applied = self._num_runs = self._num_saved = self._version = 0
        self._due = self._saved_at = self._published_at = float("-inf")
        self.seconds_per_batch: float | None = None
        self.earlier: tuple[Progress, ...] = ()
        self._names: Names = {}
        self.progress = Progress()
        self._thread = threading.Thread(target=self._work, name="run", daemon=True)
        self._thread.start()

    def restart(self, spec: RunSpec, is_running: bool = True) -> None:
        """Leave the current run and begin this one; it learns at once, or waits for `resume`."""
        self._continue(Start(spec), is_running)

    def restore(
        self, checkpoint: Checkpoint, is_running: bool = False, is_on_disk: bool = False
    ) -> None:
        """Leave the current run and open a saved one, which waits for `resume` or learns at once.

        is_on_disk: whether the address opens this run already. Raises KeyError or ValueError if the
        checkpoint was not saved by a runner.
        """
        start = Start(spec=read_spec(checkpoint), saved=checkpoint, is_on_disk=is_on_disk)
        self._continue(start, is_running)

    def extend(self) -> None:
        """Read the corpus once more, in a new run that continues the finished one."""
        if self._record is not None and (checkpoint := self._record.extend()) is not None:
            spec = read_spec(checkpoint)
            before = self._record.edits.before
            start = Start(spec=spec, saved=checkpoint, is_on_disk=True, before=before)
            self._continue(start, is_running=True)

    def resume(self) -> None:
        """Continue to learn."""
        with self._asking() as requests:
            requests.is_running = True

    def pause(self) -> None:
        """Stop after the present mini-batch."""
        with self._asking() as requests:
            requests.is_running = False
            requests.num_steps = 0

    def step(self) -> None:
        """Learn from one more mini-batch, then pause."""
        with self._asking() as requests:
            requests.is_running = False
            requests.num_steps += 1

    def configure(self, settings: LiveSettings) -> None:
        """Change learning settings from the next mini-batch on.

        Raises ValueError for a value outside its bounds, and if there is no run yet.
        """
        with self._asking() as requests:
            record = self._record
            if start := requests.start:
                requests.start = replace(start, spec=start.spec.with_live(settings))
            elif record is not None:
                requests.changed = (requests.changed or record.spec).with_live(
                    settings, record.corpus_size
                )
            else:
                raise ValueError("There is no run to change yet: begin one with restart(spec).")

    def set_pace(self, seconds_per_batch: float | None) -> None:
        """Set the seconds of a mini-batch: 0 is full speed, None one pass a minute."""
        with self._asking():
            self.seconds_per_batch = seconds_per_batch
            self._due = float("-inf")

    def forget_earlier(self) -> None:
        """Drop the runs before this one."""
        with self._asking() as requests:
            requests.forgets_earlier = True

    def rename(self, topic_id: int, name: str) -> None:
        """Name a topic of the current run on every page; an empty name restores its default name.

        A run with the same settings begins with the names of the run before it, since it learns the
        same topics.
        """
        with self._asking() as requests:
            requests.names[topic_id] = name

    def undo_names(self) -> None:
        """Take back the names that the corpus has kept and the topics of this run were given."""
        with self._asking() as requests:
            requests.undoes_names = True

    def edit(self, edit: TopicEdit) -> None:
        """Change topics of the current run, which learns on from there."""
        with self._asking() as requests:
            requests.edits = (*requests.edits, edit)

    def undo_edit(self) -> None:
        """Go back to the run before its last edit, which learns on from there."""
        if (record := self._record) is not None and record.edits.before:
            *earlier, saved = record.edits.before
            self._continue(Start(spec=read_spec(saved), saved=saved, before=tuple(earlier)))

    def _continue(self, start: Start, is_running: bool | None = None) -> None:
        """Leave the current run and open another one, which learns if this one does."""
        with self._asking() as requests:
            requests.begin(start, requests.is_running if is_running is None else is_running)

    def model(self) -> Model | None:
        """Return the model of the current run as it stands; None before its first mini-batch."""
        record = self._record
        return record.model() if record is not None else None

    @property
    def corpus(self) -> Any:
        """The corpus of the current run, once it is open."""
        return self._record.corpus if self._record is not None else None

    def close(self) -> None:
        """End the thread after the present mini-batch and free its processor core."""
        with self._asking() as requests:
            requests.is_closed = True

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended."""
        self._thread.join(timeout)

    @property
    def wants_to_run(self) -> bool:
        """True from `resume` until `pause`, or until the run is over."""
        return self.requests.is_running

    @contextmanager
    def _asking(self) -> Iterator[Requests]:
        """Give the pending requests under the lock; then the thread looks at them."""
        with self._changed:
            yield self.requests
            self.requests.number += 1
            self._changed.notify()

    def _work(self) -> None:
        while not self.requests.is_closed:
            try:
                self._turn()
            except BaseException as error:
                _log.exception("The run has failed")
                self._fail(error)
        self._cpu_queue.leave(self)
        if (record := self._record) is not None:
            record.close()
            if record.documents_seen:
                # Saved first: what a run is kept with takes longer than the server waits for it.
                record.kept_key = record.kept_key or make_key()
                self._save_if_due(record, is_waiting=True)
                self._keep(record, self.progress)
        self._store.close()

    def _turn(self) -> None:
        self._apply()
        record = self._record
        is_asked = self.requests.is_running or self.requests.num_steps
        if record is None or record.is_over or not is_asked:
            self._wait()
        elif not (job := self._compilation.ask(record.spec)).can_learn:
            self._hold_up(record, "compiling", job.message, job.share)
        elif job.error:
            raise RuntimeError(job.error)
        elif place := self._cpu_queue.take(self):
            self._hold_up(record, "waiting", describe_wait(place, self._cpu_queue.num_cores))
        elif self._clock() < self._due and not self.requests.num_steps:
            self._keep_pace(record)
        else:
            self._advance(record)

    def _apply(self) -> None:
        """Apply what the pages have asked for since the last turn."""
        left = renamed = None
        with self._changed:
            taken = self.requests.take()
            self._num_applied = taken.number
            if taken.names or taken.undoes_names:
                renamed = self._record
            forgotten = self._rename(taken.names, taken.undoes_names)
            if taken.start is not None:
                left = self._record_new(taken.start)
            if taken.changed is not None and self._record is not None:
                self._on_change(self._record)
                self._record.change(taken.changed)
        if renamed is not None:
            self._keep_names(renamed, taken.names, forgotten)
            self._is_unsaved = True
        if left is not None:
            self._keep(left, self.earlier[-1])
        if taken.forgets_earlier:
            self.earlier = ()
        record = self._record
        if taken.start is not None and record is not None:
            if not taken.start.is_on_disk:
                # After a crash from here on, the address opens this run and not the one before.
                self._store.save(taken.start.saved or record.save_start())
            self._begin(record, taken.start.saved)
        elif taken.changed is not None and record is not None and not record.is_over:
            # So that they are saved even if the run is paused.
            self._note_change(record)
        for edit in taken.edits:
            self._edit(edit)
        if taken.changed is not None or taken.forgets_earlier or renamed is not None:
            self._publish()

    def _edit(self, edit: TopicEdit) -> None:
        """Edit topics; a forecast goes on without the edit."""
        if (record := self._record) is None:
            return
        if (state := record.find_edited(edit)) is not None:
            self._on_change(record)
            record.take_edit(edit, state)
            if edit.name:
                self._keep_names(record, record.topic_names.own, set())
            self._note_change(record)
        self._publish()

    def _note_change(self, record: Record) -> None:
        self._is_unsaved = True
        if not record.documents_seen:
            self._store.save(record.save_start())

    def _rename(self, names: Mapping[int, str], undoes: bool) -> set[str]:
        """Name topics, or take names back; return the names to forget."""
        if self._record is None:
            return set()
        topic_names = self._record.topic_names
        if undoes:
            topic_names.undo()
        return {topic_names.rename(topic_id, name) for topic_id, name in names.items()} - {""}

    def _record_new(self, start: Start) -> Record | None:
        """Begin a record; return the one before it if that has learned."""
        left = None
        if self._record is not None:
            self._record.close()
            if self._record.documents_seen:
                left = self._record
                left.wait()
                self._version += 1
                self.earlier = (*self.earlier, left.progress(self._version))[-MAX_EARLIER:]
        self._on_change(None)
        self._num_runs += 1
        waits = FIRST_SAVE_SECONDS if self.seconds_per_batch == 0 else float("-inf")
        self._saved_at = self._clock() - SAVE_SECONDS + waits
        self._num_saved = 0
        self._is_unsaved = False
        self._record = Record(
            start.spec, self._num_runs, self._clock, self._names, self._find_client
        )
        self._record.edits.before = start.before
        if start.saved is not None:
            self._record.topics_key = read_page(start.saved)["topics_key"]
        return left

    def _keep(self, record: Record, progress: Progress) -> None:
        """Keep a run, once; an error there, such as a full disk, does not end the run."""
        model = record.model()
        if model is None or record.is_kept or record.is_as_restored or progress.status == "failed":
            return
        record.is_kept = True
        record.kept_key = record.kept_key or make_key()
        self._is_unsaved = True
        try:
            checkpoint = record.save() if progress.status == "finished" else None
            self._store.keep(Ending(record.kept_key, progress, model, checkpoint))
        except Exception:
            _log.exception("The run could not be kept")

    def _keep_names(self, record: Record, named: Mapping[int, str], forgotten: set[str]) -> None:
        """Keep new names for later runs and in the kept run; an error does not end the run."""
        model = record.model()
        names = record.topic_names
        if model is not None and (named or forgotten):
            names.keep(self._store, record.spec.corpus_name, model, named, forgotten)
        try:
            if record.kept_key:
                self._store.name_topics(record.kept_key, names.copy())
        except Exception:
            _log.exception("The topics of the kept run could not be named")

    def _begin(self, record: Record, saved: Checkpoint | None) -> None:
        """Open the corpus and prepare the run, which continues where it was saved."""
        self._due = float("-inf")
        if place := self._cpu_queue.take(self):
            record.status = "waiting"
            record.message = describe_wait(place, self._cpu_queue.num_cores)
        else:
            record.status = "opening"
            record.message = f"Opening the corpus: {title_corpus(record.spec.corpus_name)}"
        self._publish()
        spec = record.spec
        corpus = self._load(spec.corpus_name)
        prepared = engine.prepare(spec.algorithm, spec.config, corpus, spec.settings)
        check_memory(prepared, find_limit(RUN_MEMORY))
        with self._changed:
            record.open(corpus, prepared)
            if saved is not None:
                record.restore(saved)
                # The address of the page may have held another run.
                self._is_unsaved = True
            changed = self.requests.changed
            # Settings that were changed while the corpus was opened; some may still have no value.
            if changed is not None:
                config = prepared.with_config(changed.config).config
                self.requests.changed = replace(changed, config=config)
        if record.kept_key and (model := record.model()) is not None:
            self._store.reopen(record.kept_key, model)

    def _advance(self, record: Record) -> None:
        started = self._clock()
        is_single = self.requests.num_steps > 0
        record.start_step()
        self._show_running(record, is_news=record.is_slow)
        record.advance()
        # Being a little late does not add up.
        is_late = started - self._due > MAX_LAG_SECONDS
        self._due = (started if is_single or is_late else self._due) + self._delay(record)
        if is_single:
            with self._changed:
                self.requests.num_steps = max(0, self.requests.num_steps - 1)
        self._is_stale = self._is_unsaved = True
        self._save_if_due(record)
        interval = HURRIED_PUBLISH_SECONDS if self.seconds_per_batch == 0 else PUBLISH_SECONDS
        if self._clock() - self._published_at >= interval:
            self._publish()

    def _save_if_due(self, record: Record, is_waiting: bool = False) -> None:
        """Save the run if it waits, after half a minute, or at a column before the end."""
        if not self._is_unsaved:
            return
        num_columns = len(record.columns)
        least = LEAST_SAVE_SECONDS if num_columns > self._num_saved else SAVE_SECONDS
        is_due = is_waiting or self._clock() - self._saved_at >= least
        if is_due and (checkpoint := record.save()) is not None:
            self._store.save(checkpoint)
            self._saved_at = self._clock()
            self._num_saved = num_columns
            self._is_unsaved = False

    def _show_running(self, record: Record, message: str = "", is_news: bool = False) -> None:
        record.status = "running"
        record.message = message
        if is_news or (self.progress.status, self.progress.message) != ("running", message):
            self._publish()

    def _keep_pace(self, record: Record) -> None:
        delay = self._delay(record)
        self._show_running(record, only_if(delay >= LONG_PAUSE_SECONDS, PAUSE.format(delay)))
        until = (
            min(self._due, self._published_at + PUBLISH_SECONDS) if self._is_stale else self._due
        )
        self._sleep(max(0.0, until - self._clock()))
        if self._is_stale and self._clock() - self._published_at >= PUBLISH_SECONDS:
            self._publish()

    def _delay(self, record: Record) -> float:
        if self.seconds_per_batch is not None:
            return self.seconds_per_batch
        return PASS_SECONDS * record.batch_size / max(1, record.corpus_size)

    def _wait(self) -> None:
        self._cpu_queue.leave(self)
        self._due = float("-inf")
        if (record := self._record) is not None:
            if record.is_over:
                self._end_requests()
            record.wait()
            is_new = record.status == "finished" and not record.is_kept
            if is_new and not record.is_as_restored and (model := record.model()) is not None:
                record.topic_names.take_kept(self._store, record.spec.corpus_name, model)
                self._is_stale = self._is_unsaved = True
            if record.status != self.progress.status:
                # A saved run states its status, even if it was saved as it learned its last
                # mini-batch.
                self._is_unsaved = self._is_stale = True
            if self._is_stale:
                self._publish()
            if record.status == "finished":
                self._keep(record, self.progress)
            self._save_if_due(record, is_waiting=True)
        self._sleep(None)

    def _end_requests(self) -> None:
        with self._changed:
            if self.requests.start is None:
                self.requests.is_running = False
                self.requests.num_steps = 0

    def _hold_up(self, record: Record, status: str, message: str, share: float = 0.0) -> None:
        if (status, message) != (record.status, record.message):
            record.status = status
            record.message = message
            record.compile_share = share
            self._publish()
        self._sleep(POLL_SECONDS)

    def _sleep(self, seconds: float | None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.requests.number != self._num_applied, seconds)

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
        self._end_requests()
        if self._record is not None:
            self._record.fail(error)
            self._publish()
