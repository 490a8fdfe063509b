"""Every operation the renderer calls native, on every declared dtype, against
``weft.uop.evaluate``."""

from __future__ import annotations

import itertools
import math
from functools import partial
from weakref import WeakKeyDictionary

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.testing.conformance.programs import Elementwise, interesting, run_together, same
from weft.uop import GroupOp, Ops, UOp, exec_alu

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")

ALL = [dtype for dtype in dtypes.all if dtype is not dtypes.void]
INTEGER_OPS = [
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.XOR, Ops.OR, Ops.AND, Ops.SHL,
    Ops.SHR, Ops.NEG, Ops.WHERE, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
]  # fmt: skip
FLOAT_OPS = [
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX, Ops.NEG, Ops.SQRT, Ops.RECIP, Ops.EXP2, Ops.LOG2,
    Ops.SIN, Ops.TRUNC, Ops.WHERE, Ops.MULACC, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
]  # fmt: skip
BOOL_OPS = [Ops.XOR, Ops.OR, Ops.AND, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.WHERE, Ops.MAX]
ULPS = {Ops.EXP2: 2, Ops.LOG2: 2, Ops.SIN: 2, Ops.FDIV: 3, Ops.RECIP: 2, Ops.SQRT: 3, Ops.MULACC: 1}
"""How far a device may be off; 0 where it is not said."""


def ops_of(dtype):
    if dtype is dtypes.bool:
        return BOOL_OPS
    return FLOAT_OPS if dtypes.is_float(dtype) else INTEGER_OPS


FOUND = WeakKeyDictionary()
"""Per device what it gave."""

CASES = [(op, dtype) for dtype in ALL for op in ops_of(dtype)]


def tails(op, dtype):
    """Operands whose result is about to leave the range of the dtype, or has just left it."""
    if not dtypes.is_float(dtype):
        return []
    facts = dtypes.finfo(dtype)
    most = math.frexp(float(dtype.max))[1]  # 2**most is too large
    least = math.frexp(facts.smallest_normal)[1] - 1
    lost = least - facts.mantissa_bits
    found = []
    if op is Ops.EXP2:
        found = [most - 1, most - 0.5, most, most + 9, least, least + 0.5, lost - 2, 50 * lost]
    elif op in (Ops.LOG2, Ops.SQRT, Ops.RECIP):
        found = [facts.smallest_normal, float(dtype.max), 1 + 2.0**-facts.mantissa_bits]
    elif op is Ops.TRUNC:
        found = [2.0**facts.mantissa_bits - 0.5, -0.99, 2.0 ** (facts.mantissa_bits + 1) + 1]
    return [truncate(float(value), dtype) for value in found]


