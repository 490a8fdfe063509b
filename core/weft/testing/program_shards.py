"""Random programs whose tensors are on several devices: the same lines, another `Tensor`.

    run_program(Seeded(7), devices=("REF", "REF:1"))

Each new tensor is cut along another axis than the last, or whole everywhere, in a fixed order: a
program's text with its first line says all there is to know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import Tensor


class Sharded:
    """What a line calls to make a tensor: as `Tensor`, and laid out over `devices`."""

    def __init__(self, *devices: str) -> None:
        self.devices = devices
        self.made = 0

    def __repr__(self) -> str:
        return f"Sharded({', '.join(map(repr, self.devices))})"

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
        axis = self.made % (x.ndim + 1)
        self.made += 1
        return x.shard(self.devices, axis if axis < x.ndim else None)
