"""Lane stride analysis: find the stride of an expression between the lanes of a vector.

Lanes are a run of `width` neighbours along a loop that begins at a multiple of `width`. With 16 of
them `(x + 32 k) // 64` is one number for all lanes, `(x + 32 k) % 64` moves with x, and `x < 48`
holds for all lanes or for none.

Source: none known; sound because lanes start at a multiple of the vector width.
"""

from __future__ import annotations

from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.ranges import ranges_of
from weft.uop.node import UOp
from weft.uop.ops import Ops


def lane_stride(number: UOp, loop: UOp, width: int) -> int | None:
    """By how much an index or a gate moves with each lane; None where that is no one number."""
    steps: dict[UOp, int | None] = {}
    for node in number.toposort():
        steps[node] = 0 if loop not in ranges_of(node) else _step(node, loop, width, steps)
    return steps[number]


def _step(node: UOp, loop: UOp, width: int, steps: dict[UOp, int | None]) -> int | None:
    if node is loop:
        return 1
    below = [steps[source] for source in node.src]
    if not any(below) and None not in below:
        return 0
    if node.op in (Ops.IDIV, Ops.MOD, Ops.CMPLT):
        aligned = _whole_runs(node, loop, width)
        return int(node.op is Ops.MOD) if aligned else None
    terms, _ = affine(node)
    moves = [(steps[term], factor) for term, factor in terms.items() if term is not node]
    if len(moves) < len(terms) or any(step is None for step, _ in moves):
        return None
    return sum(step * factor for step, factor in moves if step is not None)


def _whole_runs(node: UOp, loop: UOp, width: int) -> bool:
    """Whether a quotient, remainder or comparison changes between runs of lanes only."""
    a, b = node.src
    terms, constant = affine(a)
    if node.op is Ops.CMPLT:  # a - b < 0
        more, extra = affine(b)
        constant -= extra
        terms = dict(terms)
        for term, factor in more.items():
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
