"""The page in long use: memory, ticks, the cost of watching for the engine, and the time to show
and to answer.

    python -m tests.benchmarks.soak [--minutes 20] [--browsers 5] [--rounds 3] [--corpus NAME]
    [--json FILE]
                                    [--tables opening paint drawing controls class engine soak]
                                    [--phones 10] [--watchers 50]

A separate server (`tests.benchmarks.watched`) with a separate folder, and Chromium, run on this
machine: the time that a browser takes to draw is lost to the engine, as for a reader with a server
at home. In turn:

* opening: milliseconds of the server's processor from the request for a page until it has sent all
  of it, without a browser; the run of the page learns at its usual pace meanwhile.
* first paint: seconds from the request to the first text, to the state of the run, to the first
  curve and to the settings; of the first visit of a browser, and the median of some more, when it
  has the page's files already.
* drawing: the part of the time in which the browser's main thread works, and computes styles, while
  a run learns at its usual pace.
* controls: milliseconds from the press to the visible answer, while a run learns.
* class: seconds until each of some phones that open the link of a run at the same time, in browsers
  of their size, shows its words and curve as text, and the state of the run and its word lists on
  the page itself; then milliseconds of the presenter's ticks while some watchers without browsers
  are connected, and the run learns at ten mini-batches a second.
* the engine: documents per second of the same run, at full speed, alone in a process, and on the
  server with one page and with all pages open. The three alternate, and a ratio compares
  neighbours.
* the soak: all browsers open separate runs, run them again at full speed, share them, open each
  page, export the curves, reload and close, many times. A tick that waits for a core or for the
  engine's threads takes more clock time than processor time. Megabytes are the resident memory of
  the server after a garbage collection; its threads and its open files are counted at the same
  moment. Errors are those in the log of the server and in the consoles of the browsers. The memory
  that a session leaves is the slope of memory over closed sessions, in the last two thirds: before
  that, caches and kept runs fill up.
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
import time
import urllib.request
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd
from playwright.sync_api import expect, sync_playwright

from stickbreaker import engine
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.benchmarks.heldout import to_markdown, write_json
from tests.browser.conftest import SECONDS_UNUSED, serving
from tests.browser.conftest import watch as watch_for_errors
from tests.browser.dashboard import (
    FIRST_SECONDS,
    PAGES,
    PHONE,
    WIDE,
    Dashboard,
    leave_settings_open,
)
from tests.conftest import BROWSER_FLAGS, find_browser
from tests.security.served import Page

NUM_OPENINGS, NUM_VISITS, NUM_PRESSES = 12, 5, 5
SECONDS_WATCHED = 30
SECONDS_DRAWN = 10
SECONDS_TO_SEND = 1.0
TABLES = ("opening", "paint", "drawing", "controls", "class", "engine", "soak")
OF_SERVER = ("megabytes", "threads", "files", "sessions")
ROW_SECONDS = 60
SECONDS_TO_FINISH = 600
LOGGED_ERROR = re.compile(r"^Traceback|\bERROR\b|\bCRITICAL\b", re.MULTILINE)
PERCENTILES = (50, 95, 99)
PLACES = {
    "state of the run": [".bar .state"],
    "first curve": [".curves-grid", "canvas"],
    "settings": [".MuiSlider-root"],
}
# Before the page is drawn, a browser shows the run as text. The curves of the page come when a user
# scrolls to them.
PHONE_PLACES = {
    "words and curve, as text": ["#opening polyline"],
    "state of the run": PLACES["state of the run"],
    "word lists": [".word-table", "td.now"],
}
# Milliseconds between two looks at a page. Each look lays the page out, so ten phones are looked at
# less often.
PAUSE, PHONE_PAUSE = 40, 200
SEEK = """(places, pause) => {
  const find = (root, wanted) => root.querySelector(wanted) ?? [...root.querySelectorAll("*")].reduce(
    (found, node) => found ?? (node.shadowRoot && find(node.shadowRoot, wanted)), null)
  const isSeen = (path) => {
    const node = path.reduce((node, wanted) => node && find(node.shadowRoot ?? node, wanted), document)
    // The page is laid out before it is visible.
    return node?.getBoundingClientRect().height && getComputedStyle(node).visibility === "visible"
  }
  window.seenAt = {}
  const look = () => {
    const missing = Object.keys(places).filter((name) => !(name in seenAt))
    for (const name of missing) { if (isSeen(places[name])) { seenAt[name] = performance.now() } }
    if (missing.length) { setTimeout(look, pause) }
  }
  look()
}"""
AWAIT_ANSWER = """(node, attribute) => {
  const read = () => attribute ? node.getAttribute(attribute) : node.textContent
  const before = read()
  window.answeredAfter = undefined
  const begin = () => {
    const began = performance.now()
    const look = () => {
      if (read() !== before) { window.answeredAfter = performance.now() - began } else { requestAnimationFrame(look) }
    }
    look()
  }
  window.awaited?.abort()
  window.awaited = new AbortController()
  for (const kind of ["pointerdown", "keydown"]) {
    window.addEventListener(kind, begin, {capture: true, once: true, signal: window.awaited.signal})
  }
}"""


class Server:
    """The address of a watched server, its measurements, and the errors in its log and in the
    browsers.
    """

    def __init__(self, address, log):
        self.address, self.log, self.faults = address, log, []

    def ask(self):
        """Memory, sessions, and the looks and speeds since it was asked last."""
        with urllib.request.urlopen(f"{self.address.rsplit('/', 1)[0]}/watched") as answer:
            return json.load(answer)

    def count_errors(self):
        """Errors since the start."""
        return len(LOGGED_ERROR.findall(self.log.read_text())) + len(self.faults)


def open_page(browser, address, learns=True, faults=None):
    """A page in a browser of its own; errors of the browser are added to `faults`."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(60_000)
    leave_settings_open(context)
    if faults is not None:
        watch_for_errors(context, address, faults)
    return Dashboard(context.new_page()).open(address, learns)


