import asyncio
import threading
from contextlib import closing

import pytest

from stickbreaker.app.model.run_spec import LiveSettings
from stickbreaker.app.server import reader
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.service import FREE_AFTER_SECONDS, Service
from stickbreaker.app.server.subscribers import Wakeup
from stickbreaker.app.server.visitors import Visitor
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.app.small_runs import Compiled, Page, Watched, load_small, small_spec
from tests.patience import limit


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def join(service, key, page, make_spec):
    """Come as one who controls the run at this address."""
    return service.join(Visitor(run=key), page, make_spec).run


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def gate():
    return threading.Event()


@pytest.fixture
def held_spec(gate):
    """Makes specs of runs whose mini-batches wait for the gate."""
    return Watched(gate=gate).spec


@pytest.fixture
def service(clock, gate):
    service = Service(load_small, Compiled(), 2, clock)
    yield service
    gate.set()
    service.close()


def test_every_browser_gets_its_own_run_at_an_address_that_cannot_be_guessed(service, held_spec):
    one, other = join(service, None, Page(), held_spec), join(service, None, Page(), held_spec)
    assert one is not other
    assert one.runner is not other.runner
    assert min(len(one.key), len(other.key)) >= 20
    assert one.key != other.key


def test_an_address_that_the_service_did_not_give_out_is_not_used(service, held_spec):
    run = join(service, "chosen-by-a-visitor", Page(), held_spec)
    assert run.key != "chosen-by-a-visitor"


def test_a_reload_returns_to_the_same_run(service, held_spec):
    page = Page()
    run = join(service, None, page, held_spec)
    service.leave(run, page)
    assert join(service, run.key, Page(), held_spec) is run


def test_the_last_page_to_close_pauses_the_run_and_the_first_one_back_resumes_it(
    service, gate, until, held_spec
):
    one, other = Page(), Page()
    run = join(service, None, one, held_spec)
    assert join(service, run.key, other, held_spec) is run
    until(lambda: run.runner.progress.status == "running")
    service.leave(run, one)
    assert run.runner.wants_to_run
    service.leave(run, other)
    gate.set()
    until(lambda: run.runner.progress.status == "paused")
    assert run.runner.progress.documents_seen < 100
    join(service, run.key, Page(), held_spec)
    assert run.runner.wants_to_run


def test_a_run_that_was_paused_by_hand_stays_paused_over_a_reload(service, until, held_spec):
    page = Page()
    run = join(service, None, page, held_spec)
    run.runner.pause()
    service.leave(run, page)
    join(service, run.key, Page(), held_spec)
    assert not run.runner.wants_to_run


def test_a_page_knows_before_it_has_joined_what_it_will_wait_for(service, until, held_spec):
    spec = held_spec()
    assert service.preview(Visitor(), spec).status == "ready"
    runs = [join(service, None, Page(), held_spec) for _ in range(2)]
    until(lambda: all(run.runner.progress.status == "running" for run in runs))
    waiting = service.preview(Visitor(), spec)
    assert waiting.status == "waiting"
    assert "2 other runs are learning, this run is next" in waiting.message
    assert service.preview(Visitor(run="chosen-by-a-visitor"), spec).status == "waiting"
    assert service.preview(Visitor(run=runs[0].key), spec) is runs[0].runner.progress
    assert len(service) == 2


def test_a_page_opened_during_compilation_says_so_at_once(gate, until):
    def compile_slowly(algorithm, config, report):
        report(1, 4, "local step")
        gate.wait(limit(60))

    service = Service(load_small, Compilation(compile_slowly), 2)
    until(lambda: service.preview(Visitor(), small_spec()).compile_share == 0.25)
    assert service.preview(Visitor(), small_spec()).status == "compiling"
    gate.set()
    until(lambda: service.preview(Visitor(), small_spec()).status == "ready")


def test_a_run_without_pages_is_freed_after_five_minutes_and_not_before(
    service, clock, gate, held_spec
):
    page = Page()
    run = join(service, None, page, held_spec)
    join(service, None, Page(), held_spec)
    service.leave(run, page)
    clock.now = FREE_AFTER_SECONDS - 1
    service.remove_idle()
    assert len(service) == 2
    clock.now = FREE_AFTER_SECONDS
    service.remove_idle()
    assert len(service) == 1
    gate.set()
    run.runner.join(limit(30))
    assert join(service, run.key, Page(), held_spec) is not run


def test_a_reload_stops_the_clock(service, clock, held_spec):
    page = Page()
    run = join(service, None, page, held_spec)
    service.leave(run, page)
    clock.now = FREE_AFTER_SECONDS - 1
    join(service, run.key, Page(), held_spec)
    clock.now = 2 * FREE_AFTER_SECONDS
    service.remove_idle()
    assert len(service) == 1


