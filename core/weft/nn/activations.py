"""Activations as layers: each is a function of `nn.functional` with its arguments fixed.

`inplace` is taken and left alone: the result is returned, and the input keeps its value.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType
from weft.nn import functional as F
from weft.nn.input_checks import tensor_for
from weft.nn.module import Layer
from weft.nn.parameter import parameter
from weft.nn.training_mode import is_training
from weft.tensor import Tensor

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SiLU",
    "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh",
    "Tanhshrink", "Threshold",
]  # fmt: skip


class Activation(Layer):
    """A function of `nn.functional` and the arguments to call it with, which are attributes."""

    function: str

    def __init__(self, inplace: bool = False) -> None:
        self._fix(inplace)

    def _fix(self, inplace: bool = False, **arguments: Any) -> None:
        """Keep these arguments; `inplace` is shown where it is True, as in PyTorch."""
        if inplace:
            arguments["inplace"] = True
        vars(self).update(arguments)
        self._arguments = tuple(arguments)

    def forward(self, input: Tensor) -> Tensor:
        """The function of the input. :raises WrongKind: if that is no tensor."""
        if not isinstance(input, Tensor):
            tensor_for(self, input)
        own = self.__dict__
        result: Tensor = getattr(F, self.function)(input, **{n: own[n] for n in self._arguments})
        return result

    def extra_repr(self) -> str:
        own = vars(self)
        shown = (name for name in self._arguments if not name.startswith("_"))
        return ", ".join(f"{name}={own[name]!r}" for name in shown)


class RReLU(Activation, function="rrelu"):
    """x, and slope * x below 0: in training mode each slope is drawn between lower and upper, else
    it is their mean (Xu et al., 2015).

    >>> nn.RReLU(0.25, 0.75)(Tensor([-4.0, 2.0])).tolist()
    [-2.0, 2.0]
    """

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        self._fix(inplace, lower=lower, upper=upper)

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input."""
        own = vars(self)
        return F.rrelu(tensor_for(self, input), own["lower"], own["upper"], is_training(self))


class _Plain(Activation):
    """An activation without arguments."""

    def __init__(self) -> None:
        super().__init__()


class ReLU(Activation, function="relu"):
    """The larger of x and 0.

    >>> nn.ReLU()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """


class ReLU6(Activation, function="relu6"):
    """x bounded to [0, 6].

    >>> nn.ReLU6()(Tensor([-1.0, 2.0, 8.0])).tolist()
    [0.0, 2.0, 6.0]
    """


class SELU(Activation, function="selu"):
    """scale * ELU(x): 1.0507 * x above 0, 1.7581 * (exp(x) - 1) below.

    In a deep network whose weights have variance 1 / fan-in, activations approach mean 0 and
    variance 1 (Klambauer et al., 2017).

    >>> nn.SELU()(Tensor([-1.0, 2.0])).tolist()
    [-1.1113, 2.1014]
    """


class SiLU(Activation, function="silu"):
    """x * sigmoid(x).

    >>> nn.SiLU()(Tensor([0.0, 2.0])).tolist()
    [0.0, 1.7616]
    """


class Mish(Activation, function="mish"):
    """x * tanh(softplus(x)).

    >>> nn.Mish()(Tensor([0.0, 1.0])).tolist()
    [0.0, 0.8651]
    """


class Hardsigmoid(Activation, function="hardsigmoid"):
    """x / 6 + 1/2, bounded to [0, 1].

    >>> nn.Hardsigmoid()(Tensor([-4.0, 0.0, 1.5])).tolist()
    [0.0, 0.5, 0.75]
    """


class Hardswish(Activation, function="hardswish"):
    """x * relu6(x + 3) / 6.

    >>> nn.Hardswish()(Tensor([-3.0, 3.0])).tolist()
    [0.0, 3.0]
    """


class Sigmoid(_Plain, function="sigmoid"):
    """1 / (1 + exp(-x)).

    >>> nn.Sigmoid()(Tensor([0.0, 2.0])).tolist()
    [0.5, 0.8808]
    """


class LogSigmoid(_Plain, function="logsigmoid"):
    """log(sigmoid(x)), without overflow.

    >>> nn.LogSigmoid()(Tensor([0.0, -1000.0])).tolist()
    [-0.6931, -1000.0]
    """


class Tanh(_Plain, function="tanh"):
    """The hyperbolic tangent.

    >>> nn.Tanh()(Tensor([0.0, 2.0])).tolist()
    [0.0, 0.964]
    """


class Tanhshrink(_Plain, function="tanhshrink"):
    """x - tanh(x).

    >>> nn.Tanhshrink()(Tensor([0.0, 2.0])).tolist()
    [0.0, 1.036]
    """


