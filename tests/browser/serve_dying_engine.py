"""Serve the page with an engine that fails in its fifth mini-batch, unless τ₀ has been changed."""

import sys

from panel.command import main

from stickbreaker import engine

DELAY = 18  # of the first run: what State of the Union asks for
REASON = "topic 7 has become infinite"
FAILS_AT = 5
run_to_the_end = engine.run


def run(prepared, **options):
    """As `engine.run`, until it fails."""
    updates = run_to_the_end(prepared, **options)
    sent, num_steps = None, 0
    while True:
        try:
            update = updates.send(sent)
        except StopIteration:
            return
        num_steps += 1
        if num_steps == FAILS_AT and prepared.config.delay == DELAY:
            raise FloatingPointError(REASON)
        sent = yield update


if __name__ == "__main__":
    engine.run = run
    sys.argv = ["panel", "serve", *sys.argv[1:]]
    main()
