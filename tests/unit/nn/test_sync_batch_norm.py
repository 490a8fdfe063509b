"""Batch normalisation under PyTorch's name for several processes."""

import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError
from weft.nn import sync_batch_norm


def test_layers_are_converted_with_their_state() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, momentum=0.3))
            self.other = nn.InstanceNorm1d(3)
            self.norm = nn.BatchNorm2d(3, affine=False)

    model = Net().eval()
    weight = model.first[1].weight
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert converted is model
    assert type(model.first[1]) is type(model.norm) is sync_batch_norm.SyncBatchNorm
    assert model.first[1].weight is weight and model.first[1].momentum == 0.3
    assert model.norm.weight is None and not model.norm.training
    assert type(model.other) is nn.InstanceNorm1d
    assert nn.SyncBatchNorm.convert_sync_batchnorm(model.norm) is model.norm


def test_values_are_those_of_batch_norm() -> None:
    x = Tensor.arange(12).float().reshape(2, 3, 2)
    one, other = nn.SyncBatchNorm(3).train(), nn.BatchNorm1d(3).train()
    assert one(x).tolist() == other(x).tolist()
    assert one.running_mean.tolist() == other.running_mean.tolist()
    with pytest.raises(ArgumentError, match="whole batch"):
        nn.SyncBatchNorm(3, process_group=object())
