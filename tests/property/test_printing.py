"""Views of memory print the same as NumPy's views, in full and abbreviated."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["transpose", "flip", "window", "stride", "pad", "reshape", "bits"]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=6,
)


def moved(x, y, name, axis, by):
    """A tensor and an array after the same move."""
    axis %= y.ndim
    if name == "transpose":
        return x.transpose(axis, 0), y.swapaxes(axis, 0)
    if name == "flip":
        return x.flip(axis), np.flip(y, axis)
    if name == "pad":
        pairs = [(by, 1) if i == axis else (0, 0) for i in range(y.ndim)]
        return x.pad(tuple(pairs)), np.pad(y, pairs)
    if name == "reshape":
        return x.reshape((-1, y.shape[-1])), y.reshape((-1, y.shape[-1]))
    if name == "bits":
        return x.bitcast("int16"), np.ascontiguousarray(y).view(np.int16)
    index = [slice(None)] * y.ndim
    index[axis] = slice(min(by, y.shape[axis] - 1), None) if name == "window" else slice(0, None, 2)
    return x[tuple(index)], y[tuple(index)]


@given(MOVES, st.integers(1, 4), st.integers(1, 200))
def test_views(moves, edge, threshold):
    array = np.arange(60, dtype=np.int16).reshape(3, 4, 5) * 7
    x, y = Tensor(array, device="REF").contiguous().realize(), array
    for move in moves:
        x, y = moved(x, y, *move)
    with np.printoptions(edgeitems=edge, threshold=threshold):
        shown, wanted = repr(x), np.array2string(y, separator=", ", prefix="Tensor(", suffix=",")
    assert shown.startswith(f"Tensor({wanted},") or shown.endswith("pending)")
    if all(name not in ("pad", "reshape") for name, *_ in moves):
        assert not shown.endswith("pending)")
