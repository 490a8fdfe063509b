"""A residual network for small images (He et al., 2016): stages of blocks, each half as wide."""

from __future__ import annotations

from collections.abc import Sequence

from weft import Tensor
from weft.nn import BatchNorm2d, Conv2d, Linear


class Block:
    """Two 3 x 3 convolutions, added to what came in, or to a 1 x 1 convolution of it."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        self.conv1 = Conv2d(channels_in, channels, 3, stride=stride, padding=1, bias=False)
        self.norm1 = BatchNorm2d(channels)
        self.conv2 = Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = BatchNorm2d(channels)
        same = stride == 1 and channels_in == channels
        self.short = None if same else Conv2d(channels_in, channels, 1, stride=stride, bias=False)
        self.short_norm = None if same else BatchNorm2d(channels)

    def __call__(self, x: Tensor) -> Tensor:
        out = self.norm1(self.conv1(x)).relu()
        out = self.norm2(self.conv2(out))
        if self.short is not None and self.short_norm is not None:
            x = self.short_norm(self.short(x))
        return (out + x).relu()


class ResNet:
    """(n, 1, side, side) to (n, classes); `channels` of each stage, `depth` blocks in each."""

    def __init__(self, channels: Sequence[int] = (8, 16), depth: int = 1, classes: int = 10):
        self.first = Conv2d(1, channels[0], 3, padding=1, bias=False)
        self.norm = BatchNorm2d(channels[0])
        self.blocks: list[Block] = []
        before = channels[0]
        for stage, width in enumerate(channels):
            for number in range(depth):
                stride = 2 if stage and not number else 1
                self.blocks.append(Block(before, width, stride))
                before = width
        self.last = Linear(before, classes)

    def __call__(self, x: Tensor) -> Tensor:
        x = self.norm(self.first(x)).relu()
        for block in self.blocks:
            x = block(x)
        return self.last(x.mean((2, 3)))
