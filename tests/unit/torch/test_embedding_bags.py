"""Embedding bags beside eager PyTorch: values and gradients, without a fallback."""

import warnings

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch
import torch._dynamo

import weft.torch

F = torch.nn.functional
INDICES = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
STARTS = [0, 4, 4, 6]


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", weft.torch.UnsupportedOperatorsWarning)
        yield


def results(function, *leaves):
    """The value and the gradients of leaves, for fixed weights of the elements."""
    for leaf in leaves:
        leaf.grad = None
    value = function(*leaves)
    value.backward(torch.linspace(-1, 2, value.numel()).reshape(value.shape))
    return [value.detach(), *(leaf.grad.clone() for leaf in leaves)]


def check(function, *leaves, expected=None):
    fast = torch.compile(function, backend="weft")
    ours, theirs = results(fast, *leaves), results(expected or function, *leaves)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_reductions_of_bags(mode, last, padding):
    starts = torch.tensor(STARTS + [len(INDICES)] * last)
    check(
        lambda weight: F.embedding_bag(
            INDICES, weight, starts, mode=mode, include_last_offset=last, padding_idx=padding
        ),
        torch.randn(10, 4, requires_grad=True),
    )


@pytest.mark.parametrize("padding", [None, 2])
def test_weights_of_samples(padding):
    check(
        lambda weight, factors: F.embedding_bag(
            INDICES, weight, torch.tensor(STARTS), mode="sum", per_sample_weights=factors,
            padding_idx=padding,
        ),
        torch.randn(10, 4, requires_grad=True),
        torch.rand(8, requires_grad=True),
    )  # fmt: skip


def test_gradients_are_divided_by_the_frequency_of_a_row():
    """Beside `embedding`: the bags of eager PyTorch divide by frequencies of other rows."""
    bags = torch.tensor([0, 0, 0, 0, 2, 2, 3, 3])
    check(
        lambda weight: F.embedding_bag(
            INDICES, weight, torch.tensor(STARTS), mode="sum", scale_grad_by_freq=True
        ),
        torch.randn(10, 4, requires_grad=True),
        expected=lambda weight: torch.zeros(4, 4).index_add(
            0, bags, F.embedding(INDICES, weight, scale_grad_by_freq=True)
        ),
    )


def test_rows_of_equal_length_are_bags():
    check(
        lambda weight: F.embedding_bag(INDICES.reshape(2, 4), weight, mode="mean"),
        torch.randn(10, 4, requires_grad=True),
    )
