"""What a server that is killed in the middle of a sweep leaves on disk, and what the next one makes
of it.
"""

import multiprocessing
import os
import shutil
import signal
import threading
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import panel as pn
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from stickbreaker.app.model.disk_space import OPEN_RUNS
from stickbreaker.app.model.page_notes import PAGE
from stickbreaker.app.model.saved_runs import SavedRuns
from stickbreaker.app.model.saved_sweeps import SavedSweeps
from stickbreaker.app.model.sweep_plan import describe_sweep, plan_sweep
from stickbreaker.app.server.service import Service
from stickbreaker.app.server.visitors import Visitor
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.session import Session
from stickbreaker.app.state import PRESENTER, WATCHER
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE, load_own
from tests.app.conftest import eventually
from tests.app.small_runs import Compiled, Page, Watched, small_spec
from tests.chaos.stored import write_notes
from tests.patience import limit

pytestmark = pytest.mark.chaos

OWN = "my-letters"
SIZES = {"batch_size": (5, 10, 20), "forgetting_rate": (0.6, 0.8)}
# For the start of a process that imports everything, and all that it does.
PATIENCE_SECONDS = limit(100)


def own_spec(**values):
    return replace(small_spec(**values), corpus_name=OWN)


def open_service():
    return Service(load_own, Compiled(), 2)


def live_and_die(folder, pipe):
    """Run on an own corpus, name a topic, and end in the third of six runs of a sweep."""
    build_own(BuildRequest(write_notes(folder, num_documents=60), OWN), folder=folder / "corpora")
    service = open_service()
    run = service.join(Visitor(), Page(), own_spec).run
    run.runner.set_pace(0.0)
    eventually(lambda: service.find_files(None).kept.listing().runs)
    run.runner.rename(1, "war")
    eventually(lambda: service.find_files(None).kept.listing().runs[0].topic_names)
    saved = SavedRuns(folder / OPEN_RUNS)
    eventually(
        lambda: (found := saved.find(run.key)) and "war" in str(found.checkpoint.notes[PAGE])
    )
    plan = plan_sweep(own_spec(), [], SIZES)
    held = replace(plan[2], algorithm=Watched(gate=threading.Event()).algorithm)
    run.sweep.start((*plan[:2], held, *plan[3:]))
    sweeps = SavedSweeps(folder / OPEN_RUNS)
    eventually(lambda: len(sweeps.find(run.key).points) == 2)
    pipe.send(run.key)
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """The folder of a server that was killed, and the key of its run."""
    folder = tmp_path_factory.mktemp("killed")
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder))
        process = context.Process(target=live_and_die, args=(folder, far), daemon=True)
        process.start()
        try:
            assert near.poll(PATIENCE_SECONDS)
            key = near.recv()
            process.join(PATIENCE_SECONDS)
        finally:
            process.kill()
    assert process.exitcode == -signal.SIGKILL
    return SimpleNamespace(folder=folder, key=key)


@pytest.fixture
def service(killed, tmp_path, monkeypatch):
    """The next server, on a copy of the folder."""
    shutil.copytree(killed.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    service = open_service()
    yield service
    service.close()


def test_the_corpus_and_a_name_given_after_the_end_are_restored(service, killed, until):
    run = service.join(Visitor(run=killed.key), Page(), small_spec).run
    until(lambda: run.runner.progress.status == "finished")
    assert run.key == killed.key
    assert run.runner.progress.corpus_name == OWN
    assert run.runner.progress.names == {1: "war"}
    named = [kept for kept in service.find_files(None).kept.listing().runs if not kept.sweep]
    assert [kept.topic_names for kept in named] == [{"1": "war"}]


def test_a_sweep_that_was_stopped_continues_with_the_run_that_was_interrupted(
    service, killed, until
):
    run = service.join(Visitor(run=killed.key), Page(), small_spec).run
    before = run.sweep.state
    assert (before.status, len(before.plan), len(before.points)) == ("stopped", 6, 2)
    assert describe_sweep(before).startswith("The sweep of 6 runs stopped after 2")
    assert describe_sweep(before).endswith("Continue?")
    run.sweep.resume()
    until(lambda: run.sweep.state.status == "finished")
    assert run.sweep.state.points[:2] == before.points

    def find_kept():
        return [each for each in service.find_files(None).kept.listing().runs if each.sweep]

    # A run is kept after its end is known.
    until(lambda: len(find_kept()) == 6)
    kept = find_kept()
    found = sorted((each.config["batch_size"], each.config["forgetting_rate"]) for each in kept)
    assert found == [(size, rate) for size in (5, 10, 20) for rate in (0.6, 0.8)]
    assert {each.sweep for each in kept} == {"sweep of 6 runs"}


def test_a_sweep_that_has_finished_is_shown_again_after_a_restart(service, killed, until, tmp_path):
    run = service.join(Visitor(run=killed.key), Page(), small_spec).run
    run.sweep.resume()
    saved = SavedSweeps(tmp_path / OPEN_RUNS)
    until(lambda: saved.find(run.key).status == "finished")
    service.close()
    with closing(open_service()) as again:
        restored = again.join(Visitor(run=killed.key), Page(), small_spec).run
        assert restored.sweep.state == run.sweep.state


def test_a_page_of_the_restored_run_reads_its_corpus_again_and_offers_its_sweep(
    service, killed, until
):
    document = Document()
    with set_curdoc(document):
        pn.state.location.search = f"?run={killed.key}"
        session = Session(service, own_spec)
        lay_out(session).server_doc(document)
        session.start()
        try:
            until(lambda: session.run.runner.progress.status == "finished")
            session.state.page = "Topics"
            session.look()
            until(lambda: session.run.reader.job.status == "ready")
            session.state.page = "Compare"
            sweep = session.pages["Compare"].sweep
            assert sweep.resume.visible
            session.state.role = WATCHER
            assert not sweep.resume.visible
            session.state.role = PRESENTER
            sweep.resume.clicks += 1
            until(lambda: session.run.sweep.state.status == "finished")
            session.look()
            assert not sweep.resume.visible
        finally:
            session.stop()
