"""Gradients within bounds."""

import math

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, GradientError
from weft.nn.optim import clip, clip_grad_norm_, clip_grad_value_


def parameters(dtype=dtypes.float32):
    a, b = Tensor([3.0, 0.0], dtype=dtype, requires_grad=True), Tensor([[4.0]], requires_grad=True)
    ((a * a).sum() * 0.5 + (b * b).sum() * 0.5).backward()
    return a, b


@pytest.mark.parametrize(
    "power, norm", [(2.0, 5.0), (1.0, 7.0), (math.inf, 4.0), (3.0, 91 ** (1 / 3))]
)
@pytest.mark.parametrize("bound", [1.0, 100.0])
def test_one_norm_over_all(power, norm, bound):
    a, b = parameters()
    assert clip_grad_norm_([a, b], bound, power).item() == pytest.approx(norm, rel=1e-5)
    scale = min(1.0, bound / (norm + 1e-6))
    np.testing.assert_allclose(a.grad.numpy(), [3 * scale, 0], rtol=1e-5)
    np.testing.assert_allclose(b.grad.numpy(), [[4 * scale]], rtol=1e-5)


def test_every_element():
    a, b = parameters()
    clip_grad_value_([a, b], 3.5)
    assert (a.grad.tolist(), b.grad.tolist()) == ([3.0, 0.0], [[3.5]])


def test_halves_are_measured_in_float32():
    a, _ = parameters(dtypes.half)
    a.grad = Tensor([60000.0, 60000.0], dtype=dtypes.half)
    norm = clip_grad_norm_(a, 1.0)
    assert norm.dtype is dtypes.float32
    assert norm.item() == pytest.approx(60000 * 2**0.5, rel=1e-3)
    assert a.grad.dtype is dtypes.half


def test_invalid_clipping():
    a, b = parameters()
    for call in (lambda: clip_grad_norm_([a], -1), lambda: clip_grad_value_([a], -1),
                 lambda: clip_grad_norm_([a], 1, 0)):  # fmt: skip
        with pytest.raises(ArgumentError):
            call()
    with pytest.raises(GradientError, match="no parameter has a gradient"):
        clip_grad_norm_([Tensor([1.0])], 1)


def test_norms_that_are_known_and_norms_that_are_not_finite() -> None:
    w = Tensor([3.0, 4.0], requires_grad=True)
    w.grad = Tensor([3.0, 4.0])
    total = clip.get_total_norm([w.grad])
    clip.clip_grads_with_norm_(w, 1.0, total)
    np.testing.assert_allclose(w.grad.numpy(), [0.6, 0.8], rtol=1e-5)
    assert clip.get_total_norm([]).item() == 0.0
    w.grad = Tensor([math.inf, 1.0])
    with pytest.raises(GradientError, match="not finite"):
        clip.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
