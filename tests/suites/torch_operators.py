"""Calls weft's functions with the samples of PyTorch's operator tests (`OpInfo`), and compares.

    python tests/suites/torch_operators.py [--name conv] [--dtypes float32 int64] [--samples 6]
    python tests/suites/torch_operators.py --gradients [--name conv] [--samples 6]

It needs the packages torch and expecttest. Of each operator it prints the first samples of each
dtype that differ, and at the end how many agree. Indices may be int32 (docs/differences.md).
With `--gradients` it compares the gradients of weighted sums of the results, in float64.
"""

from __future__ import annotations

import argparse
import collections
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import weft
from weft import Tensor, dtypes

NAMES = "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 bool complex64 complex128"
DTYPES = {getattr(torch, name): getattr(dtypes, name) for name in NAMES.split()}
TOLERANCES = {torch.float16: 2e-2, torch.bfloat16: 6e-2, torch.float32: 2e-3, torch.complex64: 2e-3}
WITHOUT_VALUES = ("empty", "rand", "normal", "uniform", "bernoulli", "multinomial", "dropout")
"""Parts of names of operators whose results are not compared."""


def ours(x: Any) -> Any:
    """A tensor or dtype of weft for one of PyTorch."""
    if isinstance(x, torch.Tensor):
        plain = x.detach().resolve_conj().resolve_neg()
        wide = plain.float() if plain.dtype is torch.bfloat16 else plain
        return Tensor(np.array(wide.numpy(), order="C"), dtype=DTYPES[x.dtype])
    if isinstance(x, torch.Size):
        return tuple(x)
    return DTYPES.get(x, x) if isinstance(x, torch.dtype) else x


def function_of(name: str) -> Callable[..., Any] | None:
    """weft's function of this name, or the method of a tensor."""
    place: Any = weft
    try:
        for part in name.split("."):
            place = getattr(place, part)
        return place  # type: ignore[no-any-return]
    except AttributeError:
        pass
    if "." not in name and hasattr(Tensor, name):
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    return None


def difference(found: Any, expected: Any, values: bool) -> str | None:
    """How a result differs; None where it agrees."""
    if isinstance(expected, tuple | list):
        if not isinstance(found, tuple | list) or len(found) != len(expected):
            return f"{found!r:.80} for {len(expected)} results"
        told = (difference(x, y, values) for x, y in zip(found, expected, strict=True))
        return next((each for each in told if each), None)
    if not isinstance(expected, torch.Tensor):
        return None if found == expected or found != found else f"{found} for {expected}"
    found = found if isinstance(found, Tensor) else Tensor(found)
    if tuple(found.shape) != tuple(expected.shape):
        return f"shape {tuple(found.shape)} for {tuple(expected.shape)}"
    wanted = DTYPES[expected.dtype]
    if found.dtype != wanted and (found.dtype, wanted) != (dtypes.int32, dtypes.int64):
        return f"{found.dtype} for {wanted}"
    return _difference_of_values(found, expected) if values else None


def _difference_of_values(found: Any, expected: torch.Tensor) -> str | None:
    if expected.dtype is torch.bfloat16:
        found, expected = found.cast(dtypes.float32), expected.float()
    a = found.numpy()
    b = expected.detach().resolve_conj().resolve_neg().numpy()
    if a.dtype.kind not in "fc":
        return None if np.array_equal(a, b) else f"values {a.ravel()[:4]} for {b.ravel()[:4]}"
    relative = TOLERANCES.get(expected.dtype, 1e-6)
    scale = min(100.0, float(np.abs(b[np.isfinite(b)]).max(initial=1.0)))
    if np.allclose(a, b, rtol=relative, atol=relative * scale, equal_nan=True):
        return None
    return f"values {a.ravel()[:4]} for {b.ravel()[:4]}"


def of_values(operator: Any, function: Callable[..., Any], sample: Any) -> str | None:
    """How the results of a sample differ. Raises what PyTorch raises."""
    expected = operator(sample.input, *sample.args, **sample.kwargs)
    values = not any(part in operator.name for part in WITHOUT_VALUES)
    first, args, kwargs = pytree.tree_map(ours, (sample.input, sample.args, sample.kwargs))
    try:
        return difference(function(first, *args, **kwargs), expected, values)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")


