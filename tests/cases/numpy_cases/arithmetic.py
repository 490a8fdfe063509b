"""Programs of arithmetic: pairs of dtypes, weak numbers, and what integers do at their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cases.numpy_cases import KINDS, REAL, SIGNED, UNSIGNED, WHOLE, Draw, family, rounded
from weft.base.dtype import dtypes
from weft.base.scalars import truncate

_ORDER = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def promoted(first: str, second: str) -> str:
    """The dtype of a mix of two arrays: the table of the array API standard, and PyTorch's answers
    where it has none."""
    if first == second:
        return first
    if first in REAL or second in REAL:
        floats = [kind for kind in (first, second) if kind in REAL]
        if set(floats) == {"float16", "bfloat16"}:
            return "float32"
        return max(floats, key=REAL.index)
    if "bool" in (first, second):
        return second if first == "bool" else first
    if (first in SIGNED) == (second in SIGNED):
        return max(first, second, key=_ORDER.index)
    signed, unsigned = (first, second) if first in SIGNED else (second, first)
    wider = SIGNED[max(SIGNED.index(signed), UNSIGNED.index(unsigned) + 1) :][:1]
    return wider[0] if wider and unsigned != "uint64" else "float32"


def weak(kind: str, number: Any) -> str:
    """The dtype of a mix of an array and a Python number."""
    if isinstance(number, bool) or kind in REAL:
        return kind
    if isinstance(number, float):
        return "float32"
    return "int32" if kind == "bool" else kind


def floor_quotient(a: Any, b: Any) -> Any:
    """a // b of integers; 0 by 0, and the least one by -1 is itself."""
    import numpy

    safe = numpy.where(b == 0, 1, b).astype(a.dtype)
    return numpy.where(b == 0, 0, numpy.floor_divide(a, safe)).astype(a.dtype)


def remainder(a: Any, b: Any) -> Any:
    """a % b of integers, with the sign of b; 0 by 0."""
    import numpy

    safe = numpy.where(b == 0, 1, b).astype(a.dtype)
    return numpy.where(b == 0, 0, numpy.mod(a, safe)).astype(a.dtype)


_ANY: dict[str, tuple[Callable[..., Any], str]] = {
    "+": (lambda x, y: x + y, "add"),
    "-": (lambda x, y: x - y, "subtract"),
    "*": (lambda x, y: x * y, "multiply"),
    "maximum": (lambda x, y: x.maximum(y), "maximum"),
    "minimum": (lambda x, y: x.minimum(y), "minimum"),
}
_COMPARED: dict[str, tuple[Callable[..., Any], str]] = {
    "<": (lambda x, y: x < y, "less"),
    "<=": (lambda x, y: x <= y, "less_equal"),
    ">": (lambda x, y: x > y, "greater"),
    ">=": (lambda x, y: x >= y, "greater_equal"),
    "==": (lambda x, y: x == y, "equal"),
    "!=": (lambda x, y: x != y, "not_equal"),
}
_BITS: dict[str, tuple[Callable[..., Any], str]] = {
    "&": (lambda x, y: x & y, "bitwise_and"),
    "|": (lambda x, y: x | y, "bitwise_or"),
    "^": (lambda x, y: x ^ y, "bitwise_xor"),
}


def applied(function: Any, kind: str, *arrays: Any) -> Any:
    """A function of NumPy on arrays of a dtype, rounded to it; bfloat16 in float32."""
    result = function(*arrays)
    return rounded(result, "bfloat16") if kind == "bfloat16" and result.dtype != bool else result


@family
def promotion(draw: Draw) -> None:
    """Pairs of dtypes in operators, comparisons, choices and in place."""
    for _ in range(6):
        _pair(draw)


def _pair(draw: Draw) -> None:
    import numpy

    one, two = draw.choice(KINDS), draw.choice(KINDS)
    kind = promoted(one, two)
    shape = draw.shape(0, 2, 300)
    other = tuple(1 if draw.chance(0.2) else n for n in shape)[draw.integer(0, len(shape)) :]
    (x, a), (y, b) = draw.input(shape, one), draw.input(other, two)
    left, right = rounded(a, kind), rounded(b, kind)
    name = draw.choice([*_ANY, *_COMPARED, *_BITS, "where", "/", "in place"])
    text = f"{one}{list(shape)} {name} {two}{list(other)}"
    if name in _COMPARED:
        ours, theirs = _COMPARED[name]
        draw.ask(text, ours(x, y), getattr(numpy, theirs)(left, right))
    elif name in _BITS and kind not in REAL:
        ours, theirs = _BITS[name]
        draw.ask(text, ours(x, y), getattr(numpy, theirs)(left, right), kind)
    elif name == "where":
        mask, c = draw.input(shape, "bool")
        draw.ask(text, mask.where(x, y), numpy.where(c, left, right), kind)
    elif name == "/":
        to = kind if kind in REAL else "float32"
        quotient = applied(numpy.divide, to, rounded(left, to), rounded(right, to))
        draw.ask(text, x / y, quotient, to)
    elif name in _ANY and (kind != "bool" or name in ("maximum", "minimum")):
        ours, theirs = _ANY[name]
        want = applied(getattr(numpy, theirs), kind, left, right)
        draw.ask(text, ours(x, y), want, kind, near=_signs(name))
    elif name == "in place" and kind == one and kind != "bool":
        x = x.clone()
        x += y
        x *= y
        first = applied(numpy.add, kind, left, right)
        draw.ask(text, x, applied(numpy.multiply, kind, first, right), kind)


