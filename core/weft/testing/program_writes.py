"""The steps of random programs that write, and those that decide when things are run.

See program_steps for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.dtype import dtypes
from weft.device import numpy_dtype
from weft.testing.mirror import Value, converted, moved, part_of, stored, viewed
from weft.testing.program_lines import Program
from weft.testing.program_reduces import places
from weft.testing.program_steps import (
    STEPS,
    grows,
    has_numbers,
    index_text,
    joined,
    kind_of,
    ranked,
    step,
)

__all__ = ["STEPS"]

DEVICE = "REF"  # to which values travel and come back


def written(v: Value) -> bool:
    """Whether it may be written: views of which several elements are one may not."""
    return bool(v.array.flags.writeable)


# ---- writing -------------------------------------------------------------------------------------


def _fits_into(target: Value, shape: tuple[int, ...]) -> Callable[[Value], bool]:
    """Whether a value can be written into a part of `target` of that shape."""
    import numpy as np

    def fits(v: Value) -> bool:
        if kind_of(v.dtype) > kind_of(target.dtype):
            return False
        if v.is_float and target.dtype.itemsize == 2 and v.top > 30000:
            return False
        try:
            return np.broadcast_shapes(v.array.shape, shape) == shape
        except ValueError:
            return False

    return fits


def _part(p: Program, a: str, index: str) -> tuple[str, Value] | None:
    """What to write into a[index]: a number, another tensor, another part of itself, or a part of
    itself with something done to it."""
    import numpy as np

    target = p.values[a]
    shape = eval(f"x[{index}]", {"x": target.array}).shape
    how = p.integer(0, 3)
    if how == 0:
        number = p.integer(0, 1)
        return str(number), stored(np.array(number), target.dtype)
    if how == 1:
        value = moved(target, eval(f"x[{index}]", {"x": target.array}))
        if target.dtype is dtypes.bool or value.array.size == 0 or grows("*", value, value):
            return None
        two = stored(np.array(2), value.dtype)
        return f"{a}[{index}] * 2", joined("*", value, two, value.dtype)
    if how == 2 and "None" not in index:
        other = index_text(p, target.array.shape)
        part = eval(f"x[{other}]", {"x": target.array})
        if _fits_into(target, shape)(moved(target, part)):
            return f"{a}[{other}]", moved(target, part)
    b = p.pick(_fits_into(target, shape))
    if b is None:
        b = p.source(shape, str(numpy_dtype(target.dtype)))
    return b, p.values[b]


@step
def write(p: Program) -> None:
    """a[window] = value"""
    a = p.pick(lambda v: ranked(v) and written(v))
    if a is None:
        return
    index = index_text(p, p.values[a].array.shape)
    found = _part(p, a, index)
    if found is None:
        return
    text, new = found
    target = p.values[a]
    new = converted(new, target.dtype)
    array = _copy(target.array)
    exec(f"x[{index}] = y", {"x": array, "y": new.array})
    p.run(f"{a}[{index}] = {text}")
    p.wrote(a, stored(array, target.dtype, max(target.error, new.error)))


def _copy(array: Any) -> Any:
    """A writable copy."""
    import numpy as np

    return np.array(array)


@step
def scatter(p: Program) -> None:
    """a[places] = value, and a[truth] = number."""
    import numpy as np

    a = p.pick(
        lambda v: ranked(v) and written(v) and 0 not in v.array.shape and v.array.size <= 200
    )
    if a is None:
        return
    target = p.values[a]
    array = _copy(target.array)
    if p.chance(2):
        mask = p.pick(lambda v: v.dtype is dtypes.bool and v.array.shape == array.shape)
        if mask is None:
            mask = p.source(array.shape, "bool")
        number = p.integer(0, 1)
        array[p.values[mask].array] = number
        p.run(f"{a}[{mask}] = {number}")
        p.wrote(a, stored(array, target.dtype, target.error))
        return
    at, picked = places(p, array.shape[0])
    shape = array[picked].shape
    b = p.pick(_fits_into(target, shape)) or p.source(shape, str(numpy_dtype(target.dtype)))
    new = converted(p.values[b], target.dtype)
    # where a place is named twice the last value counts
    values = np.broadcast_to(new.array, shape).reshape(picked.size, *array.shape[1:])
    for place, value in zip(picked.reshape(-1), values):
        array[place] = value
    p.run(f"{a}[{at}] = {b}")
    p.wrote(a, stored(array, target.dtype, max(target.error, new.error)))


_UPDATES = {"+": "+=", "*": "*=", "-": "-="}


@step
def update(p: Program) -> None:
    """a += b, with b another tensor, a itself, or a itself in another order."""
    a = p.pick(lambda v: has_numbers(v) and written(v))
    if a is None:
        return
    target = p.values[a]
    op = p.choice(list(_UPDATES))
    shape = target.array.shape
    how = p.integer(0, 4)
    if how == 0 and len(shape) == 2 and shape[0] == shape[1]:
        text, other = f"{a}.T", moved(target, target.array.T)
        text += p.choice([".contiguous()", ".clone()", ".T.T.contiguous()"])
    elif how == 1 and len(shape):
        import numpy as np

        text, other = f"{a}.flip(0).contiguous()", moved(target, np.flip(target.array, 0))
    else:
        fits = _fits_into(target, shape)
        b = p.pick(lambda v: fits(v) and v.dtype is not dtypes.bool)
        if b is None:
            return
        text, other = b, p.values[b]
    if grows(op, target, other):
        op = "+"
    names = {**p.known}
    kind = eval(f"({a} {op} {text}).dtype", names)
    if kind_of(kind) > kind_of(target.dtype):
        return  # of int32 and uint64 comes a float, which is not written into integers
    made = converted(joined(op, target, other, kind), target.dtype)
    p.run(f"{a} {_UPDATES[op]} {text}")
    p.wrote(a, made)


@step
def assign(p: Program) -> None:
    """a.assign(b), where b may be computed from a."""
    a = p.pick(written)
    if a is None:
        return
    target = p.values[a]
    b = p.pick(_fits_into(target, target.array.shape))
    if b is None:
        return
    import numpy as np

    new = converted(p.values[b], target.dtype)
    array = np.array(np.broadcast_to(new.array, target.array.shape))
    p.run(f"{a}.assign({b})")
    p.wrote(a, moved(new, array))


@step
def travel(p: Program) -> None:
    """To another device and back, whole or in part, with something computed there."""
    a = p.pick(has_numbers)
    if a is None:
        return
    v = p.values[a]
    how = p.integer(0, 2)
    copied = viewed if p.known[a].device == DEVICE else moved  # nothing is copied to where it is
    if how == 2 and v.array.ndim:
        index = index_text(p, v.array.shape)
        there = f"{a}[{index}].to({DEVICE!r})"
        p.make(f"{there}.to({a}.device)", copied(v, part_of(v.array, index)))
    elif how == 1:
        one = stored(_copy(1), v.dtype)
        value = joined("+", v, one, v.dtype)
        p.make(f"({a}.to({DEVICE!r}) + 1).to({a}.device)", value)
    else:
        p.make(f"{a}.to({DEVICE!r}).to({a}.device)", copied(v, v.array))


# ---- when things are run -------------------------------------------------------------------------


def _some(p: Program) -> list[str]:
    names = list(p.values)
    chosen = dict.fromkeys(p.choice(names) for _ in range(p.integer(1, 3)))
    return list(chosen)


@step
def realize(p: Program) -> None:
    """Some tensors are computed now."""
    if p.values:
        first, *others = _some(p)
        p.run(f"{first}.realize({', '.join(others)})")


@step
def kernelize(p: Program) -> None:
    """Some tensors are grouped into kernels, which do not run yet."""
    if p.values:
        first, *others = _some(p)
        p.run(f"{first}.kernelize({', '.join(others)})")


@step
def forget(p: Program) -> None:
    """Delete a tensor."""
    if len(p.values) > 1:
        name = p.choice(list(p.values))
        p.run(f"del {name}")
        del p.values[name]


@step
def look(p: Program) -> None:
    """A tensor is read in the middle."""
    if p.values:
        p.check(p.choice(list(p.values)))
