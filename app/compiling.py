"""The engine's kernels are compiled once a process, in the background, while pages are already usable."""

import logging
import threading
from collections.abc import Callable

Report = Callable[[int, int, str], None]
_log = logging.getLogger(__name__)


class Compilation:
    """How far the kernels are; runners wait for `is_done` and show `share` and `message` meanwhile."""

    def __init__(self, compile_kernels: Callable[[Report], None]):
        self._compile_kernels = compile_kernels
        self._lock = threading.Lock()
        self._has_begun = False
        self.share = 0.0
        self.message = "Preparing the engine"
        self.error = ""
        self.is_done = False

    def begin(self) -> None:
        """Start compiling, unless that has been asked for before."""
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
        threading.Thread(target=self._work, name="compile-kernels", daemon=True).start()

    def _work(self) -> None:
        try:
            self._compile_kernels(self._report)
        except Exception as error:
            _log.exception("The engine's kernels could not be compiled")
            self.error = f"The engine could not be compiled: {error}"
        else:
            self.share = 1.0
        self.is_done = True

    def _report(self, done: int, total: int, name: str) -> None:
        self.share = done / total if total else 1.0
        self.message = f"Compiling the engine, once on this machine: {done} of {total}, {name}"
