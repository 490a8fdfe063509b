"""A blocked transpose prefetches all of a later block, and nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor
from weft.codegen.analysis.ranges import extent_of
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.device.capabilities import Feature
from weft.plugin import MachineModel
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft.uop.args import PREFETCH_L2
from weft_simd import thresholds

LANES = 16


def program_of(shape, order, cache=1 << 14, features=frozenset()):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    target = registry.offline("CPU", "x86-64-v4").target
    compute = replace(target.compute, cache_bytes=cache, features=features)
    target = replace(target, compute=compute)
    result = Tensor.empty(*shape, device="REF").permute(*order).contiguous()
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    return lower(item.ast, target)


def prefetches_of(program):
    return [node for node in program.uops if node.op is Ops.LOAD and node.arg == PREFETCH_L2]


def places(program):
    """The first element of each prefetched cache line, by iteration."""
    loops = [node for node in program.uops if node.op is Ops.RANGE]
    found_loads = [node.src[0].src[1] for node in prefetches_of(program)]
    found = []
    for turn in itertools.product(*(range(extent_of(loop)) for loop in loops)):
        values = {loop: loop.const_like(number) for loop, number in zip(loops, turn)}
        found.append([int(one.substitute(values).simplify().arg) for one in found_loads])
    return np.array(found)


@pytest.mark.parametrize(
    "shape, order, rows, piece",
    [
        ((3, 4, 32, 64), (3, 1, 0, 2), 16, 32 * 64),
        ((9, 64, 32), (0, 2, 1), 16, 64 * 32),
        ((3, 4, 40, 64), (3, 1, 0, 2), 4, 40 * 64),  # squares of eight half lines
        ((256, 128), (1, 0), 32, 32 * 128),  # some rows of one matrix
    ],
)
def test_all_of_a_later_block_is_prefetched(shape, order, rows, piece):
    program = program_of(shape, order)
    found_loads = prefetches_of(program)
    assert len(found_loads) == rows
    size, turns = int(np.prod(shape)), piece // (rows * LANES)
    found = places(program).reshape(-1, turns * rows)
    soon = thresholds.block_distance(MachineModel())
    assert len(found) == size // piece
    for number, lines in enumerate(found):
        later = number + soon if number + soon < len(found) else number
        assert sorted(lines) == list(range(later * piece, (later + 1) * piece, LANES))
        assert (np.diff(lines.reshape(turns, rows)) == LANES).all()  # line after line


@pytest.mark.parametrize(
    "shape, order, cache",
    [
        ((3, 4, 32, 64), (3, 1, 0, 2), 0),
        ((3, 4, 32, 64), (3, 1, 0, 2), 1 << 20),
        ((3, 4, 41, 64), (3, 1, 0, 2), 1 << 14),  # squares that overlap
        ((64, 5, 3, 64), (3, 1, 2, 0), 1 << 14),  # no pieces
        ((64, 4096), (1, 0), 1 << 14),  # long ones
    ],
)
def test_kernels_without_prefetches(shape, order, cache):
    assert prefetches_of(program_of(shape, order, cache)) == []


def test_threads_share_two_loops_as_one():
    """As long as memory continues from the last iteration of the inner loop."""
    threads = frozenset({Feature.THREADS})
    program = program_of((8, 9, 64, 96), (3, 1, 0, 2), 1 << 20, threads)
    assert any(node.op is Ops.SPECIAL for node in program.uops)
    assert len(prefetches_of(program)) == 16


@pytest.mark.parametrize("shape, order", [((2, 3, 32, 64), (3, 1, 0, 2)), ((5, 64, 48), (0, 2, 1))])
def test_copied_values_are_unchanged(shape, order):
    x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
    found = np.zeros(x.size, np.float32)
    run_program(program_of(shape, order), [found, x.copy()])
    np.testing.assert_array_equal(found, np.ascontiguousarray(x.transpose(order)).reshape(-1))
