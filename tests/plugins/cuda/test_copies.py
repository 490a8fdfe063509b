"""Asynchronous copies as statements of CUDA C++."""

import pytest

from weft.plugin import ASYNC, DeviceUnavailable, LinearProgram, Ops, UOp, dtypes
from weft_cuda.compiler import NvrtcCompiler
from weft_cuda.nvrtc import find_nvrtc
from weft_cuda.renderer import CudaRenderer

LOCAL = type(dtypes.float.ptr().space).LOCAL


def written(dtype, *, gate=False, other=0.0, at=None, after=()):
    """A kernel that copies `dtype` from memory to shared memory."""
    item = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 8),), "lidx0")
    place = item * UOp.const(dtypes.int, dtype.count) if at is None else at(item)
    source = UOp(Ops.DEFINE_GLOBAL, dtype.scalar().ptr(64), (), 1)
    tile = UOp(Ops.DEFINE_LOCAL, dtype.scalar().ptr(64, LOCAL), (), "tile0")
    if gate:
        index = source.index(place, item < 5)
        rest = UOp.const(dtype.scalar(), other)
        rest = UOp(Ops.VECTORIZE, dtype, (rest,) * dtype.count) if dtype.count > 1 else rest
        load = UOp(Ops.LOAD, dtype, (index, rest))
    else:
        load = source.index(place).load(dtype=dtype)
    store = UOp(Ops.STORE, dtypes.void, (tile.index(place), load), ASYNC)
    commit = UOp(Ops.COMMIT, dtypes.void, (), "a")
    wait = UOp(Ops.WAIT, dtypes.void, (), (1, "a"))
    uops = [*store.toposort(), commit, wait, *after]
    return CudaRenderer().render(LinearProgram.of("k", uops))


@pytest.mark.parametrize(
    "dtype, size",
    [(dtypes.float, 4), (dtypes.float.vec(4), 16), (dtypes.half.vec(4), 8), (dtypes.double, 8)],
)
def test_a_copy_is_one_statement(dtype, size):
    source = written(dtype)
    assert f"  copy_async<{size}>(tile0 + " in source
    assert "val0" not in source, "what is copied is not loaded as well"
    assert source.index("copy_async<") < source.index("  commit_copies();")
    assert source.index("  commit_copies();") < source.index("  wait_for_copies<1>();")


def test_behind_a_gate_zeros_are_put_down():
    source = written(dtypes.float.vec(4), gate=True)
    (call,) = (line for line in source.splitlines() if line.startswith("  copy_async<16>("))
    assert call.count(",") == 3 and "bool alu1 = lidx0 < 5;" in source
    assert "copy_async" not in written(dtypes.float, gate=True, other=1.0)


def test_short_or_misaligned_copies_are_synchronous():
    assert "copy_async" not in written(dtypes.half)
    assert "copy_async" not in written(dtypes.float.vec(4), at=lambda item: item * 4 + 1)


def test_it_compiles_to_the_instruction():
    try:
        nvrtc = find_nvrtc()
    except DeviceUnavailable as reason:
        pytest.skip(f"no NVRTC: {reason}")
    compiler = NvrtcCompiler("sm_80", nvrtc)
    for dtype, instruction in (
        (dtypes.float.vec(4), "cp.async.cg.shared.global"),
        (dtypes.float, "cp.async.ca.shared.global"),
    ):
        ptx = compiler.ptx(written(dtype, gate=True), "k")
        assert instruction in ptx and "cp.async.commit_group" in ptx
        assert "cp.async.wait_group" in ptx
        assert compiler.compile(written(dtype), "k").startswith(b"\x7fELF")
