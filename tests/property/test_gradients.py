"""Gradients of random compositions against central differences, in float64."""

import os

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

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


# away from 0 and from each other's multiples, so that no choice turns within a step
numbers = (
    st.floats(0.25, 1.5).map(lambda v: round(v, 3)).flatmap(lambda v: st.sampled_from([v, -v]))
)


@settings(max_examples=int(os.environ.get("WEFT_TEST_EXAMPLES", "25")))
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
