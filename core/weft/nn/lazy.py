"""Layers that take the size of their input from the first one: LazyLinear, LazyConv, LazyBatchNorm.

Such a layer has no parameters until it is called, or until a saved state is loaded into it. Then it
becomes a layer of the class that it is named after.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.engine.capture import recording
from weft.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from weft.nn.input_checks import tensor_for
from weft.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from weft.nn.linear import Linear
from weft.nn.module import Layer, Module
from weft.nn.norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from weft.tensor import Tensor

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip


class _Lazy(Layer):
    """What lazy layers share. The arguments are those of the class that they become, without its
    first one, which is the size of the input.

    input_axis: where that size is in an input. weight_axis: where it is in the saved weight.
    """

    eager: type[Module]
    input_axis: int
    weight_axis: int

    def __init_subclass__(cls, **attributes: Any) -> None:
        super().__init_subclass__(**attributes)
        signature = inspect.signature(cls.eager.__init__)
        _, _, *rest = signature.parameters.values()
        cls.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        inspect.signature(self.eager.__init__).bind(self, 1, *args, **kwargs)
        self._lazy_arguments = (args, kwargs)

    def extra_repr(self) -> str:
        args, kwargs = self._lazy_arguments
        return ", ".join([*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())])

    def has_uninitialized_params(self) -> bool:
        """Whether the size of the input is still unknown."""
        return True

    def initialize_parameters(self, input: Tensor) -> None:
        """Become a layer of the eager class, for inputs as this one.

        :raises ArgumentError: in a captured function, which cannot make parameters.
        """
        x = tensor_for(self, input)
        if recording() is not None:
            raise ArgumentError(
                "a lazy layer takes its size from its first input",
                asked=f"the first call of {type(self).__name__} in a captured function",
                because="each replay would make its parameters again",
                try_="call the model once before it is captured",
            )
        self._become(x.shape[self.input_axis], x)

    def forward(self, input: Tensor, *args: Any, **kwargs: Any) -> Any:
        """The result of the layer that this one becomes."""
        self.initialize_parameters(input)
        return self.forward(input, *args, **kwargs)

    def prepare_to_load(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Become a layer of the eager class, for a saved state of these shapes if it has the size;
        `load_state_dict` calls this."""
        for name in ("weight", "running_mean"):
            if name in shapes:
                size = shapes[name][self.weight_axis]
                args, kwargs = self._lazy_arguments
                found = inspect.signature(self.eager.__init__).bind(self, 1, *args, **kwargs)
                groups = found.arguments.get("groups", 1) if self.weight_axis else 1
                self._become(size * groups, None)
                return

    def _become(self, size: int, x: Tensor | None) -> None:
        args, kwargs = vars(self).pop("_lazy_arguments")
        found = inspect.signature(self.eager.__init__).bind(self, size, *args, **kwargs).arguments
        if x is not None:
            found["device"] = found.get("device") or x.device
            if found.get("dtype") is None and dtypes.is_float(x.dtype):
                found["dtype"] = x.dtype
        kind = self.eager
        self.__class__ = kind  # type: ignore[assignment]
        kind.__init__(**found)


class LazyLinear(_Lazy, Linear, eager=Linear, input_axis=-1, weight_axis=1):
    """`nn.Linear` whose in_features are those of the first input.

    >>> layer = nn.LazyLinear(2)
    >>> layer(Tensor.ones(3, 4)).shape, layer
    ((3, 2), Linear(in_features=4, out_features=2, bias=True))
    """


class LazyConv1d(_Lazy, Conv1d, eager=Conv1d, input_axis=-2, weight_axis=1):
    """`nn.Conv1d` whose in_channels are those of the first input.

    >>> nn.LazyConv1d(8, kernel_size=2)(Tensor.ones(1, 3, 4)).shape
    (1, 8, 3)
    """


