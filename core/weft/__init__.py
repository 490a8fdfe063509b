"""weft: a tensor compiler whose every device is a plugin.

    from weft import Tensor, dtypes, Device, Variable, jit, nn, settings

Functions and dtypes have PyTorch's names: `weft.zeros(2, 3)`, `weft.exp(x)`, `weft.float32`; they
are those of `weft.functions`, and not in `__all__`, since some have the names of Python's own.

Other distributions add packages: an entry point of the group `weft.packages`, `llm`, is `weft.llm`.

Names are imported at their first use: `import weft` itself imports the settings alone. If a setting
turns on a recording, it begins here, before any other code of weft runs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from weft.base.collector import Uncollected as _Uncollected
from weft.base.collector import freeze_survivors as _set_aside
from weft.base.providers import provide as _provide
from weft.base.settings import settings as _settings

if TYPE_CHECKING:
    from weft import amp as amp
    from weft import array_api as array_api
    from weft import autograd as autograd
    from weft import data as data
    from weft import export as export
    from weft import fft as fft
    from weft import func as func
    from weft import functions as functions
    from weft import linalg as linalg
    from weft import nn as nn
    from weft import onnx as onnx
    from weft import special as special
    from weft import torch as torch
    from weft.base.dtype import dtypes as dtypes
    from weft.base.errors import WeftError as WeftError
    from weft.base.settings import settings as settings
    from weft.device import P as P
    from weft.device import catalogue as Device
    from weft.export import export_c as export_c
    from weft.func import grad as grad
    from weft.func import value_and_grad as value_and_grad
    from weft.func import vmap as vmap
    from weft.functions import *  # noqa: F403
    from weft.nn import optim as optim
    from weft.tensor import Tensor as Tensor
    from weft.tensor import from_dlpack as from_dlpack
    from weft.tensor.autocast import autocast as autocast
    from weft.tensor.checkpoint import checkpoint as checkpoint
    from weft.tensor.jit import jit as jit
    from weft.torch import from_torch as from_torch
    from weft.uop import UOp
    from weft.uop.symbolic.sint import Variable as Variable

__version__ = "0.1.0"

# name here -> (module, name there; None for the module itself)
_HOMES: dict[str, tuple[str, str | None]] = {
    "Device": ("weft.device.catalogue", "catalogue"),
    "P": ("weft.device.mesh", "P"),
    "Tensor": ("weft.tensor", "Tensor"),
    "UOp": ("weft.uop", "UOp"),
    "Variable": ("weft.uop.symbolic.sint", "Variable"),
    "WeftError": ("weft.base.errors", "WeftError"),
    "amp": ("weft.amp", None),
    "array_api": ("weft.array_api", None),
    "autocast": ("weft.tensor.autocast", "autocast"),
    "checkpoint": ("weft.tensor.checkpoint", "checkpoint"),
    "data": ("weft.data", None),
    "dtypes": ("weft.base.dtype", "dtypes"),
    "export": ("weft.export", None),
    "export_c": ("weft.export", "export_c"),
    "fft": ("weft.fft", None),
    "func": ("weft.func", None),
    "from_dlpack": ("weft.tensor", "from_dlpack"),
    "from_torch": ("weft.torch", "from_torch"),
    "grad": ("weft.func", "grad"),
    "jit": ("weft.tensor.jit", "jit"),
    "linalg": ("weft.linalg", None),
    "nn": ("weft.nn", None),
    "onnx": ("weft.onnx", None),
    "optim": ("weft.nn.optim", None),
    "settings": ("weft.base.settings", "settings"),
    "special": ("weft.special", None),
    "torch": ("weft.torch", None),
    "value_and_grad": ("weft.func", "value_and_grad"),
    "vmap": ("weft.func", "vmap"),
}

__all__ = [
    "Device",
    "P",
    "Tensor",
    "UOp",
    "Variable",
    "WeftError",
    "amp",
    "array_api",
    "autocast",
    "checkpoint",
    "data",
    "dtypes",
    "export",
    "export_c",
    "from_dlpack",
    "func",
    "grad",
    "jit",
    "linalg",
    "nn",
    "onnx",
    "optim",
    "settings",
    "special",
    "value_and_grad",
    "vmap",
]

if TYPE_CHECKING:  # for checkers they are public, too
    __all__ += functions.__all__
    __all__ += ["from_torch", "torch"]  # not in a star import: they need the package torch


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            return _function(name)
        with _Uncollected():  # modules stay
            module = importlib.import_module(home[0])
            _set_aside()
        value = module if home[1] is None else getattr(module, home[1])
        globals()[name] = value
        return value


def _function(name: str) -> Any:
    """A name of `weft.functions`. :raises MissingName: where there is none, with the nearest."""
    if name.startswith("_"):  # protocols ask for many
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    with _Uncollected():
        functions = importlib.import_module("weft.functions")
        _set_aside()
    if name in globals():  # a package that was imported with it: `weft.tensor` can be called itself
        return globals()[name]
    if name in functions.__all__:
        value = globals()[name] = getattr(functions, name)
        return value
    metadata = importlib.import_module("importlib.metadata")
    for entry in metadata.entry_points(group="weft.packages", name=name):
        value = globals()[name] = entry.load()
        return value
    missing = importlib.import_module("weft.functions.attribute_suggestions")
    raise missing.missing_function(name, [*__all__, *functions.__all__])


def _array_namespace(api_version: str | None) -> Any:
    """What `Tensor.__array_namespace__` gives."""
    return importlib.import_module("weft.array_api.array").namespace(api_version)


_provide("array_namespace", _array_namespace)


def __dir__() -> list[str]:
    functions = importlib.import_module("weft.functions")
    return sorted({*globals(), *__all__, *functions.__all__})


if not {_settings.VIZ, _settings.PROCESS_REPLAY} <= {"", "0"}:
    importlib.import_module("weft.tools.watch").start()
