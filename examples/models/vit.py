"""A vision transformer (Dosovitskiy et al., 2021): patches of an image as words."""

from __future__ import annotations

from weft import Tensor
from weft.nn import Conv2d, LayerNorm, Linear, MultiHeadAttention


class Block:
    """Attention of all patches to all, and a small network; both added, both normalised before."""

    def __init__(self, features: int, heads: int) -> None:
        self.norm1, self.norm2 = LayerNorm(features), LayerNorm(features)
        self.attention = MultiHeadAttention(features, heads)
        self.wide, self.narrow = Linear(features, 4 * features), Linear(4 * features, features)

    def __call__(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(self.wide(self.norm2(x)).gelu())


class ViT:
    """(n, 1, side, side) to (n, classes)."""

    def __init__(
        self, side: int = 8, patch: int = 2, features: int = 32, heads: int = 4, layers: int = 2,
        classes: int = 10,
    ) -> None:  # fmt: skip
        self.patches = Conv2d(1, features, patch, stride=patch)
        self.summary = Tensor.zeros(1, 1, features).contiguous()
        self.places = Tensor.randn(1, (side // patch) ** 2 + 1, features) * 0.02
        self.blocks = [Block(features, heads) for _ in range(layers)]
        self.norm = LayerNorm(features)
        self.last = Linear(features, classes)

    def __call__(self, x: Tensor) -> Tensor:
        words = self.patches(x).flatten(2).transpose(1, 2)
        first = self.summary.expand(words.shape[0], -1, -1)
        x = first.cat(words, dim=1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.last(self.norm(x)[:, 0])
