"""Layers without weights: activations, pools, dropout. Each is a method of Tensor with its
arguments fixed, to stand in a `Sequential`.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import real, whole
from weft.base.errors import ArgumentError
from weft.nn.inputs import tensor_for
from weft.tensor import Tensor


class _Fixed:
    """A method of Tensor and the arguments to call it with."""

    method: str

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments

    def __call__(self, x: Tensor) -> Tensor:
        """The method's result for x. :raises WrongKind: if that is no tensor."""
        result: Tensor = getattr(tensor_for(self, x), self.method)(**self.arguments)
        return result

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{type(self).__name__}({given})"


class Identity:
    """What goes in comes out; arguments are taken and left alone, to stand in for any layer.

    >>> nn.Identity(54, unused=True)(Tensor([1, 2])).tolist()
    [1, 2]
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __call__(self, x: Tensor) -> Tensor:
        """x itself."""
        return x


class Flatten(_Fixed):
    """The axes from start_dim to end_dim become one; axis 0, the batch, stays.

    >>> nn.Flatten()(Tensor.zeros(2, 3, 4)).shape
    (2, 12)
    """

    method = "flatten"

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__(start_dim=start_dim, end_dim=end_dim)


class Dropout(_Fixed):
    """While `Tensor.training`, each element is 0 with probability p, else scaled by 1 / (1 - p).

    >>> nn.Dropout(0.5)(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    method = "dropout"

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= real(p, "p") <= 1:
            raise ArgumentError("p is a probability", asked=f"Dropout({p})", try_="0 <= p <= 1")
        super().__init__(p=p)


# ---- activations ---------------------------------------------------------------------------------


class ReLU(_Fixed):
    """The larger of x and 0.

    >>> nn.ReLU()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    method = "relu"

    def __init__(self) -> None:
        super().__init__()


class LeakyReLU(_Fixed):
    """x, and negative_slope * x below 0.

    >>> nn.LeakyReLU(0.5)(Tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    method = "leaky_relu"

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__(neg_slope=negative_slope)


class ELU(_Fixed):
    """x, and alpha * (exp(x) - 1) below 0.

    >>> nn.ELU()(Tensor([-1.0, 2.0])).tolist()
    [-0.6321, 2.0]
    """

    method = "elu"

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__(alpha=alpha)


class GELU(_Fixed):
    """x times the normal distribution at x; "tanh" for the approximation of GPT-2.

    >>> nn.GELU()(Tensor([-1.0, 2.0])).tolist()
    [-0.1587, 1.9545]
    """

    method = "gelu"

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)


class SiLU(_Fixed):
    """x * sigmoid(x).

    >>> nn.SiLU()(Tensor([0.0, 2.0])).tolist()
    [0.0, 1.7616]
    """

    method = "silu"

    def __init__(self) -> None:
        super().__init__()


class Sigmoid(_Fixed):
    """1 / (1 + exp(-x)).

    >>> nn.Sigmoid()(Tensor([0.0, 2.0])).tolist()
    [0.5, 0.8808]
    """

    method = "sigmoid"

    def __init__(self) -> None:
        super().__init__()


class Tanh(_Fixed):
    """The hyperbolic tangent.

    >>> nn.Tanh()(Tensor([0.0, 2.0])).tolist()
    [0.0, 0.964]
    """

    method = "tanh"

    def __init__(self) -> None:
        super().__init__()


class Softplus(_Fixed):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above the threshold.

    >>> nn.Softplus()(Tensor([0.0, 30.0])).tolist()
    [0.6931, 30.0]
    """

    method = "softplus"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Softmax(_Fixed):
    """exp(x) over its sum along an axis.

    >>> nn.Softmax(dim=1)(Tensor([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """

    method = "softmax"

    def __init__(self, dim: int = -1) -> None:
        super().__init__(axis=dim)


class LogSoftmax(_Fixed):
    """The logarithm of the softmax along an axis.

    >>> nn.LogSoftmax(dim=1)(Tensor([[0.0, 0.0]])).tolist()
    [[-0.6931, -0.6931]]
    """

    method = "log_softmax"

    def __init__(self, dim: int = -1) -> None:
        super().__init__(axis=dim)


# ---- pools ---------------------------------------------------------------------------------------


class _Pool(_Fixed):
    """What pools over 1, 2 and 3 spatial axes have in common: numbers for each of them."""

    axes: int

    def __init__(self, kernel_size: int | tuple[int, ...], **arguments: Any) -> None:
        several = isinstance(kernel_size, tuple | list)
        sizes = tuple(kernel_size) if several else (kernel_size,) * self.axes
        sizes = tuple(whole(size, "kernel_size", least=1) for size in sizes)
        if len(sizes) != self.axes:
            raise ArgumentError(
                "kernel_size needs one number, or one per spatial axis",
                asked=f"{type(self).__name__}(kernel_size={kernel_size})",
                because=f"it has {self.axes} spatial axes",
                try_=f"give {self.axes} numbers",
            )
        super().__init__(kernel_size=sizes, **arguments)


class _MaxPool(_Pool):
    method = "max_pool2d"

    def __init__(
        self,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None = None,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, ...] = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


class _AvgPool(_Pool):
    method = "avg_pool2d"

    def __init__(
        self,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None = None,
        padding: int | tuple[int, ...] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(
            kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )


class MaxPool1d(_MaxPool):
    """The largest of each window over the last axis.

    >>> nn.MaxPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[4.0, 3.0]]]
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """The largest of each window over the last two axes.

    >>> nn.MaxPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[4.0]]]]
    """

    axes = 2


class MaxPool3d(_MaxPool):
    """The largest of each window over the last three axes.

    >>> nn.MaxPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    axes = 3


class AvgPool1d(_AvgPool):
    """The average of each window over the last axis.

    >>> nn.AvgPool1d(2)(Tensor([[[1.0, 4.0, 2.0, 3.0]]])).tolist()
    [[[2.5, 2.5]]]
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """The average of each window over the last two axes.

    >>> nn.AvgPool2d(2)(Tensor([[[[1.0, 4.0], [2.0, 3.0]]]])).tolist()
    [[[[2.5]]]]
    """

    axes = 2


class AvgPool3d(_AvgPool):
    """The average of each window over the last three axes.

    >>> nn.AvgPool3d(2)(Tensor.ones(1, 1, 4, 4, 4)).shape
    (1, 1, 2, 2, 2)
    """

    axes = 3
