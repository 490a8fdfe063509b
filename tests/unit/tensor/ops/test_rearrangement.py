"""Formulas for axes, against what NumPy's reshape and transpose give."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError

ARRAY = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)

CASES = [
    ("a b c d -> a b c d", {}, lambda x: x),
    ("a b c d->d c b a", {}, lambda x: x.T),
    ("a b c d -> (a b c d)", {}, lambda x: x.reshape(-1)),
    ("... -> (...)", {}, lambda x: x.reshape(-1)),
    ("\N{HORIZONTAL ELLIPSIS} d -> d \N{HORIZONTAL ELLIPSIS}", {}, lambda x: np.moveaxis(x, -1, 0)),
    ("a ... -> a (...)", {}, lambda x: x.reshape(2, 60)),
    ("a b ... d -> b (a ...) d", {}, lambda x: x.transpose(1, 0, 2, 3).reshape(3, 8, 5)),
    ("a b c d ... -> a (b ...) c d", {}, lambda x: x),
    ("a b (h k) d -> k (a h) (b d) 1", {"h": 2},
     lambda x: x.reshape(2, 3, 2, 2, 5).transpose(3, 0, 2, 1, 4).reshape(2, 4, 15, 1)),
    ("a b (h k) d -> (h k) a () b d", {"h": 1, "k": 4},
     lambda x: x.transpose(2, 0, 1, 3)[:, :, None]),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "sizes", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_formula_is_reshape_transpose_reshape(formula, sizes, expected):
    got = Tensor(ARRAY).rearrange(formula, **sizes).numpy()
    np.testing.assert_array_equal(got, expected(ARRAY))


@pytest.mark.parametrize("one", ["1", "()"])
def test_axes_of_one_come_and_go(one):
    x = Tensor.zeros(1, 6, 1, 2)
    assert x.rearrange(f"{one} b {one} c -> b c").shape == (6, 2)
    assert x.rearrange(f"a b {one} c -> c {one} b a {one}").shape == (2, 1, 6, 1, 1)
    assert Tensor(3.0).rearrange(f"-> {one}").shape == (1,)


def test_an_axis_of_none_stays_empty():
    assert Tensor.zeros(0, 4).rearrange("a (b c) -> (a b) c", b=2).shape == (0, 2)


@pytest.mark.parametrize(
    ("formula", "sizes", "because"),
    [
        ("a b c d", {}, "arrow"),
        ("a b c d -> a -> b", {}, "arrow"),
        ("a b c -> c b a", {}, "the left side has 3 axes, the shape 4"),
        ("a b c d e ... -> e a b c d ...", {}, "the left side has 5 axes"),
        ("a b c d -> a b c", {}, "same names"),
        ("a b c d -> a b c d d", {}, "'d' is twice"),
        ("a ... d ... -> a d ...", {}, "'...' is twice"),
        ("a b (...) -> a b ...", {}, "in brackets"),
        ("a b ... -> a b", {}, "same names"),
        ("a b (c d -> a b c d", {}, "not closed"),
        ("a b c d) -> a b c d", {}, "not opened"),
        ("a b ((c d)) -> a b c d", {}, "cannot be nested"),
        ("a b 2c d -> a b 2c d", {}, "'2c' is no name"),
        ("a b _c d -> a b _c d", {}, "'_c' is no name"),
        ("a b c* d -> a b c* d", {}, "no name"),
        ("a b (c k) d -> a b c k d", {}, "the sizes of c and k are not given"),
        ("a b (c k) d -> a b c k d", {"k": 3}, "no whole number of 3"),
        ("a b (c k) d -> a b c k d", {"k": 3, "c": 3}, "c k is 9, not 4"),
        ("a b c d -> d c b a", {"b": 2}, "b is 2, not 3"),
        ("a b c d -> d c b a", {"q": 2}, "no axis 'q'"),
        ("1 b c d -> b c d", {}, "an axis of 1 is 1, not 2"),
    ],
)
def test_formula_errors_are_explained(formula, sizes, because):
    with pytest.raises(ArgumentError) as caught:
        Tensor(ARRAY).rearrange(formula, **sizes)
    assert because in caught.value.because
