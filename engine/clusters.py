"""Tasks on the workers of a Dask cluster: results in the order of the tasks, and lost tasks are sent again.

Dask is imported when a client is given, and not before.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stickbreaker.engine.parallel import on_one_thread

if TYPE_CHECKING:
    from distributed import Client, Future

# A task that ends its worker is sent this number of times, and each time Dask tries three more workers.
MAX_SENDS = 10
SECONDS_FOR_WORKERS = 60
# A value of an environment that is longer is not shown whole in a message.
LONGEST_VALUE = 40
REMEDIES = {
    "engine": "install the same version of stickbreaker on all machines",
    "processor": "set NUMBA_CPU_NAME=generic on all machines, for this process too",
    "instruction sets": "set NUMBA_CPU_NAME=generic on all machines, for this process too",
}

Environment = Mapping[str, str]
_log = logging.getLogger(__name__)


class ClusterError(RuntimeError):
    """A cluster cannot compute; the message names the worker and the remedy."""


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
        If Dask is not installed, if no worker is there, or if a worker has another environment.
    TypeError
        If it is not a client, or an asynchronous one.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterError("A client needs Dask: python -m pip install 'stickbreaker[dask]'.") from error
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"client is {client!r}: give a distributed.Client that is not asynchronous.")
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
            raise ClusterError(f"A worker has no module {error.name}: install stickbreaker on all machines.") from error
        for address, theirs in sorted(found.items()):
            _refuse_difference(address, self._environment, theirs)

    def run_everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Call a function once on each worker; the results are by the worker's address."""
        self._wait_for_workers()
        found: dict[str, Any] = self.client.run(function, *arguments)
        return found

    def map(self, function: Callable[[Any], Any], payloads: Sequence[Any]) -> list[Any]:
        """Apply a function to each payload, on workers; the results are in the order of the payloads.

        Each payload goes directly to one worker. If a worker ends, the payloads that it had are sent again.

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
            If there is no worker for a minute, or if a task is lost ten times.
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
                _log.warning("%d of %d tasks were lost with their workers, and are sent again.", num_lost, len(missing))
        raise ClusterError(
            f"A task was lost {MAX_SENDS} times because its workers ended: look at their logs and at their memory."
        )

    def _send(self, function: Callable[[Any], Any], payloads: list[Any]) -> "list[Future] | None":
        """The futures of the results; None if a worker ended while it received its payload."""
        self._wait_for_workers()
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
        """The results that are there, by place, once no task is running; the futures are released."""
        from distributed import KilledWorker

        results: dict[int, Any] = self.client.gather(futures, errors="skip", direct=True)
        try:
            for future in futures.values():
                if future.status == "error" and not isinstance(error := future.exception(), KilledWorker):
                    raise error
        finally:
            for future in futures.values():
                future.release()
        return {place: result for place, result in results.items() if result is not None}

    def _wait_for_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
        except TimeoutError as error:
            raise ClusterError(
                f"The cluster has had no worker for {SECONDS_FOR_WORKERS} seconds: start one with"
                f" `dask worker {self.client.scheduler.address}`."
            ) from error


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


def _refuse_difference(address: str, environment: Environment, theirs: Environment) -> None:
    for name, value in environment.items():
        found = theirs.get(name, "none")
        if found != value:
            remedy = REMEDIES.get(name, f"install the same version of {name} on all machines")
            raise ClusterError(f"Worker {address} has {_name_difference(name, value, found)}: {remedy}.")


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
