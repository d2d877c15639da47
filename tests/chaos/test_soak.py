"""A part of the command with many browsers for an hour: two browsers open, run, share, export and
leave once.
"""

import subprocess
import sys

from tests.browser.conftest import ROOT
from tests.conftest import require_browser


def test_pages_that_run_share_export_and_leave_cause_no_errors():
    require_browser()
    # In a process of its own: the event loop of Playwright would disturb other tests.
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.soak",
        "--tables",
        "soak",
        "--minutes",
        "0",
        "--browsers",
        "2",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| closed_sessions |" in done.stdout
