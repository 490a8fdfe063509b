"""Preamble: the types and functions that a kernel uses, as CUDA C++ before it.

NVRTC's wheel brings no headers, and a self-contained source can be read, compiled and compared
anywhere; so there is no ``#include``. A definition is written only where the kernel uses it, which
is known from its program and from what the renderer recorded (`SourceUsage`).

- ``vec<T, N>``: N lanes that are read and written at once, 16 bytes an instruction.
- ``other_lane``: what the lane holds whose number in the warp differs in one bit.
- ``f16``, ``bf16``, ``f8e4m3``, ``f8e5m2``: short floats. Sums, products and quotients are
  computed in float32 and rounded once; since 24 bits are at least twice 11 plus 2, that is the
  correctly rounded result (Figueroa,
  "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.plugin import LinearProgram, Ops, SourceUsage, dtypes
from weft_cuda import copies, warpgroup_products
from weft_cuda.defects import MAXIMUM
from weft_cuda.matrix_units import CALLS, ROUNDED, ROUNDING

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

_NARROW_FLOATS = {
    dtypes.bfloat16: BFLOAT,
    dtypes.float16: HALF,
    dtypes.fp8e4m3: F8E4M3,
    dtypes.fp8e5m2: F8E5M2,
}


def preamble(program: LinearProgram, usage: SourceUsage) -> str:
    """The definitions before a kernel."""
    return "\n".join(_definitions(program, usage))


def _definitions(program: LinearProgram, usage: SourceUsage) -> Iterator[str]:
    yield from (text for dtype, text in _NARROW_FLOATS.items() if dtype in usage.dtypes)
    if any(dtype.count > 1 for dtype in usage.dtypes):
        yield VECTOR
    if usage.conversions:
        yield CONVERT
    if usage.bitcasts:
        yield REINTERPRET
    if any(u.op is Ops.SHUFFLE for u in program.uops):
        yield OTHER_LANE
    if any(op is Ops.MAX for op, _ in usage.functions):
        yield MAXIMUM
    yield from copies.definitions(program.uops)
    yield from warpgroup_products.definitions(program.uops)
    called = {u.arg.name for u in program.uops if u.op is Ops.WMMA}
    if called & ROUNDING:
        yield ROUNDED
    yield from (text for name, text in CALLS.items() if name in called)
