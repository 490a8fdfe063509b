"""Scalar conversion: Python values as a dtype represents them: wrapping, rounding, bits.

These functions are the meaning of constants and of casts, the same on every device:

- to an integer, an integer wraps modulo 2**n;
- to an integer, a float loses its fraction, goes into a wide signed integer, then wraps. The wide
  integer is int32 for int8, uint8, int16, uint16 and int32, and int64 for uint32 and int64; what
  it cannot hold, NaN included, becomes its least value. uint64 also takes [2**63, 2**64) as it is;
- to a float, a number is rounded once, to nearest with ties to even, and what is too large becomes
  an infinity. fp8e4m3 (OCP E4M3, no infinities, up to 448) has NaN there; fp8e5m2 is OCP E5M2;
- to bool, everything but zero is true, NaN as well.

NaN has one pattern in each dtype, the quiet one, with its sign: payloads are not kept.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable
from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, OutOfRange

Scalar = bool | int | float


def is_positive_zero(value: Any) -> bool:
    """Whether a number is zero with the sign bit clear: all bits 0, in every dtype.

    >>> is_positive_zero(0.0), is_positive_zero(-0.0), is_positive_zero(False)
    (True, False, True)
    """
    return value == 0 and math.copysign(1.0, value) > 0


_NUMBERS = frozenset((bool, int, float))


def _number(value: Any) -> Scalar:
    """The Python number of an object with a number protocol, such as a NumPy scalar."""
    try:
        if hasattr(value, "__index__"):
            return operator.index(value)
        if hasattr(value, "__float__"):  # which text has not, though float() reads it
            return float(value)
    except TypeError:
        pass
    raise DTypeError(
        f"a {type(value).__name__} is not a number",
        asked=f"the number in {value!r}",
        because="dtypes hold what Python has as bool, int and float",
    )


def _real(value: Scalar) -> float:
    """`value` as a double, such that rounding it again to a narrower float is rounding once.

    Integers beyond 2**53 are not exact in a double. Setting the last bit of what is kept where
    anything non-zero was cut ("round to odd") keeps ties from arising that were none.
    """
    if type(value) not in _NUMBERS:
        value = _number(value)
    if not isinstance(value, int) or -(1 << 53) <= value <= (1 << 53):
        return float(value)
    magnitude = abs(value)
    cut = magnitude.bit_length() - 53
    kept = magnitude >> cut
    if magnitude & ((1 << cut) - 1):
        kept |= 1
    try:
        real = math.ldexp(kept, cut)
    except OverflowError:
        real = math.inf
    return -real if value < 0 else real


def _double(value: Scalar) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond the greatest double
        return math.inf if value > 0 else -math.inf


def _by_struct(fmt: str) -> Callable[[Scalar], float]:
    """Rounding done by the struct module, which refuses what would become an infinity."""
    both = struct.Struct(fmt)

    def rounded(value: Scalar) -> float:
        real = _real(value)
        try:
            return both.unpack(both.pack(real))[0]
        except OverflowError:
            return math.copysign(math.inf, real)

    return rounded


def _encoder(dtype: DType) -> Callable[[Scalar], int]:
    """Value to bits for a format that the struct module does not know."""
    info = dtypes.finfo(dtype)
    width, digits, bias = info.bits - 1, info.mantissa_bits, info.bias
    infinity = ((1 << info.exponent_bits) - 1) << digits
    nan = infinity | (1 << (digits - 1)) if info.has_infinity else (1 << width) - 1
    too_large = infinity if info.has_infinity else nan

    def encode(value: Scalar) -> int:
        real = _real(value)
        sign = 1 << width if math.copysign(1.0, real) < 0 else 0
        if math.isnan(real):
            return sign | nan
        if math.isinf(real):
            return sign | too_large
        if real == 0:  # it has no exponent to go by
            return sign
        exponent = max(math.frexp(real)[1] - 1, 1 - bias)
        # In units of the last place: exact, then rounded half to even by round().
        units = round(math.ldexp(abs(real), digits - exponent))
        # The leading one of a normal number adds 1 to the exponent field, and a carry out of the
        # rounding does likewise; so one sum serves normal, subnormal and both borders.
        bits = ((exponent + bias - 1) << digits) + units
        return sign | min(bits, too_large)

    return encode


def _decoder(dtype: DType) -> Callable[[int], float]:
    """Bits to value for a format that the struct module does not know."""
    info = dtypes.finfo(dtype)
    width, digits = info.bits - 1, info.mantissa_bits
    top = (1 << info.exponent_bits) - 1

    def decode(bits: int) -> float:
        exponent = (bits >> digits) & top
        fraction = bits & ((1 << digits) - 1)
        if info.has_infinity and exponent == top:
            magnitude = math.nan if fraction else math.inf
        elif not info.has_infinity and bits & ((1 << width) - 1) == (1 << width) - 1:
            magnitude = math.nan
        else:
            significand = fraction + (1 << digits) if exponent else fraction
            magnitude = math.ldexp(significand, max(exponent, 1) - info.bias - digits)
        return math.copysign(magnitude, -1.0 if bits >> width & 1 else 1.0)

    return decode


_encode = {d: _encoder(d) for d in (dtypes.fp8e4m3, dtypes.fp8e5m2, dtypes.bfloat16)}
_decode = {d: _decoder(d) for d in _encode}


def _rounded_by_bits(dtype: DType) -> Callable[[Scalar], float]:
    encode, decode = _encode[dtype], _decode[dtype]
    return lambda value: decode(encode(value))


def _wrapped(dtype: DType) -> Callable[[Scalar], int]:
    bits = dtype.bitsize
    mask, low = (1 << bits) - 1, int(dtype.min)
    wide = 32 if bits < 32 or dtype is dtypes.int32 else 64
    least = -(1 << (wide - 1))
    above = 1 << (64 if dtype is dtypes.uint64 else wide - 1)

    def wrap(value: Scalar) -> int:
        if isinstance(value, float):
            whole = math.trunc(value) if math.isfinite(value) else least
            value = whole if least <= whole < above else least
        return ((int(value) - low) & mask) + low

    return wrap


_truncate: dict[DType, Callable[[Any], Scalar]] = {
    dtypes.bool: bool,
    **{dtype: _wrapped(dtype) for dtype in dtypes.ints},
    **{dtype: _rounded_by_bits(dtype) for dtype in _encode},
    dtypes.float16: _by_struct("<e"),
    dtypes.float32: _by_struct("<f"),
    dtypes.float64: _double,
}


def truncate(value: Scalar, dtype: DType) -> Scalar:
    """The Python value that is read back after `value` was stored in `dtype` (a scalar dtype).

    DTypeError where the dtype holds no number or the value is none.
    """
    try:
        return _truncate[dtype](value if type(value) in _NUMBERS else _number(value))
    except KeyError:
        raise _no_scalar(dtype, f"truncate({value!r}, {dtype!r})") from None


def check_range(value: Scalar, dtype: DType) -> Scalar:
    """`value` itself, a Python number, if `dtype` can represent it (rounded, if need be).

    An integer dtype represents the whole numbers from its `min` to its `max`; the fraction of a
    float is cut off. A float dtype represents every float, those beyond its range as infinities;
    an int beyond the range of a double has no float value (as in NumPy).

    :raises OutOfRange: for any other number.
    """
    if dtypes.is_int(dtype):
        finite = not isinstance(value, float) or math.isfinite(value)
        if finite and dtype.min <= int(value) <= dtype.max:
            return value
        raise _out_of_range(value, dtype, finite)
    if isinstance(value, int) and dtypes.is_float(dtype):
        try:
            float(value)
        except OverflowError:
            raise OutOfRange(
                f"{shown(value)} has no float value",
                asked=f"{shown(value)} as {dtype!r}",
                because="the largest float of Python is 1.8e308",
                try_="float('inf'), if infinity is meant",
            ) from None
    return value


def _out_of_range(value: Scalar, dtype: DType, finite: bool) -> OutOfRange:
    kinds = (dtypes.int32, dtypes.int64, dtypes.uint64) if finite else ()
    wider = [kind for kind in kinds if kind.min <= int(value) <= kind.max]
    return OutOfRange(
        f"{shown(value)} is out of range for {dtype!r}",
        asked=f"{shown(value)} as {dtype!r}",
        because=f"{dtype!r} holds the integers from {dtype.min} to {dtype.max}",
        try_=f"{wider[0]!r}, by dtype= or x.cast(...)" if wider else "a float dtype",
    )


def to_bits(value: Scalar, dtype: DType) -> int:
    """The bits of `value` in `dtype`, as an unsigned integer; the value is truncated first."""
    encode = _encode.get(dtype)
    if encode is not None:
        return encode(value)
    return int.from_bytes(pack((value,), dtype), "little")


def from_bits(bits: int, dtype: DType) -> Scalar:
    """The value whose bits in `dtype` are `bits`; ArgumentError where they are too many."""
    size = dtype.itemsize
    if not 0 <= bits < 1 << (8 * size):
        raise ArgumentError(f"{bits} is not {8 * size} bits", asked=f"from_bits({bits}, {dtype!r})")
    return unpack(bits.to_bytes(size, "little"), dtype)[0]


def pack(values: Iterable[Scalar], dtype: DType) -> bytes:
    """The values one after another as they lie in memory, little-endian; truncated first."""
    encode = _encode.get(dtype)
    if encode is not None:
        size = dtype.itemsize
        return b"".join(encode(value).to_bytes(size, "little") for value in values)
    if dtype not in _truncate:
        raise _no_scalar(dtype, f"pack(..., {dtype!r})")
    fitting = [truncate(value, dtype) for value in values]
    return struct.pack(f"<{len(fitting)}{dtype.fmt}", *fitting)


def unpack(data: bytes | bytearray | memoryview, dtype: DType) -> list[Scalar]:
    """The values in little-endian memory; ArgumentError where bytes are left over."""
    if dtype not in _truncate:
        raise _no_scalar(dtype, f"unpack(..., {dtype!r})")
    raw = memoryview(data).cast("B")
    size = dtype.itemsize
    if raw.nbytes % size:
        raise ArgumentError(
            f"{raw.nbytes} bytes are no whole number of {dtype!r}",
            asked=f"unpack({raw.nbytes} bytes, {dtype!r})",
            because=f"each takes {size} bytes",
        )
    decode = _decode.get(dtype)
    if decode is not None:
        code = "B" if size == 1 else "H"
        return [decode(bits) for bits in struct.unpack(f"<{raw.nbytes // size}{code}", raw)]
    return list(struct.unpack(f"<{raw.nbytes // size}{dtype.fmt}", raw))


def _no_scalar(dtype: DType, asked: str) -> DTypeError:
    return DTypeError(
        f"{dtype!r} does not hold one number",
        asked=asked,
        try_=f"{dtype.scalar()!r}, lane by lane" if dtype.count > 1 else None,
    )
