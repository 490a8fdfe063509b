"""Small element types: integers and floats of 2 to 8 bits that weft does not store.

A tensor of such a type is a `Coded`: one code an element, in an int8 or uint8 tensor. Conversions
are integer arithmetic on the bits of float32, inside the tensor graph. The two float8 types that
weft stores (float8e4m3fn, float8e5m2) are ordinary tensors; `cast` serves them as well.

Source: ONNX, "Float stored in 8 bits" and the operator Cast; OCP, "Microscaling Formats (MX)
Specification", 2023.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.tensor import Tensor

_F32_INFINITY = 0x7F800000


@dataclass(frozen=True)
class SmallType:
    """An element type that is held as codes.

    :ivar name: as in ONNX, in lower case. :ivar bits: of an element in a file.
    :ivar numpy_name: name of the dtype in the package `ml_dtypes`.
    """

    name: str
    bits: int
    numpy_name: str

    @property
    def code_dtype(self) -> DType:
        """The dtype of the tensor that holds the codes."""
        return dtypes.uint8

    def encode(self, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
        """Return the codes of the nearest values; x has a dtype that weft stores."""
        raise NotImplementedError

    def decode(self, codes: Tensor) -> Tensor:
        """Return the exact values of codes."""
        raise NotImplementedError


@dataclass(frozen=True)
class IntegerType(SmallType):
    """An integer of 2 or 4 bits. Its code is its value."""

    signed: bool

    @property
    def code_dtype(self) -> DType:
        return dtypes.int8 if self.signed else dtypes.uint8

    def encode(self, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
        # Integers out of range lose their higher bits, as the specification of Cast says.
        low = x.cast(dtypes.int32) & ((1 << self.bits) - 1)
        if self.signed:
            sign = 1 << (self.bits - 1)
            low = (low ^ sign) - sign
        return low.cast(self.code_dtype)

    def decode(self, codes: Tensor) -> Tensor:
        return codes


@dataclass(frozen=True)
class FloatType(SmallType):
    """A float with a sign, rounded to nearest with ties to even.

    :ivar bias: subtracted from the exponent field.
    :ivar nan: the only code of NaN; None if the type has neither NaN nor infinity. Numbers that
        are too large become NaN, or the largest number if there is no NaN.
    """

    mantissa_bits: int
    bias: int
    nan: int | None = None

    @property
    def _largest(self) -> int:
        return (1 << (self.bits - 1)) - 1

    def encode(self, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
        code, negative = self._magnitude_code(x)
        largest = self._largest
        if self.nan is None:
            is_nan = _is_nan(x)  # becomes zero with the other sign, as in ml_dtypes
            code = is_nan.where(0, code.minimum(largest))
            return self._signed(code, negative ^ is_nan)
        if saturate:
            code = code.minimum(largest)
            # The code of a negative zero is that of NaN: zero has no sign.
            code = self._signed(code, negative & (code > 0))
        else:
            too_large = code > largest
            code = too_large.where(self.nan, self._signed(code, negative & (code > 0)))
        return _is_nan(x).where(self.nan, code).cast(dtypes.uint8)

    def _magnitude_code(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the codes of the magnitudes, not limited, and which elements are negative."""
        wide = x.dtype is dtypes.float64
        digits, bias = (52, 1023) if wide else (23, 127)
        word = dtypes.int64 if wide else dtypes.int32
        x = x if wide else x.cast(dtypes.float32)
        bits = x.bitcast(word)
        # infinity limits the sum below: NaN would overflow
        magnitude = (bits & ((1 << (63 if wide else 31)) - 1)).minimum(_infinity(digits, bias))
        drop = digits - self.mantissa_bits
        odd = (magnitude >> drop) & 1
        rounded = (magnitude + ((1 << (drop - 1)) - 1) + odd) >> drop
        normal = rounded - ((bias - self.bias) << self.mantissa_bits)
        # Below the least normal number, codes count units of the least subnormal one.
        is_small = magnitude < ((bias + 1 - self.bias) << digits)
        least = is_small.where(x.abs(), 0.0) * 2.0 ** (self.bias - 1 + self.mantissa_bits)
        code = is_small.where(least.round().cast(word), normal)
        return code.cast(dtypes.int32) if not wide else _limited(code), bits < 0

    def _signed(self, code: Tensor, negative: Tensor) -> Tensor:
        return (code + negative.where(1 << (self.bits - 1), 0)).cast(dtypes.uint8)

    def decode(self, codes: Tensor) -> Tensor:
        word = codes.cast(dtypes.int32)
        magnitude = word & self._largest
        normal = (magnitude << (23 - self.mantissa_bits)) + ((127 - self.bias) << 23)
        unit = 2.0 ** (1 - self.bias - self.mantissa_bits)
        is_small = magnitude < (1 << self.mantissa_bits)
        value = is_small.where(magnitude.cast(dtypes.float32) * unit, normal.bitcast("float32"))
        value = (word > self._largest).where(-value, value)
        return value if self.nan is None else (word == self.nan).where(float("nan"), value)


