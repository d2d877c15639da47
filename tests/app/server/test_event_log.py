"""What the server writes down of its pages and runs: counts and lines without texts, names and tokens."""

import json
import logging

import pytest

from stickbreaker.app.server import event_log
from stickbreaker.app.server.event_log import LOG_VARIABLE, open_log
from stickbreaker.app.server.service import Service
from stickbreaker.app.server.visitors import Visitor
from tests.app.small_runs import Compiled, Watched, load_small, small_spec


class Page:
    def notify(self):
        pass


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
    assert {event: counts[event] for event in ("page_opened", "page_closed", "run_started", "run_finished")} == {
        "page_opened": 2,
        "page_closed": 1,
        "run_started": 2,
        "run_finished": 1,
    }
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines if line["event"].startswith("run_")][:2] == ["run_started", "run_finished"]
    (failed,) = (line for line in lines if line["event"] == "run_failed")
    assert (failed["algorithm"], failed["documents"], failed["fault"]) == ("hdp", 10, "FloatingPointError")
    for secret in (run.key, run.watch, "anna", "infinite", "small"):
        assert secret not in log.read_text()


def test_a_log_that_cannot_be_written_ends_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv(LOG_VARIABLE, str(tmp_path / "missing" / "events.jsonl"))
    with pytest.raises(OSError, match="missing"):
        event_log.open_log()
