"""All schedules beside PyTorch's, value by value over 50 steps: rates, states, chains."""

import math

import pytest

from weft import Tensor, optim
from weft.base.errors import ArgumentError
from weft.nn.optim import combined_schedules, cyclic_schedules, schedules

MAKES = [
    lambda s, o: s.StepLR(o, 7, 0.3), lambda s, o: s.MultiStepLR(o, [3, 3, 20], 0.5),
    lambda s, o: s.ExponentialLR(o, 0.9), lambda s, o: s.LinearLR(o, 0.25, 0.75, 20),
    lambda s, o: s.ConstantLR(o, 0.2, 13), lambda s, o: s.PolynomialLR(o, 30, 2.0),
    lambda s, o: s.CosineAnnealingLR(o, 15, 0.01),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 5, 2, 0.01),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 7),
    lambda s, o: s.LambdaLR(o, [lambda n: 0.9**n, lambda n: 1 / (n + 1)]),
    lambda s, o: s.MultiplicativeLR(o, lambda n: 0.9 if n % 3 else 1.1),
    lambda s, o: s.OneCycleLR(o, [0.5, 0.7], 51, cycle_momentum=False),
    lambda s, o: s.OneCycleLR(o, 0.5, epochs=6, steps_per_epoch=9, anneal_strategy="linear",
                              three_phase=True, cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.1, [0.5, 0.9], 4, 7, cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.1, 0.5, 5, mode="triangular2", cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.1, 0.5, 5, mode="exp_range", gamma=0.97, cycle_momentum=False),
    lambda s, o: s.CyclicLR(o, 0.1, 0.5, 5, scale_fn=lambda n: 1 / n, cycle_momentum=False),
    lambda s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 5), s.ExponentialLR(o, 0.9),
                                    s.CosineAnnealingLR(o, 10)], [8, 30]),
    lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 9), s.ExponentialLR(o, 0.9)]),
    lambda s, o: s.ChainedScheduler([s.StepLR(o, 4), s.CosineAnnealingLR(o, 10, 0.02)], o),
    lambda s, o: s.ChainedScheduler([s.LinearLR(o, 0.5, 1.0, 6), s.MultiStepLR(o, [7, 9]),
                                     s.MultiplicativeLR(o, lambda n: 0.99)]),
]  # fmt: skip


def of_two_groups(kind, parameter):
    groups = [{"params": [parameter(1.0)]}, {"params": [parameter(2.0)], "lr": 0.7}]
    return kind(groups, lr=0.5)


def sgd() -> optim.SGD:
    return of_two_groups(optim.SGD, lambda x: Tensor([x]))


@pytest.mark.parametrize("number", range(len(MAKES)))
def test_rates_and_states_are_pytorchs(number: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the rates are")
    make = MAKES[number]

    def theirs():
        optimizer = of_two_groups(torch.optim.SGD, lambda x: torch.nn.Parameter(torch.tensor([x])))
        optimizer.step()
        return make(torch.optim.lr_scheduler, optimizer)

    expected, found = theirs(), make(optim.lr_scheduler, sgd())
    half = None
    for step in range(51):
        assert found.get_last_lr() == pytest.approx(expected.get_last_lr(), rel=1e-6, abs=1e-9)
        if step == 25:
            half = make(optim.lr_scheduler, sgd())
            half.load_state_dict(expected.state_dict())
        if step == 50:
            break
        for schedule in (found, expected, *([half] if half else [])):
            schedule.step()
    assert half.get_last_lr() == pytest.approx(expected.get_last_lr(), rel=1e-6, abs=1e-9)
    again = make(optim.lr_scheduler, sgd())
    again.load_state_dict(found.state_dict())
    assert again.get_last_lr() == found.get_last_lr()
    rates = [group["lr"] for group in again.optimizer.param_groups]
    assert rates == pytest.approx(found.get_last_lr(), rel=1e-6)


def test_a_schedule_goes_on_behind_its_last_step() -> None:
    optimizer = sgd()
    first = schedules.ExponentialLR(optimizer, 0.5)
    for _ in range(3):
        first.step()
    second = schedules.ExponentialLR(optimizer, 0.5, last_epoch=3)
    assert second.last_epoch == 4 and second.get_last_lr()[0] == 0.5**5
    second.step(2)
    assert second.get_last_lr()[0] == 0.5**3
    with pytest.raises(ArgumentError, match="first rates"):
        schedules.ExponentialLR(sgd(), 0.5, last_epoch=3)


def test_a_schedule_of_pytorchs_kind() -> None:
    class Inverse(optim.lr_scheduler.LRScheduler):
        def get_lr(self) -> list[float]:
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    schedule = Inverse(sgd())
    schedule.step()
    assert schedule.get_last_lr() == pytest.approx([0.25, 0.35])


def test_a_cycle_of_few_steps() -> None:
    schedule = cyclic_schedules.CyclicLR(sgd(), 0.0, 1.0, 1)
    assert [schedule.rate(step) for step in range(4)] == [0.0, 1.0, 0.0, 1.0]
    chain = combined_schedules.ChainedScheduler([schedule, schedules.StepLR(schedule.optimizer, 1)])
    assert [chain.rate(step) for step in (3, 1, 0)] == pytest.approx([0.1, 0.1, 0.0])
    assert math.isclose(chain.schedulers[1].following(1.0, 1), 0.1)


@pytest.mark.parametrize("make", [
    lambda o: optim.CyclicLR(o, 0.1, 0.5, cycle_momentum=True),
    lambda o: optim.OneCycleLR(o, 0.5, 10, cycle_momentum=True),
    lambda o: optim.CyclicLR(o, 0.1, [0.5]), lambda o: optim.CyclicLR(o, 0.1, 0.5, 0),
    lambda o: optim.ChainedScheduler([]), lambda o: optim.ChainedScheduler(3),
    lambda o: optim.ChainedScheduler([optim.StepLR(o, 1), optim.StepLR(sgd(), 1)]),
    lambda o: optim.MultiplicativeLR(o, [abs]), lambda o: optim.MultiplicativeLR(o, 0.5),
])  # fmt: skip
def test_schedules_that_are_none(make) -> None:
    with pytest.raises(ArgumentError):
        make(sgd())
