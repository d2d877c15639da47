"""What the server writes down of its pages and runs: counts and lines without texts, names and
tokens.
"""

import json
import logging

import pytest

from stickbreaker.app.model.limits import CORPORA, LimitReachedError, find_fault
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState
from stickbreaker.app.server import event_log
from stickbreaker.app.server.event_log import LOG_VARIABLE, EventLog, RunEvents, open_log
from stickbreaker.app.server.service import Service
from stickbreaker.app.server.visitors import Visitor
from tests.app.small_runs import Compiled, Page, Watched, load_small, small_spec


@pytest.fixture
def log(tmp_path, monkeypatch):
    path, logger = tmp_path / "events.jsonl", logging.getLogger("stickbreaker.events")
    monkeypatch.setenv(LOG_VARIABLE, str(path))
    open_log()
    yield path
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()


def test_pages_and_runs_are_counted_and_written_without_names_and_tokens(log, until):
    service = Service(load_small, Compiled(), 2)
    page = Page()
    try:
        run = service.join(Visitor("anna"), page, small_spec).run
        run.runner.set_pace(0.0)
        until(lambda: run.runner.progress.status == "finished")
        assert service.count_runs()["finished"] == 1
        assert service.count_pages() == 1
        service.leave(run, page)
        failing = service.join(Visitor("anna"), Page(), Watched(fails_at=2).spec).run
        failing.runner.set_pace(0.0)
        until(lambda: service.events.counts()["run_failed"])
    finally:
        service.close()
    counts = service.events.counts()
    assert {
        event: counts[event]
        for event in ("page_opened", "page_closed", "run_started", "run_finished")
    } == {
        "page_opened": 2,
        "page_closed": 1,
        "run_started": 2,
        "run_finished": 1,
    }
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines if line["event"].startswith("run_")][:2] == [
        "run_started",
        "run_finished",
    ]
    (failed,) = (line for line in lines if line["event"] == "run_failed")
    assert failed["algorithm"] == "hdp"
    assert failed["documents"] == 10
    assert failed["fault"] == "FloatingPointError"
    for secret in (run.key, run.watch, "anna", "infinite", "small"):
        assert secret not in log.read_text()


def test_a_run_a_reading_and_runs_of_a_sweep_that_fail_are_written_once_by_the_type_of_their_error(
    log,
):
    events = EventLog()
    run = RunEvents(events, "a secret key")
    failed = Progress(run_id=1, status="failed", message="ValueError: a secret word")
    reading = ReadingJob(status="failed", message="KeyError: a secret title")
    points = [
        SweepPoint(
            title="a secret run",
            label="",
            config=None,
            status=status,
            message=message,
            heldout=None,
        )
        for status, message in (("finished", ""), ("failed", "FloatingPointError: a secret topic"))
    ]
    for number in (1, 2, 2):
        run.look(failed, reading, SweepState(status="running", points=tuple(points[:number])))
    run.look(failed, ReadingJob(), SweepState())
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["event"], line["fault"]) for line in lines] == [
        ("run_failed", "ValueError"),
        ("reading_failed", "KeyError"),
        ("sweep_run_failed", "FloatingPointError"),
    ]
    assert "secret" not in log.read_text()


def test_runs_of_a_saved_sweep_are_not_written_again(log):
    point = SweepPoint(
        title="", label="", config=None, status="failed", message="ValueError", heldout=None
    )
    sweep = SweepState(status="stopped", points=(point,))
    RunEvents(EventLog(), "key", sweep=sweep).look(Progress(), ReadingJob(), sweep)
    assert log.read_text() == ""


def test_a_run_that_cannot_be_kept_is_written_and_still_raises_its_error(log):
    events = EventLog()
    with pytest.raises(OSError, match="no space"), RunEvents(events, "key").keeping():
        raise OSError("no space for a secret")
    assert events.counts()["run_not_kept"] == 1
    assert json.loads(log.read_text())["fault"] == "OSError"
    assert "secret" not in log.read_text()


def test_a_limit_that_is_reached_is_written_with_its_name_and_without_a_run_where_there_is_none(
    log,
):
    events = EventLog()
    events.write_fault("text_failed", find_fault(LimitReachedError(CORPORA, "a secret corpus")))
    events.write("login_failed")
    first, second = (json.loads(line) for line in log.read_text().splitlines())
    assert (first["event"], first["limit"]) == ("limit_reached", "corpora")
    assert second.keys() == {"time", "event"}
    assert "secret" not in log.read_text()


def test_a_log_that_cannot_be_written_ends_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG_VARIABLE, str(tmp_path / "missing" / "events.jsonl"))
    with pytest.raises(OSError, match="missing"):
        event_log.open_log()
