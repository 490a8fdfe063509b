"""Random programs whose tensors are on several devices: the same lines, another `Tensor`.

    run_program(Seeded(7), devices=("REF", "REF:1"))

Each new tensor is cut along another axis than the last, or whole everywhere, in a fixed order: a
program's text with its first line says all there is to know. On a mesh of several axes each of
them cuts an axis of the tensor, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from weft import Device, Tensor


class Sharded:
    """What a line calls to make a tensor: as `Tensor`, and laid out over `devices`.

    :param mesh: the sizes of the axes of a mesh of the devices; none: they are in a row.
    """

    def __init__(self, *devices: str, mesh: tuple[int, ...] = ()) -> None:
        self.devices = devices
        self.sizes = mesh
        named = [(f"axis{number}", size) for number, size in enumerate(mesh)]
        self.mesh = Device.mesh(*named, devices=devices) if mesh else None
        self.made = 0

    def __repr__(self) -> str:
        mesh = f", mesh={self.sizes}" if self.mesh else ""
        return f"Sharded({', '.join(map(repr, self.devices))}{mesh})"

    def __call__(self, data: Any) -> Tensor:
        """A tensor of `data`."""
        return self.laid_out(Tensor(data, device=self.devices[0]))

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        """A method that makes tensors: `full`, `arange`, `eye`."""
        make = getattr(Tensor, name)

        def made(*given: Any, **named: Any) -> Tensor:
            return self.laid_out(make(*given, device=self.devices[0], **named))

        return made

    def laid_out(self, x: Tensor) -> Tensor:
        """`x` sharded along the next axis, cyclically; after the last axis unsharded."""
        number = self.made
        self.made += 1
        if self.mesh is not None:
            layouts = list(product((*range(x.ndim), None), repeat=len(self.sizes)))
            chosen = layouts[(5 * number + 1) % len(layouts)]
            named = {n: axis for n, axis in zip(self.mesh.axes, chosen) if axis is not None}
            return x.shard(self.mesh, **named)
        axis = number % (x.ndim + 1)
        return x.shard(self.devices, axis if axis < x.ndim else None)
