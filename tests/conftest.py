"""Tiny corpora, the order of the tiers, and the browser, for all tests."""

import gc
import os
import shutil
import signal
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from numba.core import event
from threadpoolctl import threadpool_limits

from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from stickbreaker.engine.corpora.load import load_corpus
from tests.compiled import compile_all
from tests.patience import find_slowness, limit, limit_ms

TIERS = ("fast", "recovery", "notebooks", "chaos", "security", "browser")
# The most minutes that each tier may take in CI. Compiling is counted apart, since CI does it
# during the installation.
MAX_MINUTES = {
    "compiling": 6,
    "fast": 2,
    "recovery": 5,
    "notebooks": 6,
    "chaos": 5,
    "security": 5,
    "browser": 8,
}
# Only against hanging; `limit` makes them longer on a slow machine.
TIMEOUTS = {
    "fast": 120,
    "recovery": 900,
    "notebooks": 900,
    "chaos": 600,
    "security": 240,
    "browser": 240,
}
SECONDS_TO_CLOSE = 60
# The notebooks that the README's command runs.
COMMON_NOTEBOOKS = ("1_quick_start", "6_your_own_text")
# Debian's browser without a window comes first: it opens pages with less processor time.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# Quiet, without sandbox (CI runs as root) and without background traffic. Threads that compile
# scripts beforehand would take the cores from the page and its server.
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--single-threaded",
)
NO_BROWSER = (
    "no Chromium or Chrome found: install one (Debian, Ubuntu: `sudo apt-get install chromium`),"
    " run again"
)


def find_browser() -> str | None:
    """The first browser of `BROWSERS` that this machine has."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def name_tier(item: pytest.Item) -> str:
    """A test's tier is the folder it is in, or its marker."""
    if item.path.suffix == ".ipynb":
        return "notebooks"
    if item.get_closest_marker("browser"):
        return "browser"
    folder = Path(item.path).parent.name
    return next(
        (tier for tier in TIERS[1:] if folder == tier or item.get_closest_marker(tier)), "fast"
    )


class CompileClock(event.Listener):
    """The seconds in which numba compiles in this process.

    A kernel that is compiled inside another counts once.
    """

    def __init__(self):
        self.depth, self.began, self.seconds = 0, 0.0, 0.0

    def on_start(self, event):
        """Begin with the outermost."""
        self.began = time.perf_counter() if self.depth == 0 else self.began
        self.depth += 1

    def on_end(self, event):
        """End with the outermost."""
        self.depth -= 1
        self.seconds += time.perf_counter() - self.began if self.depth == 0 else 0.0

    def take(self) -> float:
        """The seconds since the last call."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


CLOCK = CompileClock()
# Where a session writes; empty in a worker process.
TERMINAL: list[pytest.TerminalReporter] = []
event.register("numba:compile", CLOCK)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    outcome = yield
    outcome.get_result().seconds_compiling = CLOCK.take()


def pytest_configure(config: pytest.Config):
    # Files that are named run as a whole, and so does what `-m` selects.
    if not names_files(config) and not config.option.markexpr:
        config.option.markexpr = "not extended"
    # Once, before the worker processes start; they inherit it.
    find_slowness()
    # A property that holds must not fail because a machine is busy.
    hypothesis.settings.register_profile("any machine", deadline=None)
    hypothesis.settings.load_profile("any machine")
    # Each of two processes has one core. More threads of BLAS would wait for each other, and take
    # the other's core.
    threadpool_limits(1, user_api="blas")
    # Kernels of notebooks inherit it, and then use small settings that take less than a minute.
    os.environ.setdefault("STICKBREAKER_FAST", "1")
    # Processes that tests start import the packages of this checkout too.
    root = config.rootpath
    os.environ["PYTHONPATH"] = os.pathsep.join((str(root / ".import"), str(root)))


def names_files(config: pytest.Config) -> bool:
    """Whether the command names files or folders."""
    return config.args_source is not pytest.Config.ArgsSource.TESTPATHS


def pytest_sessionstart(session: pytest.Session):
    """Compile all kernels once, before the worker processes start and load them."""
    config = session.config
    TERMINAL[:] = filter(None, [config.pluginmanager.getplugin("terminalreporter")])
    if not (names_files(config) or config.option.collectonly or hasattr(config, "workerinput")):
        compile_all()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for whole tiers, one for files that are named."""
    return 0 if names_files(config) or (os.cpu_count() or 1) < 2 else 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]):
    for item in items:
        tier = name_tier(item)
        item.user_properties.append(("tier", tier))
        if tier != "fast":
            item.add_marker(tier)
        if tier == "chaos" or (tier == "notebooks" and item.path.stem not in COMMON_NOTEBOOKS):
            item.add_marker("extended")
        item.add_marker(pytest.mark.timeout(limit(TIMEOUTS[tier])))
    # Playwright leaves its event loop running. Notebooks and asyncio tests fail while it runs, so
    # browsers come last.
    items.sort(key=lambda item: TIERS.index(name_tier(item)))


