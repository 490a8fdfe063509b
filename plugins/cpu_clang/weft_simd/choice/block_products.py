"""Products of block-quantised rows: lanes and tiles for sums of packed dot products.
Also: quantised GEMV.

in:  a kernel of one or several float sums over blocks, each term of which is an integer sum of
     products of 8-bit numbers
out: lanes along words of four numbers, all terms of the integer sum unrolled, a few blocks at once

The integer sum stays in a register: it is scaled and added to the float sum of each lane. The
blocks of one iteration are as many independent sums as hide the latency of an addition. A few rows
of weights share the activations. They are far apart, so that each is a part of one long access
stream. Neighbouring rows would be short streams, which hardware prefetch finds again and again.

Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, VNNI; Allen & Kennedy,
"Optimizing Compilers for Modern Architectures" (2001), unrolling of reductions.
"""

from __future__ import annotations

from typing import NamedTuple

from weft.plugin import (
    Access,
    AxisKind,
    Kernel,
    Ops,
    OptKind,
    PairDot,
    UOp,
    dtypes,
    extent_of,
    loops_of,
    trip_count,
    values_of,
)
from weft_simd import thresholds
from weft_simd.choice.axes import LOOP, REDUCE, all_or_nothing, loop_axis


class _Product(NamedTuple):
    """One product: its integer sum, the float sum over blocks, and the loop over words."""

    inner: UOp
    outer: UOp
    lane: UOp


def apply_block_products(kernel: Kernel) -> bool:
    """Apply what such products need, all of it or nothing; False for other kernels."""
    units = [unit for unit in kernel.target.compute.pair_dots if unit.terms == 4]
    if not units or kernel.fills:
        return False
    products = _products(kernel)
    sums = {each for product in products for each in (product.inner, product.outer)}
    if not products or len(sums) != len(kernel.reduces):
        return False
    return all_or_nothing(kernel, lambda trial: _apply_opts(trial, units, products))


def _products(kernel: Kernel) -> list[_Product]:
    """The products of a kernel; none if a sum belongs to no product."""
    found: list[_Product] = []
    for inner in kernel.reduces:
        if inner.dtype is not dtypes.int:
            continue
        floats = (r for r in kernel.reduces if dtypes.is_float(r.dtype) and inner in r.toposort())
        outer = next(floats, None)
        lane = None if outer is None else _word_loop(kernel, inner, outer)
        if outer is None or lane is None:
            return []
        found.append(_Product(inner, outer, lane))
    return found


def _factors(kernel: Kernel, inner: UOp) -> list[Access]:
    """The reads of 8-bit numbers that the terms of the integer sum multiply."""
    values = values_of(inner)
    if inner.arg.op is not Ops.ADD or len(values) != 1 or values[0].op is not Ops.MUL:
        return []
    below = [node.toposort(gate=lambda u: u.op is not Ops.INDEX) for node in values[0].src]
    return [
        access
        for access in kernel.inside(inner)
        if access.node.dtype.itemsize == 1 and any(access.node in nodes for nodes in below)
    ]


def _word_loop(kernel: Kernel, inner: UOp, outer: UOp) -> UOp | None:
    """The loop over the words of a block: the numbers of a word are neighbours in memory, and so
    are the words; None if a factor is read in another way."""
    factors = _factors(kernel, inner)
    if len(factors) < 2 or any(access.irregular for access in factors):
        return None
    for term in loops_of(inner):
        for lane in loops_of(outer):
            steps = {(access.steps.get(term), access.steps.get(lane)) for access in factors}
            if extent_of(term) == 4 and steps == {(1, 4)}:
                return lane
    return None


def _apply_opts(kernel: Kernel, units: list[PairDot], products: list[_Product]) -> bool:
    widths = sorted({width for unit in units for width in unit.lanes}, reverse=True)
    fills = 1  # blocks whose words fill the widest register
    for lane in dict.fromkeys(product.lane for product in products):
        place = kernel.axis_of(lane, REDUCE)
        width = next((n for n in widths if trip_count(lane) % n == 0), 0)
        if place is None or not width or not kernel.attempt(OptKind.VECTOR, place, width):
            return False
        fills = max(fills, widths[0] // width)
    for loop in dict.fromkeys(loop for product in products for loop in loops_of(product.inner)):
        place = kernel.axis_of(loop, REDUCE)
        if place is None or not kernel.attempt(OptKind.UNROLL, place, 0):
            return False
    instances = _unroll_rows(kernel)
    if instances:
        instances *= _unroll_streams(kernel, instances)
    for loops in dict.fromkeys(loops_of(product.outer) for product in products):
        lanes = [product.lane for product in products]
        _unroll_blocks(kernel, [loop for loop in loops if loop not in lanes], instances, fills)
    return instances > 0


def _unroll_rows(kernel: Kernel) -> int:
    """Unroll all rows of the activations, which share the codes; how many, 0 for too many."""
    outputs = [axis.loop for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    largest = max(outputs, key=trip_count, default=None)
    instances = 1
    for loop in outputs:
        place, rows = kernel.axis_of(loop, LOOP), trip_count(loop)
        if loop is largest or place is None or rows == 1:
            continue
        instances *= rows
        if instances > thresholds.BLOCK_ROWS or not kernel.attempt(OptKind.UPCAST, place, 0):
            return 0
    return instances


def _unroll_streams(kernel: Kernel, instances: int) -> int:
    """Multiply rows of weights of several parts of the matrix at once; how many.

    They share the activations. Each part is one contiguous stream of memory.
    """
    outputs = [axis.loop for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    largest = max(outputs, key=trip_count, default=None)
    found = None if largest is None else loop_axis(kernel, largest)
    registers = kernel.target.compute.vector_registers
    streams = thresholds.BLOCK_STREAMS[instances > 1]
    if found is None or instances * streams > thresholds.BLOCK_REGISTERS * registers:
        return 1
    place, rows = found
    if rows % streams or rows == streams:
        return 1

    def unrolled(trial: Kernel) -> bool:
        return trial.attempt(OptKind.SPLIT, place, rows // streams) and trial.attempt(
            OptKind.UPCAST, place, 0
        )

    return streams if all_or_nothing(kernel, unrolled) else 1


def _unroll_blocks(kernel: Kernel, loops: list[UOp], instances: int, fills: int) -> None:
    """Unroll the sub-blocks of a block, so that the bits of their scales are at known places, or
    several blocks.

    loops: of the float sum, without that over words. fills: blocks whose words fill a register, if
    no sub-blocks do.
    """
    sums = max(1, instances)
    for loop in reversed(loops[1:]):
        place, trips = kernel.axis_of(loop, REDUCE), trip_count(loop)
        if place is None or sums * trips > max(1, instances) * thresholds.SUB_BLOCKS:
            return
        if trips > 1 and kernel.attempt(OptKind.UNROLL, place, 0):
            sums *= trips
            fills //= trips
    place = kernel.axis_of(loops[0], REDUCE) if loops else None
    amount = max(thresholds.BLOCK_SUMS // sums, fills)
    while place is not None and amount > 1:
        fits = trip_count(loops[0]) % amount == 0
        if fits and kernel.attempt(OptKind.UNROLL, place, amount):
            return
        amount //= 2
