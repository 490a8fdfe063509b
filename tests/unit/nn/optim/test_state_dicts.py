"""State dicts of optimisers: the shape of PyTorch's, and going on to the bit."""

import numpy as np
import pytest

from weft import Tensor, jit, nn, optim
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.nn.optim import state_dicts

KINDS = [
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "dampening": 0.3}), ("Adam", {}),
    ("AdamW", {"amsgrad": True}), ("LARS", {}), ("LAMB", {}), ("Muon", {}),
]  # fmt: skip


def start():
    return [nn.Parameter(Tensor(np.full((2, 3), n + 1.0, np.float32))) for n in range(2)]


def advance(params, optimizer, steps: int) -> None:
    for step in range(steps):
        optimizer.zero_grad()
        x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 7 + step)
        ((params[0] * x).square() + (params[1] + x).square()).sum().backward()
        optimizer.step()


@pytest.mark.parametrize(("name", "how"), KINDS, ids=str)
def test_a_loaded_optimiser_goes_on_to_the_bit(name: str, how: dict) -> None:
    params = start()
    first = getattr(optim, name)(
        [{"params": params[:1]}, {"params": params[1:], "lr": 0.03}], **how
    )
    advance(params, first, 3)
    state = first.state_dict()
    others = [nn.Parameter(each.detach().clone()) for each in params]
    second = getattr(optim, name)([{"params": others[:1]}, {"params": others[1:]}], 0.5, **how)
    second.load_state_dict(state)
    assert second.param_groups[1]["lr"] == 0.03
    advance(params, first, 2)
    advance(others, second, 2)
    for one, other in zip(params, others, strict=True):
        assert one.tolist() == other.tolist()


def test_the_shape_is_pytorchs() -> None:
    params = start()
    optimizer = optim.Adam(params, lr=0.1)
    advance(params, optimizer, 1)
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"] and list(state["state"]) == [0, 1]
    assert {"exp_avg", "exp_avg_sq"} < set(state["state"][0])
    (group,) = state["param_groups"]
    assert group["params"] == [0, 1] and group["lr"] == 0.1 and group["betas"] == (0.9, 0.999)
    before = state["state"][0]["exp_avg"].tolist()
    advance(params, optimizer, 1)
    assert state["state"][0]["exp_avg"].tolist() == before
    assert state_dicts.per_parameter(optimizer).keys() == {"mean", "square"}


PYTORCHS = [
    ("Adam", {"lr": 0.1}), ("Adam", {"lr": 0.1, "betas": (0.5, 0.9)}), ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.5}), ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how"), PYTORCHS, ids=str)
def test_the_state_of_pytorchs_optimiser_loads(name: str, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="it is PyTorch's state")
    values = [each.numpy() for each in start()]
    theirs = [torch.nn.Parameter(torch.tensor(each)) for each in values]
    first = getattr(torch.optim, name)(theirs, **how)
    ours = [nn.Parameter(Tensor(each)) for each in values]
    second = getattr(optim, name)(ours, lr=0.7)

    def steps(params, optimizer):
        for _ in range(2):
            optimizer.zero_grad()
            sum((each * each).sum() for each in params).backward()
            optimizer.step()

    steps(theirs, first)
    second.load_state_dict(first.state_dict())
    for mine, their in zip(ours, theirs, strict=True):
        mine.replace(Tensor(their.detach().numpy().copy()))
    steps(theirs, first)
    steps(ours, second)
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), their.detach().numpy(), rtol=1e-5)


def test_momentum_may_begin_late() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says where parameters go")
    values = [each.numpy() for each in start()]
    theirs, ours = (
        [torch.nn.Parameter(torch.tensor(each)) for each in values],
        [nn.Parameter(Tensor(each)) for each in values],
    )
    for params, library in ((theirs, torch.optim), (ours, optim)):
        optimizer = library.SGD(params[:1], lr=0.1)
        for step in range(4):
            if step == 1:
                optimizer.param_groups[0]["momentum"] = 0.9
            if step == 2:
                optimizer.add_param_group({"params": params[1:], "momentum": 0.5, "dampening": 0.2})
            optimizer.zero_grad()
            sum((each * each).sum() for each in params).backward()
            optimizer.step()
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), their.detach().numpy(), rtol=1e-5)


