"""Every public name says what it is by an example, and every example is true on two devices.

Examples are found by traversing the public API. Numbers are compared to the digits
that the docstring writes, so that 1.4142 equals the square root of 2.
"""

import doctest
import inspect
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import weft
from weft import (
    Device,
    Tensor,
    UOp,
    Variable,
    amp,
    autograd,
    data,
    dtypes,
    fft,
    func,
    io,
    jit,
    linalg,
    nn,
    settings,
    special,
)
from weft.functions import (
    defaults,
    defined,
    elementwise,
    floating_point,
    integers,
    integration,
    matrices,
    min_max,
    pieces,
    signals,
    statistics,
    windows,
)
from weft.nn import init, optim, state
from weft.shape import ShapeTracker, View
from weft.tensor.jit import Jit
from weft.uop import Ops

NAMES = {
    "Device": Device, "Ops": Ops, "ShapeTracker": ShapeTracker, "Tensor": Tensor, "UOp": UOp,
    "Variable": Variable, "View": View, "data": data, "dtypes": dtypes, "jit": jit,
    "math": math, "nn": nn, "settings": settings, "weft": weft,
}  # fmt: skip
CLASSES = {
    "Tensor": Tensor, "Jit": Jit, "dtypes": dtypes, "settings": type(settings),
    "Device": type(Device), "ShapeTracker": ShapeTracker, "View": View,
    "optim.Optimizer": optim.Optimizer,
}  # fmt: skip
MODULES = {
    "nn": nn,
    "optim": optim,
    "state": state,
    "init": init,
    "io": io,
    "data": data,
    "amp": amp,
    "functions.defined": defined,
    "functions.extremes": min_max,
    "functions.defaults": defaults,
    "functions.integers": integers,
    "functions.floating_point": floating_point,
    "functions.matrices": matrices,
    "functions.elementwise": elementwise,
    "functions.integration": integration,
    "functions.pieces": pieces,
    "functions.signals": signals,
    "functions.statistics": statistics,
    "functions.windows": windows,
    "fft": fft,
    "func": func,
    "linalg": linalg,
    "special": special,
}

# what carries facts and is described where it is made
RECORDS = {"io.Entry", "io.Header", "data.WorkerInfo"}
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")


def written(thing: Any) -> str:
    """The docstring of the innermost wrapped function."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__
    if isinstance(thing, property):
        thing = thing.fget
    return inspect.cleandoc(getattr(thing, "__doc__", None) or "")


def members(owner: type) -> Iterator[tuple[str, Any]]:
    for name in dir(owner):
        thing = inspect.getattr_static(owner, name)
        if not name.startswith("_") and (
            inspect.isfunction(thing) or isinstance(thing, property | staticmethod | classmethod)
        ):
            yield name, thing


def is_of(thing: Any, module: str) -> bool:
    return callable(thing) and str(getattr(thing, "__module__", "")).startswith(module)


def documented() -> dict[str, str]:
    """The docstring of every public name, by its path."""
    found = {"Tensor": written(Tensor), "Variable": written(Variable)}
    for name in weft.__all__:
        if inspect.isfunction(getattr(weft, name)):
            found[name] = written(getattr(weft, name))
    for name in ("Function", "grad"):
        found[f"autograd.{name}"] = written(getattr(autograd, name))
    names = {row.name for row in settings.table()}
    for path, owner in CLASSES.items():
        for name, thing in members(owner):
            if not (owner is type(settings) and name in names):
                found[f"{path}.{name}"] = written(thing)
    for path, module in MODULES.items():
        own = [n for n, thing in vars(module).items() if is_of(thing, module.__name__)]
        for name in getattr(module, "__all__", own):
            if is_of(getattr(module, name), "weft.") and not name.startswith("_"):
                found[f"{path}.{name}"] = written(getattr(module, name))
    return {path: text for path, text in found.items() if path not in RECORDS}


DOCUMENTED = documented()
EXAMPLES = {path: text for path, text in DOCUMENTED.items() if ">>>" in text}


class _ToTheDigitsWritten(doctest.OutputChecker):
    """Text must be equal; numbers with a fraction to half of the last digit that is written."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        expected, found = NUMBER.findall(want), NUMBER.findall(got)
        if len(expected) != len(found) or NUMBER.sub("#", want) != NUMBER.sub("#", got):
            return False
        return all(_agree(a, b) for a, b in zip(expected, found))


def _agree(wanted: str, found: str) -> bool:
    mantissa, _, exponent = wanted.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return abs(float(wanted) - float(found)) <= 0.5000001 * 10.0**-digits


def test_every_public_name_has_an_example() -> None:
    assert sorted(set(DOCUMENTED) - set(EXAMPLES)) == []


def test_numbers_are_compared_to_the_digits_written() -> None:
    checker: Callable[..., bool] = _ToTheDigitsWritten().check_output
    assert checker("[1.4142, nan]\n", "[1.4142135623, nan]\n", 0)
    assert not checker("[1.4143, nan]\n", "[1.4142135623, nan]\n", 0)
    assert not checker("[1.0]\n", "[1]\n", 0)
    assert not checker("[2, 1.0]\n", "[3, 1.0]\n", 0)


def test_docstrings_of_public_names_are_found() -> None:
    assert {"Tensor.sum", "nn.Linear", "optim.Adam", "io.safe_load", "jit"} <= set(EXAMPLES)
    assert len(EXAMPLES) > 350
    assert weft.Tensor is Tensor


@pytest.mark.parametrize("device", ["", "REF"], ids=["default", "reference"])
@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_examples_are_true(
    path: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = doctest.DocTestParser().get_doctest(EXAMPLES[path], dict(NAMES), path, path, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(checker=_ToTheDigitsWritten(), verbose=False)
    with settings.override(DEVICE=device or settings.DEVICE):
        runner.run(example, out=report.append)
    assert not report, "".join(report)
