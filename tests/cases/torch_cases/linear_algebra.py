"""Cases compared with PyTorch: decompositions, solvers, other names, intermediate values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cases.torch_cases import Case, Cases, Input, family
from weft.tensor import Tensor
from weft.tensor.checkpoint import checkpoint

_WIDE = ("float32", "float64", "float64")


def _matrix(c: Cases, kind: str, size: int, symmetric: bool = False) -> Input:
    """A matrix, or several, with eigenvalues and singular values well apart."""
    import numpy

    front = c.shape(0, 1, (1, 2))
    spread = numpy.diag(numpy.arange(1, size + 1) * 3.0)
    array = spread + c.numbers.uniform(-1, 1, (*front, size, size))
    if symmetric:
        array = (array + array.swapaxes(-1, -2)) / 2
    return Input(array.astype(kind), kind, "plain")


_SYMMETRIC = frozenset({"cholesky", "eigh", "eigvalsh", "eig"})


@family("det", "inv", "pinv", "logdet", "slogdet", "solve", "lstsq", "cholesky", "qr", "svd",
        "svdvals", "eigh", "eigvalsh", "eig")  # fmt: skip
def algebra(c: Cases, name: str) -> Case:
    """Vectors of undetermined sign are compared by their squares."""
    kind = c.choice(_WIDE)
    size = c.integer(1, 2 if name in ("svd", "eigh") else 4)
    x = _matrix(c, kind, size, name in _SYMMETRIC)
    facts: dict[str, Any] = {"loose": True, "second": name in ("det", "inv", "solve")}
    if name == "solve":
        right = c.array((*x.shape[:-1], c.integer(1, 3)), kind, "calm", plain=True)
        return c.case(name, [x, right], {}, _linalg(name), **facts)
    if name == "lstsq":
        right = c.array((*x.shape[:-1], c.integer(1, 3)), kind, "calm", plain=True)
        theirs = _linalg(name)
        return c.case(
            name, [x, right], {}, lambda x, b: theirs(x, b).solution,
            lambda x, b: x.lstsq(b).solution, **facts,
        )  # fmt: skip
    if name == "cholesky":
        return c.case(name, [x], {"upper": c.chance()}, _linalg(name), named=1, **facts)
    if name in ("det", "inv", "pinv", "slogdet", "svdvals", "eigvalsh"):
        return c.case(name, [x], {}, _linalg(name), **facts)
    if name == "logdet":
        return c.case(name, [x], {}, lambda x: x.logdet(), **facts)

    def squares(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x: [part * part for part in function(x)]

    theirs = _linalg(name)
    if name == "eig":  # in any order
        return c.case(
            name, [x], {}, lambda x: theirs(x)[0].real.square().sum(-1),
            lambda x: x.eig().eigenvalues.square().sum(-1), **facts,
        )  # fmt: skip
    return c.case(name, [x], {}, squares(theirs), squares(lambda x: getattr(x, name)()), **facts)


def _linalg(name: str) -> Any:
    def call(*inputs: Any, **arguments: Any) -> Any:
        import torch

        return getattr(torch.linalg, name)(*inputs, **arguments)

    return call


_SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "quick_gelu": lambda x: x * (x * 1.702).sigmoid(),
    "aminmax": lambda x: list(x.aminmax()),
    "atleast_1d": lambda x: x.reshape(-1) if x.ndim == 0 else x,
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.contiguous(),
    "contiguous_backward": lambda x: x.clone(),
    "fuse": lambda x: x.clone(),
    "double": lambda x: x.double(),
    "negative": lambda x: x.negative(),
    "mT": lambda x: x.mT,
}


@family(*_SPELLINGS)
def spellings(c: Cases, name: str) -> Case:
    """What PyTorch has under another name, and what changes no value."""
    x = c.array(c.shape(2 if name == "mT" else 0), _WIDE, "calm")
    ours: dict[str, Callable[[Any], Any]] = {
        "mT": lambda x: x.mT,
        "aminmax": lambda x: list(x.aminmax()),
    }
    return c.case(name, [x], {}, _SPELLINGS[name], ours.get(name), second=name != "aminmax")


@family("read on the way", "written on the way", "checkpoint")
def on_the_way(c: Cases, name: str) -> Case:
    """A value of which something was computed, written or left out before the gradient is asked."""
    kind = "float64"  # what is chained loses digits
    shape = c.shape(1, 3, (1, 2, 3))
    x, y = (c.array(shape, kind, "calm", plain=True) for _ in range(2))
    steps = [c.choice(["sin", "tanh", "square", "abs"]) for _ in range(3)]
    reads = [c.chance() for _ in steps]
    at = c.integer(0, max(shape[0] - 1, 0))

    def chain(x: Any, y: Any, end: int = 3) -> Any:
        for step, read in zip(steps[:end], reads):
            x = getattr(x, step)() * y
            if read and isinstance(x, Tensor):
                x.realize()
        return x

    def theirs(x: Any, y: Any) -> Any:
        if name != "written on the way" or not shape[0]:
            return chain(x, y)
        between = chain(x, y, 2).clone()
        between[at] = y[at] * 2
        return between * getattr(between, steps[2])()

    def ours(x: Any, y: Any) -> Any:
        if name == "checkpoint":
            result = checkpoint(chain, x, y)
            return result.realize() if reads[0] else result
        if name == "read on the way" or not shape[0]:
            result = chain(x, y)
            return result.realize() if reads[0] else result
        between = chain(x, y, 2)
        between[at] = y[at] * 2
        return between * getattr(between, steps[2])()

    return c.case(name, [x, y], {}, theirs, ours, loose=True)
