"""numba's decorators with types, and the documents that kernels read.

numba's own decorators are untyped. With these a type checker and an editor see a kernel by its
Python signature.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import numba
import numba.extending
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


class DocumentArrays(Protocol):
    """What kernels read of `corpora.documents.Documents`, which they do not import: see there."""

    @property
    def starts(self) -> np.ndarray:
        """(S + 1,) int64, where each document's entries begin."""

    @property
    def words(self) -> np.ndarray:
        """(nnz,) int32."""

    @property
    def counts(self) -> np.ndarray:
        """(nnz,) int32."""


class _Compile(Protocol):
    def __call__(
        self,
        *,
        cache: bool = ...,
        nogil: bool = ...,
        error_model: str = ...,
        fastmath: set[str] = ...,
        inline: str = ...,
    ) -> Callable[[Function], Function]: ...


# Kernels are always inlined into kernels that call them. Otherwise a process can run any of the
# copies of a kernel that were compiled with its callers. These add numbers in different orders, so
# a result would depend on what was compiled or loaded before.
njit = cast(_Compile, partial(numba.njit, forceinline=True))
# An intrinsic is declared over numba's types and called with values, so its declaration says
# nothing about its calls.
intrinsic = cast(Callable[[Callable[..., Any]], Callable[..., Any]], numba.extending.intrinsic)


def overload(function: Callable[..., Any], **options: Any) -> Callable[[Function], Function]:
    """Declare the compiled code of a Python function, as `numba.extending.overload` does.

    numba requires equal parameters, annotations included, of a declaration and the lambda that it
    returns. A lambda has no annotations, so those of the declaration are removed.
    """
    declare = cast(Callable[[Function], Function], numba.extending.overload(function, **options))

    def remove_annotations(declaration: Function) -> Function:
        declaration.__annotations__ = {}
        return declare(declaration)

    return remove_annotations
