"""Programs of places: indices of every sort, read and written, and chains of movement."""

from __future__ import annotations

import math
from typing import Any

from cases.numpy_cases import KINDS, REAL, WHOLE, Draw, family, rounded
from cases.numpy_cases.arithmetic import applied
from cases.numpy_cases.movement import MOVES, a_slice, moved, pad, triangle

_LARGEST = 20000  # elements of what a chain of moves may grow to


def an_index(draw: Draw, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """An index into a shape: numbers, slices, None, Ellipsis, integer arrays and masks."""
    items: list[Any] = []
    common = draw.choice([(), (1,), (3,), (7,), (2, 3), (4, 1), (33,)])
    arrays = draw.chance(0.6)
    axis = 0
    count = draw.integer(0, len(shape))
    while axis < count:
        if draw.chance(0.12):
            items.append(None)
        kinds = ["number", "slice", "slice", "slice"] + ["array"] * 4 * arrays + ["mask"] * arrays
        kind, size = draw.choice(kinds), shape[axis]
        if kind == "number" and size:
            items.append(draw.integer(-size, size - 1))
        elif kind == "array" and size:
            extents = tuple(1 if draw.chance(0.2) else n for n in common)
            extents = extents[draw.integer(0, len(extents)) if draw.chance(0.3) else 0 :]
            whole = draw.choice(["int64", "int32", "int8" if size < 128 else "int16"])
            items.append(draw.numbers.integers(-size, size, extents).astype(whole))
        elif kind == "mask" and common in ((1,), (3,)) and size >= common[0]:
            rank = draw.integer(1, min(2, len(shape) - axis))
            mask = draw.numbers.permutation(math.prod(shape[axis : axis + rank])) < common[0]
            items.append(mask.reshape(shape[axis : axis + rank]))
            axis += rank - 1
            count = max(count, axis + 1)
        else:
            items.append(a_slice(draw, size))
        axis += 1
    if draw.chance(0.25):
        items.insert(draw.integer(0, len(items)), Ellipsis)
        # what follows it counts from the end: only what fits there may follow
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        items = items[: at + 1] + [i for i in items[at + 1 :] if i is None or isinstance(i, slice)]
    return tuple(items)


def _as_ours(draw: Draw, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with tensors for its arrays, most of them."""
    import numpy

    return tuple(
        draw.tensor(i) if isinstance(i, numpy.ndarray) and i.dtype != bool and draw.chance(0.8)
        else draw.tensor(i, layout="plain") if isinstance(i, numpy.ndarray) and draw.chance(0.8)
        else i
        for i in index
    )  # fmt: skip


def _described(index: tuple[Any, ...]) -> str:
    shown = [f"{i.dtype}{list(i.shape)}" if hasattr(i, "shape") else str(i) for i in index]
    return f"[{', '.join(shown)}]"


def _once(array: Any, index: tuple[Any, ...]) -> bool:
    """Whether no place is chosen twice: which of several writes stays is asked elsewhere."""
    import numpy

    places = numpy.arange(array.size).reshape(array.shape)[index]
    return numpy.unique(places).size == places.size


@family
def reading(draw: Draw) -> None:
    """Elements chosen by indices, then arithmetic and sums of what was chosen."""
    import numpy

    kind = draw.choice(KINDS)
    shape = draw.shape(1, 4, 3000)
    x, a = draw.input(shape, kind)
    for _ in range(3):
        index = an_index(draw, shape)
        got, want = x[_as_ours(draw, index)], a[index]
        text = f"{kind}{list(shape)}{_described(index)}"
        if want.size > _LARGEST:
            continue
        draw.ask(text, got, want, kind)
        if want.ndim and draw.chance(0.5):
            further = an_index(draw, want.shape)
            if want[further].size <= _LARGEST:
                told = text + _described(further)
                draw.ask(told, got[_as_ours(draw, further)], want[further], kind)
        if kind in WHOLE and want.size:
            total = want * numpy.asarray(3, want.dtype) - want.max()
            draw.ask(f"{text} summed", (got * 3 - got.max()).sum(), total.sum(dtype=summed(kind)))
    same = an_index(draw, shape)
    if kind != "bool" and a[same].size <= _LARGEST:
        ours = _as_ours(draw, same)
        want = applied(lambda p, q: p * q, kind, a[same], rounded(a[same] + a[same], kind))
        draw.ask(f"{kind} twice {_described(same)}", x[ours] * (x + x)[ours], want, kind)


def summed(kind: str) -> str:
    """The dtype that a sum has."""
    if kind == "bool" or kind.startswith("int"):
        return "int64"
    return "uint64" if kind.startswith("uint") else kind


@family
def writing(draw: Draw) -> None:
    """Places overwritten, one write after another, while copies hold what was there before, and
    views see what is written."""
    kind = draw.choice(KINDS)
    shape = draw.shape(1, 3, 2000)
    x, a = draw.input(shape, kind)
    x, a = x.clone(), a.copy()
    told = f"{kind}{list(shape)}"
    for turn in range(draw.integer(1, 4)):
        if draw.chance(0.3):
            x.realize()
        index = an_index(draw, shape)
        if not _once(a, index) or a[index].size > _LARGEST:
            continue
        view, before, held = x.flip(0), x.flip(0).contiguous(), a[::-1].copy()
        target = a[index].shape
        given = tuple(1 if draw.chance(0.2) else n for n in target)
        given = given[draw.integer(0, len(given)) if draw.chance(0.3) else 0 :]
        how = draw.choice(["value", "value", "number", "add", "self"])
        told += f"{_described(index)} {how}"
        ours = _as_ours(draw, index)
        if how == "number":
            x[ours], a[index] = 1, 1
        elif how == "self" and kind != "bool":
            x[ours] = x[ours] + x[ours]
            a[index] = rounded(a[index] + a[index], kind)
        elif how == "add" and kind != "bool":
            x[ours] += 3
            a[index] = rounded(a[index] + a.dtype.type(3), kind)
        else:
            y, b = draw.input(given, kind)
            x[ours], a[index] = y, b
        draw.ask(f"{told}, before {turn}", before, held, kind)
        draw.ask(f"{told}, seen after {turn}", view.clone(), a[::-1].copy(), kind)
    draw.ask(told, x, a, kind)
    if kind in WHOLE:
        draw.ask(f"{told} summed", x.sum(-1), a.sum(-1, dtype=summed(kind)))


@family
def scattering(draw: Draw) -> None:
    """Sums and extremes over what indices put somewhere, and places read along an axis."""
    import numpy

    kind = draw.choice(["int32", "int64", "float32", "float64", "uint8"])
    shape = draw.shape(1, 2, 1500)
    if 0 in shape:
        return
    axis = draw.integer(0, len(shape) - 1)
    extents = tuple(draw.size(300) if i == axis else n for i, n in enumerate(shape))
    (x, a), (y, b) = draw.input(shape, kind, "few"), draw.input(extents, kind, "few")
    at = draw.numbers.integers(0, shape[axis], extents)
    index = draw.tensor(at.astype(draw.choice(["int32", "int64"])))
    text = f"{kind}{list(shape)} at {list(extents)} along {axis}"
    draw.ask(f"gather {text}", x.gather(axis, index), numpy.take_along_axis(a, at, axis), kind)
    grid = list(numpy.indices(extents))
    grid[axis] = at
    added = a.copy()
    numpy.add.at(added, tuple(grid), b)
    draw.ask(f"scatter_add {text}", x.scatter_add(axis, index, y), added, kind)
    for name, function in (("amax", numpy.maximum), ("amin", numpy.minimum)):
        most = a.copy()
        function.at(most, tuple(grid), b)
        draw.ask(f"{name} {text}", x.scatter_reduce(axis, index, y, name), most, kind)
    flat = draw.numbers.integers(-shape[axis], shape[axis], draw.size(200))
    rows = numpy.take(a, flat % shape[axis], axis)
    draw.ask(f"index_select {text}", x.index_select(axis, draw.tensor(flat % shape[axis])), rows)
    put = a.copy()
    moved = numpy.moveaxis(put, axis, 0)
    numpy.add.at(moved, flat % shape[axis], numpy.moveaxis(rows, axis, 0))
    got = x.index_add(axis, draw.tensor(flat % shape[axis]), draw.tensor(rows, kind))
    draw.ask(f"index_add {text}", got, put, kind)


@family
def movement(draw: Draw) -> None:
    """Chains of moves, with arithmetic in between and sums at the end: integers, bit for bit."""
    kind = draw.choice([*WHOLE, "bool", *REAL])
    x, a = draw.input(draw.shape(0, 3, 1000), kind)
    start = (x, a)
    told = f"{kind}{list(a.shape)}"
    for _ in range(draw.integer(2, 7)):
        name, y, b = moved(draw, x, a)
        if b.size > _LARGEST or b.ndim > 6:
            continue
        told, x, a = f"{told}, {name}", y, b
        if kind in WHOLE and draw.chance(0.35):
            number = draw.integer(1, 7)
            told, x = f"{told}, * {number} + 1", x * number + 1
            a = a * a.dtype.type(number) + a.dtype.type(1)
        if draw.chance(0.1):
            x = x.contiguous()
        if draw.chance(0.1):
            x.realize()
    draw.ask(told, x, a, kind)
    if kind in WHOLE and a.ndim:
        axis = draw.integer(0, a.ndim - 1)
        want = a.sum(axis, dtype=summed(kind))
        draw.ask(f"{told}, sum {axis}", x.sum(axis), want)
        if a.shape[axis]:
            less = x - x.max(axis, keepdim=True)
            draw.ask(f"{told}, less its maximum", less, a - a.max(axis, keepdims=True))
    if kind in WHOLE and a.size and start[1].size:
        other = start[1].ravel()[0]
        draw.ask(f"{told}, with its first", x ^ start[0].flatten()[0], a ^ other)


@family
def slopes_of_places(draw: Draw) -> None:
    """Gradients through indices, moves and sums: each element's is what was put upon it."""
    import numpy

    shape = draw.shape(1, 3, 600)
    a = draw.array(shape, "float64", "few")
    x = draw.tensor(a, layout="plain").requires_grad_()
    at = numpy.arange(a.size).reshape(a.shape)
    y, told = x, f"{list(shape)}"
    for _ in range(draw.integer(1, 4)):
        name, z, places = _of_places(draw, y, at)
        if places.size > _LARGEST or places.ndim > 6:
            continue
        y, at, told = z, places, f"{told}, {name}"
    weights = draw.array(at.shape, "float64", "few")
    if not at.size:
        return
    total = (y * y * draw.tensor(weights)).sum()
    want = numpy.zeros(a.size + 1)
    values = numpy.append(a.ravel(), 0.0)
    numpy.add.at(want, at.ravel(), (2 * weights * values[at]).ravel())
    draw.ask(told, total.gradient(x)[0], want[:-1].reshape(a.shape), "float64", near=1)


def _of_places(draw: Draw, x: Any, at: Any) -> tuple[str, Any, Any]:
    """A move of values, and of the places that they come from."""
    if at.ndim and draw.chance(0.4):
        index = an_index(draw, at.shape)
        return _described(index), x[_as_ours(draw, index)], at[index]
    return draw.choice(_OF_PLACES)(draw, x, at) or ("nothing", x, at)


# those that make new values have no places for them
_OF_PLACES = [move for move in MOVES if move not in (pad, triangle)]
