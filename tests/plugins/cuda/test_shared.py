"""Kernels with more shared memory than a source may declare."""

import pytest

from weft.plugin import DeviceUnavailable, LinearProgram, Ops, UOp, dtypes
from weft_cuda.capabilities import describe
from weft_cuda.chip import Chip
from weft_cuda.compiler import NvrtcCompiler
from weft_cuda.nvrtc import find_nvrtc
from weft_cuda.renderer import CudaRenderer
from weft_cuda.shared import dynamic_bytes

LOCAL = type(dtypes.int.ptr().space).LOCAL


def program(*arrays):
    """Writes to each of the arrays (name, dtype, length), and reads from the last."""
    zero = UOp.const(dtypes.int, 0)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), (), 0)
    places = [
        UOp(Ops.DEFINE_LOCAL, dtype.ptr(length, LOCAL), (), name).index(zero)
        for name, dtype, length in arrays
    ]
    stores = [place.store(UOp.const(dtype, 1)) for place, (_, dtype, _) in zip(places, arrays)]
    stores.append(out.index(zero).store(places[-1].load().cast(dtypes.float)))
    return LinearProgram.of("k", list(dict.fromkeys(u for s in stores for u in s.toposort())))


def test_shared_arrays_within_the_static_limit_are_declared():
    made = program(("a", dtypes.float, 4096), ("b", dtypes.float, 8192))
    assert dynamic_bytes(made) == 0
    assert "__shared__ __align__(16) float b[8192];" in CudaRenderer().render(made)


def test_more_is_one_array_that_the_launch_gives():
    made = program(("a", dtypes.char, 3), ("b", dtypes.half, 9), ("c", dtypes.float, 16384))
    assert dynamic_bytes(made) == 16 + 32 + (64 << 10)
    lines = [line.strip() for line in CudaRenderer().render(made).splitlines()]
    start = lines.index("extern __shared__ __align__(16) unsigned char weft_shared[];")
    assert lines[start + 1 : start + 4] == [
        "signed char* a = (signed char*)(weft_shared + 0);",
        "f16* b = (f16*)(weft_shared + 16);",
        "float* c = (float*)(weft_shared + 48);",
    ]


def test_it_compiles():
    try:
        nvrtc = find_nvrtc()
    except DeviceUnavailable as reason:
        pytest.skip(f"no NVRTC: {reason}")
    source = CudaRenderer().render(program(("a", dtypes.half, 9), ("b", dtypes.float, 20000)))
    assert NvrtcCompiler("sm_90a", nvrtc).compile(source, "k").startswith(b"\x7fELF")


def test_shared_memory_limit_includes_dynamic_memory():
    chip = Chip("sm_90a", shared_bytes=48 << 10, most_shared_bytes=227 << 10)
    assert describe(chip, "").compute.limits.shared_bytes == 227 << 10
    assert describe(Chip("sm_75"), "").compute.limits.shared_bytes == 48 << 10
