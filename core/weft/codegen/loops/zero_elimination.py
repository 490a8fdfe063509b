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
from weft.codegen.indexing.predicate_simplification import gate_of
from weft.codegen.vectorization.instances import UNROLLED
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.symbolic.conditions import conjuncts

_LONGEST = 8  # turns of a loop that is written out for it
_MOST_POINTS = 1 << 10
_WORTH = 0.85  # the share of products that are none at most


class ZeroProducts(NamedTuple):
    """outputs, terms: loops to write out; share: of the products over them, those that are real."""

    outputs: tuple[UOp, ...]
    terms: tuple[UOp, ...]
    share: float


def find_zero_products(reduce: UOp) -> ZeroProducts | None:
    """The short loops of a sum of products over which some are zero whatever is read.

    None where there are none, or too few for it to be worth writing loops out.
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
    if not loops or math.prod(map(max_trip_count, loops)) > _MOST_POINTS:
        return None
    share = 1.0
    while conditions:
        mine = _connected(conditions)
        conditions = [one for one in conditions if one not in mine]
        share *= _true_fraction(mine)
    if not 0.0 < share <= _WORTH:
        return None
    terms = tuple(loop for loop in loops if loop in own)
    return ZeroProducts(tuple(loop for loop in loops if loop not in own), terms, share)


def mask_zero_products(sink: UOp) -> UOp:
    """a * b   ->   gate ? a * b : 0   by the part of a factor's gate that instances know."""
    nodes = list(sink.toposort())
    made: dict[UOp, UOp] = {}
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
                made[product] = UOp(Ops.WHERE, product.dtype, src)
    return replace_nodes(nodes, made) if made else sink


def _conditions(product: UOp) -> Iterator[UOp]:
    """What has to hold for a product of elements not to be zero, part by part; of loops alone."""
    if product.op is not Ops.MUL or product.dtype is dtypes.bool:
        return
    for factor in product.src:
        load = factor.src[0] if factor.op is Ops.CAST else factor
        gate = gate_of(load)
        if gate is not None and not any(node.op is Ops.LOAD for node in gate.toposort()):
            yield from conjuncts(gate)


def _is_strided_condition(condition: UOp, own: frozenset[UOp]) -> bool:
    """Whether it says where windows end, by an element of a step and the number of the step."""
    order = condition.src[0] if condition.op is Ops.CMPNE else condition
    if order.op is not Ops.CMPLT or not dtypes.is_int(order.src[0].dtype):
        return False
    factors = affine(order.src[0] - order.src[1])[0]
    return len(factors) > 1 and any(u in own and abs(n) > 1 for u, n in factors.items())


def _connected(conditions: list[UOp]) -> list[UOp]:
    """The first of some conditions, and those that share loops with it, or with one that does."""
    mine, count = conditions[:1], 0
    while len(mine) > count:
        count = len(mine)
        loops = frozenset[UOp]().union(*map(ranges_of, mine))
        mine = [one for one in conditions if not loops.isdisjoint(ranges_of(one))]
    return mine


def _true_fraction(conditions: list[UOp]) -> float:
    """The share of all turns of their loops in which conditions hold."""
    loops = list(frozenset[UOp]().union(*map(ranges_of, conditions)))
    points = list(itertools.product(*(range(max_trip_count(loop)) for loop in loops)))
    real = 0
    for point in points:
        places = {loop: loop.const_like(at) for loop, at in zip(loops, point)}
        real += all(_holds(one.substitute(places)) for one in conditions)
    return real / len(points)


def _is_short_loop(loop: UOp) -> bool:
    extent = extent_of(loop)
    return isinstance(extent, int) and extent <= _LONGEST


def _holds(condition: UOp) -> bool:
    known = condition.simplify()
    return known.op is not Ops.CONST or bool(known.arg)