OPTIONS = [
    ("SGD", {"maximize": True}), ("SGD", {"momentum": 0.5, "nesterov": True}),
    ("SGD", {"momentum": 0.5, "dampening": 0.2, "weight_decay": 0.1}),
    ("Adam", {"maximize": True}), ("Adam", {"amsgrad": True, "eps": 0.01}),
    ("AdamW", {"amsgrad": True, "maximize": True, "weight_decay": 0.2}),
    ("Adam", {"decoupled_weight_decay": True, "weight_decay": 0.2}),
]  # fmt: skip


@pytest.mark.parametrize("steps_before", [0, 2])
@pytest.mark.parametrize(("name", "how"), OPTIONS, ids=str)
def test_all_options_of_pytorchs_optimiser_are_restored(
    name: str, how: dict, steps_before: int
) -> None:
    torch = pytest.importorskip("torch", reason="it is PyTorch's state")
    values = [each.numpy() for each in start()]
    theirs = [torch.nn.Parameter(torch.tensor(each)) for each in values]
    try:
        first = getattr(torch.optim, name)(theirs, lr=0.05, **how)
    except TypeError:
        pytest.skip("this PyTorch does not have the option")
    ours = [nn.Parameter(Tensor(each)) for each in values]
    second = getattr(optim, name)(ours, lr=0.7)

    def steps(params, optimizer, count):
        for step in range(count):
            optimizer.zero_grad()
            sum((each * each).sum() * (3 - step) for each in params).backward()
            optimizer.step()

    steps(theirs, first, steps_before)
    steps(ours, second, 1)
    second.load_state_dict(first.state_dict())
    for mine, their in zip(ours, theirs, strict=True):
        mine.replace(Tensor(their.detach().numpy().copy()))
    steps(theirs, first, 3)
    steps(ours, second, 3)
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), their.detach().numpy(), rtol=1e-5)


