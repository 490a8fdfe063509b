"""Tensor cores: compute a sum of products with a matrix unit (TC).

in:  a lowered kernel with a REDUCE of products over one fragment of each of three ranges: `m`, on
     which the left factor depends, `n`, on which the right factor depends, and `k`
out: the same with a WMMA in place of the product; the lane number and the element number within a
     lane replace the three ranges

The position of an element in a fragment is linear in the bits of both numbers (`TensorCore`). So m,
n and k become sums of bits: ranges of two iterations for the lanes and for the factor elements of a
lane, and one VECTOR range for the result elements of a lane.

Source: none known; sound because each `TensorCore` maps lanes and elements one to one to a
fragment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.analysis.folding import added, folded, scaled
from weft.codegen.analysis.ranges import CLOSING, Fragment, loops_of, ranges_of, values_of
from weft.codegen.analysis.substitution import replace_nodes, substitute_ranges
from weft.device.tensor_core import Step, TensorCore
from weft.uop import AxisKind, Ops, UOp


class Product(NamedTuple):
    """The two factors of what a REDUCE adds up, in the dtype that a unit takes."""

    left: UOp
    right: UOp

    def swapped(self) -> Product:
        """The same with the factors exchanged."""
        return Product(self.right, self.left)


def product_of(reduce: UOp, core: TensorCore) -> Product | None:
    """The product that `core` could compute; None for other dtypes or operations."""
    if core.rounds and settings.MATMUL_PRECISION == "highest":
        return None
    if reduce.arg.op is not Ops.ADD or reduce.arg.values != 1 or reduce.dtype is not core.dtype_out:
        return None
    (value,) = values_of(reduce)
    if value.op is not Ops.MUL:
        return None
    factors = [_narrow(factor, core) for factor in value.src]
    if factors[0] is None or factors[1] is None:
        return None
    return Product(factors[0], factors[1])


def _narrow(factor: UOp, core: TensorCore) -> UOp | None:
    if factor.op is Ops.CAST and factor.dtype is core.dtype_out is not core.dtype_in:
        factor = factor.src[0]
    if factor.dtype is not core.dtype_in or any(u.op in CLOSING for u in factor.toposort()):
        return None
    return factor


def sides(product: Product, among: Sequence[UOp]) -> tuple[list[UOp], list[UOp]]:
    """The ranges of `among` on which only the left factor depends, and only the right one."""
    left, right = ranges_of(product.left), ranges_of(product.right)
    rows = [loop for loop in among if loop in left and loop not in right]
    columns = [loop for loop in among if loop in right and loop not in left]
    return rows, columns


def fragment_sides(
    product: Product, core: TensorCore, extents: Mapping[UOp, int]
) -> tuple[UOp, UOp] | None:
    """The innermost ranges of which whole fragments are the rows and the columns."""
    m, n, _ = core.dims
    for pair in (product, product.swapped()):
        rows, columns = sides(pair, list(extents))
        rows = [loop for loop in rows if extents[loop] % m == 0]
        columns = [loop for loop in columns if extents[loop] % n == 0]
        if rows and columns:
            return rows[-1], columns[-1]
    return None


class Place(NamedTuple):
    """The ranges of a fragment: m, n, k, and the bits of the lane number, lowest first."""

    core: TensorCore
    m: UOp
    n: UOp
    k: UOp
    lanes: tuple[UOp, ...]


def run(sink: UOp, place: Place) -> UOp:
    """The kernel with a unit's work in place of the products over `place`."""
    nodes = list(sink.toposort())
    core = place.core
    numbers = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
    elements = UOp.range(1 << len(core.c.element), numbers, AxisKind.VECTOR)
    numbers += 1
    of_a = _bits(len(core.a.element), numbers)
    of_b = _bits(len(core.b.element), numbers + len(of_a))
    row_a, column_a = _coordinates(core.a.lane, core.a.element, place.lanes, of_a)
    row_b, column_b = _coordinates(core.b.lane, core.b.element, place.lanes, of_b)
    made: dict[UOp, UOp] = {}
    for node in nodes:
        if node.op is not Ops.REDUCE or place.k not in ranges_of(values_of(node)[0]):
            continue
        product = product_of(node, core)
        if product is None:
            continue  # it is made of the sum that Kernel.apply has found
        if place.m not in ranges_of(product.left):
            product = product.swapped()
        left = substitute_ranges(
            list(product.left.toposort()), {place.m: row_a, place.k: column_a}, {}
        )
        right = substitute_ranges(
            list(product.right.toposort()), {place.k: row_b, place.n: column_b}, {}
        )
        sources = (left, right, *of_a, *of_b, elements)
        unit = UOp(Ops.WMMA, node.dtype, sources, Fragment(core, len(of_a), len(of_b)))
        made[node] = UOp(Ops.REDUCE, node.dtype, (unit, *loops_of(node)), node.arg)
    sink = replace_nodes(nodes, made)
    bits = [_bit(elements, number) for number in range(len(core.c.element))]
    row, column = _coordinates(core.c.lane, core.c.element, place.lanes, bits)
    return substitute_ranges(list(sink.toposort()), {place.m: row, place.n: column}, {})


def _bits(count: int, number: int) -> tuple[UOp, ...]:
    """Return `count` ranges of two iterations, that of the lowest bit innermost."""
    return tuple(UOp.range(2, number + count - 1 - bit, AxisKind.UPCAST) for bit in range(count))


def _bit(number: UOp, bit: int) -> UOp:
    shifted = folded(Ops.IDIV, dtypes.int, (number, number.const_like(1 << bit)))
    return folded(Ops.MOD, dtypes.int, (shifted, shifted.const_like(2)))


def _coordinates(
    lane_steps: Sequence[Step], element_steps: Sequence[Step],
    lanes: Iterable[UOp], elements: Iterable[UOp],
) -> tuple[UOp, UOp]:  # fmt: skip
    """The row and the column at which an element of a lane is."""
    row = column = UOp.const(dtypes.int, 0)
    for steps, bits in ((lane_steps, lanes), (element_steps, elements)):
        for (down, right), bit in zip(steps, bits):
            row = added(row, scaled(bit, down).cast(row.dtype))
            column = added(column, scaled(bit, right).cast(column.dtype))
    return row, column
