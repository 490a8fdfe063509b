"""Vector accesses that are aligned by construction.

in: spec.linear      out: the same, each vector access at a multiple of what one access takes

The hardware reads and writes up to 16 bytes at once, at multiples of as many bytes. Allocations and
windows start at such multiples, so an access is aligned if its index is a multiple of its lanes.
One that is not known to be is cut into the widest pieces that are.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from weft.plugin import Ops, PtrDType, UOp
from weft_cuda.capabilities import ACCESS_BYTES


def divisor(index: UOp) -> int:
    """A number that divides `index` for all values of its ranges; 0 for the constant 0."""
    op, src = index.op, index.src
    if op is Ops.CONST:
        return abs(index.arg)
    if op in (Ops.ADD, Ops.SUB):
        return gcd(divisor(src[0]), divisor(src[1]))
    if op is Ops.MUL:
        return divisor(src[0]) * divisor(src[1])
    if op is Ops.SHL and src[1].op is Ops.CONST:
        return divisor(src[0]) << src[1].arg
    if op is Ops.WHERE:
        return gcd(divisor(src[1]), divisor(src[2]))
    if op is Ops.MULACC:
        return gcd(divisor(src[0]) * divisor(src[1]), divisor(src[2]))
    if op is Ops.CAST:
        return divisor(src[0])
    return 1


def piece(index: UOp, lanes: int, itemsize: int) -> int:
    """How many of `lanes` (a power of two) may be accessed at once: all of them, or fewer."""
    at = divisor(index)
    whole = min(lanes, max(1, ACCESS_BYTES // itemsize))
    return lanes if at % whole == 0 else at & -at


def aligned(uops: Iterable[UOp]) -> tuple[UOp, ...]:
    """The nodes of a program with every vector access aligned, in an order that is legal too."""
    rewriting = _Rewriting()
    for u in uops:
        rewriting.node(u)
    return tuple(rewriting.found)


class _Rewriting:
    """Nodes so far (a dictionary that serves as ordered set), and what each old one became."""

    def __init__(self) -> None:
        self.found: dict[UOp, None] = {}
        self.became: dict[UOp, UOp] = {}

    def node(self, u: UOp) -> None:
        source = tuple(self.became.get(s, s) for s in u.src)
        new = u if all(a is b for a, b in zip(source, u.src)) else u.replace(src=source)
        if u.op is Ops.LOAD and (width := _pieces(u.src[0], u.dtype.count)):
            new = self._load(new, width)
        elif u.op is Ops.STORE and (width := _pieces(u.src[0], u.src[1].dtype.count)):
            self._store(new, width)
            return
        else:
            self._add(new)
        self.became[u] = new

    def _add(self, u: UOp) -> UOp:
        self.found[u] = None
        return u

    def _place(self, place: UOp, by: int) -> UOp:
        pointer, at, *gate = place.src
        if by:
            step = self._add(UOp.const(at.dtype, by))
            at = self._add(UOp(Ops.ADD, at.dtype, (at, step)))
        return self._add(UOp(Ops.INDEX, place.dtype, (pointer, at, *gate)))

    def _part(self, value: UOp, first: int, count: int) -> UOp:
        dtype = value.dtype.scalar().vec(count) if count > 1 else value.dtype.scalar()
        return self._add(UOp(Ops.GEP, dtype, (value,), tuple(range(first, first + count))))

    def _load(self, load: UOp, width: int) -> UOp:
        scalar, parts = load.dtype.scalar(), []
        dtype = scalar.vec(width) if width > 1 else scalar
        for first in range(0, load.dtype.count, width):
            place = self._place(load.src[0], first)
            rest = (self._part(other, first, width) for other in load.src[1:])
            parts.append(self._add(UOp(Ops.LOAD, dtype, (place, *rest), load.arg)))
        whole = Ops.CAT if width > 1 else Ops.VECTORIZE
        return self._add(UOp(whole, load.dtype, tuple(parts)))

    def _store(self, store: UOp, width: int) -> None:
        place, value = store.src[0], store.src[1]
        for first in range(0, value.dtype.count, width):
            part = self._part(value, first, width)
            self._add(UOp(Ops.STORE, store.dtype, (self._place(place, first), part), store.arg))


def _pieces(place: UOp, lanes: int) -> int:
    """How wide the pieces of an access must be; 0 where it may stay as it is."""
    pointer = place.src[0].dtype
    if lanes == 1 or lanes & (lanes - 1) or not isinstance(pointer, PtrDType):
        return 0  # a length that is no power of two is accessed lane by lane anyway
    if pointer.base.count == lanes:
        return 0
    width = piece(place.src[1], lanes, pointer.base.itemsize)
    return 0 if width == lanes else width
