"""Transcendental functions: compute EXP2, LOG2, SIN and POW by argument reduction and polynomials.
Also: polynomial approximation, range reduction, minimax approximation.

Polynomials are our own minimax fits (Remez exchange in high precision) on ranges reduced exactly:
exp2 to [-1/2, 1/2], log2 to [sqrt(1/2), sqrt(2)], sine to [-pi/4, pi/4]. The argument of sine is
reduced for every float, however large, after M. Payne and R. Hanek, "Radian reduction for
trigonometric functions", SIGNUM Newsletter 18 (1983): an integer product with the relevant bits of
2/pi. With a fused multiply-add, smaller arguments (below 2**17, in double precision below 2**30)
are reduced by subtraction, after W. Cody and W. Waite, "Software Manual for the Elementary
Functions" (1980), with pi/2 in three parts. Subnormals, infinities and NaN are exact cases.

Source: Payne and Hanek; Cody and Waite, as above.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.base.dtype import DType, dtypes
from weft.uop import Ops, UOp

# fmt: off
_EXP2_SINGLE = (
    0.69314720457244058612, 0.24022651329844736872, 0.055503300353043852814,
    0.009618005379611269891, 0.0013399612556402245969, 0.00015475961495936346441,
)
_EXP2_DOUBLE = (
    0.69314718055994530853, 0.24022650695910071208, 0.055504108664821688165,
    0.0096181291076284941484, 0.001333355814639242416, 0.00015403530393342611863,
    0.000015252733854586193543, 1.3215486832048333314e-6, 1.0178051827123963235e-7,
    7.0548885663665463142e-9, 4.4565881049277389398e-10, 2.5741432498856342892e-11,
)
# (log2(1 + f) - f*log2(e)) / f**2
_LOG2_SINGLE = (
    -0.72134738857455379313, 0.48089799412723852448, -0.36069401151379166695,
    0.28858153851276556306, -0.23968210589297570738, 0.20436451521276368995,
    -0.19033882956957693618, 0.18739650468862759501, -0.11312290847740159171,
)
# (2*atanh(s)/s - 2) / s**2 in s**2
_ATANH_DOUBLE = (
    0.66666666666666666462, 0.40000000000000886206, 0.28571428570798595939,
    0.2222222239273598522, 0.1818179554096182368, 0.15386244642742576925,
    0.13268651112229762245, 0.13087810412898295429,
)
# 2*atanh(s)*log2(e)/s in s**2 to 45 bits and 2**f to 40: for powers of single precision
_ATANH_SHORT = (
    2.8853900817778500183, 0.96179669411330147142, 0.57707794237708659321,
    0.41220925106823183451, 0.31990575381117042631, 0.28289930431859456811,
)
_EXP2_SHORT = (
    0.99999999999976260666, 0.6931471805465120571, 0.2402265069887903314,
    0.05550410939348552699, 0.0096181285430330441344, 0.0013333452056846080371,
    0.00015403851663706905198, 0.000015309738637991285599, 1.3175872805048893375e-6,
)
# (sin(r)/r - 1) / r**2 and (cos(r) - 1 + r**2/2) / r**4, in r**2
_SINE_SINGLE = (
    -0.1666666666384666049, 0.0083333318707649703265, -0.00019840084429612528133,
    2.7249611873126131158e-6,
)
_COSINE_SINGLE = (
    0.041666664656551998838, -0.0013888302157440018061, 0.000024547719437164874021,
)
_SINE_DOUBLE = (
    -0.16666666666666666665, 0.0083333333333333314793, -0.00019841269841265036867,
    2.7557319221317113921e-6, -2.5052106224732343829e-8, 1.6058530389200891844e-10,
    -7.5866242966393281828e-13,
)
_COSINE_DOUBLE = (
    0.041666666666666666666, -0.0013888888888888887858, 0.000024801587301584630688,
    -2.7557319221390474586e-7, 2.0876755786763056691e-9, -1.1470460199858519902e-11,
    4.7458311979518406856e-14,
)
# pi/2 in three parts, each rounded to the format
_QUARTER_SINGLE = (1.5707963705062866, -4.371139000186243e-08, -1.7151245100058819e-15)
_QUARTER_DOUBLE = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
# the bits of 2/pi after the point, 32 in a word
_TWO_OVER_PI = (
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
    0xA9E39161, 0x5EE61B08,
)
# fmt: on
_LOG2_E = 1.442695040888963407359924681001892137
_HALF_PI = 1.570796326794896619231321691639751442
_SQRT_HALF = 0.70710678118654752440


class _Format(NamedTuple):
    """A binary float format and the integer of its width."""

    dtype: DType
    bits: DType
    digits: int  # of the fraction
    bias: int
    exp2: Sequence[float]
    sine: Sequence[float]
    cosine: Sequence[float]
    quarter: Sequence[float]
    near: float  # bound of arguments of sine that are reduced by subtraction

    def value(self, x: float) -> UOp:
        return UOp.const(self.dtype, x)

    def integer(self, x: int) -> UOp:
        return UOp.const(self.bits, x)


_SINGLE = _Format(
    dtypes.float, dtypes.int, 23, 127, _EXP2_SINGLE, _SINE_SINGLE, _COSINE_SINGLE,
    _QUARTER_SINGLE, 2.0**17,
)  # fmt: skip
_DOUBLE = _Format(
    dtypes.double, dtypes.long, 52, 1023, _EXP2_DOUBLE, _SINE_DOUBLE, _COSINE_DOUBLE,
    _QUARTER_DOUBLE, 2.0**30,
)  # fmt: skip
FORMATS = {dtypes.float: _SINGLE, dtypes.double: _DOUBLE}


def where(condition: UOp, yes: UOp, no: UOp) -> UOp:
    """The choice between two values, in the dtype of the first."""
    return UOp(Ops.WHERE, yes.dtype, (condition, yes, no))


class Transcendental:
    """Builds the expressions. fused: dtypes with a multiply-add; wide: whether doubles exist."""

    def __init__(self, fused: frozenset[DType], wide: bool) -> None:
        self.fused = fused
        self.wide = wide

    def mul_add(self, a: UOp, b: UOp, c: UOp) -> UOp:
        if a.dtype in self.fused:
            return UOp(Ops.MULACC, a.dtype, (a, b, c))
        return a * b + c

    def polynomial(self, x: UOp, coefficients: Sequence[float]) -> UOp:
        """Horner's rule, the constant coefficient first in the list."""
        total = x.const_like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.mul_add(total, x, x.const_like(coefficient))
        return total

    # ---- powers of two ------------------------------------------------------------------------

    def exp2(self, x: UOp) -> UOp:
        """2**x: x = n + f with n the nearest integer, 2**f by polynomial, 2**n by exponent."""
        form = FORMATS[x.dtype]
        return self._exp2_of_sum(x, None, form)

    def _exp2_of_sum(self, high: UOp, low: UOp | None, form: _Format) -> UOp:
        """2**(high + low), |low| being far below one."""
        limit = float(form.bias + form.digits + 4)  # beyond it the result is 0 or infinite
        n, f = self._rounded(high, limit, form)
        if low is not None:
            f = f + low
        # 1 + f*p(f), rounded once at the end
        root = self.mul_add(f, self.polynomial(f, form.exp2), form.value(1.0))
        # twice half the exponent: neither factor overflows, and a subnormal is rounded once
        half = n >> form.integer(1)
        return root * self._power_of_two(half, form) * self._power_of_two(n - half, form)

    def _rounded(self, x: UOp, limit: float, form: _Format) -> tuple[UOp, UOp]:
        """(n, f) with x = n + f, n the nearest integer, of an x that is clamped to `limit`."""
        x = where(x < form.value(-limit), form.value(-limit), x)
        x = where(x > form.value(limit), form.value(limit), x)
        # adding 1.5 * 2**digits leaves the nearest integer in the last bits
        shifter = form.value(1.5 * 2.0**form.digits)
        shifted = x + shifter
        n = shifted.bitcast(form.bits) - shifter.bitcast(form.bits)
        return n, x - (shifted - shifter)

    def _power_of_two(self, n: UOp, form: _Format) -> UOp:
        biased = n + form.integer(form.bias)
        return (biased << form.integer(form.digits)).bitcast(form.dtype)

    # ---- logarithm ----------------------------------------------------------------------------

    def _split(self, x: UOp, form: _Format) -> tuple[UOp, UOp]:
        """(e, f): a positive finite x is 2**e * (1 + f), with 1 + f from sqrt(1/2) to sqrt(2)."""
        tiny = x < form.value(2.0 ** (1 - form.bias))
        scaled = where(tiny, x * form.value(2.0 ** (form.digits + 2)), x)
        shift = where(tiny, form.integer(form.digits + 2), form.integer(0))
        bits = scaled.bitcast(form.bits)
        lowest = form.value(_SQRT_HALF).bitcast(form.bits)
        e = (bits - lowest) >> form.integer(form.digits)
        m = (bits - (e << form.integer(form.digits))).bitcast(form.dtype)
        return e - shift, m - form.value(1.0)

    def _log2_ends(self, x: UOp, inside: UOp, form: _Format) -> UOp:
        """The logarithm with its special cases: zero, negative numbers, infinity and NaN."""
        zero = form.value(0.0)
        result = where(x < form.value(float("inf")), inside, x)
        result = where(x < zero, form.value(float("nan")), result)
        result = where(x.eq(zero), form.value(float("-inf")), result)
        return where(x.ne(x), x, result)

    def log2(self, x: UOp) -> UOp:
        """The binary logarithm: exponent plus a polynomial of the rest."""
        form = FORMATS[x.dtype]
        e, f = self._split(x, form)
        exponent = e.cast(form.dtype)
        if form is _SINGLE:
            tail = self.polynomial(f, _LOG2_SINGLE) * f
            # f*log2(e) in two parts, including the rounding error of log2(e)
            log2_e = form.value(_LOG2_E)
            small = self.mul_add(f, form.value(_LOG2_E - float(log2_e.arg)), tail * f)
            inside = exponent + self.mul_add(f, log2_e, small)
        else:
            high, low = self._log2_parts(f, form)
            inside = exponent + high + low
        return self._log2_ends(x, inside, form)

    def _log2_parts(self, f: UOp, form: _Format) -> tuple[UOp, UOp]:
        """log2(1 + f) as high + low: 2*atanh(s)*log2(e) with s = f/(2 + f), its first term exact.

        The high parts have half of the digits, so that their products are exact.
        """
        two = form.value(2.0)
        below = f + two
        s = f / below
        s_high = self._half_digits(s, form)
        below_high = self._half_digits(below, form)
        below_low = (two - below_high) + f
        # f - s*(2 + f), to more digits than s has
        rest = ((f - s_high * below_high) - s_high * below_low) / below
        z = s * s
        tail = self.polynomial(z, _ATANH_DOUBLE) * z * s
        log2_e_high = self._constant_half(_LOG2_E)
        high = s_high * form.value(2.0 * log2_e_high)
        log2_e_low = 2.0355273740931033e-17 + (_LOG2_E - log2_e_high)
        low = (rest + rest + tail) * form.value(_LOG2_E)
        low = low + s_high * form.value(2.0 * log2_e_low)
        return high, low

    def _half_digits(self, x: UOp, form: _Format) -> UOp:
        """x without the lower half of its digits."""
        kept = form.integer(-(1 << (form.digits // 2 + 1)))
        return (x.bitcast(form.bits) & kept).bitcast(form.dtype)

    @staticmethod
    def _constant_half(value: float) -> float:
        scale = 2.0**26
        return int(value * scale) / scale

    # ---- power --------------------------------------------------------------------------------

    def power(self, x: UOp, y: UOp) -> UOp:
        """x**y for floats, with the special cases of IEEE 754: 2**(y * log2(|x|)) and a sign."""
        form = FORMATS[x.dtype]
        zero, one = form.value(0.0), form.value(1.0)
        magnitude = where(x < zero, -x, x)
        if form is _DOUBLE:
            result = self._power_double(magnitude, y, form)
        elif self.wide:
            result = self._power_single(magnitude, y)
        else:
            result = self.exp2(y * self.log2(magnitude))
        whole = y.trunc().eq(y)
        half = y * form.value(0.5)
        odd = whole & half.trunc().ne(half)
        negative = x.bitcast(form.bits) < form.integer(0)
        result = where(negative & odd, -result, result)
        finite = magnitude < form.value(float("inf"))
        nonsense = (x < zero) & whole.logical_not() & finite
        result = where(nonsense & (y.eq(y)), form.value(float("nan")), result)
        endless = where(y < zero, -y, y).eq(form.value(float("inf")))
        settled = x.eq(one) | y.eq(zero) | (magnitude.eq(one) & endless)
        return where(settled, one, result)

    def _power_single(self, magnitude: UOp, y: UOp) -> UOp:
        """In double precision with about 40 correct bits: nearly always the nearest float32."""
        form, zero = _DOUBLE, _SINGLE.value(0.0)
        e, f = self._split(magnitude, _SINGLE)
        f = f.cast(dtypes.double)
        s = f / (f + form.value(2.0))
        log = self.mul_add(s, self.polynomial(s * s, _ATANH_SHORT), e.cast(dtypes.double))
        log = where(magnitude < _SINGLE.value(float("inf")), log, magnitude.cast(dtypes.double))
        log = where(magnitude.eq(zero), form.value(float("-inf")), log)
        x, limit = y.cast(dtypes.double) * log, 300.0  # beyond it the result is 0 or infinite
        n, f = self._rounded(x, limit, form)
        root = self.polynomial(f, _EXP2_SHORT)
        return (root * self._power_of_two(n, form)).cast(dtypes.float)

    def _power_double(self, magnitude: UOp, y: UOp, form: _Format) -> UOp:
        e, f = self._split(magnitude, form)
        high, low = self._log2_parts(f, form)
        # the sum of exponent and high part, and its rounding error
        exponent = e.cast(form.dtype)
        total = exponent + high
        low = low + ((exponent - total) + high)
        total_high = self._half_digits(total, form)
        low = low + (total - total_high)
        y_high = self._half_digits(y, form)
        product = y_high * total_high
        rest = y * low + (y - y_high) * total_high
        inside = self._exp2_of_sum(product + rest, (product - (product + rest)) + rest, form)
        # for zero, infinity and very large products the parts above are NaN
        plain = y * self._log2_ends(magnitude, exponent + high, form)
        sure = (where(plain < form.value(0.0), -plain, plain) < form.value(2000.0)) & (
            magnitude.ne(form.value(0.0))
        )
        return where(sure, inside, self._exp2_of_sum(plain, None, form))

    # ---- sine ---------------------------------------------------------------------------------

    def sin(self, x: UOp) -> UOp:
        """The sine, for every float: quadrant and remainder first, then a polynomial."""
        form = FORMATS[x.dtype]
        size = x.bitcast(form.bits) & form.integer((1 << form.bits.bitsize - 1) - 1)
        r, low, quadrant = self._reduced(x, size, form)
        z = r * r
        # to first order sin(r + low) = sin(r) + low and cos(r + low) = cos(r) - r*low
        sine = r + self.mul_add(self.polynomial(z, form.sine) * z, r, low)
        tail = self.mul_add(self.polynomial(z, form.cosine) * z, z, -(r * low))
        half = z * form.value(0.5)
        whole = form.value(1.0) - half
        cosine = whole + (((form.value(1.0) - whole) - half) + tail)
        odd = (quadrant & form.integer(1)).ne(form.integer(0))
        value = where(odd, cosine, sine)
        value = where((quadrant & form.integer(2)).ne(form.integer(0)), -value, value)
        # for small x the sine is x; this also preserves the sign of zero
        small = form.value(2.0**-13 if form is _SINGLE else 2.0**-27).bitcast(form.bits)
        return where(size < small, x, value)

    def _reduced(self, x: UOp, size: UOp, form: _Format) -> tuple[UOp, ...]:
        """(r, low, quadrant) with x = quadrant * pi/2 + r + low mod 2*pi; r is NaN for inf and NaN.

        size: the bits of |x|, which have the same order as |x|.
        """
        r, low, quadrant = (self._far_single if form is _SINGLE else self._far_double)(x)
        negative = x < form.value(0.0)
        r, low = where(negative, -r, r), where(negative, -low, low)
        quadrant = where(negative, -quadrant, quadrant)
        infinite = form.value(float("inf")).bitcast(form.bits)
        far = (where(size < infinite, r, form.value(float("nan"))), low, quadrant)
        if form.dtype not in self.fused:
            return far
        is_near = size < form.value(form.near).bitcast(form.bits)
        pairs = zip(self._near(x, form), far, strict=True)
        return tuple(where(is_near, one, other) for one, other in pairs)

    def _near(self, x: UOp, form: _Format) -> tuple[UOp, UOp, UOp]:
        """(r, low, quadrant) of a small argument.

        x - n * first is exact, because both terms are multiples of a common power of two. The
        product with the second part is exact as a sum of two numbers, and so is the total.
        """
        # adding 1.5 * 2**digits leaves the nearest integer in the last bits
        shifter = form.value(1.5 * 2.0**form.digits)
        shifted = self.mul_add(x, form.value(1.0 / _HALF_PI), shifter)
        minus = shifter - shifted
        first, second, third = map(form.value, form.quarter)
        rest = self.mul_add(minus, first, x)
        product = minus * second
        lost = self.mul_add(minus, third, self.mul_add(minus, second, -product))
        r = rest + product
        # the rounding error of the sum (D. Knuth, TAOCP 2, 4.2.2)
        added = r - rest
        lost = lost + ((rest - (r - added)) + (product - added))
        return r, lost, shifted.bitcast(form.bits)

    def _significand(self, x: UOp, form: _Format) -> tuple[UOp, UOp]:
        """|x| = m * 2**(e - bias - digits): m with its leading one, and the stored exponent e."""
        bits = x.bitcast(form.bits)
        e = (bits >> form.integer(form.digits)) & form.integer(2 * form.bias + 1)
        m = (bits & form.integer((1 << form.digits) - 1)) | form.integer(1 << form.digits)
        return m, e

    def _window(self, start: UOp, count: int, words: int, zeros: int) -> list[UOp]:
        """`count` words of 32 bits of 2/pi from bit number `start` on, as unsigned 64-bit integers.

        `zeros` zero words precede the point; `start` is at most 32 * words + 31.
        """
        uint = dtypes.uint  # a vector has twice as many 32-bit lanes
        table = (0,) * zeros + _TWO_OVER_PI
        place = start >> start.const_like(5)
        rest = start & start.const_like(31)
        back = (start.const_like(31) - rest).cast(uint)
        rest, one = rest.cast(uint), UOp.const(uint, 1)
        picked: list[UOp] = []
        for offset in range(count + 1):
            word = UOp.const(uint, table[offset + words])
            for number in range(words - 1, -1, -1):
                known = UOp.const(uint, table[number + offset])
                word = where(place.eq(place.const_like(number)), known, word)
            picked.append(word)
        # in two steps, because a shift by 32 is not defined
        pairs = pairwise(picked)
        return [((a << rest) | ((b >> one) >> back)).cast(dtypes.ulong) for a, b in pairs]

    def _far_single(self, x: UOp) -> tuple[UOp, UOp, UOp]:
        """(r, low, quadrant) with |x| = quadrant * pi/2 + r + low modulo 2*pi."""
        ulong = dtypes.ulong
        m, e = self._significand(x, _SINGLE)
        m = m.cast(ulong)
        # |x| = m * 2**(e-150). With 64 zeros first, bit s of the window has weight 2**(64-s-1), so
        # that the product with the bits from s = e - 150 + 62 on has 62 of them after the point
        start = e - UOp.const(dtypes.int, 150 - 62)
        start = where(start < start.const_like(0), start.const_like(0), start)
        high, middle, low = self._window(start, 3, 5, 2)
        back, two = UOp.const(ulong, 32), UOp.const(ulong, 62)
        product = m * ((high << back) | middle) + ((m * low) >> back)
        quarter = (product + UOp.const(ulong, 1 << 61)) >> two
        fraction = (product - (quarter << two)).cast(dtypes.long)
        quadrant = quarter.cast(dtypes.int)
        if self.wide:
            exact = fraction.cast(dtypes.double) * UOp.const(dtypes.double, _HALF_PI * 2.0**-62)
            r = exact.cast(dtypes.float)
            return r, (exact - r.cast(dtypes.double)).cast(dtypes.float), quadrant
        unit = UOp.const(dtypes.float, 2.0**-62)
        revolutions = fraction.cast(dtypes.float)
        cut = (fraction - revolutions.cast(dtypes.long)).cast(dtypes.float) * unit
        revolutions = revolutions * unit
        half_pi = UOp.const(dtypes.float, _HALF_PI)
        rest = revolutions * UOp.const(dtypes.float, _HALF_PI - float(half_pi.arg)) + cut * half_pi
        r = revolutions * half_pi
        if dtypes.float in self.fused:
            rest = rest + self.mul_add(revolutions, half_pi, -r)
        return r, rest, quadrant

    def _far_double(self, x: UOp) -> tuple[UOp, UOp, UOp]:
        """As for single precision, with a product of 53 and 192 bits."""
        ulong = dtypes.ulong
        m, e = self._significand(x, _DOUBLE)
        m = m.cast(ulong)
        mask, back = UOp.const(ulong, 0xFFFFFFFF), UOp.const(ulong, 32)
        m_high, m_low = m >> back, m & mask
        start = e - UOp.const(dtypes.long, 1075 - 62 - 32)
        start = where(start < start.const_like(0), start.const_like(0), start)
        words = self._window(start.cast(dtypes.int), 6, 33, 3)
        # schoolbook multiplication from the lowest word up; the upper 128 bits of what is left
        # of the product modulo 2**192 are (top, bottom)
        carry = UOp.const(ulong, 0)
        limbs: list[UOp] = []
        for position in range(len(words) - 1, -1, -1):
            total = m_low * words[position] + carry
            limbs.append(total & mask)
            carry = total >> back
        carry = UOp.const(ulong, 0)
        for position in range(1, len(words)):
            total = m_high * words[len(words) - position] + limbs[position] + carry
            limbs[position] = total & mask
            carry = total >> back
        top = (limbs[5] << back) | limbs[4]
        bottom = (limbs[3] << back) | limbs[2]
        two = UOp.const(ulong, 62)
        rounded = (top + UOp.const(ulong, 1 << 61)) >> two
        whole = (top - (rounded << two)).cast(dtypes.long)
        revolutions = whole.cast(dtypes.double) * UOp.const(dtypes.double, 2.0**-62)
        # the bits that the cast from 64 to 53 bits lost, and the bits below
        cut = (whole - whole.cast(dtypes.double).cast(dtypes.long)).cast(dtypes.double)
        below = cut * UOp.const(dtypes.double, 2.0**-62)
        below = below + (bottom >> UOp.const(ulong, 1)).cast(dtypes.long).cast(
            dtypes.double
        ) * UOp.const(dtypes.double, 2.0**-125)
        half_pi = UOp.const(dtypes.double, _HALF_PI)
        extra = revolutions * UOp.const(dtypes.double, 6.123233995736766e-17) + below * half_pi
        r = revolutions * half_pi
        if dtypes.double in self.fused:
            extra = extra + self.mul_add(revolutions, half_pi, -r)
        return r, extra, rounded.cast(dtypes.long)
