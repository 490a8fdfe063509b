"""Throughputs by clang's name of a processor."""

from __future__ import annotations

import pytest

from weft.plugin import Ops, dtypes
from weft_cpu_clang.processors import pipes_of, throughputs


@pytest.mark.parametrize(
    ("processor", "vector_bytes", "wanted"),
    [
        ("znver4", 64, 1), ("znver5", 64, 2), ("icelake-server", 64, 2), ("sapphirerapids", 64, 2),
        ("icelake-client", 64, 1), ("tigerlake", 64, 1), ("", 64, 1), ("znver1", 32, 1),
        ("znver3", 32, 2), ("haswell", 32, 2), ("", 16, 1), ("apple-m1", 16, 4),
    ],
)  # fmt: skip
def test_multiply_adds_in_a_cycle(processor, vector_bytes, wanted):
    assert pipes_of(processor, vector_bytes)[Ops.MULACC] == wanted


def test_a_store_of_two_halves_takes_two_cycles():
    assert pipes_of("znver4", 64)[Ops.STORE] == 0.5


def test_scalar_arithmetic_has_no_vector_pipes():
    assert pipes_of("znver4", 0) == {}


def test_throughputs_count_lanes():
    found = {(t.op, t.dtype): t.per_cycle for t in throughputs(pipes_of("znver5", 64), 64, True)}
    assert found[Ops.MULACC, dtypes.float32] == 32.0
    assert found[Ops.MULACC, dtypes.float64] == 16.0
    assert all(t.op is not Ops.MULACC for t in throughputs(pipes_of("znver5", 64), 64, False))
