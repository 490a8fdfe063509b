"""Schedules against PyTorch's formulas, written out, and against PyTorch where it is installed."""

import math

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, WrongKind
from weft.nn import optim


def sgd(rate: float = 0.5) -> optim.SGD:
    return optim.SGD([Tensor([1.0], requires_grad=True)], rate)


def rates(make, steps: int) -> list[float]:
    optimiser = sgd()
    schedule = make(optimiser)
    found = schedule.get_last_lr()
    for _ in range(steps):
        schedule.step()
        assert optimiser.lr.item() == pytest.approx(schedule.get_last_lr()[0], rel=1e-6)
        found += schedule.get_last_lr()
    return found


def test_steps_and_milestones():
    assert rates(lambda o: optim.StepLR(o, 2, 0.5), 4) == [0.5, 0.5, 0.25, 0.25, 0.125]
    assert rates(lambda o: optim.MultiStepLR(o, [3, 1], 0.5), 3) == [0.5, 0.25, 0.25, 0.125]
    assert rates(lambda o: optim.ExponentialLR(o, 0.5), 2) == [0.5, 0.25, 0.125]
    assert rates(lambda o: optim.LambdaLR(o, lambda n: 1 / (n + 1)), 1) == [0.5, 0.25]


def test_warmup_then_cosine():
    def make(o):
        warmup = optim.LinearLR(o, 0.5, 1.0, 2)
        return optim.SequentialLR(o, [warmup, optim.CosineAnnealingLR(o, 4)], [2])

    wave = [0.25 * (1 + math.cos(math.pi * n / 4)) for n in range(3)]
    assert rates(make, 4) == pytest.approx([0.25, 0.375, *wave])


def test_a_cycle_with_its_peak_at_the_first_step():
    found = rates(lambda o: optim.OneCycleLR(o, 0.1, 10, pct_start=0.1), 9)
    assert found[0] == 0.1 and found == sorted(found, reverse=True)


@pytest.mark.parametrize("make", [
    lambda o: optim.StepLR(o, 0), lambda o: optim.OneCycleLR(o, 1.0, 10, anneal_strategy="up"),
    lambda o: optim.SequentialLR(o, [optim.StepLR(o, 1)], [1]),
    lambda o: optim.SequentialLR(o, [optim.StepLR(sgd(), 1)], []),
    lambda o: optim.StepLR(optim.OptimizerGroup(o), 3),
    lambda o: rates(lambda p: optim.OneCycleLR(p, 1.0, 3), 3),
    lambda o: optim.CosineAnnealingWarmRestarts(o, 2, eta_min=(0.1,)),
])  # fmt: skip
def test_schedules_that_are_none(make):
    with pytest.raises(ArgumentError):
        make(sgd())


