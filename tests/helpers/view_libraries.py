"""The libraries that run the lines of `view_programs`: NumPy, tensors, arrays, shards, files.

Each has the same functions under the same names. A function that NumPy answers with a view gives a
view in all of them, one that copies gives a copy.

    run(lines, Numpy()), run(lines, Tensors(jit))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import array_api
from weft.base.errors import ArgumentError, CapabilityError
from weft.engine import run_schedule
from weft.tensor import Tensor

BITS = ("int8", "int16", "int32", "int64")
"""Integers of every item size."""


class Numpy:
    """NumPy as the lines call it. seen: what was looked at."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @staticmethod
    def new(shape: tuple[int, ...], kind: str, seed: int) -> Any:
        """Whole numbers, which every dtype holds."""
        source = np.random.default_rng(seed)
        if kind == "bool":
            return source.integers(0, 2, shape).astype(kind)
        return source.integers(0 if kind.startswith("u") else -9, 9, shape).astype(kind)

    @staticmethod
    def copy(x: Any) -> Any:
        return np.array(x, order="C")

    twin = compute = copy

    @staticmethod
    def cast(x: Any, kind: str) -> Any:
        return np.array(x, dtype=kind, order="C")

    @staticmethod
    def pick(x: Any, places: Sequence[int]) -> Any:
        """Rows by number: a copy."""
        return np.take(x, places, 0)

    @staticmethod
    def places(*places: int) -> Any:
        return np.array(places)

    @staticmethod
    def view(x: Any) -> Any:
        return x[...]

    @staticmethod
    def bits(x: Any, kind: str) -> Any:
        """A view of the same bytes as integers."""
        return x.view(kind)

    @staticmethod
    def squeeze(x: Any) -> Any:
        return x.reshape([size for size in x.shape if size != 1])

    @staticmethod
    def diagonal(x: Any) -> Any:
        """Of the first two axes, last."""
        return np.einsum("ii...->...i", x[: min(x.shape[:2]), : min(x.shape[:2])])

    @staticmethod
    def windows(x: Any, size: int, step: int) -> Any:
        """Along the first axis, each window in a new last axis."""
        found = np.lib.stride_tricks.sliding_window_view(x, size, 0, writeable=True)
        return found[::step]

    @staticmethod
    def unstack(x: Any, place: int) -> Any:
        return x[place, ...]

    flip = staticmethod(np.flip)
    transpose = staticmethod(np.transpose)
    reshape = staticmethod(np.reshape)

    @staticmethod
    def expand(x: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(x, shape)

    @staticmethod
    def realize(*several: Any) -> None: ...

    kernelize = schedule = realize

    def look(self, *several: Any) -> None:
        """Several are read now."""
        self.seen += [self.read(x) for x in several]

    def export(self, x: Any) -> None:
        """Another library holds the memory of x until the end, and sees no write."""
        self.seen.append(self.read(x))

    @staticmethod
    def refuses(write: Callable[[], Any]) -> None:
        """A write to a view in which several elements are one fails."""

    @staticmethod
    def wrap(function: Any) -> Any:
        return function

    @staticmethod
    def read(x: Any) -> Any:
        return np.array(x)

    def close(self) -> None:
        """The program is over."""


class Tensors(Numpy):
    """Tensors as the lines call them. wrap: what is done to functions."""

    def __init__(self, wrap: Callable[[Any], Any] = Numpy.wrap) -> None:
        super().__init__()
        self.wrap = wrap  # type: ignore[method-assign,assignment]

    def new(self, shape: tuple[int, ...], kind: str, seed: int) -> Any:  # type: ignore[override]
        return Tensor(Numpy.new(shape, kind, seed))

    copy = staticmethod(Tensor.clone)
    twin = staticmethod(Tensor.contiguous)
    cast = staticmethod(Tensor.cast)
    view = staticmethod(Tensor.detach)
    flip = staticmethod(Tensor.flip)
    transpose = staticmethod(Tensor.permute)
    reshape = staticmethod(Tensor.reshape)
    expand = staticmethod(Tensor.expand)
    squeeze = staticmethod(Tensor.squeeze)
    diagonal = staticmethod(Tensor.diagonal)
    realize = staticmethod(Tensor.realize)
    kernelize = staticmethod(Tensor.kernelize)
    read = staticmethod(Tensor.numpy)

    @staticmethod
    def compute(x: Any) -> Any:
        return x

    @staticmethod
    def pick(x: Any, places: Sequence[int]) -> Any:
        return x[list(places)]

    @staticmethod
    def places(*places: int) -> Any:
        return Tensor(list(places))

    @staticmethod
    def bits(x: Any, kind: str) -> Any:
        return x.bitcast(kind)

    @staticmethod
    def windows(x: Any, size: int, step: int) -> Any:
        return x.unfold(0, size, step)

    @staticmethod
    def unstack(x: Any, place: int) -> Any:
        return x.unbind(0)[place]

    @staticmethod
    def schedule(*several: Any) -> None:
        items, values = several[0].schedule_with_vars(*several[1:])
        run_schedule(items, values)

    def export(self, x: Any) -> None:
        self.seen.append(np.from_dlpack(x))

    @staticmethod
    def refuses(write: Callable[[], Any]) -> None:
        try:
            write()
        except ArgumentError as error:
            if "several elements" in str(error):
                return
            raise
        raise AssertionError("a write to an expanded view was not refused")


class Arrays(Tensors):
    """`weft.array_api` as the lines call it."""

    def __init__(self, wrap: Callable[[Any], Any] = Numpy.wrap) -> None:
        super().__init__(wrap)
        self.xp: Any = array_api

    def new(self, shape: tuple[int, ...], kind: str, seed: int) -> Any:  # type: ignore[override]
        return self.xp.asarray(Numpy.new(shape, kind, seed))

    def copy(self, x: Any) -> Any:  # type: ignore[override]
        return self.xp.asarray(x, copy=True)

    def twin(self, x: Any) -> Any:  # type: ignore[override]
        return self.xp.astype(x, x.dtype)

    def cast(self, x: Any, kind: str) -> Any:  # type: ignore[override]
        return self.xp.astype(x, getattr(self.xp, kind))

    def pick(self, x: Any, places: Sequence[int]) -> Any:  # type: ignore[override]
        return self.xp.take(x, self.xp.asarray(list(places)), axis=0)

    def places(self, *places: int) -> Any:  # type: ignore[override]
        return self.xp.asarray(list(places))

    def view(self, x: Any) -> Any:  # type: ignore[override]
        return self.xp.asarray(x)[...]

    def flip(self, x: Any, axis: int) -> Any:  # type: ignore[override]
        return self.xp.flip(x, axis=axis)

    def transpose(self, x: Any, order: tuple[int, ...]) -> Any:  # type: ignore[override]
        return self.xp.permute_dims(x, order)

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:  # type: ignore[override]
        return self.xp.reshape(x, shape)

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:  # type: ignore[override]
        return self.xp.broadcast_to(x, shape)

    def squeeze(self, x: Any) -> Any:  # type: ignore[override]
        return self.xp.squeeze(x, axis=tuple(i for i, s in enumerate(x.shape) if s == 1))

    def unstack(self, x: Any, place: int) -> Any:  # type: ignore[override]
        return self.xp.unstack(x)[place]


class Shards(Tensors):
    """Tensors that are cut along another axis each, or whole, over some devices."""

    def __init__(self, *devices: str, wrap: Callable[[Any], Any] = Numpy.wrap) -> None:
        super().__init__(wrap)
        self.devices = devices

    def new(self, shape: tuple[int, ...], kind: str, seed: int) -> Any:  # type: ignore[override]
        axis = seed % (len(shape) + 1)
        made = Tensor(Numpy.new(shape, kind, seed), device=self.devices[0])
        return made.shard(self.devices, axis if axis < len(shape) else None)

    def export(self, x: Any) -> None:
        """Memory on several devices has no one address."""
        self.look(x)


class Files(Tensors):
    """Tensors in files of a folder; what is computed of them is computed elsewhere."""

    def __init__(self, folder: str, family: str, wrap: Callable[[Any], Any] = Numpy.wrap) -> None:
        super().__init__(wrap)
        self.place = f"{family}:{folder}"
        self.numbers = itertools.count()

    def new(self, shape: tuple[int, ...], kind: str, seed: int) -> Any:  # type: ignore[override]
        made = Tensor(Numpy.new(shape, kind, seed))
        return made.to(f"{self.place}/{next(self.numbers)}").realize()

    def copy(self, x: Any) -> Any:  # type: ignore[override]
        return x.to(Tensor([0]).device).clone()

    def cast(self, x: Any, kind: str) -> Any:  # type: ignore[override]
        return self.copy(x).cast(kind)

    twin = copy

    @staticmethod
    def refuses(write: Callable[[], Any]) -> None:
        """Of a file only contiguous parts are written at all."""
        try:
            Tensors.refuses(write)
        except CapabilityError:
            return
