"""GPT-2 (Radford et al., 2019): a decoder with a cache of keys and values.

`GPT2` computes the logits of whole sequences; `Decoder` continues one, token by token. The position
of the next token is a variable, so that one set of kernels serves all positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weft import Tensor, UOp, Variable, dtypes, jit
from weft.nn import Embedding, LayerNorm, Linear
from weft.nn.state import get_parameters


@dataclass(frozen=True)
class Config:
    """How large it is; the defaults are those of the smallest published model."""

    vocabulary: int = 50257
    positions: int = 1024
    features: int = 768
    heads: int = 12
    layers: int = 12


class Attention:
    """Causal attention with `heads` heads."""

    def __init__(self, config: Config) -> None:
        self.heads = config.heads
        self.into = Linear(config.features, 3 * config.features)
        self.out = Linear(config.features, config.features)

    def __call__(self, x: Tensor, start: int | UOp = 0, cache: Tensor | None = None) -> Tensor:
        """x (batch, length, features) at the positions from `start` on.

        cache: (2, batch, heads, positions, features / heads), with the keys and values of what
        came before; those of x are written into it.
        """
        batch, length, features = x.shape
        split = self.into(x).reshape(batch, length, 3, self.heads, features // self.heads)
        query, key, value = (split[:, :, i].transpose(1, 2) for i in range(3))
        if cache is not None:
            cache[:, :, :, start : start + length] = key.stack(value)
            key, value = cache[0, :, :, : start + length], cache[1, :, :, : start + length]
        seen = query.scaled_dot_product_attention(key, value, is_causal=length != 1)
        return self.out(seen.transpose(1, 2).reshape(batch, length, features))


class Block:
    """Attention and a small network, each added to what it was given."""

    def __init__(self, config: Config) -> None:
        self.before_attention = LayerNorm(config.features)
        self.attention = Attention(config)
        self.before_network = LayerNorm(config.features)
        self.wide = Linear(config.features, 4 * config.features)
        self.narrow = Linear(4 * config.features, config.features)

    def __call__(self, x: Tensor, start: int | UOp = 0, cache: Tensor | None = None) -> Tensor:
        x = x + self.attention(self.before_attention(x), start, cache)
        return x + self.narrow(self.wide(self.before_network(x)).gelu())


class GPT2:
    """Tokens (batch, length) to logits (batch, length, vocabulary); the embedding is used twice."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.tokens = Embedding(config.vocabulary, config.features)
        self.places = Embedding(config.positions, config.features)
        self.blocks = [Block(config) for _ in range(config.layers)]
        self.last = LayerNorm(config.features)
        for parameter in (self.tokens, self.places):
            parameter.weight.assign(Tensor.randn(*parameter.weight.shape) * 0.02)

    def __call__(
        self, tokens: Tensor, start: int | UOp = 0, caches: Sequence[Tensor] | None = None
    ) -> Tensor:
        """The tokens have the positions from `start` on; one cache for each block."""
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.places.weight[start : start + length]
        for number, block in enumerate(self.blocks):
            x = block(x, start, None if caches is None else caches[number])
        return self.last(x) @ self.tokens.weight.T

    def parameters(self) -> int:
        """How many numbers were learnt."""
        return sum(int(p.numel()) for p in get_parameters(self))


def _step(model: GPT2, caches: list[Tensor]) -> Callable[[Tensor, UOp], Tensor]:
    """One token to the logits of the next: recorded once, for all places."""

    @jit
    def step(token: Tensor, place: UOp) -> Tensor:
        return model(token, place, caches)[0, -1]

    return step


class Decoder:
    """One sequence, continued greedily."""

    def __init__(self, model: GPT2, positions: int | None = None) -> None:
        config = model.config
        self.model = model
        self.positions = positions or config.positions
        size = (2, 1, config.heads, self.positions, config.features // config.heads)
        self.caches = [Tensor.zeros(*size).contiguous().realize() for _ in model.blocks]
        self.place = Variable("place", 0, self.positions - 1)
        self.filled = 0
        self._step = _step(model, self.caches)

    def feed(self, tokens: Sequence[int]) -> Tensor:
        """Take up tokens; gives the logits (vocabulary,) of the one that follows.

        Several are read in one go where nothing came before, else one by one.
        """
        if self.filled == 0 and len(tokens) > 1:
            given = Tensor([list(tokens)], dtype=dtypes.int32)
            logits = self.model(given, 0, self.caches)[0, -1]
            self.filled = len(tokens)
            return logits
        for token in tokens:
            given = Tensor([[token]], dtype=dtypes.int32)
            logits = self._step(given, self.place.bind(self.filled))
            self.filled += 1
        return logits

    def continued(self, tokens: Sequence[int], count: int) -> Iterator[int]:
        """`count` tokens after the given ones, each the likeliest."""
        logits = self.feed(tokens)
        for number in range(count):
            token = int(logits.argmax().item())
            yield token
            if number + 1 < count:
                logits = self.feed([token])
