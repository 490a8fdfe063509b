"""Built-in functions are declared where they are called, and are the driver's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.engine.programs import program_for
from weft.plugin import AddrSpace, LinearProgram, Ops, SourceUsage, UOp
from weft_opencl.compiler import DriverCompiler
from weft_opencl.declarations import BARRIER, CONST, GUARD, READ_IMAGE, WRITE_IMAGE, declarations
from weft_opencl.facts import OFFLINE
from weft_opencl.renderer import TYPES, OpenCLRenderer

EMPTY = LinearProgram.of("k", [])


def declared(program=EMPTY, launch=(), **usage):
    return declarations(program, SourceUsage(**usage), TYPES, launch)


def test_nothing_is_declared_where_nothing_is_called():
    assert declared(dtypes={dtypes.float32}) == ""


def test_launch_indices_and_barriers():
    barrier = LinearProgram.of("k", [UOp(Ops.BARRIER, dtypes.void, ())])
    found = declared(barrier, ["get_local_id"])
    assert found == f"size_t {CONST} get_local_id(uint); {BARRIER}"
    assert "\n" not in found  # so that lines of a log are easy to count


@pytest.mark.parametrize(
    "usage,wanted",
    [
        (
            {"vector_loads": {(dtypes.float32.vec(4), AddrSpace.GLOBAL)}},
            "float4 __attribute__((overloadable, pure)) vload4(size_t, const __global float*);",
        ),
        (
            {"vector_loads": {(dtypes.int32.vec(4), AddrSpace.LOCAL)}},
            "int4 __attribute__((overloadable, pure)) vload4(size_t, const __local int*);",
        ),
        (
            {"vector_stores": {(dtypes.float64.vec(2), AddrSpace.REG)}},
            "void __attribute__((overloadable)) vstore2(double2, size_t, __private double*);",
        ),
        (
            {"conversions": {dtypes.uint32.vec(8)}, "dtypes": {dtypes.float32}},
            "uint8 __attribute__((overloadable, const)) convert_uint8(float8);",
        ),
        (
            {"functions": {(Ops.MULACC, dtypes.float64)}},
            "double __attribute__((overloadable, const)) fma(double, double, double);",
        ),
        (
            {"functions": {(Ops.SQRT, dtypes.float32.vec(16))}},
            "float16 __attribute__((overloadable, const)) sqrt(float16);",
        ),
    ],
)
def test_declarations_are_the_specifications(usage, wanted):
    assert declared(**usage) == wanted


def test_images_are_read_or_written():
    images = [UOp(Ops.DEFINE_GLOBAL, dtypes.imagef((4, 4, 4)), (), slot) for slot in (0, 1)]
    program = replace(LinearProgram.of("k", images), outs=(0,))
    assert declared(program) == f"{READ_IMAGE} {WRITE_IMAGE}"


def test_sources_declare_only_where_that_is_quicker():
    barrier = LinearProgram.of("k", [UOp(Ops.BARRIER, dtypes.void, ())])
    facts = OFFLINE["pocl"]
    assert BARRIER not in OpenCLRenderer(facts).render(barrier)
    assert BARRIER in OpenCLRenderer(replace(facts, own_declarations=True)).render(barrier)


@pytest.fixture
def compiler(device, monkeypatch):
    if not device.facts.own_declarations:
        pytest.skip("this driver declares its functions quickly enough")
    tried = []
    compiled = DriverCompiler._compiled

    def watched(self, program, *more):
        tried.append(more)
        return compiled(self, program, *more)

    monkeypatch.setattr(DriverCompiler, "_compiled", watched)
    found = DriverCompiler(device)
    found.tried = tried
    return found


def x(*shape, dtype="float32"):
    return Tensor(np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype), device="OPENCL")


KERNELS = {
    "elementwise": lambda: x(64) * 2 + x(64).sqrt(),
    "conversions": lambda: x(64, dtype="int32").cast(dtypes.float32) + x(64),
    "narrow": lambda: x(64, dtype="int8").cast(dtypes.int32) * 3,
    "booleans": lambda: (x(64) > 2).where(x(64), -x(64)).cast(dtypes.bool),
    "transcendental": lambda: x(64).sin() + x(64).exp() + x(64).log(),
    "doubles": lambda: x(64, dtype="float64").sqrt().trunc().cast(dtypes.int64),
    "product": lambda: x(16, 24) @ x(24, 32),
    "softmax": lambda: x(8, 40).softmax(),
    "division": lambda: x(64, dtype="int32") // x(64, dtype="int32"),
    "bits": lambda: x(64).bitcast(dtypes.int32) & 7,
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_declare_all_that_they_call(compiler, name):
    items = [i for i in KERNELS[name]().schedule() if i.ast.op is Ops.SINK]
    for item in items:
        source = program_for(item.ast, "OPENCL").p.src
        compiler.tried.clear()
        assert compiler.compile(source, "k") and compiler.tried == [(GUARD,)], source


SOURCE = """__kernel void k_(__global float* a) {
  int i = get_global_id(0);
  a[i] = hypot(a[i], 1.0f);
}"""


def test_a_source_without_declarations_is_compiled_with_all_of_them(compiler):
    assert compiler.compile(SOURCE, "k") and compiler.tried == [(GUARD,), ()]


def test_declarations_do_not_conflict_with_those_of_the_language(compiler, device):
    items = [i for i in KERNELS["product"]().schedule() if i.ast.op is Ops.SINK]
    source = program_for(items[-1].ast, "OPENCL").p.src
    assert compiler._compiled(compiler._program(source))
