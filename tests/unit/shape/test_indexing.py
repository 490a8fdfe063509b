"""Positions and gates as canonical expressions."""

import pytest

from weft.base.dtype import dtypes
from weft.shape import ShapeTracker, expr_from_ranges
from weft.shape.indexing import symbolic_ranges
from weft.uop import Ops, UOp, Variable
from weft.uop.symbolic import conjuncts


def text_of(tracker, ranges=None):
    index, gate = expr_from_ranges(tracker, ranges or symbolic_ranges(tracker.shape))
    gates = None if gate is None else sorted(part.render(False) for part in conjuncts(gate))
    return index.render(simplify=False), gates


def make(*shape):
    return ShapeTracker.from_shape(shape)


@pytest.mark.parametrize(
    ("tracker", "index", "gate"),
    [
        (make(4, 6), "((r0*6)+r1)", None),
        (make(4, 6).permute((1, 0)), "(r0+(r1*6))", None),
        (make(4, 1, 6), "((r0*6)+r2)", None),
        (make(4, 6).permute((1, 0)).reshape((24,)), "(((r0%4)*6)+(r0//4))", None),
        (make(4, 6).flip((True, False)), "(((r0*-6)+r1)+18)", None),
        (make(4,).pad(((1, 2),)), "(r0-1)", ["(r0<5)", "(r0>=1)"]),
        (make(4,).pad(((0, 2),)), "r0", ["(r0<4)"]),
        (make(1).expand((5,)), "0", None),
    ],
)  # fmt: skip
def test_the_expression_of_a_tracker(tracker, index, gate):
    got, seen = text_of(tracker)
    assert got == index
    assert seen == gate


def test_a_window_over_padding_is_gated_on_the_sum():
    padded = make(8).pad(((1, 1),)).reshape((1, 10)).expand((4, 10)).reshape((40,))
    windows = padded.shrink(((0, 33),)).reshape((3, 11)).shrink(((0, 3), (0, 8)))
    index, gate = text_of(windows)
    assert index == "((r0+r1)-1)"
    assert gate == ["((r0+r1)<9)", "((r0+r1)>=1)"]


def test_a_gate_of_the_upper_view_simplifies_the_lower():
    # inside the padding the folded index is never negative, so no law of division is lost
    tracker = make(6, 4).permute((1, 0)).reshape((24,)).pad(((3, 5),))
    index, _ = text_of(tracker)
    assert index.count("//") == 1 and index.count("%") == 1


def test_unrolled_and_split_indices():
    gidx = UOp(Ops.SPECIAL, dtypes.int, (UOp.const(dtypes.int, 64),), "gidx0")
    inner = UOp.range(4, 0)
    index, _ = expr_from_ranges(make(16, 16).permute((1, 0)), [gidx // 4, inner * 4 + 2])
    assert index.render(False) == "(((gidx0//4)+(r0*64))+32)"
    index, gate = expr_from_ranges(make(256), [(gidx // 16) * 64 + gidx % 16 * 4])
    assert index.render(False) == "(gidx0*4)" and gate is None


def test_plain_ints_are_indices_too():
    index, gate = expr_from_ranges(make(4, 6), [2, UOp.const(dtypes.int, 3)])
    assert index is UOp.const(dtypes.int, 15) and gate is None


def test_invisible_elements_are_gated():
    hidden = make(4).pad(((4, 0),)).shrink(((0, 4),))
    _, gate = expr_from_ranges(hidden, symbolic_ranges(hidden.shape))
    assert gate is UOp.const(dtypes.bool, False)


def test_memory_beyond_two_billion_elements_is_indexed_with_longs():
    index, gate = expr_from_ranges(make(70000, 70000), symbolic_ranges((70000, 70000)))
    assert index.dtype is dtypes.long and index.vmax == 70000 * 70000 - 1
    assert index.render(False) == "((long(r0)*70000)+long(r1))"
    folded = make(70000, 70000).permute((1, 0)).reshape((70000 * 70000,))
    whole = UOp.range(UOp.const(dtypes.long, 70000 * 70000), 0, dtype=dtypes.long)
    index, gate = expr_from_ranges(folded, [whole])
    assert index.render(False) == "(((r0%70000)*70000)+(r0//70000))" and gate is None


def test_symbolic_extents():
    n = Variable("n", 2, 9)
    folded = make(n, 4).permute((1, 0)).reshape(((n * 4).simplify(),))
    index, gate = text_of(folded)
    assert index == "(((r0%n)*4)+(r0//n))" and gate is None
