"""vmap: axes, containers, closures, random numbers, nesting, jit, and what it refuses."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, nn
from weft.base.errors import ArgumentError, CaptureError, DTypeError, ShapeError, WrongKind

RANDOM = np.random.default_rng(7)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("out", [0, 1, -1])
def test_axes(axis, out):
    x = numbers(2, 3, 4)
    found = weft.vmap(lambda v: v.cumsum(0) * 2, axis, out)(Tensor(x))
    rows = [np.cumsum(row, 0) * 2 for row in np.moveaxis(x, axis, 0)]
    close(found, np.moveaxis(np.stack(rows), 0, out))


def test_an_argument_that_is_the_same_for_all():
    x, w = numbers(5, 4), numbers(3, 4)
    close(weft.vmap(lambda w, v: w @ v, (None, 0))(Tensor(w), Tensor(x)), x @ w.T)
    close(weft.vmap(lambda v, w: w @ v)(Tensor(x), Tensor(np.stack([w] * 5))), x @ w.T)
    scale = Tensor(w)  # of the closure
    close(weft.vmap(lambda v: scale @ v)(Tensor(x)), x @ w.T)


def test_arguments_by_name_are_the_same_for_all():
    x, w = numbers(5, 4), numbers(5, 4)
    close(weft.vmap(lambda v, other: (v * other).sum())(Tensor(x), other=Tensor(w[0])), x @ w[0])


def test_scalars_broadcast_to_samples_of_more_axes():
    x, w = numbers(6), numbers(3)
    close(weft.vmap(lambda v: v * Tensor(w) + 1)(Tensor(x)), np.outer(x, w) + 1)
    close(weft.vmap(lambda v: Tensor(w).sum() * v)(Tensor(x)), x * w.sum())


Pair = namedtuple("Pair", "first second")


@dataclass
class Record:
    value: Tensor
    scale: Tensor


def test_containers():
    x, w = numbers(5, 4), numbers(4, 5)
    given = {"x": Tensor(x), "rest": [Tensor(w)]}

    def function(d):
        return Pair(d["x"] * 2, {"sum": d["x"] + d["rest"][0]})

    found = weft.vmap(function, in_axes=({"x": 0, "rest": [1]},))(given)
    assert isinstance(found, Pair)
    close(found.first, x * 2)
    close(found.second["sum"], x + w.T)
    moved = weft.vmap(function, ({"x": 0, "rest": 1},), out_axes=(1, {"sum": 0}))(given)
    close(moved.first, x.T * 2)
    close(moved.second["sum"], x + w.T)
    record = weft.vmap(lambda r: Record(r.value * r.scale, r.scale))(
        Record(Tensor(x), Tensor(x[:, 0]))
    )
    close(record.value, x * x[:, :1])


def test_axes_of_dicts_are_found_by_name():
    x, w = Tensor(numbers(5, 4)), Tensor(numbers(4, 5))
    given = {"x": x, "w": w}
    found = weft.vmap(lambda d: d["x"] + d["w"], ({"w": 1, "x": 0},))(given)
    close(found, x.numpy() + w.numpy().T)
    for axes in ({"x": 0, "y": 1}, [0, 1]):
        with pytest.raises(ArgumentError):
            weft.vmap(lambda d: d["x"], (axes,))(given)


def test_results_that_depend_on_no_sample():
    ones = weft.vmap(lambda v: (Tensor.ones(2), None))(Tensor.zeros(3))
    assert ones[0].shape == (3, 2) and ones[1] is None
    assert weft.vmap(lambda v: Tensor.ones(2), out_axes=None)(Tensor.zeros(3)).shape == (2,)


def test_no_samples_and_no_elements():
    assert weft.vmap(lambda v: v.sum())(Tensor.zeros(0, 3)).shape == (0,)
    assert weft.vmap(lambda v: v * 2)(Tensor.zeros(3, 0)).shape == (3, 0)


def test_nesting():
    x, y = numbers(3, 4), numbers(5, 4)
    distance = lambda a, b: ((a - b) ** 2).sum()  # noqa: E731
    every = weft.vmap(weft.vmap(distance, (None, 0)), (0, None))
    close(every(Tensor(x), Tensor(y)), ((x[:, None] - y[None]) ** 2).sum(-1))


def test_chunks():
    x = numbers(7, 4)
    calls = []

    def function(v):
        calls.append(v.shape)
        return v.cumsum(0), v.sum()

    found = weft.vmap(function, 0, (1, 0), chunk_size=3)(Tensor(x))
    close(found[0], np.cumsum(x, 1).T)
    close(found[1], x.sum(1))
    assert calls == [(4,)] * 3


def test_complex_numbers():
    x = (numbers(3, 4) + 1j * numbers(3, 4)).astype(np.complex64)
    close(weft.vmap(lambda v: v * v.conj()[0])(Tensor(x)), x * x.conj()[:, :1])
    close(
        weft.vmap(lambda v: weft.fft.fft(v).abs(), 1, -1)(Tensor(x)), np.abs(np.fft.fft(x, axis=0))
    )


def test_host_functions():
    a, b = numbers(5, 3, 3), numbers(5, 3)
    found = weft.vmap(weft.linalg.solve)(Tensor(a), Tensor(b))
    np.testing.assert_allclose(found.numpy(), np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-3)
    q, r = weft.vmap(weft.linalg.qr)(Tensor(a))
    np.testing.assert_allclose((q @ r).numpy(), a, rtol=1e-4, atol=1e-5)
    same = weft.vmap(lambda b: weft.linalg.solve(Tensor(a[0]), b))(Tensor(b))
    np.testing.assert_allclose(same.numpy(), np.linalg.solve(a[0], b.T).T, rtol=1e-3)


def test_local_writes():
    def function(v):
        y = v * 2
        y += 1
        y[0] = v[1]
        z = Tensor.empty(3).assign(y)
        return z

    x = numbers(4, 3)
    expected = x * 2 + 1
    expected[:, 0] = x[:, 1]
    close(weft.vmap(function)(Tensor(x)), expected)


def test_functions_with_their_own_derivative():
    class Scaled(weft.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w.sum()

        @staticmethod
        def backward(ctx, gradient):
            x, w = ctx.saved_tensors
            return gradient * w.sum(), (
                gradient * x
            ).sum() * w.ones_like() * 10  # not 1, to be seen

    x, w = numbers(5, 4), numbers(3)
    one = weft.grad(lambda x, w: (Scaled.apply(x, w) ** 2).sum(), (0, 1))
    found = weft.vmap(one, (0, None))(Tensor(x), Tensor(w))
    close(found[0], 2 * x * w.sum() ** 2)
    np.testing.assert_allclose(
        found[1].numpy(), np.outer(20 * (x * x).sum(1) * w.sum(), np.ones(3)), rtol=1e-4
    )
    # the weight is the same for all samples: its gradient is the sum of theirs
    weight = Tensor(w, requires_grad=True)
    loss = weft.vmap(lambda v: (Scaled.apply(v, weight) ** 2).sum())(Tensor(x, requires_grad=True))
    (gradient,) = loss.sum().gradient(weight)
    np.testing.assert_allclose(gradient.numpy(), found[1].numpy().sum(0), rtol=1e-4)


def test_gradients_flow_through_it():
    x = Tensor(numbers(5, 4), requires_grad=True)
    w = Tensor(numbers(4), requires_grad=True)
    loss = weft.vmap(lambda v: (v * w).sin().sum())(x)
    assert loss.requires_grad
    (loss * Tensor.arange(5)).sum().backward()
    cos = np.cos(x.numpy() * w.numpy()) * np.arange(5)[:, None]
    close(x.grad, cos * w.numpy())
    np.testing.assert_allclose(w.grad.numpy(), (cos * x.numpy()).sum(0), rtol=1e-4)


def test_one_kernel_for_all_samples():
    x, w = Tensor(numbers(8, 4)).realize(), Tensor(numbers(3, 4)).realize()
    before = weft.engine.stats.kernels
    weft.vmap(lambda v: (w @ v).relu())(x).realize()
    assert weft.engine.stats.kernels == before + 1


def test_captured():
    x = Tensor(numbers(5, 4)).realize()
    step = weft.jit(lambda x: weft.vmap(lambda v: v.softmax(0))(x).realize())
    found = [step(x).numpy() for _ in range(4)]
    assert step.replays == 2
    np.testing.assert_allclose(found[-1], found[0])


# ---- random numbers -----------------------------------------------------------------------------


def test_random_numbers_are_an_error_unless_asked_for():
    with pytest.raises(CaptureError, match="randomness"):
        weft.vmap(lambda v: v + Tensor.rand(2))(Tensor.zeros(3, 2))


def test_the_same_random_numbers():
    found = weft.vmap(lambda v: v + Tensor.rand(2), randomness="same")(Tensor.zeros(3, 2)).numpy()
    assert (found == found[0]).all() and found[0, 0] != found[0, 1]


def test_the_same_random_numbers_in_chunks():
    mapped = weft.vmap(lambda v: v + Tensor.rand(2), randomness="same", chunk_size=2)
    found = mapped(Tensor.zeros(5, 2)).numpy()
    assert (found == found[0]).all()


def test_different_random_numbers_are_those_of_a_loop():
    weft.manual_seed(3)
    loop = np.stack([Tensor.rand(5).numpy() for _ in range(4)])
    after = Tensor.rand(5).numpy()
    weft.manual_seed(3)
    mapped = weft.vmap(lambda v: v + Tensor.rand(5), randomness="different")
    np.testing.assert_array_equal(mapped(Tensor.zeros(4, 5)).numpy(), loop)
    np.testing.assert_array_equal(Tensor.rand(5).numpy(), after)


def test_different_random_numbers_of_nested_maps():
    inner = weft.vmap(lambda v: v + Tensor.rand(2), randomness="different")
    found = weft.vmap(inner, randomness="different")(Tensor.zeros(3, 4, 2)).numpy()
    assert len(np.unique(found)) == found.size


def test_dropout():
    layer = nn.Dropout(0.5)
    layer.train()
    found = weft.vmap(layer, randomness="different")(Tensor.ones(4, 64)).numpy()
    assert set(np.unique(found)) == {0.0, 2.0} and (found[0] != found[1]).any()


# ---- refusals -----------------------------------------------------------------------------------


def test_values_decide_nothing():
    with pytest.raises(CaptureError, match="has no values"):
        weft.vmap(lambda v: v if v.sum().item() > 0 else -v)(Tensor.ones(3, 2))
    with pytest.raises(DTypeError):
        weft.vmap(lambda v: v if v.sum() > 0 else -v)(Tensor.ones(3, 2))


def test_a_tensor_that_leaves_the_function_says_so():
    kept = []
    weft.vmap(lambda v: kept.append(v * 2) or v)(Tensor.ones(3, 2))
    with pytest.raises(CaptureError, match="keep no tensor"):
        kept[0].numpy()


def write_argument(v):
    v += 1
    return v


OUTSIDE = Tensor([1.0, 2.0]).realize()
PENDING = Tensor([1.0, 2.0]) * 3


@pytest.mark.parametrize("tensor", [OUTSIDE, PENDING], ids=["realized", "pending"])
def test_writes_are_refused_and_undone(tensor):
    before = tensor.numpy().tolist()
    with pytest.raises(CaptureError, match="does not write"):
        weft.vmap(lambda v: tensor.assign(v) * 1)(Tensor.ones(3, 2))
    assert tensor.tolist() == before
    with pytest.raises(CaptureError, match="does not write"):
        weft.vmap(write_argument)(Tensor.ones(3, 2))


def test_writes_before_an_error_are_undone():
    def function(v):
        OUTSIDE.assign(v)
        raise KeyError("of the function")

    with pytest.raises(KeyError):
        weft.vmap(function)(Tensor.ones(3, 2))
    assert OUTSIDE.tolist() == [1.0, 2.0]


def test_running_statistics():
    layer = nn.BatchNorm1d(3)
    layer.train()
    with pytest.raises(CaptureError, match=r"model\.eval"):
        weft.vmap(layer)(Tensor(numbers(2, 4, 3)))
    assert layer.running_mean.tolist() == [0.0] * 3
    layer.eval()
    assert weft.vmap(layer)(Tensor(numbers(2, 4, 3))).shape == (2, 4, 3)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ShapeError, lambda: weft.vmap(lambda a, b: a)(Tensor.ones(3), Tensor.ones(4))),
        (ShapeError, lambda: weft.vmap(lambda a: a, 1)(Tensor.ones(3))),
        (ShapeError, lambda: weft.vmap(lambda a: a, 0, 2)(Tensor.ones(3, 2))),
        (ShapeError, lambda: weft.vmap(lambda a: a)(Tensor(1.0))),
        (ArgumentError, lambda: weft.vmap(lambda a: a, None)(Tensor.ones(3))),
        (ArgumentError, lambda: weft.vmap(lambda: 1)()),
        (ArgumentError, lambda: weft.vmap(lambda a: a, (0, 0))(Tensor.ones(3))),
        (ArgumentError, lambda: weft.vmap(lambda a: a, ([0, 0],))(Tensor.ones(3))),
        (ArgumentError, lambda: weft.vmap(lambda a: a, randomness="some")),
        (ArgumentError, lambda: weft.vmap(lambda a: a, chunk_size=0)),
        (ArgumentError, lambda: weft.vmap(lambda a: a, out_axes=None)(Tensor.ones(3))),
        (WrongKind, lambda: weft.vmap(lambda a, b: a)(Tensor.ones(3), 2.0)),
        (WrongKind, lambda: weft.vmap(lambda a: a, "0")(Tensor.ones(3))),
        (WrongKind, lambda: weft.vmap(lambda a: "text")(Tensor.ones(3))),
    ],
)
def test_refusals(error, call):
    with pytest.raises(error):
        call()


def test_sharded_tensors_are_refused():
    x = Tensor.ones(4, 2, device="REF").shard(("REF:0", "REF:1"), axis=0)
    with pytest.raises(CaptureError, match="sharded"):
        weft.vmap(lambda v: v * 2)(x)


def test_the_number_of_samples_may_be_a_variable():
    n = weft.Variable("n", 1, 8).bind(5)
    x = Tensor(numbers(8, 3))[:n]
    found = weft.vmap(lambda v: v.sum())(x)
    np.testing.assert_allclose(found.numpy(), x.numpy().sum(1), rtol=1e-5)


def test_integers_keep_their_dtypes():
    found = weft.vmap(lambda v: v.sum())(Tensor([[1, 2], [3, 4]], dtype=dtypes.int32))
    assert found.dtype == dtypes.int64 and found.tolist() == [3, 7]
