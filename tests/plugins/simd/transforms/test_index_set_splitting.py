"""Loops along memory cut where conditions change: the form of kernels, and what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.analysis.ranges import ranges_of
from weft.codegen.indexing import one_hot_gather
from weft.codegen.lowering import lowerer
from weft.spec import lowered
from weft.uop import Ops
from weft_simd.transforms import index_set_splitting

LANES = 16
DEVICES = ("REF:vector", "CPU")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def on(device, array):
    return Tensor(array.copy(), device=device).realize()


def cut(result, lanes=LANES):
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    before = one_hot_gather.run(lowerer.run(item.ast))
    after = index_set_splitting.run(before, lanes)
    lowered.verify(after)
    return before, after


def lengths(sink):
    """How many neighbours each STORE goes through."""
    inner = [max(ranges_of(store), key=lambda r: r.arg.id, default=None) for store in sink.src]
    return [loop.src[0].arg for loop in inner]


def test_padding_is_a_stretch_of_its_own_without_conditions():
    _, sink = cut(on("REF", numbers(20, 30)).pad((4, 5)).contiguous())
    assert lengths(sink) == [4, 30, 5]
    assert not any(node.op is Ops.INDEX and len(node.src) > 2 for node in sink.toposort())
    rows = frozenset.intersection(*map(ranges_of, sink.src))
    assert [loop.src[0].arg for loop in rows] == [20]


def test_conditions_on_rows_stay():
    before, sink = cut(on("REF", numbers(20, 30)).pad(((2, 1), (0, 0))).contiguous())
    assert sink is before


def test_sums_and_targets_without_lanes_are_left_alone():
    x = on("REF", numbers(20, 30))
    for result, lanes in ((x.pad((4, 5)).contiguous(), 0), (x.pad((4, 5)).sum(1), LANES)):
        before, sink = cut(result, lanes)
        assert sink is before


def test_one_long_row_is_not_cut_for_threads_share_it():
    x = on("REF", numbers(1 << 17))
    before, sink = cut(x.pad((4, 5)).contiguous())
    assert sink is before


def test_no_more_segments_than_are_profitable():
    parts = [on("REF", numbers(20, 2, seed=i)) for i in range(40)]
    before, sink = cut(Tensor.cat(*parts, dim=1))
    assert sink is before


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_padding_of_any_kind(device, mode):
    name = {"edge": "replicate", "wrap": "circular"}.get(mode, mode)
    x = numbers(3, 19, 37)
    got = on(device, x).pad(((0, 0), (3, 2), (1, 5)), mode=name).contiguous().numpy()
    np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (3, 2), (1, 5)), mode=mode))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.float64])
def test_adjacent_parts(device, dtype):
    parts = [(numbers(18, n, seed=n) * 3).astype(dtype) for n in (1, 17, 5, 64)]
    got = Tensor.cat(*(on(device, part) for part in parts), dim=1).numpy()
    np.testing.assert_array_equal(got, np.concatenate(parts, 1))
    moved = Tensor.stack(*(on(device, parts[1]) for _ in range(3)), dim=2).numpy()
    np.testing.assert_array_equal(moved, np.stack([parts[1]] * 3, 2))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("turn", [-40, -5, 1, 16, 30])
def test_rolled_reversed_and_permuted_reads(device, turn):
    x = numbers(18, 41)
    there = on(device, x)
    np.testing.assert_array_equal(there.roll(turn, 1).contiguous().numpy(), np.roll(x, turn, 1))
    back = there.roll(turn, 1).flip(1).contiguous().numpy()
    np.testing.assert_array_equal(back, np.roll(x, turn, 1)[:, ::-1])
    turned = there.T.roll(turn, 1).contiguous().numpy()
    np.testing.assert_array_equal(turned, np.roll(x.T, turn, 1))


@pytest.mark.parametrize("device", DEVICES)
def test_values_that_are_no_numbers_stay_in_their_stretch(device):
    x = numbers(17, 20)
    x[0], x[1] = np.nan, np.inf
    got = (on(device, x).pad((3, 4)) + 1).contiguous().numpy()
    np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (3, 4))) + 1)
    which = Tensor.arange(40, device=device).reshape(1, 40)
    chosen = (which < 7).where(on(device, numbers(17, 40)), which.cast(dtypes.float32)).numpy()
    want = np.where(np.arange(40) < 7, numbers(17, 40), np.arange(40, dtype=np.float32))
    np.testing.assert_array_equal(chosen, want)


def test_in_place_updates():
    x = numbers(18, 40)
    there = on("CPU", x)
    there.assign((Tensor.arange(40) < 9).where(there * 2, there - 1))
    want = np.where(np.arange(40) < 9, x * 2, x - 1)
    np.testing.assert_array_equal(there.numpy(), want)
