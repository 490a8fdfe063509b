"""Losses at their corners; values are compared with PyTorch in tests/property."""

from __future__ import annotations

import math

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div"])
def test_an_unknown_reduction(name: str) -> None:
    with pytest.raises(ArgumentError):
        getattr(Tensor([1.0]), name)(Tensor([2.0]), reduction="median")


def test_probabilities_of_zero_say_nothing() -> None:
    loss = Tensor([-math.inf, 0.0]).kl_div(Tensor([0.0, 1.0]), "sum")
    assert loss.item() == 0.0 or math.isnan(loss.item())  # 0 times infinity, as in PyTorch
    assert Tensor([-1.0, 0.0]).kl_div(Tensor([0.0, 1.0]), "batchmean").item() == 0.0


def test_a_corner_without_width() -> None:
    x, y = Tensor([0.0, 2.0]), Tensor([1.0, 1.0])
    assert x.smooth_l1_loss(y, beta=0).item() == x.l1_loss(y).item() == 1.0


def test_a_variance_that_is_too_small_has_a_slope_all_the_same() -> None:
    var = Tensor([1e-9])
    loss = Tensor([0.0]).gaussian_nll_loss(Tensor([0.0]), var)
    assert loss.gradient(var)[0].item() == pytest.approx(0.5e6, rel=1e-4)


def test_a_variance_for_each_row() -> None:
    x, var = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 4.0])
    found = x.gaussian_nll_loss(x + 2, var, reduction="none")
    slope = found.sum().gradient(var)[0]
    wanted = x.gaussian_nll_loss(x + 2, var.unsqueeze(1).expand(2, 2), reduction="none")
    assert found.tolist() == wanted.tolist()
    assert slope.tolist() == [-3.0, 0.0]


def test_a_target_of_neither_sign_counts_both_terms() -> None:
    x, target = Tensor([0.25, 0.25, 0.25, 4.0]), Tensor([1, -1, 0, 0])
    loss = x.hinge_embedding_loss(target, reduction="none")
    assert loss.tolist() == [0.25, 0.75, 1.0, 4.0]


def test_triplets_given_as_lists():
    x, positive = [[1.5, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]
    negative = [[0.0, 2.0], [3.0, 5.0]]
    for swap in (False, True):
        found = Tensor(x).triplet_margin_loss(positive, negative, swap=swap)
        wanted = Tensor(x).triplet_margin_loss(Tensor(positive), Tensor(negative), swap=swap)
        assert found.item() == wanted.item()
