"""Sixteen numbers at a time: what loops of kernels are written with where the compiler's own vectors fall short.

A `Vector` is a value within compiled code, of LLVM's <16 x float> or <16 x double>, which every processor has in
registers of its own width. Sums of products are contracted and reassociated, as under `special.FAST`. Places are flat:
in an array of any shape, which must be in C order, and not checked: whoever calls pads what is read and written.
"""

import operator

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 16
# Bytes of a cache line.
LINE = 64
FLAGS = ("reassoc", "contract", "arcp", "nsz")


class Vector(types.Type):
    """WIDTH numbers of one dtype."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """A vector as LLVM has it."""

    def __init__(self, manager, vector):
        element = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, vector, ir.VectorType(element, WIDTH))


def _point(context, builder, array_type, array, place, kind):
    """A pointer to vectors of that kind, at a place of the array, and how it is aligned."""
    data = context.make_array(array_type)(context, builder, array).data
    place = builder.gep(data, [place], inbounds=True)
    return builder.bitcast(place, kind.as_pointer()), array_type.dtype.bitwidth // 8


def _call(builder, name, result, args):
    """A call of one of LLVM's own functions."""
    kind = ir.FunctionType(result, [each.type for each in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args, fastmath=FLAGS)


def _name_kind(kind):
    return f"v{WIDTH}f{32 if isinstance(kind.element, ir.FloatType) else 64}"


def _shuffle(builder, one, other, places):
    """The elements of two vectors, one behind the other, at these places."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


@intrinsic
def load(typingctx, array, place):
    """The WIDTH numbers from a flat place of an array on."""

    def codegen(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        place, alignment = _point(context, builder, signature.args[0], *args, kind)
        return builder.load(place, align=alignment)

    return (Vector(array.dtype)(array, types.intp), codegen) if array.layout == "C" else None


@intrinsic
def store(typingctx, array, place, vector):
    """Write a vector to a flat place of an array."""

    def codegen(context, builder, signature, args):
        place, alignment = _point(context, builder, signature.args[0], *args[:2], args[2].type)
        builder.store(args[2], place, align=alignment)
        return context.get_dummy_value()

    return (types.void(array, types.intp, vector), codegen) if array.layout == "C" else None


@intrinsic
def prefetch(typingctx, array, place):
    """Have what lies at a flat place of an array, and about it, brought near."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(32)
        place, _ = _point(context, builder, signature.args[0], *args, ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # To be read, into the second of the caches, as data.
        builder.call(function, [place, *(ir.Constant(number, each) for each in (0, 2, 1))])
        return context.get_dummy_value()

    return (types.void(array, types.intp), codegen) if array.layout == "C" else None


@njit(inline="always", nogil=True, cache=True, error_model="numpy")
def prefetch_row(rows, row):
    """Have a row of an array (R, W) brought near."""
    for place in range(0, rows.shape[1], LINE // rows.itemsize):
        prefetch(rows, row * rows.shape[1] + place)


@intrinsic
def splat(typingctx, number):
    """A vector of one number."""

    def codegen(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        nothing = ir.Constant(kind, ir.Undefined)
        first = builder.insert_element(nothing, args[0], ir.Constant(ir.IntType(32), 0))
        return _shuffle(builder, first, nothing, [0] * WIDTH)

    return Vector(number)(number), codegen


@intrinsic
def add_product(typingctx, total, one, other):
    """total + one · other, in one rounding where the processor has it."""

    def codegen(context, builder, signature, args):
        total, one, other = args
        return _call(builder, f"llvm.fmuladd.{_name_kind(one.type)}", one.type, [one, other, total])

    return total(total, one, other), codegen


@intrinsic
def larger(typingctx, one, other):
    """The larger of each two elements; neither may be NaN."""

    def codegen(context, builder, signature, args):
        return _call(builder, f"llvm.maxnum.{_name_kind(args[0].type)}", args[0].type, args)

    return one(one, other), codegen


@intrinsic
def largest(typingctx, vector):
    """The largest element; none may be NaN."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        return _call(builder, f"llvm.vector.reduce.fmax.{_name_kind(kind)}", kind.element, args)

    return vector.dtype(vector), codegen


@intrinsic
def store_sums(typingctx, array, place, first, second, third, fourth):
    """Write the sums of four vectors to four places of an array: thirteen instructions where single sums take 32."""

    def codegen(context, builder, signature, args):
        vectors = args[2:]

        def add(one, other, low, high):
            return builder.fadd(_shuffle(builder, one, other, low), _shuffle(builder, one, other, high), flags=FLAGS)

        def merge(one, other, width):
            """Halves of each four of two vectors added up: the vectors by turns, so many numbers at a time."""
            lows, highs = [], []
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
        place, alignment = _point(context, builder, signature.args[0], *args[:2], sums.type)
        builder.store(sums, place, align=alignment)
        return context.get_dummy_value()

    return (types.void(array, types.intp, first, second, third, fourth), codegen) if array.layout == "C" else None


def _overload(operation, method):
    """An operator on two vectors, element by element."""

    @intrinsic
    def apply(typingctx, one, other):
        def codegen(context, builder, signature, args):
            return getattr(builder, method)(*args, flags=FLAGS)

        return one(one, other), codegen

    @overload(operation)
    def overloaded(one, other):
        if isinstance(one, Vector) and isinstance(other, Vector):
            return lambda one, other: apply(one, other)  # noqa: PLW0108 (numba wants a function of Python)
        return None


for _operation, _method in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _overload(_operation, _method)
