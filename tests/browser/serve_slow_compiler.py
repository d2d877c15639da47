"""Serve the page with a compiler that takes five seconds longer for float64.

For float32 it waits as long as the file exists that is named first on the command line.
"""

import sys
import time
from pathlib import Path

from panel.command import main

from stickbreaker.engine.runs import compile

NUM_PARTS = 10
SECONDS_A_PART = 0.5
WAIT = Path(sys.argv[1])
compile_at_once = compile.compile_apart


def compile_slowly(algorithm, config, report):
    """As `compile_apart`, after some parts that only wait."""
    if config.precision == "float64":
        for part in range(NUM_PARTS):
            report(part, NUM_PARTS, f"part {part}")
            time.sleep(SECONDS_A_PART)
    while config.precision == "float32" and WAIT.exists():
        time.sleep(SECONDS_A_PART)
    compile_at_once(algorithm, config, report)


if __name__ == "__main__":
    compile.compile_apart = compile_slowly
    sys.argv = ["panel", "serve", *sys.argv[2:]]
    main()