def pytest_collection_finish(session: pytest.Session):
    """Modules and tests stay: the garbage collector need not examine them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def require_browser():
    """Skip a test without a browser, or let it fail where one is required."""
    if find_browser() is None:
        if os.environ.get("STICKBREAKER_REQUIRE_BROWSER") == "1":
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)


def pytest_runtest_logreport(report: pytest.TestReport):
    """Name a failed test at once, in case the session is ended from outside."""
    if report.failed and TERMINAL:
        TERMINAL[0].write_line(f"\n{report.outcome}: {report.nodeid} ({report.when})")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item):
    """Closing has limits of its own: pytest-timeout has none after a failure."""
    seconds = limit(SECONDS_TO_CLOSE)

    def fail(*_):
        pytest.fail(f"Closing took more than {seconds:.0f} s.")

    if not hasattr(signal, "setitimer"):
        return (yield)
    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pytest_runtest_setup(item: pytest.Item):
    if item.get_closest_marker("browser"):
        require_browser()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter):
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", ())
        if NO_BROWSER in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} browser tests skipped, {NO_BROWSER}")
    # By part and process: processes run at the same time, so the longest counts.
    seconds = {part: Counter() for part in MAX_MINUTES}
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        tier = next((tier for tier in TIERS[1:] if tier in getattr(report, "keywords", ())), "fast")
        process = getattr(report, "worker_id", "main")
        compiling = getattr(report, "seconds_compiling", 0.0)
        seconds[tier][process] += getattr(report, "duration", 0.0) - compiling
        seconds["compiling"][process] += compiling
    longest = {part: max(each.values(), default=0.0) for part, each in seconds.items()}
    used = (
        f"{part} {longest[part] / 60:.1f} of {most}"
        for part, most in MAX_MINUTES.items()
        if longest[part]
    )
    terminalreporter.write_line(f"minutes: {', '.join(used)}")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """The system's own browser."""
    own = {"executable_path": find_browser(), "args": list(BROWSER_FLAGS), "timeout": limit_ms(60)}
    return browser_type_launch_args | own


@pytest.fixture(scope="session")
def share():
    """Enter a context once for all files; a failure fails only the file that asked."""
    with ExitStack() as stack:
        shared = {}

        def share(name, make):
            if name not in shared:
                shared[name] = stack.enter_context(make())
            return shared[name]

        yield share


@pytest.fixture(scope="session", autouse=True)
def own_corpora(tmp_path_factory) -> Path:
    """Tests, and the servers they start, keep their corpora apart from the user's."""
    folder = tmp_path_factory.mktemp("stickbreaker")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER_VARIABLE, str(folder))
        yield folder


@pytest.fixture(scope="session")
def tiny_corpus() -> Corpus:
    """Twelve documents from 1790: war in even, trade in odd, peace in all."""
    words = ("army", "cotton", "navy", "peace", "ship", "tariff")
    war, trade = [3, 0, 2, 1, 1, 0], [0, 2, 0, 1, 1, 3]
    years = np.datetime64("1790", "Y") + np.arange(12) // 2
    return Corpus(
        "tiny", [war, trade] * 6, Vocabulary(words), years, [f"Document {i}" for i in range(12)]
    )


@pytest.fixture(scope="session")
def state_of_the_union() -> Corpus:
    """The bundled corpus; it is immutable, so all tests can share it."""
    return load_corpus("state-of-the-union")
