"""Operation legalization: one expansion rule for each operation that a target lacks.
Also: strength reduction.

A rule returns an expression, which may need further rules, or None if the node is legal.

Source: LLVM, LegalizeDAG (operation legalization).
"""

from __future__ import annotations

from collections.abc import Callable

from weft.base.dtype import DType, dtypes
from weft.base.errors import CapabilityError
from weft.codegen.decomposition.transcendental import FORMATS, Transcendental, where
from weft.uop import Ops, UOp

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
Rule = Callable[[UOp], UOp | None]


def _in_single(node: UOp) -> UOp:
    """A float operation in float32, for a dtype without expansions of its own."""
    src = tuple(source.cast(dtypes.float) for source in node.src)
    return UOp(node.op, dtypes.float, src).cast(node.dtype)


class Rules:
    """The expansion rules by op. native: the operations of the target; computed: its dtypes."""

    def __init__(self, native: frozenset[Ops], computed: frozenset[DType]) -> None:
        self.native = native
        fused = frozenset(d for d in FORMATS if Ops.MULACC in native and d in computed)
        self.formulas = Transcendental(fused, dtypes.double in computed)
        self.table: dict[Ops, Rule] = {
            **dict.fromkeys((Ops.EXP2, Ops.LOG2, Ops.SIN), self.function), Ops.POW: self.power,
            Ops.THREEFRY: threefry, Ops.MAX: maximum, Ops.RECIP: self.reciprocal,
            Ops.FDIV: self.divide, Ops.SUB: self.subtract, Ops.NEG: negative,
            Ops.CMPEQ: equal, Ops.MULACC: self.mul_add, Ops.TRUNC: truncate, Ops.MOD: remainder,
        }  # fmt: skip

    def rule(self, node: UOp) -> UOp | None:
        """The expansion of a node; None if the target has the operation."""
        op = node.op
        if op in (Ops.SHL, Ops.SHR):
            guarded = guarded_shift(node)
            if guarded is not None:
                return guarded
        if op is Ops.MOD and dtypes.is_float(node.dtype):
            return self.float_remainder(node)
        if op in self.native:
            return None
        return self.table.get(op, self.missing)(node)

    def missing(self, node: UOp) -> UOp | None:
        raise CapabilityError(
            f"the device has no {node.op.name}, and there is no expansion of it",
            asked=f"{node.op.name} of {node.dtype!r}",
            because="its renderer does not list it among its native operations",
            try_="another device, or in its plugin: render it, and list it in native_ops",
        )

    def function(self, node: UOp) -> UOp:
        if node.dtype not in FORMATS:
            return _in_single(node)
        formulas = self.formulas
        known = {Ops.EXP2: formulas.exp2, Ops.LOG2: formulas.log2, Ops.SIN: formulas.sin}
        return known[node.op](node.src[0])

    def power(self, node: UOp) -> UOp:
        if not dtypes.is_float(node.dtype):
            return integer_power(node)
        return self.formulas.power(*node.src) if node.dtype in FORMATS else _in_single(node)

    def reciprocal(self, node: UOp) -> UOp | None:
        x = node.src[0]
        return x.const_like(1.0) / x if Ops.FDIV in self.native else self.missing(node)

    def divide(self, node: UOp) -> UOp | None:
        a, b = node.src
        return a * b.reciprocal() if Ops.RECIP in self.native else self.missing(node)

    def float_remainder(self, node: UOp) -> UOp:
        """fmod(a, b): exact while the quotient is below 2**29 (float32) or 2**52 (double)."""
        a, b = node.src
        if node.dtype not in FORMATS:
            return _in_single(node)
        if node.dtype is dtypes.float and self.formulas.wide:
            wide = UOp(Ops.MOD, dtypes.double, (a.cast(dtypes.double), b.cast(dtypes.double)))
            return wide.cast(dtypes.float)
        size, step = _magnitude(a), _magnitude(b)
        quotient = (size / step).trunc()
        rest = self.formulas.mul_add(-quotient, step, size)
        # the rounded quotient may be one too large or too small
        rest = where(rest < rest.const_like(0.0), rest + step, rest)
        rest = where(rest < step, rest, rest - step)
        # a quotient beyond the precision is unknown; the remainder is then 0
        known = (rest < step) & (rest < rest.const_like(0.0)).logical_not() | rest.ne(rest)
        rest = where(known, rest, rest.const_like(0.0))
        rest = where(size < step, size, rest)
        form = FORMATS[node.dtype]
        sign = a.bitcast(form.bits) & form.integer(-1 << (form.bits.bitsize - 1))
        return (rest.bitcast(form.bits) | sign).bitcast(node.dtype)

    def subtract(self, node: UOp) -> UOp:
        return node.src[0] + -node.src[1]

    def mul_add(self, node: UOp) -> UOp:
        """a*b + c; for floats in double, or with the rounding error of the product added.

        The error is exact (T. Dekker, 1971, with heads by masking, which cannot overflow). The
        result is close to that of a multiply-add with one rounding, but not always equal.
        """
        a, b, c = node.src
        if node.dtype not in FORMATS:
            return a * b + c
        if node.dtype is dtypes.float and self.formulas.wide:
            a, b, c = (x.cast(dtypes.double) for x in node.src)
            return (a * b + c).cast(dtypes.float)
        product = a * b
        (a_head, a_tail), (b_head, b_tail) = _halves(a), _halves(b)
        lost = a_head * b_head - product + a_head * b_tail + a_tail * b_head + a_tail * b_tail
        finite = _magnitude(product) < product.const_like(float("inf"))
        matters = finite & lost.ne(lost.const_like(0.0))  # adding nothing would lose -0
        return where(matters, product + c + lost, product + c)


