"""Averages of parameters, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, jit, nn, optim
from weft.nn.optim import swa_utils

VALUES = [np.array([[float(n), 1.0 - n]], np.float32) for n in (1, 4, 6)]


def model_of(module):
    return module.Sequential(module.Linear(2, 1), module.BatchNorm1d(1))


@pytest.mark.parametrize("how", ["equal", "exponential", "of lists"])
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages_are_pytorchs(how: str, use_buffers: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the averages are")
    theirs, mine = model_of(torch.nn), model_of(nn)
    averages = []
    for module, model in ((torch.optim.swa_utils, theirs), (swa_utils, mine)):
        options = {
            "equal": {}, "exponential": {"avg_fn": module.get_ema_avg_fn(0.8)},
            "of lists": {"multi_avg_fn": module.get_ema_multi_avg_fn(0.8)},
        }[how]  # fmt: skip
        averages.append(module.AveragedModel(model, use_buffers=use_buffers, **options))
    expected, found = averages
    for value in VALUES:
        with torch.no_grad():
            theirs[0].weight.copy_(torch.tensor(value))
            theirs[1].running_mean.add_(1.0)
        mine.load_state_dict(theirs.state_dict())
        expected.update_parameters(theirs)
        found.update_parameters(mine)
    assert list(found.state_dict()) == list(expected.state_dict())
    for name, value in expected.state_dict().items():
        np.testing.assert_allclose(found.state_dict()[name].numpy(), value.numpy(), rtol=1e-5)


def test_averages_of_lists_and_captured_updates() -> None:
    model = nn.Linear(2, 1, bias=False)
    averaged = optim.swa_utils.AveragedModel(
        model, multi_avg_fn=optim.swa_utils.get_swa_multi_avg_fn()
    )

    def update(value: Tensor) -> None:
        model.weight.assign(value)
        averaged.update_parameters(model)

    captured = jit(update)
    for value in VALUES:
        captured(Tensor(value))
    assert averaged.n_averaged.item() == 3
    np.testing.assert_allclose(averaged.module.weight.numpy(), np.mean(VALUES, 0), rtol=1e-6)
    assert not list(model.named_buffers()) and averaged.module is not model


def test_running_statistics_are_computed_anew() -> None:
    model = nn.Sequential(nn.BatchNorm1d(1, momentum=0.3), nn.Dropout(0.5)).eval()
    batches = [(Tensor([[1.0], [3.0]]), 0), (Tensor([[5.0], [7.0]]), 1)]
    swa_utils.update_bn(batches, model)
    norm = model[0]
    assert norm.running_mean.item() == 4.0 and norm.running_var.item() == 2.0
    assert norm.momentum == 0.3 and not norm.training and norm.num_batches_tracked.item() == 2
    swa_utils.update_bn(batches, nn.Linear(1, 1))


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_rates_go_to_the_rate_of_the_averages(strategy: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the rates are")
    parameter = torch.nn.Parameter(torch.ones(1))
    ours, theirs = optim.SGD([Tensor([1.0])], 1.0), torch.optim.SGD([parameter], 1.0)
    theirs.step()
    pairs = []
    for module, optimizer in ((optim, ours), (torch.optim, theirs)):
        usual = module.lr_scheduler.ExponentialLR(optimizer, 0.9)
        pairs.append((usual, module.swa_utils.SWALR(optimizer, 0.05, 4, strategy)))
    for step in range(12):
        for each in pairs:
            each[step > 4].step()
        rates = [each.param_groups[0]["lr"] for each in (ours, theirs)]
        assert rates[0] == pytest.approx(rates[1], rel=1e-5)
