"""Movement against NumPy: every move, alone and in chains."""

from functools import partial

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor
from weft.base.errors import ArgumentError, IndexingError, ShapeError

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def filled(shape):
    return np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.int32).reshape(shape)


@st.composite
def chains(draw):
    """A shape, and moves as (name, our function, NumPy's function)."""
    a = filled(draw(SHAPES))
    steps = []
    b = a
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(["permute", "flip", "pad", "shrink", "reshape", "expand"]))
        if name == "permute":
            order = draw(st.permutations(range(b.ndim)))
            ours, theirs = (lambda x, o=order: x.permute(*o)), (lambda y, o=order: y.transpose(o))
        elif name == "flip":
            axis = draw(st.integers(0, b.ndim - 1))
            ours, theirs = (lambda x, i=axis: x.flip(i)), (lambda y, i=axis: np.flip(y, i))
        elif name == "pad":
            pads = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in b.shape]
            ours, theirs = (lambda x, p=pads: x.pad(p)), (lambda y, p=pads: np.pad(y, p))
        elif name == "shrink":
            starts = [draw(st.integers(0, s)) for s in b.shape]
            window = [(i, draw(st.integers(i, s))) for i, s in zip(starts, b.shape)]
            cut = tuple(slice(i, j) for i, j in window)
            ours, theirs = (lambda x, w=window: x.shrink(w)), (lambda y, c=cut: y[c])
        elif name == "reshape":
            new = draw(st.sampled_from([(b.size,), (1, b.size), (b.size, 1), b.shape[::-1]]))
            ours, theirs = (lambda x, n=new: x.reshape(n)), (lambda y, n=new: y.reshape(n))
        else:
            new = tuple(draw(st.integers(1, 3)) if s == 1 else s for s in b.shape)
            ours = partial(Tensor.expand, shape=new)
            theirs = partial(np.broadcast_to, shape=new)
        b = theirs(b)
        steps.append((ours, theirs))
    return a, steps


@given(chains())
def test_chains_of_moves(chain):
    a, steps = chain
    x, y = Tensor(a), a
    for ours, theirs in steps:
        x, y = ours(x), theirs(y)
    assert x.shape == y.shape
    np.testing.assert_array_equal((x + 1).numpy(), y + 1)
    np.testing.assert_array_equal(x.numpy(), y)


@given(SHAPES, st.data())
def test_joining_and_cutting(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    parts = [filled(shape) + 100 * i for i in range(data.draw(st.integers(1, 3)))]
    ours = [Tensor(p) for p in parts]
    np.testing.assert_array_equal(
        ours[0].cat(*ours[1:], dim=axis).numpy(), np.concatenate(parts, axis)
    )
    np.testing.assert_array_equal(ours[0].stack(*ours[1:], dim=axis).numpy(), np.stack(parts, axis))
    size = data.draw(st.integers(1, 3))
    cut = Tensor(parts[0]).split(size, axis)
    expected = np.split(parts[0], range(size, shape[axis], size), axis)
    assert [t.tolist() for t in cut] == [e.tolist() for e in expected]


@given(SHAPES, st.data())
def test_repeating_rolling_windows(shape, data):
    a = filled(shape)
    x = Tensor(a)
    axis = data.draw(st.integers(0, len(shape) - 1))
    times = [data.draw(st.integers(0, 2)) for _ in shape]
    np.testing.assert_array_equal(x.repeat(times).numpy(), np.tile(a, times))
    n = data.draw(st.integers(1, 3))
    np.testing.assert_array_equal(x.repeat_interleave(n, axis).numpy(), np.repeat(a, n, axis))
    shift = data.draw(st.integers(-5, 5))
    np.testing.assert_array_equal(x.roll(shift, axis).numpy(), np.roll(a, shift, axis))
    np.testing.assert_array_equal(x.roll(shift).numpy(), np.roll(a, shift))
    size = data.draw(st.integers(1, shape[axis]))
    step = data.draw(st.integers(1, 3))
    windows = np.lib.stride_tricks.sliding_window_view(a, size, axis)
    windows = windows[tuple(slice(None, None, step if i == axis else None) for i in range(a.ndim))]
    np.testing.assert_array_equal(x.unfold(axis, size, step).numpy(), windows)


MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=4), st.data())
def test_padding_modes(shape, data):
    a = filled(shape)
    mode = data.draw(st.sampled_from(sorted(MODES)))
    pads = [(data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))) for _ in shape]
    got = Tensor(a).pad(pads, mode=mode).numpy()
    np.testing.assert_array_equal(got, np.pad(a, pads, mode=MODES[mode]))


