"""Checked mode (`WEFT_CHECK=1`): index bounds, and the first NaN or infinity, where they arise.

A read computes the pending graph method by method instead of in fused kernels. A value is checked
when it leaves the method that recorded it (see `provenance`); values inside a method are not. One
small reduction of a float value shows whether it has a NaN or an infinity, and the same is computed
for its inputs:

- A method makes a NaN if none of its inputs has one, an infinity if no input has either.
- A constant that the user passes to an operator or to a placing method (`where`, `masked_fill`,
  `full`, `pad`, ...) is an input: a mask of -inf is no fault, a NaN that results from it is one.
- A mean of no elements and a variance of one element divide by 0 by definition.
- A node of a backward pass has the method that it differentiates, and its line.
- A value that is much larger than all memory in use is reduced, and not stored.

Deferred checks of index tensors (`index_bounds`) run first, in the order of their recording. All
checks are ordinary operations and work on every device. `jit` runs functions as written. Each fault
is raised once: afterwards its values are in memory, and are inputs of others. Source: the anomaly
detection of automatic differentiation systems; traps on IEEE 754 exceptions.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from weft.base.dtype import dtypes
from weft.base.errors import IndexingError, NonFiniteError, ScheduleError, WeftError
from weft.base.provenance import Metadata, describe
from weft.base.settings import settings
from weft.device import registry
from weft.shape.movement import definite
from weft.tensor.protocol import TensorBase, provenance
from weft.uop import GroupOp, Ops, UOp

# What an index is found to be wrong with, if anything, by its least and greatest value and a text
# that says where it was recorded.
Error: TypeAlias = Callable[[int, int, str], IndexingError | None]
Compute: TypeAlias = Callable[[Sequence[TensorBase]], None]

_PASSES_ON = GroupOp.Movement | GroupOp.Identity | {Ops.CONTIGUOUS}
_MAKES = GroupOp.ALU | {Ops.REDUCE_AXIS, Ops.CAST, Ops.BITCAST}
# methods besides operators in which constants are the numbers that the user gives
_PLACES = frozenset({
    "__init__", "where", "masked_fill", "masked_fill_", "full", "full_like", "new_full", "fill_",
    "pad", "clamp", "clip", "clamp_", "maximum", "minimum", "fmax", "fmin", "index_fill", "scatter",
    "index_put", "add", "sub", "mul", "div", "assign",
})  # fmt: skip
_AVERAGES = frozenset({"mean", "var", "std", "var_mean", "std_mean", "cov"})
_MOST_STORED = 1 << 24
_FINITE, _INFINITE, _NAN = 0, 1, 2


class _Deferred(threading.local):
    def __init__(self) -> None:
        self.checks: list[tuple[Any, Error, Metadata]] = []


_deferred = _Deferred()


def defer(index: Any, error: Error) -> None:
    """Check an index tensor when something is next computed by this thread, in checked mode."""
    _deferred.checks.append((index, error, provenance()))


def run(tensors: Sequence[TensorBase], compute: Compute) -> None:
    """Check all that is pending below `tensors`, and compute it by the way.

    :raises IndexingError: for an index that was deferred, and is out of bounds.
    :raises NonFiniteError: for the first value that is not finite, computed from values that are.
    """
    with settings.override(CHECK=0):
        checks = _deferred.checks
        while checks:
            index, error, made = checks.pop(0)
            if 0 in index.shape or definite(index.shape) is None:
                continue
            _search([index], compute)
            wrong = error(int(index.min().item()), int(index.max().item()), f", at {_line(made)}")
            if wrong is not None:
                raise wrong
        _search(tensors, compute)


def _line(made: Metadata) -> str:
    if made.where is None:
        return describe(None)
    filename, line, function = made.where
    return f"{filename}:{line}" + ("" if function == "<module>" else f" in {function}")


# ---- the first value that is not finite ----------------------------------------------------------


def _search(tensors: Sequence[TensorBase], compute: Compute) -> None:
    """Compute what is pending below `tensors`, one method after the other, and check each value."""
    steps = _steps([t._uop for t in tensors])
    kind = type(tensors[0]) if tensors else TensorBase
    # tensors of their own: they get the computed memory too
    waiting = [(kind._from_node(node), made) for node, made in steps]
    waiting.reverse()
    while waiting:
        value, made = waiting.pop()
        value_node = value._uop
        if value_node.op is Ops.ASSIGN:
            with suppress(ScheduleError):  # not by itself, but with what is computed afterwards
                compute([value])
            continue
        sources = [kind._from_node(n) for n in value_node.toposort() if _is_source(n)]
        if _is_stored(value_node, sources):
            compute([value])
        found = _worst(value)
        if found == _FINITE:
            continue
        numbers = _NAN if _is_of_too_few(value_node, made) else _constants(value_node, made)
        before = max([numbers, *(_worst(source.to(value.device)) for source in sources)])
        if found > before:
            raise _error(value, made, found)


def _steps(roots: Sequence[UOp]) -> list[tuple[UOp, Metadata | None]]:
    """The values that leave the method that recorded them, and the writes, sources first; with
    what recorded them."""
    order = list(UOp(Ops.SINK, src=tuple(dict.fromkeys(roots))).toposort())[:-1]
    made: dict[UOp, Metadata | None] = {}
    found: dict[UOp, None] = {}
    for node in reversed(order):
        own = made[node] = node.meta or made.get(node)
        for source in node.src:
            meta = source.meta
            if meta is None:  # part of what reads it
                made.setdefault(source, own)
            elif meta != own:
                found[_value(source)] = None
    found.update(dict.fromkeys(map(_value, roots)))
    return [
        (node, made.get(node))
        for node in order
        if node.op is Ops.ASSIGN or (node in found and node.op in _MAKES and _is_checked(node))
    ]


def _value(node: UOp) -> UOp:
    """The node below all that moves or marks it."""
    while node.op in _PASSES_ON:
        node = node.src[0]
    return node


def _is_checked(node: UOp) -> bool:
    if not dtypes.is_float(node.dtype) or 0 in node.shape or node.device is None:
        return False
    devices = node.device if isinstance(node.device, tuple) else (node.device,)
    return all(registry.capabilities(device).compute is not None for device in devices)


def _is_source(node: UOp) -> bool:
    return node.op in (Ops.BUFFER, Ops.MULTI) and dtypes.is_float(node.dtype)


def _is_stored(node: UOp, sources: Sequence[TensorBase]) -> bool:
    """Whether a value is no larger than what fits beside the values that are in memory."""
    sizes = [t._uop.size for t in sources if isinstance(t._uop.size, int)]
    size = node.size
    return not isinstance(size, int) or size <= max([_MOST_STORED, *(4 * s for s in sizes)])


def _worst(value: Any) -> int:
    """Whether a NaN, or else an infinity, is among the elements."""
    value = value.detach()
    return int(value.isnan().where(_NAN, value.isinf().where(_INFINITE, _FINITE)).max().item())


def _constants(node: UOp, made: Metadata | None) -> int:
    """The same of the constants that are inputs of a method: the user's own numbers, and what other
    methods made of constants."""
    numbers: list[float] = []
    stack, seen = [(node, _is_placing(made))], set[tuple[UOp, bool]]()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        below, is_input = current
        if below.op is Ops.CONST:
            if is_input and isinstance(below.arg, float):
                numbers.append(below.arg)
            continue
        is_input = is_input or (below.meta is not None and below.meta != made)
        stack += [(source, is_input) for source in below.src]
    if any(map(math.isnan, numbers)):
        return _NAN
    return _INFINITE if any(map(math.isinf, numbers)) else _FINITE


def _is_of_too_few(node: UOp, made: Metadata | None) -> bool:
    """Whether this is an average of so few elements that it divides by the number 0."""
    if made is None or made.name not in _AVERAGES or made.backward:
        return False
    own = node.toposort(gate=lambda below: below.meta is None or below.meta == made)
    return any(u.op is Ops.FDIV and u.src[1].op is Ops.CONST and u.src[1].arg == 0 for u in own)


def _is_placing(made: Metadata | None) -> bool:
    return made is not None and (made.name.startswith("__") or made.name in _PLACES)


def _error(value: Any, made: Metadata | None, found: int) -> WeftError:
    what = "a NaN" if found == _NAN else "an infinity"
    made = made or Metadata("an operation")
    name = f"the gradient of {made.name}" if made.backward else made.name
    size = value.numel()
    bad = value.detach().isnan() if found == _NAN else value.detach().isinf()
    error = NonFiniteError(
        f"{name} makes {what}",
        asked=f"{name} at {_line(made)}, a {value.dtype!r} of shape {value.shape}",
        because=f"{bad.sum().item()} of {size} elements "
        + ("are NaN, and no input has one" if found == _NAN else "are infinite, and no input is"),
        try_="print the inputs of that line; a constant of inf or nan that is given on purpose, by "
        "where, masked_fill or full, is not reported",
    )
    error.operation, error.where = made.name, made.where
    return error
