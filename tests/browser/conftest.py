"""A served page, the browsers that open it, and the check that no page reports an error."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, expect

from stickbreaker import engine
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.browser.dashboard import DEFAULT_PACE, WIDE, Dashboard, leave_settings_open
from tests.patience import limit, limit_ms

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"http://localhost:(\d+)/app")
# A closed page's run counts as open until its session is unused that long; a slow page must have
# connected by then.
SECONDS_UNUSED = round(limit(4))
LIFETIME = (
    "--unused-session-lifetime",
    str(1_000 * SECONDS_UNUSED),
    "--check-unused-sessions",
    "500",
)
# The servers of tests print it too; each browser exchanges it for a cookie before it opens a page.
TOKEN = "the start-up token of these tests"
OPTIONS = ("app", "--port", "0")
SECONDS_TO_SERVE = 60
# `Session.report` writes this.
PAGE_ERROR = "An error on the page"
expect.set_options(timeout=limit_ms(60))


@contextmanager
def serving(command: list[str], log: Path, lifetime: tuple[str, ...] = LIFETIME, root: Path = ROOT):
    """Serve a checkout with this command; yield its address; its output goes into `log`."""
    environment = os.environ | {"STICKBREAKER_TOKEN": TOKEN, "PYTHONPATH": list_paths(root)}
    server, address = start([*command, *OPTIONS, *lifetime], log, environment, root)
    try:
        yield address
    finally:
        stop(server)


def start(
    command: list[str], log: Path, environment: dict[str, str], root: Path
) -> tuple[subprocess.Popen, str]:
    """Start a server, twice if it prints no address; return its process and address."""
    for _ in range(2):
        with log.open("w") as output:
            server = subprocess.Popen(
                [sys.executable, *command], stdout=output, stderr=output, cwd=root, env=environment
            )
        if address := find_address(server, log):
            return server, address
        stop(server)
    return pytest.fail(
        f"The server was started twice and printed no address. Its log:\n{log.read_text()}"
    )


def stop(server: subprocess.Popen) -> None:
    """End a server, by force if it does not end by itself."""
    server.terminate()
    try:
        server.wait(limit(10))
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def list_paths(root: Path) -> str:
    """Where a process finds the packages of this checkout."""
    return os.pathsep.join((str(root / ".import"), str(root)))


def find_address(server: subprocess.Popen, log: Path) -> str | None:
    """Wait for the address in the output of the server; None if there is none."""
    end = time.monotonic() + limit(SECONDS_TO_SERVE)
    while time.monotonic() < end:
        if found := ADDRESS.search(log.read_text()):
            return f"http://localhost:{found[1]}/app"
        if server.poll() is not None:
            return None
        time.sleep(0.05)
    return None


@contextmanager
def serving_page(log: Path):
    """Serve the page; yields its address. At the end, the log is checked for errors of views."""
    with serving(["-m", "panel", "serve"], log) as found:
        yield found
    assert PAGE_ERROR not in log.read_text(), log


@pytest.fixture(scope="module")
def address(share, tmp_path_factory) -> str:
    """The address of the page."""
    return share("page", lambda: serving_page(tmp_path_factory.mktemp("server") / "log.txt"))


@pytest.fixture(scope="module")
def dying_address(tmp_path_factory) -> str:
    """The address of a page whose engine fails."""
    script = str(Path(__file__).with_name("serve_dying_engine.py"))
    with serving([script], tmp_path_factory.mktemp("dying") / "log.txt") as found:
        yield found


@pytest.fixture
def compiling_address(tmp_path_factory) -> str:
    """The address of a page whose engine takes long to compile for float64, on a server that has
    not compiled it yet.

    The kernels are in the cache of this machine, so that the time depends on nothing else.
    """
    algorithm = engine.find_algorithm("hdp")
    compile_algorithm(algorithm, algorithm.config(precision="float64"))
    script = str(Path(__file__).with_name("serve_slow_compiler.py"))
    folder = tmp_path_factory.mktemp("compiling")
    with serving([script, str(folder / "wait")], folder / "log.txt") as found:
        yield found


@pytest.fixture
def waiting_page(tmp_path):
    """The address of a page whose engine is not compiled before a file is removed, and the file."""
    script = str(Path(__file__).with_name("serve_slow_compiler.py"))
    wait = tmp_path / "wait"
    wait.touch()
    with serving([script, str(wait)], tmp_path / "log.txt") as found:
        yield found, wait


@pytest.fixture(scope="session")
def noticed() -> list[str]:
    """Errors of all pages that are open."""
    return []


@pytest.fixture(autouse=True)
def faults(noticed) -> list[str]:
    """Errors of all pages in this test. There must be none, without exceptions."""
    noticed.clear()
    yield noticed
    assert not noticed


@pytest.fixture
def visit(new_context, address, faults):
    """Open the page in a new browser of this size.

    Returns it as soon as the run has begun to learn.

    is_first: whether the user has never opened the settings.

    prepare(context) is called before the page is asked for; a page that is not to learn is returned
    as soon as it is drawn; `emulated` is what else the browser is to be like. Runs are paused in
    the end, so that the next test need not wait for a core.
    """
    opened = []

    def visit(
        size=None,
        at=address,
        prepare=lambda context: None,
        learns=True,
        is_first=False,
        **emulated,
    ) -> Dashboard:
        context = admit(new_context(viewport=size or WIDE, **emulated), at, faults, is_first)
        prepare(context)
        opened.append(Dashboard(context.new_page()))
        return opened[-1].open(at, learns)

    yield visit
    for dashboard in opened:
        dashboard.leave()


@pytest.fixture
def dashboard(visit) -> Dashboard:
    """The page in one wide browser."""
    return visit()


@pytest.fixture(scope="module")
def used_page(browser, address, noticed) -> Dashboard:
    """A page of its own run, which tests of a file share."""
    context = admit(browser.new_context(viewport=WIDE), address, noticed)
    yield Dashboard(context.new_page()).open(address)
    context.close()


@pytest.fixture
def restarted(used_page) -> Dashboard:
    """A page whose run has just begun again, whatever was done on it before."""
    used_page.page.keyboard.press("Escape")
    if used_page.pace.inner_text() != DEFAULT_PACE:
        used_page.choose_pace(DEFAULT_PACE)
    used_page.leave()
    used_page.button("Restart").click()
    used_page.expect_state("Running")
    expect(used_page.documents).to_have_text(re.compile("^(256|512|768) "))
    used_page.settle()
    yield used_page
    used_page.leave()


@pytest.fixture(scope="module")
def finished_run(browser, address, share) -> str:
    """The address of a run that has read everything; tests that change nothing of it share it."""
    return share("finished run", lambda: nullcontext(read_everything(browser, address)))


@pytest.fixture(scope="session")
def finished_pages(browser, noticed):
    """A page of the run that has read everything, shared, for each kind of browser."""
    pages = {}

    def open_page(finished_run, size, **emulated) -> Dashboard:
        kind = (*size.values(), *emulated.items())
        if kind not in pages:
            context = admit(browser.new_context(viewport=size, **emulated), finished_run, noticed)
            pages[kind] = Dashboard(context.new_page()).open(finished_run)
        return pages[kind]

    yield open_page
    for dashboard in pages.values():
        dashboard.page.context.close()


@pytest.fixture
def look_at_finished(finished_pages, finished_run):
    """Open the finished run in a browser of this size, on Live and in its first theme."""

    def look(size=None, **emulated) -> Dashboard:
        dashboard = finished_pages(finished_run, size or WIDE, **emulated)
        # A run without a page is removed after some minutes, and would start again.
        if dashboard.state.inner_text() != "Finished":
            dashboard.finish()
        dashboard.return_to_live()
        expect(dashboard.word_heads).to_have_count(9)
        dashboard.settle()
        return dashboard

    return look


def read_everything(browser: Browser, address: str) -> str:
    """Read everything with the default settings; gives the address of the run."""
    faults, page = [], browser.new_page(viewport=WIDE)
    watch(page.context, address, faults)
    Dashboard(page).open(address).finish()
    run = re.search("run=([^&]+)", page.url)[1]
    page.close()
    assert not faults
    return f"{address}?run={run}"


def admit(
    context: BrowserContext, address: str, faults: list[str], is_first: bool = False
) -> BrowserContext:
    """Prepare a browser for this address: it has the cookie, and its faults are collected.

    is_first: whether it is that of a user who has not left the settings open.
    """
    watch(context, address, faults)
    let_in(context, address, is_first)
    return context


def let_in(context: BrowserContext, address: str, is_first: bool = False) -> None:
    """Give a browser the cookie of those who know the start-up token, and leave the settings open.

    is_first: whether it is that of a user who has never opened the settings.
    """
    if not is_first:
        leave_settings_open(context)
    page = address.partition("?")[0]
    context.request.get(page, params={"token": TOKEN}, max_redirects=0)


def watch(context: BrowserContext, address: str, faults: list[str]) -> None:
    """Collect errors, plots without ranges, what is thrown, and requests to elsewhere."""
    origin = address.rsplit("/", 1)[0]
    context.on(
        "console", lambda said: faults.append(f"console: {said.text}") if is_fault(said) else None
    )
    context.on("weberror", lambda thrown: faults.append(f"page: {thrown.error}"))
    context.on(
        "request",
        lambda asked: (
            None if is_ours(asked.url, origin) else faults.append(f"request: {asked.url}")
        ),
    )


def is_fault(said: ConsoleMessage) -> bool:
    return said.type == "error" or "initial ranges" in said.text


def is_ours(url: str, origin: str) -> bool:
    return url.startswith((origin, "data:", "blob:"))
