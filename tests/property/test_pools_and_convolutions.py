"""Random pools and convolutions through the engine: values and gradients, with every parameter.

Each call is compared with NumPy (loops over the places of a window, in float64) and, where it is
installed, with PyTorch in float64. WEFT_TEST_EXAMPLES=5000 explores.
"""

import itertools
import math
import os
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from cases.random_source import RandomSource
from helpers.example_counts import examples
from weft import Tensor, dtypes, nn
from weft.base.errors import WeftError

try:
    import torch
except ImportError:
    torch = None

ASKED = os.environ.get("WEFT_TEST_EXAMPLES")
COUNT = examples(48)
FIRST = random.randrange(10**9) if ASKED else 0
PARTS = 4
NAMES = (
    "conv", "conv", "conv", "conv_layer", "conv_transpose", "conv_transpose", "avg_pool",
    "avg_pool", "max_pool", "max_pool", "max_unpool", "adaptive_avg_pool", "adaptive_max_pool",
    "unfold",
)  # fmt: skip
NEAR = {"float64": 1e-10, "float32": 2e-5, "float16": 6e-3}


@dataclass
class Call:
    """One call: what is called, on which arrays, with which arguments; None for no bias."""

    name: str
    kind: str
    arrays: list[Any]
    arguments: dict[str, Any]
    pads: list[tuple[int, int]] = field(default_factory=list)

    @property
    def axes(self) -> int:
        return len(self.arguments.get("kernel_size", ())) or self.arrays[-1].ndim - 2

    def __str__(self) -> str:
        shapes = [a.shape for a in self.arrays]
        return f"{self.name} {self.kind} of {shapes} with {self.arguments} pads {self.pads}"


# ---- drawing -------------------------------------------------------------------------------------


