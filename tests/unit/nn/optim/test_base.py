"""Optimisers against the published recurrences, written out in NumPy float64."""

from collections.abc import Callable

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, GradientError
from weft.nn import Dropout, optim
from weft.nn.optim.adam import Adam
from weft.nn.optim.sgd import SGD

TARGET = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]])


def gradient(value: np.ndarray) -> np.ndarray:
    """Of the loss that `train` uses, sum((value - target)^4) / 4."""
    return (value - TARGET) ** 3


def train(make: Callable[[list[Tensor]], optim.Optimizer], steps: int, dtype=dtypes.float64):
    value = Tensor(np.zeros((2, 3)), dtype=dtype, requires_grad=True)
    optimiser = make([value])
    target = Tensor(TARGET, dtype=dtype)
    with Tensor.train():
        for _ in range(steps):
            optimiser.zero_grad()
            distance = value - target
            ((distance * distance * distance * distance).sum() * 0.25).backward()
            optimiser.step()
    return value


def sgd(steps: int, rate: float, momentum: float, decay: float, nesterov: bool) -> np.ndarray:
    value, velocity = np.zeros((2, 3)), np.zeros((2, 3))
    for _ in range(steps):
        g = gradient(value) + decay * value
        velocity = momentum * velocity + g
        value = value - rate * (g + momentum * velocity if nesterov else velocity)
    return value


def adam(steps: int, rate: float, decay: float, decoupled: bool) -> np.ndarray:
    value, mean, square = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
    for t in range(1, steps + 1):
        g = gradient(value)
        if not decoupled:
            g = g + decay * value
        mean = 0.9 * mean + 0.1 * g
        square = 0.999 * square + 0.001 * g * g
        change = mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
        value = value - rate * (change + (decay * value if decoupled else 0))
    return value


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize(
    ("momentum", "decay", "nesterov"),
    [(0.0, 0.0, False), (0.9, 0.0, False), (0.9, 0.1, True), (0.0, 0.1, False)],
)
def test_sgd(steps: int, momentum: float, decay: float, nesterov: bool) -> None:
    value = train(
        lambda p: SGD(p, lr=0.01, momentum=momentum, weight_decay=decay, nesterov=nesterov),
        steps,
    )
    expected = sgd(steps, 0.01, momentum, decay, nesterov)
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "decoupled"), [(Adam, False), (optim.AdamW, True)])
def test_adam(steps: int, decay: float, kind: type[Adam], decoupled: bool) -> None:
    value = train(lambda p: kind(p, lr=0.1, weight_decay=decay), steps)
    expected = adam(steps, 0.1, decay, decoupled)
    np.testing.assert_allclose(value.numpy(), expected, rtol=1e-8, atol=1e-12)


def test_bias_correction_keeps_its_digits_in_float32() -> None:
    value = train(lambda p: Adam(p, lr=1.0), 1, dtypes.float32)
    # The first step is exactly the sign of the gradient, to float32's last digits.
    np.testing.assert_allclose(value.numpy(), -np.sign(gradient(np.zeros((2, 3)))), rtol=1e-6)


def test_state_of_half_parameters_is_wide_and_the_parameter_stays_half() -> None:
    value = Tensor([1.0, 2.0], dtype=dtypes.half, requires_grad=True)
    optimiser = Adam([value], lr=0.25)
    with Tensor.train():
        (value * 3).sum().backward()
        optimiser.step()
    assert optimiser.mean[0].dtype is dtypes.float32
    assert value.dtype is dtypes.half
    assert value.tolist() == [0.75, 1.75]


def test_the_learning_rate_can_be_set() -> None:
    value = Tensor([1.0], requires_grad=True)
    optimiser = SGD([value], lr=1.0)
    optimiser.lr = 0.5
    with Tensor.train():
        (value * 2).sum().backward()
        optimiser.step()
    assert value.tolist() == [0.0]
    assert optimiser.lr.tolist() == [0.5]


def test_one_tensor_given_twice_is_moved_once() -> None:
    value = Tensor([1.0], requires_grad=True)
    optimiser = SGD([value, value], lr=1.0)
    with Tensor.train():
        value.sum().backward()
        optimiser.step()
    assert value.tolist() == [0.0]


def test_tensors_without_gradient_are_realised_but_not_moved() -> None:
    value = Tensor([1.0], requires_grad=True)
    count = Tensor.zeros(1, requires_grad=False).contiguous()
    optimiser = SGD([value, count], lr=1.0)
    with Tensor.train():
        count.assign(count + 1)
        value.sum().backward()
        optimiser.step()
    assert optimiser.buffers[0] is count
    assert count.uop.base.is_realized
    assert count.tolist() == [1.0]


