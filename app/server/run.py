"""A run in memory: what learns, reads, checks and sweeps, and the pages that show it."""

from functools import partial
from typing import NamedTuple

from stickbreaker.app.model.class_tasks import ClassBoard
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import with_reading
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.saved_runs import Address
from stickbreaker.app.model.sweep_plan import SweepState
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.event_log import RunEvents
from stickbreaker.app.server.forecaster import Forecaster
from stickbreaker.app.server.group_reader import GroupReader
from stickbreaker.app.server.model_work import CountCheck, EditSearch, KeptConsensus, OtherSeeds
from stickbreaker.app.server.model_worker import ModelWorker
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.reading_queue import ReadingQueue
from stickbreaker.app.server.run_budget import Measured
from stickbreaker.app.server.runner import Load, Runner
from stickbreaker.app.server.scheduler import find_client, find_cluster
from stickbreaker.app.server.subscribers import Subscribers
from stickbreaker.app.server.sweep import Sweep

# An update of a page takes 10 to 25 ms of one core. With more pages than this, five updates a
# second for each would delay the presenter's page.
FULL_CLASS = 8


class Shared(NamedTuple):
    """What all runs of the process share."""

    cpu_queue: CpuQueue
    compilation: Compilation
    reading_queue: ReadingQueue


class Run:
    """One run and the pages that show it.

    subscribers: the wakeups of all its pages; presenters: those of the pages that control it.
    left_at: when its last page closed; None while a page is open. resumes: whether it was learning
    then, so that it continues after a reload. measured: its present run and what it takes.
    save_fault: why it could not be saved; empty if it could.
    """

    def __init__(
        self,
        address: Address,
        store: RunStore,
        events: RunEvents,
        load: Load,
        shared: Shared,
        sweep: SweepState,
    ):
        self.key, self.watch, self.user = address
        self._events = events
        self.subscribers = Subscribers()
        self.presenters = Subscribers()
        self.left_at: float | None = None
        self.resumes = False
        self.board = ClassBoard()
        self.measured = Measured()
        self.save_fault = ""
        cpu_queue, compilation, reading_queue = shared
        make_runner = partial(Runner, load, cpu_queue, compilation, find_client=find_client)
        self.forecaster = Forecaster(self.notify, cpu_queue)
        on_change = self.forecaster.start
        self.runner = make_runner(self._note_change, store=store, on_change=on_change)
        turn = reading_queue.make_turn(self.user)
        self.reader = Reader(self.runner.model, self._note_change, store, turn, find_cluster)
        place = (self.runner.model, self._note_change, cpu_queue, compilation)
        self.checker = ModelWorker(*place, CountCheck())
        self.proposer = ModelWorker(*place, EditSearch())
        self.again = ModelWorker(*place, OtherSeeds(self.reader.take_again, find_client))
        self.groups = GroupReader(load, store.find_shares, *place[1:])
        self.keeper = ModelWorker(*place, KeptConsensus(self.reader.find_consensus, store))
        self.sweep = Sweep(make_runner, store, self._note_change, sweep)

    @property
    def progress(self) -> Progress:
        """Its current state, with the shares of its topics once all documents have been read."""
        return with_reading(self.runner.progress, self.reader.job.reading)

    @property
    def num_watching(self) -> int:
        """The number of pages that watch."""
        return max(0, len(self.subscribers) - len(self.presenters))

    @property
    def idle_since(self) -> float | None:
        """When its last page closed; None while a page is open or its sweep is running."""
        return None if self.sweep.is_running else self.left_at

    def notify(self) -> None:
        """Wake its pages; in a full class only those that control it: each looks once a second."""
        (self.subscribers if self.num_watching <= FULL_CLASS else self.presenters).notify()

    def _note_change(self) -> None:
        self._events.look(self.runner.progress, self.reader.job, self.sweep.state)
        self.notify()

    def close(self) -> None:
        """Stop after the present mini-batch, and free the processor core."""
        self.sweep.close()
        self.runner.close()
        self.reader.close()
        self.checker.close()
        self.proposer.close()
        self.again.close()
        self.groups.close()
        self.keeper.close()
        self.forecaster.close()
