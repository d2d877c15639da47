import time

import pytest
from packaging.version import Version

from stickbreaker.app.panel_fixes import lock_documents, speed_up_models
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Runner
from tests.app.small_runs import Compiled, load_small

# As a server does at its start.
speed_up_models()
lock_documents()


def eventually(condition, seconds=30.0):
    """Wait until a condition holds; fail with it if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def skip_older_versions(found, checked):
    """Skip a test that a library is the checked version if it is older, which pyproject.toml allows."""
    older = [f"{name} {found[name]}" for name in checked if Version(found[name]) < Version(checked[name])]
    if older:
        pytest.skip(f"the workarounds are checked with {checked}; found {', '.join(older)}")


@pytest.fixture
def until():
    return eventually


@pytest.fixture
def make_runner():
    """Make runners on the small corpus that learn as fast as possible and end with the test."""
    runners = []

    def make(cpu_queue=None, compilation=None, notify=lambda: None, load=load_small, storage=None, **more):
        queue, compilation = cpu_queue or CpuQueue(2), compilation or Compiled()
        runner = Runner(load, queue, compilation, notify, storage=storage, **more)
        runner.set_pace(0.0)
        runners.append(runner)
        return runner

    yield make
    for runner in runners:
        runner.close()
        runner.join(5)
