"""Random chains of moves: a ShapeTracker says the same as NumPy, however its views were merged."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from weft.base.errors import ShapeError
from weft.shape import ShapeTracker, View, expr_from_ranges
from weft.uop import Ops, UOp
from weft.uop.evaluate import exec_alu
from weft.uop.symbolic import Variable, evaluate_sint, fold

MOVES = ("reshape", "permute", "expand", "pad", "shrink", "flip")


def factorings(size, draw):
    shape = []
    left = size
    while left > 1 and len(shape) < 4:
        divisors = [d for d in range(2, left + 1) if left % d == 0]
        factor = draw(st.sampled_from(divisors))
        shape.append(factor)
        left //= factor
    if left > 1:
        shape.append(left)
    for _ in range(draw(st.integers(0, 1))):
        shape.insert(draw(st.integers(0, len(shape))), 1)
    return tuple(draw(st.permutations(shape)))


def draw_move(draw, shape):
    name = draw(st.sampled_from(MOVES))
    if name == "reshape":
        size = math.prod(shape)
        return name, (shape if size == 0 else factorings(size, draw))
    if name == "permute":
        return name, tuple(draw(st.permutations(range(len(shape)))))
    if name == "expand":
        return name, tuple(draw(st.sampled_from([1, 2, 3])) if n == 1 else n for n in shape)
    if name == "pad":
        return name, tuple(draw(st.tuples(st.integers(0, 2), st.integers(0, 2))) for _ in shape)
    if name == "shrink":
        window = []
        for n in shape:
            start = draw(st.integers(0, max(0, n - 1)))
            window.append((start, draw(st.integers(min(n, start + 1), n))))
        return name, tuple(window)
    return name, tuple(draw(st.booleans()) for _ in shape)


def with_numpy(array, name, arg):
    if name == "reshape":
        return array.reshape(arg)
    if name == "permute":
        return array.transpose(arg)
    if name == "expand":
        return np.broadcast_to(array, arg)
    if name == "pad":
        return np.pad(array, arg) if array.ndim else array
    if name == "shrink":
        return array[tuple(slice(a, b) for a, b in arg)]
    return array[tuple(slice(None, None, -1 if turned else 1) for turned in arg)]


def read(tracker, memory):
    """What the views say, straight from their definition."""
    top = tracker.views[-1].shape
    flat = np.arange(math.prod(top))
    seen = np.ones(flat.shape, bool)
    for view in reversed(tracker.views):
        index = np.unravel_index(np.where(seen, flat, 0), view.shape) if view.shape else ()
        flat = np.full(flat.shape, view.offset)
        for axis, coordinate in enumerate(index):
            flat = flat + coordinate * view.strides[axis]
            if view.mask is not None:
                low, high = view.mask[axis]
                seen = seen & (low <= coordinate) & (coordinate < high)
    assert ((flat >= 0) & (flat < memory.size) | ~seen).all()
    return np.where(seen, memory[np.where(seen, flat, 0)] if memory.size else 0, 0).reshape(top)


def evaluate(root, ranges):
    """A node's value on arrays of the values of its ranges."""
    found = {}
    for node in root.toposort():
        if node in ranges:
            found[node] = ranges[node]
        elif node.op is Ops.CONST:
            found[node] = node.arg
        elif node.op in (Ops.RANGE, Ops.DEFINE_VAR):
            raise AssertionError(f"{node} has no value")
        else:
            operands = [found[s] for s in node.src]
            if node.op is Ops.CAST:
                found[node] = operands[0]
            else:
                shape = np.broadcast_shapes(*(np.shape(o) for o in operands))
                columns = [np.broadcast_to(o, shape).reshape(-1).tolist() for o in operands]
                values = [exec_alu(node.op, node.dtype, row) for row in zip(*columns)]
                found[node] = np.array(values).reshape(shape)
    return found[root]


