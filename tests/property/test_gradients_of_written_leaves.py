"""Losses over leaves that are written after they were recorded, compared with PyTorch.

What PyTorch computes with is a leaf for each value that a leaf of ours has had: the gradient is
that of the value that was read. Where such a value has been overwritten, ours may refuse.
"""

import random

import numpy as np
import pytest

from helpers.example_counts import examples
from weft import Tensor, nn
from weft.base.errors import GradientError
from weft.engine import run_schedule

SHAPE = (3, 4)

# each makes (3, 4) of two (3, 4), with weft and with PyTorch
STEPS = [
    lambda x, y: x * y,
    lambda x, y: x + y.sin(),
    lambda x, y: (x @ y.T).tanh() @ x * 0.3,
    lambda x, y: x * y.sum(),
    lambda x, y: x.T.reshape(3, 4) * y,
    lambda x, y: x[1:2] * y + x[:, :1],
    lambda x, y: x.detach() * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: x.softmax(-1) * y,
    lambda x, y: x[[2, 0, 0]] * y,
    lambda x, y: x[:, 1:3].sum() * y,
    lambda x, y: (x.T @ x).sum(0) * y,
]
VIEWS = [
    lambda x: x[0],
    lambda x: x.T,
    lambda x: x[1:],
    lambda x: x.reshape(12),
    lambda x: x[0][1],
    lambda x: x[:2].T,
]


def _negated_row(w, c):
    w[0] = c


def _element(w, c):
    w[0][1] = c


def _masked(w, c):
    w[w > 0] = c


def _rows(w, c):
    w[[0, 2]] = c


def _columns(w, c):
    w[:, 1:3] *= c


def _less(w, c):
    w -= c


def _of_detached(w, c):
    w.detach()[1] = c


# each writes (3, 4), with weft and with PyTorch
WRITES = [
    _negated_row,
    _element,
    _masked,
    _rows,
    _columns,
    _less,
    _of_detached,
    lambda w, c: w.mul_(c),
    lambda w, c: w.zero_(),
    lambda w, c: w.fill_(c),
    lambda w, c: w.T.mul_(c),
    lambda w, c: w.reshape(12)[3:5].fill_(c),
    lambda w, c: w.copy_(w.flip([0]).clone() if isinstance(w, Tensor) else w.flip(0)),
    lambda w, c: w.detach().mul_(c),
]


def scheduled(x):
    items, values = x.schedule_with_vars()
    run_schedule(items, values)


READS = [lambda x: x.realize(), lambda x: x.numpy(), lambda x: x.kernelize(), scheduled]


class Leaf:
    """A leaf of ours, and a leaf of PyTorch for each value that it has had."""

    def __init__(self, data, devices, kind, realized):
        torch = pytest.importorskip("torch", reason="PyTorch computes every value at once")
        where = devices if isinstance(devices, str) else devices[0]
        made = Tensor(data.astype(np.float32), device=where).cast(kind)
        made = made if isinstance(devices, str) else made.shard(devices, axis=0)
        self.ours = made.contiguous()
        if realized:
            self.ours.realize()
        self.ours.requires_grad_()
        self.kind = np.float16 if kind == "float16" else np.float32
        self.theirs = [torch.tensor(data.astype(self.kind).astype(np.float64), requires_grad=True)]

    def write(self, step):
        """`step` writes its argument."""
        with Tensor.no_grad():
            step(self.ours)
        self.follow(step)

    def follow(self, step):
        """PyTorch does what was written to ours."""
        import torch

        value = self.theirs[-1].detach().clone()
        step(value)
        stored = value.numpy().astype(self.kind).astype(np.float64)
        self.theirs.append(torch.tensor(stored, requires_grad=True))

    def replace(self, step):
        """Become another tensor, of the value that `step` leaves."""
        value = self.ours.detach().clone()
        step(value)
        self.ours.replace(value)
        self.follow(step)

    def wanted(self):
        """What PyTorch has added up, over all values."""
        parts = [version.grad for version in self.theirs if version.grad is not None]
        return sum(parts) if parts else None

    def clear(self):
        """Drop the gradients."""
        self.ours.grad = None
        for version in self.theirs:
            version.grad = None


