"""Operations on sixteen numbers at a time, for loops that the compiler does not vectorise well by
itself.

A `Vector` is a value within compiled code, of LLVM's type <16 x float> or <16 x double>. LLVM
splits it into the processor's own vector registers. Sums of products are contracted and
reassociated, as under `special.FAST`.

A place is an index into the flat array. The array may have any shape but must be in C order. Places
are not checked: the caller pads its arrays.

The objects of numba and llvmlite are `Any` here, since those libraries have no types.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped] # llvmlite has no types
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from stickbreaker.engine.kernels.compiled import intrinsic, njit, overload

WIDTH = 16
# Bytes of a cache line.
LINE = 64
FLAGS = ("reassoc", "contract", "arcp", "nsz")
# An intrinsic's signature and the function that generates its code; None where it does not take
# such arguments.
Declaration = tuple[Any, Callable[..., Any]] | None


class Vector(types.Type):
    """The type of a vector: WIDTH numbers of one dtype."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """LLVM's representation of a vector."""

    def __init__(self, manager: Any, vector: Vector) -> None:
        element = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        kind = ir.VectorType(element, WIDTH)
        super().__init__(manager, vector, kind)  # type: ignore[no-untyped-call] # numba does not annotate it


def _point(
    context: Any, builder: Any, array_type: Any, location: tuple[Any, Any], kind: Any
) -> tuple[Any, int]:
    """A pointer to values of LLVM's type `kind` at (array, place), and its alignment."""
    array, place = location
    data = context.make_array(array_type)(context, builder, array).data
    place = builder.gep(data, [place], inbounds=True)
    return builder.bitcast(place, kind.as_pointer()), array_type.dtype.bitwidth // 8


def _call(builder: Any, name: str, result: Any, args: list[Any]) -> Any:
    """A call of one of LLVM's intrinsic functions."""
    kind = ir.FunctionType(result, [each.type for each in args])
    return builder.call(_declare(builder, kind, name), args, fastmath=FLAGS)


def _declare(builder: Any, kind: Any, name: str) -> Any:
    """LLVM's function of this name and type, declared in the module."""
    return cgutils.get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call] # untyped in numba


def _name_kind(kind: Any) -> str:
    return f"v{WIDTH}f{32 if isinstance(kind.element, ir.FloatType) else 64}"


def _shuffle(builder: Any, one: Any, other: Any, places: list[int]) -> Any:
    """The elements at these places of two concatenated vectors."""
    return builder.shuffle_vector(
        one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    )


@intrinsic
def load(typingctx: Any, array: Any, place: Any) -> Declaration:
    """Read the WIDTH numbers that begin at a place of an array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        place, alignment = _point(context, builder, signature.args[0], args, kind)
        return builder.load(place, align=alignment)

    return (Vector(array.dtype)(array, types.intp), codegen) if array.layout == "C" else None


@intrinsic
def store(typingctx: Any, array: Any, place: Any, vector: Any) -> Declaration:
    """Write a vector to an array, beginning at a place."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, alignment = _point(context, builder, signature.args[0], args[:2], args[2].type)
        builder.store(args[2], place, align=alignment)
        return context.get_dummy_value()

    return (types.void(array, types.intp, vector), codegen) if array.layout == "C" else None


@intrinsic
def prefetch(typingctx: Any, array: Any, place: Any) -> Declaration:
    """Ask the processor to load the cache line around a place of an array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place, _ = _point(context, builder, signature.args[0], args, ir.IntType(8))
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        # LLVM's codes for: a read, into the second-level cache, of data.
        codes = [ir.Constant(number, each) for each in (0, 2, 1)]
        builder.call(_declare(builder, kind, "llvm.prefetch.p0"), [place, *codes])
        return context.get_dummy_value()

    return (types.void(array, types.intp), codegen) if array.layout == "C" else None


@njit(inline="always", nogil=True, cache=True, error_model="numpy")
def prefetch_row(rows: np.ndarray, row: int) -> None:
    """Ask the processor to load a row of an array (R, W) into its cache."""
    for place in range(0, rows.shape[1], LINE // rows.itemsize):
        prefetch(rows, row * rows.shape[1] + place)


@intrinsic
def splat(typingctx: Any, number: Any) -> Declaration:
    """A vector whose elements are all the same number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        nothing = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(ir.IntType(32), 0))
        return _shuffle(builder, first, nothing, [0] * WIDTH)

    return Vector(number)(number), codegen


@intrinsic
def add_product(typingctx: Any, total: Any, one: Any, other: Any) -> Declaration:
    """total + one · other, rounded once if the processor can."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total, one, other = args
        return _call(builder, f"llvm.fmuladd.{_name_kind(one.type)}", one.type, [one, other, total])

    return total(total, one, other), codegen


@intrinsic
def larger(typingctx: Any, one: Any, other: Any) -> Declaration:
    """The larger of each pair of elements; no element may be NaN."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, f"llvm.maxnum.{_name_kind(args[0].type)}", args[0].type, args)

    return one(one, other), codegen


@intrinsic
def largest(typingctx: Any, vector: Any) -> Declaration:
    """The largest element; no element may be NaN."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = args[0].type
        return _call(builder, f"llvm.vector.reduce.fmax.{_name_kind(kind)}", kind.element, args)

    return vector.dtype(vector), codegen


@intrinsic
def store_sums(
    typingctx: Any, array: Any, place: Any, first: Any, second: Any, third: Any, fourth: Any
) -> Declaration:
    """Write the sums of four vectors to four consecutive places: 13 instructions, where four single
    sums take 32.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vectors = args[2:]

        def add(one: Any, other: Any, low: list[int], high: list[int]) -> Any:
            return builder.fadd(
                _shuffle(builder, one, other, low), _shuffle(builder, one, other, high), flags=FLAGS
            )

        def merge(one: Any, other: Any, width: int) -> Any:
            """Add the two halves of every four elements.

            `width` elements of the vectors alternate in the result.
            """
            lows: list[int] = []
            highs: list[int] = []
            for start in range(0, WIDTH, 4):
                for part in range(0, 2, width):
                    lows += [*range(start + part, start + part + width)]
                    lows += [*range(WIDTH + start + part, WIDTH + start + part + width)]
                    highs += [*range(start + 2 + part, start + 2 + part + width)]
                    highs += [*range(WIDTH + start + 2 + part, WIDTH + start + 2 + part + width)]
            return add(one, other, lows, highs)

        sums = merge(merge(vectors[0], vectors[1], 1), merge(vectors[2], vectors[3], 1), 2)
        width = WIDTH
        while width > 4:
            width //= 2
            sums = add(sums, sums, list(range(width)), list(range(width, 2 * width)))
        place, alignment = _point(context, builder, signature.args[0], args[:2], sums.type)
        builder.store(sums, place, align=alignment)
        return context.get_dummy_value()

    return (
        (types.void(array, types.intp, first, second, third, fourth), codegen)
        if array.layout == "C"
        else None
    )


def _overload(operation: Callable[[Any, Any], Any], method: str) -> None:
    """Define an operator on two vectors, element by element."""

    @intrinsic
    def apply(typingctx: Any, one: Any, other: Any) -> Declaration:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return getattr(builder, method)(*args, flags=FLAGS)

        return one(one, other), codegen

    @overload(operation)
    def overloaded(one: Any, other: Any) -> Callable[[Any, Any], Any] | None:
        if isinstance(one, Vector) and isinstance(other, Vector):
            return lambda one, other: apply(one, other)  # noqa: PLW0108 (numba needs a Python function)
        return None


for _operation, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _overload(_operation, _method)
