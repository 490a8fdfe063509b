"""The array API standard, held against Python's own numbers, lists and `math`.

Arrays are drawn by Hypothesis's strategies for the standard, which know nothing of weft: special
numbers, subnormal ones, and integers up to the ends of their dtypes are among them.
"""

import math
import operator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import weft.array_api as xp
from helpers.example_counts import examples
from weft import Tensor
from weft.base.errors import IndexingError, ShapeError

# the first version of the standard has no complex dtypes, of which weft has none
draw_from = make_strategies_namespace(xp, api_version="2021.12")
SHAPES = st.sampled_from([(), (1,), (3,), (0,), (2, 3), (3, 1), (1, 0, 2), (2, 1, 3)])
FULL = st.sampled_from([(1,), (4,), (2, 3), (3, 2), (2, 2, 2)])
SIGNED = [xp.int8, xp.int16, xp.int32, xp.int64]
UNSIGNED = [xp.uint8, xp.uint16, xp.uint32, xp.uint64]
FLOATS = [xp.float32, xp.float64]


def some(*strategies):
    """Fewer examples than others try: every shape and dtype is compiled again."""
    count = examples(20)
    return lambda test: settings(max_examples=count)(given(*strategies)(test))


def arrays(dtypes, shapes=SHAPES, **elements):
    return draw_from.arrays(st.sampled_from(dtypes), shapes, elements=elements or None)


def listed(*tensors):
    """The elements of each one, in order. All of them are computed in one schedule."""
    flat = [xp.reshape(x, (x.size,)) for x in tensors]
    Tensor.realize(*flat)
    return [x.tolist() for x in flat]


def wrapped(value, dtype):
    """An integer as the dtype keeps it."""
    limits = xp.iinfo(dtype)
    return (value - limits.min) % (1 << limits.bits) + limits.min


def near(got, expected, dtype, loose=64):
    if math.isnan(expected):
        return math.isnan(got)
    if math.isinf(expected) or abs(expected) > xp.finfo(dtype).max:
        return math.isinf(got) or abs(got) > xp.finfo(dtype).max / 2
    tiny = 64 * xp.finfo(dtype).smallest_normal
    return math.isclose(got, expected, rel_tol=loose * xp.finfo(dtype).eps, abs_tol=tiny)


def value_of(function, *arguments):
    """What `math` says, with infinities and NaN where it raises."""
    try:
        return function(*arguments)
    except OverflowError:
        return None
    except ValueError:
        return math.nan


ONE = {
    "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh,
    "atan": math.atan, "atanh": math.atanh, "cosh": math.cosh, "exp": math.exp,
    "expm1": math.expm1, "log": math.log, "log10": math.log10, "log1p": math.log1p,
    "log2": math.log2, "sinh": math.sinh, "sqrt": math.sqrt, "tanh": math.tanh,
}  # fmt: skip
# where `math` raises and the standard has an infinity
POLES = {("log", 0), ("log2", 0), ("log10", 0), ("log1p", 1), ("atanh", 1)}
WHOLE = {"ceil": math.ceil, "floor": math.floor, "round": round, "trunc": math.trunc}


@pytest.mark.parametrize("name", ONE)
@some(st.data())
def test_functions_of_real_numbers(name, data):
    x = data.draw(arrays(FLOATS))
    got = getattr(xp, name)(x)
    assert (got.shape, got.dtype) == (x.shape, x.dtype)
    for number, found in zip(*listed(x, got), strict=True):
        expected = value_of(ONE[name], number)
        if expected is not None and (name, abs(number)) not in POLES:
            assert near(found, expected, x.dtype), (name, number)


@pytest.mark.parametrize("name", WHOLE)
@some(arrays([*FLOATS, *SIGNED, *UNSIGNED]))
def test_rounding(name, x):
    got = getattr(xp, name)(x)
    assert got.dtype is x.dtype
    for number, found in zip(*listed(x, got), strict=True):
        expected = WHOLE[name](number) if math.isfinite(number) else number
        assert found == expected or math.isnan(number)


