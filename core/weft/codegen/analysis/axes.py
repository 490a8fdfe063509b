"""Kernel axes: describe the axes of a lowered kernel, their splits and its accesses.

Source: none known; sound because it holds data and changes no kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.codegen.analysis.affine import affine
from weft.codegen.analysis.lane_strides import step_within
from weft.codegen.analysis.ranges import extent_of, ranges_of
from weft.device.tensor_core import TensorCore
from weft.uop.args import AxisKind
from weft.uop.node import UOp, sint
from weft.uop.ops import Ops


class Axis(NamedTuple):
    """One loop: its extent, what becomes of it, which RANGE of the lowered kernel it is of."""

    number: int
    extent: sint
    kind: AxisKind
    home: UOp


class Access(NamedTuple):
    """One LOAD or STORE: by how much each RANGE moves its address.

    hidden: ranges that move it by no fixed step, or that its gate depends on.
    """

    node: UOp
    steps: dict[UOp, int]
    hidden: frozenset[UOp]

    def depends(self, loop: UOp) -> bool:
        return loop in self.steps or loop in self.hidden

    def step_within(self, loop: UOp, width: int) -> int | None:
        """By how much each of `width` neighbours along a loop that is divided moves the address.

        One scale for a group of weights, heads side by side in a row: groups of whole vectors.
        None where that is no one number, or where some neighbours have a closed gate alone.
        """
        extent = extent_of(loop)
        if not isinstance(extent, int) or extent % width:
            return None
        if self.node.op not in (Ops.LOAD, Ops.STORE):
            return None
        pointer, at, *gate = self.node.src[0].src
        if pointer.op is not Ops.DEFINE_GLOBAL:
            return None
        if any(step_within(part, loop, width) != 0 for part in gate):
            return None
        return step_within(at, loop, width)


class Split(NamedTuple):
    """An axis is `outer * factor + inner`; the first part at most `last` where one is given.

    rest: how many turns the inner loop has in the last turn of the outer one; 0: as many as ever.
    """

    outer: int
    inner: int
    factor: int
    last: int | None
    rest: int = 0


class Pad(NamedTuple):
    """An axis became one of more turns, of which the first `extent` are real."""

    home: UOp
    longer: int
    turns: int
    extent: int


class Unit(NamedTuple):
    """A matrix unit and the numbers of the axes that are its fragments; lanes: the lowest first.

    rows, columns: the axes of the lowered kernel that these are the innermost parts of.
    """

    core: TensorCore
    rows: UOp
    columns: UOp
    m: int
    n: int
    k: int
    lanes: tuple[int, ...]


def turns_of_last(outer: UOp, split: Split) -> UOp:
    """The extent of an inner loop that is shorter in the last turn of the outer one."""
    turns = extent_of(outer)
    assert isinstance(turns, int)
    whole, rest = outer.const_like(split.factor), outer.const_like(split.rest)
    return UOp(Ops.WHERE, outer.dtype, (outer < outer.const_like(turns - 1), whole, rest))


def written(nodes: Sequence[UOp]) -> set[UOp]:
    """The buffers that a kernel stores to."""
    stored = {node.src[0].src[0] for node in nodes if node.op is Ops.STORE}
    return {pointer for pointer in stored if pointer.op is not Ops.DEFINE_REG}


def reads_any(nodes: Iterable[UOp], buffers: set[UOp]) -> bool:
    """Whether anything is loaded from one of these buffers."""
    return any(node.op is Ops.LOAD and node.src[0].src[0] in buffers for node in nodes)


def reads_what_it_writes(nodes: Sequence[UOp]) -> bool:
    """Whether a buffer of the kernel is both loaded from and stored to."""
    return reads_any(nodes, written(nodes))


def stores_of_what_is_read(nodes: Sequence[UOp]) -> list[UOp]:
    """The stores to buffers that the kernel loads from as well."""
    both = {node.src[0].src[0] for node in nodes if node.op is Ops.LOAD} & written(nodes)
    return [node for node in nodes if node.op is Ops.STORE and node.src[0].src[0] in both]


def sums_what_it_writes(nodes: Sequence[UOp]) -> bool:
    """Whether any sum has a term from a buffer that is stored to."""
    stored = written(nodes)
    return any(reads_any(node.toposort(), stored) for node in nodes if node.op is Ops.REDUCE)


def access_of(node: UOp, word: UOp | None = None) -> Access:
    """A LOAD or STORE taken apart; or a word, by the first LOAD of its numbers."""
    index = node.src[0]
    terms, _ = affine(index.src[1])
    steps: dict[UOp, int] = {}
    hidden: set[UOp] = set()
    for term, factor in terms.items():
        if term.op is Ops.RANGE:
            steps[term] = factor
        else:
            hidden |= ranges_of(term)
    if len(index.src) > 2:
        hidden |= ranges_of(index.src[2])
    # each instance of a FILL has an array of its own
    if node.src[-1].op is Ops.FILL:
        hidden |= ranges_of(node.src[-1])
    elif index.src[0].op is Ops.DEFINE_REG:
        hidden |= ranges_of(node) - steps.keys()
    return Access(node if word is None else word, steps, frozenset(hidden))
