"""Functions of sizes in a graph of PyTorch, for numbers and for symbolic sizes.

A symbolic integer is folded, so that equal sizes are one object. A fraction of a symbolic size is a
tensor without axes.

Source: PyTorch, `torch.fx.experimental.sym_node`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from weft.base.dtype import dtypes
from weft.tensor import Tensor
from weft.uop import UOp
from weft.uop.symbolic.sint import fold, smax, smin

_MODULES = frozenset(("_operator", "math", "torch", "torch.fx.experimental.sym_node"))
_EXTREMES: dict[str, Callable[..., Any]] = {"sym_max": smax, "sym_min": smin}


def is_function_of_sizes(target: Any) -> bool:
    """Return whether the target of a call is a function of sizes, not an operator of tensors."""
    module = getattr(target, "__module__", None)
    if isinstance(target, torch._ops.OperatorBase) or module not in _MODULES:
        return False
    named = str(getattr(target, "__name__", ""))
    return module in ("_operator", "math") or named.startswith("sym_")


def function_of_sizes(target: Callable[..., Any], example: Any) -> Callable[..., Any]:
    """Return a function of numbers, symbolic sizes and their fractions.

    :param target: the function of numbers. :param example: a result of it.
    """
    name = getattr(target, "__name__", "")

    def compute(*args: Any, **kwargs: Any) -> Any:
        if not any(isinstance(each, (UOp, Tensor)) for each in args):
            return target(*args, **kwargs)
        if isinstance(example, (float, torch.SymFloat)):
            return _fraction(target, name, [_as_float(each) for each in args])
        result = _EXTREMES.get(name, target)(*args, **kwargs)
        return fold(result) if isinstance(result, UOp) else result

    return compute


def _as_float(value: Any) -> Any:
    return Tensor(value).cast(dtypes.float64) if isinstance(value, UOp) else value


def _fraction(target: Callable[..., Any], name: str, args: list[Any]) -> Any:
    if name == "sym_float":
        return args[0]
    if name in ("sqrt", "sym_sqrt", "_sym_sqrt"):
        return args[0].sqrt()
    return target(*args)