def maximum(node: UOp) -> UOp:
    """max(a, b) -> b if a < b else a; a NaN on either side wins"""
    a, b = node.src
    second = a < b
    if dtypes.is_float(node.dtype):
        second = second | b.ne(b)
    return where(second, b, a)


def negative(node: UOp) -> UOp:
    """-x -> x * -1, which has the sign of zero right"""
    x = node.src[0]
    return x if node.dtype is dtypes.bool else x * x.const_like(-1)


def equal(node: UOp) -> UOp:
    """a == b -> not a != b"""
    return node.src[0].ne(node.src[1]).logical_not()


def truncate(node: UOp) -> UOp:
    """trunc(x) through an integer, where x has a fraction at all; the sign of zero is kept"""
    x = node.src[0]
    if x.dtype not in FORMATS:
        return _in_single(node)
    form = FORMATS[x.dtype]
    sign = x.bitcast(form.bits) & form.integer(-1 << (form.bits.bitsize - 1))
    whole = x.cast(form.bits).cast(form.dtype)
    whole = (whole.bitcast(form.bits) | sign).bitcast(form.dtype)
    magnitude = where(x < x.const_like(0), x * x.const_like(-1), x)
    return where(magnitude < form.value(2.0**form.digits), whole, x)


def remainder(node: UOp) -> UOp:
    """a % b -> a - (a / b)*b for integers; 0 where b is"""
    a, b = node.src
    return where(b.ne(b.const_like(0)), a - (a // b) * b, a.const_like(0))


def _magnitude(x: UOp) -> UOp:
    return where(x < x.const_like(0.0), -x, x)


def _halves(x: UOp) -> tuple[UOp, UOp]:
    """(head, tail) of x: the leading half of its digits and the rest; their sum is exactly x."""
    form = FORMATS[x.dtype]
    mask = form.integer(-1 << (form.digits + 2) // 2)
    head = (x.bitcast(form.bits) & mask).bitcast(x.dtype)
    return head, x - head


def guarded_shift(node: UOp) -> UOp | None:
    """x << n -> 0 and x >> n -> the sign (or 0) where n is not below the width of x."""
    x, n = node.src
    width = x.dtype.bitsize
    low, high = n.vmin, n.vmax
    if low >= 0 and high < width:
        return None
    if n.op is Ops.AND and n.src[1].op is Ops.CONST and 0 <= n.src[1].arg < width:
        return None
    if n.op is Ops.CAST and n.src[0].op is Ops.AND and n.src[0].src[1].op is Ops.CONST:
        if 0 <= n.src[0].src[1].arg < width:
            return None
    inside = n < n.const_like(width)
    if not dtypes.is_unsigned(n.dtype):
        inside = inside & (n < n.const_like(0)).logical_not()
    if node.op is Ops.SHR:
        most = n.const_like(width - 1)
        if not dtypes.is_unsigned(x.dtype):
            return UOp(Ops.SHR, x.dtype, (x, where(inside, n, most) & most))
    shifted = UOp(node.op, x.dtype, (x, n & n.const_like(width - 1)))
    return where(inside, shifted, x.const_like(0))


def integer_power(node: UOp) -> UOp:
    """a**b by squaring, wrapping; a negative exponent leaves something of -1, 0 and 1 only."""
    a, b = node.src
    one, zero = a.const_like(1), a.const_like(0)
    result, square = one, a
    exponent = b
    for bit in range(b.dtype.bitsize):
        odd = (exponent & b.const_like(1 << bit)).ne(b.const_like(0)) if bit < b.dtype.bitsize - 1 \
            else b < b.const_like(0) if not dtypes.is_unsigned(b.dtype) \
            else (exponent >> b.const_like(bit)).ne(b.const_like(0))  # fmt: skip
        result = where(odd, result * square, result)
        square = square * square
    if dtypes.is_unsigned(b.dtype):
        return result
    is_odd = (b & b.const_like(1)).ne(b.const_like(0))
    unit = a.eq(one) | a.eq(zero) | a.eq(a.const_like(-1))
    small = where(is_odd, a, one)
    return where(b < b.const_like(0), where(unit, small, zero), result)


def threefry(node: UOp) -> UOp:
    """One block of Threefry-2x32-20 (Salmon et al., SC 2011) in 32-bit arithmetic."""
    uint, ulong = dtypes.uint, dtypes.ulong
    half = UOp.const(ulong, 32)

    def parts(value: UOp) -> list[UOp]:
        return [value.cast(uint), (value >> half).cast(uint)]

    def number(value: int) -> UOp:
        return UOp.const(uint, value)

    x, k = parts(node.src[0]), parts(node.src[1])
    k.append(k[0] ^ k[1] ^ number(_PARITY))
    x = [x[0] + k[0], x[1] + k[1]]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x[0] = x[0] + x[1]
            x[1] = (x[1] << number(rotation)) | (x[1] >> number(32 - rotation))
            x[1] = x[0] ^ x[1]
        x[0] = x[0] + k[(group + 1) % 3]
        x[1] = x[1] + k[(group + 2) % 3] + number(group + 1)
    return (x[1].cast(ulong) << half) | x[0].cast(ulong)
