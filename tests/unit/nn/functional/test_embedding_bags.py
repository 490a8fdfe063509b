"""Embedding bags compared with PyTorch's: values, and gradients of weight and factors."""

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.embedding_bags import embedding_bag

CHANCE = np.random.default_rng(0)
WEIGHT, FACTORS = CHANCE.standard_normal((6, 3)), CHANCE.uniform(0.5, 2.0, (8,))
INDICES, OFFSETS = np.array([1, 2, 4, 5, 4, 3, 2, 5]), np.array([0, 4, 4, 6])
CASES = [
    (mode, offsets, padding, factors)
    for mode in ("sum", "mean", "max")
    for offsets in (None, OFFSETS, "last")
    for padding in (None, -2)
    for factors in ((False, True) if mode == "sum" else (False,))
]


@pytest.mark.parametrize(("mode", "offsets", "padding", "factors"), CASES)
def test_values_and_gradients_are_pytorchs(
    mode: str, offsets: object, padding: int | None, factors: bool
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    how = {"mode": mode, "padding_idx": padding, "include_last_offset": isinstance(offsets, str)}
    indices = INDICES.reshape(2, 4) if offsets is None else INDICES
    starts = np.array([0, 4, 4, 8]) if isinstance(offsets, str) else offsets

    def computed(function, make):
        weight = make(WEIGHT, requires_grad=True)
        scales = make(FACTORS.reshape(indices.shape), requires_grad=True) if factors else None
        given = dict(how, offsets=None if starts is None else make(starts))
        y = function(make(indices), weight, per_sample_weights=scales, **given)
        y.square().sum().backward()
        return [y.detach(), weight.grad, *([scales.grad] if factors else [])]

    expected = computed(torch.nn.functional.embedding_bag, torch.tensor)
    for one, other in zip(computed(embedding_bag, Tensor), expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6, atol=1e-12)


def test_gradients_are_divided_by_the_frequency_of_a_row() -> None:
    weight = Tensor(WEIGHT, requires_grad=True)
    bags = embedding_bag(Tensor([[1, 1, 3]]), weight, mode="sum", scale_grad_by_freq=True)
    bags.sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist()[1:4] == [[1.0] * 3, [0.0] * 3, [1.0] * 3]


def test_compiled() -> None:
    function = jit(lambda i, w, o: embedding_bag(i, w, o, mode="max"))
    given = (Tensor(INDICES), Tensor(WEIGHT), Tensor(OFFSETS))
    expected = [WEIGHT[INDICES[a:b]].max(0) if b > a else np.zeros(3)
                for a, b in ((0, 4), (4, 4), (4, 6), (6, 8))]  # fmt: skip
    for _ in range(3):
        np.testing.assert_allclose(function(*given).numpy(), expected)


def test_invalid_arguments() -> None:
    indices, weight = Tensor(INDICES), Tensor(WEIGHT)
    with pytest.raises(ShapeError, match="one row with offsets"):
        embedding_bag(indices, weight)
    with pytest.raises(ArgumentError, match="weighted"):
        embedding_bag(indices, weight, Tensor([0]), per_sample_weights=Tensor(FACTORS))
