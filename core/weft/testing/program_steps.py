"""The steps of random programs: each appends lines to a Program and mirrors them.

A step that finds no tensor it could be taken with does nothing, or creates one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.device import numpy_dtype
from weft.testing.mirror import Value, converted, moved, part_of, stored, viewed
from weft.testing.program_lines import KINDS, LARGEST, Program

Step = Callable[[Program], None]
STEPS: dict[str, Step] = {}


def step(function: Step) -> Step:
    """Enter a step into the table by its name."""
    STEPS[function.__name__] = function
    return function


def kind_of(dtype: DType) -> int:
    """0 for bool, 1 for integers, 2 for floats."""
    return 2 if dtypes.is_float(dtype) else int(dtype is not dtypes.bool)


def ranked(value: Value) -> bool:
    """At least one axis."""
    return value.array.ndim > 0


def has_numbers(value: Value) -> bool:
    """Not truths."""
    return value.dtype is not dtypes.bool


# ---- sources of values ---------------------------------------------------------------------------


@step
def create(p: Program) -> None:
    """An array, one value in a shape, numbers in a row, a mere number."""
    import numpy as np

    how = p.choice(["array", "full", "arange", "number"])
    if how == "array":
        p.source(p.shape())
    elif how == "full":
        shape, number, kind = p.shape(), p.integer(0, 3), p.choice(KINDS[:4])
        own = p.choice(["", ".contiguous()", ".clone()"])
        p.make(
            f"Tensor.full({shape}, {number}, dtype={kind!r}){own}",
            lambda d: stored(np.full(shape, number), d),
        )
    elif how == "arange":
        start, stop, by = p.integer(0, 3), p.integer(0, 20), p.choice([1, 2, 3])
        p.make(
            f"Tensor.arange({start}, {stop}, {by})", lambda d: stored(np.arange(start, stop, by), d)
        )
    else:
        number = p.choice([2, 0, -3, 5])
        p.make(f"Tensor({number})", lambda d: stored(np.array(number), d))


def _other(p: Program, a: Value, fits: Callable[[Value], bool] = lambda v: True) -> str:
    """A live or new tensor whose shape broadcasts with that of `a`."""
    found = p.pick(lambda v: fits(v) and _broadcasts(a.array.shape, v.array.shape))
    if found is not None and not p.chance(4):
        return found
    shape = tuple(s if not p.chance(5) else 1 for s in a.array.shape)
    kind = str(numpy_dtype(a.dtype)) if p.chance(2) else None
    made = p.source(shape[p.integer(0, len(shape)) if p.chance(4) else 0 :], kind)
    return made if fits(p.values[made]) else p.make(f"{made}.cast('int32')", _cast(p, made))


def _cast(p: Program, name: str) -> Callable[[Any], Value]:
    return lambda d: converted(p.values[name], d)


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    import numpy as np

    try:
        return math.prod(np.broadcast_shapes(a, b)) <= LARGEST
    except ValueError:
        return False


# ---- computing -----------------------------------------------------------------------------------


@step
def unary(p: Program) -> None:
    """A function of one tensor, where its value is safe from poles and overflow."""
    import numpy as np

    name = p.pick(has_numbers)
    if name is None:
        return create(p)
    v = p.values[name]
    x = v.array
    if not v.is_float and p.chance(2):
        negated = p.choice([("-", np.negative), ("~", np.invert)])
        p.make(f"{negated[0]}{name}", lambda d: stored(negated[1](x), d))
        return None
    low = float(np.abs(x.astype(float)).min()) if x.size else 1.0
    x = x.astype(float)
    ways: list[tuple[str, Any, float]] = [
        ("{}.relu()", np.maximum(v.array, 0), v.error),  # of integers no float has
        ("{}.abs()" if v.is_float else "{}.float().abs()", np.abs(x), v.error),
        ("({}.float().abs() + 1).sqrt()", np.sqrt(np.abs(x) + 1), v.error + 1e-7),
        ("{}.sigmoid()", 1 / (1 + np.exp(-np.clip(x, -80, 80))), v.error + 1e-6),
    ]
    if v.top <= 6:
        ways.append(("{}.exp()", np.exp(x), v.error * math.exp(v.top) + 1e-5))
        ways.append(("{}.sin()", np.sin(x), v.error + 1e-6))
    if low > 0.4 and v.error < 1e-3:
        ways.append(("{}.reciprocal()", 1 / x, v.error * 7 + 1e-6))
        ways.append(("{}.abs().log()", np.log(np.abs(x)), v.error * 3 + 1e-6))
    text, value, error = p.choice(ways)
    p.make(text.format(name), lambda d: stored(value, d, error, 4))
    return None


def joined(op: str, a: Value, b: Value, dtype: DType) -> Value:
    """a op b for + - * max min in `dtype`."""
    import numpy as np

    a, b = converted(a, dtype), converted(b, dtype)
    x, y = a.array, b.array
    with np.errstate(all="ignore"):
        if op in ("+", "-"):
            made = (x | y) if dtype is dtypes.bool else x + y if op == "+" else x - y
            return stored(made, dtype, a.error + b.error)
        if op == "*":
            made = (x & y) if dtype is dtypes.bool else x * y
            return stored(made, dtype, a.error * b.top + b.error * a.top + a.error * b.error)
        return stored(np.maximum(x, y) if op == "max" else np.minimum(x, y), dtype,
                      max(a.error, b.error))  # fmt: skip


def grows(op: str, a: Value, b: Value) -> bool:
    """Whether a product of floats leaves what is comfortable."""
    floats = a.is_float or b.is_float
    return op == "*" and floats and (a.top * b.top > 1e3 or max(a.error, b.error) > 1e-2)


_OPERATORS = {"+": "{} + {}", "*": "{} * {}", "-": "{} - {}", "max": "{}.maximum({})",
              "min": "{}.minimum({})"}  # fmt: skip


@step
def binary(p: Program) -> None:
    """Two tensors, or a tensor and a number, joined or compared."""
    import numpy as np

    a = p.pick()
    if a is None:
        return create(p)
    if p.chance(5) and p.values[a].exact:
        return _compared(p, a)
    op = p.choice(list(_OPERATORS))
    if p.values[a].dtype is dtypes.bool and op not in ("+", "*"):
        op = "*"
    if p.chance(4) and has_numbers(p.values[a]):
        number = p.integer(0, 3)
        v = p.values[a]
        p.make(
            _OPERATORS[op].format(a, number),
            lambda d: joined(op, v, stored(np.array(number), d), d),
        )
        return None
    b = _other(p, p.values[a], lambda v: v.dtype is not dtypes.bool or op in ("+", "*"))
    if p.chance(2):
        a, b = b, a
    if grows(op, p.values[a], p.values[b]):
        op = "+"
    p.make(_OPERATORS[op].format(a, b), lambda d: joined(op, p.values[a], p.values[b], d))
    return None


_COMPARE = {"<": "less", "==": "equal", "!=": "not_equal", ">=": "greater_equal"}


def _compared(p: Program, a: str) -> None:
    import numpy as np

    b = _other(p, p.values[a], lambda v: v.exact and v.top < 2000)
    op = p.choice(list(_COMPARE))
    if not p.values[b].exact or max(p.values[a].top, p.values[b].top) >= 2000:
        return
    x, y = (p.values[n].array.astype(np.float64) for n in (a, b))
    p.make(f"{a} {op} {b}", lambda d: stored(getattr(np, _COMPARE[op])(x, y), d))


@step
def choose(p: Program) -> None:
    """where(truth, a, b)"""
    import numpy as np

    c = p.pick(lambda v: v.dtype is dtypes.bool)
    if c is None:
        c = p.source(p.shape(), "bool")
    a = _other(p, p.values[c])
    joint = Value(np.broadcast_to(p.values[c].array, np.broadcast_shapes(
        p.values[c].array.shape, p.values[a].array.shape)), dtypes.bool)  # fmt: skip
    b = _other(p, joint)

    def value(d: Any) -> Value:
        x, y = converted(p.values[a], d), converted(p.values[b], d)
        made = np.where(p.values[c].array, x.array, y.array)
        return stored(made, d, max(x.error, y.error))

    p.make(f"{c}.where({a}, {b})", value)


@step
def cast(p: Program) -> None:
    """To another dtype; to integers where the number is beyond doubt."""
    name = p.pick()
    if name is None:
        return
    v = p.values[name]
    kind = p.choice(("float32", "int32", "int64", "uint8", "bool", "float16", "int16"))
    if not kind.startswith("float") and v.is_float:
        signed_into_none = kind == "uint8" and v.array.size and v.array.min() < 0
        if not v.exact or signed_into_none or v.top > (100 if kind == "uint8" else 30000):
            return
    if kind == "float16" and v.top > 30000:
        return
    p.make(f"{name}.cast({kind!r})", _cast(p, name))


# ---- movement ------------------------------------------------------------------------------------


def _move(p: Program, name: str, text: str, array: Any) -> None:
    p.make(f"{name}{text}", viewed(p.values[name], array))


@step
def reshape(p: Program) -> None:
    """The same elements in another shape."""
    name = p.pick()
    if name is None:
        return
    x = p.values[name].array
    shapes = [(x.size,), (1, *x.shape), (*x.shape, 1), x.shape[::-1]]
    for n in (2, 3, 4):
        if x.size % n == 0:
            shapes += [(n, x.size // n), (x.size // n, n)]
    shape = p.choice(shapes)
    _move(p, name, f".reshape({shape})", x.reshape(shape))


@step
def permute(p: Program) -> None:
    """Axes in another order."""
    name = p.pick(lambda v: v.array.ndim > 1)
    if name is None:
        return
    x = p.values[name].array
    left, order = list(range(x.ndim)), []
    while left:
        order.append(left.pop(p.integer(0, len(left) - 1)))
    _move(p, name, f".permute({tuple(order)})", x.transpose(order))


@step
def expand(p: Program) -> None:
    """One element many times."""
    import numpy as np

    name = p.pick(lambda v: v.array.size * 4 <= LARGEST)
    if name is None:
        return
    x = p.values[name].array
    if 1 not in x.shape:
        at = p.integer(0, x.ndim)
        shape = (*x.shape[:at], 1, *x.shape[at:])
    else:
        shape = x.shape
    first = shape.index(1)
    wide = tuple(p.choice([3, 4, 2]) if i == first else s for i, s in enumerate(shape))
    made = np.broadcast_to(x.reshape(shape), wide)
    via = "" if shape == x.shape else f".reshape({shape})"
    _move(p, name, f"{via}.expand({wide})", made)


@step
def pad(p: Program) -> None:
    """More elements around, zero or another number."""
    import numpy as np

    name = p.pick(lambda v: ranked(v) and v.array.size < LARGEST // 4)
    if name is None:
        return
    v = p.values[name]
    around = tuple((p.integer(0, 2), p.integer(0, 2)) for _ in v.array.shape)
    number = p.choice([0, 0, 1, 2])
    extra = f", value={number}" if number else ""
    made = np.pad(v.array, around, constant_values=number)
    p.make(f"{name}.pad({around}{extra})", moved(v, made))


@step
def shrink(p: Program) -> None:
    """A window."""
    name = p.pick(ranked)
    if name is None:
        return
    x = p.values[name].array
    window = tuple(_span(p, s) for s in x.shape)
    _move(p, name, f".shrink({window})", x[tuple(slice(i, j) for i, j in window)])


def _span(p: Program, size: int) -> tuple[int, int]:
    start = p.integer(0, min(size, 2)) if not p.chance(2) else 0
    stop = size - (p.integer(0, min(size - start, 2)) if p.chance(2) else 0)
    return start, stop


@step
def flip(p: Program) -> None:
    """An axis backwards."""
    import numpy as np

    name = p.pick(ranked)
    if name is None:
        return
    x = p.values[name].array
    axis = p.integer(0, x.ndim - 1)
    _move(p, name, f".flip({axis})", np.flip(x, axis))


def index_text(p: Program, shape: tuple[int, ...]) -> str:
    """The text of an index made of ints and slices."""
    parts = []
    for size in shape[: p.integer(1, len(shape)) if shape else 0]:
        how = p.integer(0, 5)
        if how == 0 and size:
            parts.append(str(p.integer(-size, size - 1)))
        elif how == 1:
            parts.append(p.choice(["::2", "::-1", "1::2", "::-2", "::3"]))
        elif how == 2:
            parts.append(":")
        else:
            start, stop = _span(p, size)
            parts.append(f"{start}:{stop}")
    if p.chance(8):
        parts.insert(p.integer(0, len(parts)), "None")
    return ", ".join(parts) or "..."


@step
def slices(p: Program) -> None:
    """Ints and slices, with steps and backwards."""
    name = p.pick(ranked)
    if name is None:
        return
    x = p.values[name].array
    index = index_text(p, x.shape)
    _move(p, name, f"[{index}]", part_of(x, index))


# ---- memory --------------------------------------------------------------------------------------

_HOLDS = (".contiguous()", ".detach()", ".clone()", ".contiguous().contiguous()", ".fuse()")


@step
def hold(p: Program) -> None:
    """The same value again: in memory of its own, as a view, or marked for fusion."""
    name = p.pick()
    if name is None:
        return
    text = p.choice(_HOLDS)
    v = p.values[name]
    p.make(f"{name}{text}", viewed(v, v.array) if text == ".detach()" else moved(v, v.array))
