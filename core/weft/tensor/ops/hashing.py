"""Hashes of bytes, computed by tensor code: SHA-3 and SHAKE."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.tensor.protocol import TensorT

_LANES, _ROUNDS = 25, 24
# domain byte, rate in bytes, bytes of the digest
_FORMS = {
    "sha3_224": (0x06, 144, 28), "sha3_256": (0x06, 136, 32), "sha3_384": (0x06, 104, 48),
    "sha3_512": (0x06, 72, 64), "shake_128": (0x1F, 168, 16), "shake_256": (0x1F, 136, 32),
}  # fmt: skip


def keccak(self: TensorT, cfg: str = "sha3_256") -> TensorT:
    """The hash of every row of bytes: uint8 (..., n) to uint8 (..., digest size).

    cfg: sha3_224, sha3_256, sha3_384, sha3_512, or shake_128, shake_256 with their 16 and 32
    bytes. Method and constants: FIPS 202.
    :raises DTypeError: for other dtypes. :raises ShapeError: without an axis.
    :raises ArgumentError: for other forms.

    >>> bytes(Tensor(b"abc").keccak().tolist()).hex()[:16]
    '3a985da74fe225b2'
    """
    if not isinstance(cfg, str) or cfg not in _FORMS:
        raise ArgumentError(
            "this hash is not known",
            asked=f"keccak({shown(cfg)})",
            try_=f"one of {', '.join(_FORMS)}",
        )
    if self.dtype is not dtypes.uint8:
        raise DTypeError(
            "bytes are hashed",
            asked=f"keccak of {self.dtype}",
            because="the hash of a number depends on how it lies in memory",
            try_="x.bitcast('uint8') says what its bytes are",
        )
    if not self.shape:
        raise ShapeError("a row of bytes is hashed", asked="keccak of shape ()",
                         try_="x.reshape(1)")  # fmt: skip
    domain, rate, size = _FORMS[cfg]
    *batch, length = self.shape
    rows: Any = self.reshape(-1, length) if length else self.zeros_like()
    count = 1
    for extent in batch:
        count *= extent
    blocks = _padded(rows, count, length, domain, rate)
    state: Any = self.__class__.zeros(count, _LANES, dtype=dtypes.uint64, device=self.device)
    for number in range(blocks.shape[1]):
        state = _permuted((state ^ blocks[:, number]).contiguous())
    shifts = self.__class__.arange(8, dtype=dtypes.uint64, device=self.device) * 8
    raw = ((state.unsqueeze(-1) >> shifts) & 255).cast(dtypes.uint8)
    return raw.reshape(count, 8 * _LANES)[:, :size].reshape(*batch, size)


def _padded(rows: Any, count: int, length: int, domain: int, rate: int) -> Any:
    """Rows as blocks of lanes, uint64 (rows, blocks, 25): domain byte, zeros, last bit; then lanes
    from little-endian bytes, zero beyond the rate."""
    fill = rate - length % rate
    tail = [0] * fill
    tail[0] ^= domain
    tail[-1] ^= 0x80
    end = rows.__class__(tail, dtype=dtypes.uint8, device=rows.device).reshape(1, fill)
    end = end._expanded((count, fill))
    whole = rows.cat(end, dim=1) if length else end
    eight = whole.reshape(count, -1, rate // 8, 8).cast(dtypes.uint64)
    shifts = rows.__class__.arange(8, dtype=dtypes.uint64, device=rows.device) * 8
    lanes = (eight << shifts).sum(-1, dtype=dtypes.uint64)
    return lanes.pad(((0, 0), (0, 0), (0, _LANES - rate // 8))).contiguous()


def _permuted(state: Any) -> Any:
    """Keccak-f[1600] of every row of 25 lanes; lane x + 5 y is at [y, x]."""
    count = state.shape[0]
    a = state.reshape(count, 5, 5)
    rotations = a.__class__(_rotations(), dtype=dtypes.uint64, device=a.device).reshape(5, 5)
    back = (64 - rotations.cast(dtypes.int32)).cast(dtypes.uint64) & 63
    for constant in _round_constants():
        parity = a[:, 0] ^ a[:, 1] ^ a[:, 2] ^ a[:, 3] ^ a[:, 4]
        rotated = (parity << 1) | (parity >> 63)
        mixed = parity.roll(1, 1) ^ rotated.roll(-1, 1)
        a = a ^ mixed.unsqueeze(1)
        a = ((a << rotations) | (a >> back)).contiguous()
        # lane (x, y) goes to (y, 2 x + 3 y)
        rows = [[a[:, x, (x + 3 * y) % 5] for x in range(5)] for y in range(5)]
        a = rows[0][0].stack(*[lane for row in rows for lane in row][1:], dim=1)
        a = a.reshape(count, 5, 5).contiguous()
        a = a ^ (a.roll(-1, 2).bitwise_not() & a.roll(-2, 2))
        first = a.__class__([constant] + [0] * 24, dtype=dtypes.uint64, device=a.device)
        a = (a ^ first.reshape(5, 5)).contiguous()
    return a.reshape(count, _LANES)


def _rotations() -> list[int]:
    """The rotation of lane x + 5 y: triangular numbers along the path (x, y) -> (y, 2x + 3y)."""
    found = [0] * _LANES
    x, y = 1, 0
    for t in range(24):
        found[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return found


def _round_constants() -> list[int]:
    """Seven bits a round from a shift register of 8 bits (x^8 + x^6 + x^5 + x^4 + 1)."""
    register, constants = 1, []
    for _ in range(_ROUNDS):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        constants.append(constant)
    return constants