class Softsign(_Plain, function="softsign"):
    """x / (1 + |x|).

    >>> nn.Softsign()(Tensor([-1.0, 3.0])).tolist()
    [-0.5, 0.75]
    """


class LeakyReLU(Activation, function="leaky_relu"):
    """x, and negative_slope * x below 0.

    >>> nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self._fix(inplace, negative_slope=negative_slope)


class ELU(Activation, function="elu"):
    """x, and alpha * (exp(x) - 1) below 0.

    >>> nn.ELU()(Tensor([-1.0, 2.0])).tolist()
    [-0.6321, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._fix(inplace, alpha=alpha)


class CELU(Activation, function="celu"):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).

    >>> nn.CELU(alpha=2.0)(Tensor([-2.0, 2.0])).tolist()
    [-1.2642, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self._fix(inplace, alpha=alpha)


class GELU(Activation, function="gelu"):
    """x times the normal distribution function at x; "tanh" for the approximation of GPT-2.

    >>> nn.GELU()(Tensor([-1.0, 2.0])).tolist()
    [-0.1587, 1.9545]
    """

    def __init__(self, approximate: str = "none") -> None:
        self._fix(approximate=approximate)


class Softplus(Activation, function="softplus"):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above the threshold.

    >>> nn.Softplus()(Tensor([0.0, 30.0])).tolist()
    [0.6931, 30.0]
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self._fix(beta=beta, threshold=threshold)


class Hardtanh(Activation, function="hardtanh"):
    """x bounded to [min_val, max_val].

    >>> nn.Hardtanh()(Tensor([-2.0, 0.5, 3.0])).tolist()
    [-1.0, 0.5, 1.0]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self._fix(inplace, min_val=min_val, max_val=max_val)


class Softshrink(Activation, function="softshrink"):
    """x moved towards 0 by lambd, and 0 between -lambd and lambd.

    >>> nn.Softshrink(0.5)(Tensor([-2.0, 0.25, 1.0])).tolist()
    [-1.5, 0.0, 0.5]
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._fix(lambd=lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(Activation, function="hardshrink"):
    """x, and 0 between -lambd and lambd.

    >>> nn.Hardshrink(0.5)(Tensor([-2.0, 0.25, 1.0])).tolist()
    [-2.0, 0.0, 1.0]
    """

    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        self._fix(lambd=lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Threshold(Activation, function="threshold"):
    """x where it is above the threshold, else `value`.

    >>> nn.Threshold(1.0, 9.0)(Tensor([0.5, 2.0])).tolist()
    [9.0, 2.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self._fix(inplace, threshold=threshold, value=value)


class GLU(Activation, function="glu"):
    """Gated linear unit: the first half of an axis times the sigmoid of the second half.

    The axis `dim` has an even size, of which half is left (Dauphin et al., 2017).

    >>> nn.GLU()(Tensor([[3.0, 4.0, 0.0, 0.0]])).tolist()
    [[1.5, 2.0]]
    """

    def __init__(self, dim: int = -1) -> None:
        self._fix(dim=dim)


class Softmax(Activation, function="softmax"):
    """exp(x) over its sum along an axis.

    >>> nn.Softmax(dim=1)(Tensor([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, dim: int = -1) -> None:
        self._fix(dim=dim)


class Softmin(Softmax, function="softmin"):
    """softmax(-x) along an axis: exp(-x) over its sum.

    >>> nn.Softmin(dim=1)(Tensor([[0.0, 1.0]])).tolist()
    [[0.7311, 0.2689]]
    """


class LogSoftmax(Softmax, function="log_softmax"):
    """The logarithm of the softmax along an axis.

    >>> nn.LogSoftmax(dim=1)(Tensor([[0.0, 0.0]])).tolist()
    [[-0.6931, -0.6931]]
    """


class Softmax2d(_Plain, function="softmax"):
    """Softmax over the channels of (batch, channels, height, width), or without the batch.

    >>> nn.Softmax2d()(Tensor([[[[0.0]], [[1.0]]]])).tolist()
    [[[[0.2689]], [[0.7311]]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Softmax along axis -3."""
        return F.softmax(tensor_for(self, input), -3)


class PReLU(Layer):
    """x, and weight * x below 0: one learnt weight, or one for each channel (axis 1).

    >>> nn.PReLU()(Tensor([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.num_parameters = num_parameters
        start = Tensor.full((num_parameters,), float(init), device=device, dtype=dtype)
        self.weight = parameter(start)

    def forward(self, input: Tensor) -> Tensor:
        """The same shape as input."""
        return F.prelu(tensor_for(self, input), self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
