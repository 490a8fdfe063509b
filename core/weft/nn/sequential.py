"""Layers one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, overload

from weft.base.errors import ArgumentError
from weft.nn.containers import NumberedModules

Layer = Callable[[Any], Any]


class Sequential(NumberedModules[Layer]):
    """The input passes through every layer in order. A layer is anything that can be called.

    The names of its tensors begin with the layer's number: "0.weight", "2.bias"; or with its key
    where the layers are given as a dict. Raises ArgumentError for layers that cannot be called.

    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> net(Tensor.zeros(5, 4)).shape, list(nn.state.get_state_dict(net))
    ((5, 2), ['0.weight', '0.bias', '2.weight', '2.bias'])
    >>> nn.Sequential({"body": nn.Linear(4, 3), "act": nn.ReLU()})
    Sequential(
      (body): Linear(in_features=4, out_features=3, bias=True)
      (act): ReLU()
    )
    """

    def __init__(self, *layers: Layer | Mapping[str, Layer]) -> None:
        first = layers[0] if len(layers) == 1 else None
        named = first.items() if isinstance(first, Mapping) else enumerate(layers)
        for name, layer in named:
            # attributes "0", "1", ...: so that the tensors have the names that they have elsewhere
            setattr(self, str(name), self._checked(layer))

    def _names(self) -> list[str]:
        return [name for name, value in vars(self).items() if callable(value)]

    @property
    def layers(self) -> list[Layer]:
        """The layers in their order.

        >>> len(nn.Sequential(nn.Tanh(), nn.ReLU()).layers)
        2
        """
        return [value for value in self.__dict__.values() if callable(value)]

    def forward(self, input: Any) -> Any:
        """What the last layer gives."""
        for layer in self.layers:
            input = layer(input)
        return input

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)({name: vars(self)[name] for name in self._names()[index]})
        return self.layers[index]

    def __add__(self, items: Iterable[Layer]) -> Sequential:
        return Sequential(*self.layers, *items)

    def _checked(self, value: Any) -> Any:
        if not callable(value):
            raise ArgumentError(
                "a layer is something that can be called",
                asked=f"Sequential with a {type(value).__name__}",
                because="each layer is given what the one before it gave",
                try_="Sequential(*layers) where they are in a list",
            )
        return value
