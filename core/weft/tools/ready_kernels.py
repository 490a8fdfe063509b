"""Build the table of ready kernels of a device: compute small samples of the usual operations.

    python -m weft.tools.ready_kernels CPU

`weft.engine.ready_kernels` starts this in the background, where a device has no table. To have the
table before the first program runs, for example in a container image, run it by hand. A table that
is complete is left alone. Kernels that are on disk are not compiled again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device import registry
from weft.engine import ready_kernels
from weft.tensor import Tensor

SECONDS = 300.0
"""The time limit: a table that is not complete then is continued by a later process."""

_NUMBERS = (2, 3, 4)
"""The first number of a loop is computed by its own kernel, later ones by kernels that take it as
an argument (`weft.tensor.general_plans`): both are in the table."""

Sample = Callable[[], Tensor]


def build(device: str, seconds: float = SECONDS) -> int:
    """Compile all kernels of the table that are not on disk; returns how many samples failed."""
    opened = registry.open(device)
    until = time.monotonic() + seconds
    failed = 0
    with settings.override(DEVICE=opened.name, READY_KERNELS=1), ready_kernels.building():
        for number, sample in enumerate(samples()):
            is_removed = number > 0 and not os.path.isdir(settings.CACHE_DIR)
            if time.monotonic() > until or is_removed:
                return failed
            try:
                sample().realize()
            except WeftError:  # this device does not have the operation
                failed += 1
        ready_kernels.complete_table(opened)
    return failed


def samples() -> Iterator[Sample]:
    """The computations of the table, the most frequent first."""
    for dtype in (dtypes.float32, dtypes.int32, dtypes.int64, dtypes.float64):
        given = _Inputs(dtype)
        yield from _binary(given)
        yield from _reductions(given)
        yield from _unary(given)
        yield from _copies(given)
        yield from _chains(given)
    yield from _logical()
    yield from _casts()


class _Inputs:
    """Small tensors of one dtype, in memory. Their sizes are different numbers above 1."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.is_float = dtypes.is_float(dtype)
        self.vector, self.other = self.make(5), self.make(5)
        self.matrix, self.second = self.make(5, 7), self.make(5, 7)
        self.square, self.row, self.column = self.make(6, 6), self.make(7), self.make(5, 1)
        self.scalar, self.product = self.make(), self.make(7, 3)

    def make(self, *shape: int) -> Tensor:
        """A tensor of this shape, filled with ones."""
        return Tensor.ones(*shape, dtype=self.dtype).contiguous().realize()


