"""The page of a stream in long use: memory of the server and of a browser, speed, and the time
until a page shows text.

    python -m tests.benchmarks.stream_page [--documents 300000] [--parts 10] [--json FILE]

A separate server (`tests.benchmarks.watched`) follows a file to which this program adds simulated
documents of about 60 tokens (`tests.benchmarks.zipf_texts`). The words after the 10,000 most
frequent ones are new in each 20,000 documents, so the vocabulary is soon full and drops words. One
browser shows the page. After each part of the documents:

* megabytes: resident memory of the server after a garbage collection, and the JavaScript heap of
  the page after one;
* documents/s: from the moment at which the part is written until the page shows its last full
  mini-batch;
* seconds to show: from the moment at which one more mini-batch is written, while nothing else
  arrives, until the page shows it.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import expect, sync_playwright

from stickbreaker.app.server.stream_source import PATH
from tests.benchmarks import zipf_texts
from tests.benchmarks.heldout import to_markdown, write_json
from tests.benchmarks.soak import Server, open_page
from tests.browser.conftest import serving
from tests.conftest import BROWSER_FLAGS, find_browser

VOCAB_SIZE, NUM_LASTING, RENEWED_AFTER = 30_000, 10_000, 20_000
BATCH_SIZE = 256
SECONDS_TO_LEARN = 3_600


def draw_lines(model, words, first, number):
    """JSON lines of simulated documents; first: the number of those before them."""
    rng, lines = np.random.default_rng([first, 1]), []
    while number:
        size = min(number, RENEWED_AFTER - first % RENEWED_AFTER)
        named = words.copy()
        named[NUM_LASTING:] += zipf_texts.name_words(first // RENEWED_AFTER + 1)[-1]
        counts = zipf_texts.draw_counts(model, size, rng)
        for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            text = " ".join(np.repeat(named[counts.indices[start:end]], counts.data[start:end]))
            lines.append(json.dumps({"text": text}) + "\n")
        first, number = first + size, number - size
    return "".join(lines)


def measure(num_documents, num_parts):
    """A row for each part."""
    model, words = zipf_texts.learn_model(VOCAB_SIZE), zipf_texts.name_words(VOCAB_SIZE)
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "news.jsonl", Path(folder) / "log.txt"
        path.touch()
        os.environ |= {PATH: str(path), "STICKBREAKER_DATA": folder}
        command = ["-m", "panel", "serve", "--plugins", "tests.benchmarks.watched"]
        with serving(command, log) as address, sync_playwright() as playwright:
            server = Server(address, log)
            browser = playwright.chromium.launch(
                executable_path=find_browser(), args=list(BROWSER_FLAGS)
            )
            dashboard = open_page(browser, address, learns=False, faults=server.faults)
            debugger = dashboard.page.context.new_cdp_session(dashboard.page)
            read, rows = 0, []

            def read_more(number):
                nonlocal read
                lines = draw_lines(model, words, read, number)
                read += number
                began = time.perf_counter()
                with path.open("a", encoding="utf-8") as file:
                    file.write(lines)
                shown = f"{read // BATCH_SIZE * BATCH_SIZE:,} documents"
                expect(dashboard.documents).to_have_text(shown, timeout=1_000 * SECONDS_TO_LEARN)
                return time.perf_counter() - began

            for _ in range(num_parts):
                seconds = read_more(num_documents // num_parts)
                latency = read_more(BATCH_SIZE)
                debugger.send("HeapProfiler.collectGarbage")
                row = {
                    "documents": read,
                    "server, MB": round(server.ask()["megabytes"]),
                    "page, MB": debugger.send("Runtime.getHeapUsage")["usedSize"] / 2**20,
                    "documents/s": round(num_documents // num_parts / seconds),
                    "seconds to show": latency,
                    "errors": server.count_errors(),
                }
                rows.append(row)
                print(row, flush=True)
            browser.close()
    return rows


def main():
    """Read the command line, measure, print, and write JSON where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = measure(options.documents, options.parts)
    print(to_markdown(pd.DataFrame(rows).round(1)))
    write_json(options.json, {"stream_page": rows})


if __name__ == "__main__":
    main()