def test_a_parameter_that_the_loss_does_not_use_is_left_alone() -> None:
    used, unused = (Tensor([1.0], requires_grad=True) for _ in range(2))
    optimiser = SGD([used, unused], lr=1.0)
    with Tensor.train():
        used.sum().backward()
        optimiser.step()
    assert (used.tolist(), unused.tolist()) == ([0.0], [1.0])


def test_scalars_keep_their_shape() -> None:
    value = Tensor(2.0, requires_grad=True)
    optimiser = Adam([value], lr=0.5)
    with Tensor.train():
        (value * value).backward()
        optimiser.step()
    assert value.shape == ()
    assert value.item() == pytest.approx(1.5)


def test_a_step_needs_no_mode_where_nothing_depends_on_it() -> None:
    value = Tensor([1.0], requires_grad=True)
    optimiser = SGD([value], lr=0.5)
    value.sum().backward()
    optimiser.step()
    assert value.tolist() == [0.5]


def test_a_step_outside_training_is_refused_where_a_layer_depends_on_it() -> None:
    value, layer = Tensor([1.0], requires_grad=True), Dropout(0.5)
    optimiser = SGD([value])
    layer(value).sum().backward()
    with pytest.raises(GradientError) as caught:
        optimiser.step()
    assert "Tensor.train()" in caught.value.try_ and "Dropout" in caught.value.because


def test_a_step_without_backward_is_refused() -> None:
    optimiser = SGD([Tensor([1.0], requires_grad=True)])
    with Tensor.train(), pytest.raises(GradientError) as caught:
        optimiser.step()
    assert "backward" in caught.value.try_


def test_untrainable_parameters_are_refused() -> None:
    with pytest.raises(ArgumentError):
        SGD([])
    with pytest.raises(ArgumentError):
        SGD([Tensor([1.0], requires_grad=False)])
    with pytest.raises(DTypeError):
        SGD([Tensor([1])])
    with pytest.raises(ArgumentError):
        SGD([Tensor([1.0])], nesterov=True)
    with pytest.raises(ArgumentError):
        Adam([Tensor([1.0])], betas=(0.9, 1.0))


@pytest.mark.parametrize(
    ("params", "what"),
    [
        (lambda: Tensor([[1.0], [2.0]]), "one tensor"),
        (lambda: [{"params": [1.0], "lr": 0.1}], "a float"),
        (lambda: {"weight": Tensor([1.0])}, "a dict"),
        (lambda: [1.0], "a float"),
    ],
)
def test_invalid_parameter_lists_are_refused(params, what: str) -> None:
    with pytest.raises(ArgumentError, match="a list of tensors") as caught:
        SGD(params())
    assert what in caught.value.asked and caught.value.try_


def test_rates_below_zero_are_refused() -> None:
    with pytest.raises(ArgumentError, match="learning rate"):
        SGD([Tensor([1.0])], lr=-0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda params: optim.SGD(params, 0.1, momentum=0.9, dampening=0.5),
        lambda params: optim.Adam(params, 0.1),
        lambda params: optim.LARS(params, 0.1),
        lambda params: optim.Muon(params, 0.1),
    ],
    ids=["SGD", "Adam", "LARS", "Muon"],
)
def test_parameters_on_several_devices_move_where_they_lie(make):
    def moved(*devices):
        params = [Tensor([[4.0, 1.0], [-2.0, 3.0]], device=name) for name in devices]
        optimizer = make(params)
        with Tensor.train():
            for _ in range(2):
                optimizer.zero_grad()
                for each in params:
                    (each * each).sum().backward()
                optim.clip_grad_norm_(params, 5.0)
                optimizer.step()
        assert [each.device for each in params] == list(devices)
        return [each.tolist() for each in params]

    assert moved("REF", "REF:1", "REF:vector") == moved("REF", "REF", "REF")


@pytest.mark.parametrize("option", ["momentum", "weight_decay", "dampening"])
@pytest.mark.parametrize("value", [None, "0.9", [0.9], np.array([0.9, 0.9]), 10**400])
@pytest.mark.parametrize("in_group", [False, True])
def test_options_are_numbers(option, value, in_group):
    w = Tensor([1.0])
    with pytest.raises(ArgumentError, match=option):
        if in_group:
            optim.SGD([{"params": [w], option: value}], lr=0.1)
        else:
            optim.SGD([w], lr=0.1, **{option: value})


def test_options_become_numbers_of_python():
    (group,) = optim.SGD([Tensor([1.0])], momentum=np.float32(0.5)).param_groups
    assert type(group["momentum"]) is float and group["momentum"] == 0.5