def _signs(name: str) -> float:
    """The order of two zeros is undefined: half a unit accepts either sign."""
    return 0.5 if name in ("maximum", "minimum") else 0.0


@family
def weak_numbers(draw: Draw) -> None:
    """Arrays with Python numbers on either side."""
    for _ in range(6):
        _with_number(draw)


def _with_number(draw: Draw) -> None:
    import numpy

    kind = draw.choice(KINDS)
    x, a = draw.input(draw.shape(0, 2, 300), kind)
    number = draw.choice([0, 1, 2, 3, 5, 100, True, 0.5, -1.5, 3.0, math.inf, math.nan, -0.0])
    if kind not in UNSIGNED and draw.chance(0.3) and not isinstance(number, bool):
        number = -number
    to = weak(kind, number)
    wide = rounded(a, to)
    held = rounded(numpy.array(number), to)
    name = draw.choice([*_ANY, *_COMPARED, "clamp", "where", "/"])
    text = f"{kind} {name} {number}"
    turned = draw.chance()
    pair = (held, wide) if turned else (wide, held)
    if name in _COMPARED:
        ours, theirs = _COMPARED[name]
        got = ours(number, x) if turned else ours(x, number)
        draw.ask(text, got, getattr(numpy, theirs)(*pair))
    elif name == "clamp":
        low, high = sorted([number, draw.choice([-2, 1, 7] if kind not in UNSIGNED else [2, 7])])
        to = weak(weak(kind, low), high)
        if to == "bool":
            return
        wide = rounded(a, to)
        ends = [rounded(numpy.array(n), to) for n in (low, high)]
        want = numpy.minimum(numpy.maximum(wide, ends[0]), ends[1])
        draw.ask(f"{kind} clamp {low}, {high}", x.clamp(low, high), want, to, near=0.5)
    elif name == "where":
        mask, c = draw.input(x.shape, "bool")
        got = mask.where(number, x) if turned else mask.where(x, number)
        draw.ask(text, got, numpy.where(c, *pair), to)
    elif name == "/":
        to = to if to in REAL else "float32"
        pair = tuple(rounded(p, to) for p in pair)
        got = number / x if turned else x / number
        draw.ask(text, got, applied(numpy.divide, to, *pair), to)
    elif to != "bool" and (name in "+-*" or not turned):
        ours, theirs = _ANY[name]
        got = ours(number, x) if turned else ours(x, number)
        want = applied(getattr(numpy, theirs), to, *pair)
        draw.ask(text, got, want, to, near=_signs(name))


@family
def integers(draw: Draw) -> None:
    """What integers do at the ends of their dtypes: quotients, shifts, powers, wrapping."""
    for _ in range(6):
        _of_integers(draw)


