"""Runs a command while other processes keep all cores busy, and prints its minutes and its exit
code.

    python -m tests.benchmarks.busy [--number 4] [--json FILE] COMMAND...

The exit code is that of the command. For example, the tests: `python -m tests.benchmarks.busy
python -m pytest`.
"""

import argparse
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pandas as pd

from tests.benchmarks.heldout import to_markdown, write_json

# Its standard input ends with the process that started it, also if that is killed; then it ends
# too.
LOOP = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
while True:
    pass
"""


@contextmanager
def keep_busy(number):
    """Run endless loops in processes of their own until the end of the block."""
    with ExitStack() as stack:
        command = [sys.executable, "-c", LOOP]
        loops = [
            stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE))
            for _ in range(number)
        ]
        for loop in loops:
            stack.callback(loop.kill)
        yield loops


def measure(command, number):
    """The row of a command: its exit code and its minutes next to this number of busy loops."""
    with keep_busy(number):
        began = time.perf_counter()
        code = subprocess.run(command, check=False).returncode
        minutes = (time.perf_counter() - began) / 60
    return {
        "command": " ".join(command),
        "busy_loops": number,
        "minutes": minutes,
        "exit_code": code,
    }


def main():
    """Print the row, and write it as JSON if asked to; end with the exit code of the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--number", type=int, default=4)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    row = measure(asked.command, asked.number)
    print(to_markdown(pd.DataFrame([row]).round(2)))
    write_json(asked.json, [row])
    sys.exit(row["exit_code"])


if __name__ == "__main__":
    main()
