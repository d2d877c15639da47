"""Compiled code: numba kernels that release the GIL. Only kernels write, and only into arguments named `out_*`."""

from stickbreaker.engine.kernels.cache import use_kernel_cache

use_kernel_cache()