def read_by_expression(tracker, memory):
    shape = tracker.shape
    grid = np.indices(shape)
    ranges = [UOp.range(n, k) for k, n in enumerate(shape)]
    index, gate = expr_from_ranges(tracker, ranges)
    values = {r: grid[k] for k, r in enumerate(ranges)}
    position = np.broadcast_to(evaluate(index, values), shape)
    seen = np.broadcast_to(True if gate is None else evaluate(gate, values), shape)
    assert ((position >= 0) & (position < memory.size) | ~seen).all()
    return np.where(seen, memory[np.where(seen, position, 0)], 0)


def draw_chain(draw, longest=6):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    memory = np.arange(1, math.prod(shape) + 1)
    array, moves = memory.reshape(shape), []
    for _ in range(draw(st.integers(1, longest))):
        name, arg = draw_move(draw, array.shape)
        moved = with_numpy(array, name, arg)
        if moved.size > 600:
            continue
        array = moved
        moves.append((name, arg))
    return shape, memory, array, moves


@given(st.data())
def test_a_chain_of_movement_ops_equals_numpy(data):
    shape, memory, expected, moves = draw_chain(data.draw)
    tracker = ShapeTracker.from_shape(shape)
    for name, arg in moves:
        tracker = getattr(tracker, name)(arg)
    assert tracker.shape == expected.shape
    np.testing.assert_array_equal(read(tracker, memory), expected)
    if expected.size:
        np.testing.assert_array_equal(read_by_expression(tracker, memory), expected)


