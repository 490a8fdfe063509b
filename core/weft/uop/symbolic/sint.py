"""Symbolic integers: `sint = int | UOp`, for sizes that are known only when a kernel runs.

Operators on nodes fold nothing, so code that keeps a result calls `fold` on it: an int if it is
constant, otherwise the simplified node. Folded results are canonical, so `==` compares equal sizes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.base.dtype import dtypes
from weft.uop.evaluate import exec_alu
from weft.uop.node import UOp, sint
from weft.uop.ops import GroupOp, Ops

Variable = UOp.variable


def fold(value: sint) -> sint:
    """The value as an int if it has only one, else its canonical node."""
    if value.__class__ is int:
        return value
    if isinstance(value, UOp):
        node = value.simplify()
        return int(node.arg) if node.op is Ops.CONST else node
    return int(value)


def as_node(value: sint) -> UOp:
    """The value as an index node."""
    return value if isinstance(value, UOp) else UOp.const(dtypes.int, value)


def smax(*values: sint) -> sint:
    """The greatest of symbolic integers, folded."""
    return _extreme(values, greatest=True)


def smin(*values: sint) -> sint:
    """The least of symbolic integers, folded."""
    return _extreme(values, greatest=False)


def _extreme(values: tuple[sint, ...], greatest: bool) -> sint:
    fixed = [v for v in values if not isinstance(v, UOp)]
    nodes = [v for v in values if isinstance(v, UOp)]
    if not nodes:
        return max(fixed) if greatest else min(fixed)
    if fixed:
        nodes.append(as_node(max(fixed) if greatest else min(fixed)))
    result = nodes[0]
    for node in nodes[1:]:
        if greatest:
            # if the sign of the difference is known, no MAX node is needed
            difference = (node - result).simplify()
            if difference.vmin >= 0:
                result = node
            elif difference.vmax > 0:
                result = result.maximum(node)
        else:
            difference = (node - result).simplify()
            if difference.vmax <= 0:
                result = node
            elif difference.vmin < 0:
                result = -((-result).maximum(-node))
    return fold(result)


def sprod(values: Iterable[sint]) -> sint:
    """The product of symbolic integers, folded; 1 of nothing."""
    product: sint = 1
    for value in values:
        product = value if product.__class__ is int and product == 1 else product * value
    return product if product.__class__ is int else fold(product)


def resolve(condition: Any, default: bool = True) -> bool:
    """Whether a condition on symbolic integers holds; `default` if its bounds do not decide."""
    if not isinstance(condition, UOp):
        return bool(condition)
    node = condition.simplify()
    low, high = node.vmin, node.vmax
    return bool(low) if low == high else default


def low_of(value: sint) -> int:
    """The least value."""
    return value if isinstance(value, int) else value.vmin


def high_of(value: sint) -> int:
    """The greatest value."""
    return value if isinstance(value, int) else value.vmax


def variable_and_value(bound: UOp) -> tuple[UOp, int]:
    """The variable and value of a BIND node, without a report that the value is read."""
    return bound.src[0], bound.src[1].arg


def unbind_sint(value: sint) -> tuple[sint, dict[UOp, int]]:
    """The value with its bound variables free, and what each was bound to."""
    if not isinstance(value, UOp):
        return value, {}
    bound = {u: variable_and_value(u) for u in value.toposort() if u.op is Ops.BIND}
    if not bound:
        return value, {}
    free = value.substitute({node: variable for node, (variable, _) in bound.items()})
    return fold(free), dict(bound.values())


def variables_of(value: sint) -> set[UOp]:
    """The DEFINE_VAR nodes in a symbolic integer, bound ones included."""
    if not isinstance(value, UOp):
        return set()
    return {node for node in value.toposort() if node.op is Ops.DEFINE_VAR}


def evaluate_sint(value: sint, values: dict[UOp, int]) -> int:
    """The int that a symbolic integer is, given a value for each of its variables.

    Bound variables need none. Raises ArgumentError where a variable has no value.
    """
    if not isinstance(value, UOp):
        return int(value)
    found = dict[UOp, Any](values)
    for node in value.toposort():
        if node in found:
            continue
        if node.op is Ops.CONST:
            found[node] = node.arg
        elif node.op is Ops.BIND:
            found[node] = found.get(node.src[0], node.src[1].arg)
        elif node.op in GroupOp.ALU and all(source in found for source in node.src):
            found[node] = exec_alu(node.op, node.dtype, [found[source] for source in node.src])
    if value in found:
        return int(found[value])
    known = {node: UOp.const(node.dtype, number) for node, number in found.items()}
    return int(value.substitute(known))
