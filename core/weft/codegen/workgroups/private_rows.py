"""Privatization: find arrays of which every work item reads only what it wrote.

in:  an array that a group fills together, and the addresses at which it is written and read
out: the part of it that one work item has to itself, or that there is none

The number of the work item has one factor in all of the addresses. If the rest of the address stays
below that factor, or is a multiple of the stride of all work items, then the address determines the
owner. The writer is then the reader, and the array needs neither shared memory nor a barrier.

Source: R. Allen, K. Kennedy, "Optimizing Compilers for Modern Architectures" (2001), privatization.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.base.dtype import PtrDType
from weft.base.intmath import ceildiv
from weft.codegen.analysis.affine import affine, from_affine, innermost_loop_order
from weft.codegen.analysis.ranges import ranges_of
from weft.codegen.thresholds import PRIVATE_ELEMENTS
from weft.uop import AxisKind, Ops, UOp


def private_length(array: PtrDType, indices: Sequence[UOp], parts: int) -> int | None:
    """The number of contiguous elements of one work item; None if others read them.

    indices: of all accesses. parts: how many work items there are.
    """
    factors = {_factor(index) for index in indices}
    (factor,) = factors if len(factors) == 1 else (None,)
    if not factor or length(array, factor, parts) > PRIVATE_ELEMENTS:
        return None
    own = all(_stays_within(index, factor, factor * parts) for index in indices)
    return factor if own else None


def length(array: PtrDType, factor: int, parts: int) -> int:
    """The number of elements of a work item; in the last round some have fewer."""
    return ceildiv(array.size, factor * parts) * factor


def within(index: UOp, factor: int, parts: int, made: Mapping[UOp, UOp]) -> UOp:
    """An address in what a work item has to itself: `private_length` gave `factor`.

    made: what became of the terms of the address.
    """
    terms, constant = affine(index)
    whole = factor * parts
    mine = {
        made[term]: times // parts if times % whole == 0 else times
        for term, times in terms.items()
        if not _is_shared(term)
    }
    place = constant // whole * factor + constant % whole
    return from_affine(mine, place, innermost_loop_order, index.dtype)


def _is_shared(term: UOp) -> bool:
    return term.op is Ops.RANGE and term.arg.kind is AxisKind.GROUP_REDUCE


def _factor(index: UOp) -> int | None:
    terms, _ = affine(index)
    shared = [times for term, times in terms.items() if _is_shared(term)]
    in_terms = _among(term for term in terms if not _is_shared(term))
    return shared[0] if len(shared) == 1 and shared[0] > 0 and not in_terms else None


def _among(terms: Iterable[UOp]) -> bool:
    return any(_is_shared(loop) for term in terms for loop in ranges_of(term))


def _stays_within(index: UOp, factor: int, whole: int) -> bool:
    terms, constant = affine(index)
    low = high = constant % whole
    for term, times in terms.items():
        if not _is_shared(term) and times % whole:
            ends = (times * term.vmin, times * term.vmax)
            low, high = low + min(ends), high + max(ends)
    return low >= 0 and high < factor
