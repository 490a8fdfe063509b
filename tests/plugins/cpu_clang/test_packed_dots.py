"""Packed dot products: what each level of x86-64 has, and products of quantised weights there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from weft.plugin import CompileError, DeviceUnavailable, Ops, PairDot, UOp, dtypes
from weft_cpu_clang import packed_dots, toolchain
from weft_cpu_clang.capabilities import describe
from weft_cpu_clang.levels import LEVELS, NATIVE, VARIABLE
from weft_cpu_clang.renderer import ClangRenderer, clang_dialect

PROGRAM = """
import sys
import numpy as np
from weft import Tensor
from weft.quantization import linear_int8, linear_int16, quantize
source = np.random.default_rng(int(sys.argv[1]))
for name in sys.argv[2:]:
    rows, columns = (int(n) for n in source.integers(1, 9, 2))
    length = 256 * int(source.integers(1, 4))
    weight = quantize(Tensor(source.standard_normal((columns, length)).astype("f4")), name)
    x = source.standard_normal((rows, length)).astype("f4")
    groups = x.reshape(rows, -1, 32)
    for product, largest in ((linear_int8, 127), (linear_int16, 32639)):
        scale = np.abs(groups).max(-1, keepdims=True) / np.float32(largest)
        near = (np.round(groups / scale) * scale).reshape(x.shape)
        got = product(Tensor(x), weight).numpy()
        # an activation between two integers may be rounded to the other one
        error = np.abs(got - near @ weight.numpy().T).max()
        assert error < 1.27 / largest * np.sqrt(length), (name, rows, columns, length, error)
"""


def set_level(monkeypatch, level: str) -> toolchain.Toolchain:
    monkeypatch.setenv(VARIABLE, level)
    toolchain.find_toolchain.cache_clear()
    try:
        return toolchain.find_toolchain()
    except (CompileError, DeviceUnavailable) as reason:
        pytest.skip(str(reason.because))
    finally:
        toolchain.find_toolchain.cache_clear()


@pytest.mark.parametrize(
    ("level", "name"),
    [("x86-64", None), ("x86-64-v2", "uint7"), ("x86-64-v3", "uint7"), ("x86-64-v4", "uint7")],
)
def test_a_level_adds_products_of_bytes_in_pairs(monkeypatch, level, name):
    tools = set_level(monkeypatch, level)
    assert tools.facts.pairs == (() if name is None else (name,))
    units = describe(tools).compute.pair_dots
    lanes = tools.facts.vector_bytes // 4
    assert all(unit.bits == 7 and max(unit.lanes) == lanes for unit in units)


@pytest.mark.parametrize("level", [*LEVELS, NATIVE])
def test_products_of_quantised_weights_at_every_level(monkeypatch, level):
    set_level(monkeypatch, level)
    command = [sys.executable, "-c", PROGRAM, str(len(level)), "q4_0", "q8_0", "q4_k", "q6_k"]
    subprocess.run(command, env=os.environ | {"WEFT_DEVICE": "CPU"}, check=True)


def test_probes():
    vnni = {"__AVX512VNNI__", "__AVX512BW__", "__AVX2__"}
    assert set(packed_dots.probes(64, vnni)) == {"int16", "uint8"}
    assert packed_dots.probes(32, vnni) == {}
    assert "pmaddubsw512" in packed_dots.probe_of_bytes(64, vnni)
    assert "pmaddubsw256" in packed_dots.probe_of_bytes(32, vnni)
    assert packed_dots.probe_of_bytes(16, vnni) == ""
    assert set(packed_dots.probes(16, {"__ARM_FEATURE_DOTPROD"})) == {"int8"}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (PairDot(dtypes.uint8, dtypes.int32, (8,), dtypes.int8), "__builtin_ia32_vpdpbusd256(c, a"),
        (PairDot(dtypes.uint8, dtypes.int32, (8,), dtypes.int8, 7), "__builtin_ia32_pmaddubsw256("),
        (PairDot(dtypes.int8, dtypes.int32, (4,)), "__builtin_neon_vdotq_s32("),
    ],
)
def test_the_text_of_a_packed_dot_product(unit, expected):
    words = UOp(Ops.NOOP, dtypes.int.vec(unit.lanes[0]))
    call = UOp(Ops.DOT, words.dtype, (words, words, words), unit)
    text = ClangRenderer(clang_dialect()).dot(call, ("a", "b", "c"))
    assert expected in text
    assert all(name in text for name in "abc")
