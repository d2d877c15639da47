"""Where numba keeps the compiled kernels: one folder for each version of all kernel files together.

numba's own cache notices a change in a kernel's file, but not in another file whose code is compiled into that kernel.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Self

import numba
import platformdirs
from numba.core.caching import CacheImpl, _CacheLocator

FOLDER = Path(__file__).parent
# Kernels take these records as arguments, so compiled code depends on their fields.
RECORDS = FOLDER.parent / "corpora" / "corpus.py"


@cache
def digest_kernels() -> str:
    """SHA-256 of all that compiled code depends on besides its types: kernel files, their records, numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for file in (*sorted(FOLDER.glob("*.py")), RECORDS):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


class KernelLocator(_CacheLocator):  # type: ignore[misc] # numba has no type hints
    """Places a kernel's compiled code in a folder named after `digest_kernels`."""

    def __init__(self, folder: Path, line: int) -> None:
        self._folder = folder
        self._line = line

    def get_cache_path(self) -> str:
        """The folder of the compiled code."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """Compiled code with another stamp is not used."""
        return digest_kernels()

    def get_disambiguator(self) -> str:
        """Tells apart functions of one name in one file."""
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self | None:
        """The locator of a kernel; None for functions of other packages and where no folder can be written."""
        if Path(py_file).parent != FOLDER:
            return None
        for folder in _list_folders():
            locator = cls(folder / f"kernels-{digest_kernels()[:16]}", py_func.__code__.co_firstlineno)
            try:
                locator.ensure_cache_path()
            except OSError:
                continue
            return locator
        return None


def _list_folders() -> Iterator[Path]:
    """NUMBA_CACHE_DIR if it is set, the package's own `__pycache__`, the user's cache folder."""
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR)
    yield FOLDER / "__pycache__"
    yield platformdirs.user_cache_path("stickbreaker", appauthor=False)


def use_kernel_cache() -> None:
    """Have numba ask `KernelLocator` first. Other packages' functions are cached as before."""
    if KernelLocator not in CacheImpl._locator_classes:
        CacheImpl._locator_classes = [KernelLocator, *CacheImpl._locator_classes]
