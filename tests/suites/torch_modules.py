"""Calls weft's modules with the samples of PyTorch's module tests (`ModuleInfo`), and compares.

    python tests/suites/torch_modules.py [--name Conv] [--dtypes float32] [--samples 4]

It needs the packages torch and expecttest. Each sample makes both modules with the same arguments,
loads the state of PyTorch's module into weft's, and compares results, buffers, and the gradients of
inputs and parameters, in training and in evaluation. It prints the first samples of each module
that differ, and at the end how many agree.
"""

from __future__ import annotations

import argparse
import collections
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing._internal.common_modules import ModuleInfo, module_db
from torch.utils import _pytree as pytree
from torch_operators import DTYPES, difference, ours

from weft import Tensor, nn

RANDOM = ("Dropout", "FractionalMaxPool", "RReLU", "Transformer", "MultiheadAttention")
"""Parts of names of modules whose results in training are random."""

_arguments: dict[int, tuple[tuple[Any, ...], dict[str, Any]]] = {}


def _remember_arguments(kind: Any) -> None:
    """Keep what objects of a class of PyTorch are made with: samples contain such objects."""
    made = kind.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        _arguments[id(self)] = (args, kwargs)
        made(self, *args, **kwargs)

    init.__signature__ = inspect.signature(made)  # type: ignore[attr-defined]
    kind.__init__ = init


def translated(x: Any) -> Any:
    """weft's counterpart of a tensor, dtype, device, function or module of PyTorch."""
    if isinstance(x, torch.nn.Module):
        args, kwargs = pytree.tree_map(translated, _arguments.get(id(x), ((), {})))
        return getattr(nn, type(x).__name__)(*args, **kwargs)
    if isinstance(x, torch.device):
        return None
    if inspect.isroutine(x) and hasattr(nn.functional, x.__name__):
        return getattr(nn.functional, x.__name__)
    return ours(x)


def _as_leaf(x: Any) -> Any:
    """A tensor of PyTorch that keeps its gradient."""
    return x.detach().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x


def _own_leaf(x: Any) -> Any:
    """A tensor of weft that gets a gradient where PyTorch's does."""
    made = translated(x)
    if isinstance(x, torch.Tensor) and x.requires_grad:
        made.requires_grad_(True)
    return made


def made(info: ModuleInfo, sample: Any, kind: torch.dtype, training: bool) -> tuple[Any, Any]:
    """(PyTorch's module, weft's with the same arguments, state and mode)."""
    args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
    theirs = info.module_cls(*args, **kwargs).to(kind).train(training)
    args, kwargs = pytree.tree_map(translated, (args, kwargs))
    if "dtype" in inspect.signature(info.module_cls).parameters:
        kwargs = {"device": None, **kwargs, "dtype": DTYPES[kind]}
    mine = getattr(nn, info.module_cls.__name__)(*args, **kwargs)
    mine = mine.to(DTYPES[kind]).train(training)
    if not info.is_lazy:
        mine.load_state_dict(theirs.state_dict())
        _same_names(mine, theirs)
    return theirs, mine


def _same_names(mine: Any, theirs: Any) -> None:
    for what in ("state_dict", "named_parameters", "named_buffers"):
        names = [list(dict(getattr(each, what)())) for each in (mine, theirs)]
        if names[0] != names[1]:
            raise AssertionError(f"{what}: {names[0]} for {names[1]}")


def _loss(result: Any, weights: list[Any]) -> Any:
    """A sum of all results that are floats, each element by a weight of its own."""
    tensors = [x for x in pytree.tree_leaves(result) if hasattr(x, "requires_grad")]
    terms = [(x * w).sum() for x, w in zip(tensors, weights, strict=True) if w is not None]
    return sum(terms[1:], terms[0])


def _weights(result: Any) -> list[Any]:
    tensors = [x for x in pytree.tree_leaves(result) if isinstance(x, torch.Tensor)]
    return [
        torch.linspace(0.5, 1.5, x.numel(), dtype=x.dtype).reshape(x.shape)
        if x.is_floating_point() and x.requires_grad
        else None
        for x in tensors
    ]


