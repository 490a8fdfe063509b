"""Functions with the names of NumPy, beside NumPy."""

import math

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((3, 5))
HOLES = np.where(RANDOM.random((4, 6)) < 0.3, np.nan, RANDOM.standard_normal((4, 6)))
HOLES[1] = np.nan
LINE = RANDOM.standard_normal(7)
SHORT = RANDOM.standard_normal(3)
EDGES = np.array([-1.0, 0.0, 0.5, 2.0])


def same(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-12)


CALLS = {
    "ptp": [(X,), (X, 0)],
    "average": [(X,), (X, 1), (X, 1, np.arange(5.0)), (X, None, np.abs(X))],
    "percentile": [(X, 30), (X, [5, 50.0], 1)],
    "nanpercentile": [(HOLES, 30, 1)],
    "nanmax": [(HOLES,), (HOLES, 1), (HOLES, 0)],
    "nanmin": [(HOLES,), (HOLES, 1)],
    "nanprod": [(HOLES, 1)],
    "nanvar": [(HOLES, 1), (HOLES,)],
    "nanstd": [(HOLES, 0)],
    "nanargmax": [(HOLES[0], 0), (HOLES[:1], 1)],
    "nanargmin": [(HOLES[0], 0)],
    "convolve": [
        (LINE, SHORT, mode) for mode in ("full", "same", "valid")
    ] + [(SHORT, LINE, "same"), (LINE, SHORT[:2], "same"), (np.arange(4), np.arange(3))],
    "correlate": [
        (LINE, SHORT, mode) for mode in ("full", "same", "valid")
    ] + [(SHORT, LINE, "full"), (SHORT, LINE, "same"), (LINE, SHORT[:2], "same"),
         (SHORT[:2], LINE, "same")],
    "interp": [
        (X, EDGES, SHORT[[0, 1, 2, 0]]), (X, EDGES, EDGES * 2, -9.0, 9.0),
        (X, EDGES[:1], SHORT[:1]),
    ],
    "unwrap": [(np.cumsum(LINE * 3),), (X * 5, None, 0), (X * 5, 4.0)],
    "digitize": [(X, EDGES), (X, EDGES, True), (X, EDGES[::-1]), (X, EDGES[::-1], True)],
    "append": [(X, X), (X, X, 1)],
    "diagflat": [(X[0],), (X, -1)],
    "cbrt": [(X,), (np.array([0.0, -0.0, np.inf, -np.inf, 1e-300, 8.0, np.nan]),)],
    "degrees": [(X,)],
    "radians": [(X,)],
    "rint": [(X * 3,), (np.array([0.5, 1.5, -2.5]),)],
    "around": [(X, 2)],
    "polyval": [(SHORT, X)],
    "trapezoid": [(X,), (X, X.cumsum(1)), (LINE, LINE.cumsum())],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:Degrees", "ignore:Mean", "ignore:invalid")
@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name, calls in CALLS.items() for given in calls]
)
def test_values(name, given):
    ours = [Tensor(each) if isinstance(each, np.ndarray) else each for each in given]
    same(getattr(weft, name)(*ours), getattr(np, name)(*given))


def test_parts_of_numbers():
    values = np.array([1.5, -0.25, 3.0, np.inf, -np.inf, np.nan, -0.0])
    for found, expected in zip(weft.modf(Tensor(values)), np.modf(values), strict=True):
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(expected))


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize(
    ("bins", "range"), [(4, None), (4, (-1.0, 1.0)), (EDGES, None)], ids=["all", "range", "edges"]
)
@pytest.mark.parametrize("weight", [None, np.abs(X)])
def test_histograms(bins, range, weight, density):
    expected = np.histogram(X, bins, range, density, weight)
    own = bins if isinstance(bins, int) else Tensor(bins)
    by = None if weight is None else Tensor(weight)
    found = weft.histogram(Tensor(X), own, range, by, density)
    same(found.hist, expected[0])
    same(found.bin_edges, expected[1])


def test_histograms_of_infinities_and_of_nothing():
    values = np.array([0.5, np.inf, 0.25, -np.inf])
    same(weft.histogram(Tensor(values), 2, (0.0, 1.0)).hist, np.histogram(values, 2, (0, 1))[0])
    found = weft.histogram(Tensor.zeros(0), 2)
    assert found.hist.tolist() == [0.0, 0.0] and found.bin_edges.tolist() == [0.0, 0.5, 1.0]


def test_a_histogram_of_equal_elements():
    found = weft.histogram(Tensor([2.0, 2.0]), 4)
    assert found.hist.tolist() == [0.0, 0.0, 2.0, 0.0]
    assert found.bin_edges.tolist() == [1.5, 1.75, 2.0, 2.25, 2.5]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("hann_window", np.hanning), ("hamming_window", np.hamming),
        ("blackman_window", np.blackman), ("bartlett_window", np.bartlett),
    ],
)  # fmt: skip
@pytest.mark.parametrize("length", [0, 1, 2, 5, 16])
def test_windows(ours, theirs, length):
    window = getattr(weft, ours)
    same(window(length, periodic=False, dtype=dtypes.float64), theirs(length))
    if length > 1:
        same(window(length, dtype=dtypes.float64), theirs(length + 1)[:-1])
    assert (
        window(length).dtype == dtypes.float32 and window(4, dtype="float16").dtype.name == "half"
    )


@pytest.mark.parametrize("beta", [0.0, 3.0, 14.0])
def test_kaiser_windows(beta):
    found = weft.kaiser_window(9, False, beta, dtype=dtypes.float64)
    np.testing.assert_allclose(found.numpy(), np.kaiser(9, beta), rtol=1e-7)


