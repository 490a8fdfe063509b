"""Iterations of a sum whose gates all pass run without gates: which, and that results are equal."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import lower
from weft.spec import linear
from weft.testing.reference import KINDS
from weft.testing.reference.run import run_program
from weft.uop import Ops
from weft_simd.transforms import range_check_elimination

VECTOR = simd_target(KINDS["vector"])
IMAGES, WINDOWS = 2, 8


def windows(side, padding, stride=1):
    """Sums over large windows of padded images: the kernel, and its buffers."""
    draw = np.random.default_rng(side)
    x = draw.integers(-3, 4, (IMAGES, 1, side, side)).astype(np.float32)
    y = draw.integers(-3, 4, (WINDOWS, 1, side, side)).astype(np.float32)
    a, b = (Tensor(array, device="REF").realize() for array in (x, y))
    (item,) = a.conv2d(b, padding=padding, stride=stride).schedule()
    for buffer in item.bufs:
        buffer.allocate()
    return item.ast, item.bufs


def choose(kernel):
    """Lanes along the windows, and a tile of all images."""
    places = {axis.extent: place for place, axis in enumerate(kernel.axes)}
    assert kernel.attempt(OptKind.VECTOR, places[WINDOWS], 4)
    assert kernel.attempt(OptKind.UPCAST, places[IMAGES], IMAGES)
    return kernel.applied


def gated(program):
    """The loads with gates in loops that add to an accumulator."""
    return [u for u in program.uops if u.op is Ops.LOAD and u.arg is None and len(u.src) == 2]


def computed(program, arrays):
    arrays = [array.copy() for array in arrays]
    arrays[0][:] = 99
    run_program(program, arrays)
    return arrays[0]


@pytest.mark.parametrize("side,padding,value", [(24, 1, 1.0), (13, 2, np.inf), (13, 3, np.nan)])
def test_gates_of_padding_are_evaluated_once_for_a_loop(side, padding, value, monkeypatch):
    ast, bufs = windows(side, padding)
    split = lower(ast, VECTOR, choose)
    monkeypatch.setattr(range_check_elimination, "run", lambda nodes, machine: list(nodes))
    plain = lower(ast, VECTOR, choose)
    linear.verify(split.uops)
    loops = [sum(u.op is Ops.RANGE for u in program.uops) for program in (split, plain)]
    assert gated(plain) and not gated(split)
    assert loops[0] == loops[1] + 1
    arrays = [buffer.numpy() for buffer in bufs]
    for array in arrays[1:]:
        array = array.reshape(-1)
        array[:: side + 1] = value  # on edges as well: zero times what is not finite is NaN
    assert np.array_equal(computed(split, arrays), computed(plain, arrays), equal_nan=True)


def test_a_loop_of_few_iterations_keeps_its_gates():
    program = lower(windows(4, 1)[0], VECTOR, choose)
    assert gated(program)


def test_a_stride_keeps_its_gates():
    ast, bufs = windows(24, 1, stride=2)
    linear.verify(lower(ast, VECTOR, choose).uops)
