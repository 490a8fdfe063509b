"""A value of variables alone has no device, and takes that of the other operands."""

import pytest

from weft import Tensor, Variable, settings
from weft.base.errors import DeviceError


@pytest.fixture
def bound() -> Tensor:
    return Tensor(Variable("n", 0, 5).bind(2))


@pytest.mark.parametrize("device", ["REF", "REF:1"])
def test_results_are_where_the_other_operand_is(device: str, bound: Tensor) -> None:
    x, row = Tensor([10, 20, 30], device=device), bound.reshape(1)
    for result in (row + x, x + row, row < x, (row > 1).where(x, 0), (x > 10).where(row, x)):
        assert result.device == device
    assert ((row > 1).where(x, 0) + row).tolist() == [12, 22, 32]


@pytest.mark.parametrize("device", ["REF", "REF:1"])
def test_it_indexes_and_is_written_on_any_device(device: str, bound: Tensor) -> None:
    x = Tensor([10, 20, 30], device=device)
    assert x.take(bound).item() == 30
    assert x.index_select(0, bound.reshape(1)).tolist() == [30]
    target = Tensor.zeros(3, device=device).contiguous().realize()
    assert target.assign(bound).tolist() == [2.0, 2.0, 2.0]
    target[1] = bound + 5
    assert target.tolist() == [2.0, 7.0, 2.0]


def test_alone_it_is_computed_on_the_default_device(bound: Tensor) -> None:
    with settings.override(DEVICE="REF"):
        assert (bound.reshape(1).expand(3) + 1).tolist() == [3, 3, 3]
        assert bound.to("REF:1").item() == 2


def test_a_choice_between_two_devices_is_refused(bound: Tensor) -> None:
    left, right = Tensor([1], device="REF"), Tensor([2], device="REF:1")
    with pytest.raises(DeviceError, match="different devices"):
        (bound > 1).where(left, right)
