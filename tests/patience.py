"""How long tests wait at most.

A limit only protects against hanging, so it grows with the slowness of the machine.
"""

import os
import time

# How many times slower than usual this machine is; processes that tests start inherit it.
VARIABLE = "STICKBREAKER_TEST_SLOWNESS"
USUAL_SECONDS = 0.2
# A machine that is quiet at the start may become busy.
MARGIN = 2.0


def measure_slowness() -> float:
    """How much longer than usual some arithmetic takes now, by the clock, and at least 1."""
    began = time.perf_counter()
    sum(number * number for number in range(5_000_000))
    return max(1.0, (time.perf_counter() - began) / USUAL_SECONDS)


def find_slowness() -> float:
    """The slowness of this session: measured once, or taken from the environment."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = f"{MARGIN * measure_slowness():.2f}"
    return float(os.environ[VARIABLE])


def limit(seconds: float) -> float:
    """The seconds to wait at most for what usually takes much less than this."""
    return seconds * find_slowness()


def limit_ms(seconds: float) -> float:
    """The same in milliseconds, as Playwright counts."""
    return 1_000 * limit(seconds)