async def open_without_browser(address):
    """Open a page, receive all of it, and close it."""
    page = await Page.open(address)
    await asyncio.sleep(SECONDS_TO_SEND)
    await page.close()


def measure_opening(server):
    """A row of milliseconds of the pages' thread for one page, after the first visit."""
    worked = []
    for _ in range(NUM_OPENINGS + 1):
        before = server.ask()["thread_seconds"]
        # The loop of Playwright runs in this thread.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, open_without_browser(server.address)).result()
        worked.append(1_000 * (server.ask()["thread_seconds"] - before))
    return [
        {
            "what": "opening a page",
            "median_cpu_ms": float(np.median(worked[1:])),
            "least_cpu_ms": min(worked[1:]),
        }
    ]


def measure_paint(browser, address):
    """Rows of seconds until something is seen, with and without a warm cache."""
    context = browser.new_context(viewport=WIDE)
    context.add_init_script(f"({SEEK})({json.dumps(PLACES)}, {PAUSE})")
    seconds = []
    for _ in range(NUM_VISITS + 1):
        page = context.new_page()
        page.goto(address, timeout=FIRST_SECONDS)
        page.wait_for_function(
            f"() => Object.keys(seenAt).length === {len(PLACES)}", timeout=FIRST_SECONDS
        )
        first = page.evaluate(
            "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
        )
        seconds.append({"first text": first, **page.evaluate("() => seenAt")})
        Dashboard(page).leave()
        page.close()
    context.close()
    visits = pd.DataFrame(seconds) / 1_000
    cold, warm = visits.iloc[0], visits.iloc[1:]
    first = [
        {"what": f"{name}, first visit", "median_seconds": cold[name], "worst_seconds": cold[name]}
        for name in ("first text", *PLACES)
    ]
    return first + [
        {"what": name, "median_seconds": warm[name].median(), "worst_seconds": warm[name].max()}
        for name in ("first text", *PLACES)
    ]


