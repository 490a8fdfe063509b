"""Automatic differentiation: gradients as graphs, and PyTorch's interface `Function` and `grad`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from weft.autograd.backward import Paths, gradient, nodes_between
from weft.autograd.derivatives import CUSTOM, RECOMPUTE, is_checkpoint
from weft.autograd.functions import (
    Context,
    Function,
    function_vjp,
    grad,
    independent,
    with_function_vjp,
)
from weft.autograd.host_calls import HOST_CALL_VJPS
from weft.autograd.rules import RULES
from weft.base.suggestions import missing_name

__all__ = [
    "CUSTOM",
    "HOST_CALL_VJPS",
    "RECOMPUTE",
    "RULES",
    "Context",
    "Function",
    "Paths",
    "function_vjp",
    "grad",
    "gradient",
    "independent",
    "is_checkpoint",
    "nodes_between",
    "with_function_vjp",
]

_EQUIVALENTS = {
    **dict.fromkeys(
        ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"),
        "weft.no_grad(), weft.enable_grad(), weft.set_grad_enabled(mode), weft.inference_mode()",
    ),
    "Variable": "weft.tensor(data, requires_grad=True)",
    "functional": "weft.func: jacrev, hessian, vjp, jvp; y[i].gradient(x) for one row",
    "jacobian": "weft.func.jacrev(f)(x)",
    **{name: f"weft.func.{name}" for name in ("hessian", "vjp", "jvp")},
    **dict.fromkeys(
        ("set_detect_anomaly", "detect_anomaly"),
        "weft.settings.override(CHECK=1): reports the first NaN and its line",
    ),
    "gradcheck": "(f(x + h) - f(x - h)) / (2 * h) in float64, beside y.gradient(x)",
    "gradgradcheck": "(f(x + h) - f(x - h)) / (2 * h) of gradients in float64",
    "graph": "x.uop",
    "function": "weft.autograd.Function, weft.autograd.Context",
    "profiler": "weft bench program.py, WEFT_VIZ=1, or weft.settings.override(DEBUG=2)",
}


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module 'weft.autograd' has no attribute {name!r}")
        raise missing_name("weft.autograd", name, ("Function", "grad"), _EQUIVALENTS)
