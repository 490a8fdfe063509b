"""Gradient descent compared with PyTorch's, and forms that PyTorch lacks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.errors import ArgumentError
from weft.nn.optim import SGD

START, TARGET = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[0.0, 1.0], [2.0, 2.0]])


def ours(steps: int, replayed: bool = False, **how) -> np.ndarray:
    value, target = Tensor(START.copy(), requires_grad=True), Tensor(TARGET).realize()
    optimiser = SGD([value], **how)

    def step() -> None:
        with Tensor.train():
            optimiser.zero_grad()
            ((value - target) ** 4).sum().backward()
            optimiser.step()

    act = jit(step) if replayed else step
    for _ in range(steps):
        act()
    return value.numpy()


@pytest.mark.parametrize(
    ("momentum", "dampening", "maximize"),
    list(itertools.product((0.0, 0.9), (0.0, 0.3), (False, True))),
)
@pytest.mark.parametrize("replayed", [False, True])
def test_twenty_steps_are_pytorchs(
    momentum: float, dampening: float, maximize: bool, replayed: bool
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    how = {"lr": 0.003, "momentum": momentum, "dampening": dampening, "maximize": maximize}
    value = torch.tensor(START, requires_grad=True)
    theirs = torch.optim.SGD([value], weight_decay=0.1, **how)
    steps = 6 if maximize else 20
    for _ in range(steps):
        theirs.zero_grad()
        ((value - torch.tensor(TARGET)) ** 4).sum().backward()
        theirs.step()
    got = ours(steps, replayed, weight_decay=0.1, **how)
    np.testing.assert_allclose(got, value.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("nesterov", [False, True])
def test_the_rate_of_its_time_stays_in_the_classic_velocity(nesterov: bool) -> None:
    value = Tensor([1.0], requires_grad=True)
    optimiser = SGD([value], lr=0.5, momentum=0.5, nesterov=nesterov, classic=True)
    expected, velocity = 1.0, 0.0
    for rate in (0.5, 0.25):
        optimiser.lr = rate
        with Tensor.train():
            optimiser.zero_grad()
            value.sum().backward()
            optimiser.step()
        velocity = 0.5 * velocity + rate
        expected -= rate + 0.5 * velocity if nesterov else velocity
    assert value.tolist() == [expected]


def test_a_parameter_moves_for_the_first_time_when_it_first_has_a_gradient() -> None:
    early, late = (Tensor([1.0], requires_grad=True) for _ in range(2))
    optimiser = SGD([early, late], lr=1.0, momentum=0.5, dampening=0.5)
    with Tensor.train():
        for used in ((early,), (early, late)):
            optimiser.zero_grad()
            sum((each.sum() for each in used), Tensor(0.0)).backward()
            optimiser.step()
    assert (early.tolist(), late.tolist()) == ([1.0 - 1.0 - 1.0], [0.0])


def test_dampening_and_looking_ahead_exclude_each_other() -> None:
    with pytest.raises(ArgumentError, match="looks ahead"):
        SGD([Tensor([1.0])], momentum=0.9, nesterov=True, dampening=0.1)


def test_arguments_in_another_order_are_noticed() -> None:
    with pytest.raises(ArgumentError, match="looks ahead") as caught:
        SGD([Tensor([1.0])], 0.1, 0.9, 0, 1e-4)
    assert "by its name" in caught.value.try_