def test_cumulative_trapezoid():
    found = weft.cumulative_trapezoid(Tensor(X), dx=0.5, dim=1)
    same(found, np.cumsum((X[:, 1:] + X[:, :-1]) * 0.25, 1))
    places = weft.cumulative_trapezoid(Tensor(X.T.copy()), Tensor(EDGES[[0, 1, 2, 3, 3]]), dim=0)
    steps = np.diff(EDGES[[0, 1, 2, 3, 3]])[:, None]
    same(places, np.cumsum((X.T[1:] + X.T[:-1]) * 0.5 * steps, 0))


def test_pieces():
    parts = weft.array_split(Tensor(LINE), 3)
    assert [each.shape for each in parts] == [each.shape for each in np.array_split(LINE, 3)]
    one, other = weft.broadcast_arrays(Tensor(X), Tensor(X[:1]))
    same(other, np.broadcast_to(X[:1], X.shape))
    assert one.shape == X.shape


@pytest.mark.parametrize("values", [[1, 1, 2, 2, 2, 1], [3], [], [1.5, 1.5, 2.5]])
def test_consecutive_equal_elements(values):
    found, inverse, counts = weft.unique_consecutive(Tensor(values), True, True)
    expected, sizes = [], []
    for each in values:
        if expected and expected[-1] == each:
            sizes[-1] += 1
        else:
            expected.append(each)
            sizes.append(1)
    assert found.tolist() == expected and counts.tolist() == sizes
    assert [expected[place] for place in inverse.tolist()] == values


def test_consecutive_equal_rows():
    x = Tensor([[1, 2], [1, 2], [3, 4], [1, 2]])
    assert weft.unique_consecutive(x, dim=0).tolist() == [[1, 2], [3, 4], [1, 2]]
    assert weft.unique_consecutive(x.T, dim=1).tolist() == [[1, 3, 1], [2, 4, 2]]


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_modes(dim):
    x = RANDOM.integers(0, 4, (6, 7))
    values, indices = weft.mode(Tensor(x), dim)
    rows = np.moveaxis(x, dim, -1)
    for row, value, index in zip(rows, values.tolist(), indices.tolist(), strict=True):
        counts = np.bincount(row)
        assert value == counts.argmax() and row[index] == value
    assert weft.mode(Tensor(x), dim, keepdim=True).values.shape[dim] == 1


def test_scattered_pieces():
    x, line = RANDOM.standard_normal((4, 5)), RANDOM.standard_normal(4)
    expected = x.copy()
    expected[np.arange(4), np.arange(4) + 1] = line
    same(weft.diagonal_scatter(Tensor(x), Tensor(line), 1), expected)
    expected = x.copy()
    expected[:, 1:5:2] = x[:, :2]
    same(weft.slice_scatter(Tensor(x), Tensor(x[:, :2]), 1, 1, 5, 2), expected)
    leaf = Tensor(x, requires_grad=True)
    weft.slice_scatter(leaf, Tensor(x[:1]), 0, 1, 2).sum().backward()
    assert leaf.grad.sum(1).tolist() == [5.0, 0.0, 5.0, 5.0]


def test_norms_are_limited():
    x = Tensor([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(
        weft.renorm(x, 2, 0, 1.0).numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6
    )
    assert weft.msort(Tensor([[3, 1], [2, 4]])).tolist() == [[2, 1], [3, 4]]


def test_dtypes_and_equality():
    x = Tensor([1, 2], dtype=dtypes.int16)
    assert weft.result_type(x, 3) == dtypes.int16 and weft.result_type(2.0, x) == dtypes.float32
    assert weft.result_type(x, Tensor([1.0])) == dtypes.float32
    pairs = [("uint8", "int8"), ("int8", "uint8"), ("float32", "int32"), ("int64", "float16"),
             ("bool", "uint8"), ("float64", "complex64"), ("complex64", "float32")]  # fmt: skip
    answers = [weft.can_cast(*pair) for pair in pairs]
    assert answers == [True, False, False, True, True, True, False]
    assert weft.array_equal(x, Tensor([1, 2])) and not weft.array_equal(x, Tensor([1, 3]))
    assert not weft.array_equal(x, Tensor([1]))
    hole = Tensor([math.nan])
    assert weft.array_equal(hole, hole, equal_nan=True) and not weft.array_equal(hole, hole)
    assert weft.isreal(Tensor([1j, 2 + 0j])).tolist() == [False, True]
    assert weft.isreal(x).tolist() == [True, True]
    assert weft.is_nonzero(Tensor([2])) and not weft.is_nonzero(Tensor(0.0))
    assert weft.scalar_tensor(3).dtype == dtypes.float32


V, M = Tensor([1.0, 2.0]), Tensor([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ShapeError, lambda: weft.average(M, weights=V)),
        (ShapeError, lambda: weft.convolve(M, V)),
        (ShapeError, lambda: weft.convolve(V[:0], V)),
        (ArgumentError, lambda: weft.convolve(V, V, "some")),
        (ShapeError, lambda: weft.interp(V, V, M)),
        (ShapeError, lambda: weft.trapezoid(V, Tensor([1.0]))),
        (ShapeError, lambda: weft.digitize(V, M)),
        (ArgumentError, lambda: weft.histogram(V, 0)),
        (ShapeError, lambda: weft.diagonal_scatter(M, V)),
        (ShapeError, lambda: weft.slice_scatter(V, V, 0, 0, 1)),
        (ArgumentError, lambda: weft.renorm(M, 2, 0, -1.0)),
        (ArgumentError, lambda: weft.is_nonzero(V)),
        (ArgumentError, lambda: weft.hann_window(-1)),
        (DTypeError, lambda: weft.hann_window(3, dtype="int32")),
    ],
)
def test_refusals(error, call):
    with pytest.raises(error):
        call()