class Draw(RandomSource):
    """Calls, and what they are made of."""

    def __init__(self, seed: int) -> None:
        self.begin(seed)

    def numbers_like(self, shape: Any) -> Any:
        """Multiples of 1/4 from -2 to 2, exact in every dtype."""
        return self.numbers.integers(-8, 9, shape) / 4.0

    def distinct(self, shape: Any) -> Any:
        """No two are equal, so that the largest of a window is one."""
        size = math.prod(shape)
        return (self.numbers.permutation(size).reshape(shape) - size // 2) / 4.0

    def size(self, axes: int) -> tuple[int, ...]:
        most = {1: 12, 2: 9, 3: 5}[axes]
        return tuple(1 if self.chance(0.12) else self.integer(2, most) for _ in range(axes))

    def batch(self) -> int:
        return 0 if self.chance(0.04) else self.integer(1, 3)

    def each(self, axes: int, low: int, high: int) -> tuple[int, ...]:
        if self.chance():
            return (self.integer(low, high),) * axes
        return tuple(self.integer(low, high) for _ in range(axes))

    def written(self, values: tuple[int, ...]) -> Any:
        """One number where it says the same."""
        return values[0] if len(set(values)) == 1 and self.chance() else values

    def padding(self, most: tuple[int, ...], even: float = 0.7) -> tuple[list[Any], Any]:
        """(before, after) of each axis, and how it is written."""
        axes = len(most)
        if self.chance(even):
            sides = tuple(self.integer(0, m) for m in most)
            return [(s, s) for s in sides], self.written(sides)
        pads = [(self.integer(0, m), self.integer(0, m)) for m in most]
        flat = tuple(n for pair in reversed(pads) for n in pair)
        # two numbers for two axes, or four for two: each form is read in one way only
        return pads, self.choice([tuple(pads), flat]) if axes > 0 else 0

    def call(self) -> Call:
        name = self.choice(NAMES)
        maker = {"conv_layer": self.conv, "conv": self.conv, "conv_transpose": self.transpose}
        kind = self.choice(["float32", "float32", "float64", "float16"])
        return maker.get(name, self.pool)(name, kind)

    def conv(self, name: str, kind: str) -> Call:
        axes, groups = self.choice([1, 2, 2, 3]), self.choice([1, 1, 1, 2, 3])
        inputs, outputs = groups * self.integer(1, 3), groups * self.integer(1, 3)
        kernel, size = self.each(axes, 1, 4 if axes < 3 else 3), self.size(axes)
        stride, dilation = self.each(axes, 1, 3), self.each(axes, 1, 2)
        if name == "conv_layer":
            stride, padding = (1,) * axes, "same"
            spans = [d * (k - 1) for d, k in zip(dilation, kernel)]
            pads = [(s // 2, s - s // 2) for s in spans]
        else:
            pads, padding = self.padding(tuple(3 for _ in kernel))
        arrays = [
            self.numbers_like((self.batch(), inputs, *size)),
            self.numbers_like((outputs, inputs // groups, *kernel)),
        ]
        arrays += [self.numbers_like((outputs,))] if self.chance() else []
        arguments = {
            "groups": groups, "stride": self.written(stride), "dilation": self.written(dilation),
            "padding": padding,
        }  # fmt: skip
        call = Call(name, kind, arrays, arguments, pads)
        return call

    def transpose(self, name: str, kind: str) -> Call:
        axes, groups = self.choice([1, 2, 2, 3]), self.choice([1, 1, 1, 2, 3])
        inputs, outputs = groups * self.integer(1, 3), groups * self.integer(1, 3)
        kernel, size = self.each(axes, 1, 4 if axes < 3 else 3), self.size(axes)
        stride, dilation = self.each(axes, 1, 3), self.each(axes, 1, 2)
        pads, padding = self.padding((2,) * axes)
        more = tuple(self.integer(0, max(s, d) - 1) for s, d in zip(stride, dilation))
        arrays = [
            self.numbers_like((self.batch(), inputs, *size)),
            self.numbers_like((inputs, outputs // groups, *kernel)),
        ]
        arrays += [self.numbers_like((outputs,))] if self.chance() else []
        arguments = {
            "groups": groups, "stride": self.written(stride), "dilation": self.written(dilation),
            "padding": padding, "output_padding": self.written(more),
        }  # fmt: skip
        return Call(name, kind, arrays, arguments, pads)

    def pool(self, name: str, kind: str) -> Call:
        axes = 2 if name.startswith("adaptive") else self.choice([1, 2, 2, 3])
        shape = (self.batch(), self.integer(1, 3), *self.size(axes))
        kernel = self.each(axes, 1, 4 if axes < 3 else 3)
        arrays = [self.distinct(shape)]
        if name.startswith("adaptive"):
            asked = tuple(self.choice([None, 1, 2, 3, 5, 7]) for _ in range(2))
            return Call(name, kind, arrays, {"output_size": asked})
        if name == "unfold":
            axis = self.integer(0, len(shape) - 1)
            size, step = self.integer(1, max(shape[axis], 1)), self.integer(1, 4)
            return Call(name, kind, arrays, {"dim": axis, "size": size, "step": step})
        stride = self.choice([None, self.each(axes, 1, 3)])
        arguments = {"kernel_size": kernel, "stride": stride}
        if name == "max_unpool":  # windows that do not meet: each place is written once
            arguments["stride"] = tuple(k + self.integer(0, 1) for k in kernel)
            return Call(name, kind, arrays, arguments, [(0, 0)] * axes)
        dilation = self.each(axes, 1, 2) if name == "max_pool" or self.chance(0.2) else (1,) * axes
        pads, padding = self.padding(tuple(k // 2 for k in kernel))
        arguments |= {"padding": padding, "ceil_mode": self.chance()}
        if name == "max_pool" or dilation != (1,) * axes:
            arguments["dilation"] = self.written(dilation)
        if name == "avg_pool":
            arguments["count_include_pad"] = self.chance()
        return Call(name, kind, arrays, arguments, pads)


# ---- weft ----------------------------------------------------------------------------------------


def ours(call: Call, tensors: list[Any]) -> Any:
    x, *rest = tensors
    if call.name == "conv_layer":
        outputs, inputs, *kernel = rest[0].shape
        groups = call.arguments["groups"]
        layer = getattr(nn, f"Conv{len(kernel)}d")(
            inputs * groups, outputs, tuple(kernel), padding="same", groups=groups,
            dilation=call.arguments["dilation"], bias=len(rest) == 2,
        )  # fmt: skip
        layer.weight = rest[0]
        layer.bias = rest[1] if len(rest) == 2 else None
        return layer(x)
    if call.name == "unfold":
        return x.unfold(**call.arguments)
    if call.name == "max_unpool":
        top, at = x.max_pool2d(**call.arguments, return_indices=True)
        return top.max_unpool2d(at, **call.arguments)
    method = getattr(x, call.name + "2d")
    return method(*rest, **call.arguments)


# ---- NumPy ---------------------------------------------------------------------------------------


def per_axis(value: Any, axes: int) -> tuple[int, ...]:
    return (value,) * axes if isinstance(value, int) else tuple(value)


class Refused(Exception):
    """A window is larger than what it looks at."""


def slices(place: Any, counts: Any, step: Any, apart: Any) -> tuple[Any, ...]:
    """Where one place of all windows is."""
    return (..., *(
        slice(k * d, k * d + (n - 1) * s + 1, s) for k, n, s, d in zip(place, counts, step, apart)
    ))  # fmt: skip


def conv_numpy(x: Any, w: Any, pads: Any, groups: int, step: Any, apart: Any, g: Any = None) -> Any:
    """The convolution; with g (a weight for each result) the gradients of x and w."""
    axes = w.ndim - 2
    kernel, batch = w.shape[2:], x.shape[0]
    padded = np.pad(x, [(0, 0), (0, 0), *pads])
    rooms = [n - d * (k - 1) - 1 for n, k, d in zip(padded.shape[2:], kernel, apart)]
    if min(rooms) < 0:
        raise Refused
    counts = [room // s + 1 for room, s in zip(rooms, step)]
    parts = padded.reshape(batch, groups, w.shape[1], *padded.shape[2:])
    weights = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    out = np.zeros((batch, groups, weights.shape[1], *counts))
    dx, dw = np.zeros_like(parts), np.zeros_like(weights)
    for place in itertools.product(*map(range, kernel)):
        at = slices(place, counts, step, apart)
        here = weights[(..., *place)]
        if g is None:
            out += np.einsum("bgi...,goi->bgo...", parts[at], here)
        else:
            terms = g.reshape(out.shape)
            dx[at] += np.einsum("bgo...,goi->bgi...", terms, here)
            flat = [a.reshape(*a.shape[:3], math.prod(counts)) for a in (terms, parts[at])]
            dw[(..., *place)] += np.einsum("bgop,bgip->goi", *flat)
    if g is None:
        return out.reshape(batch, w.shape[0], *counts)
    inner = tuple(slice(b, b + n) for (b, _), n in zip(pads, x.shape[2:]))
    assert len(inner) == axes
    return dx.reshape(padded.shape)[(..., *inner)], dw.reshape(w.shape)


def transposed_numpy(x: Any, w: Any, call: Call, g: Any = None) -> Any:
    """The transpose of a convolution: what flows to its input is the value here."""
    axes, arguments = w.ndim - 2, call.arguments
    step, apart = (per_axis(arguments[n], axes) for n in ("stride", "dilation"))
    more = per_axis(arguments["output_padding"], axes)
    whole = [
        (n - 1) * s + d * (k - 1) + 1 + m
        for n, s, d, k, m in zip(x.shape[2:], step, apart, w.shape[2:], more)
    ]
    sizes = [n - a - b for n, (a, b) in zip(whole, call.pads)]
    if min(sizes) < 1:
        raise Refused
    groups = arguments["groups"]
    if g is None:
        image = np.zeros((x.shape[0], groups * w.shape[1], *whole))
        full, _ = conv_numpy(
            image, w, [(0, 0)] * axes, groups, step, apart, _grown(x, whole, w, step, apart)
        )
        return full[(..., *(slice(a, a + n) for (a, _), n in zip(call.pads, sizes)))]
    wide = np.pad(g, [(0, 0), (0, 0), *call.pads])
    dx = conv_numpy(wide, w, [(0, 0)] * axes, groups, step, apart)
    dx = dx[(..., *(slice(0, n) for n in x.shape[2:]))]
    _, dw = conv_numpy(
        wide, w, [(0, 0)] * axes, groups, step, apart, _grown(x, whole, w, step, apart)
    )
    return dx, dw


def _grown(x: Any, whole: Any, w: Any, step: Any, apart: Any) -> Any:
    """x with zeros after it, where output_padding adds one more window."""
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(whole, w.shape[2:], step, apart)]
    more = [(0, c - n) for c, n in zip(counts, x.shape[2:])]
    return np.pad(x, [(0, 0), (0, 0), *more])


def pool_numpy(x: Any, call: Call) -> Any:
    """The indices of x (flat in its spatial axes) that each window sees, -1 for padding, and
    how many places each counts for an average: (*windows, places), (*windows)."""
    axes, arguments = len(call.arguments["kernel_size"]), call.arguments
    kernel = arguments["kernel_size"]
    step = per_axis(arguments.get("stride") or kernel, axes)
    apart = per_axis(arguments.get("dilation", 1), axes)
    starts, seen, counted = [], [], []
    for n, k, s, d, (before, after) in zip(x.shape[2:], kernel, step, apart, call.pads):
        room = n + before + after - d * (k - 1) - 1
        count = (-(-room // s) if arguments.get("ceil_mode") else room // s) + 1
        if arguments.get("ceil_mode") and (count - 1) * s >= n + before:
            count -= 1
        if count < 1:
            raise Refused
        starts.append(count)
        at = np.arange(count)[:, None] * s + np.arange(k) * d
        seen.append(np.where((at >= before) & (at < before + n), at - before, -1))
        within = at < n + before + after if arguments.get("count_include_pad") else seen[-1] >= 0
        counted.append(within.sum(1))
    flat, total = np.zeros((1, 1), int), np.ones(1, int)
    shape: tuple[int, ...] = ()
    for n, at, count in zip(x.shape[2:], seen, counted):
        known = (flat[:, None, :, None] >= 0) & (at[None, :, None, :] >= 0)
        flat = np.where(known, flat[:, None, :, None] * n + at[None, :, None, :], -1)
        flat = flat.reshape(flat.shape[0] * flat.shape[1], -1)
        total = (total[:, None] * count).reshape(-1)
        shape += (len(at),)
    return flat, total, shape


@np.errstate(divide="ignore", invalid="ignore")
def windows_numpy(call: Call, g: Any = None) -> Any:
    """Pools: the values, or with g the gradient of x. The average of no element is NaN."""
    x = call.arrays[0]
    flat, total, shape = pool_numpy(x, call)
    rows = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    padded = np.concatenate([rows, np.full((*rows.shape[:2], 1), -np.inf)], -1)
    front = rows.shape[:2]
    if call.name == "avg_pool":
        values = np.where(flat >= 0, padded[..., flat], 0.0).sum(-1) / total
        if g is None:
            return values.reshape(*front, *shape)
        dx = np.zeros_like(padded)
        share = (g.reshape(*front, len(total)) / total)[..., None]
        for column in range(flat.shape[1]):
            np.add.at(dx, (..., flat[:, column]), share[..., 0])
        return [dx[..., :-1].reshape(x.shape)]
    best = padded[..., flat].argmax(-1)
    where = np.take_along_axis(np.broadcast_to(flat, (*front, *flat.shape)), best[..., None], -1)
    where = where[..., 0]
    if call.name == "max_pool":
        if g is None:
            return np.take_along_axis(padded, where, -1).reshape(*front, *shape)
        dx = np.zeros_like(padded)
        rows_of = np.indices(where.shape)
        np.add.at(dx, (rows_of[0], rows_of[1], where), g.reshape(where.shape))
        return [dx[..., :-1].reshape(x.shape)]
    kernel, step = call.arguments["kernel_size"], call.arguments["stride"]
    back = tuple((c - 1) * s + k for c, s, k in zip(shape, step, kernel))
    if math.prod(back) != rows.shape[-1] and back != x.shape[2:]:
        raise Refused  # an index into the larger image means another place in the smaller one
    out = np.zeros((*front, math.prod(back)))
    rows_of = np.indices(where.shape)
    if g is None:
        out[rows_of[0], rows_of[1], where] = np.take_along_axis(rows, where, -1)
        return out.reshape(*front, *back)
    dx = np.zeros_like(rows)
    dx[rows_of[0], rows_of[1], where] = g.reshape(out.shape)[rows_of[0], rows_of[1], where]
    return [dx.reshape(x.shape)]


def adaptive_numpy(call: Call, g: Any = None) -> Any:
    x = call.arrays[0]
    sizes = [n if a is None else a for a, n in zip(call.arguments["output_size"], x.shape[2:])]
    out, dx = np.zeros((*x.shape[:2], *sizes)), np.zeros_like(x)
    for place in itertools.product(*map(range, sizes)):
        at = tuple(
            slice(i * n // p, -(-(i + 1) * n // p)) for i, n, p in zip(place, x.shape[2:], sizes)
        )
        part = x[(..., *at)]
        last = tuple(range(2, x.ndim))
        if call.name == "adaptive_avg_pool":
            out[(..., *place)] = part.mean(last)
            share = np.ones_like(part) / max(math.prod(part.shape[2:]), 1)
        else:
            out[(..., *place)] = part.max(last)
            share = part == part.max(last, keepdims=True)
        if g is not None:
            dx[(..., *at)] += share * g[(..., *place, None, None)]
    return out if g is None else [dx]


def unfold_numpy(call: Call, g: Any = None) -> Any:
    x, dim = call.arrays[0], call.arguments["dim"]
    size, step = call.arguments["size"], call.arguments["step"]
    if size > x.shape[dim]:
        raise Refused
    counts = (x.shape[dim] - size) // step + 1
    at = np.arange(counts)[:, None] * step + np.arange(size)
    moved = np.moveaxis(x, dim, -1)
    if g is None:
        return np.moveaxis(moved[..., at], -2, dim)
    dx = np.zeros_like(moved)
    np.add.at(dx, (..., at), np.moveaxis(g, dim, -2))
    return [np.moveaxis(dx, -1, dim)]


def by_numpy(call: Call, g: Any = None) -> Any:
    """The values of a call; with g, the gradients of its arrays."""
    x, *rest = call.arrays
    if call.name in ("avg_pool", "max_pool", "max_unpool"):
        return windows_numpy(call, g)
    if call.name.startswith("adaptive"):
        return adaptive_numpy(call, g)
    if call.name == "unfold":
        return unfold_numpy(call, g)
    w, *bias = rest
    axes = w.ndim - 2
    if call.name == "conv_transpose":
        found = transposed_numpy(x, w, call, g)
    else:
        step = per_axis(call.arguments["stride"], axes)
        apart = per_axis(call.arguments["dilation"], axes)
        found = conv_numpy(x, w, call.pads, call.arguments["groups"], step, apart, g)
    if g is None:
        return found + (bias[0].reshape(-1, *(1,) * axes) if bias else 0.0)
    return [*found, *([g.sum((0, *range(2, g.ndim)))] if bias else [])]


# ---- PyTorch -------------------------------------------------------------------------------------


def by_torch(call: Call, g: Any) -> Any:
    """(values, gradients) in float64, or None for what PyTorch has no such call for."""
    f = torch.nn.functional
    leaves = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in call.arrays]
    try:
        y = _torch_value(f, call, leaves)
    except (RuntimeError, ValueError):
        return None  # padding of more than half a window, batches of nothing
    if y is None:
        return None
    found = torch.autograd.grad(y, leaves, torch.tensor(g), allow_unused=True)
    return y.detach().numpy(), [torch.zeros_like(a).numpy() if d is None else d.numpy()
                                for a, d in zip(leaves, found)]  # fmt: skip


def _torch_value(f: Any, call: Call, leaves: Any) -> Any:
    x, *rest = leaves
    arguments = dict(call.arguments)
    even = all(a == b for a, b in call.pads)
    axes = len(call.pads) or 2
    if call.name == "unfold":
        return x.unfold(arguments["dim"], arguments["size"], arguments["step"])
    if call.name.startswith("adaptive"):
        return getattr(f, call.name + "2d")(x, arguments["output_size"])
    if call.name == "max_unpool":
        top, at = getattr(f, f"max_pool{axes}d")(x, **arguments, return_indices=True)
        return getattr(f, f"max_unpool{axes}d")(top, at, **arguments)
    if call.name == "conv_layer":
        return getattr(f, f"conv{axes}d")(x, *rest, **{**arguments, "stride": 1})
    if not even:
        if call.name != "conv":
            return None
        x = f.pad(x, [n for pair in reversed(call.pads) for n in pair])
        arguments["padding"] = 0
    elif "padding" in arguments:
        arguments["padding"] = tuple(a for a, _ in call.pads)
    if call.name == "avg_pool" and "dilation" in arguments:
        return None
    return getattr(f, f"{call.name}{axes}d")(x, *rest, **arguments)


# ---- comparing -----------------------------------------------------------------------------------


def differ(got: Any, want: Any, kind: str) -> str | None:
    if got.shape != want.shape:
        return f"shape {got.shape}, should be {want.shape}"
    largest = np.abs(want[np.isfinite(want)]).max(initial=1.0)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        same |= np.abs(got - want) <= NEAR[kind] * largest
    if same.all():
        return None
    at = tuple(np.argwhere(~same)[0])
    return f"{got[at]} at {tuple(map(int, at))}, should be {want[at]}"


def finding(seed: int) -> str | None:
    """What is wrong with the call of a number, if anything is."""
    draw = Draw(seed)
    call = draw.call()
    try:
        want = by_numpy(call)
    except Refused:
        want = None
    leaves = [Tensor(a, dtype=call.kind).requires_grad_() for a in call.arrays]
    try:
        y = ours(call, leaves)
    except WeftError as error:
        return None if want is None else f"{seed}: {call}: refused: {error}"
    if want is None:
        return None if call.name == "max_unpool" else f"{seed}: {call}: should be refused"
    g = draw.numbers_like(want.shape)
    if y.shape != want.shape:
        return f"{seed}: {call}: shape {y.shape}, should be {want.shape}"
    if y.dtype != dtypes.to_dtype(call.kind):
        return f"{seed}: {call}: {y.dtype}"
    (y.isinf().where(0, y) * Tensor(g, dtype=call.kind)).sum().backward()
    g = np.where(np.isinf(want), 0.0, g)
    found = [y.double().numpy(), *(leaf.grad.double().numpy() for leaf in leaves)]
    oracles = [("NumPy", (want, by_numpy(call, g)))]
    oracles += [("PyTorch", by_torch(call, g))] if torch is not None else []
    for who, answer in oracles:
        for place, (a, b) in enumerate(zip(found, (answer[0], *answer[1]) if answer else ())):
            wrong = differ(a, b, call.kind)
            if wrong:
                what = "value" if place == 0 else f"gradient {place - 1}"
                return f"{seed}: {call}: {what} beside {who}: {wrong}"
    return None


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_parameter(part):
    found = [text for seed in range(FIRST + part, FIRST + COUNT, PARTS) if (text := finding(seed))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("size", [(5, 5), (7, 6), (8, 8)])
def test_counts_of_places_are_sums_that_read_nothing(size):
    """Windows that share rows: of the number of places in each nothing is read."""
    x = Tensor.zeros(1, 1, *size).contiguous().requires_grad_()
    arguments = {"padding": 1, "ceil_mode": True, "count_include_pad": False}
    x.avg_pool2d(3, 2, **arguments).sum().backward()
    call = Call(
        "avg_pool", "float32", [x.numpy()], {"kernel_size": (3, 3), "stride": 2}, [(1, 1)] * 2
    )
    call.arguments |= {"ceil_mode": True, "count_include_pad": False}
    (want,) = by_numpy(call, np.ones_like(by_numpy(call)))
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-5)
