"""Packed dot products: the description of an instruction that adds products of narrow numbers."""

from __future__ import annotations

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError


@dataclass(frozen=True)
class PairDot:
    """One instruction of a vector unit: in each lane ``sum + a.low * b.low + a.high * b.high``.

    The two factors are words of 32 bits that hold two numbers of 16 bits each, the first in the
    lowest bits; or four of 8 bits. Products are exact; the sum may be rounded once for each
    product, and numbers that are subnormal in `dtype_out` may be taken for zero.

    :param dtype_in: of the factors, 16 or 8 bits.
    :param dtype_out: of the sum, 32 bits.
    :param lanes: how many lanes it may have at once.
    :param dtype_other: of the second factor where it is another one, of as many bits.
    :param bits: the most bits of the first factor, where sums of larger products would saturate;
        None: all of its dtype.
    :raises ArgumentError: if the dtypes have other sizes.
    """

    dtype_in: DType
    dtype_out: DType
    lanes: tuple[int, ...]
    dtype_other: DType | None = None
    bits: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lanes", tuple(self.lanes))
        other = self.dtype_in if self.dtype_other is None else self.dtype_other
        narrow = self.dtype_in.itemsize in (1, 2) and other.itemsize == self.dtype_in.itemsize
        if not narrow or self.dtype_out.itemsize != 4:
            raise ArgumentError(
                "a PairDot multiplies numbers of 16 bits, or of 8 bits, and adds in 32",
                asked=f"{self.dtype_in!r} by {other!r} into {self.dtype_out!r}",
                try_="describe other units as a TensorCore",
            )

    @property
    def given(self) -> tuple[DType, DType]:
        """The dtypes of the two factors."""
        return self.dtype_in, self.dtype_in if self.dtype_other is None else self.dtype_other

    @property
    def has_unsigned_bytes(self) -> bool:
        """Whether the first factor is any number of 8 bits without a sign."""
        return self.dtype_in is dtypes.uint8 and self.bits is None

    @property
    def terms(self) -> int:
        """The number of products that it adds to each lane."""
        return 4 // self.dtype_in.itemsize
