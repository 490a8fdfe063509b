"""Standard set: computations whose kernels `weft tune` searches if no program is named.

They are the kinds of kernels that most of the time of networks is spent in: products, convolutions,
reductions of rows and of columns, normalisations, elementwise chains and transposes.
"""

from __future__ import annotations

from collections.abc import Callable

from weft.device import OpenDevice
from weft.tensor import Tensor

Work = Callable[[], Tensor]


def works(device: OpenDevice) -> list[Work]:
    """Functions that build each computation on a device, without computing it."""

    def empty(*shape: int) -> Tensor:
        return Tensor.empty(*shape, device=device.name)

    def product(m: int, k: int, n: int) -> Work:
        return lambda: empty(m, k) @ empty(k, n)

    def convolution(batch: int, inputs: int, size: int, outputs: int, window: int) -> Work:
        images, weights = (batch, inputs, size, size), (outputs, inputs, window, window)
        return lambda: empty(*images).conv2d(empty(*weights), padding=window // 2)

    return [
        *(product(*shape) for shape in _PRODUCTS),
        *(convolution(*shape) for shape in _CONVOLUTIONS),
        lambda: empty(*_ROWS).softmax(-1),
        lambda: empty(*_ROWS).layernorm(),
        lambda: empty(*_ROWS).sum(1),
        lambda: empty(*_ROWS).sum(0),
        lambda: empty(*_ROWS).max(1),
        lambda: (empty(*_ROWS) * 2 + empty(*_ROWS)).gelu(),
        lambda: empty(*_ROWS).transpose(0, 1).contiguous(),
    ]


_PRODUCTS = ((256, 256, 256), (512, 512, 512), (64, 1024, 1024), (1, 1024, 1024))
_CONVOLUTIONS = ((1, 64, 28, 64, 3), (8, 3, 32, 32, 3), (1, 256, 14, 64, 1))
_ROWS = (512, 1024)
