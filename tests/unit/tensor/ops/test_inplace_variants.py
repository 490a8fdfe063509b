"""In-place variants: all of them write what the method without the underscore computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, GradientError, ShapeError
from weft.tensor.ops.inplace_variants import INPLACE


def made(name: str, tensor: Any = Tensor) -> tuple[Any, list[Any]]:
    """The tensor and the arguments of the example of a variant."""
    x, *arguments = eval(
        ", ".join(part for part in INPLACE[name] if part) + ",", {"Tensor": tensor}
    )
    return x, arguments


@pytest.mark.parametrize("name", INPLACE)
def test_an_inplace_variant_equals_the_method(name: str) -> None:
    x, arguments = made(name)
    x = x.contiguous().realize()
    memory, view = x.uop.base, x[:1]
    expected = getattr(x, name)(*arguments).cast(x.dtype).numpy()
    assert getattr(x, f"{name}_")(*arguments) is x
    np.testing.assert_array_equal(x.numpy(), expected)
    np.testing.assert_array_equal(view.numpy(), expected[:1])
    assert x.uop.base is memory


# that of PyTorch is for float64 alone
@pytest.mark.parametrize("name", [name for name in INPLACE if name != "float_power"])
def test_an_inplace_variant_equals_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what is written")
    x, arguments = made(name)
    theirs, given = made(name, torch.tensor)
    getattr(x, f"{name}_")(*arguments)
    getattr(theirs, f"{name}_")(*given)
    np.testing.assert_allclose(x.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-7)


def test_parameters_are_those_of_the_method() -> None:
    x = Tensor([1.0, 5.0, 9.0])
    assert x.clip_(min=2, max=6).tolist() == [2.0, 5.0, 6.0]
    assert x.cumsum_(dim=0).tolist() == [2.0, 7.0, 13.0]
    assert x.scatter_(0, Tensor([0]), 1.0).index_add_(0, Tensor([1, 1, 2]), x, alpha=2).shape == (
        3,
    )
    assert Tensor([0.0]).addcmul_(Tensor([2.0]), Tensor([3.0]), value=0.5).tolist() == [3.0]
    with pytest.raises(TypeError):
        x.exp_(3)


def test_results_of_a_higher_kind_are_refused() -> None:
    with pytest.raises(DTypeError, match="does not go into"):
        Tensor([1, 2]).sqrt_()
    with pytest.raises(ShapeError):
        Tensor([1.0]).atan2_(Tensor([1.0, 2.0]))
    assert Tensor([1.0, 3.0]).gt_(2).tolist() == [0.0, 1.0]
    assert Tensor([1, 2]).logical_not_().dtype is dtypes.int


def test_gradients_flow_through_written_values() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.square_()
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [18.0, 36.0]
    with pytest.raises(GradientError):
        x.exp_()
    with Tensor.no_grad():
        assert x.neg_().tolist() == [-1.0, -2.0] and x.requires_grad


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (7, 3), (3, 3, 3), (1, 1)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled_as_by_pytorch(shape: tuple[int, ...], wrap: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says where the diagonal is")
    expected = torch.zeros(shape).fill_diagonal_(2.0, wrap=wrap)
    found = Tensor.zeros(*shape).fill_diagonal_(2.0, wrap=wrap)
    np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_vectors_have_no_diagonal() -> None:
    with pytest.raises(ShapeError, match="diagonal"):
        Tensor([1.0]).fill_diagonal_(0)
    with pytest.raises(ShapeError, match="diagonal"):
        Tensor.zeros(2, 2, 3).fill_diagonal_(0)


def test_random_integers_are_within_their_bounds() -> None:
    Tensor.manual_seed(5)
    x = Tensor.zeros(500)
    assert 3 <= x.random_(3, 7).min().item() and x.max().item() == 6
    assert x.random_(4).max().item() == 3 and x.min().item() == 0
    assert (1 << 20) < x.random_().max().item() < (1 << 24)
    small = Tensor.zeros(500, dtype=dtypes.int8).random_()
    assert small.min().item() >= 0 and 100 < small.max().item() <= 127
    assert Tensor.zeros(400).bernoulli_(0.25).mean().item() == pytest.approx(0.25, abs=0.1)


def test_they_return_self_and_keep_its_memory() -> None:
    x = Tensor([1.0, 2.0]).contiguous().realize()
    memory = x.uop.base
    assert x.add_(1).mul_(2).sub_(1, alpha=2).div_(2) is x
    assert x.clamp_(0.5, 1.5).tolist() == [1.0, 1.5]
    assert x.fill_(3).zero_().realize().uop.base is memory


def test_other_values_are_unchanged() -> None:
    x = Tensor([1.0, 2.0]).contiguous().realize()
    y = x + 1
    x.zero_()
    assert y.tolist() == [2.0, 3.0] and x.tolist() == [0.0, 0.0]


def test_the_dtype_stays() -> None:
    x = Tensor([1, 2])
    assert x.copy_(Tensor([1.9, -1.9])).tolist() == [1, -1] and x.dtype is dtypes.int32
    with pytest.raises(DTypeError):
        x.add_(Tensor([0.5, 0.5]))
    with pytest.raises(ShapeError):
        x.copy_(Tensor([1, 2, 3]))


def test_random_numbers() -> None:
    Tensor.manual_seed(3)
    x = Tensor.zeros(1000).contiguous()
    assert 0 <= x.uniform_().min().item() and 0.4 < x.mean().item() < 0.6
    assert abs(x.normal_(mean=5).mean().item() - 5) < 0.2


def test_leaves() -> None:
    x = Tensor([1.0], requires_grad=True)
    with pytest.raises(GradientError):
        x.add_(x)
    with Tensor.no_grad():
        assert x.add_(x).tolist() == [2.0]