def two(dtypes, **elements):
    shapes = draw_from.mutually_broadcastable_shapes(2, max_dims=2, max_side=3)
    return shapes.flatmap(
        lambda both: st.tuples(
            *(arrays(dtypes, st.just(shape), **elements) for shape in both.input_shapes)
        )
    )


WHOLE_NUMBERS = {
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul,
    "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor,
    "__floordiv__": operator.floordiv, "__mod__": operator.mod,
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
@some(st.data())
def test_operators_of_integers(name, data):
    dtype = data.draw(st.sampled_from(SIGNED + UNSIGNED))
    a, b = data.draw(two([dtype]))
    if name in ("__floordiv__", "__mod__"):
        b = xp.where(b == 0, 3, b)
    got = getattr(a, name)(b)
    assert got.dtype is dtype
    for found, p, q in zip(*listed(got, *xp.broadcast_arrays(a, b)), strict=True):
        assert found == wrapped(WHOLE_NUMBERS[name](p, q), dtype)


@pytest.mark.parametrize("name", ["__lshift__", "__rshift__"])
@some(st.data())
def test_shifts(name, data):
    dtype = data.draw(st.sampled_from(SIGNED + UNSIGNED))
    a = data.draw(arrays([dtype], FULL))
    by = data.draw(st.integers(0, min(100, dtype.max)))
    got = getattr(a, name)(xp.asarray(by, dtype=dtype))
    shift = operator.lshift if name == "__lshift__" else operator.rshift
    for found, number in zip(*listed(got, a), strict=True):
        assert found == wrapped(shift(number, by), dtype)


FLOAT_NUMBERS = {
    "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul,
    "__truediv__": operator.truediv, "__mod__": operator.mod,
}  # fmt: skip


@pytest.mark.parametrize("name", FLOAT_NUMBERS)
@some(st.data())
def test_operators_of_floats(name, data):
    dtype = data.draw(st.sampled_from(FLOATS))
    a, b = data.draw(two([dtype], allow_nan=False, allow_infinity=False))
    got = getattr(a, name)(b)
    assert got.dtype is dtype
    for found, p, q in zip(*listed(got, *xp.broadcast_arrays(a, b)), strict=True):
        if q or name not in ("__truediv__", "__mod__"):
            assert near(found, FLOAT_NUMBERS[name](p, q), dtype, 2), (p, q)


@some(two([*SIGNED, *UNSIGNED]))
def test_integers_promote(both):
    a, b = both
    assume(xp.uint64 not in (a.dtype, b.dtype) or {a.dtype, b.dtype} <= set(UNSIGNED))
    total = a + b
    assert total.dtype is xp.result_type(a, b)
    assert total.dtype.min <= min(a.dtype.min, b.dtype.min)
    assert total.dtype.max >= max(a.dtype.max, b.dtype.max)


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal"])
@some(st.data())
def test_comparisons(name, data):
    dtype = data.draw(st.sampled_from([*FLOATS, xp.int64, xp.uint64, xp.int8]))
    a, b = data.draw(two([dtype]))
    compare = getattr(operator, {"equal": "eq"}.get(name, name[0] + ("t", "e")["_" in name]))
    got = getattr(xp, name)(a, b)
    for found, p, q in zip(*listed(got, *xp.broadcast_arrays(a, b)), strict=True):
        assert found is compare(p, q)


@some(st.data())
def test_in_place(data):
    dtype = data.draw(st.sampled_from([xp.int8, xp.uint32, xp.float32, xp.float64]))
    x = data.draw(arrays([dtype], FULL, min_value=0, max_value=5))
    y = data.draw(arrays([dtype], st.just(x.shape[-1:]), min_value=1, max_value=5))
    before = xp.asarray(x, copy=True)
    equal = []
    for change in (operator.iadd, operator.imul, operator.isub, operator.ifloordiv, operator.imod):
        expected = change(xp.asarray(before, copy=True) * 1, y)
        changed = xp.asarray(before, copy=True)
        same = changed
        changed = change(changed, y)
        assert changed is same
        assert changed.dtype is dtype
        equal.append(xp.all(changed == expected))
    assert listed(*equal, xp.all(x == before)) == [[True]] * 6  # the last one: the operand


# ---- indexing ------------------------------------------------------------------------------------


@some(st.data())
def test_reading_parts(data):
    shape = data.draw(FULL)
    x = data.draw(arrays([xp.int16], st.just(shape)))
    key = data.draw(draw_from.indices(shape, allow_newaxis=True))
    np.testing.assert_array_equal(x[key].numpy(), x.numpy()[key])


@some(st.data())
def test_writing_parts(data):
    shape = data.draw(FULL)
    x = data.draw(arrays([xp.int16, xp.float64], st.just(shape), min_value=-9, max_value=9))
    key = data.draw(draw_from.indices(shape))
    value = data.draw(st.integers(-9, 9))
    expected = x.numpy().copy()
    expected[key] = value
    changed = xp.asarray(x, copy=True)
    changed[key] = xp.asarray(value, dtype=x.dtype) if data.draw(st.booleans()) else value
    np.testing.assert_array_equal(changed.numpy(), expected)


@some(st.data())
def test_masks(data):
    shape = data.draw(FULL)
    x = data.draw(arrays([xp.int16], st.just(shape)))
    mask = data.draw(draw_from.arrays(xp.bool, st.sampled_from([shape, shape[:1], (), (7,)])))
    if mask.shape == (7,):
        with pytest.raises(IndexingError):
            x[mask]
        return
    np.testing.assert_array_equal(x[mask].numpy(), x.numpy()[mask.numpy()])
    changed, expected = xp.asarray(x, copy=True), x.numpy().copy()
    changed[mask] = 3
    expected[mask.numpy()] = 3
    np.testing.assert_array_equal(changed.numpy(), expected)


@some(st.data())
def test_taking(data):
    shape = data.draw(FULL)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = data.draw(arrays([xp.uint8], st.just(shape)))
    index = st.integers(-shape[axis], shape[axis] - 1)
    chosen = data.draw(st.lists(index, max_size=4))
    got = xp.take(x, xp.asarray(chosen, dtype=xp.int64), axis=axis)
    expected = np.take(x.numpy(), np.array(chosen, int), axis)
    np.testing.assert_array_equal(got.numpy(), expected)


# ---- what undoes itself --------------------------------------------------------------------------


@some(st.data())
def test_movement_undone(data):
    shape = data.draw(FULL)
    x = data.draw(arrays([xp.int32, xp.float32], st.just(shape), min_value=-100, max_value=100))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    by = data.draw(st.integers(-9, 9))
    order = data.draw(st.permutations(range(len(shape))))
    back = tuple(order.index(i) for i in range(len(shape)))
    half = shape[axis] // 2
    cut = [slice(None)] * len(shape)
    cut[axis] = slice(None, half)
    rest = list(cut)
    rest[axis] = slice(half, None)
    undone = {
        "flip": xp.flip(xp.flip(x, axis=axis), axis=axis),
        "roll": xp.roll(xp.roll(x, by, axis=axis), -by, axis=axis),
        "permute_dims": xp.permute_dims(xp.permute_dims(x, tuple(order)), back),
        "stack": xp.stack(xp.unstack(x, axis=axis), axis=axis),
        "squeeze": xp.squeeze(xp.expand_dims(x, axis=axis), axis),
        "concat": xp.concat([x[tuple(cut)], x[tuple(rest)]], axis=axis),
    }
    run = xp.cumulative_sum(x, axis=axis, include_initial=True)
    if x.dtype is xp.int32:
        undone["diff"] = xp.diff(run, axis=axis)
    equal = listed(*(xp.all(y == x) for y in undone.values()))
    assert equal == [[True]] * len(undone), list(zip(undone, equal))


@some(st.data())
def test_order(data):
    x = data.draw(arrays([xp.int8, xp.float64, xp.uint64], FULL))
    if x.dtype is xp.float64:
        x = xp.where(xp.isnan(x), 0.0, x)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    falling = data.draw(st.booleans())
    ordered = xp.sort(x, axis=axis, descending=falling)
    by = xp.argsort(x, axis=axis, descending=falling)
    first, last = xp.max(x, axis=axis), xp.min(x, axis=axis)
    place = xp.argmax(x, axis=axis)
    is_ordered = xp.all(xp.take_along_axis(x, by, axis=axis) == ordered)
    Tensor.realize(is_ordered, ordered, first, last, place)
    assert is_ordered
    lines = np.moveaxis(x.numpy(), axis, -1).reshape(-1, x.shape[axis]).tolist()
    got = np.moveaxis(ordered.numpy(), axis, -1).reshape(-1, x.shape[axis]).tolist()
    assert got == [sorted(line, reverse=falling) for line in lines]
    assert first.numpy().reshape(-1).tolist() == [max(line) for line in lines]
    assert last.numpy().reshape(-1).tolist() == [min(line) for line in lines]
    assert place.numpy().reshape(-1).tolist() == [line.index(max(line)) for line in lines]


@some(arrays([xp.int8, xp.float32, xp.bool]))
def test_distinct_elements(x):
    values, indices, inverse, counts = xp.unique_all(x)
    flat = xp.reshape(x, (-1,)) if x.size else xp.reshape(x, (0,))
    numbers = flat.tolist()
    nans = sum(number != number for number in numbers)
    rest = {number for number in numbers if number == number}
    assert values.size == len(rest) + nans
    assert [v for v in values.tolist() if v == v] == sorted(rest)
    assert sum(counts.tolist()) == x.size and inverse.shape == x.shape
    for place, value, count in zip(indices.tolist(), values.tolist(), counts.tolist()):
        if value == value:
            assert place == numbers.index(value) and count == numbers.count(value)
    if x.size:
        restored = xp.reshape(xp.take(values, xp.reshape(inverse, (-1,)), axis=0), x.shape)
        assert xp.all((restored == x) | ((x != x) & (restored != restored)))


@some(st.data())
def test_sums(data):
    dtype = data.draw(st.sampled_from([xp.int8, xp.uint16, xp.int64, xp.float64]))
    x = data.draw(arrays([dtype], FULL, min_value=0 if dtype is xp.uint16 else -100, max_value=100))
    axes = data.draw(st.none() | draw_from.valid_tuple_axes(x.ndim))
    keep = data.draw(st.booleans())
    got = xp.sum(x, axis=axes, keepdims=keep)
    expected = x.numpy().sum(axis=axes, keepdims=keep)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(
        xp.mean(xp.astype(x, xp.float64), axis=axes).numpy(),
        x.numpy().astype(float).mean(axis=axes), rtol=1e-12, atol=1e-9,
    )  # fmt: skip


@some(st.data())
def test_products_of_matrices(data):
    dtype = data.draw(st.sampled_from([xp.int8, xp.uint64, xp.float64]))
    first, second = data.draw(st.tuples(SHAPES, SHAPES))
    a, b = (
        data.draw(arrays([dtype], st.just(s), min_value=0, max_value=4)) for s in (first, second)
    )
    try:
        expected = np.matmul(a.numpy(), b.numpy())
    except ValueError:
        with pytest.raises(ShapeError):
            xp.matmul(a, b)
        return
    got = xp.matmul(a, b)
    assert got.dtype is dtype
    np.testing.assert_array_equal(got.numpy(), expected)


@some(arrays([*FLOATS, *SIGNED, *UNSIGNED, xp.bool]), st.booleans())
def test_memory_goes_out_and_comes_back(x, copy):
    back = xp.from_dlpack(np.from_dlpack(x), copy=copy or None)
    assert (back.dtype, back.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(back.numpy(), x.numpy())
    assert isinstance(xp.from_dlpack(Tensor(x.numpy())), xp.Array)
