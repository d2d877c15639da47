"""Versions of everything that the exact result of a run depends on, and the processor."""

import hashlib
import os
import platform
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from llvmlite import binding  # type: ignore[import-untyped] # llvmlite has no types

LIBRARIES = ("numba", "numpy", "scipy")
# The bytes of files depend on these too.
FILE_LIBRARIES = ("pyarrow", "scikit-learn")


@lru_cache
def find_versions() -> dict[str, str]:
    """Versions of Python and of the numerical libraries, and the SHA-256 of the engine's code."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    libraries = {name: version(name) for name in LIBRARIES}
    return {"engine": digest.hexdigest(), "python": platform.python_version(), **libraries}


@lru_cache
def find_processor() -> dict[str, str]:
    """The processor that numba compiles for, and its instruction sets.

    On another one, kernels may round differently.

    The environment variables of numba replace them.
    """
    name = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    sets = os.environ.get("NUMBA_CPU_FEATURES")
    if sets is None:
        found = {} if name == "generic" else binding.get_host_cpu_features()
        sets = ",".join(sorted(each for each, has in found.items() if has))
    return {"processor": name, "instruction sets": sets}


def find_environment() -> dict[str, str]:
    """The versions and the processor: what must be the same on all machines of a cluster."""
    return {
        **find_versions(),
        **{name: version(name) for name in FILE_LIBRARIES},
        **find_processor(),
    }