def weighted(results: Any, make: Callable[[np.ndarray], Any]) -> Any:
    """The sum of all floats of the results, each element times a weight of its own."""
    total = None
    for number, each in enumerate(pytree.tree_leaves(results)):
        if getattr(each, "requires_grad", False):
            weights = np.cos(np.arange(each.numel()) * 1.7 + number).reshape(tuple(each.shape))
            part = (each * make(weights)).sum()
            total = part if total is None else total + part
    return total


def of_gradients(operator: Any, function: Callable[..., Any], sample: Any) -> str | None:
    """How the gradients of a sample differ. Raises what PyTorch raises."""
    given = sample.input, sample.args, sample.kwargs
    wanted = [x for x in pytree.tree_leaves(given) if isinstance(x, torch.Tensor)]
    wanted = [x for x in wanted if x.requires_grad and x.is_leaf]
    results = operator(sample.input, *sample.args, **sample.kwargs)
    if operator.name.endswith(("eigh", "eig", "svd")):  # vectors are unique up to their sign
        results = pytree.tree_map(lambda x: x.abs(), results)
    total = weighted(results, torch.tensor)
    expected = torch.autograd.grad(total, wanted, allow_unused=True, materialize_grads=True)
    made: dict[int, Tensor] = {}

    def leaf(x: Any) -> Any:
        tensor = ours(x)
        if any(x is each for each in wanted):
            tensor.requires_grad_()
            made[id(x)] = tensor
        return tensor

    try:
        first, args, kwargs = pytree.tree_map(leaf, given)
        results = function(first, *args, **kwargs)
        if operator.name.endswith(("eigh", "eig", "svd")):
            results = pytree.tree_map(lambda x: x.abs(), results)
        total = weighted(results, Tensor)
        if total is None:
            return "no result requires a gradient"
        found = total.gradient(*[made[id(x)] for x in wanted], materialize_grads=True)
        return difference(found, list(expected), True)
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")


def compare(
    operator: Any, function: Callable[..., Any], kind: torch.dtype, most: int, gradients: bool
) -> collections.Counter[str]:
    """Compare some samples of an operator, print the first two that differ, and count."""
    counts: collections.Counter[str] = collections.Counter()
    samples = list(operator.sample_inputs("cpu", kind, requires_grad=gradients))
    told, how = 0, of_gradients if gradients else of_values
    for sample in samples[:: max(1, len(samples) // most)][:most]:
        try:
            text = how(operator, function, sample)
        except Exception:
            continue  # a sample of an error, or without a gradient
        counts["agree" if text is None else "differ"] += 1
        if text is not None and told < 2:
            told += 1
            shapes = pytree.tree_map(
                lambda x: tuple(x.shape) if isinstance(x, torch.Tensor) else x,
                (sample.input, sample.args, sample.kwargs),
            )
            print(f"{operator.name} {kind}: {shapes!s:.160}: {text:.240}", flush=True)
    return counts


def main() -> None:
    """Compare the operators that the arguments choose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="", help="operators whose name contains this")
    parser.add_argument("--dtypes", nargs="+", default="float32 int64 bool complex64".split())
    parser.add_argument("--samples", type=int, default=6, help="of each operator and dtype")
    parser.add_argument("--gradients", action="store_true", help="compare gradients, in float64")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    counts: collections.Counter[str] = collections.Counter()
    missing = []
    for operator in op_db:
        if options.name not in operator.name or operator.name.startswith(("_", "torch.")):
            continue
        function = function_of(operator.name)
        if function is None:
            missing.append(operator.name)
            continue
        if options.gradients and not operator.supports_autograd:
            continue
        for name in ["float64"] if options.gradients else options.dtypes:
            kind = getattr(torch, name)
            if kind in operator.supported_dtypes("cpu"):
                counts += compare(operator, function, kind, options.samples, options.gradients)
    print("without a function:", *sorted(set(missing)))
    print(f"{counts['agree']} samples agree, {counts['differ']} differ")


if __name__ == "__main__":
    main()
