"""Sources for an Apple GPU that is not here: goldens, and a compiler that knows address spaces."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy
import pytest

import weft_metal
from weft import Tensor
from weft.base.dtype import dtypes
from weft.device import Registry
from weft.plugin import CapabilityError, LinearProgram, MemoryCaps
from weft.testing.conformance.programs import Builder
from weft.uop import Ops, UOp, graph_rewrite

_spec = spec_from_file_location("metal_cases", Path(__file__).with_name("cases.py"))
cases = module_from_spec(_spec)
sys.modules["metal_cases"] = cases
_spec.loader.exec_module(cases)
GOLDEN = "apple8"
OTHERS = ("apple7", "apple9")


def offline(arch="apple8"):
    own = Registry()
    if not any(plugin.family == "METAL" for plugin in own.plugins):
        own.register(weft_metal, "METAL")
    return own.offline("METAL", arch)


@cache
def text_of(case, arch):
    """The sources of a case, with the launch sizes and what was applied."""
    texts = []
    for program, source in cases.programs(case, arch):
        sizes = f"grid {program.global_size}, group {program.local_size}"
        applied = ", ".join(map(str, program.applied)) or "none"
        texts.append(f"// {sizes}; opts: {applied}\n{source}")
    return "\n".join(texts)


@pytest.mark.parametrize("case", cases.CASES)
def test_the_source_of(case, golden, checked):
    assert text_of(case, GOLDEN) == golden.file(f"kernels/metal-{GOLDEN}/{case}.metal")
    for _, source in cases.programs(case, GOLDEN):
        assert checked(source) == ""


@pytest.mark.parametrize("arch", OTHERS)
def test_differences_between_families(arch, golden, checked):
    """Those that are the same as those of the family above are not kept twice."""
    for case in cases.CASES:
        if text_of(case, arch) != text_of(case, GOLDEN):
            assert text_of(case, arch) == golden.file(f"kernels/metal-{arch}/{case}.metal")
            for _, source in cases.programs(case, arch):
                assert checked(source) == ""


def test_only_bfloat16_sets_the_oldest_family_apart():
    differ = [one for one in cases.CASES if text_of(one, "apple7") != text_of(one, GOLDEN)]
    assert differ == ["matmul_bfloat16", "half_to_bfloat16"]
    assert all("bfloat" not in text_of(one, "apple7") for one in differ)


def values(device):
    """A maker of small numbers, the same ones on every device."""
    random = numpy.random.default_rng(7)

    def make(*shape, dtype=None):
        floats = dtype in (None, "half", "bfloat16")
        data = random.integers(-8 if floats else 0, 9 if floats else 3, shape)
        plain = Tensor((data / 4 if floats else data).astype("float32"), device=device)
        return plain.cast(dtype or "float32").realize()

    return make


@pytest.mark.parametrize("case", [case for case in cases.CASES if case not in cases.TOO_LONG])
def test_the_results_of(case, metal):
    """On the double: what the kernels compute, lane by lane."""
    quicker = "CPU" if find_spec("weft_cpu_clang") else "REF"
    wanted = [t.float().numpy() for t in cases.CASES[case](values(quicker))]
    found = [t.float().numpy() for t in cases.CASES[case](values(metal))]
    for one, other in zip(found, wanted, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


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


@pytest.mark.parametrize(
    "dtype, text",
    [
        (dtypes.float32, "= simd_shuffle_xor(data1["),
        (dtypes.bool, "(simd_shuffle_xor(ushort("),
        (dtypes.bfloat16, "as_type<bfloat>(simd_shuffle_xor(as_type<ushort>("),
        (dtypes.int64, "as_type<long>(simd_shuffle_xor(as_type<uint2>("),
        (dtypes.float32.vec(2), "= simd_shuffle_xor(float2("),
        (dtypes.bfloat16.vec(2), "as_type<bfloat2>(simd_shuffle_xor(as_type<uint>("),
    ],
)
def test_exchanges_between_lanes(dtype, text, checked):
    b = Builder()
    out, data = b.argument(0, dtype.scalar(), 64), b.argument(1, dtype.scalar(), 64)
    lane = b.special("lidx0", 32)
    held = b.load(data, b.add(lane * dtype.count), dtype=dtype)
    b.store(out, b.add(lane * dtype.count), b.add(UOp(Ops.SHUFFLE, dtype, (held,), 4)))
    source = offline().renderer.render(LinearProgram.of("k", b.nodes))
    assert text in source and checked(source) == ""


def test_indices_are_cut_by_shifts_and_masks():
    rules = offline().renderer.rules
    index, eight = UOp.range(64, 0), UOp.const(dtypes.int32, 8)
    assert graph_rewrite(index // eight, rules).op is Ops.SHR
    assert graph_rewrite(index % eight, rules).op is Ops.AND
    assert graph_rewrite(index // UOp.const(dtypes.int32, 6), rules).op is Ops.IDIV
    below = index - UOp.const(dtypes.int32, 1)
    assert graph_rewrite(below % eight, rules).op is Ops.MOD


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
    assert device.capabilities.memory == MemoryCaps(
        alignment=16, link_group="METAL", host_visible=True
    )


def test_thirty_buffers_leave_an_argument_for_the_variables():
    assert offline().target.compute.limits.max_buffers == 30
