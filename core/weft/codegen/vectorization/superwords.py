"""Superword-level parallelism: pack isomorphic terms of one sum into wider vectors.
Also: SLP vectorization.

in:  the terms of a sum over lanes after expansion, vectors shorter than a register
out: fewer terms of more lanes; the same terms where that is not profitable

Terms are packed along one or several of the unrolled loops. An operation on several vectors becomes
one operation on a vector of all of their lanes. Adjacent loads become one load, other values are
concatenated. Scalars that terms broadcast are computed as one vector for all terms. Each pack then
selects its lanes of this vector. Scalars that are a few apart in memory are selected from two loads
that cover all of them. The grouping with the fewest operations is chosen.

Source: S. Larsen, S. Amarasinghe, "Exploiting superword level parallelism with multimedia
instruction sets" (PLDI 2000).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from weft.base.dtype import AddrSpace, PtrDType, dtypes
from weft.base.sequences import prod
from weft.codegen.thresholds import COVERING_LOAD, FEWEST_SELECTED, PERMUTED_LANES, SHIFT_COST
from weft.uop import GroupOp, Ops, UOp

_LANEWISE = GroupOp.ALU | {Ops.CAST, Ops.BITCAST, Ops.DOT}
Groups = Sequence[Sequence[int]]


def lane_terms(
    terms: list[UOp], extents: Sequence[int], lanes: int, fused: bool
) -> tuple[list[UOp], list[UOp]]:
    """The terms of a sum over lanes as packed vectors, and those that are the same in all lanes.

    The second ones are scalars, or one vector of scalars. A term that is a sum becomes two if
    multiply-adds can add its products (`fused`), or if one of both is the same in all lanes.
    """
    columns = [terms]
    if all(term.op is Ops.ADD for term in terms):
        both = [[term.src[place] for term in terms] for place in (0, 1)]
        splats = [all(map(_is_splat, column)) for column in both]
        products = all(one.op is Ops.MUL for column in both for one in column)
        if splats in ([True, False], [False, True]) or (fused and products):
            columns = both
    vectors: list[UOp] = []
    invariant: list[UOp] = []
    for column in columns:
        if len(columns) > 1 and all(map(_is_splat, column)):
            invariant = _scalar_superword([term.src[0] for term in column], lanes)
        else:
            vectors += superwords(column, extents, lanes)
    return vectors, invariant


def _scalar_superword(scalars: list[UOp], lanes: int) -> list[UOp]:
    """One vector of the scalars, where that is profitable; else the scalars."""
    if len(scalars) & (len(scalars) - 1) or len(scalars) < 2:
        return scalars
    vector = _Packer([], lanes).vector(tuple(scalars))
    return [vector] if operations([vector]) < operations(scalars) else scalars


def superwords(terms: list[UOp], extents: Sequence[int], lanes: int) -> list[UOp]:
    """Pack the terms of one sum into vectors of at most `lanes` lanes.

    terms: vectors of one dtype, in row-major order of unrolled loops of these extents.
    """
    count = terms[0].dtype.count
    if len(terms) != prod(extents) or count < 2:
        return terms
    members = 1 << max(0, min(lanes // count, len(terms)).bit_length() - 1)
    while members > 1:
        found = [_Packer(groups, lanes).pack(terms) for groups in _groupings(extents, members)]
        best = min((f for f in found if f is not None), key=operations, default=None)
        if best is not None and operations(best) < operations(terms):
            return best
        members //= 2
    return terms


def operations(roots: Iterable[UOp]) -> int:
    """An estimate of the instructions of some vector expressions."""
    return sum(map(_cost, UOp.sink(*roots).toposort(gate=lambda u: u.op is not Ops.INDEX)))


def _cost(node: UOp) -> int:
    if node.op in (Ops.INDEX, Ops.SINK, Ops.CONST, Ops.VCONST, Ops.BITCAST):
        return 0
    if node.op is Ops.VECTORIZE:
        return len(node.src) if len(set(node.src)) > 1 else 0
    if node.op in (Ops.SHL, Ops.SHR) and node.src[1].op is Ops.VCONST:
        return SHIFT_COST if node.dtype.scalar().itemsize == 1 else 1
    return 1


def _groupings(extents: Sequence[int], members: int) -> Iterator[list[list[int]]]:
    """Every division of the terms into packs of `members` neighbours along some of the loops."""
    powers = [[1 << n for n in range(e.bit_length()) if e % (1 << n) == 0] for e in extents]
    for factors in itertools.product(*powers):
        if prod(factors) == members:
            outer = [range(0, e, f) for e, f in zip(extents, factors)]
            inner = [range(f) for f in factors]
            yield [
                [_number(extents, first, place) for place in itertools.product(*inner)]
                for first in itertools.product(*outer)
            ]


def _number(extents: Sequence[int], first: Sequence[int], place: Sequence[int]) -> int:
    number = 0
    for extent, start, step in zip(extents, first, place):
        number = number * extent + start + step
    return number


class _Packer:
    """Vectors of the packs of one grouping. A column holds one value for each term."""

    def __init__(self, groups: Groups, lanes: int) -> None:
        self.groups = groups
        self.permutes = lanes >= PERMUTED_LANES
        self.known: dict[tuple[UOp, ...], list[UOp] | None] = {}
        self.vectors: dict[tuple[UOp, ...], UOp] = {}

    def pack(self, column: Sequence[UOp]) -> list[UOp] | None:
        """The vector of each group; None where the values have different dtypes."""
        key = tuple(column)
        if key not in self.known:
            self.known[key] = self._pack(key)
        return self.known[key]

    def _pack(self, column: tuple[UOp, ...]) -> list[UOp] | None:
        first, members = column[0], len(self.groups[0])
        if any(u.dtype is not first.dtype for u in column) or first.dtype.count < 2:
            return None
        if all(map(_is_splat, column)):
            return self._splats(tuple(u.src[0] for u in column), first.dtype.count)
        distinct = [tuple(column[number] for number in group) for group in self.groups]
        same = all(u.op is first.op and u.arg == first.arg for u in column)
        if same and first.op in _LANEWISE:
            wide = first.dtype.count * members
            fits = first.op is not Ops.DOT or wide in first.arg.lanes
            sources = [self.pack(one) for one in zip(*(u.src for u in column))] if fits else [None]
            if all(source is not None for source in sources):
                dtype = first.dtype.scalar().vec(wide)
                rows = zip(*(source for source in sources if source is not None))
                return [UOp(first.op, dtype, row, first.arg) for row in rows]
        return [_joined(values) for values in distinct]

    def _splats(self, scalars: tuple[UOp, ...], lanes: int) -> list[UOp]:
        members = len(self.groups[0])
        if all(one is scalars[0] for one in scalars):
            return [scalars[0].broadcast(lanes * members)] * len(self.groups)
        whole = self.vector(scalars)
        orders = [tuple(n for n in group for _ in range(lanes)) for group in self.groups]
        if whole.op is Ops.VCONST:
            dtype = whole.dtype.scalar().vec(lanes * members)
            rows = [tuple(whole.arg[number] for number in order) for order in orders]
            return [UOp.const(dtype, row if len(set(row)) > 1 else row[0]) for row in rows]
        return [whole.gep(order) for order in orders]

    def vector(self, scalars: tuple[UOp, ...]) -> UOp:
        """One vector of the scalars of all terms."""
        if scalars not in self.vectors:
            self.vectors[scalars] = self._new_vector(tuple(map(_folded, scalars)))
        return self.vectors[scalars]

    def _new_vector(self, scalars: tuple[UOp, ...]) -> UOp:
        first, count = scalars[0], len(scalars)
        dtype = first.dtype.vec(count)
        if all(one is first for one in scalars):
            return first.broadcast(count)
        if all(one.op is Ops.CONST for one in scalars):
            return UOp.const(dtype, tuple(one.arg for one in scalars))
        same = all(u.op is first.op and u.arg == first.arg for u in scalars)
        if same and first.op in _LANEWISE and first.op is not Ops.WHERE:
            columns = list(zip(*(u.src for u in scalars)))
            if all(u.dtype is column[0].dtype for column in columns for u in column):
                sources = tuple(map(self.vector, columns))
                return UOp(first.op, dtype, sources, first.arg)
        selected = _selected(scalars) if self.permutes else None
        if selected is not None:
            return selected
        runs = _runs(scalars)
        if len(runs) < count and len({len(run) for run in runs}) == 1:
            return _tree([_wide_load(run) for run in runs])
        return UOp(Ops.VECTORIZE, dtype, scalars)


def _is_splat(vector: UOp) -> bool:
    return vector.op is Ops.VECTORIZE and all(lane is vector.src[0] for lane in vector.src)


def _folded(scalar: UOp) -> UOp:
    """A scalar, as a constant where it is one."""
    if scalar.op in _LANEWISE and scalar.vmin == scalar.vmax and dtypes.is_int(scalar.dtype):
        return UOp.const(scalar.dtype, scalar.vmin)
    return scalar


# ---- concatenation -------------------------------------------------------------------------------


def _joined(values: Sequence[UOp]) -> UOp:
    """One vector of all lanes of these vectors."""
    if all(one is values[0] for one in values):
        return values[0].gep(tuple(range(values[0].dtype.count)) * len(values))
    return _tree([_wide_load(run) for run in _runs(values)])


def _tree(values: list[UOp]) -> UOp:
    """Vectors concatenated in pairs of equal length, where they have such; else lane by lane."""
    if len(values) == 1:
        return values[0]
    scalar = values[0].dtype.scalar()
    if len({one.dtype.count for one in values}) == 1 and len(values) % 2 == 0:
        pairs = zip(values[::2], values[1::2])
        return _tree([UOp(Ops.CAT, scalar.vec(2 * a.dtype.count), (a, b)) for a, b in pairs])
    total = sum(one.dtype.count for one in values)
    return UOp(Ops.CAT, scalar.vec(total), tuple(values))


def _runs(values: Sequence[UOp]) -> list[list[UOp]]:
    """Values in their order, divided where one is no load that is adjacent to that before it."""
    runs: list[list[UOp]] = []
    after: tuple[UOp, UOp | None, int] | None = None
    for value in values:
        place = _place(value)
        if runs and place is not None and place == after:
            runs[-1].append(value)
        else:
            runs.append([value])
        after = None if place is None else (*place[:2], place[2] + value.dtype.count)
    return runs


def _place(value: UOp) -> tuple[UOp, UOp | None, int] | None:
    """The buffer, the base and the offset of a plain load from memory; None for other values."""
    if value.op is not Ops.LOAD or len(value.src) != 1 or len(value.src[0].src) != 2:
        return None
    pointer, at = value.src[0].src
    kind = pointer.dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return None
    if kind.base is not value.dtype.scalar():
        return None
    if at.op is Ops.CONST:
        return pointer, None, at.arg
    if at.op is Ops.ADD and at.src[1].op is Ops.CONST:
        return pointer, at.src[0], at.src[1].arg
    return pointer, at, 0


def _selected(scalars: Sequence[UOp]) -> UOp | None:
    """Loads a few elements apart as lanes of two wide loads, which read nothing before the first
    and after the last of them; None where they are too near or too far."""
    places = [_place(scalar) for scalar in scalars]
    first = places[0]
    if len(scalars) < FEWEST_SELECTED or first is None:
        return None
    offsets = [place[2] for place in places if place is not None and place[:2] == first[:2]]
    dtype = scalars[0].dtype
    lanes = COVERING_LOAD // dtype.itemsize
    low, high = min(offsets), max(offsets) + 1
    if len(offsets) < len(scalars) or dtype.itemsize < 2 or not lanes < high - low <= 2 * lanes:
        return None
    second = high - lanes
    loads = tuple(_load_at(scalars[0], first[1], start, lanes) for start in (low, second))
    order = [n - low if n - low < lanes else lanes + n - second for n in offsets]
    return UOp(Ops.CAT, dtype.vec(2 * lanes), loads).gep(tuple(order))


def _load_at(scalar: UOp, base: UOp | None, offset: int, lanes: int) -> UOp:
    """A load of several lanes from the buffer of a scalar load, `offset` elements after a base."""
    pointer, at = scalar.src[0].src
    start = at.const_like(offset)
    if base is not None:
        start = UOp(Ops.ADD, base.dtype, (base, start)) if offset else base
    index = scalar.src[0].replace(src=(pointer, start))
    return UOp(Ops.LOAD, scalar.dtype.vec(lanes), (index,), scalar.arg)


def _wide_load(run: Sequence[UOp]) -> UOp:
    """One load of all lanes of adjacent loads."""
    first, total = run[0], sum(one.dtype.count for one in run)
    if len(run) == 1:
        return first
    return UOp(Ops.LOAD, first.dtype.scalar().vec(total), first.src, first.arg)
