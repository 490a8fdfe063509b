"""Shape arithmetic with sizes that are variables."""

import numpy as np
import pytest

from weft import Variable
from weft.onnx import host_movement
from weft.onnx.graph import Node
from weft.onnx.symbolic_sizes import compute, is_symbolic, shape_array
from weft.uop.symbolic.sint import evaluate_sint

N = Variable("n", 2, 64)
SHAPE = shape_array([N, 4, N * 2])


def values(array, n):
    return [evaluate_sint(each, {N: n}) for each in np.asarray(array).reshape(-1)]


def run(op, *arrays, **attributes):
    return compute(Node(op), getattr(host_movement, op.lower(), None), arrays, attributes)


def test_shapes_of_numbers_are_integers():
    assert shape_array([2, 3]).dtype == np.int64 and not is_symbolic(shape_array([2, 3]))
    assert is_symbolic(SHAPE) and not is_symbolic(np.asarray(["a"], object))


@pytest.mark.parametrize(
    ("op", "other", "wanted"),
    [
        ("Add", [1, 2, 3], [8, 6, 17]),
        ("Sub", [1, 1, 1], [6, 3, 13]),
        ("Mul", [3], [21, 12, 42]),
        ("Div", [2], [3, 2, 7]),
    ],
)
def test_arithmetic_keeps_expressions(op, other, wanted):
    assert values(run(op, SHAPE, np.asarray(other)), 7) == wanted


def test_elements_move():
    assert values(run("Gather", SHAPE, np.asarray([2, 0]), axis=0), 5) == [10, 5]
    assert values(run("Concat", SHAPE, np.asarray([9]), axis=0), 5) == [5, 4, 10, 9]
    assert run("Cast", SHAPE, to=7) is SHAPE


def test_comparisons_are_decided_by_bounds():
    assert run("Equal", SHAPE, np.asarray([-1, 4, 1])).tolist() == [False, True, False]
    assert run("Equal", SHAPE, np.asarray([5, 4, 1])) is NotImplemented


@pytest.mark.parametrize("op", ["Sqrt", "Less", "Where", "Gather"])
def test_other_operators_need_values(op):
    arrays = (np.asarray([1, 2]), SHAPE) if op == "Gather" else (SHAPE, SHAPE)
    assert run(op, *arrays) is NotImplemented
    assert run("Div", SHAPE, shape_array([N - 10])) is NotImplemented
