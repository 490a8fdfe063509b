"""`x.data()` gives bytes; used as PyTorch's `x.data` it says what to write."""

from __future__ import annotations

import pytest

from weft import Tensor, nn
from weft.base.errors import DTypeError, MissingName, WrongKind


def test_it_gives_the_bytes() -> None:
    view = Tensor([[1, 2], [3, 4]]).data()
    assert (view.shape, view.format, view[1, 0]) == ((2, 2), "i", 3)
    assert "bytes" in repr(Tensor([1]).data) and callable(Tensor([1]).data)
    assert not hasattr(Tensor([1]).data, "__array_interface__")


@pytest.mark.parametrize(
    "code, instead",
    [
        ("x.data.fill_(1.0)", "with weft.no_grad(): x.fill_"),
        ("x.data.cpu()", "x.detach().cpu"),
        ("x.data -= 0.1", "with weft.no_grad(): x -= ..."),
        ("x.data *= 0.1", "with weft.no_grad(): x *= ..."),
        ("x.data[0] = 3.0", "with weft.no_grad(): x[...] = ..."),
        ("x.data[0]", "x.detach()[...]"),
        ("x.data = x * 2", "with weft.no_grad(): x.assign(value)"),
        ("x.data + 1", "x.detach() + ..."),
        ("2 / x.data", "x.detach() / ..."),
        ("x.data > 1", "x.detach() > ..."),
        ("nn.Linear(1, 1).weight.data.normal_(0.0, 0.02)", "with weft.no_grad(): x.normal_"),
    ],
)
def test_errors_of_data_used_as_a_tensor(code: str, instead: str) -> None:
    with pytest.raises((MissingName, WrongKind), match="data is a method") as error:
        exec(code, {"x": Tensor([1.0, 2.0], requires_grad=True), "nn": nn})
    assert error.value.try_ == instead


def test_errors_of_data_as_an_operand() -> None:
    with pytest.raises(DTypeError) as error:
        Tensor([1.0]) - Tensor([1.0]).data
    assert error.value.try_ == "x.detach()"
