"""The steps of random programs that give kernels several outputs, several reduces, or devices.

Values that share what they read are made side by side, and at times realized together; rows are
reduced and read again, forwards and backwards.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.testing.mirror import Value, stored
from weft.testing.program_lines import Program
from weft.testing.program_steps import has_numbers, ranked, step


def _safe(value: Value) -> bool:
    """Numbers of a size that a few more operations keep exact or nearly so."""
    return ranked(value) and has_numbers(value) and value.top < 50 and value.error < 1e-3


def _wide(value: Value) -> Any:
    import numpy as np

    return value.array.astype(np.float64)


@step
def outputs(p: Program) -> None:
    """Two to four values of one tensor, some of them reduced over the same axes."""
    name = p.pick(lambda v: _safe(v) and 0 not in v.array.shape)
    if name is None:
        return
    v = p.values[name]
    axis, keep = p.integer(0, v.array.ndim - 1), p.chance(2)
    made = [_output(p, name, v, axis, keep) for _ in range(p.integer(2, 4))]
    names = list(dict.fromkeys(n for n in made if n in p.values))
    if p.chance(2):
        p.run(f"{names[0]}.realize({', '.join(names[1:])})")
    elif p.chance(2):
        p.run(f"{names[0]}.kernelize({', '.join(names[1:])})")


def _output(p: Program, name: str, v: Value, axis: int, keep: bool) -> str:
    import numpy as np

    x, size = v.array, v.array.shape[axis]
    rounding = 0.0 if v.exact else 2.4e-7 * v.top * size
    how = p.choice(["sum", "max", "plus", "square", "all"])
    if how == "sum":
        total = np.sum(x, axis=axis, keepdims=keep)
        return p.make(
            f"{name}.sum({axis}, {keep})",
            lambda d: stored(total, d, v.error * size + rounding, 2 + size),
        )
    if how == "max":
        top = np.max(x, axis=axis, keepdims=keep)
        return p.make(f"{name}.max({axis}, {keep})", lambda d: stored(top, d, v.error))
    if how == "all":
        return p.make(
            f"{name}.float().sum()",
            lambda d: stored(_wide(v).sum(), d, v.error * x.size, 2 + x.size),
        )
    if how == "plus":
        return p.make(f"{name} + 1", lambda d: stored(x + np.ones((), x.dtype), d, v.error))
    wide = _wide(v)
    return p.make(
        f"{name}.float() * {name}",
        lambda d: stored(wide * wide, d, v.error * (2 * v.top + v.error)),
    )


@step
def rows(p: Program) -> None:
    """Reduces over the rows of one value that feed each other: norms, softmax, attention."""
    import numpy as np

    name = p.pick(lambda v: _safe(v) and v.array.ndim > 1 and 0 not in v.array.shape)
    if name is None:
        return
    v = p.values[name]
    x, size = _wide(v), v.array.shape[-1]
    spread = (v.error + 1e-6) * max(v.top, 1) * 50
    how = p.choice(["log_softmax", "logsumexp", "rms", "layernorm", "attention", "gradient"])
    centred = x - x.mean(-1, keepdims=True)
    if how == "log_softmax" or how == "logsumexp":
        high = x.max(-1, keepdims=True)
        log = np.log(np.exp(x - high).sum(-1, keepdims=True)) + high
        made = x - log if how == "log_softmax" else log[..., 0]
        p.make(f"{name}.float().{how}(-1)", lambda d: stored(made, d, spread, 4 + size))
    elif how == "rms":
        text = f"{name}.float() * ({name}.float().square().mean(-1, True) + 1).rsqrt()"
        made = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1)
        p.make(text, lambda d: stored(made, d, spread, 4 + size))
    elif how == "layernorm":
        made = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1)
        p.make(f"{name}.float().layernorm(eps=1)", lambda d: stored(made, d, spread, 8 + size))
    elif how == "attention":
        _attention(p, name, x, spread)
    else:
        _gradient(p, name, x, spread)


def _softmax(x: Any) -> Any:
    import numpy as np

    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _attention(p: Program, name: str, x: Any, spread: float) -> None:
    import numpy as np

    scores = x @ np.swapaxes(x, -1, -2) / 64
    if np.abs(scores).max() > 20:
        return
    made = _softmax(scores) @ x
    text = f"({name}.float() @ {name}.float().transpose(-1, -2) / 64).softmax(-1) @ {name}.float()"
    error = spread * max(1.0, float(np.abs(x).max())) * x.shape[-1]
    p.make(text, lambda d: stored(made, d, error, 8 + sum(x.shape[-2:])))


def _gradient(p: Program, name: str, x: Any, spread: float) -> None:
    """Of the square of a softmax: reduces of what was reduced, read in both directions."""
    y = _softmax(x)
    upstream = 2 * y
    made = y * (upstream - (upstream * y).sum(-1, keepdims=True))
    leaf = f"{name}.float().detach().clone()"
    p.run(f"leaf = {leaf}; leaf.requires_grad = True")
    p.make(
        "leaf.softmax(-1).square().sum().gradient(leaf)[0]",
        lambda d: stored(made, d, spread, 8 + x.shape[-1]),
    )


@step
def pick_rows(p: Program) -> None:
    """one_hot, take along an axis, and the gradient of picking: comparisons with counters."""
    import numpy as np

    name = p.pick(lambda v: v.array.ndim == 2 and _safe(v) and 0 not in v.array.shape)
    if name is None:
        return
    v = p.values[name]
    high, wide = v.array.shape
    at = np.array([p.integer(0, wide - 1) for _ in range(high)], dtype=np.int32)
    index = p.make(f"Tensor({at.tolist()})", lambda d: stored(at, d))
    how = p.choice(["gather", "one_hot", "table"])
    if how == "gather":
        made = np.take_along_axis(v.array, at[:, None], 1)
        text = f"{name}.gather(1, {index}.reshape({high}, 1))"
        p.make(text, lambda d: stored(made, d, v.error))
    elif how == "one_hot":
        made = np.eye(wide, dtype=np.int64)[at]
        p.make(f"{index}.one_hot({wide})", lambda d: stored(made, d))
    elif v.dtype is not dtypes.bool:
        made = np.eye(high, wide)[:, at] if wide < high else np.eye(wide)[at]
        text = f"Tensor.eye({wide})[{index}]" if wide >= high else (
            f"Tensor.eye({high}, {wide})[:, {index}]")  # fmt: skip
        p.make(text, lambda d: stored(made, d))
