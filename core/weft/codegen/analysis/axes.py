"""Kernel axes: describe the axes of a lowered kernel, their splits and its memory accesses.

Source: R. Allen, K. Kennedy, 'Optimizing Compilers for Modern Architectures' (2001), strip mining
and subscript analysis. The module holds data and changes no kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.base.dtype import dtypes
from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.lane_strides import lane_stride
from weft.codegen.analysis.ranges import extent_of, fill_of, ranges_of
from weft.device.tensor_core import TensorCore
from weft.uop import AxisKind, Ops, UOp, sint


class Axis(NamedTuple):
    """One loop: its number, extent, kind, and `loop`, the RANGE of the lowered kernel."""

    number: int
    extent: sint
    kind: AxisKind
    loop: UOp


class Access(NamedTuple):
    """The access pattern of a LOAD or STORE: `steps` maps each RANGE to its stride.

    irregular: ranges without a constant stride, and ranges of the gate.
    """

    node: UOp
    steps: dict[UOp, int]
    irregular: frozenset[UOp]

    def depends(self, loop: UOp) -> bool:
        return loop in self.steps or loop in self.irregular

    def lane_stride(self, loop: UOp, width: int) -> int | None:
        """The stride of the address between the `width` lanes of a vector along `loop`.

        Quotients and remainders of the loop count too: one scale per group of weights, for example.
        None if the stride is not constant, or if the gate differs between lanes.
        """
        extent = extent_of(loop)
        if not isinstance(extent, int) or extent % width:
            return None
        if self.node.op not in (Ops.LOAD, Ops.STORE):
            return None
        pointer, at, *gate = self.node.src[0].src
        if pointer.op is not Ops.DEFINE_GLOBAL:
            return None
        if any(lane_stride(part, loop, width) != 0 for part in gate):
            return None
        return lane_stride(at, loop, width)


class Split(NamedTuple):
    """A strip-mined axis: `outer * factor + inner`, with `outer * factor` clamped to `last`.

    remainder: the extent of the inner loop in the last outer iteration; 0: no remainder.
    """

    outer: int
    inner: int
    factor: int
    last: int | None
    remainder: int = 0


class Pad(NamedTuple):
    """A padded axis: axis number `longer` has `padded` iterations; the first `extent` are valid."""

    loop: UOp
    longer: int
    padded: int
    extent: int


class Unit(NamedTuple):
    """A tensor core and the axes mapped to its fragment: `m`, `n`, `k` and `lanes`, lowest first.

    rows, columns: the RANGEs of the lowered kernel that `m` and `n` are the innermost parts of.
    """

    core: TensorCore
    rows: UOp
    columns: UOp
    m: int
    n: int
    k: int
    lanes: tuple[int, ...]


def last_tile_extent(outer: UOp, split: Split) -> UOp:
    """The extent of the inner loop: shorter in the last outer iteration."""
    extent = extent_of(outer)
    assert isinstance(extent, int)
    full, last = outer.const_like(split.factor), outer.const_like(split.remainder)
    return UOp(Ops.WHERE, outer.dtype, (outer < outer.const_like(extent - 1), full, last))


def stored_buffers(nodes: Sequence[UOp]) -> set[UOp]:
    """The buffers that a kernel stores to; local arrays do not count."""
    stored = {node.src[0].src[0] for node in nodes if node.op is Ops.STORE}
    return {pointer for pointer in stored if pointer.op is not Ops.DEFINE_REG}


def reads_any(nodes: Iterable[UOp], buffers: set[UOp]) -> bool:
    """Whether a LOAD reads one of these buffers."""
    return any(node.op is Ops.LOAD and node.src[0].src[0] in buffers for node in nodes)


def is_in_place(nodes: Sequence[UOp]) -> bool:
    """Whether the kernel loads from a buffer that it stores to."""
    return reads_any(nodes, stored_buffers(nodes))


def in_place_stores(nodes: Sequence[UOp]) -> list[UOp]:
    """The STOREs to buffers that the kernel also loads from."""
    both = {node.src[0].src[0] for node in nodes if node.op is Ops.LOAD} & stored_buffers(nodes)
    return [node for node in nodes if node.op is Ops.STORE and node.src[0].src[0] in both]


def reduces_in_place(nodes: Sequence[UOp]) -> bool:
    """Whether a REDUCE loads from a buffer that the kernel stores to."""
    stored = stored_buffers(nodes)
    return any(reads_any(node.toposort(), stored) for node in nodes if node.op is Ops.REDUCE)


def access_of(node: UOp, word: UOp | None = None) -> Access:
    """The access pattern of a LOAD or STORE, or of a packed `word` whose first LOAD is `node`."""
    index = node.src[0]
    pointer, at, *gates = index.src
    terms, _ = affine(at)
    steps: dict[UOp, int] = {}
    irregular: set[UOp] = set()
    for term, factor in terms.items():
        if term.op is Ops.RANGE:
            steps[term] = factor
        else:
            irregular |= ranges_of(term)
    for gate in gates:
        irregular |= ranges_of(gate)
    # each unrolled instance of a FILL has its own array
    fill = fill_of(node)
    if fill is not None:
        irregular |= ranges_of(fill)
    elif pointer.op is Ops.DEFINE_REG:
        irregular |= ranges_of(node) - steps.keys()
    return Access(node if word is None else word, steps, frozenset(irregular))


def is_computed_index(node: UOp) -> bool:
    """Whether an index that uses this node is loaded or computed with floats."""
    return node.op is Ops.LOAD or dtypes.is_float(node.dtype.scalar())
