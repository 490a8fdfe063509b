"""Lane stride analysis: find the stride of an expression between the lanes of a vector.

The lanes are `width` consecutive iterations of a loop, starting at a multiple of `width`. With 16
lanes, `(x + 32 k) // 64` is uniform, `(x + 32 k) % 64` has stride 1 along x, and `x < 48` is
uniform.

Source: R. Karrenberg, S. Hack, 'Whole-function vectorization' (CGO 2011): uniform and consecutive
values.
"""

from __future__ import annotations

from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.ranges import ranges_of
from weft.uop import Ops, UOp


def lane_stride(expression: UOp, loop: UOp, width: int) -> int | None:
    """The stride of an index or gate between neighbouring lanes; None if it is not constant."""
    strides: dict[UOp, int | None] = {}
    for node in expression.toposort():
        strides[node] = 0 if loop not in ranges_of(node) else _stride(node, loop, width, strides)
    return strides[expression]


def _stride(node: UOp, loop: UOp, width: int, strides: dict[UOp, int | None]) -> int | None:
    if node is loop:
        return 1
    below = [strides[source] for source in node.src]
    if not any(below) and None not in below:
        return 0
    if node.op in (Ops.IDIV, Ops.MOD, Ops.CMPLT):
        aligned = _is_aligned(node, loop, width)
        return int(node.op is Ops.MOD) if aligned else None
    terms, _ = affine(node)
    parts = [(strides[term], factor) for term, factor in terms.items() if term is not node]
    if len(parts) < len(terms) or any(stride is None for stride, _ in parts):
        return None
    return sum(stride * factor for stride, factor in parts if stride is not None)


def _is_aligned(node: UOp, loop: UOp, width: int) -> bool:
    """Whether a quotient, remainder wrap or comparison changes only between vectors."""
    a, b = node.src
    terms, constant = affine(a)
    if node.op is Ops.CMPLT:  # a - b < 0
        subtracted, offset = affine(b)
        constant -= offset
        terms = dict(terms)
        for term, factor in subtracted.items():
            terms[term] = terms.get(term, 0) - factor
    elif b.op is not Ops.CONST or b.arg <= 0 or b.arg % width or a.vmin < 0:
        return False
    if any(factor % width for term, factor in terms.items() if term is not loop):
        return False
    if any(loop in ranges_of(term) for term in terms if term is not loop):
        return False
    if node.op is Ops.CMPLT and terms.get(loop) == -1:  # x >= ... + constant + 1
        return (constant + 1) % width == 0
    return terms.get(loop) == 1 and constant % width == 0
