"""Fusion legality: decide from facts about kernels whether their fusion is legal and profitable.
Also: profitability.

in:  the facts of kernels, and what their loops read
out: yes or no, and how their loops are aligned

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 6.2 (loop
fusion, fusion-preventing dependences).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from weft.base.sequences import prod
from weft.schedule.fusion_analysis import Facts, reused_operands
from weft.schedule.row_dependence import rows_of_view
from weft.uop import Ops, UOp

# bytes of an operand that a matrix product may read again for each row of a local row buffer
_NEAR = 512 * 1024

# operations that take a few microseconds
_SMALL = 1 << 17

# each with its operands, and along which axes those do not move
Products: TypeAlias = list[tuple[UOp, list[tuple[UOp, frozenset[int]]]]]


def overwrites_needed_element(facts: Sequence[Facts]) -> bool:
    """Whether one of these kernels, sources first, overwrites an element that a later iteration of
    the shared loops reads: below a reduce, or at another index."""
    versions = {known.root.src[0].base for known in facts if known.root.op is Ops.ASSIGN}
    read: dict[UOp, set[UOp]] = {}  # by member: what it reads of that, itself or through others
    for known in facts:
        mine: set[UOp] = set()
        if known.root.op is not Ops.ASSIGN:  # a written value is not recomputed
            read[known.root] = mine
        for base in known.reads:
            below = read.get(base, set()) | ({base} & versions)
            if below and base in known.displaced:
                return True
            mine |= below
    return False


def reads_incomplete_scatter(facts: Sequence[Facts]) -> bool:
    """Whether a scattered value is read in the same loops, before all of it is stored.

    A scatter with several terms per element stores the last one, whose number is a maximum over the
    terms. The lookup of that term may be in the same kernel, later readers may not. A scatter-add
    is a kernel of its own.
    """
    if len(facts) > 1 and any(
        known.scatters_elements and Ops.MAX not in known.scatter_ops for known in facts
    ):
        return True
    maxima = {known.root for known in facts if Ops.MAX in known.scatter_ops}
    if not maxima:
        return False
    own = {known.root for known in facts}
    own -= {root for root in maxima if root.op is Ops.REDUCE_AXIS}
    return any(base in own for known in facts for base in known.reads)


def iterations_of(reduce: tuple[Any, ...]) -> int:
    """The number of iterations of a reduce, given as its shape and axes."""
    return prod(reduce[0])


def is_small_reduce(facts: Sequence[Facts], work: int) -> bool:
    """Whether these are reduces of few elements in plain loops."""
    plain = not any(known.tiled or known.packed or known.scatter_ops for known in facts)
    return plain and any(known.reduces for known in facts) and work <= _SMALL


def is_strided(source: UOp, base: UOp) -> bool:
    """Whether a movement reads `base` along another axis than its innermost one."""
    if source is base:
        return False
    view = source.st.simplify().views[-1]
    pairs = zip(reversed(view.shape), reversed(view.strides))
    inner = next((stride for extent, stride in pairs if extent != 1 and stride != 0), 1)
    return inner not in (1, -1)


def reduce_extent(reduce: tuple[Any, ...]) -> int:
    """The number of terms of each element of the result."""
    shape, axes = reduce
    return prod(shape[axis] for axis in axes)


def aligned_shape(small: tuple[Any, ...], large: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`small` with its axes where `large` has equal extents, last first; None where it has not."""
    left = [extent for extent in small if extent != 1]
    shape = [1] * len(large)
    for axis in reversed(range(len(large))):
        if left and large[axis] == left[-1]:
            shape[axis] = left.pop()
    return None if left else tuple(shape)


def products_in(root: UOp, is_read: Callable[[UOp], bool]) -> Products:
    """The matrix products in the kernel of `root`, each with its operands."""
    tree = UOp(Ops.SINK, src=(root,)).toposort(gate=lambda u: u is root or not is_read(u))
    reduces = (
        node for node in tree if node.op is Ops.REDUCE_AXIS and (node is root or not is_read(node))
    )
    each = ((node, reused_operands(node)) for node in reduces)
    return [pair for pair in each if len(pair[1]) > 1]


def have_small_operands(products: Products, rows: int) -> bool:
    """Whether every matrix product reads the same small operand for many rows.

    One operand differs from row to row. The other is used for several rows, but not for all: it is
    small, and other rows use another one, as in attention over heads. A convolution is no such
    product: it vectorizes over channels, which is not possible row by row.
    """
    return all(
        any(_is_small_operand(operand, node, axes, rows) for operand, axes in operands)
        for node, operands in products
    )


def _is_small_operand(operand: UOp, reduce: UOp, still: frozenset[int], rows: int) -> bool:
    """Whether an operand is used for several rows, yet not for all, and small."""
    shape: tuple[Any, ...] = tuple(reduce.src[0].shape)
    if any(isinstance(size, UOp) for size in (rows, *shape)):
        return False  # not known
    outer = list(itertools.takewhile(lambda n: prod(shape[:n]) < rows, range(len(shape))))
    moved = [axis for axis in outer if shape[axis] != 1 and axis not in still]
    stays = [axis for axis in outer if axis in still]
    read = rows_of_view(operand.st, operand.base.size)
    if not moved or not stays or read is None or rows in read or _is_sliding_window(operand, still):
        return False
    if stays[-1] < moved[-1]:
        return False  # adjacent rows use different operands
    beside = prod(extent for axis, extent in enumerate(shape) if axis not in still | set(outer))
    return beside * operand.dtype.itemsize <= _NEAR


def _is_sliding_window(operand: UOp, still: frozenset[int]) -> bool:
    """Whether elements are read several times for one result: overlapping windows."""
    moved = prod(extent for axis, extent in enumerate(operand.shape) if axis not in still)
    return moved > operand.base.size
