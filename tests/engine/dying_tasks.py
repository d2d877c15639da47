"""Functions for the workers of a cluster, the first of which ends its process, as when memory runs out.

The workers import this module, so it must not import pytest.
"""

import os
import signal
from pathlib import Path

from stickbreaker.engine.algorithms import hdp

FOLDER = "STICKBREAKER_TEST_DEATHS"


def die_once(number):
    """End this worker, if that has not happened for this number yet."""
    try:
        (Path(os.environ[FOLDER]) / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def local(config, expectations, documents, rng=None):
    """The local step of the HDP. In steps 2 and 4 the worker of one shard ends in the middle of it."""
    if expectations.step in (2, 4) and 0 in expectations.words:
        die_once(expectations.step)
    return hdp.local(config, expectations, documents, rng)
