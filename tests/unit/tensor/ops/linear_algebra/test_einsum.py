"""Summation over named axes of three operands and more, which are taken two at a time."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor

SIZES = dict(zip("abcdeijklm", (3, 4, 5, 2, 3, 7, 6, 5, 4, 3)))


def operands(formula):
    rng = np.random.default_rng(0)
    names = formula.partition("->")[0].split(",")
    return [rng.standard_normal([SIZES[n] for n in part]).astype(np.float32) for part in names]


@pytest.mark.parametrize(
    "formula",
    [
        "ij,jk,kl->il",
        "aij,ajk,akl->ail",
        "ij,jk,kl,lm->im",
        "i,ij,j->",
        "i,j,k->ijk",
        "abc,cd,be->ade",
    ],
)
def test_operands_two_at_a_time(formula):
    given = operands(formula)
    got = Tensor.einsum(formula, *map(Tensor, given)).numpy()
    np.testing.assert_allclose(got, np.einsum(formula, *given), rtol=1e-4, atol=1e-5)


def test_a_long_chain_is_no_product_of_all_axes():
    x = Tensor(np.ones((64, 64), np.float32)).realize()
    assert len(Tensor.einsum("ij,jk,kl->il", x, x, x).schedule()) == 2


def test_axes_of_one_broadcast_in_any_order():
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((9, 1), (8, 7), (7, 6)))
    got = Tensor.einsum("ij,jk,kl->il", Tensor(a), Tensor(b), Tensor(c)).numpy()
    np.testing.assert_allclose(got, (a @ np.ones((1, 8), np.float32)) @ b @ c, rtol=1e-4, atol=1e-4)


def test_gradients_of_a_chain():
    given = operands("ij,jk,kl")
    x, y, z = (Tensor(g, requires_grad=True) for g in given)
    Tensor.einsum("ij,jk,kl->il", x, y, z).sum().backward()
    ones = np.ones((given[0].shape[0], given[2].shape[1]), np.float32)
    np.testing.assert_allclose(y.grad.numpy(), given[0].T @ ones @ given[2].T, rtol=1e-4, atol=1e-5)
