"""Instance normalisation compared with PyTorch's: values, running statistics, both modes."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ShapeError
from weft.nn import instance_norm


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("how", [{}, {"affine": True, "track_running_stats": True}], ids=str)
def test_values_are_pytorchs(axes: int, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 3, *(4,) * axes), dtype=np.float32)
    name = f"InstanceNorm{axes}d"
    ours, theirs = getattr(nn, name)(3, **how), getattr(torch.nn, name)(3, **how)
    ours.train()
    for _ in range(2):
        got, expected = ours(Tensor(x)).numpy(), theirs(torch.tensor(x)).detach().numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    ours.eval(), theirs.eval()
    for each in (x, x[0]):
        got, expected = ours(Tensor(each)).numpy(), theirs(torch.tensor(each)).detach().numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError, match="axes"):
        instance_norm.InstanceNorm2d(3)(Tensor.ones(2, 3))


def test_batch_norm_takes_both_orders_of_arguments() -> None:
    as_pytorch, as_before = nn.BatchNorm2d(3, 1e-3, 0.2, False), nn.BatchNorm2d(3, 1e-3, False)
    assert (as_pytorch.momentum, as_pytorch.weight) == (0.2, None)
    assert (as_before.momentum, as_before.weight) == (0.1, None)
    assert nn.BatchNorm2d(3, 1e-3, True, True, 0.3).momentum == 0.3
    with pytest.raises(ShapeError, match="BatchNorm2d takes inputs of 4 axes"):
        as_pytorch(Tensor.ones(2, 3))


def test_batches_are_not_counted_and_the_bias_may_be_left_out() -> None:
    norm = nn.InstanceNorm1d(2, affine=True, track_running_stats=True, bias=False).train()
    norm(Tensor.ones(1, 2, 3))
    assert norm.num_batches_tracked.item() == 0 and norm.bias is None