def _binary(given: _Inputs) -> Iterator[Sample]:
    functions: list[Callable[[Any, Any], Tensor]] = [
        lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
        lambda x, y: x < y, lambda x, y: x > y, lambda x, y: x == y, lambda x, y: x != y,
        lambda x, y: x <= y, lambda x, y: x >= y, Tensor.maximum, Tensor.minimum,
    ]  # fmt: skip
    if not given.is_float:
        functions += [lambda x, y: x // y, lambda x, y: x % y]
    for function in functions:
        yield lambda function=function: function(given.vector, given.other)
        for number in _NUMBERS:
            yield lambda function=function, number=number: function(given.vector, number)
    for function in functions[:4]:
        yield lambda function=function: function(given.matrix, given.row)
        yield lambda function=function: function(given.matrix, given.column)
        yield lambda function=function: function(given.scalar, given.scalar + 0)
        yield lambda function=function: function(given.vector, given.scalar)
        for number in _NUMBERS:
            yield lambda function=function, number=number: function(given.scalar, number)
            yield lambda function=function, number=number: function(number, given.vector)


def _reductions(given: _Inputs) -> Iterator[Sample]:
    names = ["sum", "max", "min", "mean", "prod"]
    for name in names if given.is_float else names[:3]:
        yield lambda name=name: getattr(given.vector, name)()
        for tensor in (given.matrix, given.square):
            for axis in (None, 0, 1):
                yield lambda name=name, t=tensor, axis=axis: getattr(t, name)(axis=axis)
    yield given.vector.argmax
    yield lambda: (given.vector * given.other).sum()
    for number in _NUMBERS:
        yield lambda number=number: (given.vector * number).sum()
    if given.is_float:
        yield lambda: given.matrix @ given.product
        yield lambda: given.square @ given.square
        yield lambda: given.matrix @ given.row
        yield lambda: given.vector @ given.other


def _unary(given: _Inputs) -> Iterator[Sample]:
    names = ["neg", "abs", "square"]
    if given.is_float:
        names += ["exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "reciprocal"]
        names += ["floor", "round", "rsqrt", "exp2", "log2"]
    for name in names:
        yield lambda name=name: getattr(given.vector, name)()
    if given.is_float:
        for number in _NUMBERS:
            yield lambda number=number: given.vector**number
    yield lambda: (given.vector > 0).where(given.vector, given.other)
    yield lambda: (given.vector > 2).where(given.vector, 0)
    yield lambda: given.vector.clip(0, 1)
    for number in _NUMBERS:
        yield lambda number=number: (given.vector > number).where(given.vector, number)


def _chains(given: _Inputs) -> Iterator[Sample]:
    """Several operations that become one kernel."""
    vector, other, matrix = given.vector, given.other, given.matrix
    yield lambda: vector * other + vector
    for number in _NUMBERS:
        yield lambda number=number: vector * number + 7
        yield lambda number=number: vector + other * number
        yield lambda number=number: vector + number * other
        yield lambda number=number: vector * number + other
        yield lambda number=number: matrix[number] + 7
        yield lambda number=number: matrix.T + number
    yield lambda: Tensor.zeros(5, dtype=given.dtype).contiguous()
    yield lambda: Tensor.zeros(5, 7, dtype=given.dtype).contiguous()
    yield lambda: Tensor.arange(5, dtype=given.dtype).contiguous()
    if given.is_float:
        yield lambda: ((vector - other) ** 2).mean()
        yield lambda: ((vector - other) ** 2).sum()
        yield lambda: (vector**2).sum().sqrt()
        yield lambda: (matrix - matrix.mean(0).realize()) / matrix.std(0).realize()
    if given.dtype is dtypes.float32:
        yield lambda: Tensor.rand(5)
        yield lambda: Tensor.randn(5)


def _copies(given: _Inputs) -> Iterator[Sample]:
    yield lambda: given.matrix.T.contiguous()
    yield lambda: given.square.T.contiguous()
    for place in _NUMBERS:
        yield lambda place=place: given.matrix[place].contiguous()
        yield lambda place=place: given.matrix[:, place].contiguous()
        yield lambda place=place: given.vector[:place].contiguous()
        yield lambda place=place: given.matrix[place] * given.matrix[place, 1]
    yield lambda: given.vector.cat(given.row)
    yield lambda: given.matrix.cat(given.second)
    yield lambda: Tensor.stack(given.vector, given.other)


def _logical() -> Iterator[Sample]:
    one, other = Tensor([True] * 5).realize(), Tensor([False] * 5).realize()
    yield lambda: one & other
    yield lambda: one | other
    yield lambda: one ^ other
    yield lambda: one.logical_not()
    yield one.all
    yield one.any
    yield one.sum


def _casts() -> Iterator[Sample]:
    kinds = (
        dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.bool,
        dtypes.float16,
    )  # fmt: skip
    for old in kinds:
        vector = _Inputs(old).vector
        for new in kinds:
            if new is not old:
                yield lambda vector=vector, new=new: vector.cast(new)


def _lower_priority() -> None:
    """Leave the processor to all other processes."""
    try:
        if hasattr(os, "SCHED_IDLE"):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        elif hasattr(os, "nice"):
            os.nice(19)
    except OSError as error:  # the table is built all the same
        let_through(error)


if __name__ == "__main__":
    _lower_priority()
    build(sys.argv[1] if len(sys.argv) > 1 else registry.canonical())
