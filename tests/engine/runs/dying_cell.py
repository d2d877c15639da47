"""A stand-in for a cell whose process the system ends, as where memory runs out; its process has little to import."""

import os


def measure(task):
    """What a cell gives, or the end of the process for the one that is called bad."""
    name, _ = task
    if name == "bad":
        os._exit(1)
    return {"error": [None]}
