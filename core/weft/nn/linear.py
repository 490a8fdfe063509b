"""The affine map."""

from __future__ import annotations

from weft.base.arguments import whole
from weft.base.dtype import DType
from weft.nn import init
from weft.nn.inputs import tensor_for
from weft.tensor import Tensor
from weft.tensor.autocast import low_bias


class Linear:
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
        self.weight = init.fan_in_uniform(
            out_features, in_features, fan_in=in_features, device=device, dtype=dtype
        )
        self.bias = (
            init.fan_in_uniform(out_features, fan_in=in_features, device=device, dtype=dtype)
            if bias
            else None
        )

    def __call__(self, x: Tensor) -> Tensor:
        x = tensor_for(self, x)
        y = x @ self.weight.transpose(0, 1)
        return y if self.bias is None else y + low_bias(self.bias, y)
