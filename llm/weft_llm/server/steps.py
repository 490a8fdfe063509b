"""Steps over a paged cache: a chunk of one prompt, or one token of each of several sequences.

Every step has one of a few shapes. Where tokens are stored, and how many pages are read, are
Variables, so that each shape is recorded once.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from typing import NamedTuple, TypeAlias

import numpy as np

from weft import Tensor, UOp, Variable, dtypes, jit
from weft.device import Buffer
from weft.export import tensor_over
from weft_llm.kv_cache import PagedCache, PagedContext
from weft_llm.layers import Network
from weft_llm.recorded_step import RecordedStep
from weft_llm.sampling import parameter_rows, penalized, recent_rows, sample
from weft_llm.server.sequence import Sequence
from weft_llm.weights import description_of, tensors_of

Step: TypeAlias = Callable[[Items[Tensor], Items[UOp]], tuple[Tensor, Tensor]]
PAGE = 32
CHUNK_PAGES = (4, 1)


class Scores(NamedTuple):
    """Logits (rows, vocabulary), and the likeliest token of each row, int32."""

    logits: Tensor
    likeliest: np.ndarray


class Steps:
    """The computation of a server: one network and its cache."""

    def __init__(
        self, network: Network, pages: int, longest: int, parallel: int,
        cache_format: str = "float32",
    ) -> None:  # fmt: skip
        """longest: most pages of one sequence. parallel: most sequences of one step."""
        self.vocabulary = network.config.vocab_size
        self.cache = PagedCache(network.config, pages, PAGE, cache_format)
        self.longest = longest
        self.sizes = sorted({n for n in (1, 4, 16, 64) if n < parallel} | {parallel})
        most = max(parallel, CHUNK_PAGES[0])
        self._slots = [Variable(f"slot{n}", 0, (pages - 1) * PAGE) for n in range(most)]
        self._rows = [Variable(f"row{n}", 0, pages * PAGE - 1) for n in range(parallel)]
        self._pages = Variable("pages", 1, longest)
        state = [*tensors_of(network), *self.cache.tensors]
        made = f"{cache_format} {description_of(network)}"
        self._prefill = RecordedStep(_prefill_of(network, self.cache), state, f"prefill {made}")
        self._decode = RecordedStep(_decode_of(network, self.cache), state, f"decode {made}")

    def prefill(self, sequence: Sequence) -> Scores:
        """Compute the next chunk of a prompt, whose pages are there: scores of one row."""
        left = len(sequence.tokens) - sequence.stored
        count = next((n for n in CHUNK_PAGES if n * PAGE <= left), CHUNK_PAGES[-1])
        size = min(count * PAGE, left)
        begin, first = sequence.stored, sequence.stored // PAGE
        part = sequence.tokens[begin : begin + size]
        tokens = np.zeros((1, count * PAGE), dtype=np.int32)
        tokens[0, :size] = part
        positions = np.arange(begin, begin + count * PAGE, dtype=np.int32).reshape(1, -1)
        pages = sequence.pages[first : first + count]
        last = np.array([size - 1], dtype=np.int32)
        values = {self._pages: first + count}
        values |= {self._slots[n]: page * PAGE for n, page in enumerate(pages)}
        arrays = [tokens, positions, self._tables([sequence], 1), last]
        found = self._scores(self._prefill(arrays, values), 1)
        sequence.stored += size
        return found

    def decode(self, sequences: Items[Sequence]) -> Scores:
        """Compute the last token of each sequence; rows at the end are padding."""
        rows = next(n for n in self.sizes if n >= len(sequences))
        tokens = np.zeros((rows, 1), dtype=np.int32)
        positions = np.zeros((rows, 1), dtype=np.int32)
        starts = [0] * rows
        for n, each in enumerate(sequences):
            tokens[n, 0], positions[n, 0] = each.tokens[-1], each.stored
            starts[n] = each.pages[each.stored // PAGE] * PAGE + each.stored % PAGE
        most = max(each.stored // PAGE + 1 for each in sequences)
        values = {self._pages: most} | {self._rows[n]: start for n, start in enumerate(starts)}
        arrays = [tokens, positions, self._tables(sequences, rows)]
        found = self._scores(self._decode(arrays, values), rows)
        for each in sequences:
            each.stored += 1
        return found

    def _scores(self, results: Items[Buffer], rows: int) -> Scores:
        logits, likeliest = results
        return Scores(tensor_over(logits, (rows, self.vocabulary)), likeliest.numpy())

    def _tables(self, sequences: Items[Sequence], rows: int) -> np.ndarray:
        """The pages of each sequence, padded with page 0."""
        table = np.zeros((rows, self.longest), dtype=np.int32)
        for row, each in zip(table, sequences, strict=False):
            row[: len(each.pages)] = each.pages[: self.longest]
        return table

    def choose(self, scores: Scores, sequences: Items[Sequence]) -> np.ndarray:
        """The next token of each sequence, int32."""
        logits = scores.logits
        rows = int(logits.shape[0])
        listed = [each.sampling for each in sequences]
        listed += [listed[0]] * (rows - len(listed))
        changed = any(each.penalized for each in listed)
        changed = changed or any(each.constraint is not None for each in sequences)
        if not changed and all(each.greedy for each in listed):
            return scores.likeliest[: len(sequences)]
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


def _prefill_of(network: Network, cache: PagedCache) -> Step:
    def prefill(inputs: Items[Tensor], bound: Items[UOp]) -> tuple[Tensor, Tensor]:
        tokens, positions, table, last = inputs
        length, *starts = bound
        context = PagedContext(cache, positions, starts, table[:, :length])
        hidden = network(tokens, context)[0][last]
        return _scores(network.logits(hidden, exact=True))

    return prefill


def _decode_of(network: Network, cache: PagedCache) -> Step:
    def decode(inputs: Items[Tensor], bound: Items[UOp]) -> tuple[Tensor, Tensor]:
        tokens, positions, table = inputs
        length, *starts = bound
        context = PagedContext(cache, positions, starts, table[:, :length])
        return _scores(network.logits(network(tokens, context)[:, 0]))

    return decode


def _scores(logits: Tensor) -> tuple[Tensor, Tensor]:
    logits = logits.cast(dtypes.float32).contiguous()
    return logits, logits.argmax(-1).cast(dtypes.int32)
