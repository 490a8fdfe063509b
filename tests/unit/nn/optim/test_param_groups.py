"""Groups of parameters: options of their own, as in PyTorch."""

import numpy as np
import pytest

from weft import Tensor, nn, optim
from weft.base.errors import ArgumentError, IndexingError
from weft.nn.optim import lr_scheduler, param_groups


def two():
    return [nn.Parameter(Tensor([[1.0, -2.0], [0.5, 3.0]])) for _ in range(2)]


CASES = [
    ("SGD", {"lr": 0.1, "momentum": 0.9}, {"lr": 0.01, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}, {"dampening": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}, {"momentum": 0.0}),
    ("Adam", {"lr": 0.1}, {"betas": (0.5, 0.9), "eps": 1e-3}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.1}, {"weight_decay": 0.0, "lr": 0.3}),
    ("Adam", {"lr": 0.1, "amsgrad": True}, {"weight_decay": 0.2}),
]


@pytest.mark.parametrize(("name", "how", "other"), CASES, ids=str)
def test_each_group_moves_as_pytorchs(name: str, how: dict, other: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says where parameters go")
    ours, values = two(), [[1.0, -2.0], [0.5, 3.0]]
    theirs = [torch.nn.Parameter(torch.tensor(values)) for _ in range(2)]
    first = getattr(optim, name)([{"params": ours[:1]}, {"params": ours[1], **other}], **how)
    groups = [{"params": theirs[:1]}, {"params": theirs[1], **other}]
    second = getattr(torch.optim, name)(groups, **how)
    for step in range(4):
        for tensors, optimizer in ((ours, first), (theirs, second)):
            optimizer.zero_grad()
            sum((each * each).sum() for each in tensors).backward()
            optimizer.step()
            if step == 1:
                optimizer.param_groups[0]["lr"] = 0.05
                optimizer.param_groups[1]["weight_decay"] = 0.3
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), their.detach().numpy(), rtol=1e-5)


def test_the_options_of_a_parameter_are_those_of_its_group() -> None:
    a, b = two()
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "momentum": 0.5}], lr=0.2)
    assert [optimizer.options(number).momentum for number in range(2)] == [0.0, 0.5]
    with pytest.raises(IndexingError, match=r"SGD.options\(2\)"):
        optimizer.options(2)


def test_a_group_is_a_mapping() -> None:
    a, b = two()
    optimizer = optim.SGD([{"params": [a], "lr": 0.1, "name": "body"}, {"params": (b,)}], lr=0.2)
    group = optimizer.param_groups[0]
    assert isinstance(group, param_groups.ParamGroup) and "lr" in group and len(group) > 3
    assert (group["lr"], group["name"], group["momentum"]) == (0.1, "body", 0.0)
    assert [each["lr"] for each in optimizer.param_groups] == [0.1, 0.2]
    assert {**group}["params"] == [a] and group.get("nothing") is None
    assert "lr=0.1" in repr(optimizer)
    optimizer.lr = 0.5
    assert [each["lr"] for each in optimizer.param_groups] == [0.5, 0.5]
    optimizer.weight_decay = 0.25
    assert optimizer.param_groups[1]["weight_decay"] == optimizer.weight_decay == 0.25
    with pytest.raises(KeyError):
        group["nothing"]
    with pytest.raises(AttributeError, match="no option"):
        group.nothing  # noqa: B018


def test_generators_pairs_and_frozen_parameters() -> None:
    layer = nn.Linear(2, 1)
    layer.weight.requires_grad_(False)
    optimizer = optim.SGD(layer.named_parameters(), 0.1)
    assert optimizer.params == [layer.bias] and optimizer.buffers == [layer.weight]
    assert optim.SGD(iter(nn.Linear(2, 1).parameters()), 0.1).param_groups[0]["lr"] == 0.1
    with pytest.raises(ArgumentError) as caught:
        optim.SGD(layer, 0.1)
    assert "model.parameters()" in caught.value.try_


def test_a_group_is_added() -> None:
    a, b = two()
    optimizer = optim.Adam([a], lr=0.5)
    a.sum().backward()
    optimizer.step()
    optimizer.add_param_group({"params": [b], "lr": 0.25, "betas": (0.5, 0.5)})
    optimizer.zero_grad()
    (a * b).sum().backward()
    optimizer.step()
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25]
    np.testing.assert_allclose(b.numpy(), np.array([[0.75, -2.25], [0.25, 2.75]]), atol=1.0)
    with pytest.raises(ArgumentError, match="two groups"):
        optimizer.add_param_group({"params": [a]})
    with pytest.raises(ArgumentError, match="two groups"):
        optim.SGD([{"params": [a]}, {"params": [a, b]}])
    with pytest.raises(ArgumentError, match="'params'"):
        optim.SGD([{"lr": 0.1}])


def test_schedules_move_every_group() -> None:
    a, b = two()
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b], "lr": 1.0}])
    schedule = lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    schedule.step()
    assert schedule.get_last_lr() == [0.25, 0.5]
    assert [group["lr"] for group in optimizer.param_groups] == [0.25, 0.5]
    other = lr_scheduler.LambdaLR(optimizer, [lambda step: 1.0, lambda step: 0.1])
    assert other.get_last_lr() == [0.5, 0.1]
    warmup = lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    both = lr_scheduler.SequentialLR(optimizer, [warmup, other], [2])
    assert both.get_last_lr() == [0.25, 0.5]
    assert lr_scheduler.LRScheduler is optim.LRSchedule
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    for loss in (1.0, 1.0):
        plateau.step(loss)
    assert plateau.get_last_lr() == pytest.approx([0.025, 0.05])
    cycle = lr_scheduler.OneCycleLR(optimizer, 1.0, epochs=2, steps_per_epoch=5)
    assert cycle.total_steps == 10
    with pytest.raises(ArgumentError, match="length"):
        lr_scheduler.OneCycleLR(optimizer, 1.0)
    with pytest.raises(ArgumentError, match="each group"):
        lr_scheduler.LambdaLR(optimizer, [lambda step: 1.0])


def test_a_closure_gives_the_loss_and_zeros_may_stay() -> None:
    w = nn.Parameter(Tensor([2.0]))
    optimizer = optim.SGD([w], 0.25)

    def closure():
        optimizer.zero_grad(set_to_none=False)
        loss = (w * w).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 4.0 and w.item() == 1.0
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.item() == 0.0


def test_names_that_are_not_there() -> None:
    optimizer = optim.SGD([nn.Parameter(Tensor([2.0]))], 0.25)
    with pytest.raises(AttributeError, match="did you mean 'zero_grad'"):
        optimizer.zero_grads()
    with pytest.raises(AttributeError, match="did you mean 'LARS'"):
        optim.LARZ  # noqa: B018
    with pytest.raises(AttributeError) as caught:
        optim.SparseAdam  # noqa: B018
    assert "Adam" in caught.value.try_
