"""Packed dot product over words: a reduction loop reads words of two or four narrow numbers.

in:  spec.lowered, decomposed
out: the same; if a target adds several such products at once (PairDot) and many rows will share a
     panel of one factor, that sum is one of DOTs, with fewer iterations. The words are values like
     others, made of their numbers by shifts, so that a panel holds whole words

A unit may require one unsigned and one signed factor. If both factors have the same signedness, the
factor of the rows is offset by 128: ``sum(a*b) = sum((a+128)*b) - 128*sum(b)``, in wrapping
integers. The second sum is computed once for each column, not for each product.

Reductions that this module does not change may still be packed after unrolling (`packed_dot`).

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, VPDPBUSD and VPDPWSSD.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from weft.plugin import (
    Accumulate,
    DType,
    Ops,
    PairDot,
    Target,
    UOp,
    affine,
    dtypes,
    extent_of,
    loops_of,
    nodes_of,
    ranges_of,
    replace_nodes,
    shifted_left,
    substitute_ranges,
    values_of,
    word_of,
)
from weft_simd import thresholds

_SIGN = 0x80808080 - (1 << 32)
_ONES = 0x01010101


class _Product(NamedTuple):
    """A sum of products: the LOADs of the factor that rows share, and of the one that they do not.

    rows, columns: as they are in memory.
    """

    reduce: UOp
    loop: UOp
    rows: UOp
    columns: UOp


def run(sink: UOp, target: Target) -> UOp:
    """The kernel with its sum over words; the same kernel if that is not profitable."""
    compute = target.compute
    if not compute.pair_dots or not compute.limits.scratch_bytes:
        return sink
    nodes = nodes_of(sink)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    if len(reduces) != 1 or any(node.op is Ops.FILL for node in nodes):
        return sink
    lanes = compute.vector_bytes // 4
    units = [
        unit
        for unit in compute.pair_dots
        if lanes in unit.lanes and (unit.terms == 2 or unit.has_unsigned_bytes)
    ]
    for unit in sorted(units, key=lambda one: -one.terms):
        product = _product(reduces[0], unit)
        if product is not None and _is_profitable(product, nodes, lanes):
            first = 1 + max(node.arg.id for node in nodes if node.op is Ops.RANGE)
            return replace_nodes(nodes, {product.reduce: _summed(product, unit, first)})
    return sink


# ---- legality and profitability --------------------------------------------------------------


def _product(reduce: UOp, unit: PairDot) -> _Product | None:
    """A sum that the unit can compute: over one loop, of plain LOADs of numbers that it takes."""
    if reduce.arg.op is not Ops.ADD or reduce.dtype is not unit.dtype_out:
        return None
    loops, values = loops_of(reduce), values_of(reduce)
    if len(loops) != 1 or len(values) != 1 or values[0].op is not Ops.MUL:
        return None
    (loop,) = loops
    extent = extent_of(loop)
    if not isinstance(extent, int) or extent % unit.terms or loop.dtype is not dtypes.int:
        return None
    left, right = (_narrow(factor, unit) for factor in values[0].src)
    outputs = ranges_of(reduce)
    if left is None or right is None or not outputs:
        return None
    last = max(outputs, key=lambda one: one.arg.id)
    rows, columns = (left, right) if last in ranges_of(right) else (right, left)
    if last in ranges_of(rows) or last not in ranges_of(columns):
        return None
    return _Product(reduce, loop, rows, columns)


def _narrow(factor: UOp, unit: PairDot) -> UOp | None:
    """The LOAD of narrow numbers behind a factor; None where it is none that a unit takes."""
    narrow = unit.dtype_in
    word = word_of(factor, narrow if narrow.itemsize == 2 else dtypes.int16)
    if word is None or word.op is not Ops.CAST:
        return None
    load = word.src[0]
    plain = load.op is Ops.LOAD and len(load.src) == 1 and load.dtype is not dtypes.bool
    if not plain or load.src[0].src[0].op is not Ops.DEFINE_GLOBAL:
        return None
    return load if unit.terms == 2 or load.dtype.itemsize == 1 else None


def _is_profitable(product: _Product, nodes: Sequence[UOp], lanes: int) -> bool:
    """Whether many rows share what a panel would hold, and columns fill vectors.

    The reads are contiguous: either the numbers of one word or the words of one vector.
    """
    outputs = ranges_of(product.reduce)
    apart = ranges_of(product.columns)
    rows = [extent_of(one) for one in outputs if one not in apart]
    columns = [extent_of(one) for one in outputs if one in apart]
    if not all(isinstance(extent, int) for extent in (*rows, *columns)):
        return False
    if math.prod(rows) < thresholds.REUSED or max(columns, default=0) < lanes:
        return False
    for load in (product.rows, product.columns):
        steps, _ = affine(load.src[0].src[1])
        if any(step.op is not Ops.RANGE for step in steps) or 1 not in map(abs, steps.values()):
            return False
    return True


# ---- construction ----------------------------------------------------------------------------


def _summed(product: _Product, unit: PairDot, number: int) -> UOp:
    """The same sum over words, plus the correction if a factor was offset."""
    dtype = product.reduce.dtype
    columns = _word(product, product.columns, unit, number)
    rows = _word(product, product.rows, unit, number)
    if unit.terms == 2:
        return _sum_of(product, UOp(Ops.DOT, dtype, (rows, columns), unit), number, unit)
    signed = [load.dtype is dtypes.int8 for load in (product.rows, product.columns)]
    shifted = signed[0] is signed[1]
    if shifted:
        rows = UOp(Ops.XOR, rows.dtype, (rows, rows.const_like(_SIGN)))
    total = _sum_of(product, _dot(unit, rows, columns, signed[1], dtype), number, unit)
    if not shifted:
        return total
    # a loop of its own, outside of those over rows
    columns = _word(product, product.columns, unit, number + 1)
    ones = columns.const_like(_ONES)
    alone = _dot(unit, ones, columns, signed[1], dtype)
    rest = _sum_of(product, alone, number + 1, unit)
    factor = rest.const_like(-128 if signed[1] else 128)
    return UOp(Ops.ADD, dtype, (total, UOp(Ops.MUL, dtype, (rest, factor))))


def _dot(unit: PairDot, one: UOp, other: UOp, other_signed: bool, dtype: DType) -> UOp:
    """A DOT whose factors come in the order that the unit wants."""
    right = (unit.given[1] is dtypes.int8) is other_signed
    return UOp(Ops.DOT, dtype, (one, other) if right else (other, one), unit)


def _sum_of(product: _Product, value: UOp, number: int, unit: PairDot) -> UOp:
    loop = _loop(product, number, unit)
    return UOp(Ops.REDUCE, product.reduce.dtype, (value, loop), Accumulate(Ops.ADD))


def _loop(product: _Product, number: int, unit: PairDot) -> UOp:
    words = int(extent_of(product.loop)) // unit.terms
    return UOp.range(words, number, product.loop.arg.kind)


def _word(product: _Product, load: UOp, unit: PairDot, number: int) -> UOp:
    """Neighbours along the sum in one word, the first in the lowest bits."""
    loop = _loop(product, number, unit)
    inside = list(load.toposort())
    bits = 32 // unit.terms
    whole: UOp | None = None
    for place in range(unit.terms):
        first = loop * loop.const_like(unit.terms)
        term = first + loop.const_like(place) if place else first
        value = substitute_ranges(inside, {product.loop: term}, {})
        if bits == 8 and load.dtype is dtypes.int8:
            value = value.cast(dtypes.uint8)
        kind = dtypes.uint if load.dtype is dtypes.ushort else dtypes.int
        part = value.cast(kind)
        if place < unit.terms - 1 and not dtypes.is_unsigned(value.dtype):
            part = UOp(Ops.AND, kind, (part, part.const_like((1 << bits) - 1)))
        if place:
            part = shifted_left(part, bits * place)
        whole = part if whole is None else UOp(Ops.OR, kind, (whole, part))
    assert whole is not None
    return whole