OWN_OPTIONS = [
    ("SGD", {"momentum": 0.5, "classic": True}), ("LARS", {"tcoef": 0.5, "pre_wd": False}),
    ("LAMB", {"adam": True, "weight_decay": 0.1}), ("Muon", {"ns_steps": 2, "eps": 0.1}),
    ("Muon", {"ns_coefficients": (1.5, -0.5, 0.0)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how"), OWN_OPTIONS, ids=str)
def test_options_that_pytorch_does_not_have_are_restored(name: str, how: dict) -> None:
    params = start()
    first = getattr(optim, name)(params, lr=0.05, **how)
    advance(params, first, 2)
    others = [nn.Parameter(each.detach().clone()) for each in params]
    second = getattr(optim, name)(others)
    second.load_state_dict(first.state_dict())
    advance(params, first, 3)
    advance(others, second, 3)
    for one, other in zip(params, others, strict=True):
        assert one.tolist() == other.tolist()


def test_options_may_differ_between_groups() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says where parameters go")
    values = [each.numpy() for each in start()]
    theirs, ours = (
        [torch.nn.Parameter(torch.tensor(each)) for each in values],
        [nn.Parameter(Tensor(each)) for each in values],
    )
    for params, library in ((theirs, torch.optim), (ours, optim)):
        groups = [{"params": params[:1], "amsgrad": True}, {"params": params[1:], "maximize": True}]
        optimizer = library.Adam(groups, lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            sum((each * each).sum() * (4 - step) for each in params).backward()
            optimizer.step()
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.numpy(), their.detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize("saved_at", [0, 2])
@pytest.mark.parametrize("momentum_first", [False, True])
def test_dampening_may_begin_late(momentum_first: bool, saved_at: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says where parameters go")
    values = [each.numpy() for each in start()]
    found = []
    for library in (torch, None):
        make = library.tensor if library else Tensor
        kind = library.nn.Parameter if library else nn.Parameter
        params = [kind(make(each)) for each in values]
        sgd = library.optim.SGD if library else optim.SGD
        optimizer = sgd(params, lr=0.1, momentum=0.9 if momentum_first else 0.0)
        for step in range(5):
            if step == saved_at:
                other = sgd(params, lr=0.1, momentum=0.9, dampening=0.5)
                other.load_state_dict(optimizer.state_dict())
                optimizer = other
            if step == 3:
                optimizer.param_groups[0]["momentum"] = 0.9
                optimizer.param_groups[0]["dampening"] = 0.3
            optimizer.zero_grad()
            # the second parameter moves for the first time when there is dampening
            sum((each * each).sum() for each in params[: 1 + (step > 3)]).backward()
            optimizer.step()
        found.append([each.detach().numpy() for each in params])
    for their, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-5)


@pytest.mark.parametrize(("name", "how"), KINDS, ids=str)
def test_the_state_of_an_unused_optimiser_resets_another(name: str, how: dict) -> None:
    params = start()
    fresh = getattr(optim, name)(params, lr=0.1, **how).state_dict()
    fresh["state"] = {}  # as PyTorch saves it
    others = [nn.Parameter(each.detach().clone()) for each in params]
    used = getattr(optim, name)(others, lr=0.1, **how)
    advance(others, used, 2)
    used.load_state_dict(fresh)
    for one, other in zip(params, others, strict=True):
        other.assign(one.detach()).realize()
    advance(params, getattr(optim, name)(params, lr=0.1, **how), 2)
    advance(others, used, 2)
    for one, other in zip(params, others, strict=True):
        assert one.tolist() == other.tolist()


def test_a_refused_state_changes_nothing() -> None:
    params = start()
    optimizer = optim.SGD(params, lr=0.5, weight_decay=0.25)
    state = optim.SGD(params, lr=0.1, momentum=0.9).state_dict()
    state["state"][1]["momentum_buffer"] = Tensor.zeros(3)
    with pytest.raises(ShapeError):
        optimizer.load_state_dict(state)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["momentum"], group["weight_decay"]) == (0.5, 0.0, 0.25)


def test_mismatched_states_are_refused() -> None:
    params = start()
    optimizer = optim.SGD(params, momentum=0.9)
    with pytest.raises(WrongKind):
        optimizer.load_state_dict({"exp_avg": 1})
    with pytest.raises(ArgumentError, match="groups"):
        optimizer.load_state_dict(optim.SGD(params[:1], momentum=0.9).state_dict())
    state = optimizer.state_dict()
    state["state"][0]["momentum_buffer"] = Tensor.zeros(3)
    with pytest.raises(ShapeError):
        optimizer.load_state_dict(state)


def test_a_captured_step_follows_rates_and_loaded_state() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)).train()
    optimizer = optim.AdamW(net.parameters(), lr=0.1, fused=True)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    x = Tensor(np.random.default_rng(0).standard_normal((8, 3), dtype=np.float32))

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.realize()

    captured = jit(step)

    def run(function, count: int) -> list[float]:
        found = []
        for _ in range(count):
            found.append(function(x).item())
            schedule.step()
        return found

    run(captured, 3)
    state = [each.state_dict() for each in (net, optimizer, schedule)]
    state[0] = {name: value.clone().realize() for name, value in state[0].items()}
    first = run(captured, 3)
    for each, saved_state in zip((net, optimizer, schedule), state, strict=True):
        each.load_state_dict(saved_state)
    assert run(captured, 3) == first
    for each, saved_state in zip((net, optimizer, schedule), state, strict=True):
        each.load_state_dict(saved_state)
    np.testing.assert_allclose(run(step, 3), first, rtol=1e-5)
