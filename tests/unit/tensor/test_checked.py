"""Checked mode: the line that leaves an axis, and the line that makes the first NaN or infinity."""

import inspect
import math

import numpy as np
import pytest

from weft import Tensor, jit, nn, settings
from weft.base.errors import IndexingError, NonFiniteError

INF = math.inf


@pytest.fixture(autouse=True)
def mode():
    with settings.override(CHECK=1):
        yield


def line():
    return inspect.currentframe().f_back.f_lineno


def fault(read):
    with pytest.raises(NonFiniteError) as raised:
        read()
    error = raised.value
    assert isinstance(error, FloatingPointError)
    assert error.where[0] == __file__ and f"{__file__}:{error.where[1]}" in error.asked
    return error


def test_the_first_operation_and_its_line():
    x = Tensor([1.0, 0.0, 4.0])
    y, here = x.log(), line()
    z = (y * 0.0).exp().sum()
    error = fault(z.item)
    assert (error.operation, error.where[1]) == ("log", here)
    assert error.summary == "log makes an infinity"
    assert error.because == "1 of 3 elements are infinite, and no input is"


def test_a_nan_that_comes_of_infinities_is_made():
    x = Tensor([INF, 1.0])
    y = x * 2  # the infinity was there
    assert y.tolist() == [INF, 2.0]
    z, here = y - x, line()
    error = fault((z + 1).tolist)
    assert (error.operation, error.where[1]) == ("__sub__", here)
    assert error.summary == "__sub__ makes a NaN"


def test_a_nan_that_was_there_is_not_made():
    x = Tensor([math.nan, INF, 1.0])
    assert (x * 2).sqrt().tolist()[1:] == [INF, pytest.approx(math.sqrt(2.0))]


def test_intended_infinities_are_no_error():
    mask, x = Tensor([[True, False], [False, False]]), Tensor([[1.0, 2.0], [3.0, 4.0]])
    filled = mask.where(x, -INF)
    assert filled.tolist() == [[1.0, -INF], [-INF, -INF]]
    assert x.masked_fill(mask, INF).tolist() == [[INF, 2.0], [3.0, 4.0]]
    assert (x + INF).sum().item() == INF
    assert Tensor.full((2,), -INF).exp().tolist() == [0.0, 0.0]
    assert Tensor.full((2,), INF).exp().tolist() == [INF, INF]
    assert (filled[0].softmax() * 2).tolist() == [2.0, 0.0]
    # what comes of it is one: the whole row is masked
    error = fault((mask.where(x, -INF) - mask.where(x, -INF)).sum().item)
    assert error.operation == "__sub__"


def test_intermediates_of_a_method_are_not_checked():
    x = Tensor([-200.0, 200.0])
    assert x.sigmoid().tolist() == [0.0, 1.0]
    assert x.softmax().tolist() == [0.0, 1.0]
    assert Tensor([0.0, 1.0]).binary_crossentropy(Tensor([0.0, 1.0])).item() == 0.0


def test_gradients_name_the_operation_that_they_derive():
    x = Tensor([0.0, 4.0], requires_grad=True)
    y, here = x.sqrt(), line()
    y.sum().backward()
    assert y.tolist() == [0.0, 2.0]
    error = fault(x.grad.tolist)
    assert (error.operation, error.where[1]) == ("sqrt", here)
    assert error.summary == "the gradient of sqrt makes an infinity"


def test_casts_overflow():
    error = fault(Tensor([1e30]).half().tolist)
    assert error.summary == "half makes an infinity"


def test_tensors_stay_usable():
    x = Tensor([1.0, 0.0])
    y = 1 / x
    assert fault(y.tolist).operation == "__rtruediv__"
    assert y.tolist() == [1.0, INF]  # each fault is raised once
    assert (x + 1).tolist() == [2.0, 1.0]


def test_writes_are_carried_out_once():
    x = Tensor([1.0, 2.0]).realize()
    y = x * 10
    x.assign(x + 1)
    x[0] = 7.0
    z = x * 10
    y.realize(z)
    assert (x.tolist(), y.tolist(), z.tolist()) == ([7.0, 3.0], [10.0, 20.0], [70.0, 30.0])
    x.assign(x / 0)
    assert fault(x.tolist).operation == "__truediv__"


def test_a_training_step():
    layer = nn.Linear(3, 2)
    optimiser = nn.optim.SGD(nn.state.get_parameters(layer), lr=0.1)

    @jit
    def step(x, y):
        with Tensor.train():
            optimiser.zero_grad()
            loss = layer(x).cross_entropy(y)
            loss.backward()
            optimiser.step()
            return loss.realize()

    x, y = Tensor.rand(4, 3), Tensor([0, 1, 1, 0])
    losses = [step(x, y).item() for _ in range(4)]
    assert losses[-1] < losses[0] and step.replays == 0
    with pytest.raises(IndexingError, match="class 2"):
        step(x, y + 1)
    assert fault(lambda: step(x / 0, y)).operation == "__truediv__"


def test_recorded_functions_are_checked():
    @jit
    def picked(x, i):
        return x[i].log()

    x, at = Tensor([1.0, 2.0, 0.0]), [Tensor([n]) for n in (0, 1, 2, 3)]
    with settings.override(CHECK=0):
        for n in (0, 1, 0, 1):
            picked(x, at[n]).realize()
        assert picked.replays == 2
        assert picked(x, at[3].realize()).tolist() == [-INF]
    with pytest.raises(IndexingError, match="index 3 is out of bounds"):
        picked(x, at[3]).realize()
    assert fault(picked(x, at[2]).tolist).operation == "log"
    with settings.override(CHECK=0):
        assert picked(x, at[1]).item() == pytest.approx(math.log(2))
        assert picked.replays == 4


def test_values_too_large_to_be_stored_are_looked_at(monkeypatch):
    monkeypatch.setattr("weft.tensor.checked._MOST_STORED", 4)
    x = Tensor([1.0, 0.0, 3.0])
    wide, here = 1 / x.reshape(3, 1) * Tensor.ones(3, 8), line()
    error = fault(wide.sum().item)
    assert (error.operation, error.where[1]) == ("__rtruediv__", here)


def test_an_index_out_of_bounds_is_reported_before_its_consequences():
    x, index = Tensor([1.0, 2.0]), Tensor([1]) + 4
    y = 1 / x[index]
    with pytest.raises(IndexingError, match="index 5"):
        y.tolist()


def test_no_names_are_needed():
    with settings.override(TRACEMETA=0):
        y = Tensor([0.0]).log()
    assert fault(y.tolist).operation == "log"


def test_on_every_device(device="REF"):
    x = Tensor([1.0, 0.0], device=device)
    assert fault((1 / x).tolist).operation == "__rtruediv__"


@pytest.mark.parametrize(
    "average",
    [
        lambda: Tensor([1.0]).realize().var(),
        lambda: Tensor([[1.0], [2.0]]).realize().std(1),
        lambda: (Tensor([1.0]).realize() * 2).var_mean()[0],
        lambda: Tensor([[1.0]]).realize().cov(),
        lambda: Tensor.zeros(0).contiguous().mean(),
        lambda: Tensor([1.0, 2.0]).realize().var(correction=2) * 3,
    ],
)
def test_an_average_of_too_few_elements_is_no_number_by_definition(average):
    assert not any(math.isfinite(value) for value in np.ravel(average().tolist()))


def test_an_overflow_in_a_mean_is_reported():
    with pytest.raises(NonFiniteError, match="var makes an infinity"):
        Tensor([1e30, -1e30]).realize().var().item()
