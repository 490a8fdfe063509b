"""`torch.cond` in compiled functions and in exported programs."""

import warnings

import numpy as np
import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch
import torch._dynamo

import weft.torch
from weft import Tensor


class Choice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor([2.0, 3.0, 4.0]))

    def forward(self, x):
        return torch.cond(
            x.sum() > 0,
            lambda x: (x.sin() * self.factor, x.mean()),
            lambda x: (x.cos() + torch.arange(3.0), x.square().sum()),
            (x,),
        )


INPUTS = [torch.ones(3), -torch.ones(3), torch.tensor([1.0, -3.0, 0.5])]


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error", weft.torch.UnsupportedOperatorsWarning)
        yield


def test_a_compiled_function_chooses_at_each_call():
    model = Choice()
    fast = torch.compile(model, backend="weft")
    for x in INPUTS:
        with torch.no_grad():
            torch.testing.assert_close(fast(x), model(x))


def test_gradients_are_those_of_the_chosen_function():
    model = Choice()
    fast = torch.compile(model, backend="weft")
    for x in INPUTS:
        found = []
        for function in (fast, model):
            leaf = x.clone().requires_grad_()
            model.factor.grad = None
            first, second = function(leaf)
            (first.sum() + second).backward()
            found.append((leaf.grad, model.factor.grad))
        torch.testing.assert_close(*found)


def test_an_exported_program_chooses_at_each_call():
    model = Choice()
    imported = weft.torch.from_exported(torch.export.export(model, (INPUTS[0],)))
    captured = weft.jit(lambda x: imported(x))
    for x in INPUTS * 2:
        for got, want in zip(captured(Tensor(x.numpy())), model(x)):
            np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=1e-5)


def test_operators_that_are_missing_in_a_branch_are_named():
    class Fails(torch.nn.Module):
        def forward(self, x):
            return torch.cond(
                x.sum() > 0, lambda x: torch.fft.fft(x).abs(), lambda x: x.cos(), (x,)
            )

    with pytest.raises(weft.torch.UnsupportedOperators, match="fft"):
        weft.torch.from_exported(torch.export.export(Fails(), (INPUTS[0],)))
