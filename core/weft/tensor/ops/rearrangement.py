"""Axes regrouped by a formula, as einops writes them."""

from __future__ import annotations

import re
from typing import Any

from weft.base.arguments import text, whole
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.tensor.protocol import TensorT

_DOTS = "..."
_WORD = re.compile(r"\.\.\.|[()]|[^\s().]+|\.")
_EXAMPLE = '"b (h w) c -> b c h w", h=4'

# one axis of a side: a name by itself, or the names in a pair of brackets; of none it has one
# element, and so "1" is "()"
Axis = str | tuple[str, ...]


def rearrange(self: TensorT, formula: str, **sizes: int) -> TensorT:
    """Axes regrouped by an einops formula: `"b (h w) c -> b c h w"`, with sizes by name.

    Names in brackets form one axis. "1" and "()" are an axis of one element, and "..." is all axes
    without a name.

    :raises ArgumentError: for a formula that cannot be read or does not fit the shape.

    >>> Tensor.zeros(2, 6, 3).rearrange("b (h w) c -> b c h w", h=2).shape
    (2, 3, 2, 3)
    >>> Tensor.zeros(2, 3, 4).rearrange("b ... -> b (...)").shape
    (2, 12)
    """
    formula = text(formula, "formula", _EXAMPLE)
    sizes = {name: whole(size, name, least=0) for name, size in sizes.items()}
    try:
        left, right = _read(formula)
        left, right = _without_dots(left, right, len(self.shape))
        known = _sizes_of(left, self.shape, sizes)
    except _Misfit as misfit:
        raise ArgumentError(
            "this formula does not rearrange this shape",
            asked=f"rearrange({formula!r}) of shape {self.shape}",
            because=str(misfit),
            try_=_EXAMPLE,
        ) from None
    names, wanted = _names(left), _names(right)
    apart = self.reshape(tuple(known[n] for n in names))
    ordered = apart.permute(tuple(names.index(n) for n in wanted))
    return ordered.reshape(
        tuple(known[a] if isinstance(a, str) else prod(known[n] for n in a) for a in right)
    )


class _Misfit(Exception):
    """Why a formula cannot be used."""


def _read(formula: str) -> tuple[list[Axis], list[Axis]]:
    """Both sides of a formula, which have the same names."""
    sides = formula.replace("\N{HORIZONTAL ELLIPSIS}", _DOTS).split("->")
    if len(sides) != 2:
        raise _Misfit("it needs one arrow")
    left, right = (_read_side(side) for side in sides)
    if any(_DOTS in axis for axis in left if not isinstance(axis, str)):
        raise _Misfit("the number of axes of ... in brackets is unknown")
    if sorted(_names(left)) != sorted(_names(right)):
        raise _Misfit("both sides need the same names, each once")
    return left, right


def _read_side(side: str) -> list[Axis]:
    """`"b (h w) 1 ..."` as ["b", ("h", "w"), (), "..."]."""
    axes: list[Axis] = []
    inside: list[str] | None = None
    for word in _WORD.findall(side):
        if word == "(":
            if inside is not None:
                raise _Misfit("brackets cannot be nested")
            inside = []
        elif word == ")":
            if inside is None:
                raise _Misfit("a bracket is closed that was not opened")
            axes.append(tuple(inside))
            inside = None
        elif word == "1":
            if inside is None:
                axes.append(())
        else:
            _check_name(word)
            (axes if inside is None else inside).append(word)
    if inside is not None:
        raise _Misfit("a bracket is not closed")
    names = _names(axes)
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise _Misfit(f"{twice!r} is twice on one side")
    return axes


def _check_name(word: str) -> None:
    plain = word.isidentifier() and not word.startswith("_") and not word.endswith("_")
    if word != _DOTS and not plain:
        raise _Misfit(f"{word!r} is no name of an axis")


def _names(axes: list[Axis]) -> list[str]:
    return [name for axis in axes for name in ((axis,) if isinstance(axis, str) else axis)]


def _without_dots(left: list[Axis], right: list[Axis], rank: int) -> tuple[Any, Any]:
    """Both sides, with names for the axes of "..."."""
    dotted = _DOTS in left
    extra = rank - (len(left) - dotted)
    if extra < 0 or (extra and not dotted):
        raise _Misfit(f"the left side has {len(left) - dotted} axes, the shape {rank}")
    unnamed = tuple(f"{_DOTS}{i}" for i in range(extra))

    def spread(axes: list[Axis]) -> list[Axis]:
        result: list[Axis] = []
        for axis in axes:
            if axis == _DOTS:
                result += unnamed
            elif isinstance(axis, str):
                result.append(axis)
            else:
                result.append(tuple(m for n in axis for m in (unnamed if n == _DOTS else (n,))))
        return result

    return spread(left), spread(right)


def _sizes_of(axes: list[Axis], shape: tuple[Any, ...], given: dict[str, int]) -> dict[str, Any]:
    """The size of every name: as given, or as the shape leaves it."""
    known: dict[str, Any] = {}
    if strange := sorted(set(given) - set(_names(axes))):
        raise _Misfit(f"there is no axis {strange[0]!r}")
    for axis, extent in zip(axes, shape):
        group = (axis,) if isinstance(axis, str) else axis
        known |= {name: given[name] for name in group if name in given}
        unknown = [name for name in group if name not in given]
        rest = prod(known[name] for name in group if name in given)
        if len(unknown) > 1:
            raise _Misfit(f"the sizes of {' and '.join(unknown)} are not given")
        if not unknown:
            if extent != rest:
                raise _Misfit(f"{' '.join(group) or 'an axis of 1'} is {rest}, not {extent}")
        elif rest == 1:
            known[unknown[0]] = extent
        elif rest < 1 or extent % rest:
            raise _Misfit(f"{extent} elements are no whole number of {rest}")
        else:
            known[unknown[0]] = extent // rest
    return known
