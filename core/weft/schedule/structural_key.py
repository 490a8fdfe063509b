"""Structural key: describe a graph by a value that is equal for graphs with the same schedule.
Also: structural hashing.

A `Structure` numbers the nodes of a graph in the order of one traversal. It lists the operation,
dtype, argument and source numbers of each. It leaves out what differs between runs of one program:
the identity of a BUFFER (equal numbers mean the same one), the value of a bound variable, and the
numbers that keep copies apart. Of the provenance it holds the names of the Tensor methods, not the
lines.

in:  spec.tensor
out: `Structure`, or None for graphs that hold kernels already

Source: de Bruijn, "Lambda Calculus Notation with Nameless Dummies", 1972 (numbers instead of names
make equal structures equal).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from weft.base.collector import uncollected
from weft.base.deferred_dataclass import dataclass
from weft.base.settings import settings
from weft.device import binding, registry
from weft.shape import ShapeTracker
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import variable_and_value

# settings without effect on schedules and programs
_WITHOUT_EFFECT = frozenset(
    {
        "DEVICE", "DEBUG", "JIT", "VIZ", "PROCESS_REPLAY", "CACHE_DIR", "CACHE", "DISABLE_PLUGINS",
        "TRACE_PLUGINS", "DEFAULT_FLOAT", "SEED", "SCHEDULE_CACHE", "MEMORY_PLANNER",
        "TRACING_CACHE",
    }
)  # fmt: skip
_settings_now = settings.reader(
    *(row.name for row in settings.table() if row.name not in _WITHOUT_EFFECT)
)
# when they were last read, and what they were
_settings_then: tuple[object, tuple[Any, ...]] | None = None

# Arguments known to hold no nodes, so that they need not be searched again.
_plain: set[Any] = set()
_MOST_PLAIN = 1 << 16
# Nodes below these say nothing more; identity of the node is identity of the value.
_ENDS = frozenset({Ops.CONST, Ops.VCONST, Ops.DEVICE, Ops.DEFINE_VAR})
_LEAVES = _ENDS | {Ops.BUFFER, Ops.BIND}
_SPECIAL = _LEAVES | {Ops.KERNEL}
_ASSIGN = Ops.ASSIGN


@dataclass(eq=False, slots=True)
class Structure:
    """A graph described by numbers.

    sink: the graph. places: the number of each of its nodes; not of those below BUFFER and CONST.
    buffers: its BUFFER nodes, by first occurrence. values: the variables that are bound in it.
    sources: for each node the numbers of its sources. key: equal for graphs with equal schedules.
    """

    sink: UOp
    places: dict[UOp, int]
    buffers: list[UOp]
    values: dict[UOp, int]
    sources: list[tuple[int, ...]]
    key: tuple[Any, ...]


class _ConflictingValues(Exception):
    """One variable is bound to two values, so that the graph has no schedule."""


def structure_of(sink: UOp, order: Iterable[UOp] | None = None) -> Structure | None:
    """The structure of the graph below `sink`. order: what `traversal(sink)` returned, if known.

    None where kernels are pending in it, or where one variable is bound to two values.
    """
    # thousands of tuples and no garbage among them
    return uncollected(_structure_of, sink, traversal(sink) if order is None else order)


def _structure_of(sink: UOp, order: Iterable[UOp]) -> Structure | None:
    places: dict[UOp, int] = {}
    buffers: list[UOp] = []
    values: dict[UOp, int] = {}
    devices: set[str] = set()
    sources: list[tuple[int, ...]] = []
    rows: list[Any] = []
    numbered: dict[Any, int] = {}
    has_writes = False
    number_of = places.__getitem__
    try:
        for node in order:
            op = node.op
            below: tuple[int, ...] = ()
            if op not in _SPECIAL:  # nearly all of them
                arg = node.arg
                if arg is not None and arg not in _plain:
                    arg = _canonical_argument(arg, values, numbered)
                below = tuple(map(number_of, node.src))
                meta = node.meta
                row: Any
                if meta is None:
                    row = (op, node.dtype, arg, below)
                else:
                    row = (op, node.dtype, arg, below, meta.name, meta.backward)
                has_writes = has_writes or op is _ASSIGN
            elif op is Ops.BUFFER:
                device = node.src[0].arg
                _add_devices(devices, device)
                buffers.append(node)
                row = (op, node.dtype, node.arg, device)
            elif op is Ops.BIND:
                _bind(node, values)
                row = (op, node.src[0])
            elif op is Ops.KERNEL:
                return None
            else:
                _add_devices(devices, node.device)
                row = node
            places[node] = len(rows)
            rows.append(row)
            sources.append(below)
    except _ConflictingValues:
        return None
    if values and not devices:
        devices.add(registry.canonical(None))  # what is made of variables alone is computed there
    # the rows of bound and unbound variables are equal
    bound = frozenset(values)
    key = (
        tuple(rows),
        bound,
        _environment(devices),
        tuple([binding.is_shared(node) for node in buffers]) if has_writes else None,
    )
    return Structure(sink, places, buffers, values, sources, key)


def traversal(sink: UOp) -> dict[UOp, None]:
    """`sink.toposort()` that ends at BUFFERs, constants and bound variables."""
    if sink.op in _LEAVES:
        return {sink: None}
    order: dict[UOp, None] = {}
    above: list[tuple[UOp, Iterator[UOp]]] = []
    node, sources = sink, iter(sink.src)
    while True:
        for source in sources:
            if source in order:
                continue
            src = source.src
            if src and source.op not in _LEAVES:
                above.append((node, sources))
                node, sources = source, iter(src)
                break
            order[source] = None
        else:
            order[node] = None
            if not above:
                return order
            node, sources = above.pop()


def _add_devices(devices: set[str], device: Any) -> None:
    if device.__class__ is str:
        devices.add(device)
    elif device is not None:
        devices.update(device)


def _environment(devices: set[str]) -> tuple[Any, ...]:
    """The context of a graph: its open devices and the settings."""
    global _settings_then
    opened = tuple([(name, registry.open(name)) for name in sorted(devices)])
    stamp, then = settings.stamp(), _settings_then
    if then is None or then[0] is not stamp:
        then = _settings_then = stamp, tuple(_settings_now())
    return opened, then[1]


def is_plain(arg: Any) -> bool:
    """Whether an argument is equal in all runs of one program: no variable, no serial number."""
    if arg.__class__ is tuple and _is_integral(arg):
        return True
    return arg in _plain or (not _is_serial_number(arg) and _unbound(arg, {}) is arg)


def _is_integral(arg: tuple[Any, ...]) -> bool:
    """Whether an argument consists of ints and pairs of ints: a shape, an order, windows."""
    for entry in arg:
        if entry.__class__ is not int:
            if entry.__class__ is not tuple:
                return False
            for number in entry:
                if number.__class__ is not int:
                    return False
    return True


# ---- arguments -----------------------------------------------------------------------------------


def _canonical_argument(arg: Any, values: dict[UOp, int], numbered: dict[Any, int]) -> Any:
    """An argument without what differs between runs of one program."""
    if _is_serial_number(arg):
        # ("leaf", 17) and the like keep equal values apart: which of them it is must show, not 17
        return arg[0], numbered.setdefault(arg, len(numbered))
    free = _unbound(arg, values)
    if free is arg:
        if len(_plain) >= _MOST_PLAIN:
            _plain.clear()
        _plain.add(arg)
    return free


def _is_serial_number(arg: Any) -> bool:
    """Whether an argument only keeps equal values apart: a name and a number."""
    return (
        arg.__class__ is tuple
        and len(arg) == 2
        and arg[0].__class__ is str
        and arg[1].__class__ is int
    )


def _unbound(arg: Any, values: dict[UOp, int]) -> Any:
    """`arg` with its bound variables free; `arg` itself where there is none."""
    if isinstance(arg, UOp):
        bound = [node for node in arg.toposort() if node.op is Ops.BIND]
        for node in bound:
            _bind(node, values)
        return arg.substitute({node: node.src[0] for node in bound}) if bound else arg
    entries = arg
    if isinstance(arg, tuple):
        free = tuple([_unbound(entry, values) for entry in entries])
        same = all(new is old for new, old in zip(free, entries))
        return entries if same else free
    if isinstance(arg, ShapeTracker):
        tracker, found = arg.unbind()
        for variable, value in found.items():
            _set_value(variable, value, values)
        return tracker if found else arg
    if is_dataclass(arg):
        changed = {}
        for field in fields(arg):
            old = getattr(arg, field.name)
            if (new := _unbound(old, values)) is not old:
                changed[field.name] = new
        return replace(arg, **changed) if changed else arg  # type: ignore[type-var]
    return arg


def _bind(node: UOp, values: dict[UOp, int]) -> None:
    variable, value = variable_and_value(node)
    _set_value(variable, value, values)


def _set_value(variable: UOp, value: int, values: dict[UOp, int]) -> None:
    """Enter the value of a variable. :raises _ConflictingValues: if it has another one."""
    if values.setdefault(variable, value) != value:
        raise _ConflictingValues
