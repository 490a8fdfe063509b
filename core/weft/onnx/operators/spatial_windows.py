"""Kernel, strides, dilations and padding of convolutions and pools, from attributes of a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.onnx.graph import Node
from weft.tensor import Tensor

Pair = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """The window of a convolution or a pool, one number for each spatial axis.

    :ivar pads: elements before and after each axis.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[Pair, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """Elements from the first to the last one of a window, by axis."""
        return tuple(
            spread * (size - 1) + 1
            for size, spread in zip(self.kernel, self.dilations, strict=True)
        )


def window_of(
    node: Node, sizes: Sequence[Any], kernel: Sequence[int], strides: Sequence[int] | None,
    dilations: Sequence[int] | None, pads: Sequence[int] | None, auto_pad: str = "NOTSET",
) -> Window:  # fmt: skip
    """Return the window for an input with these spatial sizes.

    :raises OnnxError: if a list has another length than there are spatial axes, for a number out
        of range, and for an unknown `auto_pad`.
    """
    axes = len(sizes)
    window = Window(
        _numbers(node, "kernel_shape", kernel, axes, 1, 1),
        _numbers(node, "strides", strides, axes, 1, 1),
        _numbers(node, "dilations", dilations, axes, 1, 1),
        pairs(_numbers(node, "pads", pads, 2 * axes, 0, None)),
    )
    if auto_pad in ("NOTSET", ""):
        return window
    if auto_pad == "VALID":
        return Window(window.kernel, window.strides, window.dilations, ((0, 0),) * axes)
    if auto_pad not in ("SAME_UPPER", "SAME_LOWER"):
        raise node.refuse(f"auto_pad is {auto_pad!r}", "NOTSET, SAME_UPPER, SAME_LOWER or VALID")
    around = tuple(
        halves(_same_padding(node, size, step, extent), auto_pad == "SAME_UPPER")
        for size, step, extent in zip(sizes, window.strides, window.extents, strict=True)
    )
    return Window(window.kernel, window.strides, window.dilations, around)


def pairs(pads: Sequence[int]) -> tuple[Pair, ...]:
    """Return (before, after) by axis: ONNX lists all that is before, then all that is after."""
    axes = len(pads) // 2
    return tuple(zip(pads[:axes], pads[axes:], strict=True))


def halves(total: int, more_after: bool) -> Pair:
    """Return the padding of both sides. The odd element is after, or else before."""
    less = total // 2
    return (less, total - less) if more_after else (total - less, less)


def batch_and_space(node: Node, x: Tensor) -> tuple[Any, ...]:
    """Return the spatial sizes of (batch, channels, *space).

    :raises OnnxError: if the input has no spatial axis.
    """
    if x.ndim < 3:
        raise node.refuse(
            f"the input has the shape {x.shape}", "an input (batch, channels, *space)"
        )
    return tuple(x.shape[2:])


def _same_padding(node: Node, size: Any, step: int, extent: int) -> int:
    if not isinstance(size, int):
        if step == 1:
            return extent - 1
        raise node.refuse(
            f"auto_pad with the stride {step} depends on the size {size}, which is symbolic",
            "give `pads`, or a model with a fixed size of this axis",
        )
    return max((-(-size // step) - 1) * step + extent - size, 0)


def _numbers(
    node: Node, name: str, values: Sequence[int] | None, count: int, default: int, least: int | None
) -> tuple[int, ...]:
    if not values:
        return (default,) * count
    if len(values) != count or (least is not None and min(values) < least):
        raise node.refuse(
            f"{name} is {list(values)}",
            f"{count} numbers" + ("" if least is None else f", each at least {least}"),
        )
    return tuple(int(value) for value in values)
