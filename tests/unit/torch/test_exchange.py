"""Tensors of PyTorch and of weft share memory."""

import gc

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch

import weft
from weft import Tensor
from weft.torch.exchange import ExchangeCache, memory_order, to_torch_tensor

DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_there_and_back(dtype):
    x = torch.arange(6).reshape(2, 3).to(dtype)
    taken = ExchangeCache().take(x)
    assert taken.order is None
    assert torch.equal(to_torch_tensor(taken.tensor), x)


def test_memory_is_shared():
    x = torch.zeros(3)
    cache = ExchangeCache()
    taken = cache.take(x)
    x[1] = 5
    assert taken.tensor.tolist() == [0, 5, 0]
    assert cache.take(x).tensor is taken.tensor


def test_other_memory_is_taken_again():
    cache, x = ExchangeCache(), torch.zeros(3)
    first = cache.take(x).tensor
    x.data = torch.ones(3)
    assert cache.take(x).tensor is not first
    assert cache.take(x).tensor.tolist() == [1, 1, 1]


def test_entries_end_with_their_tensors():
    cache, x = ExchangeCache(), torch.zeros(3)
    cache.take(x)
    assert len(cache._entries) == 1
    del x
    gc.collect()
    assert not cache._entries


def test_permuted_memory_is_taken_without_a_copy():
    x = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    taken = ExchangeCache().take(x)
    assert taken.order == (1, 2, 0) and taken.tensor.shape == (2, 3, 4)
    x[0, 0, 0] = 9
    assert taken.tensor[0, 0, 0].item() == 9


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(6.0)[::2], torch.zeros(1, 3).expand(4, 3), torch.zeros(0, 3),
        torch.tensor(2.0), torch.arange(5.0)[1:], torch.randn(3, requires_grad=True),
    ],
    ids=["steps", "expanded", "empty", "no axes", "offset", "requires_grad"],
)  # fmt: skip
def test_other_memory_is_copied(x):
    taken = ExchangeCache().take(x)
    assert taken.order is None
    assert torch.equal(to_torch_tensor(taken.tensor), x.detach())


def test_memory_order():
    assert memory_order((2, 3), (3, 1)) is None
    assert memory_order((2, 3), (1, 2)) == (1, 0)
    assert memory_order((1, 3, 2), (7, 1, 3)) == (0, 2, 1)


def test_results_are_not_written_again():
    @weft.jit
    def double(x):
        return x * 2

    kept = []
    for number in range(5):
        kept.append(to_torch_tensor(double(Tensor([float(number)]))))
    assert [each.item() for each in kept] == [0, 2, 4, 6, 8]
