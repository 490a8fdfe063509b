"""Optimisers that count steps: the values and the state of PyTorch's, at every option."""

import numpy as np
import pytest

from weft import Tensor, dtypes, jit, nn, optim
from weft.base.errors import ArgumentError
from weft.nn.optim import counted
from weft.nn.optim.adafactor import Adafactor
from weft.nn.optim.adam_variants import Adamax, NAdam, RAdam
from weft.nn.optim.adaptive_rates import Adadelta, Adagrad, RMSprop
from weft.nn.optim.averaged_sgd import ASGD
from weft.nn.optim.option_checks import check_options
from weft.nn.optim.rprop import Rprop

CASES = [
    (RMSprop, {}),
    (RMSprop,
     {"centered": True, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    (Adagrad,
     {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    (Adagrad, {"maximize": True}),
    (Adadelta, {"rho": 0.5, "weight_decay": 0.1, "maximize": True}),
    (Adamax, {"betas": (0.5, 0.7), "weight_decay": 0.1, "maximize": True}),
    (NAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    (NAdam, {"weight_decay": 0.1, "momentum_decay": 0.1, "maximize": True}),
    (RAdam, {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    (RAdam, {"betas": (0.0, 0.9), "weight_decay": 0.1}),
    (Rprop, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.5), "maximize": True}),
    (ASGD, {"lambd": 0.1, "t0": 2, "weight_decay": 0.1, "maximize": True}),
    (Adafactor, {}),
    (Adafactor,
     {"weight_decay": 0.1, "d": 1.5, "eps": (1e-3, 0.1), "beta2_decay": -0.5, "maximize": True}),
]  # fmt: skip
KINDS = list(dict.fromkeys(kind for kind, _ in CASES))
VALUES = [np.random.default_rng(0).standard_normal(shape) for shape in ((3, 4), (5,), (2, 3, 2))]


def gradients(step: int) -> list[np.ndarray | None]:
    """One for each parameter; at one step a parameter has none."""
    chance = np.random.default_rng(step)
    found = [chance.standard_normal(value.shape) for value in VALUES]
    return [found[0], None if step == 2 else found[1], found[2]]


def advance(params, optimizer, make, steps) -> None:
    for step in steps:
        for parameter, gradient in zip(params, gradients(step), strict=True):
            parameter.grad = None if gradient is None else make(gradient)
        optimizer.step()


def ours(dtype=dtypes.float64) -> list[nn.Parameter]:
    return [nn.Parameter(Tensor(value, dtype=dtype)) for value in VALUES]


def own(gradient) -> Tensor:
    return Tensor(gradient, dtype=dtypes.float64)


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_values_and_states_are_pytorchs_both_ways(kind, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs = [torch.nn.Parameter(torch.tensor(value)) for value in VALUES]
    mine = ours()
    first = getattr(torch.optim, kind.__name__)(theirs, lr=0.02, **how)
    second = kind(mine, lr=0.02, **how)
    advance(theirs, first, torch.tensor, range(5))
    advance(mine, second, own, range(5))

    def compare() -> None:
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-6, atol=1e-7)

    compare()
    # each goes on with the state of the other
    saved = second.state_dict()
    expected = first.state_dict()
    assert saved["state"][0].keys() == expected["state"][0].keys()
    assert saved["param_groups"][0].keys() == expected["param_groups"][0].keys()
    third = kind(mine)
    third.load_state_dict(expected)
    fourth = getattr(torch.optim, kind.__name__)(theirs)
    fourth.load_state_dict({
        "param_groups": saved["param_groups"],
        "state": {
            number: {name: torch.tensor(each.numpy()) for name, each in found.items()}
            for number, found in saved["state"].items()
        },
    })  # fmt: skip
    advance(theirs, fourth, torch.tensor, range(5, 10))
    advance(mine, third, own, range(5, 10))
    compare()


@pytest.mark.parametrize("kind", KINDS)
def test_groups_added_parameters_and_schedules_of_captured_steps(kind) -> None:
    def trained(captured: bool) -> list:
        params = ours()
        optimizer = kind([{"params": params[:1]}, {"params": params[1:2], "lr": 0.5}], lr=0.1)
        one = jit(optimizer.step) if captured else optimizer.step
        advance(params, Steps(one), own, range(2))
        optimizer.add_param_group({"params": params[2:], "lr": 0.2})
        optimizer.param_groups[0]["lr"] = 0.05
        one = jit(optimizer.step) if captured else optimizer.step
        advance(params, Steps(one), own, range(2, 6))
        return [each.tolist() for each in params]

    for one, other in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


class Steps:
    def __init__(self, step) -> None:
        self.step = step


@pytest.mark.parametrize("kind", KINDS)
def test_narrow_parameters_have_wide_state(kind) -> None:
    narrow = [nn.Parameter(Tensor(value, dtype=dtypes.bfloat16)) for value in VALUES]
    wide = [nn.Parameter(each.detach().float()) for each in narrow]
    for params in (narrow, wide):
        optimizer = kind(params, lr=0.02)
        for parameter, gradient in zip(params, gradients(0), strict=True):
            parameter.grad = Tensor(gradient, dtype=dtypes.float32).cast(parameter.dtype)
        optimizer.step()
        states = optimizer.state_dict()["state"].values()
        assert {each.dtype for found in states for each in found.values()} == {dtypes.float32}
    for one, other in zip(narrow, wide, strict=True):
        assert one.dtype is dtypes.bfloat16
        np.testing.assert_allclose(one.float().numpy(), other.numpy(), rtol=2e-2, atol=2e-2)


def test_a_loaded_state_goes_on_to_the_bit() -> None:
    params = ours()
    first = Adafactor(params)
    advance(params, first, own, range(3))
    others = [nn.Parameter(each.detach().clone()) for each in params]
    second = Adafactor(others, lr=0.5)
    second.load_state_dict(first.state_dict())
    assert second.lr.item() == 0.01
    advance(params, first, own, range(3, 5))
    advance(others, second, own, range(3, 5))
    assert [each.tolist() for each in params] == [each.tolist() for each in others]


def test_numbers_of_the_count() -> None:
    assert counted.bias_correction(0.0, Tensor([1.0])) == 1.0
    found = counted.bias_correction(0.999, Tensor([1.0, 2.0])).numpy()
    np.testing.assert_allclose(found, [1e-3, 1 - 0.999**2], rtol=1e-6)
    average = Tensor([1.0])
    assert counted.follow(average, Tensor([3.0]), 0.75) is average
    assert average.tolist() == [1.5]


@pytest.mark.parametrize("make", [
    lambda p: optim.RMSprop(p, alpha=1.5), lambda p: optim.Adagrad(p, lr_decay=-1.0),
    lambda p: optim.Adadelta(p, rho=-0.1), lambda p: optim.Adamax(p, betas=(0.9, 1.0)),
    lambda p: optim.NAdam(p, betas=0.9), lambda p: optim.RAdam(p, eps=-1.0),
    lambda p: optim.Rprop(p, etas=(1.2, 0.5)), lambda p: optim.ASGD(p, weight_decay=-1.0),
    lambda p: optim.Adafactor(p, d=0.5), lambda p: optim.RMSprop(p, lr=-1.0),
    lambda p: optim.Adamax(p, differentiable=True),
    lambda p: check_options("Adam", eps="x"),
])  # fmt: skip
def test_options_that_are_none(make) -> None:
    with pytest.raises(ArgumentError):
        make([Tensor([1.0])])
