"""The affine map."""

from __future__ import annotations

from weft.base.arguments import whole
from weft.base.dtype import DType
from weft.nn import init
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer, Module
from weft.nn.parameter import Parameter, parameter
from weft.tensor import Tensor
from weft.tensor.autocast import low_bias
from weft.tensor.tracing_cache import traced_once


class Linear(Layer):
    """y = x @ weight.T + bias.

    weight (out_features, in_features), bias (out_features,) or None; both drawn from
    +-1/sqrt(in_features). Input (..., in_features), output (..., out_features).

    >>> layer = nn.Linear(4, 2)
    >>> layer(Tensor.ones(3, 4)).shape
    (3, 2)
    >>> layer.weight.shape, layer.bias.shape
    ((2, 4), (2,))
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        in_features = whole(in_features, "in_features", least=0)
        out_features = whole(out_features, "out_features", least=0)
        self.in_features, self.out_features = in_features, out_features

        def drawn(*shape: int) -> Parameter:
            return parameter(
                init.fan_in_uniform(*shape, fan_in=in_features, device=device, dtype=dtype)
            )

        self.weight: Tensor = drawn(out_features, in_features)
        self.bias: Tensor | None = drawn(out_features) if bias else None

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}"

    def forward(self, input: Tensor) -> Tensor:
        """(..., out_features) for input (..., in_features)."""
        return affine_map(tensor_for(self, input), self.weight, self.bias)


@traced_once
def affine_map(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x @ weight.T + bias."""
    y = x @ weight.transpose(0, 1)
    return y if bias is None else y + low_bias(bias, y)


class Bilinear(Module):
    """x1 @ weight[k] @ x2 + bias[k] for each output k.

    weight (out_features, in1_features, in2_features), drawn from +-1/sqrt(in1_features).

    >>> nn.Bilinear(2, 3, 4)(Tensor.ones(5, 2), Tensor.ones(5, 3)).shape
    (5, 4)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features

        def drawn(*shape: int) -> Parameter:
            return parameter(
                init.fan_in_uniform(*shape, fan_in=in1_features, device=device, dtype=dtype)
            )

        self.weight: Tensor = drawn(out_features, in1_features, in2_features)
        self.bias: Tensor | None = drawn(out_features) if bias else None

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """(..., out_features) for (..., in1_features) and (..., in2_features)."""
        input1, input2 = tensor_for(self, input1), tensor_for(self, input2, "second input")
        product = Tensor.einsum("...i,oij,...j->...o", input1, self.weight, input2)
        return product if self.bias is None else product + self.bias

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