def operands(op, dtype):
    """Rows of operand values."""
    values = interesting(dtype)
    if op in GroupOp.Unary:
        return [(value,) for value in values + tails(op, dtype)]
    if op is Ops.WHERE:
        return [(c, a, b) for c in (False, True) for a, b in itertools.product(values, repeat=2)]
    if op is Ops.MULACC:
        finite = [value for value in values if abs(value) < 1000]
        return list(itertools.product(finite[:6], finite, finite[:4]))
    if op in (Ops.SHL, Ops.SHR):
        shifts = [0, 1, dtype.bitsize // 2, dtype.bitsize - 1]
        return [(value, shift) for value in values for shift in shifts]
    return list(itertools.product(values, repeat=2))


def of_op(op, dtype):
    """An operation on all of its operands."""
    rows = operands(op, dtype)
    inputs = [dtypes.bool, dtype, dtype] if op is Ops.WHERE else [dtype] * len(rows[0])
    columns = [(d, [row[n] for row in rows]) for n, d in enumerate(inputs)]
    return Elementwise(columns, lambda xs: xs[0].alu(op, *xs[1:]))


def of_cast(given, wanted):
    """A cast of all that is interesting to cast."""
    values = interesting(given) + halfway(given, wanted)
    return Elementwise([(given, values)], lambda xs: UOp(Ops.CAST, wanted, (xs[0],)))


def result_of(device, what, key, keys, case_of):
    """What the case of a key gives; the cases of all keys run together at the first use."""
    known = FOUND.setdefault(device, {})
    if what not in known:
        known[what] = run_together(device, {other: case_of(other) for other in keys})
    found = known[what].get(key)
    return case_of(key).run(device) if found is None else found


@pytest.mark.parametrize("op,dtype", CASES, ids=lambda v: getattr(v, "name", str(v)))
def test_native_op(weft_device, weft_compute, op, dtype):
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    if op not in weft_device.target.native_ops:
        pytest.skip(f"{op} is not native")
    rows = operands(op, dtype)
    native = [other for other in ops_of(dtype) if other in weft_device.target.native_ops]
    found = result_of(weft_device, dtype, op, native, lambda other: of_op(other, dtype))
    result = dtypes.bool if op in GroupOp.Comparison else dtype
    wrong = [
        (row, got, wanted)
        for row, got in zip(rows, found)
        if not same(got, wanted := exec_alu(op, result, row), result, ULPS.get(op, 0))
    ]
    assert not wrong, f"{len(wrong)} of {len(rows)} (operands, found, wanted): {wrong[:5]}"


def halfway(given, wanted):
    """Numbers that lie between two of the narrower dtype, or at the end of what it has."""
    if not (dtypes.is_float(given) and dtypes.is_float(wanted)):
        return []
    facts = dtypes.finfo(wanted)
    if facts.mantissa_bits >= dtypes.finfo(given).mantissa_bits:
        return []
    half = 2.0 ** -(facts.mantissa_bits + 1)
    numbers = [1 + half, 1 + 3 * half, -1 - half, 1 + 1.25 * half, 1 + 0.75 * half]
    numbers += [float(wanted.max), -float(wanted.max), facts.smallest_normal]
    return [truncate(number, given) for number in numbers]


@pytest.mark.parametrize("given", ALL, ids=lambda d: d.name)
@pytest.mark.parametrize("wanted", ALL, ids=lambda d: d.name)
def test_cast(weft_device, weft_compute, given, wanted):
    if given not in weft_compute.dtypes or wanted not in weft_compute.dtypes:
        pytest.skip(f"{given} or {wanted} is not declared")
    values = interesting(given) + halfway(given, wanted)
    declared = [dtype for dtype in ALL if dtype in weft_compute.dtypes]
    case_of = partial(of_cast, given)
    found = result_of(weft_device, (given, "casts"), wanted, declared, case_of)
    right = [truncate(value, wanted) for value in values]
    wrong = [row for row in zip(values, found, right) if not same(row[1], row[2], wanted)]
    assert not wrong, f"(given, found, wanted): {wrong[:5]}"


@pytest.mark.parametrize(
    "given,wanted",
    [
        (dtypes.float32, dtypes.int32), (dtypes.uint32, dtypes.float32),
        (dtypes.float64, dtypes.int64), (dtypes.uint64, dtypes.float64),
        (dtypes.float16, dtypes.uint16), (dtypes.bfloat16, dtypes.int16),
        (dtypes.int8, dtypes.uint8), (dtypes.fp8e4m3, dtypes.uint8),
    ],
    ids=lambda d: d.name,
)  # fmt: skip
def test_bitcast(weft_device, weft_compute, given, wanted):
    if given not in weft_compute.dtypes or wanted not in weft_compute.dtypes:
        pytest.skip(f"{given} or {wanted} is not declared")
    values = [value for value in interesting(given) if value == value]
    case = Elementwise([(given, values)], lambda xs: xs[0].bitcast(wanted).bitcast(given))
    found = case.run(weft_device)
    assert list(map(repr, found)) == list(map(repr, values))
