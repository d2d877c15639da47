"""A page without its server for a minute: stalled, offline, suspended, and after a restart of the
server.

    python -m tests.chaos.connection [--seconds 60] [--most-seconds 3] [--json FILE]

A browser shows a run that learns, through a proxy, which first stalls five times for a moment. Then
in turn, for --seconds: the proxy passes nothing on; it cuts all connections and refuses new ones;
all processes of the browser are stopped (SIGSTOP), as on a suspended laptop; the server is killed,
and another one starts. Prints after how many seconds the page says that the connection is lost,
after how many seconds it shows the run again once it could, and whether this is another run, or an
earlier state than the one on disk ("lost", which must be 0). The median of the seconds until a lost
connection shows must be at most --most-seconds.
"""

import argparse
import math
import os
import re
import signal
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
from playwright.sync_api import expect, sync_playwright

from stickbreaker.engine.runs import checkpoint
from tests.benchmarks.heldout import to_markdown, write_json
from tests.browser.conftest import let_in
from tests.browser.dashboard import WIDE, Dashboard
from tests.browser.test_restored import server_to_kill
from tests.chaos.proxy import Proxy, proxying
from tests.conftest import BROWSER_FLAGS, find_browser
from tests.patience import limit_ms

LOST = "No connection"
MOST_MILLISECONDS = limit_ms(90)
# What the page promises.
MOST_SECONDS = 3.0
NUM_STALLS = 5


@contextmanager
def stalled(proxy: Proxy):
    """Nothing arrives, and no connection is closed."""
    proxy.stall()
    yield
    proxy.go_on()


@contextmanager
def offline(proxy: Proxy, port: int):
    """All connections are cut, and new ones are refused."""
    proxy.connect_to(None)
    proxy.cut()
    yield
    proxy.connect_to(port)


@contextmanager
def suspended():
    """All processes of the browser stand still."""
    browsers = list_browsers()
    for process in browsers:
        os.kill(process, signal.SIGSTOP)
    yield
    for process in browsers:
        os.kill(process, signal.SIGCONT)


@contextmanager
def killed(server, proxy: Proxy, port: int):
    """The server of the run is killed; the proxy then leads to another one."""
    proxy.connect_to(None)
    server.kill()
    server.wait()
    yield
    proxy.connect_to(port)


def list_browsers() -> list[int]:
    """The processes of the browsers that descend from this process."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = place.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        parents[int(place.parent.name)] = (int(rest.split()[1]), name)
    found, known = [], {os.getpid()}
    for process, (parent, name) in sorted(parents.items()):
        if parent in known:
            known.add(process)
            found += [process] * ("chrom" in name)
    return found


def count_saved(folder: Path) -> int:
    """The documents that the newest saved state of a run has seen; 0 before there is one."""
    files = sorted(folder.glob("open-runs/[!.]*.npz"), key=lambda path: path.stat().st_mtime_ns)
    return checkpoint.load(files[-1]).documents_seen if files else 0


def find_run(dashboard: Dashboard) -> str:
    """The key of the run in the address."""
    return re.search("run=([^&]+)", dashboard.page.url)[1]


def see_loss(dashboard: Dashboard) -> float:
    """The seconds until a page says that its connection is lost."""
    began = time.monotonic()
    expect(dashboard.state).to_have_text(LOST, timeout=MOST_MILLISECONDS)
    return time.monotonic() - began


def stall_often(dashboard: Dashboard, proxy: Proxy) -> list[float]:
    """The seconds until a page says that a stalled connection is lost, several times."""
    said = []
    for _ in range(NUM_STALLS):
        with stalled(proxy):
            said.append(see_loss(dashboard))
        expect(dashboard.state).to_have_text(
            re.compile("Running|Paused"), timeout=MOST_MILLISECONDS
        )
    return said


def go_without(
    dashboard: Dashboard, folder: Path, without, seconds: float, sees_loss: bool = True
) -> dict:
    """A row of what a page says while and after its server is out of reach for some seconds."""
    run, saved, said = find_run(dashboard), count_saved(folder), float("nan")
    with without:
        began = time.monotonic()
        if sees_loss:
            said = see_loss(dashboard)
        time.sleep(max(0.0, seconds - (time.monotonic() - began)))
    began = time.monotonic()
    expect(dashboard.state).to_have_text(re.compile("Running|Paused"), timeout=MOST_MILLISECONDS)
    expect(dashboard.documents).to_have_text(re.compile("^[1-9]"), timeout=MOST_MILLISECONDS)
    back = time.monotonic() - began
    is_same = find_run(dashboard) == run and dashboard.num_seen() >= saved
    return {"says so after, s": said, "shows the run after, s": back, "lost": int(not is_same)}


def measure(folder: Path, seconds: float) -> tuple[list[dict], float]:
    """A row for each way to lose the server, and the seconds until this shows."""
    with proxying() as proxy, sync_playwright() as playwright:
        origin = ("--allow-websocket-origin", f"localhost:{proxy.port}")
        first, second = (server_to_kill(folder, name, *origin) for name in ("first", "second"))
        with first as (server, address), second as (_, other):
            port, other_port = (urlsplit(each).port for each in (address, other))
            proxy.connect_to(port)
            browser = playwright.chromium.launch(
                executable_path=find_browser(), args=list(BROWSER_FLAGS)
            )
            context = browser.new_context(viewport=WIDE)
            reached = f"http://localhost:{proxy.port}/app"
            let_in(context, reached)
            # Small mini-batches, one a second, so that the run learns all the time.
            dashboard = Dashboard(context.new_page()).open(f"{reached}?batch_size=16")
            dashboard.choose_pace("One mini-batch a second")
            while not count_saved(folder):
                dashboard.page.wait_for_timeout(500)
            said, rows = stall_often(dashboard, proxy), {}
            rows["stalled"] = go_without(dashboard, folder, stalled(proxy), seconds)
            rows["offline"] = go_without(dashboard, folder, offline(proxy, port), seconds)
            rows["browser suspended"] = go_without(
                dashboard, folder, suspended(), seconds, sees_loss=False
            )
            rows["server killed"] = go_without(
                dashboard, folder, killed(server, proxy, other_port), seconds
            )
            browser.close()
    said += [
        row["says so after, s"] for row in rows.values() if not math.isnan(row["says so after, s"])
    ]
    return [{"for this time": name} | row for name, row in rows.items()], statistics.median(said)


def main() -> None:
    """Print the table; an error if a run was lost, or a lost connection shows too late."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--most-seconds", type=float, default=MOST_SECONDS)
    parser.add_argument("--json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, median = measure(Path(folder), options.seconds)
    print(to_markdown(pd.DataFrame(rows).round(1).astype(object).fillna("-")))
    is_late = median > options.most_seconds
    print(
        f"A lost connection shows after {median:.1f} s"
        f" (median){', which is too late' if is_late else ''}."
    )
    write_json(options.json, {"connection": rows, "seconds_until_it_shows": median})
    if is_late or any(row["lost"] for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
