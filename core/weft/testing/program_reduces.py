"""The steps of random programs that bring elements together: reduces, scans, joins, picks.

See program_steps for the others.
"""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.device import numpy_dtype
from weft.testing.mirror import Value, moved, stored
from weft.testing.program_lines import LARGEST, Program
from weft.testing.program_steps import has_numbers, ranked, step

# ---- reducing ------------------------------------------------------------------------------------


def _axes(p: Program, rank: int) -> tuple[int, ...]:
    if rank == 0:
        return ()
    if p.chance(3):
        return tuple(range(rank))
    chosen = {p.integer(0, rank - 1) for _ in range(p.integer(1, 2))}
    return tuple(sorted(chosen))


@step
def reduce(p: Program) -> None:
    """sum, max, min, mean, prod, any, argmax over some axes."""
    import numpy as np

    name = p.pick()
    if name is None:
        return
    v = p.values[name]
    x = v.array
    axes, keep = _axes(p, x.ndim), p.chance(2)
    count = math.prod(x.shape[a] for a in axes)
    how = p.choice(["sum", "max", "mean", "min", "prod", "any", "argmax"])
    if how in ("max", "min", "argmax", "mean") and (0 in x.shape or not axes):
        how = "sum"
    if how == "mean" and not (v.is_float or v.top < 2000):
        how = "sum"
    if how == "prod" and (v.is_float and (max(v.top, 1) ** min(count, 64) > 1e4 or v.error > 1e-4)):
        how = "sum"
    if v.is_float and not v.exact and how in ("any", "argmax"):
        how = "sum"
    if v.is_float and v.dtype.itemsize == 2 and how in ("sum", "mean") and v.top * count > 6e4:
        how = "max"
    axis: Any = axes
    if how == "argmax":
        axis = axes[0]
        made = np.argmax(x, axis=axis, keepdims=keep)
        p.make(f"{name}.argmax({axis}, {keep})", lambda d: stored(made, d))
        return

    def value(d: Any) -> Value:
        wide = (
            x.astype(np.float64)
            if v.is_float or how == "mean"
            else (x.astype(numpy_dtype(d)) if how in ("sum", "prod") else x)
        )
        with np.errstate(all="ignore"):
            made = getattr(np, how)(wide, axis=axis, keepdims=keep)
        error = v.error * {"sum": count, "prod": 2e4}.get(how, 1)
        top = v.top * count if how == "sum" else 0
        rounded = 0.0 if v.exact and top < 1000 else 2.4e-7 * top
        return stored(made, d, error + rounded, 2 + count)

    p.make(f"{name}.{how}({axes if axes else None}, {keep})", value)


@step
def normalise(p: Program) -> None:
    """Reduced values go back into what was reduced: softmax, x - mean, x / (1 + sum |x|)."""
    import numpy as np

    name = p.pick(lambda v: ranked(v) and v.is_float and v.top < 50 and 0 not in v.array.shape)
    if name is None:
        return
    v = p.values[name]
    x, axis = v.array, p.integer(-1, v.array.ndim - 1)
    size, how = x.shape[axis], p.integer(0, 2)
    if how == 0:
        powers = np.exp(x - x.max(axis, keepdims=True))
        text, error = f"{name}.softmax({axis})", 3 * v.error + 1e-6
        made = powers / powers.sum(axis, keepdims=True)
    elif how == 1:
        text, error = f"{name} - {name}.mean({axis}, True)", 2 * v.error + 1e-6 * v.top
        made = x - x.mean(axis, keepdims=True)
    else:
        text = f"{name} / ({name}.abs().sum({axis}, True) + 1)"
        error = 2 * v.error * size * max(1, v.top) + 1e-6
        made = x / (1 + np.abs(x).sum(axis, keepdims=True))
    p.make(text, lambda d: stored(made, d, error, 4 + size))


