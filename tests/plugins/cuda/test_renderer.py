"""The words of CUDA C++."""

from weft.device import registry
from weft.plugin import LinearProgram, Ops, UOp, dtypes
from weft_cuda.renderer import CudaRenderer


def place(slot, dtype, at=0):
    pointer = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(64), (), slot)
    return pointer.index(UOp.const(dtypes.int, at))


def written(*stores, name="k"):
    sink = UOp.sink(*stores)
    uops = [u for u in sink.toposort() if u is not sink]
    return CudaRenderer().render(LinearProgram.of(name, uops))


def test_no_more_is_written_before_a_kernel_than_it_needs():
    source = written(place(0, dtypes.float).store(place(1, dtypes.float).load()))
    assert source.startswith('extern "C" __global__ void __launch_bounds__(1) k(')


def test_half_comes_with_its_type_alone():
    source = written(place(0, dtypes.half).store(place(1, dtypes.half).load()))
    assert "struct f16" in source and "struct bf16" not in source and "struct alignas" not in source


def test_launch_bounds_are_the_threads_of_a_block():
    x = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 32),), "lidx0")
    y = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 4),), "lidx1")
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(128), (), 0)
    source = written(pointer.index(y * UOp.const(dtypes.int, 32) + x).store(x))
    assert "__launch_bounds__(128)" in source
    assert "int lidx1 = threadIdx.y;" in source


def test_lanes_exchange_before_the_condition_of_a_store():
    """In the condition of a store not every lane would take part."""
    item = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 32),), "lidx0")
    held = place(1, dtypes.half).load()
    other = UOp(Ops.SHUFFLE, dtypes.half, (held,), 16)
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.half.ptr(64), (), 0)
    source = written(pointer.index(item, item < 1).store(other))
    assert "f16 other0 = other_lane(data1[0], 16);\n  if (" in source
    assert "__shfl_xor_sync(0xffffffffu, x, by)" in source


def test_vectors_in_shared_memory_are_plain_pointers():
    zero = UOp.const(dtypes.int, 0)
    space = type(dtypes.float.ptr().space).LOCAL
    local = UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(64, space), (), "tile")
    value = place(1, dtypes.float).load(dtype=dtypes.float.vec(4))
    source = written(local.index(zero).store(value))
    assert "__shared__ __align__(16) float tile[64];" in source
    assert "*(f32x4*)tile = " in source


def test_an_offline_device_has_the_limits_of_its_architecture():
    target = registry.offline("CUDA", "sm_80").target
    assert target.compute.limits.local_threads == 1024
    assert target.compute.limits.shared_bytes == 163 << 10
    assert dtypes.bfloat16 in target.compute.dtypes