def measure_drawing(browser, address):
    """Rows of the part of the time that the browser works for a page whose run learns."""
    dashboard = open_page(browser, address)
    asked = dashboard.page.context.new_cdp_session(dashboard.page)
    asked.send("Performance.enable")

    def count_seconds():
        metrics = asked.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics}

    before = count_seconds()
    dashboard.page.wait_for_timeout(1_000 * SECONDS_DRAWN)
    after = count_seconds()
    dashboard.leave()
    dashboard.page.context.close()
    seconds = after["Timestamp"] - before["Timestamp"]
    return [
        {"what": what, "share": (after[name] - before[name]) / seconds}
        for what, name in {
            "main thread": "TaskDuration",
            "styles": "RecalcStyleDuration",
            "layout": "LayoutDuration",
            "scripts": "ScriptDuration",
        }.items()
    ]


def measure_controls(browser, address):
    """Rows of milliseconds from a press to its answer, while the run learns."""
    dashboard = open_page(browser, address)
    page, taken = dashboard.page, {}

    def time_answer(name, node, press, attribute=None):
        node.evaluate(AWAIT_ANSWER, attribute)
        press()
        page.wait_for_function("() => window.answeredAfter !== undefined")
        taken.setdefault(name, []).append(page.evaluate("() => window.answeredAfter"))

    slider = dashboard.slider("forgetting_rate")
    for number in range(NUM_PRESSES):
        dashboard.expect_state("Running")
        time_answer("Pause: the state", dashboard.state, dashboard.button("Pause").click)
        dashboard.expect_state("Paused")
        time_answer("Run: the state", dashboard.state, dashboard.button("Run").click)
        key = ("ArrowRight", "ArrowLeft")[number % 2]
        slider.focus()
        time_answer(
            "slider κ: its value",
            slider,
            lambda key=key: page.keyboard.press(key),
            "aria-valuetext",
        )
        for name in ("Topics", "Live"):
            tab = dashboard.button(name)
            time_answer("tab: the tab", tab, tab.click, "aria-pressed")
            page.wait_for_timeout(1_000)
    dashboard.leave()
    page.context.close()
    return [
        {"what": name, "median_ms": float(np.median(values)), "worst_ms": max(values)}
        for name, values in taken.items()
    ]


def measure_class(browser, server, num_phones, num_watchers):
    """Rows of seconds until phones show a run, and of the presenter's ticks in a class."""
    presenter = open_page(browser, server.address)
    presenter.button("Share").click()
    link = presenter.page.get_by_label("Link to watch this run").input_value()
    # A class joins a run that has a curve.
    expect(presenter.documents).to_have_text(re.compile(r"^[2-9],"))
    phones = [browser.new_context(viewport=PHONE).new_page() for _ in range(num_phones)]
    for page in phones:
        page.add_init_script(f"({SEEK})({json.dumps(PHONE_PLACES)}, {PHONE_PAUSE})")
    for page in phones:
        # Without waiting for the page, so that all of them load together.
        page.evaluate("link => { window.location.href = link }", link)
    seconds = []
    for page in phones:
        page.wait_for_function(
            f"() => Object.keys(window.seenAt ?? {{}}).length === {len(PHONE_PLACES)}",
            timeout=FIRST_SECONDS,
        )
        seconds.append(page.evaluate("() => seenAt"))
    frame = pd.DataFrame(seconds) / 1_000
    rows = [
        {
            "what": f"{num_phones} phones: {name}, s",
            "median": frame[name].median(),
            "worst": frame[name].max(),
        }
        for name in PHONE_PLACES
    ]
    for page in phones:
        page.context.close()
    # At this pace a run of State of the Union lasts longer than the watchers watch.
    presenter.choose_pace("One mini-batch a second")
    are_connected, is_running = Event(), Event()
    with ThreadPoolExecutor(1) as thread:
        watching = thread.submit(
            asyncio.run, watch(link, num_watchers, server, are_connected, is_running)
        )
        while not are_connected.is_set() and not watching.done():
            presenter.page.wait_for_timeout(100)
        presenter.button("Restart").click()
        presenter.expect_state("Running")
        is_running.set()
        looks = watching.result()
    close_all([presenter])
    ticks = np.array(looks or [[np.nan, np.nan]])[:, 0]
    what = f"{num_watchers} watchers: a tick of the presenter, ms"
    return [*rows, {"what": what, "median": float(np.median(ticks)), "worst": float(ticks.max())}]


