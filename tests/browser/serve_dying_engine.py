"""Serve the page with an engine that dies in its fifth mini-batch, unless τ₀ has been changed."""

import sys

from panel.command import main

from stickbreaker import engine

DELAY = 18  # of the first run: what State of the Union asks for
REASON = "topic 7 has become infinite"
alive = engine.run


def run(algorithm, config, corpus, settings=None, **options):
    """As `engine.run`, until it dies."""
    events = alive(algorithm, config, corpus, settings, **options)
    sent = num_steps = None
    while True:
        try:
            event = events.send(sent)
        except StopIteration:
            return
        num_steps = (num_steps or 0) + isinstance(event, engine.runs.events.Stepped)
        if num_steps == 5 and config.delay == DELAY:
            raise FloatingPointError(REASON)
        sent = yield event


if __name__ == "__main__":
    engine.run = run
    sys.argv = ["panel", "serve", *sys.argv[1:]]
    main()