def test_leaving_twice_is_the_same_as_leaving_once(service, clock, held_spec):
    page = Page()
    run = join(service, None, page, held_spec)
    service.leave(run, page)
    clock.now = 10.0
    service.leave(run, page)
    assert run.left_at == 0.0


def test_every_page_of_a_run_is_notified_and_no_other(service, until, held_spec):
    one, other, stranger = Page(), Page(), Page()
    run = join(service, None, one, held_spec)
    join(service, run.key, other, held_spec)
    join(service, None, stranger, lambda: held_spec(max_topics=4))
    until(lambda: one.num_notified and other.num_notified)
    until(lambda: run.runner.progress.status == "running")
    before = stranger.num_notified
    run.runner.configure(LiveSettings(delay=3.0))
    assert stranger.num_notified == before


class Document:
    def __init__(self):
        self.callbacks = []

    def add_next_tick_callback(self, callback):
        self.callbacks.append(callback)

    def answer(self):
        asyncio.run(self.callbacks.pop()())


def test_notifications_between_two_looks_are_one():
    document, looks = Document(), []
    wakeup = Wakeup(document, lambda: looks.append(1))
    wakeup.notify()
    wakeup.notify()
    assert len(document.callbacks) == 1
    document.answer()
    wakeup.notify()
    assert (len(looks), len(document.callbacks)) == (1, 1)


def test_a_closed_wakeup_does_nothing_even_if_it_was_notified_before():
    document, looks = Document(), []
    wakeup = Wakeup(document, lambda: looks.append(1))
    wakeup.notify()
    wakeup.close()
    wakeup.notify()
    document.answer()
    assert (looks, document.callbacks) == ([], [])


def test_a_run_continues_after_a_restart_of_the_server(until, monkeypatch):
    service = Service(load_small, Compiled(), 2)
    run = join(service, None, Page(), small_spec)
    until(lambda: run.runner.progress.documents_seen)
    run.runner.pause()
    until(lambda: run.runner.progress.status == "paused")
    seen = run.runner.progress.documents_seen
    run.reader.ask()
    until(lambda: run.reader.job.status == "ready")
    run.reader.join()
    service.close()
    with closing(Service(load_small, Compiled(), 2)) as again:
        page, watcher = Page(), Page()
        watched = again.join(Visitor(watch=run.watch), watcher, small_spec)
        restored = join(again, run.key, page, small_spec)
        assert (watched.is_watching, watched.run) == (True, restored)
        assert (restored.key, restored.watch, restored.num_watching) == (run.key, run.watch, 1)
        until(lambda: restored.runner.progress.status == "paused")
        assert restored.runner.progress.documents_seen == seen
        monkeypatch.setattr(reader, "read_shares", None)
        restored.reader.ask()
        until(lambda: restored.reader.job.status == "ready")
        restored.runner.set_pace(0.0)
        restored.runner.resume()
        until(lambda: restored.runner.progress.status == "finished")


def test_a_saved_run_of_another_user_is_not_opened(until):
    service = Service(load_small, Compiled(), 2)
    run = service.join(Visitor("anna"), Page(), small_spec).run
    run.runner.set_pace(0.0)
    until(lambda: run.runner.progress.status == "finished")
    service.close()
    with closing(Service(load_small, Compiled(), 2)) as again:
        assert again.join(Visitor("ben", run=run.key), Page(), small_spec).run.key != run.key
        assert join(again, run.key, Page(), small_spec).key != run.key
        assert again.join(Visitor("anna", run=run.key), Page(), small_spec).run.key == run.key


def finish(run, until):
    run.runner.set_pace(0.0)
    run.runner.resume()
    until(lambda: run.runner.progress.status == "finished")


def test_a_name_given_after_a_restoration_reaches_the_kept_run(until, monkeypatch, tmp_path):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    service = Service(load_small, Compiled(), 2)
    run = join(service, None, Page(), small_spec)
    finish(run, until)
    until(lambda: service.find_files(None).kept.listing().runs)
    service.close()
    with closing(Service(load_small, Compiled(), 2)) as again:
        restored = join(again, run.key, Page(), small_spec)
        until(lambda: restored.runner.progress.status == "finished")
        restored.runner.rename(0, "war")
        until(lambda: again.find_files(None).kept.listing().runs[0].topic_names == {"0": "war"})
        (kept,) = again.find_files(None).kept.listing().runs
        restored.runner.set_pace(0.0)
        restored.runner.extend()
        until(lambda: restored.runner.progress.documents_seen == 200)
        until(lambda: len(again.find_files(None).kept.listing().runs) == 2)
        # A run that is opened takes the place of the present one, also on disk.
        restored.runner.restore(again.find_files(None).kept.load_checkpoint(kept.key))
        until(
            lambda: (
                restored.runner.progress.run_id == 3
                and restored.runner.progress.status == "finished"
            )
        )
        assert restored.runner.progress.names == {0: "war"}
        until(lambda: service.find_files(None).runs.find(run.key).checkpoint.documents_seen == 100)
