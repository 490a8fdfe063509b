"""A rate that falls on plateaus, against counting by hand and against PyTorch."""

import random

import pytest

from weft import Tensor
from weft.base.errors import ArgumentError, WrongKind
from weft.nn import optim


def sgd(rate: float = 0.5) -> optim.SGD:
    return optim.SGD([Tensor([1.0], requires_grad=True)], rate)


def test_it_falls_behind_the_patience_and_stops_at_the_least() -> None:
    optimiser = sgd()
    schedule = optim.ReduceLROnPlateau(optimiser, factor=0.5, patience=1, min_lr=0.2)
    seen = []
    for measure in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9):
        schedule.step(measure)
        seen += schedule.get_last_lr()
    assert seen == [0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2]
    assert optimiser.lr.item() == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(6))
def test_every_rate_is_pytorchs(seed: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the rates are")
    chance = random.Random(seed)
    how = {"mode": "min" if seed % 2 else "max", "factor": 0.5, "patience": seed % 3,
           "cooldown": seed % 4, "threshold": 0.05, "min_lr": 0.01}  # fmt: skip
    theirs = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 0.5)
    known, ours = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **how), sgd()
    schedule = optim.ReduceLROnPlateau(ours, **how)
    for _ in range(40):
        measure = chance.choice([chance.random(), 0.5, -0.5])
        known.step(measure)
        schedule.step(Tensor(measure))
        assert schedule.get_last_lr()[0] == pytest.approx(theirs.param_groups[0]["lr"])
    assert ours.lr.item() == pytest.approx(schedule.get_last_lr()[0])


def test_a_saved_one_goes_on() -> None:
    first, later = optim.ReduceLROnPlateau(sgd(), patience=1), sgd()
    for measure in (1.0, 1.0, 1.0, 1.0):
        first.step(measure)
    second = optim.ReduceLROnPlateau(later, patience=1)
    second.load_state_dict(first.state_dict())
    assert later.lr.item() == pytest.approx(0.05)
    first.step(1.0)
    second.step(1.0)
    assert first.state_dict() == second.state_dict()


@pytest.mark.parametrize("library", ["weft", "torch"])
def test_options_are_restored_with_the_state(library: str) -> None:
    how = {"mode": "max", "factor": 0.5, "patience": 1, "cooldown": 1, "min_lr": 0.1}
    if library == "torch":
        torch = pytest.importorskip("torch", reason="it is PyTorch's state")
        theirs = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        first = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **how)
    else:
        first = optim.ReduceLROnPlateau(sgd(), **how)
    for measure in (1.0, 0.5, 0.5):
        first.step(measure)
    second = optim.ReduceLROnPlateau(sgd())
    second.load_state_dict(first.state_dict())
    for measure in (0.5, 0.5, 2.0, 0.5, 0.5, 0.5, 0.5):
        assert second.get_last_lr() == pytest.approx(first.get_last_lr())
        first.step(measure)
        second.step(measure)


def test_absolute_improvements_are_refused() -> None:
    schedule = optim.ReduceLROnPlateau(sgd())
    with pytest.raises(ArgumentError, match="part of the best"):
        schedule.load_state_dict({**schedule.state_dict(), "threshold_mode": "abs"})


def test_invalid_arguments() -> None:
    for wrong in ({"mode": "least"}, {"factor": 1.0}):
        with pytest.raises(ArgumentError):
            optim.ReduceLROnPlateau(sgd(), **wrong)
    for wrong in ({"factor": "a"}, {"patience": 1.5}, {"threshold": None}, {"min_lr": [0.0]}):
        with pytest.raises(WrongKind):
            optim.ReduceLROnPlateau(sgd(), **wrong)
    with pytest.raises(WrongKind, match="the measure"):
        optim.ReduceLROnPlateau(sgd()).step([1.0])
