"""Sources for an Apple GPU that is not here: goldens, and a compiler that knows address spaces."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import weft_metal
from weft.base.dtype import dtypes
from weft.codegen.pipeline import lower
from weft.device import Registry
from weft.plugin import CapabilityError, LinearProgram, MemoryCaps
from weft.testing.conformance.programs import Builder
from weft.uop import Ops, UOp

_spec = spec_from_file_location("programs", Path(__file__).parents[2] / "test_golden_programs.py")
_programs = module_from_spec(_spec)
_spec.loader.exec_module(_programs)
CASES = _programs.CASES


def offline(arch="apple8"):
    own = Registry()
    if not any(plugin.family == "METAL" for plugin in own.plugins):
        own.register(weft_metal, "METAL")
    return own.offline("METAL", arch)


def sources(case, device):
    tensors = CASES[case]()
    found = []
    for item in tensors[0].schedule(*tensors[1:]):
        if item.ast.op is Ops.SINK:
            program = lower(item.ast, device.target)
            applied = ", ".join(map(str, program.applied)) or "none"
            found.append(f"// opts: {applied}\n{device.renderer.render(program)}")
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_source_of(case, golden, checked):
    found = sources(case, offline())
    assert "\n".join(found) == golden.file(f"kernels/metal-apple8/{case}.metal")
    for source in found:
        assert checked(source) == ""


def test_the_check_sees_a_wrong_address_space(checked):
    right = (
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void k(device float* a [[buffer(0)]]) {\n  threadgroup float t[4];\n"
        "  *(device packed_float4*)(a + 1) = float4(t[0]);\n}\n"
    )
    assert checked(right) == ""
    assert "address space" in checked(right.replace("(device packed", "(threadgroup packed"))
    assert checked(right.replace("a + 1", "a + b")) != ""


def test_bfloat_from_apple8_on():
    assert dtypes.bfloat16 not in offline("apple7").target.compute.dtypes
    assert dtypes.bfloat16 in offline("apple9").target.compute.dtypes
    assert all(dtypes.float64 not in offline(a).target.compute.dtypes for a in ("apple7", "apple9"))


def test_every_dtype_has_a_type_of_the_language(checked):
    for dtype in offline().target.compute.dtypes:
        for width in (1, *offline().target.compute.vector_widths.get(dtype, ())):
            b = Builder()
            out, data = b.argument(0, dtype, 8), b.argument(1, dtype, 8)
            b.store(out, 0, b.load(data, 1, dtype=dtype.vec(width)))
            assert checked(offline().renderer.render(LinearProgram.of("k", b.nodes))) == ""


def test_variables_are_one_argument(checked):
    b = Builder()
    out = b.argument(0, dtypes.int32, 8)
    count, step = UOp.variable("count", 1, 8), UOp.variable("a_step", 0, 100)
    b.add(count), b.add(step)
    at = b.loop(count, 0)
    b.store(out, at, at * step)
    b.end(at)
    source = offline().renderer.render(LinearProgram.of("k", b.nodes))
    assert "struct Variables { int a_step; int count; };" in source
    assert "constant Variables& variables [[buffer(1)]]" in source
    assert "ridx0 < variables.count" in source
    assert checked(source) == ""


def test_float64_is_refused():
    b = Builder()
    out = b.argument(0, dtypes.float64, 1)
    b.store(out, 0, UOp.const(dtypes.float64, 1.0))
    with pytest.raises(CapabilityError, match="no dtypes.double"):
        offline().renderer.render(LinearProgram.of("k", b.nodes))


def test_other_architectures_are_not_offered():
    assert weft_metal.weft_offline("sm_90") is None


def test_a_device_that_is_not_here_has_no_compiler():
    device = weft_metal.weft_offline("apple8")
    assert weft_metal.weft_compiler(device) is None
    assert device.capabilities.memory == MemoryCaps(alignment=16)


def test_thirty_buffers_leave_an_argument_for_the_variables():
    assert offline().target.compute.limits.max_buffers == 30
