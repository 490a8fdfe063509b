"""Kernels that NVIDIA's assembler compiles wrongly are found by their PTX, and no others."""

import pytest

from weft.plugin import DeviceUnavailable
from weft_cuda import defects
from weft_cuda.compiler import NvrtcCompiler

KERNEL = """
{function}
extern "C" __global__ void k(int* o, const int* a, const int* b, const int* c) {{
  int i = threadIdx.x;
  int x = a[i], y = b[i], z = c[i];
  o[i] = {value};
}}
"""


@pytest.fixture(scope="module")
def compiler():
    made = NvrtcCompiler("sm_90a")
    try:
        assert made.nvrtc
    except DeviceUnavailable as error:
        pytest.skip(str(error))
    return made


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("(x < -y ? -y : x) < z ? z : (x < -y ? -y : x)", True),
        ("(x < 0 - y ? x : 0 - y) < z ? (x < 0 - y ? x : 0 - y) : z", True),
        ("larger(larger(x, -y), z)", False),
        ("(x < y ? y : x) < z ? z : (x < y ? y : x)", False),
        ("x < -y ? -y : x", False),
        ("x - y * z", False),
        ("larger(x < -y ? -y : x, z)", False),
        ("(short)-((const short*)a)[i] < 1 ? y : z", True),
        ("(short)((short)x + (short)y) < 1 ? y : z", False),
    ],
)
def test_kernels_that_may_be_compiled_wrongly_are_found(compiler, value, found):
    source = KERNEL.format(function=defects.MAXIMUM, value=value)
    ptx = compiler.ptx(source, "k").encode()
    assert defects.is_compiled_wrongly(ptx, 90, (13, 0)) is found
    assert not defects.is_compiled_wrongly(ptx, 90, defects.FIXED_IN)


def test_maxima_of_three_are_new_on_hopper(compiler):
    source = KERNEL.format(
        function=defects.MAXIMUM, value="(x < -y ? -y : x) < z ? z : (x < -y ? -y : x)"
    )
    assert not defects.is_compiled_wrongly(compiler.ptx(source, "k").encode(), 89, (13, 0))


def test_such_a_kernel_is_assembled_without_optimization(compiler, monkeypatch):
    asked = []
    compile = compiler.nvrtc.compile
    monkeypatch.setattr(compiler.nvrtc, "version", (13, 0))
    monkeypatch.setattr(
        compiler.nvrtc, "compile", lambda *given: asked.append(given[2]) or compile(*given)
    )
    value = "(x < -y ? -y : x) < z ? z : (x < -y ? -y : x)"
    compiler.compile(KERNEL.format(function="", value=value), "k")
    assert [defects.NO_OPTIMIZATION in options for options in asked] == [False, True]
    monkeypatch.setattr(compiler.nvrtc, "version", defects.FIXED_IN)
    compiler.compile(KERNEL.format(function="", value=value), "k")
    assert len(asked) == 3
