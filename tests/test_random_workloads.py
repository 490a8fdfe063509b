"""Random workloads of the benchmarks: reproducible, within their bounds, and equal to NumPy."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from weft import Tensor

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SEEDS = (1, 2, 3)
COUNT = 40
SMALL = 1 << 20  # operations or bytes of a workload that is run here


@pytest.fixture(scope="module")
def module():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("random_workloads")
    finally:
        sys.path.remove(str(BENCHMARKS))


def shapes_of(row):
    """The shapes of the inputs, without making them."""
    return row.inputs.__closure__[0].cell_contents


def convolved(x, w, padding, stride):
    """A convolution by NumPy."""
    edges = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, edges), w.shape[2:], (2, 3))
    return np.einsum("bihwkl,oikl->bohw", windows[:, :, ::stride, ::stride], w, optimize=True)


def expected(row, arrays):
    """The result by NumPy."""
    if "numpy" in row.by:
        return row.by["numpy"](np, *arrays)
    stride = int(row.name.rpartition("stride ")[2])
    return convolved(*arrays, padding=arrays[1].shape[2] // 2, stride=stride)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_the_same_workloads(module, seed):
    first, again = (module.random_workloads(COUNT, seed) for _ in range(2))
    assert [row.name for row in first] == [row.name for row in again]
    assert [shapes_of(row) for row in first] == [shapes_of(row) for row in again]
    assert len({row.name for row in first}) == COUNT
    assert [row.name for row in first[:10]] == [r.name for r in module.random_workloads(10, seed)]


def test_seeds_give_other_workloads(module):
    names = [row.name for seed in SEEDS for row in module.random_workloads(COUNT, seed)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", SEEDS)
def test_sizes_are_within_bounds_and_of_every_magnitude(module, seed):
    rows = module.random_workloads(5 * COUNT, seed)
    largest = [max(math.prod(shape) for shape in shapes_of(row)) * 4 for row in rows]
    assert max(largest) <= 8 * module.MOST_BYTES  # each axis is rounded
    assert min(largest) < 1 << 8 and max(largest) > 1 << 24
    flops = [row.work[0] for row in rows if row.work[1] == "flop"]
    assert max(flops) <= module.MOST_OPERATIONS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "kind", ["product", "convolution", "reduction", "permutation", "expression"]
)
def test_every_workload_gives_what_numpy_gives(module, kind, seed):
    kinds = ["product", "convolution", "reduction", "permutation", "expression"]
    rows = module.random_workloads(COUNT, seed)[kinds.index(kind) :: len(kinds)]
    small = [row for row in rows if row.work[0] <= SMALL]
    assert small
    for row in small:
        arrays = row.inputs()
        found = row.by["lazy"](None, *map(Tensor, arrays)).numpy()
        wanted = expected(row, arrays)
        assert found.shape == np.shape(wanted), row.name
        scale = max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5 * scale, err_msg=row.name)
