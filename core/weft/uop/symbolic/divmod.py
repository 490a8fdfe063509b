"""Division laws: simplify `//` and `%` by constants on linear forms.
Also: strength reduction of divisions.

`floor_divide` and `floor_modulo` take forms that are never negative where it matters; there C's
truncating division is the floor, and these laws of the floor hold for d > 0:

    (d*q + r) // d = q + r // d              (d*q + r) % d = r % d
    (g*a + b) // (g*d) = a // d              (g*a + b) % (g*d) = g * (a % d) + b   if 0 <= b < g
    (x // a + k) // d = (x + k*a) // (a*d)   (k * (x % m)) % d = (k*x) % d         if d | k*m
    d * (x // d) + x % d = x

The nodes' own operations truncate toward zero for operands of any sign; `divide` and `modulo`
reduce them to the forms above by sign, or leave them alone.
"""

from __future__ import annotations

from math import gcd

from weft.base.dtype import DType
from weft.base.intmath import cdiv, cmod
from weft.uop.bounds import bounds_of
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.symbolic.sums import BoundsOf, Linear, divide_by_term, linear_of, mark_simple, node_of


def _rest(
    form: Linear, divisor: int, dtype: DType, bounds: BoundsOf
) -> tuple[Linear, Linear, int, int]:
    """(quotient, rest, least, greatest) with form = quotient * divisor + rest and least >= 0.

    Coefficients of the rest are remainders in 0 ... divisor, or truncated toward zero. The choice
    that keeps the rest below the divisor is taken; of two such choices the one with fewer values.
    `3 - x` is therefore kept, and not replaced by `3 + 3*x`. A rest that might overflow the dtype
    is refused: the form is then its own rest.
    """
    best: tuple[Linear, Linear, int, int] | None = None
    signed = any(c < 0 for c in form.terms.values())
    for toward_zero in (True, False) if signed else (False,):
        quotient, rest = Linear(), Linear()
        for term, coefficient in form.terms.items():
            if toward_zero:
                times, left = cdiv(coefficient, divisor), cmod(coefficient, divisor)
            else:
                times, left = divmod(coefficient, divisor)
            if times:
                quotient.terms[term] = times
            if left:
                rest.terms[term] = left
        low, high = rest.bounds(bounds)
        # the constant is shifted so that the least value of the rest lies in 0 ... divisor
        times = (low + form.const) // divisor
        quotient.const, rest.const = times, form.const - times * divisor
        low, high = low + rest.const, high + rest.const
        # better is a rest that is a remainder already, or that has fewer values
        key = (high >= divisor, high - low)
        if high <= dtype.max and (best is None or key < (best[3] >= divisor, best[3] - best[2])):
            best = quotient, rest, low, high
    if best is None:
        return Linear(), form.copy(), *form.bounds(bounds)
    return best


def _split(rest: Linear, divisor: int, bounds: BoundsOf) -> tuple[int, Linear, Linear] | None:
    """(g, big, small) with rest = g * big + small, 0 <= small < g, g | `divisor`; or None."""
    candidates = {gcd(divisor, c) for c in rest.terms.values()}
    candidates.discard(1)
    for unit in sorted(candidates, reverse=True):
        big, small = Linear(), Linear()
        for term, coefficient in rest.terms.items():
            if coefficient % unit:
                small.terms[term] = coefficient
            else:
                big.terms[term] = coefficient // unit
        low, high = small.bounds(bounds)
        times = (low + rest.const) // unit
        big.const, small.const = times, rest.const - times * unit
        if low + small.const >= 0 and high + small.const < unit:
            return unit, big, small
    return None


