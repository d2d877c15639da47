"""The compiled code: numba kernels that release the GIL. Only they write, and only into arguments named `out_*`."""
