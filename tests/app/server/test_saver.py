"""Runs on a disk that fails, in damaged files, on two servers and after a crash: one sentence says
what is so.
"""

import shutil
import threading
from dataclasses import replace
from zipfile import ZipFile

import pytest

from stickbreaker.app.model.disk_space import OPEN_RUNS
from stickbreaker.app.model.page_notes import read_status
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.record import RESTORED_AT_START
from stickbreaker.app.model.run_spec import LiveSettings
from stickbreaker.app.model.saved_runs import Address, SavedRun, SavedRuns
from stickbreaker.app.server import service as service_module
from stickbreaker.app.server.saver import Saver
from stickbreaker.app.server.service import RUN_DAMAGED, RUN_GONE, RUN_IN_USE, Service
from stickbreaker.app.server.visitors import Visitor, find_data
from stickbreaker.app.state import RunState
from stickbreaker.app.views.header import Header
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.app.small_runs import Compiled, Page, learn, load_small, small_corpus, small_spec
from tests.chaos.disks import Disk
from tests.patience import limit

# More bytes than an archive has before an array that is in the file; fewer than half an array.
HEADERS = 100
FULL = (
    "This run could not be saved: No space left on device. Free some space on the disk of the"
    " server."
)


@pytest.fixture
def open_service(tmp_path, monkeypatch):
    """Open servers on one folder; all are closed at the end."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "data"))
    services = []

    def open_one(load=load_small):
        services.append(Service(load, Compiled(), 2))
        return services[-1]

    yield open_one
    for each in services:
        each.close()


def learn_one(service, until, page=None):
    """A run that has learned from one mini-batch, is paused and saved."""
    run = service.join(Visitor(), page or Page(), small_spec).run
    run.runner.pause()
    until(lambda: run.runner.progress.status in ("ready", "paused"))
    run.runner.step()
    until(lambda: run.runner.progress.documents_seen and run.runner.progress.status == "paused")
    saved = SavedRuns(find_data(None) / OPEN_RUNS)
    until(lambda: (found := saved.find(run.key)) and read_status(found.checkpoint) == "paused")
    return run


def damage(path):
    """Change a bit in the middle of the largest array of a file; return what the file has then."""
    with ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.compress_size)
    content = bytearray(path.read_bytes())
    content[largest.header_offset + HEADERS + largest.compress_size // 2] ^= 1
    path.write_bytes(content)
    return content


def find_files(tmp_path):
    return sorted((tmp_path / "data" / OPEN_RUNS).glob("[!.]*.npz"))


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("ENOSPC", "No space left on device. Free some space on the disk of the server."),
        ("EROFS", "Read-only file system. Make the data folder of the server writable."),
        ("EIO", "Input/output error. Check the disk of the server."),
    ],
)
def test_a_run_that_could_not_be_saved_is_tried_again_until_it_is(tmp_path, until, error, remedy):
    said = []
    saver = Saver(lambda key, sentence: said.append(sentence), retry_seconds=0.05)
    run = SavedRun("key", "watch", None, learn(small_corpus(), small_spec()).save())
    with Disk(fails_at=1, error=error).between():
        saver.save(SavedRuns(tmp_path), run)
        until(lambda: said)
    until(lambda: not said[-1])
    assert said[0] == f"This run could not be saved: {remedy} Saving is tried again every 0 s."
    assert SavedRuns(tmp_path).find("key").checkpoint.documents_seen == 100
    saver.close()


def test_the_page_says_that_a_run_is_not_saved_until_it_is(open_service, until, monkeypatch):
    monkeypatch.setattr(
        service_module, "Saver", lambda on_fault: Saver(on_fault, retry_seconds=0.05)
    )
    run = learn_one(open_service(), until)
    with Disk(fails_at=1, error="ENOSPC").between():
        run.runner.step()
        until(lambda: run.save_fault)
        assert run.save_fault.startswith(FULL)
    until(lambda: not run.save_fault)


def test_the_line_at_the_top_shows_a_fault_next_to_its_note():
    state = RunState()
    header = Header(state, None)
    state.publish(Progress(status="paused", message="Restored."), fault=FULL)
    assert header.bar.note == f"Restored. {FULL}"
    state.publish(Progress(status="running"))
    assert header.bar.note == FULL
    state.publish(fault="")
    assert header.bar.note == ""


def test_a_damaged_run_is_not_called_missing(open_service, until, tmp_path):
    service = open_service()
    key = learn_one(service, until).key
    service.close()
    (path,) = find_files(tmp_path)
    content = damage(path)
    again = open_service()
    damaged, missing = (
        again.join(Visitor(run=each), Page(), small_spec) for each in (key, "no such key")
    )
    assert (damaged.fault, missing.fault) == (RUN_DAMAGED.format(path.name), RUN_GONE)
    assert key not in (damaged.run.key, missing.run.key)
    assert path.read_bytes() == content


def test_a_run_is_open_on_one_server_at_a_time(open_service, until, tmp_path):
    first, second = open_service(), open_service()
    run = learn_one(first, until)
    for visitor in (Visitor(run=run.key), Visitor(watch=run.watch)):
        refused = second.join(visitor, Page(), small_spec)
        assert (refused.fault, refused.run.key == run.key) == (RUN_IN_USE, False)
    first.close()
    again = second.join(Visitor(run=run.key), Page(), small_spec)
    assert (again.fault, again.run.key) == ("", run.key)
    until(lambda: again.run.runner.progress.status == "paused")
    assert again.run.runner.progress.documents_seen == 10


def test_a_run_that_is_removed_from_memory_can_be_opened_by_another_server(
    open_service, until, monkeypatch
):
    monkeypatch.setattr(service_module, "FREE_AFTER_SECONDS", -1.0)
    first, page = open_service(), Page()
    run = learn_one(first, until, page)
    first.leave(run, page)
    until(lambda: not len(first))
    assert open_service().join(Visitor(run=run.key), Page(), small_spec).run.key == run.key


def test_a_claim_ends_with_its_process_or_its_run(tmp_path):
    saved = SavedRuns(tmp_path)
    name = Address("key", "watch", None).file_name
    held = saved.claim(name)
    assert SavedRuns(tmp_path).claim(name) is None
    assert [path.name for path in tmp_path.iterdir()] == [f".{name}.partial"]
    held.close()
    assert not list(tmp_path.iterdir())
    SavedRuns(tmp_path).claim(name).close()


def test_after_a_crash_the_address_opens_the_run_that_was_chosen_last(
    open_service, until, tmp_path, monkeypatch
):
    gate = threading.Event()

    def load(name, folder):
        assert name != "other" or gate.wait(limit(60))
        return load_small(name)

    run = learn_one(open_service(load), until)
    chosen = replace(small_spec(batch_size=20), corpus_name="other")
    run.runner.restart(chosen)
    saved = SavedRuns(tmp_path / "data" / OPEN_RUNS)
    until(lambda: saved.find(run.key).checkpoint.state is None)
    # A copy of the folder, as a crash leaves it.
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    gate.set()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "copy"))
    again = open_service(load).join(Visitor(run=run.key), Page(), small_spec)
    runner = again.run.runner
    until(lambda: runner.progress.documents_total)
    until(lambda: runner.progress.status == "ready")
    assert (again.fault, again.run.key, runner.progress.corpus_name) == ("", run.key, "other")
    assert (runner.progress.message, runner.progress.documents_seen) == (RESTORED_AT_START, 0)
    runner.set_pace(0.0)
    runner.resume()
    until(lambda: runner.progress.status == "finished")
    assert (runner.progress.config.batch_size, runner.progress.documents_seen) == (20, 100)


def test_settings_that_change_while_a_run_stands_still_are_saved(open_service, until, tmp_path):
    run = learn_one(open_service(), until)

    def read_rate():
        return (
            SavedRuns(tmp_path / "data" / OPEN_RUNS).find(run.key).checkpoint.config.forgetting_rate
        )

    run.runner.configure(LiveSettings(forgetting_rate=0.9))
    until(lambda: read_rate() == 0.9)
