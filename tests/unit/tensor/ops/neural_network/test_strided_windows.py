"""Windows of whole steps are those of `_pool`, and their gradient is one sum over steps."""

import numpy as np
import pytest

from weft import Tensor
from weft.tensor.ops.neural_network.strided_windows import in_steps, windows_of_steps
from weft.uop import Ops

CASES = [
    ((9,), (3,), (2,), ((1, 1),)),
    ((8,), (3,), (2,), ((0, 0),)),
    ((7, 10), (3, 5), (2, 2), ((1, 1), (2, 2))),
    ((6, 6), (3, 3), (2, 1), ((2, 0), (0, 2))),
    ((11, 5), (7, 1), (3, 2), ((3, 2), (0, 0))),
    ((12,), (5,), (4,), ((0, 0),)),
    ((13,), (3,), (2,), ((0, 0),)),
    ((2,), (5,), (3,), ((4, 4),)),
]


def numbers(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("case", CASES)
def test_windows_are_those_of_strides(case):
    shape, size, step, pads = case
    data = numbers(2, *shape)
    padded = np.pad(data, ((0, 0), *pads))
    axes = tuple(range(1, 1 + len(shape)))
    whole = np.lib.stride_tricks.sliding_window_view(padded, size, axes)
    wanted = whole[(slice(None), *(slice(None, None, s) for s in step))]
    assert in_steps(shape, size, step, (1,) * len(size), pads)
    found = windows_of_steps(Tensor(data, device="REF"), size, step, pads)
    np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize(
    ("shape", "size", "step", "dilation", "pads"),
    [
        ((9,), (3,), (1,), (1,), ((0, 0),)),
        ((9,), (2,), (2,), (1,), ((0, 0),)),
        ((9,), (3,), (2,), (2,), ((0, 0),)),
        ((9,), (3,), (2,), (1,), ((3, 0),)),  # a window of padding alone
        ((9,), (3,), (2,), (1,), ((-1, 0),)),
    ],
)
def test_other_windows_are_no_steps(shape, size, step, dilation, pads):
    assert not in_steps(shape, size, step, dilation, pads)


@pytest.mark.parametrize("case", CASES)
def test_gradients_accumulate_over_windows(case):
    shape, size, step, pads = case
    x = Tensor(numbers(2, *shape), device="REF", requires_grad=True)
    found = windows_of_steps(x, size, step, pads)
    weights = numbers(*found.shape)
    (grad,) = (found * Tensor(weights, device="REF")).sum().gradient(x)
    wanted = np.zeros((2, *(n + a + b for n, (a, b) in zip(shape, pads))), np.float32)
    for place in np.ndindex(*found.shape[1:]):
        at = [o * s + k for o, s, k in zip(place, step, place[len(shape) :])]
        wanted[(slice(None), *at)] += weights[(slice(None), *place)]
    inside = (slice(None), *(slice(a, a + n) for n, (a, _) in zip(shape, pads)))
    np.testing.assert_allclose(grad.numpy(), wanted[inside], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [3, 4])
def test_the_gradient_of_a_convolution_with_a_stride_is_one_kernel(size):
    shape = (32, 32, size, size)
    x, w = Tensor.empty(2, 32, 16, 16, device="REF"), Tensor.empty(*shape, device="REF")
    y = x.conv2d(w, stride=2, padding=1)
    (grad,) = y.gradient(x, gradient=Tensor.empty(*y.shape, device="REF"))
    items = [item for item in grad.schedule() if item.ast.op is Ops.SINK]
    assert len(items) == 1


@pytest.mark.parametrize(
    ("size", "step", "padding", "more", "groups"),
    [
        ((3,), (2,), (1,), (1,), 1),
        ((4,), (2,), (0,), (0,), 2),
        ((2, 5), (3, 2), (0, 2), (2, 1), 1),
        ((1, 3), (2, 4), (0, 1), (1, 3), 2),
    ],
)
def test_a_transposed_convolution_accumulates_contributions(size, step, padding, more, groups):
    axes, each = len(size), 2
    x, w = numbers(2, 4, *(5, 3)[:axes]), numbers(4, each, *size)
    whole = [(n - 1) * s + k + m for n, s, k, m in zip(x.shape[2:], step, size, more)]
    wanted = np.zeros((2, groups * each, *whole), np.float32)
    for channel in range(4):
        first = channel // (4 // groups) * each
        for place in np.ndindex(*x.shape[2:]):
            at = (slice(p * s, p * s + k) for p, s, k in zip(place, step, size))
            spread = x[(slice(None), channel, *place)].reshape(2, *(1,) * (axes + 1)) * w[channel]
            wanted[(slice(None), slice(first, first + each), *at)] += spread
    inside = (slice(p, n - p) for p, n in zip(padding, whole))
    found = Tensor(x, device="REF").conv_transpose2d(
        Tensor(w, device="REF"), None, groups, step, 1, padding, more
    )
    np.testing.assert_allclose(
        found.numpy(), wanted[(slice(None), slice(None), *inside)], rtol=1e-4, atol=1e-5
    )
