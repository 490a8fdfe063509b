"""The semantics of every ALU operation, in Python; constant folding and devices follow it.

Integers wrap at the width of their dtype; IDIV and MOD truncate toward zero and are 0 where the
divisor is 0; MAX gives NaN where either operand is; floats are computed in double precision and
rounded once to their dtype, a multiply-add of doubles exactly. THREEFRY is Threefry-2x32 with 20
rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.base.scalars import truncate
from weft.uop.ops import Ops

_MASK32 = 0xFFFFFFFF
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry2x32(counter: int, key: int) -> int:
    """One block of Threefry-2x32-20: 64-bit counter and key in, 64 random bits out."""
    x = [counter & _MASK32, (counter >> 32) & _MASK32]
    k = [key & _MASK32, (key >> 32) & _MASK32]
    k.append(k[0] ^ k[1] ^ 0x1BD11BDA)
    x = [(x[0] + k[0]) & _MASK32, (x[1] + k[1]) & _MASK32]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x[0] = (x[0] + x[1]) & _MASK32
            x[1] = ((x[1] << rotation) | (x[1] >> (32 - rotation))) & _MASK32
            x[1] ^= x[0]
        x[0] = (x[0] + k[(group + 1) % 3]) & _MASK32
        x[1] = (x[1] + k[(group + 2) % 3] + group + 1) & _MASK32
    return (x[1] << 32) | x[0]


def _float_divide(a: float, b: float) -> float:
    if b == 0:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def _int_divide(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return math.nan if b == 0 or math.isinf(a) else math.fmod(a, b)
    return 0 if b == 0 else a - b * _int_divide(a, b)


def _exp2(a: float) -> float:
    if a != a:
        return a
    try:
        return 2.0**a
    except OverflowError:
        return math.inf


def _log2(a: float) -> float:
    if a == 0:
        return -math.inf
    if a < 0 or a != a:
        return math.nan
    return math.inf if math.isinf(a) else math.log2(a)


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return 0 if b < 0 and abs(a) != 1 and a != 0 else (a**b if b >= 0 else a ** (-b % 2))
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.inf if a > 0 or b % 2 == 0 else -math.inf
    except ValueError:  # 0 ** negative gives infinity, negative ** fraction gives NaN
        if a == 0:
            odd = b % 2 == 1
            return math.copysign(math.inf, a) if odd else math.inf
        return math.nan


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a * b + c rounded once, where a double does not hold the product."""
    plain = a * b + c
    if not math.isfinite(plain):
        return plain
    from fractions import Fraction  # and with it decimal: late

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else plain  # `plain` has the correct sign of zero


def _sqrt(a: float) -> float:
    return math.sqrt(a) if a >= 0 else math.nan


def _sin(a: float) -> float:
    return math.nan if math.isinf(a) else math.sin(a)


def _trunc(a: float) -> float:
    return a if math.isinf(a) or a != a else math.copysign(float(math.trunc(a)), a)


_MEANING: dict[Ops, Callable[..., Any]] = {
    Ops.EXP2: _exp2,
    Ops.LOG2: _log2,
    Ops.SIN: _sin,
    Ops.SQRT: _sqrt,
    Ops.RECIP: partial(_float_divide, 1.0),
    Ops.NEG: lambda a: -a,
    Ops.TRUNC: _trunc,
    Ops.ADD: lambda a, b: a + b,
    Ops.SUB: lambda a, b: a - b,
    Ops.MUL: lambda a, b: a * b,
    Ops.FDIV: _float_divide,
    Ops.IDIV: _int_divide,
    Ops.MOD: _remainder,
    Ops.POW: _power,
    Ops.MAX: lambda a, b: b if a < b or b != b else a,
    Ops.CMPLT: lambda a, b: a < b,
    Ops.CMPNE: lambda a, b: a != b,
    Ops.CMPEQ: lambda a, b: a == b,
    Ops.XOR: lambda a, b: a ^ b,
    Ops.OR: lambda a, b: a | b,
    Ops.AND: lambda a, b: a & b,
    Ops.WHERE: lambda condition, a, b: a if condition else b,
    Ops.MULACC: lambda a, b, c: a * b + c,
    Ops.THREEFRY: threefry2x32,
}


def _shift(op: Ops, dtype: DType, a: int, b: int) -> int:
    """Shifts by the width or more give 0 (or the sign, to the right)."""
    width = dtype.itemsize * 8
    if op is Ops.SHL:
        return 0 if b >= width or b < 0 else a << b
    return a >> (b if 0 <= b < width else width)


def exec_alu(op: Ops, dtype: DType, operands: Sequence[Any]) -> Any:
    """The value of `op` over Python scalars, as `dtype` holds it.

    `dtype` is that of the result. Raises SpecError for an op that is not arithmetic.
    """
    if dtype.count > 1:
        lanes: list[Any] = [x if isinstance(x, tuple) else (x,) * dtype.count for x in operands]
        return tuple(exec_alu(op, dtype.scalar(), lane) for lane in zip(*lanes))
    if op is Ops.SHL or op is Ops.SHR:
        return truncate(_shift(op, dtype, *operands), dtype)
    if op is Ops.NEG and dtype is dtypes.bool:
        return bool(operands[0])
    try:
        meaning = _MEANING[op]
    except KeyError:
        raise SpecError(f"{op} is not arithmetic", asked=f"exec_alu({op})") from None
    if op is Ops.MULACC and dtype is dtypes.double:
        meaning = _multiply_add
    if dtypes.is_float(dtype) and op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.MULACC):
        try:
            return truncate(meaning(*map(float, operands)), dtype)
        except OverflowError:
            return truncate(math.inf, dtype)
    return truncate(meaning(*operands), dtype)


def identity_element(op: Ops, dtype: DType) -> Any:
    """The identity of a reduction by `op`: 0, 1 or the least value."""
    if op is Ops.ADD:
        return truncate(0, dtype)
    if op is Ops.MUL:
        return truncate(1, dtype)
    if op is Ops.MAX:
        return dtype.min
    raise SpecError(f"{op} does not reduce", asked=f"identity_element({op})", try_="ADD, MUL, MAX")
