"""Movement arguments: check and normalise the arguments of each move.

Each function takes a shape and what a person wrote. It returns the exact arg of the movement op, or
raises ShapeError (IndexingError for an axis that does not exist) with what would fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from weft.base.arguments import index_of, is_deep, kind_of, shown
from weft.base.errors import ArgumentError, IndexingError, ShapeError
from weft.base.sequences import prod
from weft.uop import Ops, UOp, sint
from weft.uop.symbolic.quotient_bounds import least_value
from weft.uop.symbolic.sint import as_node, fold, high_of, low_of, resolve, sprod, unbind_sint

_INT = frozenset({int})
Shape = tuple[sint, ...]
Pairs = tuple[tuple[sint, sint], ...]


class SymbolicShape(tuple[sint, ...]):
    """A shape with variables, printed as an expression."""

    __slots__ = ()

    def __repr__(self) -> str:
        return say_shape(tuple(self))


def as_size(value: Any, asked: str) -> sint:
    """A size or position as an int or a folded symbolic int; ShapeError for anything else."""
    if value.__class__ is int:
        return value
    if isinstance(value, UOp):
        return fold(value)
    number = None if isinstance(value, bool) else index_of(value)
    if number is None:
        raise ShapeError(
            f"{shown(value)} is no size",
            asked=asked,
            because="sizes are ints or symbolic ints",
            try_=f"int({value!r})" if isinstance(value, float) and value.is_integer() else None,
        )
    return number


def normalise_axis(axis: Any, ndim: int, asked: str = "") -> int:
    """An axis counted from the front; negative ones count from the back. IndexingError outside."""
    number = index_of(axis)
    if number is None:
        raise IndexingError(
            f"{shown(axis)} is no axis",
            asked=asked or f"axis {shown(axis)}",
            because=f"an axis is a whole number, and that is {kind_of(axis)}",
            try_=f"0 to {ndim - 1}, or {-ndim} to -1 from the back" if ndim else None,
        )
    least = max(ndim, 1)
    if not -least <= number < least:
        raise IndexingError(
            f"axis {axis} is not there",
            asked=asked or None,
            because=_axes_there(ndim),
            try_=f"{axis % ndim}, or -1 for the last" if ndim else None,
        )
    return number + ndim if number < 0 else number


def _axes_there(ndim: int) -> str:
    if ndim == 0:
        return "the tensor has no axes"
    if ndim == 1:
        return "there is one axis: 0, or -1 from the back"
    return f"there are {ndim} axes: 0 to {ndim - 1}, or {-ndim} to -1 from the back"


def normalise_axes(axes: Any, ndim: int, asked: str = "") -> tuple[int, ...]:
    """One axis, several, or None for all, counted from the front, in ascending order, each once."""
    if axes is None:
        return tuple(range(ndim))
    given: Sequence[Any] = axes
    if not isinstance(axes, list | tuple):
        given = (axes,)
    found = [normalise_axis(axis, ndim, asked) for axis in given]
    if len(set(found)) != len(found):
        raise ShapeError(
            "an axis is named twice",
            asked=asked or f"axes {axes}",
            because=f"counted from the front they are {tuple(found)}",
            try_=f"{tuple(dict.fromkeys(found))}",
        )
    return tuple(sorted(found))


# ---- the arguments of each move ------------------------------------------------------------------

# Nearly all are plain numbers that fit: then there is nothing to be worked out, and nothing to say.


def _are_sizes(values: Sequence[Any]) -> bool:
    """Whether these are ints from 0 on, and nothing else."""
    return set(map(type, values)) <= _INT and min(values, default=0) >= 0


def _are_inside(window: Sequence[Any], shape: Shape) -> bool:
    """Whether there is a pair of ints for every axis, within it."""
    if len(window) != len(shape) or not _are_sizes(shape):
        return False
    for pair, extent in zip(window, shape):
        if pair.__class__ is not tuple or len(pair) != 2 or not set(map(type, pair)) <= _INT:
            return False
        if not 0 <= pair[0] <= pair[1] <= extent:
            return False
    return True


def reshape_arg(shape: Shape, new: Sequence[Any]) -> Shape:
    """The new shape: one -1 is inferred, None keeps the size of that axis.

    Symbolic sizes fit where they do for all values of their variables (`fits_always`), or for those
    that they are bound to.
    """
    if _are_sizes(new) and _are_sizes(shape) and math.prod(new) == math.prod(shape):
        return tuple(new)
    asked = f"reshape {say_shape(shape)} -> {say_shape(tuple(new))}"
    sizes: list[sint] = []
    unknown: int | None = None
    for position, value in enumerate(new):
        if value is None:
            if position >= len(shape):
                raise ShapeError(
                    "None keeps the size of an axis that is not there",
                    asked=asked,
                    because=f"the shape has {len(shape)} axes, None is at position {position}",
                )
            value = shape[position]
        size = as_size(value, asked)
        if size.__class__ is int and size == -1:
            if unknown is not None:
                raise ShapeError(
                    "only one size can be left to work out",
                    asked=asked,
                    because="-1 occurs more than once",
                    try_="-1 once, and a number for every other axis",
                )
            unknown = position
        elif size.__class__ is int and size < 0:
            raise ShapeError(f"a size cannot be {size}", asked=asked, try_="-1 to work it out")
        sizes.append(size)
    if unknown is not None:
        sizes[unknown] = _missing_size(shape, sizes, unknown, asked)
    result = tuple(sizes)
    if not fits_always(shape, result) and not _count_fits_now(shape, result):
        before, after = sprod(shape), sprod(result)
        raise ShapeError(
            f"a reshape keeps the number of elements: {_say(before)} is not {_say(after)}",
            asked=asked,
            because=f"{say_shape(shape)} has {_say(before)} elements, "
            f"{say_shape(result)} has {_say(after)}{_said_values(before, after)}",
            try_=_other_reshape(before, result),
        )
    return result


def _other_reshape(count: sint, sizes: Shape) -> str | None:
    """A reshape near to one that does not fit: the first size that could be worked out."""
    if count.__class__ is int and not _symbolic(*sizes):
        for position in range(len(sizes)):
            others = prod(sizes[:position] + sizes[position + 1 :])
            if others and count % others == 0:
                chosen = ", ".join("-1" if i == position else _say(s) for i, s in enumerate(sizes))
                return f"reshape({chosen}), which is {count // others} at axis {position}"
    return "reshape(-1) for one axis of all elements"


def fits_always(shape: Shape, new: Shape) -> bool:
    """Whether two shapes have equal numbers of elements for all values of the variables."""
    before, after = sprod(shape), sprod(new)
    if not _symbolic(before, after):
        return before == after
    return resolve(as_node(before).eq(as_node(after)), default=False)


def definite(shape: Shape) -> tuple[int, ...] | None:
    """The sizes at the values that their variables are bound to; None where one has no value."""
    found = tuple([_at_its_values(size) for size in shape])
    return None if _symbolic(*found) else found  # type: ignore[return-value]


def _count_fits_now(shape: Shape, new: Shape) -> bool:
    before, after = definite(shape), definite(new)
    return before is not None and after is not None and sprod(before) == sprod(after)


def _missing_size(shape: Shape, sizes: list[sint], unknown: int, asked: str) -> sint:
    whole = sprod(shape)
    others = sprod(size for position, size in enumerate(sizes) if position != unknown)
    if others.__class__ is int and others == 0:
        if whole.__class__ is int and whole == 0:
            return 0
        others = 1
        sizes = [0]
    if whole.__class__ is others.__class__ is int:
        if others and whole % others == 0 and 0 not in sizes:
            return whole // others
    else:
        quotient = fold(as_node(whole) // others)
        if fold(as_node(quotient) * others) == whole:
            return quotient
        now = definite((whole, others))
        if now is not None and now[1] and now[0] % now[1] == 0:
            return now[0] // now[1]
    raise ShapeError(
        f"{_say(whole)} elements do not divide by the other sizes",
        asked=asked,
        because=f"-1 would have to be {_say(whole)} / {_say(others)}",
        try_=f"sizes whose product divides {_say(whole)}",
    )


def permute_arg(shape: Shape, order: Sequence[Any]) -> tuple[int, ...]:
    """The order of the axes, counted from the front; each axis once."""
    asked = f"permute {shape} by {shown(tuple(order))}"
    found = tuple([normalise_axis(axis, len(shape), asked) for axis in order])
    if sorted(found) != list(range(len(shape))):
        raise ShapeError(
            "a permutation names every axis once",
            asked=asked,
            because=_not_once(found, len(shape)),
            try_=f"permute{tuple(dict.fromkeys([*found, *range(len(shape))]))}" if shape else None,
        )
    return found


def _not_once(order: tuple[int, ...], ndim: int) -> str:
    """The axes that a permutation omits or repeats, as text."""
    if not ndim:
        return "there are no axes"
    missing = [str(axis) for axis in range(ndim) if axis not in order]
    if missing:
        return f"axis {', '.join(missing)} is missing"
    return f"the axes are 0 to {ndim - 1}, and {len(order)} are named"


def expand_arg(shape: Shape, new: Sequence[Any]) -> Shape:
    """The full new shape: -1 or None keeps an axis, further axes may come first."""
    if len(new) == len(shape) and _are_sizes(new) and _are_sizes(shape):
        if all(old == 1 or old == size for old, size in zip(shape, new)):
            return tuple(new)
    asked = f"expand {say_shape(shape)} -> {say_shape(tuple(new))}"
    if len(new) < len(shape):
        raise ShapeError(
            "an expand does not lose axes",
            asked=asked,
            because=f"{len(shape)} axes cannot become {len(new)}",
        )
    padded = (1,) * (len(new) - len(shape)) + tuple(shape)
    result: list[sint] = []
    for position, (old, value) in enumerate(zip(padded, new)):
        size = old if value is None else as_size(value, asked)
        if size.__class__ is int and size == -1:
            size = old
        if old != size and not (old.__class__ is int and old == 1):
            raise ShapeError(
                f"axis {position} of size {_say(old)} cannot become {_say(size)}",
                asked=asked,
                because="only axes of size 1 are repeated",
                try_=f"-1 there keeps {_say(old)}",
            )
        if low_of(size) < 0 and (definite((size,)) is None or size < 0):
            raise ShapeError(f"a size cannot be {_say(size)}", asked=asked)
        result.append(size)
    return tuple(result)


def pad_arg(shape: Shape, padding: Any) -> Pairs:
    """(before, after) per axis, possibly negative, from one of three forms.

    One pair or None per axis; a flat sequence that names the last axis first, as
    `(last_before, last_after, next_before, ...)`, for as many axes as it has pairs; or an int for
    both sides of the last axis.
    """
    asked = f"pad {shape} by {shown(padding)}"
    if (both := index_of(padding)) is not None:
        padding = (both, both)
    if not isinstance(padding, list | tuple):
        raise ShapeError(
            "padding is an amount, or amounts for the axes",
            asked=f"pad {shape} by {shown(padding)}",
            because=f"that is {kind_of(padding)}",
            try_="((before, after), ...) for each axis, or (left, right) for the last",
        )
    entries = tuple(cast("Sequence[Any]", padding))
    if any(entry is None or isinstance(entry, list | tuple) for entry in entries):
        if len(entries) != len(shape):
            raise ShapeError(
                "the padding does not fit the axes",
                asked=asked,
                because=f"this form has a pair, or None, for each of {len(shape)} axes, and "
                f"{len(entries)} are given",
                try_="None for an axis that stays as it is",
            )
        pairs = [_padding_of(entry) for entry in entries]
    else:
        if len(entries) % 2 or len(entries) > 2 * len(shape):
            raise ShapeError(
                f"{len(entries)} amounts do not fit {len(shape)} axes",
                asked=asked,
                because="the flat form has two amounts an axis, the last axis first",
            )
        pairs = [(entries[k], entries[k + 1]) for k in range(0, len(entries), 2)][::-1]
        pairs = [(0, 0)] * (len(shape) - len(pairs)) + pairs
    if any(len(pair) != 2 for pair in pairs):
        raise ShapeError("an axis is padded before and after: two amounts", asked=asked)
    return tuple([(as_size(before, asked), as_size(after, asked)) for before, after in pairs])


def _padding_of(entry: Any) -> tuple[Any, ...]:
    """The padding of an axis before and after; None is no padding."""
    amounts = entry
    if isinstance(entry, list | tuple):
        return tuple(amounts)
    return (0, 0) if entry is None else (entry,)


def split_padding(shape: Shape, padding: Pairs) -> tuple[Pairs, Pairs]:
    """Padding that may be negative as a window to shrink to and amounts to pad by after it.

    ShapeError where an axis would have a negative size.
    """
    window: list[tuple[sint, sint]] = []
    amounts: list[tuple[sint, sint]] = []
    for axis, (extent, (before, after)) in enumerate(zip(shape, padding)):
        cut_before = -before if before.__class__ is int and before < 0 else 0
        cut_after = -after if after.__class__ is int and after < 0 else 0
        left = fold(extent - cut_before - cut_after)
        if low_of(left) < 0 and (definite((left,)) is None or left < 0):
            raise ShapeError(
                f"axis {axis} of size {_say(extent)} cannot lose {cut_before + cut_after}",
                asked=f"pad {shape} by {padding}",
                because="padding below zero cuts elements off",
                try_=f"amounts from -{_say(extent)} on in all",
            )
        window.append((cut_before, fold(extent - cut_after)))
        amounts.append((0 if cut_before else before, 0 if cut_after else after))
    return tuple(window), tuple(amounts)


def shrink_arg(shape: Shape, window: Sequence[Any]) -> Pairs:
    """[start, stop) per axis; None keeps an axis whole."""
    if _are_inside(window, shape):
        return tuple(map(tuple, window))
    asked = f"shrink {say_shape(shape)} to {say_shape(tuple(window))}"
    if len(window) != len(shape):
        raise ShapeError(
            f"{len(window)} windows do not fit {len(shape)} axes",
            asked=asked,
            because="there is one (start, stop), or None, for every axis",
        )
    result: list[tuple[sint, sint]] = []
    for axis, (extent, pair) in enumerate(zip(shape, window)):
        if pair is None:
            result.append((0, extent))
            continue
        ends = pair
        if not isinstance(pair, list | tuple) or len(ends) != 2:
            raise ShapeError(
                "a window is a pair (start, stop), or None",
                asked=asked,
                because=f"for axis {axis} there is {shown(pair)}",
            )
        start, stop = (as_size(value, asked) for value in ends)
        if not always_inside(start, stop, extent) and not _fits_now(start, stop, extent):
            values = _said_values(start, stop, extent)
            raise ShapeError(
                f"the window {_say(start)} to {_say(stop)} is not inside axis {axis}",
                asked=asked,
                because=f"the axis has {_say(extent)} elements{values}",
            )
        result.append((start, stop))
    return tuple(result)


def always_inside(start: sint, stop: sint, extent: sint) -> bool:
    """Whether [start, stop) is inside an axis for all values of the variables."""
    return (
        low_of(start) >= 0
        and high_of(fold(start - stop)) <= 0
        and least_value(fold(extent - stop)) >= 0
    )


def _fits_now(start: sint, stop: sint, extent: sint) -> bool:
    """Whether a symbolic window fits for what its variables are bound to; for some value, where
    there are free ones."""
    if not _symbolic(start, stop, extent):
        return False
    start, stop, extent = (_at_its_values(value) for value in (start, stop, extent))
    return (
        high_of(start) >= 0
        and low_of(fold(start - stop)) <= 0
        and high_of(fold(extent - stop)) >= 0
    )


def _at_its_values(value: sint) -> sint:
    """A symbolic int with its bound variables at their values."""
    free, values = unbind_sint(value)
    if not isinstance(free, UOp):
        return free
    return fold(free.substitute({u: UOp.const(u.dtype, now) for u, now in values.items()}))


def _said_values(*values: sint) -> str:
    bound = {u.arg.name: now for value in values for u, now in unbind_sint(value)[1].items()}
    return "".join(f", and {name} is {now} here" for name, now in sorted(bound.items()))


def flip_arg(shape: Shape, axes: Any) -> tuple[bool, ...]:
    """One bool per axis, true for the axes to reverse (None: all of them)."""
    reversed_axes = normalise_axes(axes, len(shape), f"flip {shape} along {shown(axes)}")
    return tuple([axis in reversed_axes for axis in range(len(shape))])


# ---- broadcasting --------------------------------------------------------------------------------


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all of them expand to, aligned at the last axis; ShapeError where none is."""
    if not shapes:
        return ()
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    ndim = max(len(shape) for shape in shapes)
    result: list[sint] = []
    for position in range(-ndim, 0):
        sizes = [shape[position] for shape in shapes if len(shape) >= -position]
        wide = [size for size in sizes if size.__class__ is not int or size != 1]
        if any(size != wide[0] for size in wide):
            clash = next(size for size in wide if size != wide[0])
            raise ShapeError(
                f"shapes {' and '.join(map(say_shape, shapes))} do not broadcast",
                asked=", ".join(map(say_shape, shapes)) + " in one operation",
                because=f"axis {position} would have to be {_say(wide[0])} and {_say(clash)}"
                + (
                    _said_values(wide[0]) + _said_values(clash)
                    if _say(clash) == _say(wide[0])
                    else ""
                ),
                try_="x.reshape(...) or x.unsqueeze(...), until the sizes of each axis, counted "
                "from the last, are equal or 1",
            )
        result.append(wide[0] if wide else 1)
    return tuple(result)


