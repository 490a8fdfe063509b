"""Address selection: read gated loads from one selected address, without a branch for each of them.
Also: if-conversion of loads, safe addresses.

    a = gate ? p[i] : 0; b = gate ? p[i + 1] : 0
->  q = gate ? p + i : zeros; a = q[0]; b = q[1]

in:  spec.linear
out: the loads that are read through a selected address, with that address

A compiler branches for a scalar load under a gate, because the address may lie outside of the
buffer. For a vector it uses a masked load, which is slow where its address is not mapped. One
select serves all loads of a block that are close together and have the same gate. Loads with
further conditions select again, between that address and the zeros. A gate that is invariant in the
innermost loop stays: there the compiler unswitches the loop.

Source: J. R. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of control dependence to
data dependence" (POPL 1983).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import AddrSpace, ImageDType, PtrDType, dtypes
from weft.render.statement_placement import CONTROL, FENCES
from weft.uop import Ops, UOp, conjuncts

ZEROS = 64
"""Elements of the array of zeros: what the loads of one address span at most."""
_LEAST_SCALARS = 2
"""Scalar loads of one gate for which a select is cheaper than their branches."""


@dataclass(frozen=True)
class SelectedAddress:
    """An address that is selected between a buffer and an array of zeros.

    :ivar buffer: the pointer to the buffer.
    :ivar base, start: their sum is the element; it is in the buffer if the gate is true.
    :ivar gate: the conditions, all of which must hold.
    :ivar before: elements that loads read before it.
    """

    buffer: UOp
    base: UOp
    start: int
    gate: tuple[UOp, ...]
    before: int


@dataclass(frozen=True)
class SelectedLoad:
    """A load through a selected address: its distance in elements, and its further conditions."""

    address: SelectedAddress
    offset: int
    conditions: tuple[UOp, ...]


@dataclass(frozen=True)
class _Candidate:
    load: UOp
    offset: int
    gate: frozenset[UOp]


def selected_loads(uops: Sequence[UOp]) -> dict[UOp, SelectedLoad]:
    """The loads of a linear program that are read through a selected address."""
    row_loads = {s for u in uops if u.op is Ops.VECTORIZE and len({*u.src}) > 1 for s in u.src}
    found: dict[UOp, SelectedLoad] = {}
    block: dict[tuple[UOp, UOp], list[_Candidate]] = {}
    loops: list[set[UOp]] = [set()]  # the nodes of each open loop
    for u in uops:
        if u.op in CONTROL or u.op in FENCES:
            found.update(_selected(block, loops[-1]))
            block = {}
        if u.op is Ops.RANGE:
            loops.append({u})
        elif u.op is Ops.ENDRANGE:
            loops.pop()
        elif u.op is Ops.LOAD and u not in row_loads and _is_candidate(u):
            buffer, at, gate = u.src[0].src
            base, offset = split_constant(at)
            block.setdefault((buffer, base), []).append(
                _Candidate(u, offset, frozenset(conjuncts(gate)))
            )
        loops[-1].add(u)
    found.update(_selected(block, loops[-1]))
    return found


def split_constant(at: UOp) -> tuple[UOp, int]:
    """A sum without its constant term, and that term."""
    if at.op is Ops.ADD and at.src[1].op is Ops.CONST:
        return at.src[0], at.src[1].arg
    return at, 0


def _is_candidate(load: UOp) -> bool:
    """Whether a load of global memory is zero where its gate is false."""
    index = load.src[0]
    if len(index.src) < 3 or load.arg is not None or index.src[2].dtype is not dtypes.bool:
        return False
    kind = index.src[0].dtype
    if not isinstance(kind, PtrDType) or isinstance(kind, ImageDType):
        return False
    if kind.space is not AddrSpace.GLOBAL or kind.base is not load.dtype.scalar():
        return False
    lanes = load.dtype.count
    if dtypes.is_bool(kind.base) or lanes & (lanes - 1):
        return False
    return len(load.src) < 2 or _is_zero(load.src[1])


def _is_zero(other: UOp) -> bool:
    """Whether all bits of a constant are zero."""
    lanes = other.src if other.op is Ops.VECTORIZE else (other,)
    return all(one.op is Ops.CONST and str(one.arg) in ("0", "0.0") for one in lanes)


def _selected(
    block: dict[tuple[UOp, UOp], list[_Candidate]], loop: set[UOp]
) -> Iterator[tuple[UOp, SelectedLoad]]:
    """The loads of one basic block that are read through selected addresses.

    loop: the nodes of the innermost loop.
    """
    for candidates in block.values():
        rest: list[_Candidate] = candidates
        while rest:
            gate, count = Counter(one.gate for one in rest).most_common(1)[0]
            exact = [one for one in rest if one.gate == gate]
            near = _neighbours([*exact, *(one for one in rest if one.gate > gate)])
            rest = [one for one in rest if one not in near]
            several = count >= _LEAST_SCALARS or any(one.load.dtype.count > 1 for one in near)
            if several and not loop.isdisjoint(gate):
                yield from _through_one_address(near)


def _neighbours(candidates: list[_Candidate]) -> list[_Candidate]:
    """The first candidate, and those near enough that one array of zeros serves them all."""
    near: list[_Candidate] = []
    start = end = candidates[0].offset
    for one in candidates:
        first, last = min(start, one.offset), max(end, one.offset + one.load.dtype.count)
        if last - first <= ZEROS:
            start, end = first, last
            near.append(one)
    return near


def _through_one_address(near: list[_Candidate]) -> Iterator[tuple[UOp, SelectedLoad]]:
    """Loads through the address of the first, whose gate all of them have."""
    exact = near[0]
    buffer, at, condition = exact.load.src[0].src
    before = exact.offset - min(one.offset for one in near)
    base, _ = split_constant(at)
    address = SelectedAddress(buffer, base, exact.offset, tuple(conjuncts(condition)), before)
    for one in near:
        parts = conjuncts(one.load.src[0].src[2])
        further = tuple(part for part in parts if part not in exact.gate)
        yield one.load, SelectedLoad(address, one.offset - exact.offset, further)