class LazyConv2d(_Lazy, Conv2d, eager=Conv2d, input_axis=-3, weight_axis=1):
    """`nn.Conv2d` whose in_channels are those of the first input.

    >>> nn.LazyConv2d(8, kernel_size=2)(Tensor.ones(1, 3, 4, 4)).shape
    (1, 8, 3, 3)
    """


class LazyConv3d(_Lazy, Conv3d, eager=Conv3d, input_axis=-4, weight_axis=1):
    """`nn.Conv3d` whose in_channels are those of the first input.

    >>> nn.LazyConv3d(8, kernel_size=2)(Tensor.ones(1, 3, 4, 4, 4)).shape
    (1, 8, 3, 3, 3)
    """


class LazyConvTranspose1d(
    _Lazy, ConvTranspose1d, eager=ConvTranspose1d, input_axis=-2, weight_axis=0
):
    """`nn.ConvTranspose1d` whose in_channels are those of the first input.

    >>> nn.LazyConvTranspose1d(8, kernel_size=2)(Tensor.ones(1, 3, 4)).shape
    (1, 8, 5)
    """


class LazyConvTranspose2d(
    _Lazy, ConvTranspose2d, eager=ConvTranspose2d, input_axis=-3, weight_axis=0
):
    """`nn.ConvTranspose2d` whose in_channels are those of the first input.

    >>> nn.LazyConvTranspose2d(8, kernel_size=2)(Tensor.ones(1, 3, 4, 4)).shape
    (1, 8, 5, 5)
    """


class LazyConvTranspose3d(
    _Lazy, ConvTranspose3d, eager=ConvTranspose3d, input_axis=-4, weight_axis=0
):
    """`nn.ConvTranspose3d` whose in_channels are those of the first input.

    >>> nn.LazyConvTranspose3d(8, kernel_size=2)(Tensor.ones(1, 3, 4, 4, 4)).shape
    (1, 8, 5, 5, 5)
    """


class LazyBatchNorm1d(_Lazy, BatchNorm1d, eager=BatchNorm1d, input_axis=1, weight_axis=0):
    """`nn.BatchNorm1d` whose num_features are those of the first input.

    >>> nn.LazyBatchNorm1d()(Tensor.ones(2, 3, 4)).shape
    (2, 3, 4)
    """


class LazyBatchNorm2d(_Lazy, BatchNorm2d, eager=BatchNorm2d, input_axis=1, weight_axis=0):
    """`nn.BatchNorm2d` whose num_features are those of the first input.

    >>> nn.LazyBatchNorm2d()(Tensor.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """


class LazyBatchNorm3d(_Lazy, BatchNorm3d, eager=BatchNorm3d, input_axis=1, weight_axis=0):
    """`nn.BatchNorm3d` whose num_features are those of the first input.

    >>> nn.LazyBatchNorm3d()(Tensor.ones(2, 3, 4, 4, 4)).shape
    (2, 3, 4, 4, 4)
    """


class LazyInstanceNorm1d(_Lazy, InstanceNorm1d, eager=InstanceNorm1d, input_axis=-2, weight_axis=0):
    """`nn.InstanceNorm1d` whose num_features are those of the first input.

    >>> nn.LazyInstanceNorm1d()(Tensor.ones(2, 3, 4)).shape
    (2, 3, 4)
    """


class LazyInstanceNorm2d(_Lazy, InstanceNorm2d, eager=InstanceNorm2d, input_axis=-3, weight_axis=0):
    """`nn.InstanceNorm2d` whose num_features are those of the first input.

    >>> nn.LazyInstanceNorm2d()(Tensor.ones(2, 3, 4, 4)).shape
    (2, 3, 4, 4)
    """


class LazyInstanceNorm3d(_Lazy, InstanceNorm3d, eager=InstanceNorm3d, input_axis=-4, weight_axis=0):
    """`nn.InstanceNorm3d` whose num_features are those of the first input.

    >>> nn.LazyInstanceNorm3d()(Tensor.ones(2, 3, 4, 4, 4)).shape
    (2, 3, 4, 4, 4)
    """
