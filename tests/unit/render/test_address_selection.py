"""Loads with one gate share a selected address; others keep their gates."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.render.address_selection import ZEROS
from weft.uop import Ops, UOp


class Selecting(CStyleRenderer):
    selects_addresses = True


SELECTING = Selecting(CDialect(vectors=VectorStyle()))


def number(value):
    return UOp.const(dtypes.int, value)


def below(loop, end):
    return loop.alu(Ops.CMPLT, number(end))


def source_of(write, offsets, gates, loops, other=0.0, lanes=1):
    """The source of a kernel that adds gated loads at these offsets from its last loop."""
    dtype = dtypes.float.vec(lanes) if lanes > 1 else dtypes.float
    total = UOp.const(dtype, 1.0)
    data = write.buffer(1, dtypes.float)
    for offset, gate in zip(offsets, gates):
        at = loops[-1] + number(offset) if offset else loops[-1]
        total = total + data.index(at, gate).load(UOp.const(dtype, other), dtype=dtype)
    store = write.buffer(0, dtypes.float).index(loops[-1]).store(total)
    return SELECTING.render(write.program(store, loops=loops))


def test_loads_of_one_gate_share_an_address(write):
    loop = UOp.range(64, 0)
    gate = below(loop, 50)
    source = source_of(write, (1, 0, 2), (gate, gate, gate), [loop])
    assert "static const float zeros_float[64] = {0};" in source
    assert source.count("zeros_float + 1;") == 1
    assert "place0[0]" in source and "place0[-1]" in source and "place0[1]" in source
    assert ": 0.0f" not in source


def test_further_conditions_select_again(write):
    loop = UOp.range(64, 0)
    gate = below(loop, 50)
    more = gate & below(number(3), 0).alu(Ops.CMPNE, below(loop, 7))
    source = source_of(write, (0, 1, 2), (gate, gate, more), [loop])
    assert source.count("? place0 : zeros_float)[2]") == 1


def test_distant_loads_have_addresses_of_their_own(write):
    loop = UOp.range(64, 0)
    gate = below(loop, 50)
    offsets = (0, 1, ZEROS, ZEROS + 1)
    source = source_of(write, offsets, (gate,) * 4, [loop])
    assert "place1[1]" in source and "place0[1]" in source


@pytest.mark.parametrize(
    ("offsets", "other"), [((0,), 0.0), ((0, 1), 2.0), ((0, 1), -0.0)], ids=str
)
def test_gates_stay(write, offsets, other):
    """Of a single scalar, and of loads that are not zero where their gate is false."""
    loop = UOp.range(64, 0)
    gate = below(loop, 50)
    source = source_of(write, offsets, (gate,) * len(offsets), [loop], other)
    assert "zeros" not in source and "? data1[" in source


def test_a_gate_that_is_invariant_in_the_loop_stays(write):
    outer = UOp.range(8, 0)
    gate = below(outer, 5)
    inner = UOp.range(gate.where(number(40), number(60)), 1)
    source = source_of(write, (0, 1), (gate, gate), [outer, inner])
    assert "zeros" not in source


def test_one_vector_is_enough(write):
    loop = UOp.range(64, 0)
    source = source_of(write, (0,), (below(loop, 50),), [loop], lanes=4)
    assert "? data1 + (ridx0) : zeros_float" in source and "? *(" not in source


@pytest.mark.parametrize("padding", [1, 2, (2, 0, 1, 3)], ids=str)
@pytest.mark.parametrize("size", [5, 13, 24])
def test_padded_windows(padding, size):
    """Infinities in the padding's place show whether a load reads anything but zeros there."""
    rng = np.random.default_rng(size)
    image = rng.standard_normal((2, 3, size, size)).astype(np.float32)
    weight = rng.standard_normal((4, 3, 3, 3)).astype(np.float32)
    left, right, top, bottom = (padding,) * 4 if isinstance(padding, int) else padding
    padded = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows.astype(np.float64), weight)
    surrounded = np.full(image.size + 2 * ZEROS, np.inf, np.float32)
    surrounded[ZEROS:-ZEROS] = image.ravel()
    inner = Tensor(surrounded)[ZEROS:-ZEROS].reshape(image.shape)
    found = inner.conv2d(Tensor(weight), padding=padding)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-4)
