"""Scatter detection: find reduces that an indexed store or a running count can replace.

    sum over t of where(index[t] == v, f(t), 0)                 a scatter, a histogram
    sum over u of where(u <= t and key[u] == key[t], f(u), 0)   a running count per key

Evaluated as written they compare every term with every output. Code generation iterates over the
terms once (`codegen/indexing/indexed_stores`, `scatter_add`, `keyed_prefix_count`). This needs a
kernel without another loop over the same rows: a kernel that is fused with a neighbour would
compare again. Such a reduce gets a kernel of its own, on devices that are not parallel.

in:  a REDUCE_AXIS
out: whether it is one

Source: none known; the terms are the same, and each goes to the one output whose comparison holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.base.dtype import dtypes
from weft.base.sequences import prod
from weft.schedule.arange import is_counted
from weft.schedule.use_def import LEAVES
from weft.uop import GroupOp, Ops, UOp

_FEW = 64
"""Terms up to which comparing all of them is nothing."""
_EQUALITY = frozenset({Ops.CMPEQ, Ops.CMPNE})
_CONDITIONS = frozenset({Ops.AND, Ops.CAST, Ops.MUL})


def is_scatter(reduce: UOp) -> bool:
    """Whether the terms of a REDUCE_AXIS go to indices that are read from memory."""
    return next(_scatter_indices(reduce), None) is not None


def has_index_per_element(reduce: UOp) -> bool:
    """Whether it is a scatter in which elements of one row have indices of their own. Its rows
    cannot be kept in local arrays: it is stored by index, in a kernel of its own."""
    axes = reduce.arg.axes
    kept = [axis for axis in range(len(reduce.src[0].shape)) if axis not in axes]
    for index, place in _scatter_indices(reduce):
        along = [axis for axis in kept if _varies(place, (axis,), False)]
        inside = tuple(axis for axis in kept if along and axis > along[0])
        if _varies(index, inside, True):
            return True
    return False


def _scatter_indices(reduce: UOp) -> Iterator[tuple[UOp, UOp]]:
    """The index expressions that are read, each with the counter that it is compared with."""
    shape, axes = reduce.src[0].shape, reduce.arg.axes
    terms = prod([shape[axis] for axis in axes])
    if not isinstance(terms, int) or terms <= _FEW:
        return
    conditions = list(_conditions(reduce.src[0]))
    ordered = any(one.op is Ops.CMPLT and all(map(is_counted, one.src)) for one in conditions)
    for one in conditions:
        if one.op not in _EQUALITY or not dtypes.is_int(one.src[0].dtype):
            continue
        for index, place in (one.src, one.src[::-1]):
            counts = is_counted(place) or (ordered and not is_counted(index))
            if counts and _varies(index, axes, True) and not _varies(place, axes, False):
                yield index, place


def _conditions(value: UOp) -> Iterator[UOp]:
    """The comparisons that select a term."""
    stack = [value]
    while stack:
        node = stack.pop()
        if node.op in _EQUALITY or node.op is Ops.CMPLT:
            yield node
            if node.dtype is dtypes.bool and node.src[0].dtype is dtypes.bool:
                stack.append(node.src[0])  # not equal to true: not
        elif node.op is Ops.WHERE:
            stack.append(node.src[0])
        elif node.op in _CONDITIONS:
            stack.extend(node.src)


def _varies(side: UOp, axes: tuple[int, ...], read: bool) -> bool:
    """Whether a value differs along one of these axes. read: counted values do not matter."""
    stack, seen = [side], set[UOp]()
    while stack:
        node = stack.pop()
        if node in seen or node.base.op in LEAVES - {Ops.BUFFER} or (read and is_counted(node)):
            continue
        seen.add(node)
        if node.op in GroupOp.Elementwise:
            stack.extend(node.src)
        elif any(node.st.simplify().views[-1].strides[axis] != 0 for axis in axes):
            return True
    return False