def moved_shape(op: Ops, arg: Any, shape: Shape) -> Shape:
    """The shape after a move whose arg has been checked."""
    if op is Ops.RESHAPE or op is Ops.EXPAND:
        return arg
    if op is Ops.PERMUTE:
        axes: tuple[int, ...] = arg
        return tuple([shape[axis] for axis in axes])
    if op is Ops.PAD:
        return tuple([fold(s + before + after) for s, (before, after) in zip(shape, arg)])
    if op is Ops.SHRINK:
        return tuple([fold(stop - start) for start, stop in arg])
    if op is Ops.FLIP:
        return shape
    raise ArgumentError(f"{op} is no movement", asked=f"the shape after {op}")


def _symbolic(*values: sint) -> bool:
    return any(isinstance(value, UOp) for value in values)


def say_shape(shape: Any) -> str:
    """A shape, window or padding as text, with symbolic sizes as expressions."""
    items = shape
    if isinstance(shape, list | tuple):
        if not any(isinstance(item, UOp | list | tuple | dict) for item in items):
            return str(tuple(items))
        if is_deep(shape, 2):
            return shown(shape)  # no shape, window or padding
        words = [say_shape(item) for item in items]
        return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
    return _say(shape)


def _say(value: Any) -> str:
    return value.render() if isinstance(value, UOp) else shown(value)
