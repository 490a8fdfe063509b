"""Structural-zero elimination: skip products that the loop indices alone prove to be zero.

The gradient of a convolution with stride `s`, whose window length is not a multiple of `s`, has
such products. Element r of a step uses index k = 2 j + r - 1 of the window. The number of j is the
same for each r. Where k is outside the window, the weight is zero. Unrolling the loops over r and j
makes these gates constant, so the zeros are neither loaded nor multiplied. For a 3 x 3 window and
stride 2, 9 of 16 products remain.

Only gates of strides of two or more count. Zeros of padding or of a mask are multiplied, because
zero times a value that is not finite is NaN.

`find_zero_products` finds the loops before the strategy runs; `mask_zero_products` masks the
products afterwards.

Source: none known; sound because the removed products have a structurally zero factor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.folding import conjunction
from weft.codegen.analysis.ranges import extent_of, loops_of, max_trip_count, ranges_of, values_of
from weft.codegen.analysis.substitution import replace_nodes
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.indexing.predicate_simplification import gate_of
from weft.codegen.thresholds import ZERO_EXTENT, ZERO_POINTS, ZERO_SHARE
from weft.codegen.vectorization.instances import UNROLLED
from weft.uop import Ops, UOp, conjuncts


class ZeroProducts(NamedTuple):
    """The output and reduction loops to unroll, and the share of products that remain."""

    outputs: tuple[UOp, ...]
    terms: tuple[UOp, ...]
    share: float


def find_zero_products(reduce: UOp) -> ZeroProducts | None:
    """The short loops of a sum of products in which some products are structurally zero.

    None if there are no such products, or too few for unrolling to be profitable.
    """
    if reduce.arg.op is not Ops.ADD or len(values_of(reduce)) != 1:
        return None
    own = frozenset(loops_of(reduce))
    conditions = [
        one
        for one in _conditions(values_of(reduce)[0])
        if all(_is_short_loop(loop) for loop in ranges_of(one)) and _is_strided_condition(one, own)
    ]
    loops = sorted({u for one in conditions for u in ranges_of(one)}, key=lambda u: u.arg.id)
    if not loops or math.prod(map(max_trip_count, loops)) > ZERO_POINTS:
        return None
    share = 1.0
    while conditions:
        mine = _connected(conditions)
        conditions = [one for one in conditions if one not in mine]
        share *= _true_fraction(mine)
    if not 0.0 < share <= ZERO_SHARE:
        return None
    terms = tuple(loop for loop in loops if loop in own)
    return ZeroProducts(tuple(loop for loop in loops if loop not in own), terms, share)


def mask_zero_products(sink: UOp) -> UOp:
    """a * b   ->   gate ? a * b : 0   for gates that are constant once loops are unrolled"""
    nodes = nodes_of(sink)
    masked: dict[UOp, UOp] = {}
    for reduce in nodes:
        if reduce.op is not Ops.REDUCE or reduce.arg.op is not Ops.ADD:
            continue
        own = frozenset(loops_of(reduce))
        for product in values_of(reduce):
            known = [
                one
                for one in _conditions(product)
                if all(loop.arg.kind in UNROLLED for loop in ranges_of(one))
                and _is_strided_condition(one, own)
            ]
            if known:
                src = (conjunction(known), product, product.const_like(0))
                masked[product] = UOp(Ops.WHERE, product.dtype, src)
    return replace_nodes(nodes, masked) if masked else sink


def _conditions(product: UOp) -> Iterator[UOp]:
    """The conjuncts of the gates of a product's factors, as far as they depend on loops alone."""
    if product.op is not Ops.MUL or product.dtype is dtypes.bool:
        return
    for factor in product.src:
        load = factor.src[0] if factor.op is Ops.CAST else factor
        gate = gate_of(load)
        if gate is not None and not any(node.op is Ops.LOAD for node in gate.toposort()):
            yield from conjuncts(gate)


def _is_strided_condition(condition: UOp, own: frozenset[UOp]) -> bool:
    """Whether a condition bounds a window position: several terms, one with a stride of a loop."""
    order = condition.src[0] if condition.op is Ops.CMPNE else condition
    if order.op is not Ops.CMPLT or not dtypes.is_int(order.src[0].dtype):
        return False
    factors = affine(order.src[0] - order.src[1])[0]
    return len(factors) > 1 and any(u in own and abs(n) > 1 for u, n in factors.items())


def _connected(conditions: list[UOp]) -> list[UOp]:
    """The first condition and all conditions connected with it by shared loops."""
    mine, count = conditions[:1], 0
    while len(mine) > count:
        count = len(mine)
        loops = frozenset[UOp]().union(*map(ranges_of, mine))
        mine = [one for one in conditions if not loops.isdisjoint(ranges_of(one))]
    return mine


def _true_fraction(conditions: list[UOp]) -> float:
    """The share of the iterations of their loops in which all conditions hold."""
    loops = list(frozenset[UOp]().union(*map(ranges_of, conditions)))
    points = list(itertools.product(*(range(max_trip_count(loop)) for loop in loops)))
    valid = 0
    for point in points:
        values = {loop: loop.const_like(at) for loop, at in zip(loops, point)}
        valid += all(_holds(one.substitute(values)) for one in conditions)
    return valid / len(points)


def _is_short_loop(loop: UOp) -> bool:
    extent = extent_of(loop)
    return isinstance(extent, int) and extent <= ZERO_EXTENT


def _holds(condition: UOp) -> bool:
    known = condition.simplify()
    return known.op is not Ops.CONST or bool(known.arg)
