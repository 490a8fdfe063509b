"""Loop padding: round the extent of a loop up and mask the added iterations (PADTO).

in:  a lowered kernel, and for some of its RANGEs the condition under which an iteration is valid
out: the same, where the added iterations load nothing, store nothing and do not change a REDUCE

A LOAD or STORE whose address depends on such a range gets the condition in its gate. A masked LOAD
returns its existing alternative, or zero. A REDUCE over the range takes the identity of its
operation. A sum whose value is zero in the added iterations needs no mask: products of loads are
such sums, so they remain multiply-adds for matrix units. Arithmetic that is undefined at zero may
run, but the same condition discards its result.

Source: none known; sound because every added iteration contributes the identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import loops_of, ranges_of
from weft.uop import Ops, UOp, identity_element

_ZERO_IF_ALL_ZERO = frozenset({Ops.ADD, Ops.SUB, Ops.MAX, Ops.NEG, Ops.CAST, Ops.MULACC})
_NONE: frozenset[UOp] = frozenset()


class _Padding:
    def __init__(self, conditions: Mapping[UOp, UOp]) -> None:
        self.conditions = conditions
        self.new: dict[UOp, UOp] = {}
        self.zero: dict[UOp, frozenset[UOp]] = {}  # ranges in whose padding a new node is zero

    def run(self, nodes: Sequence[UOp]) -> UOp:
        new = self.new
        for node in nodes:
            src = tuple([new[source] for source in node.src])
            op = node.op
            zero: frozenset[UOp] | None = None
            if op is Ops.LOAD:
                src, zero = self.load(node, src)
            elif op is Ops.STORE:
                src = (self.gated(node.src[0], src[0]), *src[1:])
            elif op is Ops.REDUCE:
                src = self.reduce(node, src)
            same = node if src == node.src else UOp(op, node.dtype, src, node.arg)
            new[node] = same
            self.zero[same] = self.zero_of(same) if zero is None else zero
        return new[nodes[-1]]

    def padded_ranges(self, node: UOp) -> list[UOp]:
        """The padded ranges that an old node depends on."""
        return [loop for loop in self.conditions if loop in ranges_of(node)]

    def gated(self, old: UOp, index: UOp) -> UOp:
        """`index` with the conditions of the padded ranges in its gate."""
        gate = index.src[2] if len(index.src) > 2 else None
        for loop in self.padded_ranges(old):
            condition = self.conditions[loop]
            gate = condition if gate is None else UOp(Ops.AND, dtypes.bool, (gate, condition))
        return index if gate is None else index.replace(src=(*index.src[:2], gate))

    def load(self, node: UOp, src: tuple[UOp, ...]) -> tuple[tuple[UOp, ...], frozenset[UOp]]:
        """The sources of a LOAD, and the ranges in whose padding it is zero."""
        index, *rest = src
        ranges = self.padded_ranges(node.src[0])
        if not ranges:
            return src, _NONE
        if len(index.src) < 3:
            rest = [UOp.const(node.dtype, 0), *rest]
        empty = rest[0].op is Ops.CONST and rest[0].arg == 0
        src = (self.gated(node.src[0], index), *rest)
        return src, frozenset(ranges) if empty else _NONE

    def zero_of(self, node: UOp) -> frozenset[UOp]:
        """The ranges in whose padding a node is zero, from those of its sources."""
        op, zero = node.op, self.zero
        if op is Ops.CONST:
            return frozenset(self.conditions) if node.arg == 0 else _NONE
        if op is Ops.MUL:
            left, right = (zero[source] for source in node.src)
            # zero times infinity is NaN
            return left & right if dtypes.is_float(node.dtype) else left | right
        if op is Ops.WHERE:
            return zero[node.src[1]] & zero[node.src[2]]
        if op in _ZERO_IF_ALL_ZERO:
            return zero[node.src[0]].intersection(*(zero[source] for source in node.src[1:]))
        return _NONE

    def reduce(self, node: UOp, src: tuple[UOp, ...]) -> tuple[UOp, ...]:
        count = node.arg.values
        values = list(src[:count])
        for loop in loops_of(node):
            if loop in self.conditions:
                values = [self.masked(node.arg.op, value, loop) for value in values]
        return (*values, *src[count:])

    def masked(self, op: Ops, value: UOp, loop: UOp) -> UOp:
        """`value`, or the identity of the operation in padded iterations of `loop`."""
        if op is not Ops.ADD:
            return self.select(value, identity_element(op, value.dtype), loop)
        if loop in self.zero[value]:
            return value
        factors = value.src
        if value.op is not Ops.MUL:
            return self.select(value, 0, loop)
        parts: list[UOp] = []
        for factor in factors:
            if loop in self.zero[factor]:
                parts.append(factor)
            elif factor.op is Ops.CAST:
                inner = self.select(factor.src[0], 0, loop)
                parts.append(self.with_zeros(factor.over((inner,))))
            else:
                parts.append(self.select(factor, 0, loop))
        return self.with_zeros(value.over(tuple(parts)))

    def select(self, value: UOp, other: object, loop: UOp) -> UOp:
        """`value` in valid iterations of `loop`, else `other`."""
        src = (self.conditions[loop], value, UOp.const(value.dtype, other))
        result = UOp(Ops.WHERE, value.dtype, src)
        self.zero[result] = self.zero[value] | {loop} if other == 0 else _NONE
        return result

    def with_zeros(self, node: UOp) -> UOp:
        """`node`, after its zeros are recorded."""
        self.zero[node] = self.zero_of(node)
        return node


def run(nodes: Sequence[UOp], conditions: Mapping[UOp, UOp]) -> UOp:
    """The graph of `nodes` (topological order, its root last) with padded iterations masked.

    conditions: for each padded RANGE the condition that is true exactly in valid iterations.
    """
    return _Padding(conditions).run(nodes)
