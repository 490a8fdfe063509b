"""Blocks of the network that removes noise in a diffusion model (Ho et al., 2020)."""

from __future__ import annotations

import math

from weft import Tensor
from weft.nn import Conv2d, GroupNorm, Linear


def time_features(times: Tensor, features: int) -> Tensor:
    """(n,) to (n, features): sines and cosines of the time, from quick to slow."""
    half = features // 2
    rates = (Tensor.arange(half) * (-math.log(10000.0) / half)).exp()
    angles = times.reshape(-1, 1).float() * rates
    return angles.sin().cat(angles.cos(), dim=-1)


class ResidualBlock:
    """Two convolutions with a time embedding, added to the input."""

    def __init__(self, channels_in: int, channels: int, time: int, groups: int = 4) -> None:
        self.norm1, self.norm2 = GroupNorm(groups, channels_in), GroupNorm(groups, channels)
        self.conv1 = Conv2d(channels_in, channels, 3, padding=1)
        self.conv2 = Conv2d(channels, channels, 3, padding=1)
        self.time = Linear(time, channels)
        self.short = None if channels_in == channels else Conv2d(channels_in, channels, 1)

    def __call__(self, x: Tensor, time: Tensor) -> Tensor:
        out = self.conv1(self.norm1(x).silu())
        out = out + self.time(time.silu()).reshape(*time.shape[:1], -1, 1, 1)
        out = self.conv2(self.norm2(out).silu())
        return out + (x if self.short is None else self.short(x))


class SpatialAttention:
    """Attention of every place of an image to all others, added to it."""

    def __init__(self, channels: int, groups: int = 4) -> None:
        self.norm = GroupNorm(groups, channels)
        self.into, self.out = Conv2d(channels, 3 * channels, 1), Conv2d(channels, channels, 1)

    def __call__(self, x: Tensor) -> Tensor:
        n, channels, height, width = x.shape
        parts = self.into(self.norm(x)).reshape(n, 3, channels, height * width)
        query, key, value = (parts[:, i].transpose(1, 2) for i in range(3))
        seen = query.scaled_dot_product_attention(key, value)
        return x + self.out(seen.transpose(1, 2).reshape(n, channels, height, width))


class UNet:
    """Noisy images (n, 1, h, w) and their times (n,) to the noise in them; h and w are even."""

    def __init__(self, channels: int = 8, time: int = 16) -> None:
        self.features = time
        self.time = Linear(time, time)
        self.first = Conv2d(1, channels, 3, padding=1)
        self.down = ResidualBlock(channels, channels, time)
        self.smaller = Conv2d(channels, 2 * channels, 3, stride=2, padding=1)
        self.middle = ResidualBlock(2 * channels, 2 * channels, time)
        self.attention = SpatialAttention(2 * channels)
        self.up = ResidualBlock(3 * channels, channels, time)
        self.last = Conv2d(channels, 1, 3, padding=1)

    def __call__(self, x: Tensor, times: Tensor) -> Tensor:
        time = self.time(time_features(times, self.features))
        fine = self.down(self.first(x), time)
        coarse = self.attention(self.middle(self.smaller(fine), time))
        larger = coarse.repeat_interleave(2, 2).repeat_interleave(2, 3)
        return self.last(self.up(fine.cat(larger, dim=1), time))