def floor_divide(form: Linear, divisor: int, dtype: DType, bounds: BoundsOf = bounds_of) -> Linear:
    """form // divisor for divisor > 0, where form >= 0 under `bounds`."""
    if divisor == 1:
        return form
    quotient, rest, low, high = _rest(form, divisor, dtype, bounds)
    while True:
        if low // divisor == high // divisor:
            quotient.const += low // divisor
            return quotient
        parts = _split(rest, divisor, bounds)
        if parts is None:
            break
        unit, rest, _ = parts
        divisor //= unit
        more, rest, low, high = _rest(rest, divisor, dtype, bounds)
        quotient.add(more)
    if len(rest.terms) == 1:
        ((term, coefficient),) = rest.terms.items()
        inner = constant_divisor(term, Ops.IDIV)
        if coefficient == 1 and inner is not None and bounds_of(term.src[0])[0] >= 0:
            numerator = linear_of(term.src[0])
            exact = numerator.fits(dtype)
            numerator.const += rest.const * inner
            if exact and numerator.fits(dtype) and numerator.bounds(bounds)[0] >= 0:
                return quotient.add(floor_divide(numerator, inner * divisor, dtype, bounds))
    times, rest = _not_negative(rest, divisor, dtype)
    quotient.const += times
    return quotient.add(Linear({_atom(Ops.IDIV, rest, divisor, dtype): 1}))


