"""Products of topics, from which their similarity follows."""

import numpy as np

from stickbreaker.engine.kernels.compiled import njit
from stickbreaker.engine.kernels.special import FAST

# This number of words of a few hundred topics fits in a core's cache.
CACHED_WORDS = 1024


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def multiply_rows(rows: np.ndarray, chosen: np.ndarray, out_products: np.ndarray) -> None:
    """Write Σ_w rows_cw rows_kw of the chosen rows (C,) with all rows (K, V) to (C, K).

    BLAS would use more threads.
    """
    out_products[:] = 0.0
    num_rows = rows.shape[0]
    zero = rows.dtype.type(0)
    for first in range(0, rows.shape[1], CACHED_WORDS):
        last = min(first + CACHED_WORDS, rows.shape[1])
        for c in range(chosen.shape[0]):
            row = rows[chosen[c], first:last]
            out = out_products[c]
            whole = num_rows - num_rows % 4
            for k in range(0, whole, 4):
                row_0 = rows[k, first:last]
                row_1 = rows[k + 1, first:last]
                row_2 = rows[k + 2, first:last]
                row_3 = rows[k + 3, first:last]
                product_0 = product_1 = product_2 = product_3 = zero
                for w in range(last - first):
                    product_0 += row[w] * row_0[w]
                    product_1 += row[w] * row_1[w]
                    product_2 += row[w] * row_2[w]
                    product_3 += row[w] * row_3[w]
                out[k] += product_0
                out[k + 1] += product_1
                out[k + 2] += product_2
                out[k + 3] += product_3
            for k in range(whole, num_rows):
                other = rows[k, first:last]
                product = zero
                for w in range(last - first):
                    product += row[w] * other[w]
                out[k] += product