@dataclass(frozen=True)
class ExponentType(SmallType):
    """A power of two from 2**-127 to 2**127, with the code 255 for NaN; the sign is dropped.

    Values of float64 are rounded to float32 first.
    """

    def encode(self, x: Tensor, saturate: bool, round_mode: str) -> Tensor:
        bits = x.cast(dtypes.float32).bitcast(dtypes.int32) & 0x7FFFFFFF
        exponent, fraction = bits >> 23, bits & 0x7FFFFF
        # The first exponent of float32 holds 2**-127 as a subnormal number: fraction 0x400000.
        is_first = exponent == 0
        if round_mode == "up":
            up = fraction > is_first.where(0x400000, 0)
        elif round_mode == "nearest":
            up = fraction >= is_first.where(0x600000, 0x400000)
        elif round_mode == "down":
            up = fraction < 0
        else:
            raise ArgumentError(
                "the rounding mode of a cast to float8e8m0 is unknown",
                asked=f"round_mode={round_mode!r}",
                try_="up, down or nearest",
            )
        code = exponent + up.cast(dtypes.int32)
        if saturate:
            code = (bits > _F32_INFINITY).where(255, code.minimum(254))
        else:
            code = (bits < 0x400000).where(255, code.minimum(255))
        return code.cast(dtypes.uint8)

    def decode(self, codes: Tensor) -> Tensor:
        word = codes.cast(dtypes.int32)
        bits = (word == 0).where(0x400000, word << 23)
        return (word == 255).where(float("nan"), bits.bitcast("float32"))


SMALL_TYPES: dict[str, SmallType] = {
    each.name: each
    for each in (
        IntegerType("int4", 4, "int4", signed=True),
        IntegerType("uint4", 4, "uint4", signed=False),
        IntegerType("int2", 2, "int2", signed=True),
        IntegerType("uint2", 2, "uint2", signed=False),
        FloatType("float8e4m3fnuz", 8, "float8_e4m3fnuz", mantissa_bits=3, bias=8, nan=0x80),
        FloatType("float8e5m2fnuz", 8, "float8_e5m2fnuz", mantissa_bits=2, bias=16, nan=0x80),
        FloatType("float4e2m1", 4, "float4_e2m1fn", mantissa_bits=1, bias=1),
        FloatType("float6e2m3", 6, "float6_e2m3fn", mantissa_bits=3, bias=1),
        FloatType("float6e3m2", 6, "float6_e3m2fn", mantissa_bits=2, bias=3),
        ExponentType("float8e8m0", 8, "float8_e8m0fnu"),
    )
}
"""The small types by name."""

_BY_NUMPY_NAME = {each.numpy_name: each for each in SMALL_TYPES.values()}
_STORED = {"float8e4m3fn": dtypes.fp8e4m3, "float8e5m2": dtypes.fp8e5m2}


@dataclass(frozen=True, eq=False)
class Coded:
    """A tensor of a small type: `codes` holds one code an element, as `kind.code_dtype`."""

    codes: Tensor
    kind: SmallType

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.codes.shape

    @property
    def dtype(self) -> str:
        """Name of the element type."""
        return self.kind.name

    @property
    def device(self) -> Any:
        """The device of the codes."""
        return self.codes.device

    def map(self, function: Callable[[Tensor], Tensor]) -> Coded:
        """Apply a function that moves elements and does not change them."""
        return Coded(function(self.codes), self.kind)

    def decode(self) -> Tensor:
        """Return the exact values: float32, or int8 or uint8 of an integer type."""
        return self.kind.decode(self.codes)


def decoded(value: Tensor | Coded) -> Tensor:
    """Return the values of a `Coded` as a tensor; a tensor is returned as it is."""
    return value.decode() if isinstance(value, Coded) else value


