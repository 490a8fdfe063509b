"""Views share the value of their base: which methods give one, and what a write does to them."""

import gc
import itertools
import os

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, GradientError
from weft.tensor.alias import base_of, break_alias, is_view, layout, overlaps, views_of
from weft.uop import Ops

A = np.arange(12, dtype=np.float32).reshape(3, 4)
with_kernels = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle runs no kernels"
)


def stored():
    return Tensor(A.copy()).contiguous().realize()


VIEWS = {
    "index": (lambda x: x[1], lambda a: a[1]),
    "slice": (lambda x: x[1:, 1:3], lambda a: a[1:, 1:3]),
    "steps": (lambda x: x[::2, ::-2], lambda a: a[::2, ::-2]),
    "new axis": (lambda x: x[:, None, 2], lambda a: a[:, None, 2]),
    "view of a view": (lambda x: x[1:].T[::2][:, 0], lambda a: a[1:].T[::2][:, 0]),
    "reshape": (lambda x: x.reshape(2, 6), lambda a: a.reshape(2, 6)),
    "reshape of rows": (lambda x: x[1:].reshape(-1), lambda a: a[1:].reshape(-1)),
    "flatten": (lambda x: x.flatten(), lambda a: a.ravel()),
    "ravel": (lambda x: x.ravel(), lambda a: a.ravel()),
    "view": (lambda x: x.view(4, 3), lambda a: a.reshape(4, 3)),
    "T": (lambda x: x.T, lambda a: a.T),
    "mT": (lambda x: x.mT, lambda a: a.T),
    "permute": (lambda x: x.permute(1, 0), lambda a: a.T),
    "swapaxes": (lambda x: x.swapaxes(0, 1), lambda a: a.swapaxes(0, 1)),
    "movedim": (lambda x: x.movedim(0, 1), lambda a: np.moveaxis(a, 0, 1)),
    "flip": (lambda x: x.flip(0), lambda a: np.flip(a, 0)),
    "rot90": (lambda x: x.rot90(), lambda a: np.rot90(a)),
    "squeeze": (lambda x: x[:1].squeeze(0), lambda a: a[:1].squeeze(0)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None]),
    "shrink": (lambda x: x.shrink(((0, 2), None)), lambda a: a[:2]),
    "diagonal": (lambda x: x.diagonal(1), lambda a: np.einsum("ii->i", a[:3, 1:4])),
    "split": (lambda x: x.split(2)[0], lambda a: a[:2]),
    "chunk": (lambda x: x.chunk(2, 1)[1], lambda a: a[:, 2:]),
    "unbind": (lambda x: x.unbind(1)[2], lambda a: a[:, 2]),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:3]),
    "windows apart": (lambda x: x.unfold(1, 2, 2), lambda a: a.reshape(3, 2, 2)),
    "detach": (lambda x: x.detach(), lambda a: a[:]),
    "to where it is": (lambda x: x.to(x.device), lambda a: a[:]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("state", ["pending", "realised", "computed"])
def test_a_view_shares_its_value_with_its_base(name, state):
    view_of, expected_of = VIEWS[name]
    x = {"pending": lambda: Tensor(A), "realised": stored, "computed": lambda: stored() + 0}[
        state
    ]()
    a = A.copy()
    view, expected = view_of(x), expected_of(a)
    doubled, before = view * 2, expected * 2
    assert is_view(view) and base_of(view) is x
    view += 1
    expected += 1
    np.testing.assert_array_equal(x.numpy(), a)
    x[1] = -5
    a[1] = -5
    np.testing.assert_array_equal(view.numpy(), expected)
    view[...] = 7
    expected[...] = 7
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(doubled.numpy(), before)


COPIES = {
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
    "cast": lambda x: x.cast(dtypes.float32),
    "a reshape that strides cannot say": lambda x: x.T.reshape(-1),
    "a view of that": lambda x: x.T.reshape(-1).reshape(4, 3)[1:],
    "a list": lambda x: x[[0, 1]],
    "a tensor": lambda x: x[Tensor([0, 2])],
    "a mask": lambda x: x[x >= 0],
    "a truth": lambda x: x[True],
    "pad": lambda x: x.pad(((0, 0), (0, 0))),
    "repeat": lambda x: x.repeat(1, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(1, 0),
    "roll": lambda x: x.roll(0, 0),
    "cat of one": lambda x: x.cat(),
    "stack of one": lambda x: x.stack(),
    "diag": lambda x: x.diag(),
    "computed": lambda x: x + 0,
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shares_nothing(name):
    x = stored()
    copy = COPIES[name](x)
    before = copy.numpy()
    x += 1
    np.testing.assert_array_equal(copy.numpy(), before)
    copy[...] = 50
    np.testing.assert_array_equal(x.numpy(), A + 1)


def test_the_base_may_be_gone():
    first, rest = (lambda x: (x[0], x[1:]))(stored())
    gc.collect()
    first[...] = rest[0]
    assert first.tolist() == A[1].tolist()


def test_an_update_of_an_item_writes_once():
    x = stored()
    x[0] += 1
    assert x.uop.base.op is Ops.ASSIGN and x.uop.base.src[0].base.op is Ops.BUFFER
    np.testing.assert_array_equal(x[0].numpy(), A[0] + 1)


@with_kernels
def test_a_write_through_a_permuted_view_leaves_memory_in_order():
    x = Tensor(A) + 1
    y = x.T
    y += 1
    x.realize()
    memory = x.uop.base
    y += 1
    x.realize()
    assert x.uop.base is memory
    np.testing.assert_array_equal(x.numpy(), A + 3)


def test_an_expanded_view_is_read_and_not_written():
    x = stored()
    wide = x[0].expand(2, 4)
    x[0] = 9
    assert wide.tolist() == [[9.0] * 4] * 2
    with pytest.raises(ArgumentError, match="contiguous"):
        wide.assign(1)
    with pytest.raises(ArgumentError, match="contiguous"):
        wide += 1
    wide.contiguous().assign(1)
    with pytest.raises(ArgumentError):
        x.unfold(1, 2, 1).assign(0)


STATES = {
    "pending": lambda x: x,
    "realised": lambda x: x.realize(),
    "computed": lambda x: x + 0,
    "differentiated": lambda x: x.requires_grad_() * 1,
}

EXPANDED_AND_SHRUNK = {
    "one of many": (lambda x: x[0].expand(3, 6)[1], lambda a: a[0]),
    "one of many backwards": (
        lambda x: x[:, None].expand(4, 5, 6)[:, 3, ::-2],
        lambda a: a[:, ::-2],
    ),
    "windows apart": (lambda x: x.T.unfold(0, 2, 2), lambda a: a.T.reshape(3, 2, 4).swapaxes(1, 2)),
    "windows with gaps": (
        lambda x: x.unfold(1, 2, 3)[::-1],
        lambda a: a.reshape(4, 2, 3)[::-1, :, :2],
    ),
    "one window": (lambda x: x.unfold(0, 4, 1), lambda a: a.T[None]),
}


@pytest.mark.parametrize("name", EXPANDED_AND_SHRUNK)
@pytest.mark.parametrize("state", STATES)
def test_an_expanded_view_without_repetition_is_written(name, state):
    view_of, expected_of = EXPANDED_AND_SHRUNK[name]
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = STATES[state](Tensor(a))
    a = a.copy()
    view, expected = view_of(x), expected_of(a)
    view.assign(view * -0.0)
    expected *= -0.0
    np.testing.assert_array_equal(x.numpy().view(np.int32), a.view(np.int32))


def test_a_bitcast_of_the_same_size_is_a_view():
    x = Tensor([1.0, 2.0]).realize()
    bits = x.view(dtypes.int32)
    bits[0] = 0x40800000
    assert x.tolist() == [4.0, 2.0]
    x[1] = 1.0
    assert bits.tolist() == [0x40800000, 0x3F800000]


WIDTHS = ("uint8", "int16", "int32", "int64")
BELOW = {
    "all": lambda a: a,
    "rows": lambda a: a[1:],
    "rows backwards": lambda a: a[::-2],
    "part": lambda a: a[:, 8:],
    "one row": lambda a: a[2],
    "other axes": lambda a: a.reshape(2, 2, 16)[:, 1],
}
ABOVE = {
    "all": lambda a: a,
    "first": lambda a: a[..., :1],
    "every other": lambda a: a[..., ::2],
    "backwards": lambda a: a[..., ::-1],
    "turned": lambda a: a.swapaxes(0, -1),
}


@pytest.mark.parametrize("state", ["pending", "realised", "computed"])
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("below", BELOW)
def test_a_bitcast_to_another_size_is_a_view(below, above, state):
    """Each step of all pairs of widths is one schedule, whose kernels are compiled together."""
    cases = []
    for number, (own, other) in enumerate(itertools.permutations(WIDTHS, 2)):
        a = (np.arange(64) + number).astype(own).reshape(4, 16)
        x = STATES[state](Tensor(a))
        a = a.copy()
        whole, expected_whole = BELOW[below](x).bitcast(other), BELOW[below](a).view(other)
        view, expected = ABOVE[above](whole), ABOVE[above](expected_whole)
        before, expected_before = view * 1, expected.copy()
        assert is_view(view) and base_of(view) is x
        view[...] = 5
        expected[...] = 5
        cases.append((f"{own} as {other}", x, a, view, expected, whole, expected_whole,
                      before, expected_before))  # fmt: skip
    Tensor.realize(*(x for _, x, *_ in cases))
    for name, x, a, *_ in cases:
        assert x.numpy().tobytes() == a.tobytes(), name
        x[1] = 9
        a[1] = 9
    for place in (3, 5, 7):  # the view, the whole, and what was computed before
        Tensor.realize(*(case[place] for case in cases))
        for case in cases:
            np.testing.assert_array_equal(case[place].numpy(), case[place + 1], case[0])


def test_a_bitcast_that_memory_cannot_show_is_a_copy():
    x = Tensor(np.arange(16, dtype=np.int16).reshape(4, 4)).realize()
    turned, spread = x.T.bitcast("int32"), x[:, ::2].bitcast("int32")
    x += 1
    assert turned[0].tolist() == [4 << 16, 12 << 16 | 8] and spread[0].tolist() == [2 << 16]
    turned += 1
    assert x[0].tolist() == [1, 2, 3, 4] and base_of(turned[1:]) is turned
    numbers = Tensor([1, 2]).realize()
    with pytest.raises(GradientError, match="detached"):
        numbers.bitcast("float16").assign(Tensor([1.0], requires_grad=True).half())


def test_replacing_a_base_leaves_its_views_together():
    x = stored()
    one, other = x[0], x[:, 0]
    x[0, 1] = 1  # `one` has no node now
    x.replace(Tensor(A * 0))
    one[0] = 100
    assert other.tolist() == [100.0, 4.0, 8.0] and not x.numpy().any()
    assert base_of(one) is base_of(other) and views_of(x) == []
    break_alias(one)
    one[0] = 5
    assert other.tolist() == [100.0, 4.0, 8.0]


def test_views_that_are_gone_are_forgotten():
    x = stored()
    for _ in range(1000):
        x[0]
    assert len(x._alias) < 200


def test_layouts():
    shape = (3, 4)
    assert layout(shape, ((Ops.PERMUTE, (1, 0)),)).strides == (1, 4)
    assert layout(shape, ((Ops.PERMUTE, (1, 0)), (Ops.RESHAPE, (12,)))) is None
    assert not overlaps(layout(shape, ((Ops.FLIP, (True, True)),)))
    assert overlaps(layout((1, 4), ((Ops.EXPAND, (3, 4)),)))


def test_a_view_of_a_leaf():
    w = Tensor([1.0, 2.0], requires_grad=True)
    view = w[:1]
    for write in (lambda: view.assign(3), lambda: view.__iadd__(1), lambda: view.__setitem__(0, 1)):
        with pytest.raises(GradientError, match="no_grad"):
            write()
    with Tensor.no_grad():
        view += 4
    w.detach()[1] = 7.0
    (view * w[1] * 2).sum().backward()
    assert w.tolist() == [5.0, 7.0] and w.grad.tolist() == [14.0, 10.0]


def test_a_computed_value_that_is_overwritten_is_a_constant():
    w, c = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0]).realize()
    y, z = w * 2, w * 3
    view, detached = y[1:], y.detach()
    y[...] = c
    z.assign(c)
    assert not (y.requires_grad or view.requires_grad or z.requires_grad or detached.requires_grad)
    (w * c * y).sum().backward()
    assert w.grad.tolist() == [9.0, 16.0]
    view *= w[:1]
    assert y.requires_grad and view.requires_grad and not detached.requires_grad


@pytest.mark.parametrize("view_of", [lambda x: x[:], lambda x: x.T, lambda x: x.detach()])
@pytest.mark.parametrize("state", ["pending", "realised", "computed"])
def test_views_of_a_later_leaf_are_constants(view_of, state):
    x = STATES[state](Tensor([1.0, 2.0]))
    view = view_of(x)
    view.clone().realize()
    x.requires_grad_()
    (x * view).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    with Tensor.no_grad():
        x += 1
    assert view.tolist() == [2.0, 3.0]


@pytest.mark.parametrize("state", ["pending", "realised"])
@pytest.mark.parametrize("through", [lambda w: w, Tensor.detach, lambda w: w[:]])
def test_a_leaf_that_is_overwritten_with_a_constant_is_no_other_name_for_it(through, state):
    w, x = Tensor([1.0, 2.0], requires_grad=True), Tensor(np.array([3.0, 4.0], np.float32))
    w, x = STATES[state](w), STATES[state](x)
    before = w * x
    with Tensor.no_grad():
        through(w).assign(x)
    (before + x * x + w).sum().backward()
    assert w.grad.tolist() == [4.0, 5.0] and w.tolist() == [3.0, 4.0]


def test_a_leaf_is_not_written_with_itself():
    w = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(GradientError, match="no_grad"):
        w[...] = w
    with pytest.raises(GradientError, match="no_grad"):
        w[:1].assign(w[:1])


def test_a_differentiable_write_to_a_part_may_read_the_rest():
    w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = Tensor([1.0, 2.0, 4.0]).realize()
    x[1:] -= (w * x).sum()
    assert x.tolist() == [1.0, -15.0, -13.0]
    x.sum().backward()
    assert w.grad.tolist() == [-2.0, -4.0, -8.0]


@with_kernels
@pytest.mark.parametrize("settle", [Tensor.realize, Tensor.kernelize, Tensor.numpy])
def test_a_differentiable_write_to_a_pending_kernel(settle):
    w, x = Tensor([1.0, 2.0], requires_grad=True), Tensor(np.array([3.0, 4.0], np.float32))
    x.kernelize()
    x[...] = x + w
    settle(x)
    x[:1] *= 2
    (x * x).sum().backward()
    assert w.grad.tolist() == [32.0, 12.0]


def test_a_write_through_a_view_of_a_computed_value_is_differentiated():
    w, v = Tensor([1.0, 2.0, 3.0], requires_grad=True), Tensor([5.0], requires_grad=True)
    y = w * 2
    part, other = y[1:], y[::2]
    part *= v
    y[0] = v[0] * v[0]
    (other.sum() + part.sum()).backward()
    assert w.grad.tolist() == [0.0, 10.0, 20.0]
    assert v.grad.tolist() == [2 * 5.0 + 4.0 + 6.0 + 6.0]


def test_a_constant_that_gets_a_computed_part_through_a_view():
    w = Tensor([3.0], requires_grad=True)
    out = Tensor.zeros(2).contiguous()
    row = out[:1]
    row[...] = w * 2
    assert row.requires_grad and out.requires_grad
    (out * out).sum().backward()
    assert w.grad.tolist() == [24.0]
    with pytest.raises(GradientError, match="detach"):
        out.detach()[1:] = w
