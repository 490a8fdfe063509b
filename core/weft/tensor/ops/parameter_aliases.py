"""Parameters under the names that they have elsewhere: `dim` for `axis` and the other way round,
`keepdims` for `keepdim`. A method has one name for each; this table adds the second.

`max`, `min`, `cummax` and `cummin` give values along an `axis`, as in NumPy, and values with their
indices along a `dim`, as in PyTorch.

The same wrapper checks the flags of a method, its parameters annotated as `bool`: a number in place
of one is mostly a second axis, as in `mean(1, 2)`. Operators check `reverse` by themselves.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

from weft.base.arguments import flag, shown
from weft.base.errors import ArgumentError
from weft.tensor.protocol import named_after

_REDUCED = {"dim": "axis", "keepdims": "keepdim"}
_SPREAD = {**_REDUCED, "ddof": "correction"}
_ALONG = {"dim": "axis"}
_AXIS = {"axis": "dim"}
_BOTH = {"axis": "dim", "keepdims": "keepdim"}

SPELLINGS: dict[str, dict[str, str]] = {
    **dict.fromkeys("sum prod mean any all logsumexp argmax argmin nansum".split(), _REDUCED),
    **dict.fromkeys("var std var_mean std_mean".split(), _SPREAD),
    **dict.fromkeys("softmax log_softmax softmin cumsum cumprod logcumsumexp".split(), _ALONG),
    "nanmean": _REDUCED,
    "max": _REDUCED,
    "min": _REDUCED,
    "cummax": _ALONG,
    "cummin": _ALONG,
    **dict.fromkeys("amax amin aminmax count_nonzero median quantile norm".split(), _BOTH),
    **dict.fromkeys(
        "cat concat concatenate stack sort argsort squeeze unsqueeze expand_dims split chunk "
        "gather repeat_interleave diff unbind tensor_split normalize".split(),
        _AXIS,
    ),
    "topk": {"axis": "dim", "sorted": "sorted_"},
    "flip": {"dims": "axis", "dim": "axis"},
    "unfold": {"dimension": "dim"},
    "scatter": {"value": "src"},
    "roll": {"axis": "dims", "dim": "dims", "shift": "shifts"},
    "permute": {"dims": "order", "axes": "order"},
    "clamp": {"min": "min_", "max": "max_"},
    "clip": {"min": "min_", "max": "max_"},
    "clamp_": {"min": "min_", "max": "max_"},
    "leaky_relu": {"negative_slope": "neg_slope"},
}
"""method -> {the name elsewhere: the name here}"""

WITH_INDICES = ("max", "min", "cummax", "cummin")
"""The methods that give indices beside the values where they are called with `dim`."""

_Class = TypeVar("_Class", bound=type)


def spelled_as_elsewhere(cls: _Class) -> _Class:
    """A class decorator: the methods in the table take both names, and all methods check flags."""
    methods = {name: m for base in reversed(cls.__mro__) for name, m in vars(base).items()}
    for name, method in methods.items():
        if not name.startswith("_") and isinstance(method, FunctionType):
            spelled = method_spelled_as_elsewhere(name, method)
            if spelled is not method:
                setattr(cls, name, spelled)
    return cls


def method_spelled_as_elsewhere(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of this name that takes both names and checks its flags."""
    flags = _flags_of(method)
    if name not in SPELLINGS and not flags:
        return method
    return _spelled(method, SPELLINGS.get(name, {}), flags)


def _flags_of(method: Callable[..., Any]) -> dict[str, int]:
    """The parameters of a method that are bool, each with its position after self."""
    plain: Any = inspect.unwrap(method)
    positional = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    return {
        name: positional.index(name) - 1 if name in positional else sys.maxsize
        for name, kind in plain.__annotations__.items()
        if kind == "bool" and name not in ("reverse", "return")
    }


def _takes_several_axes(method: Callable[..., Any]) -> bool:
    """Whether the parameter before `keepdim` takes a tuple of axes."""
    plain: Any = inspect.unwrap(method)
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    before = names[names.index("keepdim") - 1] if "keepdim" in names else ""
    return plain.__annotations__.get(before, "").startswith("Axes")


def _check_flags(
    method: str,
    flags: dict[str, int],
    several_axes: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """:raises WrongKind: if the value of a flag is no bool."""
    for name, place in flags.items():
        value = kwargs[name] if name in kwargs else args[place] if place < len(args) else False
        if value is True or value is False:
            continue
        hint = None
        before = args[place - 1] if name == "keepdim" and place < len(args) else None
        if several_axes and isinstance(before, int) and isinstance(value, int) and before != value:
            given = ", ".join([*map(shown, args[: place - 1]), f"({before}, {value})"])
            hint = f"{method}({given}) for both axes, keepdim=True to keep one"
        flag(value, name, hint)


def _spelled(
    method: Callable[..., Any], names: dict[str, str], flags: dict[str, int]
) -> Callable[..., Any]:
    first = min(flags.values(), default=sys.maxsize)
    with_indices = method.__name__ in WITH_INDICES
    several_axes = _takes_several_axes(method)

    @named_after(method)
    def spelled(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if with_indices and "dim" in kwargs and "axis" not in kwargs and not args:
                return self._extremes_with_indices(method.__name__, **kwargs)
            for elsewhere in names.keys() & kwargs.keys():
                own = names[elsewhere]
                if own in kwargs:
                    raise ArgumentError(
                        f"{own!r} and {elsewhere!r} are the same",
                        asked=f"{method.__name__}({own}=..., {elsewhere}=...)",
                        try_="one of them",
                    )
                kwargs[own] = kwargs.pop(elsewhere)
        if flags and (kwargs or len(args) > first):
            _check_flags(method.__name__, flags, several_axes, args, kwargs)
        return method(self, *args, **kwargs)

    return spelled
