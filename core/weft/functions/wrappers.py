"""What makes functions of methods: the first argument by the name `input`, `out=`, and arguments of
PyTorch's functions that mean nothing here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from weft.base.arguments import no_tensor, shown
from weft.base.errors import ArgumentError
from weft.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])

_OTHER_NAMES = {"end": "stop", "num": "steps"}
"""Of parameters of ranges: PyTorch's, and NumPy's."""

_MEANINGLESS = {
    "generator": "weft.manual_seed(seed), weft.get_rng_state() and weft.set_rng_state(state)",
    "layout": "no layout: all tensors are dense",
    "memory_format": "no memory format: x.permute(...) and x.contiguous() order the elements",
    "pin_memory": "no pin_memory: memory is not pinned by hand",
    "names": "no names: axes have numbers",
}
"""Parameters of functions that make tensors -> what to write instead."""


def of_method(method: Function) -> Function:
    """A method of Tensor as a function: its first argument may be given as `input`, and its result
    is written into `out`, as by `assign`."""

    @wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not args and "input" in kwargs:
            args = (kwargs.pop("input"),)
        if not args or not isinstance(args[0], Tensor):
            raise no_tensor(method.__name__, args)
        own = method
        if args[0]._interleaved is not None:
            own = getattr(args[0].__class__, method.__name__)
        if "out" in kwargs:
            return _written(kwargs.pop("out"), own(*args, **kwargs))
        return own(*args, **kwargs)

    return function  # type: ignore[return-value]


def creation(method: Function) -> Function:
    """A class method that makes tensors as a function: the shape may be given as `size`, and what
    PyTorch's function takes besides is refused where it would mean something."""

    @wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        if "size" in kwargs:
            args = (kwargs.pop("size"), *args)
        without_meaningless(method.__name__, kwargs)
        for name, own in _OTHER_NAMES.items():
            if name in kwargs:
                kwargs[own] = kwargs.pop(name)
        if "out" in kwargs:
            return _written(kwargs.pop("out"), method(*args, **kwargs))
        return method(*args, **kwargs)

    return function  # type: ignore[return-value]


def without_meaningless(function: str, kwargs: dict[str, Any]) -> None:
    """Take parameters that mean nothing here out of `kwargs`.

    :raises ArgumentError: for one with a value, which says what to write instead.
    """
    for name, instead in _MEANINGLESS.items():
        if name in kwargs and kwargs.pop(name):
            raise ArgumentError(
                f"{function} has no {name!r}",
                asked=f"weft.{function}(..., {name}=...)",
                try_=instead,
            )


def _written(out: Any, result: Any) -> Any:
    """`result`, written into the tensor, or the tuple of tensors, `out`; None: as it is."""
    if out is None:
        return result
    if isinstance(result, tuple) and isinstance(out, tuple | list) and len(out) == len(result):
        for target, value in zip(out, result, strict=True):
            _written(target, value)
        return out
    if not isinstance(out, Tensor) or not isinstance(result, Tensor):
        raise ArgumentError(
            "out is a tensor for each result",
            asked=f"out={shown(out)}",
            try_="out=Tensor.empty(...), or the result itself",
        )
    return out.assign(result)