def differences(info: ModuleInfo, sample: Any, kind: torch.dtype, training: bool) -> Iterator[str]:
    """What differs between the two modules for a sample; the first one is enough."""
    given = sample.forward_input
    inputs = (given.args, given.kwargs) if given is not None else ((), {})
    inputs = pytree.tree_map(_as_leaf, inputs)
    theirs, mine = made(info, sample, kind, training)
    own_inputs = pytree.tree_map(_own_leaf, inputs)
    if info.is_lazy:
        theirs(*inputs[0], **inputs[1])
        mine(*own_inputs[0], **own_inputs[1])
        mine.load_state_dict(theirs.state_dict())
        _same_names(mine, theirs)
    expected = theirs(*inputs[0], **inputs[1])
    found = mine(*own_inputs[0], **own_inputs[1])
    random = any(part in info.name for part in RANDOM) and training
    text = difference(found, expected, not random)
    if text:
        yield f"result: {text}"
        return
    for name, buffer in theirs.named_buffers():
        text = difference(dict(mine.named_buffers())[name], buffer, not random)
        if text:
            yield f"buffer {name}: {text}"
    weights = _weights(expected)
    if random or all(weight is None for weight in weights):
        return
    _loss(expected, weights).backward()
    _loss(found, [None if w is None else ours(w) for w in weights]).backward()
    pairs = [
        (f"input {n}", a, b)
        for n, (a, b) in enumerate(
            zip(pytree.tree_leaves(own_inputs), pytree.tree_leaves(inputs), strict=True)
        )
        if isinstance(b, torch.Tensor)
    ]
    own = dict(mine.named_parameters())
    pairs += [(name, own[name], each) for name, each in theirs.named_parameters()]
    for name, a, b in pairs:
        if (a.grad is None) != (b.grad is None):
            if b.grad is not None and not b.grad.any():
                continue  # zeros and no gradient say the same
            yield f"gradient of {name}: {a.grad} for {b.grad}"
        elif b.grad is not None:
            text = difference(a.grad, b.grad, True)
            if text:
                yield f"gradient of {name}: {text}"


def compare(
    info: ModuleInfo, kind: torch.dtype, training: bool, most: int
) -> collections.Counter[str]:
    """Compare some samples of a module, print the first two that differ, and count."""
    counts: collections.Counter[str] = collections.Counter()
    torch.manual_seed(0)
    samples = list(
        info.module_inputs_func(
            info, device="cpu", dtype=kind, requires_grad=True, training=training
        )
    )
    told = 0
    for sample in samples[:: max(1, len(samples) // most)][:most]:
        try:
            text = next(differences(info, sample, kind, training), None)
        except Exception as error:
            text = f"{type(error).__name__}: {error}".replace("\n", " ")
        counts["agree" if text is None else "differ"] += 1
        if text is not None and told < 2:
            told += 1
            shapes = pytree.tree_map(
                lambda x: tuple(x.shape) if isinstance(x, torch.Tensor) else x,
                [
                    (each.args, each.kwargs)
                    for each in (sample.constructor_input, sample.forward_input)
                    if each is not None
                ],
            )
            mode = "train" if training else "eval"
            print(f"{info.name} {kind} {mode}: {shapes!s:.200}: {text:.300}", flush=True)
    return counts


def main() -> None:
    """Compare the modules that the arguments choose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="", help="modules whose name contains this")
    parser.add_argument("--dtypes", nargs="+", default="float32 float64".split())
    parser.add_argument("--samples", type=int, default=4, help="of each module, dtype and mode")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    counts: collections.Counter[str] = collections.Counter()
    missing = []
    _remember_arguments(torch.nn.TransformerEncoderLayer)
    _remember_arguments(torch.nn.TransformerDecoderLayer)
    for info in module_db:
        if options.name not in info.name:
            continue
        if not hasattr(nn, info.module_cls.__name__):
            missing.append(info.name)
            continue
        for name in options.dtypes:
            for training in (True, False):
                counts += compare(info, getattr(torch, name), training, options.samples)
    Tensor.training = False
    print("without a module:", *sorted(missing))
    print(f"{counts['agree']} samples agree, {counts['differ']} differ")


if __name__ == "__main__":
    main()
