"""Methods under the names of torch.Tensor."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, ShapeError

FLOATS = [[0.5, -0.25, 0.75, -1.0], [1.0, 0.125, -0.5, 0.25]]


@pytest.mark.parametrize(
    "call",
    [
        "absolute()", "arccos()", "arcsin()", "arcsinh()", "arctan()", "arctanh()", "fix()",
        "sgn()", "t()", "mul(4).byte()", "mul(4).char()", "abs().add(1).arccosh()",
        "new_zeros(2, 3)", "new_ones((2,))", "new_full((2, 2), 7)", "new_tensor([1, 2])",
        "new_tensor([1, 2], dtype=lib.int64)", "split_with_sizes([1, 3], 1)[1]", "hsplit(2)[1]",
        "vsplit(2)[1]", "vsplit([1])[0]", "hsplit([1, 3])[1]", "unsqueeze(0).dsplit(4)[2]",
        "mul(4).int().bitwise_left_shift(2)", "mul(4).int().bitwise_right_shift(1)",
        "nelement()", "ndimension()", "itemsize", "type(lib.float64)", "half().itemsize",
        "new_empty(2, 3).shape", "new_zeros(1, requires_grad=True).requires_grad",
    ],
)  # fmt: skip
def test_a_method_equals_pytorch(call: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    import weft

    found = eval(f"x.{call}", {"x": Tensor(FLOATS), "lib": weft})
    expected = eval(f"x.{call}", {"x": torch.tensor(FLOATS), "lib": torch})
    if isinstance(expected, torch.Tensor):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
        assert found.numpy().dtype == expected.numpy().dtype
    else:
        assert found == expected


def test_matrices() -> None:
    assert Tensor([[2.0, 0.0], [0.0, 4.0]]).inverse().tolist() == [[0.5, 0.0], [0.0, 0.25]]
    assert Tensor([1, 2]).ger(Tensor([3, 4])).tolist() == [[3, 4], [6, 8]]
    x = Tensor([[1, 2], [3, 4]]).contiguous()
    x.t()[0, 1] = 9
    assert x.tolist() == [[1, 2], [9, 4]], "t is a view"
    v = Tensor([1, 2]).contiguous()
    v.t()[0] = 9
    assert v.tolist() == [9, 2] and Tensor(3).t().shape == ()


def test_new_tensors_are_like_this_one() -> None:
    x = Tensor([1, 2], dtype="float16", device="REF")
    for made in (x.new_zeros(2), x.new_ones(2), x.new_full((2,), 3), x.new_empty(2)):
        assert made.dtype is dtypes.half and made.device == "REF"
    other = Tensor([0.1, 0.2])
    made = x.new_tensor(other)
    assert made.dtype is dtypes.half and made.device == "REF" and made is not other
    assert x.new_tensor([1.0], requires_grad=True).requires_grad
    assert x.new_zeros(1, device=Tensor([1]).device).device == Tensor([1]).device


def test_unsupported_arguments_are_refused() -> None:
    with pytest.raises(ShapeError, match="of a matrix") as shape:
        Tensor.zeros(2, 2, 2).t()
    assert "x.mT" in str(shape.value.try_)
    with pytest.raises(ArgumentError) as kind:
        Tensor([1]).type()
    assert "x.dtype" in str(kind.value.try_)
    for name, x in (
        ("hsplit", Tensor.zeros(2, 3)),
        ("vsplit", Tensor([1, 2])),
        ("dsplit", Tensor([[1]])),
    ):
        with pytest.raises(ShapeError, match=name) as error:
            getattr(x, name)(2)
        assert "tensor_split" in str(error.value.try_)
