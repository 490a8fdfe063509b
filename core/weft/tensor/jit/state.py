"""Captured state: the tensors and Python values that a function reaches besides its arguments, by
closure, globals, defaults and attributes, with guards on all of it.

A traversal from the function finds each container that may change between calls. The guards compare
the items of each container by identity. Library code (weft, the standard library, array libraries)
is not traversed; the memory that kernels read shows what tensors are hidden there (`trace.py`).

Source: PyTorch, TorchDynamo (guards on closures, globals and attributes).
"""

from __future__ import annotations

import enum
import itertools
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import partial
from operator import attrgetter, is_, itemgetter
from types import (
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from weakref import ref

from weft.base.members import Member
from weft.base.weak import WeakMembers
from weft.tensor.jit.signature import (
    PLAIN,
    ByIdentity,
    Signature,
    UnsupportedArgument,
    children,
    is_user_code,
)
from weft.tensor.jit.static_attributes import attributes, has_member, name_of, slots, wrapped
from weft.tensor.jit.untracked_arrays import UntrackedArrays, is_foreign_array, qualified
from weft.tensor.protocol import TensorBase
from weft.uop import UOp

_MAX_BYTES = 1 << 16
_MISSING = object()

DICT, LIST, CELL, NAME, SLOT, VARIABLE = "dict", "list", "cell", "name", "slot", "variable"

_node_of, _grad_of, _flag_of = map(attrgetter, ("_uop", "grad", "_requires_grad"))


_states: WeakMembers[State] = WeakMembers()


_changes = itertools.count()
_changed = next(_changes)


def states() -> list[State]:
    """All states that are alive."""
    return list(_states)


def states_epoch() -> tuple[int, int]:
    """An epoch: it changes when a state is created, deleted, or watches other nodes."""
    return _changed, len(_states)


class Container:
    """A mutable container and its items at the last snapshot."""

    __slots__ = ("keys", "kind", "of", "path", "values")

    def __init__(self, kind: str, of: Any, path: str, keys: list[Any], values: tuple[Any, ...]):
        self.kind, self.of, self.path, self.keys, self.values = kind, of, path, keys, values

    def read(self) -> tuple[list[Any], tuple[Any, ...]]:
        """Its current keys and items."""
        if self.kind is DICT:
            return list(self.of), tuple(self.of.values())
        if self.kind is LIST:
            return list(range(len(self.of))), tuple(self.of)
        if self.kind is CELL:
            return self.keys, (_cell(self.of),)
        if self.kind is NAME:
            return self.keys, tuple([self.of.get(key, _MISSING) for key in self.keys])
        if self.kind is VARIABLE:
            return self.keys, (self.of.get(_MISSING),)
        return self.keys, tuple([getattr(self.of, key, _MISSING) for key in self.keys])

    def write(self, key: Any, value: Any) -> None:
        """Store an item."""
        if self.kind is CELL:
            self.of.cell_contents = value
        elif self.kind is VARIABLE:
            self.of.set(value)
        elif self.kind is SLOT:
            setattr(self.of, key, value)
        elif self.kind is LIST and key == len(self.of):
            self.of.append(value)
        else:
            self.of[key] = value

    def snapshot(self) -> None:
        """Make its current items the ones to compare with."""
        self.keys, self.values = self.read()


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


class State:
    """All that some roots reach, with guards.

    signature: of the values, as for arguments. containers: the mutable containers, in order.
    """

    def __init__(self, roots: list[Any], hidden: Callable[[Any], bool]) -> None:
        global _changed
        _changed = next(_changes)
        _states.add(self)
        self.signature = Signature((), {})
        self.containers: list[Container] = []
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []
        self._arrays: list[tuple[Any, bytes]] = []
        self._hidden = hidden
        self._uops: list[UOp] = []
        self.watched: list[UOp] = []
        self.untracked = UntrackedArrays()
        for root in roots:
            self._visit(root, name_of(root).rpartition(".")[2])
        self.signature.grads.clear()  # they would be kept alive; `_grads` follows the current ones
        self._remember()

    @property
    def tensors(self) -> list[TensorBase]:
        return self.signature.tensors

    # ---- guards ---------------------------------------------------------------------------------

    def _remember(self) -> None:
        self._dicts = [(c.of, c) for c in self.containers if c.kind is DICT]
        self._lists = [(c.of, c) for c in self.containers if c.kind is LIST]
        self.snapshot()

    def snapshot(self) -> None:
        """Make the current values the ones that the guards expect."""
        for container in self.containers:
            container.snapshot()
        self._build_checks()
        self._snapshot_tensors()

    def _snapshot_tensors(self) -> None:
        self._uops = list(map(_node_of, self.tensors))
        self._grads = list(map(_grad_of, self.tensors))
        self._flags = list(map(_flag_of, self.tensors))

    def _build_checks(self) -> None:
        """Group cells, names and slots so that one call compares many of them."""
        self._others: list[Container] = []
        self._cells: list[tuple[Any, Any]] = []
        self._getters: list[tuple[Any, Any, tuple[Any, ...]]] = []
        names: dict[int, tuple[Any, dict[Any, Any]]] = {}
        for c in self.containers:
            if c.kind is DICT or c.kind is LIST or not c.keys:
                continue
            if c.kind is VARIABLE or any(value is _MISSING for value in c.values):
                self._others.append(c)
            elif c.kind is CELL:
                self._cells.append((c.of, c.values[0]))
            elif c.kind is NAME:  # functions of one module share their globals
                names.setdefault(id(c.of), (c.of, {}))[1].update(zip(c.keys, c.values))
            else:
                keys = [*c.keys, c.keys[-1]]
                self._getters.append((attrgetter(*keys), c.of, (*c.values, c.values[-1])))
        self._is_empty = not (self.containers or self.tensors or self._arrays)
        for of, known in names.values():
            keys = [*known, next(iter(known))]  # two at least, for which a getter gives a tuple
            self._getters.append((itemgetter(*keys), of, tuple([known[key] for key in keys])))

    def replace_tensors(
        self, changes: Iterable[tuple[int, TensorBase]], containers: Iterable[int] | None = None
    ) -> None:
        """Replace tensors by others of the same layout over other memory; the key stays.

        changes: (number, new tensor). containers: the numbers of the containers that have changed;
        None: any may have.
        """
        signature = self.signature
        nodes = list(signature.nodes)
        for number, tensor in changes:
            old = self._uops[number].base
            nodes[signature.nodes[old]] = tensor._uop.base
            signature.tensors[number] = tensor
        signature.nodes = {node: number for number, node in enumerate(nodes)}
        if containers is None:
            self.snapshot()
            return
        changed = {id(self.containers[number].of) for number in containers}
        mutated = [c for c in self.containers if id(c.of) in changed] if changed else []
        for container in mutated:  # several functions may share a container
            container.snapshot()
        if any(c.kind is not DICT and c.kind is not LIST for c in mutated):
            self._build_checks()
        self._snapshot_tensors()

    def held_nodes(self) -> list[UOp]:
        """The nodes that it references, besides the tensors."""
        return [*self._uops, *self.signature.nodes, *self.watched]

    def watch_nodes(self, nodes: list[UOp]) -> None:
        """Reference these nodes, for a reader that counts references."""
        global _changed
        if self.watched != nodes:
            _changed = next(_changes)
            self.watched = nodes

    def memory_number(self, number: int) -> int:
        """The number of the buffer below a tensor that is a view of one buffer."""
        return self.signature.nodes[self._uops[number].base]

    def is_tensor_at(self, number: int, tensor: TensorBase, node: UOp) -> bool:
        """Whether this is the tensor of that number, over this node."""
        return self.tensors[number] is tensor and self._uops[number] is node

    def is_unchanged(self) -> bool:
        """Whether all guards hold: each container has the same items, by identity."""
        for there, c in self._dicts:
            if len(there) != len(c.values) or not all(map(is_, there.values(), c.values)):
                return False
            if list(there) != c.keys:
                return False
        for there, c in self._lists:
            if len(there) != len(c.values) or not all(map(is_, there, c.values)):
                return False
        if self._is_empty:
            return True
        try:
            for cell, content in self._cells:  # there are few
                if cell.cell_contents is not content:
                    return False
            for getter, of, values in self._getters:
                if not all(map(is_, getter(of), values)):
                    return False
        except (ValueError, LookupError, AttributeError):  # something was deleted
            return False
        for c in self._others:
            if not all(map(is_, c.read()[1], c.values)):
                return False
        for shown, raw in self._arrays:
            if memoryview(shown).tobytes() != raw:
                return False
        tensors = self.signature.tensors
        return not tensors or (
            all(map(is_, map(_node_of, tensors), self._uops))
            and all(map(is_, map(_grad_of, tensors), self._grads))
            and list(map(_flag_of, tensors)) == self._flags
        )

    # ---- traversal ------------------------------------------------------------------------------

    def _visit(self, value: Any, path: str) -> None:
        kind = type(value)
        add = self.signature.key.append
        if kind in PLAIN or kind is float:
            self.signature.add(value)
            return
        if isinstance(value, TensorBase):
            self.signature.add(value)
            return
        if self._hidden(value):
            return
        number = self._seen.get(id(value))
        if number is not None:
            add(("again", number))
            return
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        if isinstance(value, dict):
            self._enter(DICT, value, path, [f"{path}[{key!r}]" for key in value])
        elif isinstance(value, (list, deque, bytearray)):
            self._enter(LIST, value, path, [f"{path}[{place}]" for place in range(len(value))])
        elif isinstance(value, tuple):
            add((kind, len(value)))
            for written, item in children(value):
                self._visit(item, path + written)
        elif isinstance(value, (set, frozenset)):
            self.containers.append(Container(LIST, value, path, [], ()))
            add(
                (
                    kind,
                    frozenset(
                        (i.__class__, i if i.__class__ in PLAIN else ByIdentity(i)) for i in value
                    ),
                )
            )
        elif isinstance(value, (enum.Enum, Member)):
            add(ByIdentity(value))
        elif isinstance(value, FunctionType):
            self._visit_function(value, path)
        elif isinstance(value, MethodType):
            self._visit(value.__self__, path)
            self._visit(value.__func__, path)
        elif isinstance(value, partial):
            self._visit((value.func, value.args, value.keywords), path)
        elif isinstance(value, type):
            self._visit_class(value, path)
        else:
            self._visit_other(value, path)

    def _enter(self, kind: str, of: Any, path: str, paths: list[str]) -> None:
        """Add a mutable container and visit its items."""
        made = Container(kind, of, path, [], ())
        if kind is DICT:
            shown = [key for key, item in of.items() if not self._hidden(item)]
            keys = [key if key.__class__ in PLAIN else ByIdentity(key) for key in shown]
            self.signature.key.append((of.__class__, *keys))
        else:
            self.signature.key.append((of.__class__, len(of)))
        self.containers.append(made)
        for item, written in zip(made.read()[1], paths):
            self._visit(item, written)

    def _enter_names(self, kind: str, of: Any, path: str, names: list[str]) -> None:
        made = Container(kind, of, path, names, ())
        self.containers.append(made)
        self.signature.key.append((kind, *names))
        for name, item in zip(names, made.read()[1]):
            self._visit(item, f"{path}.{name}" if path else name)

    def _visit_function(self, function: Any, path: str) -> None:
        code = function.__code__
        self.signature.key.append(code)
        cells = list(zip(code.co_freevars, function.__closure__ or ()))
        if not is_user_code(function.__globals__.get("__name__")):
            if (inner := wrapped(function)) is not None:
                # a wrapper of a library (Tensor.train(), contextlib): visit its closure
                for name, cell in cells:
                    self._visit(_cell(cell), name)
                self._visit(inner, name_of(inner).rpartition(".")[2])
            return
        for name, cell in cells:
            self.containers.append(Container(CELL, cell, name, [name], ()))
            self._visit(_cell(cell), name)
        self.untracked.add_names_of(code)
        names = sorted(_names_in(code))
        there = function.__globals__
        used = [name for name in names if name in there]
        if used:
            self._enter_names(NAME, there, "", used)
        self._visit_modules([*map(_cell, (c for _, c in cells)), *(there[n] for n in used)], names)
        if function.__defaults__ or function.__kwdefaults__:
            self._enter_names(SLOT, function, path, ["__defaults__", "__kwdefaults__"])

    def _visit_modules(self, values: Iterable[Any], names: list[str]) -> None:
        """Visit these names in the modules among `values`, and in modules inside them."""
        stack, visited = list(values), set[int]()
        while stack:
            module = stack.pop(0)
            if type(module) is not ModuleType or id(module) in visited:
                continue
            visited.add(id(module))
            if is_user_code(module.__name__):
                within = [name for name in names if name in vars(module)]
                self._enter_names(NAME, vars(module), module.__name__, within)
                stack += [vars(module)[name] for name in within]
            elif module is os and not {"environ", "getenv"}.isdisjoint(names):
                self._visit(attributes(os.environ), "os.environ")

    def _visit_class(self, kind: type, path: str) -> None:
        self.signature.key.append(ByIdentity(kind))
        if not is_user_code(kind.__module__) or kind.__module__.startswith("weft."):
            return
        for base in kind.__mro__[1:]:
            if base is not object:
                self._visit(base, base.__name__)
        names = [name for name in vars(kind) if not name.startswith("__") or name == "__call__"]
        made = Container(NAME, vars(kind), path, names, ())
        self.containers.append(made)
        self.signature.key.append((NAME, *names))
        for name, item in zip(names, made.read()[1]):
            if isinstance(item, property):
                item = item.fget
            elif isinstance(item, (staticmethod, classmethod)):
                item = item.__func__
            self._visit(item, f"{kind.__name__}.{name}")

    def _visit_other(self, value: Any, path: str) -> None:
        kind = type(value)
        if (inner := wrapped(value)) is not None and not is_user_code(kind.__module__):
            self._visit(inner, path)  # as functools.lru_cache does
            return
        if kind is ref:
            self._visit(value(), f"{path}()")
            return
        if kind is MappingProxyType:
            self._enter(DICT, value, path, [f"{path}[{key!r}]" for key in value])
            return
        if kind is ContextVar:
            self._enter_names(VARIABLE, value, "", [value.name])
            return
        if is_array := has_member(kind, "__array_interface__") or _is_plain_memory(kind):
            self._visit_array(value, path)
        if (
            kind is SimpleNamespace
            or kind.__module__ == "argparse"
            or (is_user_code(kind.__module__) and not isinstance(value, ModuleType))
        ):
            self._visit(kind, kind.__name__)
            if (there := attributes(value)) is not None:
                self._enter(DICT, there, path, [f"{path}.{name}" for name in there])
            if names := slots(value):
                self._enter_names(SLOT, value, path, names)
            if there is None and not names and not is_array and is_foreign_array(value):
                self.untracked.note(path, f"a {qualified(value)}")
        elif not is_array:
            self._visit_foreign(value, path)

    def _visit_foreign(self, value: Any, path: str) -> None:
        """Add an object of a library: by value if it is immutable, else by identity."""
        if isinstance(value, ModuleType):
            self.signature.key.append(ByIdentity(value))
            return
        if is_foreign_array(value):
            self.untracked.note(path, f"a {qualified(value)}")
        before = len(self.signature.roots)
        try:
            self.signature.add(value)
        except UnsupportedArgument:
            self.signature.key.append(ByIdentity(value))
        del self.signature.roots[before:]

    def _visit_array(self, value: Any, path: str) -> None:
        """Add an array: by its bytes if they are few, else by identity."""
        how: tuple[Any, ...] = ()
        try:
            seen = memoryview(value)
            is_small = seen.nbytes <= _MAX_BYTES and "O" not in seen.format  # no Python objects
            raw = seen.tobytes() if is_small else None
            how = (seen.format, seen.shape)
        except (TypeError, ValueError, BufferError):
            raw = None
        if raw is None:
            if not _is_users(type(value)):  # else its attributes are visited
                self.untracked.note(path, f"a {qualified(value)} over 64 KiB or of Python objects")
            self.signature.key.append(ByIdentity(value))
            return
        self._arrays.append((value, raw))
        self.signature.key.append((*how, raw))


def _is_users(kind: type) -> bool:
    """Whether a class has no base class of a library."""
    return all(base is object or is_user_code(base.__module__) for base in kind.__mro__)


def _is_plain_memory(kind: type) -> bool:
    """Whether this is a type of the standard library with the buffer protocol."""
    return kind is array or any(base.__module__ == "_ctypes" for base in kind.__mro__)


def _names_in(code: CodeType) -> set[str]:
    """The names that code and the functions in it may look up in globals.

    Names that are no identifiers are skipped: tools that rewrite code, such as pytest, add them,
    and they would reach the whole tool.
    """
    names = {name for name in code.co_names if name.isidentifier()}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names
