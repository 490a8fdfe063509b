"""Ready kernels: small general kernels that are compiled before a program needs them.
Also: ahead-of-time compilation.

A kernel of few iterations takes far longer to compile than to run. A device has a table of general
kernels, whose sizes, strides and constants are arguments: elementwise operations, casts, copies and
reductions. The table is a part of the disk cache: the kernels in it are found by their general ASTs
like all others, and become invalid with the code that generates them.

A process without a table starts a helper process that builds it, in the background and with the
lowest priority. Kernels can be used as soon as each is compiled.

in:  the AST of a small kernel      out: the general AST, if its kernel is on disk, and the values
of its arguments

Source: J. Aycock, "A brief history of just-in-time" (ACM Computing Surveys 2003).
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from weft.base.disk_cache import DiskCache
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.weak import WeakKeys
from weft.device import Feature, OpenDevice
from weft.engine import kernel_cache
from weft.engine.kernel_arguments import SMALL, General, most_general, numbers_of
from weft.shape import ShapeTracker, View
from weft.uop import GroupOp, Ops, UOp

MODULE = "weft.tools.ready_kernels"
"""What the helper process runs, with the name of the device."""

AGAIN_AFTER = 3600.0
"""Seconds after which a table that was begun is continued by another process, and between the
beginnings of two tables: who edits the code that generates kernels makes every table invalid."""

_tables = DiskCache("ready_kernels", 1)
_COMPLETE, _BEGUN = b"complete", b"begun "
_MOST_OF_SKELETON = 8
_building: list[bool] = []
_forbidden: list[bool] = []
_tried: set[str] = set()
"""The tables that this process has begun."""
_COLLAPSED = GroupOp.ALU | {
    Ops.SINK, Ops.STORE, Ops.LOAD, Ops.VIEW, Ops.DEFINE_GLOBAL, Ops.CONST, Ops.DEFINE_VAR, Ops.CAST,
    Ops.BITCAST,
}  # fmt: skip


class ReadyKernels:
    """The ready kernels that a device has, as far as they were asked for.

    :param exists: whether the kernel of a general AST is on disk.
    """

    def __init__(self, exists: Callable[[UOp], bool]) -> None:
        self._exists = exists
        self._found: dict[Any, list[General]] = {}
        self._missing: set[UOp] = set()

    def resolve(self, ast: UOp) -> tuple[UOp, Mapping[UOp, int], int] | None:
        """The general AST for `ast`, the values of its arguments, and the iterations of its loops;
        None: no kernel is ready."""
        small = collapse_axes(ast)
        numbers = numbers_of(small)
        if numbers is None or not numbers.values or numbers.volume > SMALL:
            return None
        known = self._found.setdefault(numbers.skeleton, [])
        # the table has kernels for equal sizes as well, which a process may need first
        for general in () if _building else known:
            values = general.values(numbers.values)
            if values is not None:
                return general.ast, values, numbers.volume
        if len(known) >= _MOST_OF_SKELETON and not _building:
            return None
        made = most_general(small, numbers)
        if made is None or made.ast in self._missing:
            return None
        if not self._exists(made.ast):
            self._missing.add(made.ast)
            return None
        known.append(made)
        values = made.values(numbers.values)
        return None if values is None else (made.ast, values, numbers.volume)


def general_ast(ast: UOp) -> UOp | None:
    """The AST of the ready kernel for a small kernel; None where there is none."""
    small = collapse_axes(ast)
    numbers = numbers_of(small)
    if numbers is None or not numbers.values or numbers.volume > SMALL:
        return None
    made = most_general(small, numbers)
    return None if made is None else made.ast


# ---- axes ----------------------------------------------------------------------------------------


def collapse_axes(ast: UOp) -> UOp:
    """Loop collapse: an elementwise AST with one axis in place of adjacent axes that all views
    iterate over as one, and without axes of size 1. Other ASTs stay."""
    order = list(ast.toposort())
    trackers = [node.arg for node in order if isinstance(node.arg, ShapeTracker)]
    if any(node.op not in _COLLAPSED for node in order) or not trackers:
        return ast
    views: list[View] = [tracker.views[0] for tracker in trackers]
    shape = views[0].shape
    if any(len(tracker.views) > 1 for tracker in trackers) or not _are_plain(views, shape):
        return ast
    groups = _groups(views, shape)
    if len(groups) == len(shape):
        return ast
    new: dict[UOp, UOp] = {}
    for node in order:
        arg: Any = node.arg
        if isinstance(arg, ShapeTracker):
            arg = ShapeTracker([_collapsed(arg.views[0], groups)])
        new[node] = UOp(node.op, node.dtype, tuple([new[source] for source in node.src]), arg)
    return new[ast]


def _are_plain(views: Sequence[View], shape: tuple[Any, ...]) -> bool:
    """Whether views have this shape, no mask, and no symbolic number."""
    return all(
        view.shape == shape
        and view.mask is None
        and all(number.__class__ is int for number in (*view.shape, *view.strides, view.offset))
        for view in views
    )


def _groups(views: Sequence[View], shape: tuple[Any, ...]) -> list[list[int]]:
    """The axes that become one; axes of size 1 are left out."""
    groups: list[list[int]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if groups:
            last = groups[-1][-1]
            if all(view.strides[last] == view.strides[axis] * size for view in views):
                groups[-1].append(axis)
                continue
        groups.append([axis])
    return groups


def _collapsed(view: View, groups: Sequence[Sequence[int]]) -> View:
    sizes: list[Any] = []
    for group in groups:
        size: Any = 1
        for axis in group:
            size = size * view.shape[axis]
        sizes.append(size)
    strides = tuple([view.strides[group[-1]] for group in groups])
    return View.create(tuple(sizes), strides, view.offset)


# ---- the table on disk ---------------------------------------------------------------------------

_states: WeakKeys[OpenDevice, tuple[object, bool]] = WeakKeys()
"""Whether the table of a device was begun, under the settings of a stamp."""


def has_table(device: OpenDevice) -> bool:
    """Whether the table of a device was begun."""
    if _building:
        return True
    stamp = settings.stamp()
    known = _states.get(device)
    if known is None or known[0] is not stamp:
        key = key_of_table(device)
        known = stamp, key is not None and _is_begun(_tables.get(key))
        _states[device] = known
    return known[1]


def begin_table(device: OpenDevice) -> None:
    """Start the helper process that builds the table of a device, unless it was begun."""
    if has_table(device):
        return
    key = key_of_table(device)
    if key is None or key in _tried:
        return
    _tried.add(key)
    latest = f"latest {device.capabilities.fingerprint}"
    if _is_recent(_tables.get(latest)):
        return
    state = _BEGUN + str(int(time.time())).encode()
    _tables.put(latest, state)
    _tables.put(key, state)
    if _tables.get(key) == state:  # elsewhere nothing that the helper compiles would be kept
        _states.clear()
        _start_helper(device.name)


@contextmanager
def building() -> Generator[None]:
    """A context in which general kernels are compiled where they are not ready: whatever is
    computed in it becomes a part of the table."""
    _building.append(True)
    try:
        yield
    finally:
        _building.pop()


def is_building() -> bool:
    """Whether the table is being built by this process."""
    return bool(_building)


def complete_table(device: OpenDevice) -> None:
    """Note that the table of a device has all kernels."""
    key = key_of_table(device)
    if key is not None:
        _tables.put(key, _COMPLETE)


def forget_tables() -> None:
    """Read the state of every table again: for tests."""
    _states.clear()
    _tried.clear()


def use(allowed: bool) -> bool:
    """Whether ready kernels were used in this process before; allow them from now on, or forbid
    them in all threads, for tests that count kernels."""
    before = not _forbidden
    _forbidden[:] = [] if allowed else [True]
    _states.clear()
    return before


def _is_begun(state: bytes | None) -> bool:
    return state == _COMPLETE or _is_recent(state)


def _is_recent(state: bytes | None) -> bool:
    """Whether a table was begun less than `AGAIN_AFTER` ago."""
    if state is None or not state.startswith(_BEGUN):
        return False
    try:
        return time.time() - int(state[len(_BEGUN) :]) < AGAIN_AFTER
    except ValueError:
        return False


def key_of_table(device: OpenDevice) -> str | None:
    """The key of the table of a device; None where there is none."""
    compute = device.capabilities.compute
    if compute is None or not compute.has(Feature.READY_KERNELS) or not settings.READY_KERNELS:
        return None
    if _forbidden:
        return None
    return kernel_cache.key_of_device(kernel_cache.settings_of_a_kernel(), device)


def _start_helper(name: str) -> None:
    """Start the helper process, which outlives this one; a thread waits for its end."""
    import subprocess
    import threading

    environment = importlib.import_module("weft.engine.worker_processes").environment_of_helpers()
    quiet = subprocess.DEVNULL
    try:
        helper = subprocess.Popen(
            # -P: a file of the user's must not be taken for a module of ours
            [sys.executable or "python3", "-P", "-m", MODULE, name],
            env=environment, stdin=quiet, stdout=quiet, stderr=quiet,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        let_through(error)
        return
    threading.Thread(target=helper.wait, daemon=True).start()
