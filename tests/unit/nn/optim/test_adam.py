"""Adam and AdamW compared with PyTorch's, step by step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weft import Tensor, jit, nn
from weft.base.errors import ArgumentError
from weft.nn import optim
from weft.nn.state import get_state_dict, load_state_dict, safe_load, safe_save

START, TARGET = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[0.0, 1.0], [2.0, 2.0]])


class Ours:
    """Two parameters, of which the second is used from a given step on."""

    def __init__(self, kind: str, **how) -> None:
        self.values = [Tensor(START.copy(), requires_grad=True) for _ in range(2)]
        self.optimiser = getattr(optim, kind)(self.values, **how)

    def step(self, used: int) -> None:
        with Tensor.train():
            self.optimiser.zero_grad()
            loss = Tensor(0.0, dtype="float64")
            for each in self.values[:used]:
                loss = loss + ((each - Tensor(TARGET)) ** 2).sum()
            loss.backward()
            self.optimiser.step()


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
@pytest.mark.parametrize(
    ("amsgrad", "maximize", "late"), list(itertools.product((False, True), (False, True), (0, 3)))
)
def test_twenty_steps_are_pytorchs(kind: str, amsgrad: bool, maximize: bool, late: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    how = {"lr": 0.05, "weight_decay": 0.1, "amsgrad": amsgrad, "maximize": maximize,
           "betas": (0.8, 0.95)}  # fmt: skip
    values = [torch.tensor(START, requires_grad=True) for _ in range(2)]
    theirs, mine = getattr(torch.optim, kind)(values, **how), Ours(kind, **how)
    for number in range(20):
        used = 2 if number >= late else 1
        theirs.zero_grad()
        sum(((v - torch.tensor(TARGET)) ** 2).sum() for v in values[:used]).backward()
        theirs.step()
        mine.step(used)
    for own, known in zip(mine.values, values):
        np.testing.assert_allclose(own.numpy(), known.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW", "LAMB", "LARS", "Muon"])
def test_saved_in_the_middle_and_gone_on(kind: str, tmp_path) -> None:
    how = {"momentum": 0.9} if kind == "SGD" else {}
    straight, first = Ours(kind, lr=0.05, **how), Ours(kind, lr=0.05, **how)
    for _ in range(6):
        straight.step(2)
    for _ in range(3):
        first.step(2)
    safe_save(get_state_dict(first.optimiser), tmp_path / "middle.safetensors")
    second = Ours(kind, lr=0.7, **how)
    load_state_dict(second.optimiser, safe_load(tmp_path / "middle.safetensors"))
    again = jit(second.step)  # what was loaded is what a recorded step works on
    for _ in range(3):
        again(2)
    for one, other in zip(straight.values, second.values):
        np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=1e-12)


def test_the_two_weights_by_their_short_names() -> None:
    adam = optim.LAMB([Tensor([1.0])], b1=0.5)
    assert adam.betas == (0.5, 0.999)
    with pytest.raises(ArgumentError, match="given together"):
        optim.AdamW([Tensor([1.0])], 0.001, 0.9)


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_pytorch_goes_on_with_a_saved_state(kind: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch loads it")
    value = np.random.default_rng(0).standard_normal((3, 4))
    mine, theirs = nn.Parameter(Tensor(value)), torch.nn.Parameter(torch.tensor(value))
    optimizer = getattr(optim, kind)([mine], lr=0.1)
    for step in range(3):
        mine.grad = Tensor(np.sin(value + step))
        optimizer.step()
    with torch.no_grad():
        theirs.copy_(torch.tensor(mine.numpy()))
    saved, other = optimizer.state_dict(), getattr(torch.optim, kind)([theirs])
    found = {name: torch.tensor(each.numpy()) for name, each in saved["state"][0].items()}
    assert found["step"].item() == 3 and found["step"].shape == ()
    other.load_state_dict({"state": {0: found}, "param_groups": saved["param_groups"]})
    for step in range(3, 6):
        mine.grad, theirs.grad = Tensor(np.sin(value + step)), torch.tensor(np.sin(value + step))
        optimizer.step(), other.step()
    np.testing.assert_allclose(mine.numpy(), theirs.detach().numpy(), rtol=1e-6)
