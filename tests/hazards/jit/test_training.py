"""Gradients, optimisers and models inside a captured function and outside of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit, nn


@dataclass
class Batch:
    images: Tensor
    labels: Tensor


def test_gradients_of_inputs():
    def program(wrap):
        @wrap
        def step(x):
            loss = (x * x).sum()
            loss.backward()
            return loss

        found = []
        for i in range(CALLS):
            x = Tensor(numbers(4, seed=i), requires_grad=True)
            found += [step(x), x.grad * 1, step(x), x.grad]
        return found

    both(program)


def test_an_optimiser_inside():
    def program(wrap):
        class Net:
            def __init__(self):
                # no bias: ahead of a norm its gradient is rounding alone, which Adam makes large
                self.first = nn.Linear(4, 8, bias=False)
                self.norm = nn.BatchNorm(8)
                self.last = nn.Linear(8, 2)

            def __call__(self, x):
                return self.last(self.norm(self.first(x)).relu().dropout(0.3))

        net = Net()
        optimiser = nn.optim.Adam(nn.state.get_parameters(net), lr=0.01)

        @wrap
        def step(x, y):
            optimiser.zero_grad()
            loss = net(x).sparse_categorical_crossentropy(y)
            loss.backward()
            optimiser.step()
            return loss

        losses = []
        with Tensor.train():
            for i in range(12):
                x = Tensor(numbers(16, 4, seed=i))
                y = Tensor(np.arange(16).astype(np.int32) % 2)
                losses.append(step(x, y))
                if i == 7:
                    optimiser.lr = 0.05
        gradients = [p.grad for p in optimiser.params]
        return [losses, gradients, list(nn.state.get_state_dict(net).values())]

    made = both(program)
    assert made.replays >= 8


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_accumulated_gradients(kind):
    def program(wrap):
        w = Tensor(numbers(3, 3), requires_grad=True)
        optimiser = getattr(nn.optim, kind)([w], lr=0.1)

        @wrap
        def backward(x):
            loss = (x @ w).square().mean()
            loss.backward()
            return loss

        @wrap
        def step():
            optimiser.step()
            optimiser.zero_grad()

        found = []
        with Tensor.train():
            for i in range(12):
                found.append(backward(Tensor(numbers(2, 3, seed=i))))
                if i % 2:
                    found.append(w.grad)
                    step()
        return [*found, w]

    both(program)


def test_models_as_arguments():
    class Model:
        def __init__(self, width):
            self.first, self.last = nn.Linear(4, width), nn.Linear(width, 4)

        def __call__(self, x):
            return self.last(self.first(x).relu())

    def program(wrap):
        models = [Model(8), Model(8), Model(3)]
        step = wrap(lambda model, x: model(x))
        return [step(models[i % 3], Tensor(numbers(2, 4, seed=i))) for i in range(4 * CALLS)]

    made = both(program)
    assert made.replays >= 3 * CALLS


def test_a_loss_outside_that_equals_one_inside_keeps_its_gradient():
    """Equal expressions are one value in one memory: only the result has no past."""
    w, v = (Tensor([1.0, 2.0], device="REF").realize().requires_grad_() for _ in range(2))

    @jit
    def step(x):
        return (w * v).sum(), (x * 2).sum()

    for _ in range(CALLS):
        loss = (w * v).sum()
        inside, _ = step(Tensor([1.0], device="REF").realize())
        assert inside.item() == loss.item() == 5.0
        w.grad = None
        loss.backward()
        assert w.grad.tolist() == [1.0, 2.0]
