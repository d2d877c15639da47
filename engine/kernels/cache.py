"""Where numba keeps the compiled kernels: one folder for each version of all kernel files together.

numba's own cache notices a change in a kernel's file, but not in another file whose code is
compiled into that kernel.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numba
import platformdirs
from numba.core import dispatcher
from numba.core.caching import CacheImpl, FunctionCache, _CacheLocator

from stickbreaker.engine.files.user_folders import find_usual_folder, use_temporary_folder

FOLDER = Path(__file__).parent
# Kernels take `Documents` as an argument, so compiled code depends on its fields.
RECORDS = FOLDER.parent / "corpora" / "documents.py"
VERSION = re.compile(r"kernels-[0-9a-f]{16}")
# Compiled code takes about 30 MB per version.
MAX_VERSIONS = 3


@cache
def digest_kernels() -> str:
    """SHA-256 of everything that compiled code depends on, apart from types: kernel files, records,
    numba's version.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in (*sorted(set(FOLDER.glob("*.py")) - {Path(__file__)}), RECORDS):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


class KernelLocator(_CacheLocator):
    """Stores a kernel's compiled code in a folder named after `digest_kernels`."""

    def __init__(self, folder: Path, py_file: str, line: int) -> None:
        self._folder = folder
        # numba names this file when it warns that a function cannot be cached.
        self._py_file = py_file
        self._line = line

    def get_cache_path(self) -> str:
        """The folder of the compiled code."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """The stamp of valid compiled code; numba ignores code with another stamp."""
        return digest_kernels()

    def get_disambiguator(self) -> str:
        """A text that distinguishes functions of the same name in one file."""
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self | None:
        """The locator of a kernel; None for other functions, and without a writable folder."""
        if Path(py_file).parent != FOLDER:
            return None
        for folder in _list_folders():
            locator = cls(
                folder / f"kernels-{digest_kernels()[:16]}",
                py_file,
                py_func.__code__.co_firstlineno,
            )
            try:
                locator.ensure_cache_path()  # type: ignore[no-untyped-call] # numba does not annotate it
            except OSError:
                continue
            _prune_once(Path(locator.get_cache_path()))
            return locator
        return None


def prune_versions(current: Path) -> None:
    """Mark a version's folder as used now, and delete all but the MAX_VERSIONS versions that were
    used last.

    Several processes may do this at the same time. A process that runs a deleted version keeps its
    code in memory, and creates the folder again if it compiles more.
    """
    last_used = {}
    for folder in current.parent.iterdir():
        if VERSION.fullmatch(folder.name):
            with suppress(OSError):
                last_used[folder] = folder.stat().st_mtime
    with suppress(OSError):
        current.touch()
    last_used.pop(current, None)
    for folder in sorted(last_used, key=last_used.__getitem__, reverse=True)[MAX_VERSIONS - 1 :]:
        shutil.rmtree(folder, ignore_errors=True)


_prune_once = cache(prune_versions)


def _list_folders() -> Iterator[Path]:
    """The folders to try, in order.

    NUMBA_CACHE_DIR if it is set, the package's `__pycache__`, the user's cache folder, a temporary
    folder.
    """
    # numba sets this attribute while it runs, so type checkers do not know it.
    chosen = vars(numba.config)["CACHE_DIR"]
    if chosen:
        yield Path(chosen)
    yield FOLDER / "__pycache__"
    if usual := find_usual_folder(platformdirs.user_cache_path):
        yield usual
    yield use_temporary_folder("kernels", "Compiled code is stored", "NUMBA_CACHE_DIR")


class KernelCache(FunctionCache):
    """Compiled code on disk. Code of a kernel that another process compiles is waited for."""

    waits: ClassVar[list[Callable[[], bool]]] = []

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for these types; None if it has to be compiled here."""
        load: Any = super().load_overload
        found = load(sig, target_context)
        if isinstance(self._impl.locator, KernelLocator):
            while found is None and any(wait() for wait in self.waits):
                found = load(sig, target_context)
        return found


@contextmanager
def waiting(wait: Callable[[], bool]) -> Iterator[None]:
    """Call `wait` in this block for each kernel whose code is not on disk, until it is there.

    It returns False when no other process compiles kernels: then this process does.
    """
    KernelCache.waits.append(wait)
    try:
        yield
    finally:
        KernelCache.waits.remove(wait)


def use_kernel_cache() -> None:
    """Make numba use `KernelLocator` and `KernelCache` for our functions."""
    # Type checkers infer different types for this list, which numba does not annotate.
    caches: Any = CacheImpl
    if KernelLocator not in caches._locator_classes:
        caches._locator_classes = [KernelLocator, *caches._locator_classes]
    vars(dispatcher)["FunctionCache"] = KernelCache
