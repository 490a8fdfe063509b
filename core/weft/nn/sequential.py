"""Layers one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, overload

from weft.base.errors import ArgumentError
from weft.nn.module import Module

Layer = Callable[[Any], Any]


class Sequential(Module):
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
            _checked(layer, name)
            # attributes "0", "1", ...: so that the tensors have the names that they have elsewhere
            setattr(self, str(name), layer)

    def _names(self) -> list[str]:
        return [name for name, value in vars(self).items() if callable(value)]

    @property
    def layers(self) -> list[Layer]:
        """The layers in their order.

        >>> len(nn.Sequential(nn.Tanh(), nn.ReLU()).layers)
        2
        """
        return [value for value in self.__dict__.values() if callable(value)]

    def forward(self, x: Any) -> Any:
        """What the last layer gives."""
        for layer in self.layers:
            x = layer(x)
        return x

    def append(self, layer: Layer) -> Sequential:
        """One more layer at the end; gives self.

        >>> len(nn.Sequential(nn.Linear(4, 3)).append(nn.ReLU()))
        2
        """
        setattr(self, str(len(self)), _checked(layer, len(self)))
        return self

    def extend(self, layers: Any) -> Sequential:
        """More layers at the end; gives self."""
        for layer in layers:
            self.append(layer)
        return self

    def insert(self, index: int, layer: Layer) -> Sequential:
        """A layer before that of this number; gives self. The layers are numbered anew."""
        layers = self.layers
        layers.insert(index, _checked(layer, index))
        self._put(layers)
        return self

    def _put(self, layers: list[Layer]) -> None:
        for name in self._names():
            delattr(self, name)
        for number, layer in enumerate(layers):
            setattr(self, str(number), layer)

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)({name: vars(self)[name] for name in self._names()[index]})
        return self.layers[index]

    def __setitem__(self, index: int, layer: Layer) -> None:
        setattr(self, self._names()[index], _checked(layer, index))

    def __delitem__(self, index: int | slice) -> None:
        layers = self.layers
        del layers[index]
        self._put(layers)

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self.layers, *other.layers)


def _checked(layer: Any, place: Any) -> Any:
    if not callable(layer):
        raise ArgumentError(
            "a layer is something that can be called",
            asked=f"Sequential with a {type(layer).__name__} at place {place}",
            because="each layer is given what the one before it gave",
            try_="Sequential(*layers) where they are in a list",
        )
    return layer