async def watch(link, number, server, are_connected, is_running):
    """Connect this many watchers without browsers.

    Gives the looks of the presenter while all of them watch a run.
    """
    address, _, query = link.partition("?")
    pages = [await Page.open(address, f"?{query}") for _ in range(number)]
    are_connected.set()
    await asyncio.to_thread(is_running.wait)
    await asyncio.to_thread(server.ask)
    await asyncio.sleep(SECONDS_WATCHED)
    looks = (await asyncio.to_thread(server.ask))["presented"]
    for page in pages:
        await page.close()
    return looks


def learn_alone(name):
    """Documents a second of the default run with nothing around it, after another one."""
    algorithm, corpus = engine.REGISTRY[0], engine.load_corpus(name)
    compile_algorithm(algorithm, algorithm.config())
    for _ in range(2):
        began = time.perf_counter()
        for update in engine.run(engine.prepare(algorithm, algorithm.config(), corpus)):
            last = update
        speed = last.stepped.documents_seen / (time.perf_counter() - began)
    return speed


def learn_watched(server, pages):
    """Documents a second of the same run on the server, seen on these pages."""
    server.ask()
    pages[0].button("Restart").click()
    pages[0].expect_state("Running")
    pages[0].expect_state("Finished", SECONDS_TO_FINISH)
    return server.ask()["speeds"][-1]


def measure_engine(browser, server, corpus, num_browsers, num_rounds):
    """Rows of documents a second without a browser, with one, and with several."""
    rows = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        first = open_page(browser, f"{server.address}?corpus={corpus}")
        first.choose_pace("Full speed")
        first.expect_state("Finished", SECONDS_TO_FINISH)
        for _ in range(num_rounds):
            headless = alone.submit(learn_alone, corpus).result()
            one = learn_watched(server, [first])
            others = [open_page(browser, first.page.url) for _ in range(num_browsers - 1)]
            several = learn_watched(server, [first, *others])
            close_all(others)
            rows.append({"0": headless, "1": one, str(num_browsers): several})
    close_all([first])
    return rows


def close_all(dashboards):
    """Close their browsers."""
    for dashboard in dashboards:
        dashboard.page.context.close()


def visit_all(browser, places, faults):
    """Open each run in a browser, do what users do, and reload it at its end."""
    dashboards = [open_page(browser, place, learns=False, faults=faults) for place in places]
    for dashboard in dashboards:
        if dashboard.button("Another pass").is_visible():
            dashboard.button("Restart").click()
        else:
            dashboard.choose_pace("Full speed")
    for dashboard in dashboards:
        dashboard.button("Share").click()
        dashboard.page.get_by_label("Link to watch this run").wait_for()
    for name in (*PAGES[1:], PAGES[0]):
        for dashboard in dashboards:
            dashboard.button(name).click()
            if name == "Export":
                with dashboard.page.expect_download(timeout=1_000 * SECONDS_TO_FINISH) as download:
                    dashboard.button("Curves").click(timeout=1_000 * SECONDS_TO_FINISH)
                download.value.delete()
    for dashboard in dashboards:
        dashboard.expect_state("Finished", SECONDS_TO_FINISH)
        dashboard.page.reload()
    for dashboard in dashboards:
        dashboard.expect_state("Finished", SECONDS_TO_FINISH)
    return dashboards


