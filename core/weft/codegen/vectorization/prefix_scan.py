"""Prefix scan: compute running sums over vector lanes in log2(n) shift-and-add steps.
Also: Hillis-Steele scan.

    for lanes t of n: sum over r < n of where(r <= t, f(r), 0)
->  x = f(t); x += x shifted by 1 lane; x += x shifted by 2; ...

in:  spec.lowered after optimisation
out: the same with REDUCEs of a `Running`, which the expander expands by `scanned`

Without this pass every lane reads all n terms. If n spans several vectors, each vector starts from
the last lane of the vector before it. The exclusive scan (r < t) is the inclusive scan shifted by
one lane. Running maxima and products work alike.

Source: W. D. Hillis, G. L. Steele, "Data parallel algorithms" (CACM 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.codegen.analysis.affine import affine, affine_through_casts
from weft.codegen.analysis.ranges import CLOSING, extent_of, loops_of, ranges_of
from weft.codegen.analysis.substitution import substitute_ranges
from weft.codegen.analysis.traversal import nodes_of, rewrite_once
from weft.codegen.thresholds import FEWEST_SCANNED
from weft.uop import AxisKind, Ops, RangeArg, UOp, identity_element, register_arg


@dataclass(frozen=True, slots=True)
class Running:
    """Argument of a REDUCE that is a prefix scan of one value over its lanes.

    op: the operation. whole: whether the scan is inclusive. vectors: the unrolled range over the
    vectors that are scanned one after another; None if there is one vector.
    """

    op: Ops
    whole: bool
    vectors: RangeArg | None = None
    values: int = 1


register_arg(Running)


class _Places(NamedTuple):
    """The term index t of an output, the range over its vectors, and whether term t counts."""

    at: UOp
    vectors: UOp | None
    whole: bool


def run(sink: UOp) -> UOp:
    """Return the kernel with its running values as prefix scans; the same one without any."""
    nodes = nodes_of(sink)
    if not any(node.op is Ops.REDUCE and _is_unrolled(node) for node in nodes):
        return sink
    return rewrite_once(nodes, {Ops.REDUCE: _running})[sink]


def _is_unrolled(reduce: UOp) -> bool:
    loops = loops_of(reduce)
    return len(loops) == 1 and loops[0].arg.kind is AxisKind.UNROLL


def _running(node: UOp, reduce: UOp) -> UOp | None:
    if not _is_unrolled(node):
        return None
    (term,), op = loops_of(reduce), reduce.arg.op
    value = reduce.src[0]
    if reduce.arg.values != 1 or value.op is not Ops.WHERE or value.src[0].op is not Ops.CMPLT:
        return None
    condition, seen, other = value.src
    nothing = identity_element(op, reduce.dtype)
    if other.op is not Ops.CONST or other.arg != nothing:
        return None
    places = _places(condition, term)
    if places is None or not _reads_contiguously(seen, term):
        return None
    if not ranges_of(places.at).isdisjoint(ranges_of(seen)):
        return None
    here = substitute_ranges(list(seen.toposort()), {term: places.at}, {})
    vectors = None if places.vectors is None else places.vectors.arg
    return UOp(Ops.REDUCE, reduce.dtype, (here,), Running(op, places.whole, vectors))


def _places(condition: UOp, term: UOp) -> _Places | None:
    """Return the places of a condition `term < lanes` or `term <= lanes`.

    None if it is another condition, or if there are not as many lanes as terms.
    """
    (left, first), (right, last) = map(affine_through_casts, condition.src)
    own = last - first
    if left != {term: 1} or own not in (0, 1) or any(u.op is not Ops.RANGE for u in right):
        return None
    lane = next((u for u in right if u.arg.kind is AxisKind.VECTOR), None)
    rest = [u for u in right if u is not lane]
    if lane is None or right[lane] != 1 or len(rest) > 1:
        return None
    width, vectors = extent_of(lane), rest[0] if rest else None
    if not isinstance(width, int) or width < FEWEST_SCANNED or width & (width - 1):
        return None
    if vectors is None:
        return _Places(lane, None, own == 1) if extent_of(term) == width else None
    many = extent_of(vectors)
    if vectors.arg.kind is not AxisKind.UPCAST or right[vectors] != width:
        return None
    if not isinstance(many, int) or extent_of(term) != many * width:
        return None
    return _Places(vectors * vectors.const_like(width) + lane, vectors, own == 1)


def _reads_contiguously(seen: UOp, term: UOp) -> bool:
    """Whether the terms are adjacent at each address, and none of them is a reduction."""
    if term not in ranges_of(seen):
        return False
    for node in seen.toposort(gate=lambda u: u.op not in CLOSING):
        if term not in ranges_of(node):
            continue
        if node.op in CLOSING:
            return False
        if node.op is Ops.INDEX:
            steps, _ = affine(node.src[1])
            hidden = any(term in ranges_of(u) for u in steps if u is not term)
            if len(node.src) > 2 or hidden or steps.get(term) not in (1, -1):
                return False
    return True


def scanned(arg: Running, vectors: list[UOp]) -> list[UOp]:
    """Return the prefix scan of these vectors. Each one continues the scan of the one before it.

    The operands keep their order: the earlier value is the left operand of each operation.
    """
    found: list[UOp] = []
    before: UOp | None = None
    for vector in vectors:
        dtype, width = vector.dtype, vector.dtype.count
        scalar = dtype.scalar()
        nothing = UOp.const(scalar, identity_element(arg.op, scalar)).broadcast(width)
        filler = _filler(arg.op, nothing)
        total, step = vector, 1
        while step < width:
            total = UOp(arg.op, dtype, (_shifted(filler, total, step), total))
            step *= 2
        result = total if arg.whole else _shifted(nothing, total, 1)
        last = total.gep(width - 1)
        if before is not None:
            result = UOp(arg.op, dtype, (before.broadcast(width), result))
            last = UOp(arg.op, scalar, (before, last))
        before = last
        found.append(result)
    return found


def _filler(op: Ops, nothing: UOp) -> UOp:
    """Return the neutral element that is shifted in: -0.0 for sums of floats, else `nothing`.

    For zeros, compilers select instructions that take longer than a shift of two registers.
    """
    scalar = nothing.dtype.scalar()
    if op is not Ops.ADD or not dtypes.is_float(scalar):
        return nothing
    return UOp.const(scalar, -0.0).broadcast(nothing.dtype.count)


def _shifted(nothing: UOp, vector: UOp, step: int) -> UOp:
    """Shift a vector up by `step` lanes; the first lanes are those of `nothing`."""
    width = vector.dtype.count
    both = UOp(Ops.CAT, vector.dtype.scalar().vec(2 * width), (nothing, vector))
    return both.gep(tuple(range(width - step, 2 * width - step)))
