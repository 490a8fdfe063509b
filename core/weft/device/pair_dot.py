"""A unit that adds products of pairs of narrow numbers to lanes, described rather than listed."""

from __future__ import annotations

from dataclasses import dataclass

from weft.base.dtype import DType
from weft.base.errors import ArgumentError


@dataclass(frozen=True)
class PairDot:
    """One instruction of a vector unit: ``sum + a.low * b.low + a.high * b.high`` in each lane.

    The two factors are words of 32 bits that hold two numbers each. Products are exact; the sum
    may be rounded twice, and numbers that are subnormal in `dtype_out` may be taken for zero.

    :param dtype_in: of the factors, 16 bits.
    :param dtype_out: of the sum, 32 bits.
    :param lanes: how many lanes it may have at once.
    :raises ArgumentError: if the dtypes have other sizes.
    """

    dtype_in: DType
    dtype_out: DType
    lanes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lanes", tuple(self.lanes))
        if (self.dtype_in.itemsize, self.dtype_out.itemsize) != (2, 4):
            raise ArgumentError(
                "a PairDot multiplies numbers of 16 bits and adds in 32",
                asked=f"{self.dtype_in!r} into {self.dtype_out!r}",
                try_="describe other units as a TensorCore",
            )
