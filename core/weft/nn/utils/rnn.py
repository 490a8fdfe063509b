"""Sequences of several lengths: padded to one length, or packed one step after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from weft.base.arguments import choice, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(NamedTuple):
    """Sequences of falling length, step by step; `pack_padded_sequence` makes it, and the recurrent
    networks take and give it."""

    data: Tensor
    """(steps of all sequences, ...): all first steps, then all second ones, ..."""
    batch_sizes: Tensor
    """The number of sequences that have each step."""
    sorted_indices: Tensor | None = None
    """The numbers of the sequences in the order of falling length; None: they were in it."""
    unsorted_indices: Tensor | None = None
    """The inverse of sorted_indices."""

    def lengths(self) -> list[int]:
        """The lengths, falling."""
        sizes = self.batch_sizes.tolist()
        return [sum(size > number for size in sizes) for number in range(sizes[0])]


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another one.

    >>> nn.utils.rnn.invert_permutation(Tensor([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:  # fmt: skip
    """Pack a padded batch (length, batch, ...), or (batch, length, ...) with batch_first.

    enforce_sorted: the lengths fall already. :raises ArgumentError: where they do not, and for
    lengths that are none. The lengths are read.

    >>> x = Tensor([[1, 2, 3], [4, 0, 0]])
    >>> packed = nn.utils.rnn.pack_padded_sequence(x, [3, 1], batch_first=True)
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 4, 2, 3], [2, 1, 1])
    """
    x = input.transpose(0, 1) if batch_first else input
    steps, batch = x.shape[:2]
    given = lengths.tolist() if isinstance(lengths, Tensor) else [int(n) for n in lengths]
    if len(given) != batch or any(not 1 <= length <= steps for length in given):
        raise ArgumentError(
            "each sequence has a length",
            asked=f"pack_padded_sequence of {batch} sequences with lengths {given}",
            because=f"lengths are from 1 to {steps}",
        )
    order = sorted(range(batch), key=lambda number: -given[number])
    falling = all(a >= b for a, b in pairwise(given))
    if enforce_sorted and not falling:
        raise ArgumentError(
            "the lengths do not fall",
            asked=f"pack_padded_sequence with lengths {given}",
            try_="enforce_sorted=False",
        )
    sizes = [sum(length > step for length in given) for step in range(max(given))]
    places = [step * batch + number for step, size in enumerate(sizes) for number in order[:size]]
    data = x.reshape(steps * batch, *x.shape[2:])[_numbers(places, x)]
    chosen = None if enforce_sorted else _numbers(order, x)
    return PackedSequence(data, Tensor(sizes, dtype=dtypes.int64), chosen,
                          invert_permutation(chosen))  # fmt: skip


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(padded batch, lengths) of packed sequences, in their order before they were packed.

    total_length: of the result, at least the largest length.
    :raises ArgumentError: for a smaller one.

    >>> packed = nn.utils.rnn.pack_sequence([Tensor([1, 2, 3]), Tensor([4])])
    >>> padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    >>> padded.tolist(), lengths.tolist()
    ([[1, 2, 3], [4, 0, 0]], [3, 1])
    """
    sizes, data = sequence.batch_sizes.tolist(), sequence.data
    steps = len(sizes) if total_length is None else whole(total_length, "total_length")
    if steps < len(sizes):
        raise ArgumentError(
            "the sequences are longer",
            asked=f"pad_packed_sequence(total_length={total_length})",
            because=f"the largest length is {len(sizes)}",
        )
    lengths = sequence.lengths()
    order = list(range(len(lengths)))
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices.tolist()
    starts = [sum(sizes[:step]) for step in range(len(sizes))]
    padding = data.shape[0]  # one more row
    places = [
        starts[step] + number if step < lengths[number] else padding
        for step in range(steps)
        for number in order
    ]
    row = Tensor.full((1, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    padded = data.cat(row)[_numbers(places, data)].reshape(steps, len(order), *data.shape[1:])
    found = Tensor([lengths[number] for number in order], dtype=dtypes.int64)
    return (padded.transpose(0, 1) if batch_first else padded), found


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Sequences (length, ...) of several lengths as one tensor (length, batch, ...), or (batch,
    length, ...) with batch_first.

    >>> rnn = nn.utils.rnn
    >>> rnn.pad_sequence([Tensor([1, 2]), Tensor([3])], batch_first=True).tolist()
    [[1, 2], [3, 0]]
    """
    choice(padding_side, "padding_side", ("right", "left"))
    given = list(sequences)
    if not given or any(each.shape[1:] != given[0].shape[1:] for each in given):
        raise ShapeError(
            "sequences differ in their first axis alone",
            asked=f"pad_sequence of {[each.shape for each in given]}",
        )
    length = max(each.shape[0] for each in given)
    padded = []
    for each in given:
        missing = length - each.shape[0]
        pair = (0, missing) if padding_side == "right" else (missing, 0)
        padded.append(each.pad((pair, *(None,) * (each.ndim - 1)), value=padding_value))
    return padded[0].stack(*padded[1:], dim=0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, each of its length.

    >>> [x.tolist() for x in nn.utils.rnn.unpad_sequence(Tensor([[1, 2], [3, 0]]), [2, 1], True)]
    [[1, 2], [3]]
    """
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    given = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [x[number, :length] for number, length in enumerate(given)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (length, ...). See `pack_padded_sequence`."""
    lengths = [each.shape[0] for each in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one.

    >>> packed = nn.utils.rnn.pack_sequence([Tensor([1]), Tensor([2, 3])], enforce_sorted=False)
    >>> [x.tolist() for x in nn.utils.rnn.unpack_sequence(packed)]
    [[1], [2, 3]]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _numbers(values: list[int], beside: Any) -> Tensor:
    return Tensor(values, dtype=dtypes.int32, device=beside.device)
