"""What one operand says alone: nothing is left to compute, and every value stays as it was."""

import pytest

from helpers.graph_passes import agree, cleaned, memory
from weft.base.dtype import dtypes
from weft.schedule.constants import constant_of, full
from weft.uop import GroupOp, Ops, UOp

FLOAT, INT, BYTE, TRUTH = dtypes.float, dtypes.int, dtypes.uint8, dtypes.bool
X = {dtype: memory(0, 6, dtype=dtype) for dtype in (FLOAT, INT, BYTE, TRUTH)}


def binary(op, x, value):
    compares = op in (Ops.CMPNE, Ops.CMPEQ, Ops.CMPLT)
    return UOp(op, TRUTH if compares else x.dtype, (x, UOp.const(x.dtype, value)))


def negated(x):
    return UOp(Ops.NEG, x.dtype, (x,))


STAYS_X = [
    (Ops.MUL, FLOAT, 1.0), (Ops.FDIV, FLOAT, 1.0), (Ops.POW, FLOAT, 1.0), (Ops.ADD, FLOAT, -0.0),
    (Ops.SUB, FLOAT, 0.0), (Ops.ADD, INT, 0), (Ops.SUB, INT, 0), (Ops.MUL, INT, 1),
    (Ops.IDIV, INT, 1), (Ops.OR, INT, 0), (Ops.XOR, INT, 0), (Ops.AND, INT, -1),
    (Ops.AND, BYTE, 255), (Ops.SHL, BYTE, 0), (Ops.SHR, BYTE, 0), (Ops.MUL, TRUTH, True),
    (Ops.AND, TRUTH, True), (Ops.OR, TRUTH, False), (Ops.XOR, TRUTH, False),
    (Ops.CMPEQ, TRUTH, True), (Ops.CMPNE, TRUTH, False),
]  # fmt: skip

DECIDED = [
    (Ops.MUL, INT, 0, 0), (Ops.AND, INT, 0, 0), (Ops.OR, INT, -1, -1), (Ops.OR, BYTE, 255, 255),
    (Ops.MOD, INT, 1, 0), (Ops.MOD, INT, -1, 0), (Ops.POW, FLOAT, 0.0, 1.0),
    (Ops.MUL, TRUTH, False, False), (Ops.AND, TRUTH, False, False), (Ops.OR, TRUTH, True, True),
]  # fmt: skip

DEPENDS = [
    (Ops.ADD, FLOAT, 0.0), (Ops.SUB, FLOAT, -0.0), (Ops.MUL, FLOAT, 0.0), (Ops.MUL, FLOAT, -1.0),
    (Ops.AND, BYTE, 1), (Ops.OR, BYTE, 1), (Ops.MOD, INT, 2), (Ops.IDIV, INT, -1),
    (Ops.CMPEQ, TRUTH, False), (Ops.XOR, TRUTH, True), (Ops.POW, FLOAT, 2.0),
]  # fmt: skip


@pytest.mark.parametrize(("op", "dtype", "value"), STAYS_X)
def test_neutral_operands(op, dtype, value):
    before = binary(op, X[dtype], value)
    assert cleaned(before) is X[dtype]
    agree(before, X[dtype])


@pytest.mark.parametrize(("op", "dtype", "value", "result"), DECIDED)
def test_operands_that_decide(op, dtype, value, result):
    before = binary(op, X[dtype], value)
    after = cleaned(before)
    assert constant_of(after).arg == result
    agree(before, after)


@pytest.mark.parametrize(("op", "dtype", "value"), DEPENDS)
def test_results_that_depend_on_the_other_operand_are_not_folded(op, dtype, value):
    before = binary(op, X[dtype], value)
    assert cleaned(before) is before


def test_commutative_operands_in_either_order():
    x, zero = X[INT], UOp.const(INT, 0)
    assert cleaned(UOp(Ops.ADD, INT, (zero, x))) is x
    assert constant_of(cleaned(UOp(Ops.MUL, INT, (zero, x)))).arg == 0
    quotient = UOp(Ops.SUB, INT, (zero, x))
    assert cleaned(quotient) is quotient


def test_one_to_any_power_is_one():
    before = UOp(Ops.POW, FLOAT, (UOp.const(FLOAT, 1.0), X[FLOAT]))
    assert constant_of(cleaned(before)).arg == 1.0
    agree(before, cleaned(before))


def test_expanded_constants_count_as_well():
    assert cleaned(X[FLOAT] * full((6,), UOp.const(FLOAT, 1.0, "X"))) is X[FLOAT]


@pytest.mark.parametrize("op", [Ops.SUB, Ops.XOR, Ops.MOD, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
                                Ops.AND, Ops.OR, Ops.MAX])  # fmt: skip
def test_integers_with_equal_operands(op):
    x = X[INT]
    before = UOp(op, TRUTH if op in GroupOp.Comparison else INT, (x, x))
    after = cleaned(before)
    assert after is x or constant_of(after) is not None
    agree(before, after)


@pytest.mark.parametrize("op", [Ops.SUB, Ops.CMPNE, Ops.CMPEQ])
def test_a_float_may_differ_from_itself(op):
    before = UOp(op, FLOAT if op is Ops.SUB else TRUTH, (X[FLOAT], X[FLOAT]))
    assert cleaned(before) is before


def test_negations_cancel():
    assert cleaned(negated(negated(X[FLOAT]))) is X[FLOAT]
    once = binary(Ops.XOR, X[TRUTH], True)
    assert cleaned(binary(Ops.XOR, once, True)) is X[TRUTH]


def test_a_choice_between_equals_is_none():
    def choice(x):
        return UOp(Ops.WHERE, x.dtype, (X[TRUTH], x, x))

    assert cleaned(choice(X[INT])) is X[INT]
    # of these one may be detached
    assert cleaned(choice(X[FLOAT])).op is Ops.WHERE
    assert cleaned(UOp(Ops.MAX, FLOAT, (X[FLOAT], X[FLOAT]))).op is Ops.MAX
    seven = cleaned(choice(UOp.const(FLOAT, 7.0)))
    assert constant_of(seven).arg == 7.0 and seven.shape == (6,)


@pytest.mark.parametrize(
    ("own", "other", "kept"),
    [
        (BYTE, INT, True), (TRUTH, INT, True), (dtypes.half, FLOAT, True),
        (INT, dtypes.double, True),
        (INT, BYTE, False), (INT, FLOAT, False), (FLOAT, dtypes.half, False), (INT, TRUTH, False),
    ],
)  # fmt: skip
def test_conversions_there_and_back(own, other, kept):
    x = memory(1, 6, dtype=own)
    before = x.cast(other).cast(own)
    assert (cleaned(before) is x) is kept
    agree(before, cleaned(before))


def test_a_padded_constant_is_converted_below_its_padding():
    ones = full((4,), UOp.const(INT, -1, "X")).pad(((1, 1),))
    after = cleaned(ones.cast(dtypes.uint16))
    assert after.op is Ops.PAD and after.base is UOp.const(dtypes.uint16, 65535, "X")
    agree(ones.cast(dtypes.uint16), after)
