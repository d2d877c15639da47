"""A part of the command that takes a page's server away: offline and suspended for five seconds
each.
"""

import subprocess
import sys

from tests.browser.conftest import ROOT
from tests.conftest import require_browser
from tests.patience import limit


def test_a_page_without_its_server_for_a_moment_shows_its_run_again():
    require_browser()
    # In a process of its own: the event loop of Playwright would disturb other tests. A busy
    # machine may be late.
    command = [
        sys.executable,
        "-m",
        "tests.chaos.connection",
        "--seconds",
        "5",
        "--most-seconds",
        str(limit(30)),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("stalled", "offline", "browser suspended", "server killed"):
        assert f"| {name} |" in done.stdout
