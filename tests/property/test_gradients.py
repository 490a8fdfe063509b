"""Gradients of random compositions against central differences, in float64; and of random graphs
of which intermediate values are read, compared with PyTorch."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import weft
from helpers.example_counts import examples
from weft import Tensor

SHAPES = [(3,), (2, 3)]
STEP = 1e-6

# each takes and gives values of a size at which differences are accurate
STEPS = {
    "sin": lambda x, w: x.sin(),
    "tanh": lambda x, w: x.tanh(),
    "exp": lambda x, w: (x * 0.3).exp(),
    "log": lambda x, w: (x * x + 1.5).log(),
    "sqrt": lambda x, w: (x * x + 0.7).sqrt(),
    "reciprocal": lambda x, w: 1 / (x * x + 1),
    "sigmoid": lambda x, w: x.sigmoid(),
    "gelu": lambda x, w: x.gelu(),
    "square": lambda x, w: x.square() * 0.5,
    "pow": lambda x, w: (x * x + 1) ** 0.75,
    "times": lambda x, w: x * w,
    "minus": lambda x, w: w - x,
    "over": lambda x, w: x / (w * w + 1),
    "sum": lambda x, w: x + x.sum(-1, keepdim=True) * 0.2,
    "mean": lambda x, w: x - x.mean(),
    "softmax": lambda x, w: x.softmax() * w,
    "log_softmax": lambda x, w: x.log_softmax() * 0.5,
    "layernorm": lambda x, w: (x * w + w).layernorm(eps=0.1),
    "prod": lambda x, w: x * (1 + 0.1 * w).prod(0, keepdim=True),
    "flip": lambda x, w: x + x.flip(-1) * w,
    "permute": lambda x, w: x.permute(*reversed(range(x.ndim))).contiguous().reshape(x.shape) + x,
    "pad": lambda x, w: x.pad(((1, 2),) * x.ndim).sum() * 0.1 + x * w,
    "shrink": lambda x, w: x[..., 1:].sum(-1, keepdim=True) * x,
    "expand": lambda x, w: (x.unsqueeze(0).expand(2, *x.shape) * w).mean(0),
    "roll": lambda x, w: x.roll(1, -1) * x,
    "cumsum": lambda x, w: x.cumsum(-1) * 0.3,
    "outer": lambda x, w: (x.reshape(-1, 1) @ w.reshape(1, -1)).sum(1).reshape(x.shape) * 0.1,
    "where": lambda x, w: (w > 0).where(x * x, x * 0.5),
    "cat": lambda x, w: x.cat(w, dim=0)[: x.shape[0]] * 1.5,
    "gather": lambda x, w: x + x[..., [2, 0, 0]],
}  # fmt: skip


def value(names, x, w):
    for name in names:
        x = STEPS[name](x, w)
    return (x * x).sum() * 0.25


def differences(names, x, w, which):
    """The slope along a few elements of x (which = 0) or w (1), by central differences."""
    pair = [x, w]
    places = list(np.ndindex(x.shape))[:: max(1, x.size // 3)]
    slopes = {}
    for place in places:
        ends = []
        for step in (STEP, -STEP):
            moved = pair[which].copy()
            moved[place] += step
            inputs = [moved if i == which else pair[i] for i in (0, 1)]
            ends.append(value(names, *map(Tensor, inputs)).item())
        slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
    return slopes


# away from 0 and from each other's multiples, so that no choice changes within a step
numbers = (
    st.floats(0.25, 1.5).map(lambda v: round(v, 3)).flatmap(lambda v: st.sampled_from([v, -v]))
)


@settings(max_examples=examples(25))
@given(
    st.sampled_from(SHAPES).flatmap(
        lambda shape: st.tuples(*(arrays(np.float64, shape, elements=numbers) for _ in range(2)))
    ),
    st.sampled_from(sorted(STEPS)).flatmap(
        # few second steps: every composition is kernels of its own, which have to be compiled
        lambda first: st.sampled_from([[first], [first, "sin"], [first, "times"]])
    ),
)
def test_compositions(inputs, names):
    x, w = inputs
    a, b = (Tensor(v, requires_grad=True) for v in (x, w))
    loss = value(names, a, b)
    loss.backward()
    for which, leaf in enumerate((a, b)):
        if leaf.grad is None:
            assert all(abs(s) < 1e-6 for s in differences(names, x, w, which).values())
            continue
        got = leaf.grad.numpy()
        scale = max(1.0, abs(float(loss.item())), np.abs(got).max())
        for place, slope in differences(names, x, w, which).items():
            assert abs(got[place] - slope) <= 2e-7 * scale + 1e-6 * abs(slope), (place, slope)


# ---- intermediate values that are read, compared with PyTorch ------------------------------------

PLACES = np.array([[3, 0, 1, 1], [2, 2, 0, 1], [0, 1, 3, 0]])


def _chosen(x, y):
    import torch

    return (x > y).where(x * 2, y) if isinstance(x, Tensor) else torch.where(x > y, x * 2, y)


def _joined(x, y):
    import torch

    return x[:1].cat(y[1:], dim=0) if isinstance(x, Tensor) else torch.cat([x[:1], y[1:]])


def _gathered(x, y):
    import torch

    ours = isinstance(x, Tensor)
    places = Tensor(PLACES, device=x.device) if ours else torch.tensor(PLACES)
    return x.gather(1, places) + y


def _computed_again(x, y):
    product = lambda a, b: (a * b).tanh()  # noqa: E731
    return weft.checkpoint(product, x, y) if isinstance(x, Tensor) else product(x, y)


def _written(x, y):
    z = x.clone()
    z[1:] = y[:2] * 0.5
    z[:, 1] = 0.25
    z += y
    return z


# each makes (3, 4) of two (3, 4), with weft and with PyTorch
BOTH = [
    lambda x, y: x.sin(),
    lambda x, y: x * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: x * x - x,
    lambda x, y: x - y.sum(1, keepdim=True) * 0.3,
    lambda x, y: x * y.mean(),
    lambda x, y: x.softmax(-1) + y,
    lambda x, y: (x @ y.T).tanh() @ x * 0.3,
    lambda x, y: x.flip([0]) + y.flip([1]),
    lambda x, y: (x.T * 0.5).reshape(3, 4) + y,
    lambda x, y: x[1:2] * y + x[:, :1],
    lambda x, y: x[[2, 0, 0]] * y,
    lambda x, y: y * x.amax(1, keepdim=True).tanh(),
    lambda x, y: x[1].expand(3, 4) * y,
    lambda x, y: x.float().double() * 0.5 + y,
    lambda x, y: x.T.contiguous().T,
    lambda x, y: x.detach() * y,
    lambda x, y: (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 0.5).sqrt() + y,
    lambda x, y: x.cumsum(0) * 0.3 + y.logsumexp(1, keepdim=True),
    lambda x, y: x * (y * 0.1 + 1).prod(0, keepdim=True),
    lambda x, y: x.sort(1)[0] * 0.5 + y,
    _chosen,
    _joined,
    _gathered,
    _computed_again,
    _written,
]

READS = [
    lambda some: some[0].numpy(),
    lambda some: some[0].realize(*some[1:]),
    lambda some: some[0].kernelize(*some[1:]),
    lambda some: some[0].sum().item(),
    lambda some: some[0].T.numpy(),
    lambda some: some[0][1:].realize(),
    lambda some: (some[0] * 2).kernelize(),
    lambda some: some[0].contiguous().realize(),
]


def same(ours, theirs, what):
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), 1e-6, 1e-6, err_msg=what)


def loss_of(values, picks):
    return sum((values[p] * values[p] * 0.5 + values[p]).sum() for p in picks)


@pytest.mark.parametrize("seed", range(examples(24)))
def test_reading_on_the_way_changes_no_gradient(seed):
    """A read replaces a graph by memory; its gradient stays the same."""
    torch = pytest.importorskip("torch", reason="PyTorch computes every value at once")
    rng, reads = random.Random(seed), random.Random(seed + 1)
    data = np.random.default_rng(seed).uniform(-1.5, 1.5, (3, 3, 4))
    # on the reference device, where nothing is to be compiled
    ours = [Tensor(d, requires_grad=True, device="REF") for d in data]
    theirs = [torch.tensor(d, requires_grad=True) for d in data]
    leaves, torch_leaves = list(ours), list(theirs)

    def maybe_read(share):
        if reads.random() < share and len(ours) > 3:
            many = min(len(ours) - 3, reads.randrange(1, 4))
            reads.choice(READS)(reads.sample(ours[3:], many))

    for _ in range(rng.randrange(2, 9)):
        step, i, j = rng.choice(BOTH), rng.randrange(len(ours)), rng.randrange(len(ours))
        for values in (ours, theirs):
            values.append(step(values[i], values[j]).tanh() * 1.5)
        maybe_read(0.4)
    for turn in range(rng.randrange(1, 4)):
        picks = [-1] if turn == 0 else [rng.randrange(len(ours)) for _ in range(2)]
        loss, torch_loss = loss_of(ours, picks), loss_of(theirs, picks)
        if reads.random() < 0.5:
            loss.item()
        if not torch_loss.requires_grad:
            continue
        if rng.random() < 0.5:
            loss.backward()
            torch_loss.backward(retain_graph=True)
            maybe_read(0.5)
            continue
        found = loss.gradient(*leaves, materialize_grads=True)
        wanted = torch.autograd.grad(
            torch_loss, torch_leaves, create_graph=True, allow_unused=True, materialize_grads=True
        )
        if reads.random() < 0.5:
            found[0].realize()
        maybe_read(0.5)
        for a, b in zip(found, wanted):
            same(a, b, "gradient")
        second = sum((b.sin() * b).sum() for b in wanted)
        if second.requires_grad:
            deeper = sum((a.sin() * a).sum() for a in found)
            again = deeper.gradient(*leaves, materialize_grads=True)
            wanted = torch.autograd.grad(
                second, torch_leaves, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            for a, b in zip(again, wanted):
                same(a, b, "gradient of the gradient")
    for a, b in zip(leaves, torch_leaves):
        assert (a.grad is None) == (b.grad is None)
        if b.grad is not None:
            same(a.grad, b.grad, "what was added up")
    for a, b in zip(ours, theirs):
        same(a, b, "value")