@given(st.data())
def test_merged_views_equal_unmerged_views(data):
    shape, memory, expected, moves = draw_chain(data.draw)
    views = [View.create(shape)]
    for name, arg in moves:
        # every move on a view of its own
        moved = getattr(View.create(views[-1].shape), name)(arg)
        assume(moved is not None)
        views.append(moved)
    apart = ShapeTracker(views)
    np.testing.assert_array_equal(read(apart, memory), expected)
    together = apart.simplify()
    np.testing.assert_array_equal(read(together, memory), expected)
    if expected.size:
        np.testing.assert_array_equal(read_by_expression(apart, memory), expected)
    halves = ShapeTracker(views[: len(views) // 2 + 1])
    rest = ShapeTracker(views[len(views) // 2 + 1 :]) if len(views) // 2 + 1 < len(views) else None
    if rest is not None:
        np.testing.assert_array_equal(read(halves + rest, memory), expected)


@given(st.data())
def test_the_inverse_undoes(data):
    shape, memory, _, moves = draw_chain(data.draw)
    tracker = ShapeTracker.from_shape(shape)
    kept = False
    for name, arg in moves:
        if name in ("reshape", "permute", "flip"):
            tracker = getattr(tracker, name)(arg) if _fits(tracker.shape, name, arg) else tracker
            kept = True
    assume(kept)
    inverse = tracker.invert(shape)
    assert inverse is not None
    assert inverse.shape == shape
    np.testing.assert_array_equal(read(tracker + inverse, memory), memory.reshape(shape))
    assert (tracker + inverse).contiguous


def _fits(shape, name, arg):
    if name == "reshape":
        return math.prod(arg) == math.prod(shape)
    return len(arg) == len(shape)


@given(st.data())
def test_only_permutations_have_an_inverse(data):
    shape, memory, expected, moves = draw_chain(data.draw)
    tracker = ShapeTracker.from_shape(shape)
    for name, arg in moves:
        tracker = getattr(tracker, name)(arg)
    inverse = tracker.invert(shape)
    if inverse is not None:
        assert sorted(expected.reshape(-1)) == sorted(memory)
        np.testing.assert_array_equal(read(tracker + inverse, memory), memory.reshape(shape))


@given(st.data())
def test_symbolic_shapes_equal_concrete_ones_for_each_value(data):
    draw = data.draw
    n = Variable("n", 1, 4)
    m = draw(st.integers(1, 3))
    shape = draw(st.sampled_from([(n, m), (m, n), (n, 2, m), (n,), (2, n, m)]))
    tracker = ShapeTracker.from_shape(shape)
    trackers = {
        value: ShapeTracker.from_shape(tuple(evaluate_sint(s, {n: value}) for s in shape))
        for value in range(1, 5)
    }
    for _ in range(draw(st.integers(1, 5))):
        name, arg = draw_symbolic_move(draw, tracker.shape, n)
        tracker = getattr(tracker, name)(arg)
        trackers = {v: getattr(t, name)(bound(arg, n, v)) for v, t in trackers.items()}
    for value, fixed in trackers.items():
        assert bound(tracker.shape, n, value) == fixed.shape
        size = evaluate_sint(fold(math.prod(shape[1:], start=shape[0])), {n: value})
        memory = np.arange(1, size + 1)
        number = UOp.const(n.dtype, value)
        made = ShapeTracker([view.substitute({n: number}) for view in tracker.views])
        if math.prod(fixed.shape) > 800:
            continue
        expected = read(fixed, memory)
        np.testing.assert_array_equal(read(made, memory), expected)
        ranges = [
            UOp.range(s, k) if isinstance(s, UOp) else UOp.range(s, k)
            for k, s in enumerate(tracker.shape)
        ]
        index, gate = expr_from_ranges(tracker, ranges)
        grid = np.indices(fixed.shape)
        values = {r: grid[k] for k, r in enumerate(ranges)} | {n: np.array(value)}
        if not expected.size:
            continue
        position = np.broadcast_to(evaluate(index, values), fixed.shape)
        seen = np.broadcast_to(True if gate is None else evaluate(gate, values), fixed.shape)
        got = np.where(seen, memory[np.where(seen, position, 0)], 0)
        np.testing.assert_array_equal(got, expected)


def draw_symbolic_move(draw, shape, n):
    name = draw(st.sampled_from(MOVES))
    if name == "reshape":
        kind = draw(st.sampled_from(["flat", "join", "one", "split"]))
        if kind == "flat" or len(shape) < 2:
            return name, (fold(math.prod(shape[1:], start=shape[0])),)
        at = draw(st.integers(0, len(shape) - 2))
        if kind == "join":
            return name, (*shape[:at], fold(shape[at] * shape[at + 1]), *shape[at + 2 :])
        if kind == "split" and isinstance(shape[at], int) and shape[at] % 2 == 0:
            return name, (*shape[:at], shape[at] // 2, 2, *shape[at + 1 :])
        return name, (*shape[:at], 1, *shape[at:])
    if name == "permute":
        return name, tuple(draw(st.permutations(range(len(shape)))))
    if name == "expand":
        return name, tuple(draw(st.sampled_from([1, 2, n])) if s == 1 else s for s in shape)
    amounts = st.sampled_from([0, 0, 1, 2, n])
    if name == "pad":
        return name, tuple((draw(amounts), draw(amounts)) for _ in shape)
    if name == "shrink":
        window = []
        for s in shape:
            kind = draw(st.sampled_from(["all", "all", "first", "last", "one"]))
            one = fold(s - 1)
            window.append(
                {"all": (0, s), "first": (0, 1), "last": (one, s), "one": (one, fold(one + 1))}[
                    kind
                ]
            )
        return name, tuple(window)
    return name, tuple(draw(st.booleans()) for _ in shape)


def bound(arg, n, value):
    if isinstance(arg, tuple):
        return tuple(bound(item, n, value) for item in arg)
    return evaluate_sint(arg, {n: value}) if isinstance(arg, UOp) else arg


@given(st.lists(st.integers(1, 5), max_size=4), st.lists(st.integers(1, 5), max_size=4))
def test_a_reshape_to_another_size_is_refused(old, new):
    assume(math.prod(old) != math.prod(new))
    with pytest.raises(ShapeError):
        ShapeTracker.from_shape(tuple(old)).reshape(tuple(new))