@step
def scan(p: Program) -> None:
    """A running sum."""
    import numpy as np

    name = p.pick(lambda v: ranked(v) and v.dtype is not dtypes.bool and v.array.size < 200)
    if name is None:
        return
    v = p.values[name]
    axis = p.integer(0, v.array.ndim - 1)
    if v.is_float and v.dtype.itemsize == 2 and v.top * v.array.shape[axis] > 1000:
        return

    def value(d: Any) -> Value:
        wide = v.array if v.is_float else v.array.astype(numpy_dtype(d))
        with np.errstate(all="ignore"):
            made = np.cumsum(wide, axis=axis, dtype=wide.dtype)
        size = v.array.shape[axis]
        return stored(made, d, v.error * size, 2 + size)

    p.make(f"{name}.cumsum({axis})", value)


@step
def matmul(p: Program) -> None:
    """A product of matrices, sometimes with itself."""
    a = p.pick(lambda v: v.array.ndim == 2 and has_numbers(v) and v.top < 100 and v.error < 1e-3)
    if a is None:
        a = p.source(p.shape(2), p.choice(("float32", "int32", "float16")))
    v = p.values[a]
    if v.dtype is dtypes.bool or v.top >= 100:
        return
    if p.chance(3):
        b, text = a, f"{a} @ {a}.T"
        w = moved(v, v.array.T)
    else:
        kind = str(numpy_dtype(v.dtype))
        b = p.source((v.array.shape[1], p.choice([3, 1, 4, 8])), kind)
        text, w = f"{a} @ {b}", p.values[b]
    n = v.array.shape[1]
    if v.is_float and v.dtype.itemsize == 2 and v.top * w.top * n > 1000:
        return
    error = n * (v.error * w.top + w.error * v.top)
    x, y = v.array, w.array

    def value(d: Any) -> Value:
        if not dtypes.is_float(d):
            return stored(x.astype(numpy_dtype(d)) @ y.astype(numpy_dtype(d)), d)
        inner = 0.0 if v.exact and w.exact else 1e-6 * n * v.top * w.top
        return stored(x @ y, d, error + inner, 2 + n)

    p.make(text, value)


# ---- several tensors -----------------------------------------------------------------------------


@step
def join(p: Program) -> None:
    """cat and stack of a tensor with itself, one like it, or a part of it."""
    import numpy as np

    a = p.pick(lambda v: ranked(v) and v.array.size * 2 <= LARGEST)
    if a is None:
        return
    v = p.values[a]
    shape, kind = v.array.shape, v.dtype
    b = p.pick(lambda w: w.array.shape == shape and w.dtype is kind) or a
    w = p.values[b]
    axis = p.integer(0, v.array.ndim - 1)
    how = p.choice(["cat", "stack"])
    joined = (np.concatenate if how == "cat" else np.stack)([v.array, w.array], axis)
    p.make(f"{a}.{how}({b}, dim={axis})", Value(joined, kind, max(v.error, w.error)))


def places(p: Program, size: int) -> tuple[str, Any]:
    """A new tensor of indices into an axis, and what is in it."""
    import numpy as np

    shape = p.choice([(3,), (2,), (1,), (2, 3), ()])
    flat = [p.integer(-size, size - 1) for _ in range(math.prod(shape))]
    array = np.array(flat, dtype=np.int32).reshape(shape)
    name = p.make(f"Tensor({array.tolist()})", lambda d: stored(array, d))
    return name, array


@step
def gather(p: Program) -> None:
    """Elements picked by a tensor of places, on one axis."""
    name = p.pick(lambda v: ranked(v) and 0 not in v.array.shape and v.array.size <= 200)
    if name is None:
        return
    v = p.values[name]
    axis = p.integer(0, min(v.array.ndim, 2) - 1)
    at, picked = places(p, v.array.shape[axis])
    made = v.array[picked] if axis == 0 else v.array[:, picked]
    p.make(f"{name}[{at}]" if axis == 0 else f"{name}[:, {at}]", moved(v, made))
