"""A served page that measures itself: `panel serve app --plugins tests.benchmarks.watched`, then
/watched.

The page is unchanged, except that the clock is read around each `Session.look` and each engine's
run.
"""

import gc
import json
import os
import resource
import time
from contextlib import suppress
from functools import wraps
from pathlib import Path

from tornado.web import RequestHandler

from stickbreaker import engine
from stickbreaker.app.session.session import Session

PAGE_BYTES = resource.getpagesize()

looks, openings, presented, speeds = [], [], [], []
learned = []
look, run = Session.look, engine.run


@wraps(look)
def timed_look(session):
    """As before.

    Counts only looks with something new to show, and the look that first draws the page separately.
    """
    before, began, worked = session.state.progress, time.perf_counter(), time.thread_time()
    look(session)
    if session.state.progress is not before:
        kind = openings if before is None else looks
        kind.append([1_000 * (time.perf_counter() - began), 1_000 * (time.thread_time() - worked)])
        if kind is looks and session.state.may_act:
            presented.append(kind[-1])


@wraps(run)
def timed_run(*arguments, **options):
    """As `engine.run`.

    A run that ends leaves its documents a second, the time between its updates included.
    """
    updates, sent, began = run(*arguments, **options), None, time.perf_counter()
    while True:
        try:
            update = updates.send(sent)
        except StopIteration:
            return
        if not learned:
            learned.extend((time.time(), count_processor_seconds()))
        if update.is_last:
            speeds.append(update.stepped.documents_seen / (time.perf_counter() - began))
        sent = yield update


def count_processor_seconds():
    """Processor seconds of this process and of those that it has started, also while they run."""
    seconds = sum(os.times()[:4])
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


class WatchedHandler(RequestHandler):
    """Megabytes, threads, open files and sessions of the server, and the looks and speeds since the
    last question.

    `openings` are first looks, `presented` those of pages that control a run. A look has two times
    in milliseconds: by the clock, and of the processor for its thread alone. `thread_seconds` is
    the processor time of this thread, which works for all pages, since its start, without that of
    the garbage collections here. `learned`: when the first mini-batch of a run was learned, and the processor seconds until then; [] before.
    """

    collecting = 0.0

    def get(self):
        began = time.thread_time()
        gc.collect()
        WatchedHandler.collecting += time.thread_time() - began
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
        process = {
            "megabytes": resident / 2**20,
            "threads": len(list(Path("/proc/self/task").iterdir())),
            "files": len(list(Path("/proc/self/fd").iterdir())),
            "sessions": len(self.application.get_sessions("/app")),
            "thread_seconds": time.thread_time() - WatchedHandler.collecting,
        }
        said = {"looks": looks, "openings": openings, "presented": presented, "speeds": speeds}
        self.write(json.dumps(process | said | {"learned": learned}))
        for each in said.values():
            each.clear()


Session.look, engine.run = timed_look, timed_run
ROUTES = [("/watched", WatchedHandler, {})]
