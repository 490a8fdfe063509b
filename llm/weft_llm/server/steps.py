"""Steps over a paged cache: a chunk of one prompt, or one token of each of several sequences.

Every step has one of a few shapes. Where tokens are stored, and how many pages are read, are
Variables, so that `jit` records each shape once.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from typing import Any

import numpy as np

from weft import Tensor, UOp, Variable, dtypes, jit
from weft_llm.kv_cache import PagedCache, PagedContext
from weft_llm.layers import Network
from weft_llm.sampling import parameter_rows, penalized, recent_rows, sample
from weft_llm.server.sequence import Sequence

PAGE = 32
CHUNK_PAGES = (4, 1)


class Steps:
    """The computation of a server: one network and its cache."""

    def __init__(self, network: Network, pages: int, longest: int, parallel: int) -> None:
        """longest: most pages of one sequence. parallel: most sequences of one step."""
        self.vocabulary = network.config.vocab_size
        self.cache = PagedCache(network.config, pages, PAGE)
        self.longest = longest
        self.sizes = sorted({n for n in (1, 4, 16, 64) if n < parallel} | {parallel})
        most = max(parallel, CHUNK_PAGES[0])
        self._slots = [Variable(f"slot{n}", 0, (pages - 1) * PAGE) for n in range(most)]
        self._rows = [Variable(f"row{n}", 0, pages * PAGE - 1) for n in range(parallel)]
        self._pages = Variable("pages", 1, longest)
        self._prefill = _jit_prefill(network, self.cache)
        self._decode = _jit_decode(network, self.cache)

    def prefill(self, sequence: Sequence) -> Tensor:
        """Compute the next chunk of a prompt, whose pages are there: logits (1, vocabulary)."""
        left = len(sequence.tokens) - sequence.stored
        count = next((n for n in CHUNK_PAGES if n * PAGE <= left), CHUNK_PAGES[-1])
        size = min(count * PAGE, left)
        begin, first = sequence.stored, sequence.stored // PAGE
        part = sequence.tokens[begin : begin + size]
        tokens = np.zeros((1, count * PAGE), dtype=np.int32)
        tokens[0, :size] = part
        positions = np.arange(begin, begin + count * PAGE, dtype=np.int32).reshape(1, -1)
        pages = sequence.pages[first : first + count]
        starts = [self._slots[n].bind(page * PAGE) for n, page in enumerate(pages)]
        last = Tensor([size - 1], dtype=dtypes.int32)
        table, length = self._tables([sequence], 1, first + count)
        logits = self._prefill(Tensor(tokens), Tensor(positions), starts, table, length, last)
        sequence.stored += size
        return logits.realize()

    def decode(self, sequences: Items[Sequence]) -> Tensor:
        """Compute the last token of each sequence: logits (rows, vocabulary), rows at the end are
        padding."""
        rows = next(n for n in self.sizes if n >= len(sequences))
        tokens = np.zeros((rows, 1), dtype=np.int32)
        positions = np.zeros((rows, 1), dtype=np.int32)
        starts = [0] * rows
        for n, each in enumerate(sequences):
            tokens[n, 0], positions[n, 0] = each.tokens[-1], each.stored
            starts[n] = each.pages[each.stored // PAGE] * PAGE + each.stored % PAGE
        bound = [self._rows[n].bind(start) for n, start in enumerate(starts)]
        most = max(each.stored // PAGE + 1 for each in sequences)
        table, length = self._tables(sequences, rows, most)
        logits = self._decode(Tensor(tokens), Tensor(positions), bound, table, length)
        for each in sequences:
            each.stored += 1
        return logits.realize()

    def _tables(self, sequences: Items[Sequence], rows: int, most: int) -> tuple[Tensor, UOp]:
        """The pages of each sequence, padded with page 0, and how many of them are read."""
        table = np.zeros((rows, self.longest), dtype=np.int32)
        for row, each in zip(table, sequences, strict=False):
            row[: len(each.pages)] = each.pages[: self.longest]
        return Tensor(table), self._pages.bind(most)

    def choose(self, logits: Tensor, sequences: Items[Sequence]) -> np.ndarray:
        """The next token of each sequence, int32."""
        rows = int(logits.shape[0])
        listed = [each.sampling for each in sequences]
        listed += [listed[0]] * (rows - len(listed))
        if any(each.penalized for each in listed):
            recent = [each.tokens for each in sequences] + [[]] * (rows - len(sequences))
            recents = recent_rows(recent, self.vocabulary)
            logits = _penalized(logits, parameter_rows(listed), recents)
        if any(each.constraint is not None for each in sequences):
            logits = _masked(logits, self._masks(sequences, rows))
        if all(each.greedy for each in listed):
            found = _argmax(logits)
        else:
            numbers = [each.random.random() for each in sequences]
            numbers += [0.0] * (rows - len(numbers))
            uniforms = Tensor(np.array(numbers, dtype=np.float32))
            found = _sample(logits, parameter_rows(listed), uniforms)
        return found.numpy()[: len(sequences)]

    def _masks(self, sequences: Items[Sequence], rows: int) -> Tensor:
        masks = np.ones((rows, self.vocabulary), dtype=bool)
        for row, each in zip(masks, sequences, strict=False):
            if each.constraint is not None:
                row[:] = each.constraint.mask()
        return Tensor(masks)


_penalized, _sample = jit(penalized), jit(sample)


@jit
def _argmax(logits: Tensor) -> Tensor:
    return logits.argmax(-1).cast(dtypes.int32)


@jit
def _masked(logits: Tensor, mask: Tensor) -> Tensor:
    return mask.where(logits, -float("inf"))


def _jit_prefill(network: Network, cache: PagedCache) -> Any:
    @jit
    def prefill(
        tokens: Tensor, positions: Tensor, starts: list[UOp], table: Tensor, length: UOp,
        last: Tensor,
    ) -> Tensor:  # fmt: skip
        context = PagedContext(cache, positions, starts, table[:, :length])
        hidden = network(tokens, context)[0][last]
        logits: Tensor = network.logits(hidden, exact=True).cast(dtypes.float32)
        return logits

    return prefill


def _jit_decode(network: Network, cache: PagedCache) -> Any:
    @jit
    def decode(
        tokens: Tensor, positions: Tensor, starts: list[UOp], table: Tensor, length: UOp
    ) -> Tensor:
        context = PagedContext(cache, positions, starts, table[:, :length])
        logits: Tensor = network.logits(network(tokens, context)[:, 0]).cast(dtypes.float32)
        return logits

    return decode
