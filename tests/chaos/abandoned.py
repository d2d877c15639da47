"""Pages that are asked for and left at once: how soon the server then answers, and how many pages
it has made.

    python -m tests.chaos.abandoned [--number 40] [--rounds 3] [--json FILE]

Prints a row for each round. The health check must answer, and the median of its seconds must be at
most 1; fewer than half of the pages may be made.
"""

import argparse
import json
import os
import re
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.browser.conftest import serving
from tests.security.served import ask

MOST_SECONDS = 1.0
COMMAND = ("-m", "panel", "serve", "--plugins", "stickbreaker.app.health")


def abandon(address: str, number: int) -> None:
    """Ask for this many pages at the same time, and leave before any is made."""
    place = urlsplit(address)
    sockets = [socket.create_connection((place.hostname, place.port)) for _ in range(number)]
    for each in sockets:
        each.sendall(f"GET /app HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
    for each in sockets:
        each.close()


def count_made(address: str) -> int:
    """The pages that the server has made, whether anybody has seen them or not."""
    return int(re.search(rb"stickbreaker_pages_made_total (\d+)", ask(address, "/metrics").body)[1])


def measure(address: str, number: int) -> dict[str, float]:
    """A row: requests, seconds until the health check answers, and pages made."""
    before = count_made(address)
    abandon(address, number)
    began = time.monotonic()
    healthy = ask(address, "/healthz").status == 200
    seconds = time.monotonic() - began
    return {
        "requests": number,
        "healthy": healthy,
        "seconds": seconds,
        "pages_made": count_made(address) - before,
    }


def main() -> None:
    """Print the rows of a new server; an error if it is late or makes too many pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STICKBREAKER_DATA"] = folder
        with serving(list(COMMAND), Path(folder) / "log.txt") as address:
            ask(address)
            rows = [measure(address, options.number) for _ in range(options.rounds)]
    for row in rows:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))
    if options.json:
        options.json.write_text(json.dumps(rows))
    seconds = statistics.median(row["seconds"] for row in rows)
    print(f"The health check answers after {seconds:.2f} s (median).")
    is_good = all(row["healthy"] and row["pages_made"] < options.number / 2 for row in rows)
    sys.exit(int(not is_good or seconds > MOST_SECONDS))


if __name__ == "__main__":
    main()
