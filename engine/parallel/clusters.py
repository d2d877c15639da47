"""Tasks on the workers of a Dask cluster: results in the order of the tasks, or as they end.

Lost tasks are sent again.

Dask is imported only when there is a client.
"""

import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from stickbreaker.engine.parallel.threads import on_one_thread

if TYPE_CHECKING:
    from distributed import Client, Future

# A task that ends its worker is sent this number of times, and each time Dask tries three more
# workers.
MAX_SENDS = 10
SECONDS_FOR_WORKERS = 60
# Tasks that are sent ahead, for each thread of the workers, where results are taken as tasks end.
SENT_PER_THREAD = 2
# Functions of `map_unordered` that a worker keeps; a model is part of them.
MAX_FUNCTIONS = 2
# A value of an environment that is longer is not shown whole in a message.
LONGEST_VALUE = 40
REMEDIES = {
    "engine": "install the same version of stickbreaker on all machines",
    "processor": "set NUMBA_CPU_NAME=generic on all machines, for this process too",
    "instruction sets": "set NUMBA_CPU_NAME=generic on all machines, for this process too",
}

_LOST = (
    "A task was lost each time it was sent, because its workers ended: check their logs and memory."
)

Environment = Mapping[str, str]
_log = logging.getLogger(__name__)


class ClusterError(RuntimeError):
    """A cluster cannot compute; the message names the worker and the remedy."""


class TaskLostError(ClusterError):
    """A task has ended every worker that computed it."""


class TaskCancelledError(Exception):
    """A task ends early, because the process that sent it has stopped."""


class _TaskState(threading.local):
    """To which call this thread's task belongs."""

    call = ""


_task = _TaskState()
# On a worker: the calls that have been cancelled, and the functions of the newest calls.
_cancelled: set[str] = set()
_functions: dict[str, Callable[[Any], Any]] = {}


