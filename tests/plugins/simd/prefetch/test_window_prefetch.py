"""Convolutions prefetch the windows of a later channel, in their buffer."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.plugins.simd.prefetch.test_panel_prefetch import CAPS, prefetches, program_of

from weft import Tensor
from weft.device.machine import MachineModel
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft.uop.args import PREFETCH_L1
from weft_simd import thresholds


def windows(channels: int, size: int, stride: int = 1, images: int = 2) -> Tensor:
    x = Tensor.empty(images, channels, size, size)
    return x.conv2d(Tensor.empty(32, channels, 3, 3), padding=1, stride=stride)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_part_of_each_row_is_prefetched(stride: int) -> None:
    lines = prefetches(program_of(windows(64, 56, stride)))
    assert lines and all("data1" in line and "if (" not in line for line in lines)
    assert len(lines) <= 5


def test_not_in_the_innermost_loop() -> None:
    nodes = program_of(windows(64, 56)).uops
    open_loops: list[object] = []
    for node in nodes:
        if node.op is Ops.RANGE:
            open_loops.append(node)
        elif node.op is Ops.ENDRANGE:
            open_loops.pop()
        elif node.op is Ops.LOAD and node.arg == PREFETCH_L1:
            inner = open_loops
            assert [loop.src[0].arg for loop in inner][-2:] == [64, 3]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lambda: windows(64, 14), id="a cache holds it"),
        pytest.param(lambda: windows(8, 128), id="few channels"),
    ],
)
def test_kernels_without_prefetches(found) -> None:
    assert not prefetches(program_of(found()))


def test_places_are_in_their_buffers_and_nothing_changes(monkeypatch) -> None:
    """The reference executes prefetches, and refuses what is outside of a buffer."""
    monkeypatch.setattr(thresholds, "PREFETCHED", 0)
    monkeypatch.setattr(thresholds, "UNPACKED", 0)
    monkeypatch.setattr(thresholds, "REUSED", 4)

    def found() -> Tensor:
        return Tensor.empty(1, 20, 7, 6).conv2d(Tensor.empty(8, 20, 3, 3), padding=1)

    short = dataclasses.replace(CAPS, machine=MachineModel(line_bytes=16))
    program = program_of(found(), short)
    assert any(u.op is Ops.LOAD and u.arg == PREFETCH_L1 for u in program.uops)
    numbers = np.random.default_rng(5)
    images = numbers.integers(-4, 5, (1, 20, 7, 6)).astype(np.float32)
    weights = numbers.integers(-4, 5, (8, 20, 3, 3)).astype(np.float32)
    plain = program_of(found(), dataclasses.replace(CAPS, cache_bytes=0))
    outs = [np.zeros((1, 8, 7, 6), np.float32) for _ in range(2)]
    for one, out in zip((program, plain), outs):
        run_program(one, [out, images, weights])
    np.testing.assert_array_equal(*outs)
    assert outs[0].any()
