"""Compiled code: numba kernels that release the GIL. Only kernels write to arrays, and only to
`out_*` arguments.
"""

from stickbreaker.engine.kernels.cache import use_kernel_cache

use_kernel_cache()
