"""What code generation makes for the device: random kernels, optimised at random; matrix units.

Numbers are small integers, so that no order of summation rounds and results are equal to the bit.
"""

from __future__ import annotations

import random

import numpy
import pytest

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower
from weft.device import Buffer
from weft.shape import ShapeTracker
from weft.testing.conformance.programs import compiled
from weft.testing.kernels import RandomKernel
from weft.uop import Ops, UOp

PLAIN = (OptKind.UPCAST, OptKind.UNROLL, OptKind.VECTOR, OptKind.SPLIT, OptKind.SWAP)
GROUPS = (OptKind.LOCAL, OptKind.GROUP, OptKind.GROUP, OptKind.GROUPTOP)


def random_choice(seed, kinds):
    """Whatever of a few random optimisations is legal."""

    def choose(kernel: Kernel) -> list[Opt]:
        pick = random.Random(seed)
        for _ in range(pick.randint(1, 8)):
            if kernel.axes:
                axis = pick.randrange(len(kernel.axes))
                attempt(kernel, Opt(pick.choice(kinds), axis, pick.choice((0, 2, 3, 4, 8))))
        for axis in range(len(kernel.axes)):
            attempt(kernel, Opt(OptKind.STAGE, axis))
        return kernel.applied

    return choose


def attempt(kernel, opt):
    try:
        kernel.apply(opt)
    except OptError:
        return False
    return True


def run(device, program, arrays):
    """Arrays by slot, those of outputs overwritten with what the kernel gives."""
    runner = device.runner(compiled(device, program))
    buffers = {}
    for slot in program.globals:
        array = arrays[slot]
        buffer = Buffer(device.id, array.nbytes, dtypes.uint8).copy_in(array.tobytes())
        buffers[slot] = buffer
    runner(
        [buffers[slot].handle for slot in program.globals],
        global_size=program.global_size,
        local_size=program.local_size,
        values=(),
        wait=True,
    )
    for slot in program.outs:
        raw = bytes(buffers[slot].copy_out())
        arrays[slot] = numpy.frombuffer(raw, arrays[slot].dtype).reshape(arrays[slot].shape)


@pytest.mark.parametrize("seed", range(30))
def test_random_kernels_under_random_optimisations(seed, weft_device, weft_compute, weft_bytes):
    kernel = RandomKernel(seed, dtypes.float32 if seed % 2 else dtypes.int32)
    kinds = PLAIN if weft_compute.limits.local_size is None else PLAIN + 2 * GROUPS
    program = lower(kernel.ast, weft_device.target, random_choice(seed, kinds))
    arrays = {slot: array.copy() for slot, array in kernel.inputs.items()}
    for slot, array in kernel.outputs.items():
        arrays[slot] = numpy.full(array.shape, 77, array.dtype)
    run(weft_device, program, arrays)
    for slot, wanted in kernel.outputs.items():
        numpy.testing.assert_array_equal(arrays[slot], wanted, err_msg=str(program.applied))


def row_sums(rows, columns):
    view = ShapeTracker.from_shape
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(rows * columns), (), 1)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(rows), (), 0)
    total = source.view(view((rows, columns))).load().reduce(Ops.ADD, (1,))
    return UOp.sink(out.view(view((rows, 1))).store(total))


@pytest.mark.parametrize("kind", [OptKind.GROUP, OptKind.GROUPTOP])
@pytest.mark.parametrize("parts", [2, 8, 32])
def test_a_reduce_that_a_group_shares(kind, parts, weft_device, weft_compute, weft_bytes):
    def choose(kernel: Kernel) -> list[Opt]:
        place = next(i for i, axis in enumerate(kernel.axes) if axis.extent == 96)
        if not attempt(kernel, Opt(kind, place, parts)):
            pytest.skip("this device has no groups of so many that share memory")
        return kernel.applied

    program = lower(row_sums(5, 96), weft_device.target, choose)
    data = numpy.random.default_rng(parts).integers(-99, 99, (5, 96)).astype(numpy.int32)
    arrays = {0: numpy.zeros((5, 1), numpy.int32), 1: data}
    run(weft_device, program, arrays)
    numpy.testing.assert_array_equal(arrays[0], data.sum(1, keepdims=True))


def matmul(m, k, n, core):
    a = UOp(Ops.DEFINE_GLOBAL, core.dtype_in.ptr(m * k), (), 1)
    b = UOp(Ops.DEFINE_GLOBAL, core.dtype_in.ptr(k * n), (), 2)
    out = UOp(Ops.DEFINE_GLOBAL, core.dtype_out.ptr(m * n), (), 0)
    left = a.view(ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))).load()
    negated = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k))
    right = b.view(negated.expand((m, n, k))).load()
    if core.dtype_in is not core.dtype_out:
        left, right = left.cast(core.dtype_out), right.cast(core.dtype_out)
    total = (left * right).reduce(Ops.ADD, (2,))
    return UOp.sink(out.view(ShapeTracker.from_shape((m, n, 1))).store(total))


def test_matrix_units(weft_device, weft_compute, weft_bytes):
    """Every unit that the device declares multiplies small integers exactly."""
    if not weft_compute.tensor_cores:
        pytest.skip("this device declares no tensor cores")
    for number, core in enumerate(weft_compute.tensor_cores):
        m, n, k = (2 * size for size in core.dims)

        def choose(kernel: Kernel, number: int = number) -> list[Opt]:
            kernel.apply(Opt(OptKind.TC, len(kernel.axes) - 1, number))
            return kernel.applied

        with settings.override(MATMUL_PRECISION="high"):  # small integers have few bits
            program = lower(matmul(m, k, n, core), weft_device.target, choose)
        draw = numpy.random.default_rng(number).integers
        a, b = (draw(0, 4, shape).astype(numpy.float32) for shape in ((m, k), (k, n)))
        arrays = {
            0: numpy.zeros((m, n), stored(core.dtype_out)),
            1: a.astype(stored(core.dtype_in)),
            2: b.astype(stored(core.dtype_in)),
        }
        run(weft_device, program, arrays)
        numpy.testing.assert_array_equal(arrays[0].astype(numpy.float32), a @ b, err_msg=core.name)


def stored(dtype):
    """The NumPy dtype of the same bits."""
    if dtype.fmt is not None:
        return numpy.dtype(dtype.fmt)
    ml_dtypes = pytest.importorskip("ml_dtypes", reason=f"NumPy alone has no {dtype.name}")
    names = {"fp8e4m3": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
    name = names[dtype.name] if dtype.name in names else dtype.name
    return numpy.dtype(getattr(ml_dtypes, name))
