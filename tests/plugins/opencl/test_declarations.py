"""Built-in functions are declared where they are called, and are the driver's own."""

from __future__ import annotations

import re

import pytest

from weft_opencl.compiler import DriverCompiler
from weft_opencl.declarations import GUARD, SINGLE, declared


def test_only_what_is_called():
    assert declared("int x = 1;") == ""
    found = declared("barrier(1); get_global_id(0); barrier(2);")
    assert found == f"{SINGLE['barrier']} {SINGLE['get_global_id']}"
    assert "\n" not in found  # so that a log's lines are off by one, whatever is called


@pytest.mark.parametrize(
    "call,wanted",
    [
        ("vload4(0, data)", "float4 .* vload4\\(size_t, const __global float\\*\\);"),
        ("vload4(0, tile)", "int4 .* vload4\\(size_t, const __local int\\*\\);"),
        ("vstore2(v, 0, data)", "void .* vstore2\\(double2, size_t, __private double\\*\\);"),
        ("convert_uint8(v)", "uint8 .* convert_uint8\\(float8\\);"),
        ("fma(a, b, c)", "double .* fma\\(double, double, double\\);"),
        ("sqrt(v)", "float16 .* sqrt\\(float16\\);"),
        ("read_imagef(data1, at)", "float4 .* read_imagef\\(read_only image2d_t, int2\\);"),
    ],
)
def test_declarations_are_the_specifications(call, wanted):
    assert re.search(wanted, declared(f"x = {call};"))


def test_a_name_that_only_ends_like_one_is_left_alone():
    assert declared("my_barrier(1); fma_f32(a, b); remainder_sqrt(2);") == ""


SOURCE = """__kernel void k_(__global float* a, __global const int* b) {
  int i = get_global_id(0);
  float4 v = convert_float4(vload4(0, b + i * 4));
  vstore4(fma(sqrt(v), v, trunc(v)), 0, a + i * 4);
}"""


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


def test_what_is_declared_here_suffices(compiler):
    assert compiler.compile(SOURCE, "k") and compiler.tried == [(GUARD,)]


def test_what_is_not_known_here_is_compiled_with_all_declarations(compiler):
    source = SOURCE.replace("sqrt(v)", "hypot(v, v)")
    assert compiler.compile(source, "k") and compiler.tried == [(GUARD,), ()]
