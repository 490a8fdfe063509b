"""`to`: another device, another dtype, or both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import Tensor, dtypes, nn
from weft.base.errors import UnknownDevice

DEFAULT = Tensor([1]).device


@pytest.mark.parametrize(
    "arguments, named, device, kind",
    [
        (("REF",), {}, "REF", "int"),
        (("ref:1",), {}, "REF:1", "int"),
        ((None,), {}, DEFAULT, "int"),
        ((), {}, "REF:2", "int"),
        ((dtypes.half,), {}, "REF:2", "half"),
        (("float16",), {}, "REF:2", "half"),
        ((float,), {}, "REF:2", "float"),
        ((np.float64,), {}, "REF:2", "double"),
        ((np.dtype("int64"),), {}, "REF:2", "long"),
        (("REF", dtypes.half), {}, "REF", "half"),
        (("REF", "half"), {}, "REF", "half"),
        ((), {"device": "REF", "dtype": dtypes.half}, "REF", "half"),
        ((), {"dtype": "float64"}, "REF:2", "double"),
        ((), {"device": None, "dtype": "float64"}, DEFAULT, "double"),
        ((Tensor([0.5], device="REF:1"),), {}, "REF:1", "float"),
        (("REF",), {"non_blocking": True}, "REF", "int"),
        ((dtypes.half,), {"copy": True}, "REF:2", "half"),
    ],
)
def test_to(arguments: Any, named: Any, device: str, kind: str) -> None:
    found = Tensor([1, 2], device="REF:2").to(*arguments, **named)
    assert (found.device, found.dtype.name) == (device, kind)
    assert found.tolist() == [1, 2]


def test_to_the_same_device_shares_memory_unless_copied() -> None:
    x = Tensor([1, 2]).contiguous()
    for same in (x.to(x.device), x.to(dtypes.int), x.to(x), x.to()):
        same[0] += 1
    assert x.tolist() == [5, 2]
    copy = x.to(x.device, copy=True)
    copy[0] = 0
    assert x.tolist() == [5, 2]


def test_gradients_flow_through_both_steps() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x.to("REF", dtypes.double) * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]
    assert x.grad.dtype is dtypes.float and x.grad.device == x.device


def test_invalid_targets_are_refused() -> None:
    with pytest.raises(UnknownDevice):
        Tensor([1]).to("flaot16")
    with pytest.raises(UnknownDevice):
        Tensor([1]).to(3)
    with pytest.raises(TypeError):
        Tensor([1]).to("REF", non_blocking=3)


def test_modules_take_the_same_arguments() -> None:
    layer = nn.Linear(2, 2)
    assert layer.to(np.float16).weight.dtype is dtypes.half
    assert layer.to("REF", "float32").weight.device == "REF"
    assert layer.to(Tensor([0.5], dtype="float64")).weight.dtype is dtypes.double
