"""L-BFGS: PyTorch's values and state, and minima of test functions."""

import numpy as np
import pytest

from weft import Tensor, dtypes, nn, optim
from weft.base.errors import ArgumentError
from weft.nn.optim import lbfgs

VALUES = [np.array([[-1.2, 1.0]]), np.array([0.5, -0.5, 2.0])]


def closure_of(optimizer, params):
    """Rosenbrock's function of the first parameter, and a quadratic one of the second."""

    def closure():
        optimizer.zero_grad()
        a, b = params[0][0, 0], params[0][0, 1]
        loss = (1.0 - a) ** 2 + 100.0 * (b - a * a) ** 2 + ((params[1] - 1.0) ** 2).sum()
        loss.backward()
        calls.append(1)
        return loss

    calls: list[int] = []
    return closure, calls


def own() -> list[nn.Parameter]:
    return [nn.Parameter(Tensor(value, dtype=dtypes.float64)) for value in VALUES]


@pytest.mark.parametrize("how", [{}, {"history_size": 3, "max_iter": 7, "lr": 0.5}], ids=str)
def test_values_and_states_are_pytorchs_both_ways(how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs, mine = [torch.nn.Parameter(torch.tensor(value)) for value in VALUES], own()
    first, second = torch.optim.LBFGS(theirs, **how), lbfgs.LBFGS(mine, **how)

    def compare(one, other) -> None:
        (expected, theirs_called), (found, called) = (
            closure_of(one, theirs),
            closure_of(other, mine),
        )
        for _ in range(2):
            assert one.step(expected).item() == pytest.approx(other.step(found).item(), rel=1e-6)
        assert len(called) == len(theirs_called)
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-5)

    compare(first, second)
    state = second.state_dict()
    assert state["state"][0].keys() == first.state_dict()["state"][0].keys() - {"al"}
    third = lbfgs.LBFGS(mine)
    third.load_state_dict(first.state_dict())

    def converted(x):
        if isinstance(x, Tensor):
            return torch.tensor(x.numpy())
        return [converted(each) for each in x] if isinstance(x, list) else x

    fourth = torch.optim.LBFGS(theirs)
    fourth.load_state_dict({
        "state": {0: {name: converted(value) for name, value in state["state"][0].items()}},
        "param_groups": state["param_groups"],
    })  # fmt: skip
    compare(fourth, third)


def test_the_minimum_is_found_along_searched_directions() -> None:
    params = own()
    optimizer = optim.LBFGS(params, line_search_fn="strong_wolfe", max_iter=60)
    closure, calls = closure_of(optimizer, params)
    first = optimizer.step(closure).item()
    assert first == pytest.approx(24.2 + 0.25 + 2.25 + 1.0)
    for each in params:
        np.testing.assert_allclose(each.numpy(), np.ones(each.shape), rtol=1e-4)
    assert len(calls) <= 75
    before = len(calls)
    optimizer.step(closure)
    assert len(calls) - before < 10


def test_narrow_parameters_and_parameters_without_gradients() -> None:
    w, other = Tensor([1.0, -2.0], dtype=dtypes.bfloat16), Tensor([5.0])
    optimizer = optim.LBFGS([w, other])

    def closure():
        optimizer.zero_grad()
        return ((w - 3.0) * (w - 3.0)).sum().backward()

    optimizer.step(closure)
    assert w.dtype is dtypes.bfloat16 and w.tolist() == [3.0, 3.0] and other.tolist() == [5.0]


def test_a_loaded_state_goes_on_to_the_bit() -> None:
    params = own()
    first = optim.LBFGS(params, max_iter=4)
    first.step(closure_of(first, params)[0])
    others = [nn.Parameter(each.detach().clone()) for each in params]
    second = optim.LBFGS(others)
    second.load_state_dict(first.state_dict())
    for optimizer, given in ((first, params), (second, others)):
        optimizer.step(closure_of(optimizer, given)[0])
    assert [each.tolist() for each in params] == [each.tolist() for each in others]
    second.load_state_dict(optim.LBFGS(params, lr=0.25).state_dict())
    assert second.direction is None and second.lr.item() == 0.25


@pytest.mark.parametrize("wrong", [
    lambda p: optim.LBFGS([{"params": p[:1]}, {"params": p[1:]}]),
    lambda p: optim.LBFGS(p).step(), lambda p: optim.LBFGS(p, line_search_fn="armijo"),
    lambda p: optim.LBFGS(p[:1]).add_param_group({"params": p[1:]}),
    lambda p: optim.LBFGS(p).schedule_step(), lambda p: optim.LBFGS(p, max_iter=0),
])  # fmt: skip
def test_invalid_arguments(wrong) -> None:
    with pytest.raises(ArgumentError):
        wrong(own())
