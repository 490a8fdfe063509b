"""Layers say what they were given when it is no tensor."""

from typing import Any

import numpy
import pytest

from weft import Tensor, nn
from weft.base.errors import WrongKind
from weft.nn.input_checks import tensor_for

LAYERS: dict[str, tuple[Any, ...]] = {
    "Linear": (3, 2), "Conv1d": (2, 3, 2), "Conv2d": (2, 3, 2), "ConvTranspose2d": (2, 3, 2),
    "BatchNorm": (3,), "GroupNorm": (1, 2), "InstanceNorm": (2,), "LayerNorm": (3,),
    "LayerNorm2d": (3,), "RMSNorm": (3,), "Embedding": (4, 3), "LSTMCell": (3, 2),
    "GRUCell": (3, 2), "MultiHeadAttention": (4, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("given", [None, "text", [[1.0, 2.0]], numpy.zeros((2, 3))])
def test_errors_name_the_layer_of_a_non_tensor(name: str, given: Any) -> None:
    layer = getattr(nn, name)(*LAYERS[name])
    with pytest.raises(WrongKind, match=f"of {name} is a tensor") as caught:
        layer(given)
    assert caught.value.try_ == "Tensor(x)"
    assert isinstance(caught.value, TypeError)


def test_a_tensor_is_given_back() -> None:
    x = Tensor([1.0])
    assert tensor_for(object(), x) is x
