"""The ASTs of ready kernels: axes that become one, and numbers that become arguments."""

import pytest

from weft import Tensor
from weft.engine.ready_kernels import collapse_axes, general_ast
from weft.uop import Ops


def ast_of(tensor):
    (item,) = [item for item in tensor.schedule() if item.ast.op is Ops.SINK]
    return item.ast


def shapes(ast):
    return {node.arg.shape for node in ast.toposort() if node.op is Ops.VIEW}


def tensor(*shape):
    return Tensor.ones(*shape).contiguous().realize()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tensor(4, 5, 6) + tensor(4, 5, 6), (120,)),
        (lambda: tensor(1, 1) + tensor(1, 1), ()),
        (lambda: tensor(4, 5, 6) + tensor(5, 6), (4, 30)),
        (lambda: tensor(4, 5, 6) * tensor(4, 1, 1), (4, 30)),
        (lambda: tensor(4, 5).T + tensor(5, 4), (5, 4)),
        (lambda: tensor(4, 1, 5) + 1, (20,)),
    ],
)
def test_adjacent_axes_become_one(make, expected):
    assert shapes(collapse_axes(ast_of(make()))) == {expected}


def test_reductions_stay():
    ast = ast_of(tensor(4, 5).sum(1))
    assert collapse_axes(ast) is ast


def test_equal_computations_have_one_general_ast():
    expected = general_ast(ast_of(tensor(7) * 3))
    assert expected is not None
    for other in (tensor(4, 5) * 2, tensor(2, 3, 4) * 9, tensor(1000) * 3):
        assert general_ast(ast_of(other)) is expected
    assert general_ast(ast_of(tensor(7) + 3)) is not expected


def test_long_kernels_have_none():
    assert general_ast(ast_of(tensor(1 << 10, 1 << 10) + 1)) is None
