"""Memory access: write loads and stores of buffers, shared memory and registers in C.

Vectors are accessed through a type with the alignment of one lane. Booleans are bytes of 0 or 1 in
memory, masks in registers. Vectors whose length is no power of two are longer in C than in memory:
they are loaded and stored lane by lane.

Source: GCC manual, common type attributes (aligned) and vector extensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.base.dtype import AddrSpace, DType, ImageDType, PtrDType, dtypes
from weft.base.errors import CapabilityError, SpecError
from weft.render.address_selection import SelectedAddress, SelectedLoad, split_constant
from weft.render.expressions import Expressions, is_mask, mask_dtype
from weft.render.extensions import Extensions, MaskedLoad
from weft.render.helpers import Helpers
from weft.render.precedence import (
    ATOM,
    CHOICE,
    COMPARE,
    LOOSE,
    PLUS,
    SHIFT,
    TIMES,
    UNARY,
    Expression,
)  # fmt: skip
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCH_STREAM, PREFETCHES

_MASK_WORDS = {8: "char", 16: "short", 32: "int"}  # by lanes, an integer type of so many bits


class MemoryAccess(Expressions):
    """Expressions with memory accesses."""

    def __init__(self, renderer: Extensions, helpers: Helpers) -> None:
        super().__init__(renderer.dialect, helpers, renderer.signed_wraps)
        self.renderer = renderer
        self.selected: Mapping[UOp, SelectedLoad] = {}
        self.addresses: dict[SelectedAddress, str] = {}
        self._writers[Ops.LOAD] = self._load

    def condition(self, u: UOp) -> str:
        """The condition of a branch: of a mask, whether any lane is set."""
        if not is_mask(u.dtype):
            return self.text(u)
        return self.renderer.any_lane(self.text(u, LOOSE, self.mask_width(u)))

    def place(self, index: UOp, dtype: DType, writing: bool = False) -> Expression:
        """The memory behind an INDEX as an lvalue of `dtype`; booleans as the bytes they are there.

        :raises CapabilityError: for images, which plain memory is not.
        """
        pointer, at = index.src[0], index.src[1]
        kind = pointer.dtype
        if isinstance(kind, ImageDType) or not isinstance(kind, PtrDType):
            raise CapabilityError(
                f"{self.dialect.language} cannot index {kind!r} like memory",
                asked=f"an access of {dtype!r}",
                try_="a renderer of its own for images, or plain buffers",
            )
        name = self.text(pointer, ATOM)
        if kind.base is dtype:
            if kind.space is AddrSpace.REG and kind.size == 1:
                return Expression(name)
            return Expression(f"{name}[{self.text(at)}]")
        if kind.base is not dtype.scalar():
            raise SpecError(
                f"an access of {dtype!r} through {kind!r}", asked="rendering a linear program"
            )
        memory = dtypes.uint8.vec(dtype.count) if is_mask(dtype) else dtype
        through = self.helpers.memory_type(memory)
        space = self.renderer.pointer_qualifier(kind.space)
        const = "" if writing or kind.space is not AddrSpace.GLOBAL else "const "
        address = self._address(index)
        if " " in address:
            address = f"({address})"
        return Expression(f"*({space}{const}{through}*){address}", UNARY)

    def _address(self, index: UOp) -> str:
        """A pointer to the first element behind an INDEX."""
        name, at = self.text(index.src[0], ATOM), index.src[1]
        if at.op is Ops.CONST and at.arg == 0:
            return name
        # term by term a pointer must not leave the array that it is into, not even on its way
        return f"{name} + {self.text(at, PLUS if _has_no_negative_term(at) else TIMES)}"

    def written(self, index: UOp, dtype: DType, value: str) -> str:
        """The statement, without its end, that stores `value`. Raises as `place`."""
        if self.renderer.images and _is_pixel(index):
            name, at = self.text(index.src[0], ATOM), self.text(index.src[1])
            return self.renderer.image_store(name, at, value)
        place = self.place(index, dtype, writing=True).text
        if _is_vector_of_scalars(index, dtype):
            memory = dtypes.uint8.vec(dtype.count) if is_mask(dtype) else dtype
            self.helpers.usage.vector_stores.add((memory, _space(index)))
            return self.renderer.vector_store(dtype.count, place, self._address(index), value)
        return f"{place} = {value}"

    def non_temporal_store(self, index: UOp, dtype: DType, name: str) -> str:
        """The statement that stores the value of this name and bypasses the caches."""
        return self.renderer.non_temporal_store(
            self._address(index),
            self.helpers.type(dtype),
            dtype.itemsize,
            name,
            f"{self.written(index, dtype, name)};",
        )

    def prefetch(self, load: UOp) -> str:
        """The statement of the software prefetch that a LOAD is marked with; empty: none."""
        if load.arg != PREFETCH_STREAM and load.arg not in PREFETCHES:
            return ""
        place = load.src[0]
        statement = self.renderer.prefetch(load.arg, self._address(place))
        if statement and load.arg in PREFETCHES and len(place.src) > 2:
            return f"if ({self.text(place.src[2])}) {statement}"
        return statement

    def _read(self, index: UOp, dtype: DType) -> Expression:
        if self.renderer.images and _is_pixel(index):
            name, at = self.text(index.src[0], ATOM), self.text(index.src[1])
            return Expression(self.renderer.image_load(name, at))
        register = index.src[0].dtype.space is AddrSpace.REG  # type: ignore[attr-defined]
        if register and index.src[0].dtype.base is dtype:
            found = self.place(index, dtype)
            return found._replace(mask=1) if is_mask(dtype) else found
        if dtype.count & (dtype.count - 1):
            return self._read_lanes(index, dtype)
        found = self.place(index, dtype)
        if _is_vector_of_scalars(index, dtype):
            memory = dtypes.uint8.vec(dtype.count) if is_mask(dtype) else dtype
            name = self.helpers.type(memory)
            self.helpers.usage.vector_loads.add((memory, _space(index)))
            pointer = self._address(index)
            text = self.renderer.vector_load(name, dtype.count, found.text, pointer)
            found = found if text == found.text else Expression(text)
        if is_mask(dtype):
            return self.from_bytes(found, dtypes.uint8.vec(dtype.count))
        if dtype is dtypes.bool:
            return Expression(f"{found.text} != 0", COMPARE)
        return found

    def _read_lanes(self, index: UOp, dtype: DType) -> Expression:
        """Vectors of three lanes and the like are longer in C than in memory."""
        lanes = tuple(f"{place}" for place in self.lane_places(index, dtype))
        if is_mask(dtype):
            lanes = tuple(f"-({lane} != 0)" for lane in lanes)
            return Expression(self.helpers.literal(lanes, mask_dtype(1, dtype.count)), ATOM, 1)
        return Expression(self.helpers.literal(lanes, dtype))

    def lane_places(self, index: UOp, dtype: DType) -> Sequence[str]:
        """The memory of each lane of an access."""
        name, at = self.text(index.src[0], ATOM), self.text(index.src[1], PLUS)
        return [f"{name}[{at} + {lane}]" for lane in range(dtype.count)]

    def selected_address(self, address: SelectedAddress) -> str:
        """The expression of an address that is selected between a buffer and zeros."""
        gate = " & ".join(self.text(part, SHIFT) for part in address.gate)
        name, base = self.text(address.buffer, ATOM), self.text(address.base, PLUS)
        at = f"{name} + ({base} + ({address.start}))" if address.start else f"{name} + ({base})"
        return f"({gate}) ? {at} : {self._zeros(address)}"

    def _zeros(self, address: SelectedAddress) -> str:
        name = zeros_name(address.buffer.dtype)
        return f"{name} + {address.before}" if address.before else name

    def _selected_load(self, u: UOp, load: SelectedLoad) -> Expression:
        """A load through a selected address, without a gate."""
        name = self.addresses[load.address]
        if load.conditions:
            gate = " & ".join(self.text(part, SHIFT) for part in load.conditions)
            name = f"(({gate}) ? {name} : {self._zeros(load.address)})"
        if u.dtype.count == 1:
            return Expression(f"{name}[{load.offset}]")
        through = self.helpers.memory_type(u.dtype)
        place = f"{name} + {load.offset}" if load.offset else name
        pointer = f"({place})" if load.offset else place
        return Expression(f"*(const {through}*){pointer}", UNARY)

    def _load(self, u: UOp) -> Expression:
        if (through := self.selected.get(u)) is not None:
            return self._selected_load(u, through)
        index = u.src[0]
        found = self._read(index, u.dtype)
        if len(index.src) < 3:
            return found
        gate = self.text(index.src[2], SHIFT)
        other = UOp.const(u.dtype, 0) if len(u.src) < 2 else u.src[1]
        if len(u.src) < 2:
            self.known.setdefault(other, Expression(self.helpers.const(0, u.dtype), UNARY))
        rest = self.text(other, SHIFT, found.mask)
        text = f"({found.text})" if found.level < SHIFT else found.text
        return Expression(f"{gate} ? {text} : {rest}", CHOICE, found.mask)

    def _vectorize(self, u: UOp) -> Expression:
        load = self._masked_load(u) if self.renderer.masked_loads else None
        return super()._vectorize(u) if load is None else load

    def _masked_load(self, u: UOp) -> Expression | None:
        """One masked load for lanes that are read from consecutive elements, or from every second,
        each under its own condition; None where the lanes are something else."""
        found = _row_of(u)
        if found is None:
            return None
        index, start, stride, other = found
        wide = u.dtype.scalar().vec(stride * u.dtype.count)
        gates: dict[UOp | None, int] = {}
        for lane, load in enumerate(u.src):
            if load.op is Ops.LOAD:
                gate = load.src[0].src[2] if len(load.src[0].src) > 2 else None
                gates[gate] = gates.get(gate, 0) | 1 << stride * lane
        parts = [
            f"{bits:#x}u" if gate is None else f"(-(unsigned)({self.text(gate)}) & {bits:#x}u)"
            for gate, bits in gates.items()
        ]
        name, at = self.text(index.src[0], ATOM), self.text(index.src[1], TIMES)
        text = self.renderer.masked_load(
            MaskedLoad(
                self.helpers.type(wide), self.helpers.type(wide.scalar()), wide.count,
                wide.scalar().itemsize, _MASK_WORDS[wide.count], " | ".join(parts), name, at, start,
                self.helpers.const(other.arg, wide),
            )
        )  # fmt: skip
        return Expression(text if stride == 1 else f"{self.helpers.even(wide)}({text})")

    def stored(self, value: UOp, register: bool) -> str:
        """A value as it is written to memory."""
        if not is_mask(value.dtype):
            return self.text(value)
        return self.text(value, LOOSE, 1) if register else self.to_bytes(value)


def zeros_name(pointer: DType) -> str:
    """The name of the array of zeros that stands for a buffer."""
    assert isinstance(pointer, PtrDType)  # loads of plain memory alone are selected
    return f"zeros_{pointer.base.name}"


class _Row(NamedTuple):
    """Elements at a constant stride: an INDEX of one, the distance from it to the first, the
    stride, and the constant that replaces elements that are not read."""

    element: UOp
    start: int
    stride: int
    other: UOp


def _row_of(u: UOp) -> _Row | None:
    """The elements that the lanes of a vector read; None where they have no common stride, or where
    several constants replace what is not read."""
    scalar = u.dtype.scalar()
    if u.dtype.count not in _MASK_WORDS or scalar.itemsize < 4:
        return None
    reads: list[tuple[int, UOp]] = []
    others: set[UOp] = set()
    for lane, value in enumerate(u.src):
        if value.op is Ops.LOAD and value.arg is None and 0 < len(value.src) < 3:
            index = value.src[0]
            reads.append((lane, index))
            others.update(value.src[1:])
            if len(index.src) > 2 and len(value.src) == 1:
                others.add(UOp.const(scalar, 0))
        else:
            others.add(value)
    other = others.pop() if others else UOp.const(scalar, 0)
    if others or not reads or other.op is not Ops.CONST:
        return None
    stride = _stride(reads)
    if stride * u.dtype.count not in _MASK_WORDS:
        return None
    lane, index = reads[0]
    return _Row(index, -lane * stride, stride, other)


def _stride(reads: Sequence[tuple[int, UOp]]) -> int:
    """The stride from lane to lane if it is 1 or 2 elements; otherwise 0."""
    first, index = reads[0]
    kind = index.src[0].dtype
    if not isinstance(kind, PtrDType) or kind.space is not AddrSpace.GLOBAL:
        return 0
    if len(reads) == 1:
        return 1
    base, start = split_constant(index.src[1])
    lane, second = reads[1]
    stride = (split_constant(second.src[1])[1] - start) // (lane - first)
    for lane, other in reads[1:]:
        wanted = (base, start + stride * (lane - first))
        if other.src[0] is not index.src[0] or split_constant(other.src[1]) != wanted:
            return 0
    return stride if stride in (1, 2) else 0


def _is_pixel(index: UOp) -> bool:
    """Whether an INDEX is of (x, y) in an image."""
    return isinstance(index.src[0].dtype, ImageDType) and index.src[1].dtype.count == 2


def _has_no_negative_term(at: UOp) -> bool:
    """Whether no term of a sum is negative."""
    while at.op is Ops.ADD:
        if at.src[1].vmin < 0:
            return False
        at = at.src[0]
    return at.op is not Ops.SUB and at.vmin >= 0


def _space(index: UOp) -> AddrSpace:
    """The memory that an INDEX is into."""
    kind = index.src[0].dtype
    return kind.space if isinstance(kind, PtrDType) else AddrSpace.GLOBAL


def _is_vector_of_scalars(index: UOp, dtype: DType) -> bool:
    """Whether a vector is accessed in an array of scalars."""
    return dtype.count > 1 and index.src[0].dtype.base is dtype.scalar()
