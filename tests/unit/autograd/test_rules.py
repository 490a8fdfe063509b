"""The table of gradients has a line for every operation; each is right in shape and dtype."""

import pytest

from weft import Tensor
from weft.autograd.derivatives import DERIVATIVES, MASK_DERIVATIVES
from weft.autograd.rules import NON_DIFFERENTIABLE, RULES
from weft.base.dtype import dtypes
from weft.uop import GroupOp, Ops, UOp

# nodes of kernels and schedules only, or without a value
NO_VALUES = {
    Ops.SINK, Ops.VIEW, Ops.VALID, Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG, Ops.SPECIAL,
    Ops.REDUCE, Ops.FILL,
    Ops.GEP, Ops.VECTORIZE, Ops.CAT, Ops.LOAD, Ops.STORE, Ops.WMMA,
    Ops.INDEX, Ops.BARRIER, Ops.RANGE, Ops.IF, Ops.ENDRANGE, Ops.ENDIF, Ops.VCONST, Ops.CUSTOM,
    Ops.CUSTOMI, Ops.MSELECT, Ops.SHUFFLE, Ops.DOT,
    Ops.COMMIT, Ops.WAIT, Ops.COLLECTIVE,
}  # fmt: skip


def test_every_operation_has_a_rule_or_stops():
    assert set(RULES) | NON_DIFFERENTIABLE | NO_VALUES | {Ops.IOTA} == set(Ops)
    assert not set(RULES) & NON_DIFFERENTIABLE and not (set(RULES) | NON_DIFFERENTIABLE) & NO_VALUES


def test_every_float_operation_has_a_gradient_rule():
    whole = {Ops.SHL, Ops.SHR, Ops.IDIV, Ops.XOR, Ops.OR, Ops.AND, Ops.THREEFRY}
    computes = GroupOp.Elementwise | GroupOp.Movement | {Ops.REDUCE_AXIS, Ops.COPY, Ops.ASSIGN}
    assert computes - GroupOp.Comparison - whole - {Ops.BITCAST} <= set(RULES)


@pytest.mark.parametrize("op", sorted(GroupOp.ALU - NON_DIFFERENTIABLE, key=lambda op: op.name))
def test_parts_have_the_shape_and_dtype_of_their_sources(op):
    count = 3 if op in GroupOp.Ternary else 1 if op in GroupOp.Unary else 2
    sources = [Tensor.empty(2, 3, dtype="double").uop for _ in range(count)]
    if op is Ops.WHERE:
        sources[0] = Tensor.empty(2, 3, dtype="bool").uop
    node = UOp(op, dtypes.float64, tuple(sources))
    parts = RULES[op](node, Tensor.ones(2, 3, dtype="double").uop)
    assert len(parts) == count
    for source, part in zip(sources, parts):
        assert part is None or (part.shape, part.dtype) == (source.shape, source.dtype)


def test_a_gate_is_no_slope():
    assert not set(MASK_DERIVATIVES) & set(DERIVATIVES)


def test_nothing_flows_through_a_closed_gate():
    x = Tensor([-1.0, 2.0], requires_grad=True)
    (x.relu() * Tensor([float("inf"), 3.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 3.0]


def test_an_infinite_slope_of_a_short_float_is_not_met_too_early():
    x = Tensor([2.0], dtype="half")
    y = Tensor([15.5], dtype="half", requires_grad=True)
    (x**y).sum().backward()
    assert y.grad.item() == pytest.approx(2**15.5 * 0.6931, rel=2e-3)


def test_symmetric_matrices_have_symmetric_gradients():
    a = Tensor([[4.0, 1.0], [1.0, 3.0]], dtype="double", requires_grad=True)
    for total in (a.cholesky().sum(), a.eigh()[0].square().sum()):
        (gradient,) = total.gradient(a)
        rows = gradient.tolist()
        assert rows[0][1] == pytest.approx(rows[1][0]) and rows[0][1] != 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 0.0, 5.0], [50.0, 205.0, 20.0]),
        ([0.0, 0.0, 5.0], [50.0, 5.0, 0.0]),
        ([1.0, 2.0, 3.0], [230.0, 103.0, 12.0]),
    ],
)
def test_second_derivatives_of_products_at_zeros(values, expected):
    x = Tensor(values, dtype="double", requires_grad=True)
    (first,) = x.prod().gradient(x)
    (second,) = (first * Tensor([1.0, 10.0, 100.0], dtype="double")).sum().gradient(x)
    assert second.tolist() == pytest.approx(expected)