def test_padding_with_a_value_and_below_zero():
    a = filled((3, 4))
    got = Tensor(a).pad(((1, -1), (-2, 1)), value=7).numpy()
    np.testing.assert_array_equal(got, np.pad(a[:2, 2:], ((1, 0), (0, 1)), constant_values=7))
    np.testing.assert_array_equal(Tensor(a).pad((1, 0)).numpy(), np.pad(a, ((0, 0), (1, 0))))
    np.testing.assert_array_equal(
        Tensor(a).pad((1, 0, 0, 2), value=-1).numpy(),
        np.pad(a, ((0, 2), (1, 0)), constant_values=-1),
    )


def test_named_moves():
    a = filled((2, 3, 4))
    x = Tensor(a)
    np.testing.assert_array_equal(x.transpose(0, 2).numpy(), a.transpose(2, 1, 0))
    np.testing.assert_array_equal(x.T.numpy(), a.transpose(1, 0, 2))
    np.testing.assert_array_equal(x.flatten(1).numpy(), a.reshape(2, 12))
    np.testing.assert_array_equal(x.unflatten(2, (2, -1)).numpy(), a.reshape(2, 3, 2, 2))
    assert x.unsqueeze(-1).shape == (2, 3, 4, 1) and x.unsqueeze(0).squeeze().shape == (2, 3, 4)
    np.testing.assert_array_equal(Tensor([1, 2, 3]).diag().numpy(), np.diag([1, 2, 3]))
    np.testing.assert_array_equal(Tensor(a[0, :, :3]).diagonal().numpy(), np.diag(a[0, :, :3]))
    np.testing.assert_array_equal(
        x.rearrange("a b (c d) -> (c a) d b", c=2).numpy(),
        a.reshape(2, 3, 2, 2).transpose(2, 0, 3, 1).reshape(4, 2, 3),
    )
    np.testing.assert_array_equal(x.rearrange("... c -> c ...").numpy(), a.transpose(2, 0, 1))
    np.testing.assert_array_equal(x.rearrange("a b c -> a 1 (b c)").numpy(), a.reshape(2, 1, 12))
    grids = Tensor([1, 2]).meshgrid(Tensor([3, 4, 5]), indexing="xy")
    for got, expected in zip(grids, np.meshgrid([1, 2], [3, 4, 5], indexing="xy")):
        np.testing.assert_array_equal(got.numpy(), expected)
    assert [c.shape for c in Tensor(a).chunk(3, 2)] == [(2, 3, 2), (2, 3, 2)]


@pytest.mark.parametrize(
    "wrong, error",
    [
        (lambda x: x.reshape(5), ShapeError),
        (lambda x: x.reshape(-1, -1), ShapeError),
        (lambda x: x.expand(3, 3), ShapeError),
        (lambda x: x.permute(0, 0), ShapeError),
        (lambda x: x.shrink(((0, 3), (0, 3))), ShapeError),
        (lambda x: x.pad(((0, 0),)), ShapeError),
        (lambda x: x.pad((1, 1), mode="mirror"), ArgumentError),
        (lambda x: x.cat(x.reshape(3, 2)), ShapeError),
        (lambda x: x.split([1, 1], 1), ShapeError),
        (lambda x: x.transpose(0, 2), IndexingError),
        (lambda x: x.rearrange("a b c -> a"), ArgumentError),
        (lambda x: x + Tensor([1, 2]), ShapeError),
    ],
)
def test_errors_name_the_arguments(wrong, error):
    with pytest.raises(error) as caught:
        wrong(Tensor(filled((2, 3))))
    assert caught.value.asked


def test_empty_and_0d():
    x = Tensor(np.zeros((0, 3), np.float32))
    assert x.T.shape == (3, 0) and x.reshape(3, 0).numpy().shape == (3, 0)
    assert (x + 1).numpy().shape == (0, 3) and x.tolist() == []
    assert x.cat(Tensor(np.ones((2, 3), np.float32))).numpy().tolist() == [[1.0] * 3] * 2
    s = Tensor(3.0)
    assert s.reshape(1, 1).numpy().tolist() == [[3.0]] and s.expand(2).tolist() == [3.0, 3.0]
    assert s.unsqueeze(0).shape == (1,) and s.permute().shape == ()
