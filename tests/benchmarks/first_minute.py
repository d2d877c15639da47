"""The first minute of a new user: the time from `panel serve` until there is something to see.

    python -m tests.benchmarks.first_minute [--json FILE]

A server and Chromium run on this machine, and the page is opened as soon as its address is printed.
The first row is of a server whose cache of compiled code is empty, the second of one that starts
with what the first has left there. The columns are seconds from the start of the server until

* the page answers, and all of its text has arrived;
* the first words of topics are visible on it;
* the run of the page has learned from its first mini-batch,

and the processor seconds of the server and its processes until then.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

from stickbreaker.engine.corpora.library import FOLDER_VARIABLE
from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.soak import Server
from tests.browser.conftest import serving
from tests.browser.dashboard import FIRST_SECONDS, WIDE
from tests.conftest import BROWSER_FLAGS, find_browser

WORDS = "#opening tbody td:not(:empty), .word-table td:not(.blank)"
ASK_SECONDS = 2


def measure(browser, folder):
    """The row of one start with the compiled code in this folder."""
    log = folder / "server.txt"
    os.environ |= {FOLDER_VARIABLE: str(folder / "data"), "NUMBA_CACHE_DIR": str(folder / "cache")}
    began = time.time()
    with serving(["-m", "panel", "serve", "--plugins", "tests.benchmarks.watched"], log) as address:
        page = browser.new_page(viewport=WIDE)
        page.goto(address, wait_until="commit", timeout=FIRST_SECONDS)
        row = {"page answers": time.time() - began}
        page.locator(WORDS).first.wait_for(timeout=FIRST_SECONDS)
        row["first words"] = time.time() - began
        server = Server(address, log)
        while not (learned := server.ask()["learned"]):
            page.wait_for_timeout(1_000 * ASK_SECONDS)
        row["first mini-batch"] = learned[0] - began
        row["processor seconds"] = learned[1]
        page.close()
    return row


def main():
    """Measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=list(BROWSER_FLAGS)
        )
        rows = [
            {"compiled code": start, **measure(browser, Path(folder))} for start in ("none", "kept")
        ]
        browser.close()
    print(to_markdown(pd.DataFrame(rows).round(1)))
    write_json(asked.json, rows)


if __name__ == "__main__":
    main()
