"""What is refused before work is sent to a cluster, and that Dask is imported only when a client is
given.
"""

import sys
from types import ModuleType

import pytest

from stickbreaker.engine.parallel import clusters
from stickbreaker.engine.parallel.clusters import ClusterError, connect
from stickbreaker.engine.versions import find_environment


class Workers:
    """In place of a client: two workers, of which one has another environment."""

    asynchronous, status = False, "running"

    def __init__(self, **other):
        self.other = other

    def wait_for_workers(self, number, timeout):
        """Both are there."""

    def run(self, function, *arguments):
        """What a function returns on each worker."""
        return {
            "tcp://b:1": {**function(*arguments), **self.other},
            "tcp://a:1": function(*arguments),
        }


@pytest.fixture(autouse=True)
def dask(monkeypatch):
    module = ModuleType("distributed")
    module.Client = Workers
    monkeypatch.setitem(sys.modules, "distributed", module)


def test_without_dask_the_error_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'stickbreaker\[dask\]'"):
        connect(Workers(), find_environment)


def test_only_a_client_is_accepted():
    with pytest.raises(TypeError, match="client is 'tcp://a:1': give a distributed.Client"):
        connect("tcp://a:1", find_environment)
    asynchronous = Workers()
    asynchronous.asynchronous = True
    with pytest.raises(TypeError, match="not asynchronous"):
        connect(asynchronous, find_environment)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            {"numpy": "0.1"},
            (
                r"Worker tcp://b:1 has numpy 0.1, and this process has .*install the same version"
                r" of numpy"
            ),
        ),
        ({"numba": "0.1"}, r"Worker tcp://b:1 has numba 0.1, .*install the same version of numba"),
        (
            {"engine": "0" * 64},
            r"Worker tcp://b:1 has other code of stickbreaker.engine .*same version of stick",
        ),
        (
            {"processor": "old"},
            r"Worker tcp://b:1 has processor old, .*NUMBA_CPU_NAME=generic on all machines",
        ),
        (
            {"instruction sets": "x" * 60},
            r"Worker tcp://b:1 has other instruction sets .*NUMBA_CPU_NAME=generic",
        ),
    ],
)
def test_a_worker_with_another_environment_is_named_with_the_remedy(other, message):
    connect(Workers(), find_environment)
    with pytest.raises(ClusterError, match=f"^{message}"):
        connect(Workers(**other), find_environment)


def test_a_cluster_without_workers_is_named(monkeypatch):
    def wait(self, number, timeout):
        raise TimeoutError

    monkeypatch.setattr(Workers, "wait_for_workers", wait)
    monkeypatch.setattr(
        Workers, "scheduler", type("Scheduler", (), {"address": "tcp://s:8786"}), raising=False
    )
    with pytest.raises(ClusterError, match="no worker for 60 seconds.*dask worker tcp://s:8786"):
        clusters.connect(Workers(), find_environment)
