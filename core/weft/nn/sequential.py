"""Layers one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, overload

from weft.base.errors import ArgumentError

Layer = Callable[[Any], Any]


class Sequential:
    """What goes in passes every layer in turn. A layer is anything that can be called.

    The names of its tensors begin with the layer's number: "0.weight", "2.bias". Raises
    ArgumentError for layers that cannot be called.

    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> net(Tensor.zeros(5, 4)).shape, list(nn.state.get_state_dict(net))
    ((5, 2), ['0.weight', '0.bias', '2.weight', '2.bias'])
    """

    def __init__(self, *layers: Layer) -> None:
        for number, layer in enumerate(layers):
            if not callable(layer):
                raise ArgumentError(
                    "a layer is something that can be called",
                    asked=f"Sequential with a {type(layer).__name__} at place {number}",
                    because="each layer is given what the one before it gave",
                    try_="Sequential(*layers) where they are in a list",
                )
        # attributes "0", "1", ...: so that the tensors have the names that they have elsewhere
        vars(self).update((str(number), layer) for number, layer in enumerate(layers))

    @property
    def layers(self) -> list[Layer]:
        """The layers in their order.

        >>> len(nn.Sequential(nn.Tanh(), nn.ReLU()).layers)
        2
        """
        return list(vars(self).values())

    def __call__(self, x: Any) -> Any:
        """What the last layer gives."""
        for layer in self.layers:
            x = layer(x)
        return x

    def append(self, layer: Layer) -> Sequential:
        """One more layer at the end; gives self.

        >>> len(nn.Sequential(nn.Linear(4, 3)).append(nn.ReLU()))
        2
        """
        self.__init__(*self.layers, layer)  # type: ignore[misc]
        return self

    def __len__(self) -> int:
        return len(vars(self))

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Any:
        chosen = self.layers[index]
        return Sequential(*chosen) if isinstance(chosen, list) else chosen
