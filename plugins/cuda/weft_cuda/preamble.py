"""The types of our own that kernels need before them, as CUDA C++ that stands in every source.

NVRTC's wheel brings no headers, and a source that stands for itself can be read, compiled and
compared anywhere; so there is no ``#include``. A piece is written only where its name occurs.

- ``vec<T, N>``: N lanes that are read and written at once, 16 bytes an instruction.
- ``other_lane``: what the lane holds whose number in the warp differs in one bit.
- ``f16``, ``bf16``, ``f8e4m3``, ``f8e5m2``: short floats. Sums, products and quotients are
  computed in float32 and rounded once; since 24 bits are at least twice 11 plus 2, that is the
  correctly rounded result (Figueroa,
  "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import re

from weft_cuda.copies import COMMIT, COPY_ASYNC, WAIT
from weft_cuda.matrix_units import CALLS, ROUNDED

VECTOR = """\
template <class T, int N>
struct alignas(N & (N - 1) ? sizeof(T) : N * sizeof(T) < 16 ? N * sizeof(T) : 16) vec {
  using Lane = T;
  T lane[N];
  vec() = default;
  template <class... U> __device__ vec(U... values) : lane{T(values)...} {}
  __device__ T& operator[](int i) { return lane[i]; }
  __device__ const T& operator[](int i) const { return lane[i]; }
};"""

CONVERT = """\
template <class To, class From> __device__ inline To convert(const From& from) {
  To to;
  for (unsigned i = 0; i < sizeof(to.lane) / sizeof(to[0]); i++) {
    to[i] = typename To::Lane(from[i]);
  }
  return to;
}"""

REINTERPRET = """\
template <class To, class From> __device__ inline To reinterpret(const From& from) {
  union Both { From from; To to; __device__ Both(const From& x) : from(x) {} } both(from);
  return both.to;
}"""

# Floats of 16 bits go as float32; integers of fewer bits as int.
OTHER_LANE = """\
template <class T> __device__ inline T other_lane(T x, int by) {
  return T(__shfl_xor_sync(0xffffffffu, x, by));
}"""

_HALF_CONVERSIONS = """\
struct f16 {
  unsigned short bits;
  f16() = default;
  __device__ explicit f16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  __device__ operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};"""

_BFLOAT_CONVERSIONS = """\
struct bf16 {
  unsigned short bits;
  bf16() = default;
  __device__ explicit bf16(float x) {
    unsigned u = __float_as_uint(x);
    bits = x != x ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
  }
  __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};"""

_OPERATORS = """\
__device__ inline {t} operator+({t} a, {t} b) {{ return {t}((float)a + (float)b); }}
__device__ inline {t} operator-({t} a, {t} b) {{ return {t}((float)a - (float)b); }}
__device__ inline {t} operator*({t} a, {t} b) {{ return {t}((float)a * (float)b); }}
__device__ inline {t} operator/({t} a, {t} b) {{ return {t}((float)a / (float)b); }}
__device__ inline {t} operator-({t} a) {{ a.bits ^= {sign}; return a; }}"""


def _operators(name: str, sign: str) -> str:
    return _OPERATORS.format(t=name, sign=sign)


_EIGHT_BITS = """\
struct {t} {{
  unsigned char bits;
  {t}() = default;
  __device__ explicit {t}(float x) {{
    unsigned sign = __float_as_uint(x) >> 24 & 0x80, a = __float_as_uint(x) & 0x7fffffff, y;
    if (a < {least}) {{
      y = __float_as_uint(__uint_as_float(a) + {magic}) - __float_as_uint({magic});
    }} else {{
      y = ((a + {half} + (a >> {shift} & 1)) >> {shift}) - {bias};
    }}
    bits = sign | (a > 0x7f800000 ? {nan} : y > {greatest} ? {beyond} : y);
  }}
  __device__ operator float() const {{
    unsigned a = bits & 0x7f, sign = (bits & 0x80u) << 24;
    unsigned y = __float_as_uint(__uint_as_float(a << {shift}) * __uint_as_float({scale}));
    if (a > {greatest}) y = {special};
    return __uint_as_float(y | sign);
  }}
}};"""


def _eight_bits(name: str, digits: int, bias: int, nan: int, greatest: int, beyond: int) -> str:
    """An 8-bit float with `digits` bits of the fraction, as OCP's specification has it.

    greatest: the bits of the largest number; beyond: of what larger ones become.
    """
    shift = 23 - digits
    infinities = beyond != nan
    text = _EIGHT_BITS.format(
        t=name, shift=shift, bias=(127 - bias) << digits, least=hex((128 - bias) << 23),
        magic=f"{2.0 ** (24 - bias - digits)}f", half=hex((1 << (shift - 1)) - 1), nan=hex(nan),
        greatest=hex(greatest), beyond=hex(beyond), scale=hex((254 - bias) << 23),
        special=f"a << {shift} | 0x7f800000" if infinities else "0x7fc00000",
    )  # fmt: skip
    return text + "\n" + _operators(name, "0x80")


HALF = _HALF_CONVERSIONS + "\n" + _operators("f16", "0x8000")
BFLOAT = _BFLOAT_CONVERSIONS + "\n" + _operators("bf16", "0x8000")
F8E4M3 = _eight_bits("f8e4m3", 3, 7, nan=0x7F, greatest=0x7E, beyond=0x7F)
F8E5M2 = _eight_bits("f8e5m2", 2, 15, nan=0x7E, greatest=0x7B, beyond=0x7C)

_PIECES = (
    (re.compile(r"\bbf16\b"), BFLOAT),
    (re.compile(r"\bf16\b"), HALF),
    (re.compile(r"\bf8e4m3\b"), F8E4M3),
    (re.compile(r"\bf8e5m2\b"), F8E5M2),
    (re.compile(r"\bvec<"), VECTOR),
    (re.compile(r"\bconvert<"), CONVERT),
    (re.compile(r"\breinterpret<"), REINTERPRET),
    (re.compile(r"\bother_lane\("), OTHER_LANE),
    (re.compile(r"\bcopy_async<"), COPY_ASYNC),
    (re.compile(r"\bcommit_copies\("), COMMIT),
    (re.compile(r"\bwait_for_copies<"), WAIT),
    (re.compile(r"_tf32\("), ROUNDED),
    *((re.compile(rf"\b{name}\("), text) for name, text in CALLS.items()),
)


def preamble(source: str) -> str:
    """What must stand before `source`, each piece with a line break after it."""
    return "".join(text + "\n" for name, text in _PIECES if name.search(source))
