"""A function for processes of a study, one of which ends without a result, as when memory runs out.

The processes import only this module, so they start fast.
"""

import os
from typing import NamedTuple


class NamedCell(NamedTuple):
    """A cell of which only the name matters."""

    name: str

    def asked(self):
        """Everything that its result depends on."""
        return self._asdict()


def measure(task):
    """The result of a cell; the process of the cell called bad ends."""
    cell, _ = task
    if cell.name == "bad":
        os._exit(1)
    return {"error": [None]}
