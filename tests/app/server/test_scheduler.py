"""Runs, sweeps and readings of the page on the workers of a Dask cluster, with the same results."""

import os
import subprocess
import sys

import numpy as np
import pytest

from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.scheduler import VARIABLE, connect_once, find_client, find_cluster
from stickbreaker.engine import find_algorithm
from stickbreaker.engine.parallel.clusters import ClusterError
from tests.app.small_runs import SETTINGS, RunSpec, small_spec
from tests.patience import limit

distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.recovery, pytest.mark.extended]


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def named(address, monkeypatch):
    """The scheduler is named in the environment; all is forgotten afterwards."""
    monkeypatch.setenv(VARIABLE, address)
    connect_once.cache_clear()
    yield
    find_client().close()
    connect_once.cache_clear()


def finish(runner, spec, until):
    runner.restart(spec)
    until(lambda: runner.progress.status in ("finished", "failed"))
    assert runner.progress.status == "finished", runner.progress.message
    return runner.model().state.topic_counts.dense()


def test_a_run_and_a_reading_on_workers_have_the_bits_of_those_in_this_process(
    named, make_runner, until
):
    here, there = make_runner(), make_runner(find_client=find_client)
    np.testing.assert_array_equal(
        finish(there, small_spec(), until), finish(here, small_spec(), until)
    )
    read = []
    for find in (find_cluster, lambda: None):
        reader = Reader(there.model, lambda: None, find_cluster=find)
        reader.ask()
        reader.join()
        assert reader.job.status == "ready", reader.job.message
        read.append(reader.job.reading.doc_shares)
    assert (read[0] != read[1]).nnz == 0


@pytest.mark.parametrize(("name", "is_divided"), [("lda", True), ("free-hdp", False)])
def test_an_algorithm_whose_steps_cannot_be_divided_learns_in_this_process(
    name, is_divided, make_runner, until
):
    asked, algorithm = [], find_algorithm(name)
    runner = make_runner(find_client=lambda: asked.append(name))
    finish(runner, RunSpec("small", algorithm, algorithm.config(batch_size=10), SETTINGS), until)
    assert bool(asked) == is_divided


def test_without_a_scheduler_nothing_is_connected(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    connect_once.cache_clear()
    assert find_client() is None
    assert find_cluster() is None


def test_a_server_whose_scheduler_does_not_answer_is_not_started_and_says_so_in_one_sentence():
    code = (
        f"import os; os.environ['{VARIABLE}'] = 'tcp://127.0.0.1:9';"
        " from stickbreaker.app.server import scheduler; scheduler.SECONDS_TO_CONNECT = 1;"
        " import stickbreaker.app.app_hooks"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=limit(60), check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        f"Not started. {VARIABLE} is 'tcp://127.0.0.1:9', where no scheduler answers: run `dask"
        " scheduler` there, or remove the variable.\n"
    )


MALFORMED = ("localhost", "tcp://localhost:port", "http://localhost:8786")
ASK = f"""
import os
from stickbreaker.app.server.scheduler import ClusterError, find_client
for address in {MALFORMED}:
    os.environ["{VARIABLE}"] = address
    try:
        find_client()
    except ClusterError as error:
        print(error)
"""


def test_a_malformed_address_is_named_and_leaves_no_traceback_when_the_process_ends():
    ended = subprocess.run(
        [sys.executable, "-c", ASK], capture_output=True, text=True, timeout=limit(60), check=False
    )
    remedy = "which is no address: write tcp://HOST:8786, or remove the variable."
    assert ended.stdout.splitlines() == [f"{VARIABLE} is {each!r}, {remedy}" for each in MALFORMED]
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("file", "reason"),
    [("", "which needs certificates"), ("/no/such.pem", "but its certificates cannot be read (")],
)
def test_an_address_that_needs_certificates_names_the_variables_to_set(file, reason):
    code = f"import os; os.environ['{VARIABLE}'] = 'tls://127.0.0.1:9';"
    variables = [
        f"DASK_DISTRIBUTED__COMM__TLS__{name}"
        for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY")
    ]
    environment = os.environ | dict.fromkeys(variables if file else (), file)
    ended = subprocess.run(
        [sys.executable, "-c", f"{code} import stickbreaker.app.app_hooks"],
        capture_output=True,
        text=True,
        timeout=limit(60),
        check=False,
        env=environment,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"STICKBREAKER_SCHEDULER is 'tls://127.0.0.1:9', {reason}" in ended.stderr
    assert (
        f": set {variables[0]}, {variables[1]} and {variables[2]} to the files of the cluster."
        in ended.stderr
    )


def test_a_client_that_has_closed_because_the_scheduler_was_away_is_replaced(named):
    client = find_client()
    assert find_client() is client
    client.close()
    assert find_client().status == "running"
    assert find_cluster().client is find_client()


def test_a_paused_run_continues_after_the_scheduler_was_away(named, make_runner, until):
    here, there = make_runner(), make_runner(find_client=find_client)
    there.restart(small_spec(), is_running=False)
    there.step()
    until(lambda: there.progress.status == "paused" and there.progress.documents_seen == 10)
    find_client().close()
    there.resume()
    until(lambda: there.progress.status in ("finished", "failed"))
    assert there.progress.status == "finished", there.progress.message
    np.testing.assert_array_equal(
        there.model().state.topic_counts.dense(), finish(here, small_spec(), until)
    )
    for column in ("documents_seen", "nats_per_word"):
        np.testing.assert_array_equal(there.progress.heldout[column], here.progress.heldout[column])


def test_a_scheduler_without_dask_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    connect_once.cache_clear()
    with pytest.raises(ClusterError, match="needs Dask"):
        find_client()
