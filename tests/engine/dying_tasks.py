"""Functions for the workers of a cluster, the first of which ends its process, as when memory runs
out.

The workers import this module, so it must not import pytest.
"""

import os
import signal
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.build_on_workers import PartCounter
from stickbreaker.engine.evaluation.share_files import FileWriter
from stickbreaker.engine.parallel.clusters import TaskCancelledError, stop_if_cancelled
from stickbreaker.engine.runs.cells import measure_sent
from stickbreaker.engine.runs.compile_steps import BATCH_SIZE

FOLDER = "STICKBREAKER_TEST_DEATHS"


def die_once(number):
    """End this worker, if that has not happened for this number yet."""
    try:
        (Path(os.environ[FOLDER]) / str(number)).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def die(number):
    """End this worker for the number 0; return other numbers."""
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def measure_after_death(task):
    """Measure a cell of a study; in the first one with seed 1 the worker ends."""
    if task.cell.run.seed == 1:
        die_once("cell")
    return measure_sent(task)


def measure_until_cancelled(task):
    """Run as long as the study does, and note the beginning and the end."""
    folder = Path(os.environ[FOLDER])
    (folder / "began").touch()
    try:
        for _ in range(12_000):
            stop_if_cancelled()
            time.sleep(0.01)
    except TaskCancelledError:
        (folder / "cancelled").touch()
        raise


class ReturningWriter(FileWriter):
    """Makes files as on a machine that does not have the folder."""

    def __init__(self, reader, work, documents_at_once):
        super().__init__(reader, Path("/nowhere"), documents_at_once)


class DyingCounter(PartCounter):
    """Counts parts.

    The worker of part 1 ends after the part is complete, and before it is known to be.
    """

    def __call__(self, part):
        """The files of a part."""
        files = super().__call__(part)
        if part.number == 1:
            die_once("part")
        return files


def local(config, expectations, documents, rng=None):
    """The HDP's local step; in steps 2 and 4 the worker of one shard ends."""
    if expectations.step in (2, 4) and 0 in expectations.words:
        die_once(expectations.step)
    return hdp.local(config, expectations, documents, rng)


def die_at_random(config, expectations, documents, rng=None):
    """The HDP's local step; one task in 64 ends its worker, once."""
    place = f"{expectations.step}-{documents.words[0]}-{documents.num_tokens}"
    # The mini-batches from which a new worker compiles have fewer documents.
    if documents.num_documents > BATCH_SIZE and sha256(place.encode()).digest()[0] < 4:
        die_once(place)
    return hdp.local(config, expectations, documents, rng)


def slow(config, expectations, documents, rng=None):
    """The HDP's local step, ten times as long on the first worker that calls it."""
    marker = Path(os.environ[FOLDER]) / "slow"
    with suppress(FileExistsError), marker.open("x") as file:
        file.write(str(os.getpid()))
    began = time.perf_counter()
    statistics = hdp.local(config, expectations, documents, rng)
    if marker.read_text() in (str(os.getpid()), ""):
        time.sleep(9 * (time.perf_counter() - began))
    return statistics
