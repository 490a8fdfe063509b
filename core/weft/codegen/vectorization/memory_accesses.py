"""Access merging: group scalar accesses to adjacent addresses into vector loads and stores.
Also: vectorized loads.

An Address is an affine address in parts. A Place is an address with its mask and the FILL before
it.

Source: LLVM, LoadStoreVectorizer pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from weft.base.dtype import AddrSpace, DType, PtrDType, dtypes
from weft.codegen.analysis.folding import is_false, is_true
from weft.uop import Ops, UOp
from weft.uop.args import ASYNC

IN_FLIGHT_BYTES = (16, 8, 4)
"""Bytes that one asynchronous copy may have."""


@dataclass(slots=True)
class Address:
    """An INDEX in parts: fixed terms, ranges with their factor, terms that are instantiated."""

    pointer: UOp
    fixed: dict[UOp, int]
    moving: dict[UOp, int]
    other: dict[UOp, int]
    constant: int
    dtype: DType
    gate: UOp | None


class Place(NamedTuple):
    """The address, the condition and the preceding FILL of an access.

    It is `offset` elements after `base`, which several places of one access may share.
    """

    at: UOp
    gate: UOp | None
    fill: UOp | None
    base: UOp
    offset: int


def neighbours(places: list[Place], widths: tuple[int, ...]) -> list[list[list[int]]]:
    """Group the places of one access by adjacency, as wide as the target loads or stores them.

    A group is a list of places, each with the numbers of all instances at that place.
    """
    known: dict[tuple[UOp, ...], dict[int, list[int]]] = {}
    for number, place in enumerate(places):
        extra = tuple(node for node in (place.gate, place.fill) if node is not None)
        key = (place.at.src[0], place.base, *extra)
        known.setdefault(key, {}).setdefault(place.offset, []).append(number)
    out: list[list[list[int]]] = []
    for (pointer, *_), by_offset in known.items():
        is_local = isinstance(pointer.dtype, PtrDType) and pointer.dtype.space is AddrSpace.REG
        wanted = () if is_local else sorted(widths, reverse=True)
        left = sorted(by_offset)
        while left:
            first = left[0]
            fitting = (
                width
                for width in wanted
                if first % width == 0 and left[:width] == list(range(first, first + width))
            )
            width = next(fitting, 1)
            out.append([by_offset[offset] for offset in left[:width]])
            del left[:width]
    return out


def is_run(places: list[Place]) -> bool:
    """Whether places are adjacent and ascending, under one gate and after one FILL."""
    first = places[0]
    return all(
        place.offset == first.offset + number
        and place.base is first.base
        and place.gate is first.gate
        and place.fill is first.fill
        and place.at.src[0] is first.at.src[0]
        for number, place in enumerate(places)
    )


def loaded(place: Place, alternative: UOp | None, dtype: DType, width: int, step: int) -> UOp:
    """Return one load of `width` lanes, which are reversed if `step` is -1."""
    vector = dtype.vec(width) if width > 1 else dtype
    index, gate, fill = place.at, place.gate, place.fill
    after = () if fill is None else (fill,)
    if gate is not None and not is_true(gate):
        other = alternative if alternative is not None else UOp.const(dtype, 0)
        if is_false(gate):
            return other.broadcast(width)
        gated = UOp(Ops.INDEX, index.dtype, (*index.src, gate))
        loaded = UOp(Ops.LOAD, vector, (gated, other.broadcast(width), *after))
    else:
        loaded = UOp(Ops.LOAD, vector, (index, *after))
    return loaded.gep(tuple(range(width - 1, -1, -1))) if step == -1 and width > 1 else loaded


def stored(place: Place, value: UOp) -> list[UOp]:
    """Return the store of a value to a place; nothing if its gate is known to be false."""
    index, gate = place.at, place.gate
    if gate is not None and not is_true(gate):
        if is_false(gate):
            return []
        index = UOp(Ops.INDEX, index.dtype, (*index.src, gate))
    return [UOp(Ops.STORE, dtypes.void, (index, value))]


def in_flight(store: UOp) -> UOp:
    """Return a STORE as an asynchronous copy, if its value is loaded from memory unchanged."""
    value = store.src[1]
    plain = value.op is Ops.LOAD and value.src[0].src[0].op is Ops.DEFINE_GLOBAL
    is_copy = plain and value.dtype.itemsize in IN_FLIGHT_BYTES
    return store.replace(arg=ASYNC) if is_copy else store