def _of_integers(draw: Draw) -> None:
    import numpy

    kind = draw.choice(WHOLE)
    bits = numpy.iinfo(kind).bits
    shape = draw.shape(0, 2, 600)
    (x, a), (y, b) = draw.input(shape, kind), draw.input(shape, kind)
    name = draw.choice(["//", "%", "<<", ">>", "**", "abs", "bits", "mixed", "by number", "sign"])
    text = f"{kind}{list(shape)} {name}"
    if name == "//":
        draw.ask(text, x // y, floor_quotient(a, b))
    elif name == "%":
        draw.ask(text, x % y, remainder(a, b))
        draw.ask(text + " together", (x // y) * y + x % y, numpy.where(b == 0, 0, a).astype(kind))
    elif name in ("<<", ">>"):
        by = draw.numbers.integers(0, bits + 4, shape).astype(kind)
        n = draw.tensor(by, kind)
        if name == "<<":
            draw.ask(text, x << n, numpy.left_shift(a, by))
        else:
            draw.ask(text, x >> n, numpy.right_shift(a, by))
    elif name == "**":
        by = draw.numbers.integers(0, 12, shape).astype(kind)
        draw.ask(text, x ** draw.tensor(by, kind), a**by)
        number = draw.integer(0, 70)
        draw.ask(f"{text} {number}", x**number, a ** numpy.array(number, kind))
    elif name == "abs":
        draw.ask(text, abs(x), numpy.abs(a))
        draw.ask("-" + text, -x, numpy.negative(a))
    elif name == "bits":
        draw.ask(text, ~(x & y) ^ (x | y), ~(a & b) ^ (a | b))
    elif name == "mixed":
        draw.ask(text, (x * y - x) * (y + 1) + x * 3, (a * b - a) * (b + kind_one(kind)) + a * 3)
    elif name == "sign":
        draw.ask(text, x.sign(), numpy.sign(a))
    else:
        _by_number(draw, x, a, kind)


def kind_one(kind: str) -> Any:
    """1 of that dtype."""
    import numpy

    return numpy.ones((), kind)[()]


def _by_number(draw: Draw, x: Any, a: Any, kind: str) -> None:
    import numpy

    ends = numpy.iinfo(kind)
    most = int(ends.max)
    some = [1, 2, 3, 5, 7, 8, 10, 64, 100, 127, most, most - 1, draw.integer(1, most)]
    number = draw.choice([*some, 1 << draw.integer(0, ends.bits - 2)])
    if kind in SIGNED and draw.chance(0.4):
        number = -number
    held = numpy.array(number, kind)
    text = f"{kind} by {number}"
    draw.ask(f"{text} //", x // number, floor_quotient(a, held))
    draw.ask(f"{text} %", x % number, remainder(a, held))
    draw.ask(f"{text} * then //", (x * number) // number, floor_quotient(a * held, held))
    draw.ask(f"{text} + - <", (x + number) - number < x, numpy.zeros(a.shape, bool))
    draw.ask(f"{text} <", x * 2 < number, a * kind_one(kind) * held.dtype.type(2) < held)
    draw.ask(f"{number} //", number // x, floor_quotient(numpy.broadcast_to(held, a.shape), a))
    draw.ask(f"{number} %", number % x, remainder(numpy.broadcast_to(held, a.shape), a))


@family
def casts(draw: Draw) -> None:
    """Conversions between dtypes, one after the other: whole numbers wrap, floats round."""
    import numpy

    for _ in range(6):
        kind = draw.choice(KINDS)
        x, a = draw.input(draw.shape(0, 2, 600), kind)
        text = kind
        for _ in range(draw.integer(1, 3)):
            to = draw.choice(KINDS)
            if kind in REAL and to in WHOLE:
                # what a float beyond the range becomes is a law of weft's own, checked elsewhere
                ends = numpy.iinfo(to)
                low, high = max(ends.min, -(2**24)), min(ends.max, 2**24)
                high = 120 if kind == "bfloat16" else 2000 if kind == "float16" else high
                high = min(high, ends.max)
                low = max(low, -high)
                usable = (a > low) & (a < high)
                x = draw.tensor(usable).where(x, 3)
                a = numpy.where(usable, a, numpy.asarray(3, a.dtype))
            x, a = x.cast(to), rounded(a, to)
            text, kind = f"{text} -> {to}", to
            if kind != "bool" and draw.chance(0.3):
                x, a = x + x, applied(numpy.add, kind, a, a)
        draw.ask(text, x, a, kind)


@family
def casts_out_of_range(draw: Draw) -> None:
    """Floats as integers that do not hold them, NaN and infinities too: the law of scalars."""
    import numpy

    kind, to = draw.choice(REAL), draw.choice(WHOLE)
    ends = numpy.iinfo(to)
    near = draw.choice([float(ends.max), float(ends.min), 2.0**31, 2.0**63, 300.0, 3e38])
    shape = draw.shape(1, 2, 600)
    x, a = draw.input(shape, kind)
    scale = rounded(numpy.array(near), kind)
    if numpy.isfinite(scale):
        x, a = x * draw.tensor(scale, kind), applied(numpy.multiply, kind, a, scale)
    dtype = getattr(dtypes, to)
    law = [truncate(value, dtype) for value in a.ravel().tolist()]
    want = numpy.array(law, to).reshape(a.shape)
    draw.ask(f"{kind}{list(shape)} * {near} -> {to}", x.cast(to), want)


@family
def truths(draw: Draw) -> None:
    """Arithmetic of truths, and of masks with numbers."""
    import numpy

    shape = draw.shape(0, 3, 800)
    (p, a), (q, b) = draw.input(shape, "bool"), draw.input(shape, "bool")
    kind = draw.choice(WHOLE)
    x, c = draw.input(shape, kind)
    draw.ask("p * q", p * q, a & b)
    draw.ask("p + q", p + q, a | b)
    draw.ask("~p ^ q", ~p ^ q, ~a ^ b)
    draw.ask("p == q", p == q, a == b)
    draw.ask("p < q", p < q, a < b)
    draw.ask("p <= q", p <= q, a <= b)
    draw.ask("maximum", p.maximum(q), a | b)
    draw.ask("minimum", p.minimum(q), a & b)
    draw.ask(f"{kind} * p", x * p, c * a.astype(kind))
    draw.ask(f"{kind} + p - q", x + p - q, c + a.astype(kind) - b.astype(kind))
    draw.ask(f"{kind} & p", x & p, c & a.astype(kind))
    draw.ask(f"sum of {kind} > 0 and p", ((x > 0) & p).sum(), ((c > 0) & a).sum(dtype="int64"))
    draw.ask("p // q", p // q, numpy.where(b, a, 0).astype("int32"))
    draw.ask("logical", x.logical_and(p) | q.logical_xor(x), (c != 0) & a | (b ^ (c != 0)))
