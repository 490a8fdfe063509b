"""Kernels of the benchmarks' programs, run under AddressSanitizer."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from weft.base.dtype import dtypes
from weft.uop import Ops

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
# those that compile quickly; `python benchmarks/sanitize.py` goes through all
NAMES = ("softmax", "argmax", "matmul + bias + gelu", "embedding", "cumsum(4096)")


@cache
def sanitize():
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    spec = spec_from_file_location("sanitize", BENCHMARKS / "sanitize.py")
    sys.modules["sanitize"] = made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@cache
def all_kernels():
    reason = sanitize().missing()
    if reason is not None:
        pytest.skip(reason)
    from programs import PROGRAMS  # in the folder of the module, which has put it on the path

    found = []
    for program in PROGRAMS:
        if program.name in NAMES:
            found += sanitize().kernels_of(program.build)
    return found


def test_nothing_is_found():
    kernels = all_kernels()
    assert len(kernels) >= len(NAMES)
    assert sanitize().watched(kernels) == ""


def test_numbers_matter_where_addresses_depend_on_them():
    fixed = {kernel.program.name: kernel.is_fixed for kernel in all_kernels()}
    (softmax, *_) = all_kernels()
    assert softmax.is_fixed and not all(fixed.values())
    for kernel in all_kernels():
        reads = [u.dtype.scalar() for u in kernel.program.uops if u.op is Ops.LOAD]
        assert not kernel.is_fixed or dtypes.int not in reads


@pytest.mark.parametrize("slot", [0, 1])
def test_a_buffer_that_is_too_small_is_found(slot):
    kernel = all_kernels()[0]
    sizes = list(kernel.nbytes)
    sizes[slot] -= 4
    said = sanitize().watched([replace(kernel, nbytes=tuple(sizes))])
    assert "heap-buffer-overflow" in said and ("WRITE" if slot == 0 else "READ") in said
