"""Comparison of schedules: ranks whose programs differ end with an error instead of a hang.

Before a schedule runs the ranks compare a digest of its items. Where the digests differ, they
compare the items, and the error names the first that differs. Replays of `jit` run the schedule
that was compared when it was captured.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import zip_longest

from weft.plugin import DeviceError
from weft_mpi.rank_device import RankDevice


def compare(devices: Sequence[RankDevice], items: Sequence[str]) -> None:
    """Compare a schedule with those of the other ranks.

    :raises DeviceError: if they differ: on every rank, with the first item that differs.
    """
    process = devices[0].process
    digest = blake2b("\n".join(map(_compared, items)).encode(), digest_size=16).digest()
    if process.size == 1:
        return
    found = process.all_digests(digest)
    if any(other != digest for other in found):
        everything = process.all_objects(list(items), "the items of the other ranks' schedules")
        odd = next(rank for rank, other in enumerate(found) if other != found[0])
        raise _difference(everything[0], everything[odd], odd)


def _compared(line: str) -> str:
    """The part of a line that is equal on all ranks."""
    return line.partition("\t")[0]


def _difference(first: Sequence[str], other: Sequence[str], rank: int) -> DeviceError:
    pairs = enumerate(zip_longest(first, other, fillvalue="nothing"))
    number, pair = next((n, pair) for n, pair in pairs if len(set(map(_compared, pair))) > 1)
    here, there = (line.replace("\t", " ") for line in pair)
    return DeviceError(
        "the ranks of this program have different schedules",
        asked=f"a schedule of {len(first)} items on rank 0 and {len(other)} on rank {rank}",
        because=f"item {number} is\n  {here}\non rank 0, and\n  {there}\non rank {rank}",
        try_="every rank runs the same operations on sharded tensors: look for a condition on the "
        "rank, or for a Python number that differs between ranks",
    )
