"""Random programs compared with NumPy, family by family, on all devices of this machine.

The default run takes a few programs of each family; WEFT_TEST_EXAMPLES=1000 as many, and others
each time. A program that fails is named: `check("movement", 155, "CPU")` runs it again.
"""

import os
import random
from contextlib import contextmanager

import pytest

from cases.numpy_cases import FAMILIES, arithmetic, check, indexing, products, reductions
from helpers.example_counts import examples
from weft import Device
from weft.base.settings import settings
from weft.engine import forget_programs

ASKED = os.environ.get("WEFT_TEST_EXAMPLES")
FIRST = random.randrange(10**9) if ASKED else 0
HERE = Device.DEFAULT
MODULES = (arithmetic, indexing, products, reductions)

# what special ways begin at is usually beyond the sizes of these programs
LOWERED = {
    "weft_simd.thresholds.THREADED": 0,
    "weft_simd.thresholds.UNPACKED": 0,
    "weft_simd.thresholds.REUSED": 4,
    "weft_simd.thresholds.MATRIX": 2**-14,
    "weft_simd.thresholds.SKINNY": 2**-14,
    "weft_simd.thresholds.SKINNY_STRIDE": 2**-8,
    "weft_simd.thresholds.ROW_OPERATIONS": 1,
    "weft_simd.thresholds.LEAST_ROW_LENGTH": 2,
    "weft.codegen.indexing.scatter_add.MIN_SPEEDUP": 0,
    "weft.schedule.row_buffers._EXPENSIVE": 1,
    "weft.schedule.view_pushdown._SMALL": 16,
    "weft.tensor.ops.radix_sort._WIDTH": 3,
    "weft.tensor.ops.reduce._FAR": 64,
    "weft.tensor.ops.reduce._POSITIONS": 16,
    "weft.tensor.ops.prefix_scans._SCANNED_ROW": 32,
    "weft.tensor.ops.sets._COUNTED": 0,
    "weft.tensor.ops.sets.DIGITS": 10,
    "weft.tensor.ops.sorting._COUNTED": 4,
    "weft.tensor.ops.sorting.DIGITS": 20,
}
SHARED = {"SHARED_FROM": 0, "IN_ROW_FROM": 0, "PART": 8}  # of the device that has threads


@contextmanager
def uncached(**overrides):
    """Other settings than usual, without caches of programs and schedules."""
    with settings.override(CACHE=0, **overrides):
        forget_programs()
        try:
            yield
        finally:
            forget_programs()


def run(name, count, start, device):
    for seed in range(FIRST + start, FIRST + start + examples(count)):
        check(name, seed, device)


@pytest.mark.parametrize("name", FAMILIES)
def test_reference(name):
    run(name, 3, 0, "REF")


@pytest.mark.parametrize("name", FAMILIES)
def test_default_device(name):
    run(name, 2, 100, HERE)


@pytest.mark.parametrize("name", FAMILIES)
def test_of_small_sizes_as_of_large_ones(name, monkeypatch):
    for path, value in LOWERED.items():
        monkeypatch.setattr(path, value)
    if HERE == "CPU":
        runner = pytest.importorskip("weft_cpu_clang.runner")
        for constant, value in SHARED.items():
            monkeypatch.setattr(runner, constant, value)
    with uncached(REDUCEOP_SPLIT_THRESHOLD=16):
        run(name, 1, 200, HERE)


WAYS = [{"NOOPT": 1}, {"GROUP_KERNELS": 0, "FUSE_ARANGE": 0}, {"MAX_KERNEL_BUFFERS": 3}]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_of_other_kernels(way):
    with uncached(**way):
        for place, name in enumerate(FAMILIES):
            run(name, 1, 300 + place, "REF")


def test_every_module_has_families():
    homes = {maker.__module__ for maker in FAMILIES.values()}
    assert homes == {module.__name__ for module in MODULES}