def connect(client: Any, find_environment: Callable[[], Environment]) -> "Cluster":
    """Check a client and its workers before work is sent to them.

    Parameters
    ----------
    client : distributed.Client
        The client, not asynchronous.
    find_environment : callable
        Returns what must be the same in all processes, by name: versions, and the processor.

    Returns
    -------
    Cluster
        The workers.

    Raises
    ------
    ClusterError
        If Dask is not installed, if there is no worker, or if a worker has another environment.
    TypeError
        If it is not a client, or an asynchronous one.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError(
            "A client needs Dask: python -m pip install 'stickbreaker[dask]'."
        ) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(
            f"client is {client!r}: give a distributed.Client that is not asynchronous."
        )
    cluster = Cluster(client, find_environment)
    cluster.check_environment()
    return cluster


class Cluster:
    """The workers of a client; any of them may join, leave or end at any time.

    Parameters
    ----------
    client : distributed.Client
        The client.
    find_environment : callable
        As in `connect`; each task compares it with that of this process.
    """

    def __init__(self, client: "Client", find_environment: Callable[[], Environment]) -> None:
        self.client = client
        self._find_environment = find_environment
        self._environment = dict(find_environment())

    def check_environment(self) -> None:
        """Raise ClusterError if a worker has another environment than this process."""
        try:
            found = self.run_everywhere(self._find_environment)
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"A worker has no module {error.name}: install stickbreaker on all machines."
            ) from error
        for address, theirs in sorted(found.items()):
            _refuse_difference(address, self._environment, theirs)

    def run_everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Call a function once on each worker; the results are by the worker's address."""
        self.wait_for_workers()
        found: dict[str, Any] = self.client.run(function, *arguments)
        return found

    def add_plugin(self, plugin: Any) -> None:
        """Give a plugin to all workers, and to each one that joins later before its first task."""
        self.wait_for_workers()
        self.client.register_plugin(plugin)

    def map(self, function: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        """Apply a function to each payload, on workers.

        The results are in the order of the payloads.

        Each payload goes directly to one worker. If a worker ends, the payloads that it had are
        sent again.

        Parameters
        ----------
        function : callable
            (payload) -> result. It runs on one thread of its worker.
        payloads : sequence of object
            What the tasks read.

        Returns
        -------
        list of object
            The results.

        Raises
        ------
        ClusterError
            If there is no worker for a minute; a TaskLostError if a task is lost ten times.
        """
        results: dict[int, Any] = {}
        for _ in range(MAX_SENDS):
            missing = [place for place in range(len(payloads)) if place not in results]
            if not missing:
                return [results[place] for place in range(len(payloads))]
            futures = self._send(function, [payloads[place] for place in missing])
            if futures is not None:
                results |= self._take(dict(zip(missing, futures, strict=True)))
            num_lost = sum(place not in results for place in missing)
            if num_lost:
                _log.warning(
                    "%d of %d tasks were lost with their workers, and are sent again.",
                    num_lost,
                    len(missing),
                )
        raise TaskLostError(_LOST)

    def map_unordered(
        self, function: Callable[[Any], Any], payloads: Sequence[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the place and the result of each task, in the order in which the tasks end.

        The function goes to the workers once, so it may be large; payloads should be small. Only
        some tasks are sent ahead. A task whose worker ends is sent again. If the caller stops
        early, tasks that wait are cancelled, and those that run end at their next
        `stop_if_cancelled`.

        Parameters
        ----------
        function : callable
            (payload) -> result. It runs on one thread of its worker.
        payloads : sequence of object
            What the tasks read.

        Yields
        ------
        tuple of int and object
            The place of the payload, and the result; a TaskLostError for a task that ends every
            worker, even when it is sent alone.

        Raises
        ------
        ClusterError
            If there is no worker for a minute, or the scheduler has ended.
        """
        call = _Call(self, function, payloads)
        try:
            yield from call.results()
        finally:
            call.end()

    def _send(self, function: Callable[[Any], Any], payloads: list[Any]) -> "list[Future] | None":
        """The futures of the results; None if a worker ended while it received its payload."""
        self.wait_for_workers()
        try:
            sent = self.client.scatter(payloads, direct=True, hash=False)
        except (OSError, TimeoutError):
            return None
        futures: list[Future] = self.client.map(
            _run_task,
            sent,
            function=function,
            environment=self._environment,
            find_environment=self._find_environment,
            pure=False,
        )
        return futures

    def _take(self, futures: "dict[int, Future]") -> dict[int, Any]:
        """The available results, by place, once no task is running; the futures are released."""
        from distributed import KilledWorker

        try:
            results: dict[int, Any] = self.client.gather(futures, errors="skip", direct=True)
        except OSError:
            # A connection has failed: the tasks are sent again, if the scheduler is running.
            return {}
        try:
            for future in futures.values():
                if future.status == "error" and not isinstance(
                    error := future.exception(), KilledWorker
                ):
                    raise error
        finally:
            for future in futures.values():
                future.release()
        return {place: result for place, result in results.items() if result is not None}

    def scatter(self, content: bytes) -> "Future":
        """Copy bytes to all workers, again if there is no answer for a minute."""
        copy = partial(
            self.client.scatter, [content], broadcast=True, hash=False, asynchronous=True
        )
        while True:
            self.wait_for_workers()
            with suppress(OSError, TimeoutError):
                future: Future = self.client.sync(copy, callback_timeout=SECONDS_FOR_WORKERS)[0]
                return future

    def submit(self, call: str, function: "Future", payload: Any) -> "Future":
        """Send a task of a call, whose pickled function is on the workers."""
        future: Future = self.client.submit(
            _run_task_of_call,
            payload,
            call=call,
            content=function,
            environment=self._environment,
            find_environment=self._find_environment,
            pure=False,
        )
        return future

    def wait_for_workers(self) -> None:
        """Wait for a worker; ClusterError if there is none for a minute, or no scheduler."""
        lost = ClusterError(
            "The scheduler has ended or cannot be reached. Start it again, and then what has"
            " failed; in Python, with a new client. Work that was saved is not repeated."
        )
        if self.client.status != "running":
            raise lost
        try:
            self.client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
        except TimeoutError as error:
            raise ClusterError(
                f"The cluster has had no worker for {SECONDS_FOR_WORKERS} seconds: start one with"
                f" `dask worker {self.client.scheduler.address}`."
            ) from error
        except OSError as error:
            raise lost from error


class _Call:
    """The tasks of one `map_unordered`."""

    def __init__(
        self, cluster: Cluster, function: Callable[[Any], Any], payloads: Sequence[Any]
    ) -> None:
        self._cluster, self._payloads = cluster, payloads
        self._name = uuid4().hex
        # Pickled here, so that the arrays in it are writable on the workers: kernels are compiled
        # for those.
        self._content = pickle.dumps(function, protocol=pickle.HIGHEST_PROTOCOL)
        self._function: Future | None = None
        self._waiting = deque(range(len(payloads)))
        # Tasks whose workers have ended; each is sent again alone, after all others.
        self._suspects: deque[int] = deque()
        self._running: dict[Future, int] = {}
        self._num_sent = [0] * len(payloads)

    def results(self) -> Iterator[tuple[int, Any]]:
        """The places and the results."""
        from distributed import as_completed

        ended = as_completed(loop=self._cluster.client.loop)
        while self._waiting or self._running or self._suspects:
            self._fill(ended)
            future = next(ended)
            place = self._running.pop(future)
            is_alone = not (self._running or self._waiting)
            result = self._take(future)
            if result is None:
                self._waiting.append(place)
            elif not isinstance(result[0], TaskLostError) or (
                is_alone and self._num_sent[place] > 1
            ):
                yield place, result[0]
            else:
                self._suspects.append(place)

    def _fill(self, ended: Any) -> None:
        """Send waiting tasks, or one of the suspects if no other task is left."""
        self._cluster.wait_for_workers()
        num_threads = sum(self._cluster.client.nthreads().values())
        while self._waiting and len(self._running) < SENT_PER_THREAD * max(1, num_threads):
            self._send(self._waiting.popleft(), ended)
        if self._suspects and not self._running:
            self._send(self._suspects.popleft(), ended)

    def _send(self, place: int, ended: Any) -> None:
        if self._num_sent[place] == MAX_SENDS:
            raise ClusterError(_LOST)
        self._num_sent[place] += 1
        if self._function is None or self._function.status != "finished":
            self._function = self._cluster.scatter(self._content)
        future = self._cluster.submit(self._name, self._function, self._payloads[place])
        self._running[future] = place
        ended.add(future)

    def _take(self, future: "Future") -> tuple[Any] | None:
        """The result of a task, None if it was lost with others, or a TaskLostError."""
        from distributed import CancelledError, KilledWorker

        try:
            return (future.result(),)
        except KilledWorker:
            return (TaskLostError(_LOST),)
        except CancelledError:
            return None
        except OSError:
            # Either the task has raised it, or the connection to the scheduler has failed.
            if self._cluster.client.status == "running":
                raise
            return None
        finally:
            future.release()

    def end(self) -> None:
        """Cancel the tasks that have not ended, and release the function."""
        # If the scheduler has ended, so have its tasks.
        with suppress(OSError, TimeoutError):
            if self._running and self._cluster.client.status == "running":
                self._cluster.client.run(_note_cancelled, self._name)
                self._cluster.client.cancel(list(self._running))
            if self._function is not None:
                self._function.release()
        self._running.clear()


def _note_cancelled(call: str) -> None:
    _cancelled.add(call)


def stop_if_cancelled() -> None:
    """Raise TaskCancelledError in a task of a call that has been cancelled."""
    if _task.call in _cancelled:
        raise TaskCancelledError


def worker_address() -> str:
    """The address of the worker that runs this task."""
    from distributed import get_worker

    return str(get_worker().address)


def _run_task(
    payload: Any,
    function: Callable[[Any], Any],
    environment: Environment,
    find_environment: Callable[[], Environment],
) -> Any:
    """Run a task on a worker, which may have joined after the check of the others."""
    _refuse_difference(worker_address(), environment, find_environment())
    with on_one_thread():
        return function(payload)


def _run_task_of_call(
    payload: Any,
    call: str,
    content: bytes,
    environment: Environment,
    find_environment: Callable[[], Environment],
) -> Any:
    """Run a task of `map_unordered` on a worker."""
    _task.call = call
    _refuse_difference(worker_address(), environment, find_environment())
    function = _functions.get(call)
    if function is None:
        for old in list(_functions)[: 1 - MAX_FUNCTIONS]:
            _functions.pop(old, None)
        function = _functions[call] = pickle.loads(content)
    with on_one_thread():
        return function(payload)


def _refuse_difference(address: str, environment: Environment, theirs: Environment) -> None:
    for name, value in environment.items():
        found = theirs.get(name, "none")
        if found != value:
            remedy = REMEDIES.get(name, f"install the same version of {name} on all machines")
            raise ClusterError(
                f"Worker {address} has {_name_difference(name, value, found)}: {remedy}."
            )


def _name_difference(name: str, value: str, found: str) -> str:
    """The two values of a name of an environment, or what differs in long ones.

    >>> _name_difference("numpy", "2.1.0", "2.0.0")
    'numpy 2.0.0, and this process has 2.1.0'
    """
    if name == "engine":
        return "other code of stickbreaker.engine than this process"
    if max(len(value), len(found)) > LONGEST_VALUE:
        different = sorted(set(value.split(",")) ^ set(found.split(",")))
        return f"other {name} than this process ({', '.join(different[:3])})"
    return f"{name} {found}, and this process has {value}"
