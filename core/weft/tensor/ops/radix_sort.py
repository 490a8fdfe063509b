"""Radix sort: sort integers by counting the values of each digit, the lowest digit first.
Also: counting sort.

Each pass counts how often every value of a digit occurs, adds these up to where each value begins,
and places every element after the earlier ones that have the same digit. So the order of equal
elements stays, and after the highest digit all are in order: some passes over the data, however
long a row is. Each step is an ordinary expression; that each is one pass over the elements comes
from `codegen/indexing` (keyed prefix counts, indexed stores, scatter-add), on one processor.

Source: D. E. Knuth, "The Art of Computer Programming", volume 3, section 5.2.5.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.intmath import ceildiv
from weft.base.settings import settings
from weft.device import registry
from weft.uop import Ops

DIGITS = 4096
"""Rows from this length on are sorted by digits on one processor."""
_WIDTH = 11
"""Bits of a digit at most: tables of 8 KB."""


def counts(device: Any) -> bool:
    """Whether a device processes the elements of a row sequentially, as the passes require."""
    if not isinstance(device, str) or not settings.FUSE_ARANGE:
        return False
    compute = registry.capabilities(device).compute
    if compute is None or compute.limits.global_size is not None:
        return False
    return dtypes.int64 in compute.dtypes and compute.limits.scratch_bytes >= 8 << _WIDTH


def places_by_digits(keys: Any, bits: int, first: int) -> Any:
    """The indices (int32) that sort integer keys (..., n) along the last axis; stable.

    bits: how many bits the keys have above the smallest one, `first`.
    """
    below = max((keys.shape[-1] - 1).bit_length(), 1)  # bits of a place
    places = keys.__class__.arange(keys.shape[-1], device=keys.device)
    if bits + below <= 63:  # one number of a key and its place is half of the work
        dtype = dtypes.int32 if bits + below <= 31 else dtypes.int64
        both = (keys.cast(dtype) - first) * (1 << below) + places.cast(dtype)
        return _sorted(both.contiguous(), None, below, bits)
    keys = keys.bitcast(dtypes.int64)
    keys = (keys ^ dtypes.int64.min if first else keys).contiguous()
    return _sorted(keys, places._expanded(keys.shape).contiguous(), 0, bits)


def values_by_digits(x: Any) -> Any:
    """Integers (..., n) or truths in order along the last axis, without their places."""
    dtype = x._uop.dtype
    bits = 1 if dtype is dtypes.bool else 8 * dtype.itemsize
    sign_bit = 0 if dtype is dtypes.bool or dtypes.is_unsigned(dtype) else 1 << (bits - 1)
    keys = x.cast(dtypes.int32) if dtype.itemsize < 4 else x
    # negative numbers come first; the sign is the highest bit of the last digit
    sign_bit = -sign_bit if dtype.itemsize >= 4 else sign_bit
    keys = (keys ^ sign_bit).contiguous()
    for shift, width in _digits(bits):
        keys = _scattered(keys, _destinations(keys, shift, width))
    if dtype.itemsize < 4:
        return ((keys & ((1 << bits) - 1)) - sign_bit).cast(dtype)
    return keys ^ sign_bit


def _digits(bits: int) -> list[tuple[int, int]]:
    """(lowest bit, number of bits) of each digit."""
    width = ceildiv(bits, ceildiv(bits, _WIDTH))
    return [(done, min(width, bits - done)) for done in range(0, bits, width)]


def _sorted(x: Any, places: Any, below: int, bits: int) -> Any:
    """The places in order: those in the lowest `below` bits of x, or the ones beside it."""
    *others, (shift, width) = _digits(bits)
    for lowest, count in others:
        at = _destinations(x, below + lowest, count)
        x, places = _scattered(x, at), None if places is None else _scattered(places, at)
    last = (x & ((1 << below) - 1)).cast(dtypes.int32) if places is None else places
    return _scattered(last, _destinations(x, below + shift, width))


def _destinations(x: Any, shift: int, width: int) -> Any:
    """Where each element goes: behind the smaller digits, and its equals before it."""
    count, size = 1 << width, x.shape[-1]
    digit = ((x >> shift) & (count - 1)).cast(dtypes.int32)
    values = x.__class__.arange(count, device=x.device)
    often = (digit.unsqueeze(-1) == values).cast(dtypes.int32)._reduce(Ops.ADD, -2, False)
    often = often.contiguous()
    start = (often.cumsum(-1, dtype=dtypes.int32) - often).contiguous()
    index = x.__class__.arange(size, device=x.device)
    equals = digit.unsqueeze(-1) == digit.unsqueeze(-2)
    before = index < index.unsqueeze(-1) + 1
    nth = (equals & before).cast(dtypes.int32)._reduce(Ops.ADD, -1, False)
    return (start.gather(-1, digit) + nth - 1).contiguous()


def _scattered(x: Any, at: Any) -> Any:
    """x[t] at place at[t] of its row, which are all places."""
    return x.zeros_like().scatter(-1, at, x).contiguous()