CASES = {
    "StepLR": {"step_size": 3, "gamma": 0.3}, "MultiStepLR": {"milestones": [2, 5]},
    "ExponentialLR": {"gamma": 0.9}, "LinearLR": {"start_factor": 0.2, "total_iters": 4},
    "CosineAnnealingLR": {"T_max": 6, "eta_min": 0.1},
    "ConstantLR": {"factor": 0.25, "total_iters": 3},
    "PolynomialLR": {"total_iters": 7, "power": 2.0},
    "CosineAnnealingWarmRestarts": {"T_0": 2, "T_mult": 2, "eta_min": 0.1},
    "CosineAnnealingWarmRestarts, even": {"T_0": 3},
    "OneCycleLR": {"max_lr": 2.0, "total_steps": 12},
    "OneCycleLR, straight": {"max_lr": 2.0, "total_steps": 12, "anneal_strategy": "linear",
                             "pct_start": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_rate_is_pytorchs(case):
    torch = pytest.importorskip("torch", reason="PyTorch says what the rates are")
    theirs = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.5)
    name, arguments = case.partition(",")[0], CASES[case]
    other = getattr(torch.optim.lr_scheduler, name)(theirs, **arguments)
    expected = [theirs.param_groups[0]["lr"]]
    for _ in range(11):
        theirs.step()
        other.step()
        expected.append(theirs.param_groups[0]["lr"])
    assert rates(lambda o: getattr(optim, name)(o, **arguments), 11) == pytest.approx(expected)


def both(o):
    warmup = optim.LinearLR(o, 0.5, total_iters=2)
    return optim.SequentialLR(o, [warmup, optim.ExponentialLR(o, 0.5)], [2])


@pytest.mark.parametrize("make", [lambda o: optim.ExponentialLR(o, 0.5), both])
def test_a_saved_schedule_goes_on(make):
    first = make(sgd(1.0))
    for _ in range(3):
        first.step()
    later = sgd(first.get_last_lr()[0])  # an optimiser that was loaded has the rate of its time
    second = make(later)
    second.load_state_dict(first.state_dict())
    assert later.lr.item() == pytest.approx(first.get_last_lr()[0])
    first.step()
    second.step()
    assert second.get_last_lr() == pytest.approx(first.get_last_lr())


KINDS = [
    ("StepLR", (2, 0.5), (3,)), ("MultiStepLR", ([1, 3], 0.5), ([2],)),
    ("ExponentialLR", (0.5,), (0.9,)), ("CosineAnnealingLR", (5, 0.1), (9,)),
    ("CosineAnnealingWarmRestarts", (2, 2), (3,)), ("LinearLR", (0.5, 1.0, 3), ()),
    ("ConstantLR", (0.5, 3), ()), ("PolynomialLR", (4, 2.0), (9,)),
]  # fmt: skip


@pytest.mark.parametrize("library", ["weft", "torch"])
@pytest.mark.parametrize(("name", "how", "others"), KINDS, ids=str)
def test_options_are_restored_with_the_state(library, name, how, others):
    if library == "torch":
        torch = pytest.importorskip("torch", reason="it is PyTorch's state")
        theirs = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        first = getattr(torch.optim.lr_scheduler, name)(theirs, *how)
        theirs.step()
    else:
        first = getattr(optim, name)(sgd(1.0), *how)
    first.step()
    second = getattr(optim, name)(sgd(0.7), *others)
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        assert second.get_last_lr() == pytest.approx(first.get_last_lr())
        first.step()
        second.step()


def test_a_sequence_of_pytorchs_is_restored():
    torch = pytest.importorskip("torch", reason="it is PyTorch's state")
    theirs = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    kinds = torch.optim.lr_scheduler
    inner = [kinds.LinearLR(theirs, 0.5, total_iters=2), kinds.ExponentialLR(theirs, 0.5)]
    first = kinds.SequentialLR(theirs, inner, [2])
    theirs.step()
    ours = sgd(1.0)
    second = optim.SequentialLR(ours, [optim.LinearLR(ours), optim.ExponentialLR(ours, 0.9)], [4])
    second.load_state_dict(first.state_dict())
    for _ in range(4):
        assert second.get_last_lr() == pytest.approx(first.get_last_lr())
        first.step()
        second.step()
    with pytest.raises(ArgumentError, match="another number of schedules"):
        second.load_state_dict({**second.state_dict(), "_schedulers": [{}]})


def test_functions_are_not_part_of_the_state():
    first, second = (optim.LambdaLR(sgd(1.0), lambda step: 0.5**step) for _ in range(2))
    first.step()
    assert "lr_lambdas" not in first.state_dict()
    second.load_state_dict(first.state_dict())
    assert second.get_last_lr() == [0.5]


@pytest.mark.parametrize("state", [None, {}, [1.0], {"base_lrs": [1.0]}])
def test_invalid_states_are_refused(state):
    for schedule in (optim.StepLR(sgd(1.0), 2), optim.ReduceLROnPlateau(sgd(1.0)), both(sgd(1.0))):
        with pytest.raises(WrongKind, match="is a dict that has"):
            schedule.load_state_dict(state)