def soak(browser, server, num_browsers, minutes):
    """Rows of memory, sessions and ticks over time."""
    places, rows, num_closed, num_finished = [server.address] * num_browsers, [], 0, 0
    looks, openings = [], []
    began = time.monotonic()
    while (seconds := time.monotonic() - began) < 60 * minutes or not rows:
        dashboards = visit_all(browser, places, server.faults)
        places = [dashboard.page.url for dashboard in dashboards]
        said = server.ask()
        looks, openings = looks + said["looks"], openings + said["openings"]
        num_finished += len(said["speeds"])
        if seconds >= ROW_SECONDS * len(rows):
            row = {"minute": seconds / 60} | {name: said[name] for name in OF_SERVER}
            row["errors"] = server.count_errors()
            row |= {"closed_sessions": num_closed, "runs": num_finished}
            row |= describe_looks(looks) | {
                "opening_cpu_ms": float(np.median([cpu for _, cpu in openings]))
            }
            rows.append(row)
            print(to_markdown(tidy(rows[-1:])), flush=True)
            looks, openings = [], []
        close_all(dashboards)
        num_closed += num_browsers
    for fault in server.faults:
        print(fault)
    return rows


def describe_looks(looks):
    """The number of ticks and their percentiles in milliseconds, by clock and processor."""
    values = np.percentile(looks or [[np.nan, np.nan]], PERCENTILES, axis=0)
    names = [f"p{p}_{kind}" for p in PERCENTILES for kind in ("ms", "cpu_ms")]
    return {"ticks": len(looks)} | dict(zip(names, values.ravel().tolist(), strict=True))


def summarize(rows, speeds):
    """Memory that a session leaves, and speed left to the engine: medians of ratios."""
    frame = pd.DataFrame(rows).iloc[len(rows) // 3 :]
    slope = (
        np.polyfit(frame["closed_sessions"], frame["megabytes"], 1)[0] if len(frame) > 2 else None
    )
    speeds = pd.DataFrame(speeds)
    shares = (speeds.div(speeds["0"], axis=0)).median()
    return {
        "megabytes_a_session": slope,
        **{
            f"engine_with_{number}_browsers": share
            for number, share in shares.items()
            if number != "0"
        },
    }


def tidy(rows):
    """A data frame to print, figures rounded."""
    return pd.DataFrame(rows).round(2).astype(object).fillna("-")


@contextmanager
def watched_server():
    """Serve with a separate folder for kept runs and corpora."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER_VARIABLE] = folder
        command = ["-m", "panel", "serve", "--plugins", "tests.benchmarks.watched"]
        log = Path(folder) / "server.txt"
        with serving(command, log) as address:
            yield Server(address, log)


def measure(arguments):
    """Every requested table, by its name."""
    with watched_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=list(BROWSER_FLAGS)
        )
        measures = {
            "opening": lambda: measure_opening(server),
            "paint": lambda: measure_paint(browser, server.address),
            "drawing": lambda: measure_drawing(browser, server.address),
            "controls": lambda: measure_controls(browser, server.address),
            "class": lambda: measure_class(browser, server, arguments.phones, arguments.watchers),
            "engine": lambda: measure_engine(
                browser, server, arguments.corpus, arguments.browsers, arguments.rounds
            ),
            "soak": lambda: soak(browser, server, arguments.browsers, arguments.minutes),
        }
        tables = {}
        for name in arguments.tables:
            tables[name] = measures[name]()
            print(f"\n{name}\n\n{to_markdown(tidy(tables[name]))}", flush=True)
            time.sleep(SECONDS_UNUSED)
        browser.close()
    return tables


def main():
    """Measure, print, write JSON, and end with an error if the soak has seen errors."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--browsers", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--phones", type=int, default=10)
    parser.add_argument("--watchers", type=int, default=50)
    parser.add_argument(
        "--corpus", default="state-of-the-union", help="what the engine's runs read"
    )
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    tables = measure(arguments)
    if {"soak", "engine"} <= tables.keys():
        tables["summary"] = summarize(tables["soak"], tables["engine"])
        print(f"\nsummary\n\n{to_markdown(tidy([tables['summary']]))}")
    write_json(arguments.json, tables)
    if any(row["errors"] for row in tables.get("soak", ())):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
