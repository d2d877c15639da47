"""How many runs are in memory: which of them make room, and what a user is told if there is no
room.
"""

import threading

import pytest

from stickbreaker.app.model.limits import RUNS, RUNS_MEMORY, RUNS_PER_USER, LimitReachedError
from stickbreaker.app.server.claims import GUEST
from stickbreaker.app.server.run_budget import HeldRun, Measured, choose_freed, measure
from stickbreaker.app.server.service import Service
from stickbreaker.app.server.visitors import Visitor
from tests.app.small_runs import Compiled, Page, Watched, load_small, small_spec


def hold(key, user="anna", size=0, left_at=None):
    """A run in memory."""
    return HeldRun(key=key, user=user, size=size, left_at=left_at)


@pytest.fixture(autouse=True)
def limits(set_limit):
    set_limit(RUNS, 5)
    set_limit(RUNS_PER_USER, 3)
    set_limit(RUNS_MEMORY, 1)


def test_the_oldest_abandoned_run_of_a_user_makes_room_for_the_next_one():
    held = [
        hold("new", left_at=9.0),
        hold("old", left_at=1.0),
        hold("open"),
        hold("other", "ben", left_at=0.0),
    ]
    assert choose_freed(held, "anna") == ["old"]
    assert choose_freed(held[:2], "anna") == []


def test_a_user_whose_runs_all_have_a_page_is_told_what_to_close():
    held = [hold(str(number)) for number in range(3)] + [hold("other", "ben", left_at=0.0)]
    with pytest.raises(
        LimitReachedError, match=r"You have 3 runs .*STICKBREAKER_PAGES_PER_USER\): close a"
    ) as told:
        choose_freed(held, "anna")
    assert told.value.limit == RUNS_PER_USER
    assert choose_freed(held, "ben") == []


@pytest.mark.parametrize("user", [None, GUEST])
def test_visitors_without_a_login_share_the_limit_of_the_server(user):
    held = [hold(str(number), user) for number in range(5)]
    with pytest.raises(
        LimitReachedError, match=r"This server has 5 runs .*STICKBREAKER_PAGES\): try again later"
    ):
        choose_freed(held, user)
    assert choose_freed(held[:4], user) == []
    assert choose_freed([*held[:4], hold("left", user, left_at=3.0)], user) == ["left"]


def test_runs_that_need_much_memory_make_room_or_are_the_last():
    held = [hold("one", size=600_000_000, left_at=1.0), hold("two", "ben", 700_000_000)]
    assert choose_freed(held, "anna") == ["one"]
    with pytest.raises(
        LimitReachedError,
        match=r"need about 1\.3 GB of memory, but the limit .* is 1\.0 GB .*close a",
    ):
        choose_freed([each._replace(left_at=None) for each in held], "anna")
    assert choose_freed([], "anna") == []


@pytest.fixture
def service():
    service = Service(load_small, Compiled(), 2)
    yield service
    service.close()


def open_and_leave(service, user, make_spec=small_spec):
    page = Page()
    run = service.join(Visitor(user), page, make_spec).run
    service.leave(run, page)
    return run


def test_a_user_who_opens_and_leaves_many_runs_keeps_few_of_them_and_few_threads(service, until):
    other = service.join(Visitor("ben"), Page(), small_spec).run
    num_threads = threading.active_count()
    runs = [open_and_leave(service, "anna") for _ in range(60)]
    assert len(service) == 1 + 3
    until(lambda: threading.active_count() <= num_threads + 10)
    assert other.left_at is None
    for run in runs[-3:]:
        assert service.join(Visitor("anna", run=run.key), Page(), small_spec).run is run


def test_a_run_that_made_room_is_opened_again_where_it_was(service, until):
    page = Page()
    first = service.join(Visitor("anna"), page, small_spec).run
    first.runner.set_pace(0.0)
    until(lambda: first.runner.progress.status == "finished")
    service.leave(first, page)
    for _ in range(3):
        open_and_leave(service, "anna")
    first.runner.join()
    attachment = service.join(Visitor("anna", run=first.key), Page(), small_spec)
    assert attachment.run is not first
    assert attachment.run.key == first.key
    until(lambda: attachment.run.runner.progress.documents_seen == 100)


def test_a_user_with_too_many_open_runs_is_refused_and_others_are_not(service):
    for _ in range(3):
        service.join(Visitor("anna"), Page(), small_spec)
    with pytest.raises(LimitReachedError, match="You have 3 runs"):
        service.join(Visitor("anna"), Page(), small_spec)
    assert service.events.counts()["limit_reached"] == 1
    service.join(Visitor("ben"), Page(), small_spec)
    assert len(service) == 4


def test_a_run_does_not_begin_while_the_others_take_all_memory(service, until, set_limit):
    gate = threading.Event()
    first = service.join(Visitor("anna"), Page(), Watched(gate=gate).spec).run
    second = service.join(Visitor("ben"), Page(), small_spec).run
    for run in (first, second):
        until(lambda run=run: run.runner.corpus is not None and run.runner.progress.corpus_size)
        measured = measure(run.runner.progress, run.runner.corpus, Measured())
        # 10 arrays of 20 words, three topics and 4 bytes.
        assert measured.size >= 10 * 20 * 3 * 4
        assert measure(run.runner.progress, None, measured).size == 0
    set_limit(RUNS_MEMORY, 0.000001)
    second.runner.restart(small_spec(batch_size=20))
    until(lambda: second.runner.progress.status == "failed")
    assert "The runs on this server need about" in second.runner.progress.message
    assert "STICKBREAKER_RUNS_MEMORY" in second.runner.progress.message
    gate.set()
