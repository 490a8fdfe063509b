"""Key-value caches: whole sequences without one, one sequence in a contiguous cache, and pages.

Source of the paged cache: W. Kwon et al., "Efficient Memory Management for Large Language Model
Serving with PagedAttention" (2023).
"""

from __future__ import annotations

from collections.abc import Sequence

from weft import Tensor, UOp, dtypes
from weft_llm.attention import AttentionPattern, allowed, grouped_attention
from weft_llm.cache_rows import rows_of_layers
from weft_llm.configuration import Config


class WholeSequence:
    """Sequences from their first token on: nothing is stored.

    mask: bool (batch, length), False for padding that no query attends to.
    """

    def __init__(self, batch: int, length: int, mask: Tensor | None = None) -> None:
        self.positions = Tensor.arange(length, dtype=dtypes.int32).reshape(1, length)
        self.positions = self.positions.expand(batch, length)
        self._mask = mask

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, pattern: AttentionPattern
    ) -> Tensor:
        """See `Context`."""
        mask = allowed(self.positions, self.positions[0], pattern) if pattern.causal else None
        if self._mask is not None:
            real = self._mask.reshape(self._mask.shape[0], 1, 1, 1, -1)
            mask = real if mask is None else mask & real
        return grouped_attention(query, key, value, mask, pattern)


class ContiguousCache:
    """Keys and values of one sequence, of up to `capacity` tokens."""

    def __init__(self, config: Config, capacity: int, cache_format: str = "float32") -> None:
        self.capacity = capacity
        self.layers = rows_of_layers(config, capacity, cache_format)
        self.tensors = [each for rows in self.layers for each in rows.tensors]

    def at(self, start: UOp | int, length: int) -> CachePosition:
        """The context of `length` tokens from `start` on, a number or a bound Variable."""
        return CachePosition(self, start, length)


class CachePosition:
    """Tokens of one sequence from `start` on, with what came before in a contiguous cache."""

    def __init__(self, cache: ContiguousCache, start: UOp | int, length: int) -> None:
        self.cache, self.start, self.length = cache, start, length
        steps = Tensor.arange(length, dtype=dtypes.int32)
        self.positions = (steps + start).reshape(1, length)

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, pattern: AttentionPattern
    ) -> Tensor:
        """See `Context`."""
        stored, end = self.cache.layers[layer], self.start + self.length
        stored.write(self.start, end, key.stack(value)[:, 0].permute(2, 0, 1, 3))
        found = stored.read(lambda x: x[:end]).permute(1, 2, 0, 3).unsqueeze(1)
        key, value = found[0], found[1]
        mask = None
        if self.length > 1 or pattern.window is not None:
            keys = Tensor.arange(self.cache.capacity, dtype=dtypes.int32)[:end]
            mask = allowed(self.positions, keys, pattern)
        return grouped_attention(query, key, value, mask, pattern)


class PagedCache:
    """Keys and values of many sequences in pages of `page_size` tokens; page 0 is for padding."""

    def __init__(
        self, config: Config, pages: int, page_size: int, cache_format: str = "float32"
    ) -> None:
        self.pages, self.page_size = pages, page_size
        # a masked row is multiplied by 0: it must be a number
        self.layers = rows_of_layers(config, pages * page_size, cache_format, zeros=True)
        self.tensors = [each for rows in self.layers for each in rows.tensors]


class PagedContext:
    """Tokens of several sequences whose keys and values lie in pages.

    positions: (batch, length). runs: where the tokens are stored, in rows of the cache: as many
    starts as there are runs of equal length, numbers or bound Variables. Stores at a Variable are
    windows of the cache; stores by an index tensor would rewrite all of it. tables: (batch,
    pages), the pages of each sequence in order; their number may be a bound Variable.
    """

    def __init__(
        self, cache: PagedCache, positions: Tensor, runs: Sequence[UOp | int], tables: Tensor
    ) -> None:
        self.cache, self.positions, self.runs, self.tables = cache, positions, runs, tables

    def attend(
        self, layer: int, query: Tensor, key: Tensor, value: Tensor, pattern: AttentionPattern
    ) -> Tensor:
        """See `Context`."""
        stored, size = self.cache.layers[layer], self.cache.page_size
        batch, heads, length, features = key.shape
        new = key.stack(value, dim=2).permute(0, 3, 2, 1, 4).reshape(-1, 2, heads, features)
        run = batch * length // len(self.runs)
        for number, start in enumerate(self.runs):
            stored.write(start, start + run, new[number * run : (number + 1) * run])
        count = self.tables.shape[1] * size
        found = stored.read(
            lambda x: x.reshape(self.cache.pages, size, *x.shape[1:])[self.tables]
        ).reshape(batch, count, 2, heads, features)
        keys = Tensor.arange(self.cache.pages * size, dtype=dtypes.int32)[:count]
        mask = allowed(self.positions, keys, pattern)
        key, value = found[:, :, 0].transpose(1, 2), found[:, :, 1].transpose(1, 2)
        return grouped_attention(query, key, value, mask, pattern)