def floor_modulo(form: Linear, divisor: int, dtype: DType, bounds: BoundsOf = bounds_of) -> Linear:
    """form % divisor for divisor > 0, where form >= 0 under `bounds`."""
    if divisor == 1:
        return Linear()
    low, high = form.bounds(bounds)
    if low // divisor == high // divisor:
        whole = form.copy()
        whole.const -= low // divisor * divisor
        return whole
    _, rest, low, high = _rest(form, divisor, dtype, bounds)
    if low // divisor == high // divisor:
        rest.const -= low // divisor * divisor
        return rest
    for term, coefficient in rest.terms.items():
        modulus = constant_divisor(term, Ops.MOD)
        if modulus is not None and coefficient * modulus % divisor == 0:
            source = linear_of(term.src[0])
            opened = rest.copy()
            del opened.terms[term]
            opened.add(source, coefficient)
            if source.bounds(bounds)[0] >= 0 and source.fits(dtype) and opened.fits(dtype):
                return floor_modulo(opened, divisor, dtype, bounds)
    parts = _split(rest, divisor, bounds)
    if parts is not None:
        unit, big, small = parts
        return floor_modulo(big, divisor // unit, dtype, bounds).scaled(unit).add(small)
    _, rest = _not_negative(rest, divisor, dtype)
    return Linear({_atom(Ops.MOD, rest, divisor, dtype): 1})


def _not_negative(rest: Linear, divisor: int, dtype: DType) -> tuple[int, Linear]:
    """(times, other) with rest = times * divisor + other, which is never negative if that can be.

    What is not negative where it matters may be elsewhere; where it is nowhere, loops that are
    split later leave sums that divide further.
    """
    times = rest.bounds()[0] // divisor
    if times >= 0:
        return 0, rest
    other = rest.copy()
    other.const -= times * divisor
    return (times, other) if other.fits(dtype) else (0, rest)


def _atom(op: Ops, form: Linear, divisor: int, dtype: DType) -> UOp:
    return mark_simple(UOp(op, dtype, (node_of(form, dtype), UOp.const(dtype, divisor))))


def constant_divisor(node: UOp, *among: Ops) -> int | None:
    """The divisor of a `//` or `%` by a positive constant; None for any other node."""
    if node.op not in (among or (Ops.IDIV, Ops.MOD)) or node.src[1].op is not Ops.CONST:
        return None
    return node.src[1].arg if node.src[1].arg > 0 else None


def divide(node: UOp) -> UOp | None:
    """IDIV of canonical index arithmetic: numerator // denominator, toward zero."""
    return _reduce(node, floor_divide, Ops.IDIV)


def modulo(node: UOp) -> UOp | None:
    """MOD of canonical index arithmetic: the remainder with the sign of the numerator."""
    return _reduce(node, floor_modulo, Ops.MOD)


def _reduce(node: UOp, floored: object, op: Ops) -> UOp | None:
    numerator, denominator = node.src
    dtype = node.dtype
    form = linear_of(numerator)
    if not form.fits(dtype):
        return None
    if denominator.op is not Ops.CONST:
        return _by_symbol(node, form)
    divisor = denominator.arg
    if divisor == 0 or divisor == dtype.min:
        return None
    sign = 1
    if divisor < 0:
        divisor = -divisor
        sign = -1 if op is Ops.IDIV else 1
    low, high = form.bounds()
    if low < 0 and high <= 0:
        sign = -sign
        form = form.scaled(-1)
        low, high = -high, -low
    if low < 0:
        result = _mixed(form, divisor, dtype, op)
    elif op is Ops.IDIV:
        result = floor_divide(form, divisor, dtype)
    else:
        result = floor_modulo(form, divisor, dtype)
    made = node_of(gather(result.scaled(sign), dtype), dtype)
    return None if made is node else made


def _mixed(form: Linear, divisor: int, dtype: DType, op: Ops) -> Linear:
    """Quotient or remainder of a form of either sign: only what holds when truncating."""
    common = divisor
    for number in (form.const, *form.terms.values()):
        common = gcd(common, number)
    low, high = form.bounds()
    if common == divisor:
        if op is Ops.MOD:
            return Linear()
        return Linear({t: c // divisor for t, c in form.terms.items()}, form.const // divisor)
    if -divisor < low and high < divisor:
        return Linear() if op is Ops.IDIV else form
    reduced = Linear({t: c // common for t, c in form.terms.items()}, form.const // common)
    atom = Linear({_atom(op, reduced, divisor // common, dtype): 1})
    return atom if op is Ops.IDIV else atom.scaled(common)


def _by_symbol(node: UOp, form: Linear) -> UOp | None:
    """Quotient or remainder of a nonnegative dividend by a positive symbolic divisor."""
    divisor, dtype, op = node.src[1], node.dtype, node.op
    least = bounds_of(divisor)[0]
    if least <= 0 or form.bounds()[0] < 0:
        return None
    quotient, rest = divide_by_term(form, divisor)
    low, high = rest.bounds()
    if low >= 0 and high < least and quotient.bounds()[0] >= 0:
        return node_of(quotient if op is Ops.IDIV else rest, dtype)
    if node.src[0] is divisor:
        return UOp.const(dtype, 1 if op is Ops.IDIV else 0)
    return None


def gather(form: Linear, dtype: DType) -> Linear:
    """Recombine quotients and remainders of one number, in place.

    k*d * (x // d) + k * (x % d) -> k * x
    k*d * ((x // d) % e) + k * (x % d) -> k * (x % (d*e))
    """
    again = True
    while again:
        again = False
        for term in form.terms:
            modulus = constant_divisor(term, Ops.MOD)
            if modulus is not None and _gather_one(form, term, modulus, dtype):
                again = True
                break
    return form


def _gather_one(form: Linear, term: UOp, modulus: int, dtype: DType) -> bool:
    """Look for the partner of the remainder `term` = number % modulus, and join the two."""
    number, divisor = term.src
    weight = form.terms[term]
    wanted = weight * modulus
    whole = UOp(Ops.IDIV, dtype, (number, divisor))
    partners = [whole]
    inner = constant_divisor(number, Ops.IDIV)
    if inner is not None:
        # x // a // m is written x // (a*m)
        flat = UOp.const(dtype, inner * modulus)
        partners.append(UOp(Ops.IDIV, dtype, (number.src[0], flat)))
    for partner in partners:
        if form.terms.get(partner) == wanted:
            del form.terms[partner], form.terms[term]
            form.add(linear_of(number), weight)
            return True
    source = linear_of(number)
    if bounds_of(number)[0] < 0 or not source.fits(dtype):
        return False
    for other, coefficient in form.terms.items():
        outer = constant_divisor(other, Ops.MOD)
        if outer is not None and coefficient == wanted and other.src[0] in partners:
            del form.terms[other], form.terms[term]
            form.add(floor_modulo(source, modulus * outer, dtype), weight)
            return True
    return False