class Program:
    """A random program, step by step with both."""

    def __init__(self, seed, devices, kind):
        self.rng = rng = random.Random(seed)
        numbers = np.random.default_rng(seed)
        made = [numbers.uniform(-1.2, 1.2, SHAPE) for _ in range(2)]
        self.leaves = [Leaf(data, devices, kind, rng.random() < 0.7) for data in made]
        self.values, self.losses, self.views = [], [], []
        self.is_read = False  # whether anything that was overwritten may be gone
        self.close = (
            {"rtol": 4e-2, "atol": 4e-2} if kind == "float16" else {"rtol": 2e-4, "atol": 2e-4}
        )

    def operand(self):
        """A pair of (3, 4): a leaf, a view of one, or a value."""
        rng = self.rng
        if self.views and rng.random() < 0.25:
            view, leaf, step = rng.choice(self.views)
            pair = view, step(leaf.theirs[-1])
        elif self.values and rng.random() < 0.4:
            pair = rng.choice(self.values)
        else:
            leaf = rng.choice(self.leaves)
            pair = leaf.ours, leaf.theirs[-1]
        if tuple(pair[1].shape) != SHAPE:
            pair = tuple(each.sum().expand(*SHAPE) for each in pair)
        return pair

    def compute(self):
        (a, t), (b, u) = self.operand(), self.operand()
        step = self.rng.choice(STEPS)
        self.values.append((step(a, b).tanh(), step(t, u).tanh()))

    def view(self):
        leaf, step = self.rng.choice(self.leaves), self.rng.choice(VIEWS)
        self.views.append((step(leaf.ours), leaf, step))

    def lose(self):
        (a, t), (b, u) = self.operand(), self.operand()
        self.losses.append(((a * b + a).sum(), (t * u + t).sum()))

    def write(self):
        rng, leaf, number = (
            self.rng,
            self.rng.choice(self.leaves),
            round(self.rng.uniform(-1, 1), 2),
        )
        mine = [(view, step) for view, owner, step in self.views if owner is leaf]
        if mine and rng.random() < 0.2:
            view, step = rng.choice(mine)
            with Tensor.no_grad():
                view.assign(view.detach() * number)
            leaf.follow(lambda value: step(value).mul_(number))
        elif rng.random() < 0.15:
            step = rng.choice(WRITES)
            leaf.replace(lambda value: step(value, number))
            self.views = [each for each in self.views if each[1] is not leaf]
            self.is_read = True
        else:
            step = rng.choice(WRITES)
            leaf.write(lambda value: step(value, number))
        if rng.random() < 0.15:
            leaf.ours.realize()
            self.is_read = True

    def read(self):
        pairs = self.values + self.losses
        if pairs:
            self.is_read = True
            self.rng.choice(READS)(self.rng.choice(pairs)[0])

    def step(self):
        """A step of an optimiser, between two backwards."""
        if all(leaf.ours.grad is not None for leaf in self.leaves):
            self.is_read = True
            slopes = [leaf.wanted() for leaf in self.leaves]
            nn.optim.SGD([leaf.ours for leaf in self.leaves], lr=0.1).step()
            for leaf, slope in zip(self.leaves, slopes):
                leaf.follow(lambda value, slope=slope: value.sub_(slope * 0.1))

    def clear(self):
        for leaf in self.leaves:
            leaf.clear()

    def backward(self):
        if not self.losses:
            return
        ours, theirs = self.rng.choice(self.losses)
        if not theirs.requires_grad:
            with pytest.raises(GradientError, match="there is no leaf to reach"):
                ours.backward()
            return
        try:
            ours.backward()
        except GradientError as error:
            assert self.is_read and "overwritten" in str(error)
            return
        theirs.backward(retain_graph=True)
        if self.rng.random() < 0.5:
            self.compare_gradients()

    def compare_gradients(self):
        for leaf in self.leaves:
            wanted, found = leaf.wanted(), leaf.ours.grad
            assert (wanted is None) == (found is None)
            if found is not None:
                self.is_read = True
                np.testing.assert_allclose(found.numpy(), wanted.numpy(), **self.close)

    def compare(self):
        self.compare_gradients()
        pairs = [(leaf.ours, leaf.theirs[-1]) for leaf in self.leaves] + self.values
        pairs += [(view, step(leaf.theirs[-1])) for view, leaf, step in self.views]
        for ours, theirs in pairs:
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), **self.close)


ACTIONS = {
    Program.compute: 6,
    Program.view: 2,
    Program.lose: 4,
    Program.write: 6,
    Program.backward: 5,
    Program.read: 2,
    Program.clear: 0.7,
    Program.step: 1,
}


def run(seed, devices, kind="float32"):
    program = Program(seed, devices, kind)
    rng = random.Random(seed + 1)
    for _ in range(rng.randrange(3, 14)):
        (action,) = rng.choices(list(ACTIONS), list(ACTIONS.values()))
        action(program)
    program.compare()


MANY = examples(30)


@pytest.mark.parametrize("seed", range(MANY))
def test_a_gradient_is_of_the_value_that_was_read(seed):
    run(seed, "REF", "float16" if seed % 5 == 4 else "float32")


@pytest.mark.parametrize("seed", range(MANY // 2))
def test_a_gradient_of_leaves_on_several_devices(seed):
    run(seed, ("REF", "REF:1"))
