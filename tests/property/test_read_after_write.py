"""Versions of memory that need a copy: two scheduler passes compared with their definitions.

Random graphs of reads, views and writes; each definition follows every path by itself, and takes
as many steps as there are nodes for each write. WEFT_TEST_EXAMPLES explores.
"""

from __future__ import annotations

import os
import random

import pytest

from helpers.graphs import buffer
from weft.base.dtype import dtypes
from weft.schedule import assigns
from weft.shape import ShapeTracker
from weft.uop import GroupOp, Ops, UOp, Window

EXAMPLES = int(os.environ.get("WEFT_TEST_EXAMPLES", "200"))
SIZE = 4


def drawn(rng: random.Random) -> UOp:
    """A graph over a few memories, each of which is written a few times."""
    versions = [buffer(SIZE) for _ in range(rng.randint(1, 3))]
    values = list(versions)

    def value(size: int) -> UOp:
        node = rng.choice(values)
        kind = rng.randrange(9)
        if kind < 2:
            node = node + rng.choice(values)
        elif kind == 2:
            node = node.flip((True,))
        elif kind == 3:
            node = node.reshape((2, 2)).permute((1, 0)).reshape((SIZE,))
        elif kind == 4:
            node = node.reduce(Ops.ADD, (0,)).expand((SIZE,))
        elif kind == 5:
            node = UOp(Ops.CONTIGUOUS, node.dtype, (node,))
        elif kind == 6:
            start = rng.randrange(SIZE - 1)
            node = node.shrink(((start, start + 2),)).pad(((start, SIZE - 2 - start),))
        elif kind == 7:
            node = node.cast(dtypes.int).cast(dtypes.float)
        if size < SIZE:
            start = rng.randrange(SIZE - size + 1)
            node = node.shrink(((start, start + size),))
        return node

    for _ in range(rng.randint(2, 14)):
        if rng.random() < 0.55:
            values.append(value(SIZE))
            continue
        number = rng.randrange(len(versions))
        if rng.random() < 0.5:
            written = versions[number].assign(value(SIZE))
        else:
            size = rng.randint(1, SIZE - 1)
            start = rng.randrange(SIZE - size + 1)
            window = Window(ShapeTracker.from_shape((SIZE,)).shrink(((start, start + size),)))
            read = versions[number].shrink(((start, start + size),))
            term = read + 1 if rng.random() < 0.5 else value(size)
            written = versions[number].assign(term, window)
        versions[number] = written
        values.append(written)
    asked = rng.sample(values, min(len(values), rng.randint(1, 3)))
    return UOp.sink(*versions, *asked)


# ---- the definitions -----------------------------------------------------------------------------


def below(node: UOp, avoid: UOp | None = None) -> set[UOp]:
    """What a node depends on, itself included, by paths that do not touch `avoid`."""
    found: set[UOp] = set()
    stack = [node]
    while stack:
        one = stack.pop()
        if one is not avoid and one not in found:
            found.add(one)
            stack.extend(one.src)
    return found


def needed_with_successors(order: list[UOp], writers: dict[UOp, UOp]) -> set[UOp]:
    return {
        version
        for version, writer in writers.items()
        if any(
            version in below(node, avoid=writer) and writer in below(node)
            for node in order
            if node is not writer
        )
    }


def shifts_itself(writer: UOp, version: UOp) -> bool:
    window = writer.arg.st.simplify()
    stack = [writer.src[1]]
    while stack:
        node = stack.pop()
        if node.op in assigns._SEPARATE:
            continue
        if node.base is version:
            if node.st.simplify() != window:
                return True
        elif node.op in GroupOp.Elementwise or node.op in GroupOp.Identity:
            stack.extend(node.src)
        elif version in node.toposort(gate=lambda u: u.op not in assigns._SEPARATE):
            return True
    return False


def sees_parts(writer: UOp, version: UOp) -> bool:
    stack, seen = [writer.src[1]], set()
    while stack:
        node = stack.pop()
        if node in seen or node.op in assigns._SEPARATE:
            continue
        seen.add(node)
        if node.base is version:
            if assigns._reads_other_elements(node, None):
                return True
        elif node.op is not Ops.REDUCE_AXIS:
            stack.extend(node.src)
    return False


def read_elsewhere(writers: dict[UOp, UOp]) -> set[UOp]:
    return {
        version
        for version, writer in writers.items()
        if (sees_parts if writer.arg is None else shifts_itself)(writer, version)
    }


@pytest.mark.parametrize("part", range(4))
def test_both_passes_are_their_definitions(part: int) -> None:
    seen = 0
    for seed in range(part, EXAMPLES, 4):
        order = list(drawn(random.Random(seed)).toposort())[:-1]
        writers = {version: found[0] for version, found in assigns.pending_writes(order).items()}
        mixed = assigns._read_with_writer(order, writers)
        assert mixed == needed_with_successors(order, writers), seed
        moved = assigns._read_at_other_elements(order, writers)
        assert moved == read_elsewhere(writers), seed
        seen += len(mixed) + len(moved)
    assert seen > EXAMPLES // 8