def dtype_name(value: Tensor | Coded) -> str:
    """Return the name of the element type as `graph.ELEMENT_TYPES` and NumPy spell it."""
    if isinstance(value, Coded):
        return value.kind.name
    return _NAMES[value.dtype]


_NATIVE_NAMES = (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16",
    "bfloat16", "float32", "float64",
)  # fmt: skip
_NAMES = {dtypes.to_dtype(name): name for name in _NATIVE_NAMES}
_NAMES |= {dtype: name for name, dtype in _STORED.items()}


def cast(
    value: Tensor | Coded, name: str, saturate: bool = True, round_mode: str = "up"
) -> Tensor | Coded:
    """Convert to the element type of a name, as the operator Cast does.

    :param name: of `graph.ELEMENT_TYPES`, except strings and complex numbers.
    :param saturate: numbers too large for a float8 type become its largest one, not NaN or inf.
    :param round_mode: "up", "down" or "nearest", for float8e8m0.
    :raises DTypeError: if weft has no such type.
    """
    if dtype_name(value) == name:
        return value
    x = decoded(value)
    if x.dtype in _STORED.values():
        x = x.cast(dtypes.float32)
    small = SMALL_TYPES.get(name)
    if small is not None:
        return Coded(small.encode(x, saturate, round_mode), small)
    dtype = _STORED.get(name)
    if dtype is None:
        return x.cast(name)
    if not dtypes.is_float(x.dtype):
        x = x.cast(dtypes.float32)
    if saturate:
        limit = float(dtypes.finfo(dtype).max)
        x = (x > limit).where(limit, (x < -limit).where(-limit, x))
    return x.cast(dtype)


def bitcast(value: Tensor | Coded, name: str) -> Tensor | Coded:
    """Read the bits of the elements as another element type of as many bits.

    :raises ArgumentError: if the types have other sizes.
    """
    old, small = dtype_name(value), SMALL_TYPES.get(name)
    if bits_of(old) != bits_of(name):
        raise ArgumentError(
            "a bit cast keeps the number of bits",
            asked=f"{old} to {name}",
            because=f"{old} has {bits_of(old)} bits, {name} has {bits_of(name)}",
            try_="the operator Cast, which converts values",
        )
    codes = value.codes if isinstance(value, Coded) else value
    if small is None:
        if name == "bool":  # a bool is 0 or 1
            return codes.bitcast(dtypes.uint8) != 0
        return codes.bitcast(_STORED.get(name) or dtypes.to_dtype(name))
    if isinstance(small, IntegerType):  # a code is a value: the sign is extended
        return Coded(small.encode(codes, False, ""), small)
    return Coded(codes.bitcast(dtypes.uint8) & ((1 << small.bits) - 1), small)


def bits_of(name: str) -> int:
    """Return the number of bits of an element type in a file; that of bool is 8."""
    if name in SMALL_TYPES:
        return SMALL_TYPES[name].bits
    return 8 * (_STORED.get(name) or dtypes.to_dtype(name)).itemsize


def from_numpy(array: np.ndarray, device: Any = None) -> Tensor | Coded:
    """Return an array as a tensor, or as a `Coded` if its dtype is a small type of `ml_dtypes`."""
    small = _BY_NUMPY_NAME.get(array.dtype.name)
    if small is None:
        return Tensor(array, device=device)
    if isinstance(small, IntegerType):
        codes = array.astype(np.int8 if small.signed else np.uint8)
    else:
        codes = array.view(np.uint8)
    return Coded(Tensor(codes, device=device), small)


def to_numpy(value: Tensor | Coded) -> np.ndarray:
    """Return the values as a NumPy array; a small type needs the package `ml_dtypes`."""
    if not isinstance(value, Coded):
        return value.numpy()
    import ml_dtypes  # only small types need it

    codes = value.codes.numpy()
    dtype = np.dtype(getattr(ml_dtypes, value.kind.numpy_name))
    return codes.astype(dtype) if isinstance(value.kind, IntegerType) else codes.view(dtype)


def _is_nan(x: Tensor) -> Tensor:
    return x != x if dtypes.is_float(x.dtype) else x.zeros_like(dtype=dtypes.bool)


def _infinity(digits: int, bias: int) -> int:
    return (2 * bias + 1) << digits


def _limited(code: Tensor) -> Tensor:
    """Codes as int32: those of float64 may be wider."""
    return code.minimum(1 << 16).cast(dtypes.int32)
