"""`jit`: trace a function, and replay its kernels.
Also: just-in-time compilation, graph capture.

A call belongs to a specialization: by shapes, dtypes, devices and Python values of arguments and
captured state, by the way tensors share memory, and by settings. The first two calls of each
specialization run as written and are traced. If both did the same, later calls replay the trace:
no graph, no schedule, no Python of the function. If not (a number from elsewhere, an iterator), the
function continues to run as written, with a warning.

A replay does what the function would do if the function depends only on its arguments, on what it
reaches by closure, globals and attributes, and on the random stream.

Source: JAX, `jax.jit`; PyTorch, `torch.compile` with CUDA graphs; CUDA graphs (stream capture).
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from weft.base.arguments import too_deep
from weft.base.errors import ArgumentError, CaptureError
from weft.base.interrupts import let_through
from weft.base.locks import reentrant_lock
from weft.base.settings import settings
from weft.base.weak import WeakKeys
from weft.engine.capture import recording
from weft.tensor.alias import base_of, invalidate_views
from weft.tensor.jit.cache import MODES, SpecializationCache
from weft.tensor.jit.guards import CallGuard
from weft.tensor.jit.in_place_writes import MemoryMoved
from weft.tensor.jit.retrace_reason import (
    Facts,
    difference,
    facts_of_arguments,
    facts_of_mode,
    facts_of_state,
    facts_of_values,
)
from weft.tensor.jit.signature import Signature, UnsupportedArgument, path_of
from weft.tensor.jit.specialization import Specialization, aliased_state_of
from weft.tensor.jit.state import State
from weft.tensor.jit.static_attributes import (
    attributes,
    check_is_function,
    has_member,
    innermost,
    is_function,
    member,
    name_of,
)
from weft.tensor.jit.trace import record_trace
from weft.tensor.jit.untracked_arrays import qualified
from weft.tensor.jit.views import realize_memory
from weft.tensor.live_tensors import is_settled, set_node
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")

_MAX_RECORDINGS = 4
_MAX_NEW = 64
_NEW_BEFORE_WARNING = (
    5  # new signatures in a row, without a replay, until a warning says what differs
)
_FAILURES_BEFORE_WARNING = 3  # failed guards in a row, without a replay
_NO_VALUES: Mapping[UOp, int] = {}


@overload
def jit(  # pyright: ignore[reportOverlappingOverload]
    function: staticmethod[P, R], *, limit: int = 16
) -> staticmethod[P, R]: ...
@overload
def jit(function: classmethod[T, P, R], *, limit: int = 16) -> classmethod[T, P, R]: ...
@overload
def jit(function: Callable[P, R], *, limit: int = 16) -> Jit[P, R]: ...
@overload
def jit(function: None = None, *, limit: int = 16) -> Callable[[Callable[P, R]], Jit[P, R]]: ...
def jit(function: Any = None, *, limit: int = 16) -> Any:
    """Trace a function and replay its kernels: `@jit` on functions and methods.

    Arguments and results may be containers of any depth: lists, tuples, dicts, dataclasses and
    subclasses of these, with tensors and Python values. Another shape, dtype, device or Python
    value is another specialization, with a trace of its own. Results are new tensors at every call;
    writes to arguments and state persist; the random stream continues. Results have no graph, so
    gradients are taken inside: `backward` of a result does not reach the computation.

    :param limit: the number of specializations that are kept; the least recently used is evicted.
    :raises CaptureError: when called: for arguments without a signature (a generator, an array),
        for values that are read inside (`item`), and for results that cannot be constructed again.

    >>> @jit
    ... def double(x):
    ...     return x * 2
    >>> [double(Tensor([n])).item() for n in range(4)]
    [0, 2, 4, 6]
    >>> double.replays
    2
    """
    if function is None:
        return lambda inner: jit(inner, limit=limit)
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(jit(function.__func__, limit=limit))
    return Jit(function, limit)


class Jit(Generic[P, R]):
    """A captured function. `reset()` drops its traces.

    quiet: whether to omit the warning that calls are not replayed.
    replays: the number of replayed calls. reason: why calls are not replayed, or None.
    """

    def __init__(self, function: Callable[P, R], limit: int = 16, quiet: bool = False) -> None:
        check_is_function(function)
        self._function = function
        self._limit = limit
        self._quiet = quiet
        self._lock = reentrant_lock()
        self._attribute = self._place = ""
        self._classes: WeakKeys[type, BoundJit] = WeakKeys()
        self._roots: list[Any] = [function]
        self.reset()
        self._copy_metadata(function)

    def _copy_metadata(self, function: Any) -> None:
        """Copy name and documentation of the function, as `functools.wraps` does."""
        for name in functools.WRAPPER_ASSIGNMENTS:
            found = getattr(function, name, None) if is_function(function) else None
            found = member(function, name) if found is None else found
            if found is not None:
                setattr(self, name, found)
        self.__wrapped__ = function

    def reset(self) -> None:
        """Drop all traces: the next calls are traced anew.

        >>> double = jit(lambda x: x * 2)
        >>> [double(Tensor([n])).item() for n in range(4)]
        [0, 2, 4, 6]
        >>> double.reset()
        >>> double(Tensor([9])).item()
        18
        """
        self._cache = SpecializationCache(self._limit)
        self._guard: CallGuard | None = None  # of the last replayed call
        self._new_in_a_row = self._guard_failures = 0
        self.replays = 0
        self.reason: str | None = None
        self._facts: Facts | None = None

    @property
    def read_variables(self) -> frozenset[UOp]:
        """The variables whose values Python takes: each value has a trace.

        >>> weft.jit(lambda x: x + 1).read_variables
        frozenset()
        """
        read = frozenset[UOp]().union(*self._cache.read.values())
        return frozenset(node for node in read if node.op is Ops.DEFINE_VAR)

    # ---- methods --------------------------------------------------------------------------------

    def __set_name__(self, owner: type, name: str) -> None:
        self._attribute, self._place = name, f"jit of {name}"

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Jit[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Jit[Q, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if isinstance(instance, type):
            return self._of_class(instance)
        there = attributes(instance)
        if there is None:
            raise ArgumentError(
                "the traces of a method are kept with its instance, which has no place for them",
                asked=f"{type(instance).__name__}.{self._attribute}",
                because="the class has __slots__ and no __dict__",
                try_='add "__dict__" to __slots__, or jit a function that takes the instance',
            )
        found = there.get(self._place)
        if found is None or found.instance is not instance or found.method is not self:
            found = there[self._place] = BoundJit(self, instance)
        return found

    def _of_class(self, kind: type) -> BoundJit:
        """The captured class method of this class."""
        found = self._classes.get(kind)
        if found is None:
            found = self._classes[kind] = BoundJit(self, kind)
        return found

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{self._attribute} is a captured method, and not to be set")

    def __reduce__(self) -> Any:
        return self._name

    def __repr__(self) -> str:
        return f"<jit {self._name}: {len(self._cache)} signatures, {self.replays} replays>"

    # ---- calls ----------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._guard is not None and recording() is None:
            with self._lock:
                guard = self._guard
                found = None if guard is None else guard.match(args, kwargs)
                if guard is not None and found is not None:
                    result = guard.specialization.replay(*found, _NO_VALUES)
                    self.replays += 1
                    return result
        if self._new_in_a_row > _MAX_NEW or recording() is not None:
            return self._function(*args, **kwargs)
        if not settings.JIT or settings.CHECK:
            return self._function(*args, **kwargs)
        with self._lock:
            self._guard = None
            arguments, entry, is_valid = self._specialized(args, kwargs)
            if not entry.is_disabled:
                if is_valid is None:
                    return self._record(entry, arguments, args, kwargs)
                if is_valid:
                    tensors, nodes = arguments.tensors, list(arguments.nodes)
                    result = entry.replay(tensors, nodes, arguments.values)
                    self.replays += 1
                    self._new_in_a_row = self._guard_failures = 0
                    if not self._cache.read:
                        self._guard = CallGuard.of(entry, args, kwargs, arguments)
                    return result
                self._count_guard_failure(entry)
        return self._function(*args, **kwargs)

    @property
    def _name(self) -> str:
        return name_of(self._function)

    def _flattened(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Signature:
        try:
            arguments = Signature(args, kwargs)
            if arguments.pending:
                _materialize(arguments.tensors)
                arguments = Signature(args, kwargs)
        except UnsupportedArgument as error:
            raise self._unsupported(error, args, kwargs) from None
        except RecursionError as error:
            raise too_deep((args, kwargs), f"the arguments of {self._name}", error) from None
        return arguments

    def _unsupported(self, refused: UnsupportedArgument, args: Any, kwargs: Any) -> CaptureError:
        names = self._parameters()
        path = None
        for place, value in enumerate(args):
            name = names[place] if place < len(names) else f"argument {place}"
            path = path or path_of(refused.value, value, name)
        for name, value in kwargs.items():
            path = path or path_of(refused.value, value, name)
        kind = qualified(refused.value)
        return CaptureError(
            f"a captured function cannot take a {kind}",
            asked=f"{path or 'an argument'} of {self._name}",
            because=str(refused),
            try_="make a tensor of it first: Tensor(...)"
            if has_member(type(refused.value), "__array__")
            else "pass tensors, numbers, strings, and lists, tuples or dicts of them",
        )

    def _parameters(self) -> list[str]:
        """The names of its positional parameters."""
        function = self._function
        inner = innermost(function)
        code = inner.__code__ if isinstance(inner, FunctionType) else None
        names = list(code.co_varnames[: code.co_argcount]) if code else []
        return names[1:] if isinstance(function, MethodType) else names

    # ---- specializations ------------------------------------------------------------------------

    def _specialized(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Signature, Specialization, bool | None]:
        """The signature and specialization of a call, and whether its guards hold; None if it is to
        be recorded. Starts over if realizing tensors has moved one of them."""
        while True:
            arguments = self._flattened(args, kwargs)
            try:
                entry = self._cache.find(arguments) or self._new_specialization(arguments)
                tensors, nodes = arguments.tensors, list(arguments.nodes)
                if entry.is_ready:
                    return arguments, entry, entry.check_guards(tensors, nodes)
                entry.protect_readers(tensors, nodes)
                return arguments, entry, None
            except MemoryMoved:
                pass

    def _new_specialization(self, arguments: Signature) -> Specialization:
        """The specialization for the current state: a new one, or that of an equal state."""
        state = self._reached_state(arguments)
        key = self._cache.entry_key(arguments, state)
        entry = self._cache.reuse(key, state)
        if entry is None:
            entry = Specialization(state, aliased_state_of(arguments.nodes, state))
            if self._is_never_replayed(arguments, state, key[0]):
                entry.is_disabled = True
            else:
                self._cache.add(key, entry)
        return entry

    def _is_never_replayed(self, arguments: Signature, state: State, call: tuple[Any, ...]) -> bool:
        """Whether to stop recording since no specialization is used twice; warns before that."""
        self._new_in_a_row += 1
        if self.reason is None and self._new_in_a_row >= _NEW_BEFORE_WARNING - 1:
            facts = facts_of_mode(MODES, call[len(arguments.key) :])
            facts += facts_of_arguments(self._parameters(), *arguments.call)
            facts += facts_of_state(state)
            facts += facts_of_values(self._cache.values_read(arguments))
            what = difference(self._facts, facts) if self._facts is not None else None
            self._facts = facts
            if self._new_in_a_row >= _NEW_BEFORE_WARNING:
                what = what or "the Python values that it is given, or reaches"
                self._warn(f"no call is like one before it: {what}", "is recorded at every call")
        if self._new_in_a_row <= _MAX_NEW:
            return False
        self._cache.clear()
        return True

    def _reached_state(self, arguments: Signature) -> State:
        roots = [*self._roots, *arguments.roots]
        try:
            state = State(roots, _is_bound_jit)
            if state.signature.pending:
                before = [t._uop for t in arguments.tensors]
                realize_memory([t for t in state.tensors if not is_settled(t._uop)])
                if any(t._uop is not node for t, node in zip(arguments.tensors, before)):
                    raise MemoryMoved
                state = State(roots, _is_bound_jit)
        except RecursionError:
            raise CaptureError(
                "a captured function reaches objects that are nested too deep",
                asked=f"jit of {self._name}",
                because="each level takes a part of Python's stack, which is used up",
                try_="keep its tensors in flat lists, or pass them as arguments",
            ) from None
        return state

    # ---- recording ------------------------------------------------------------------------------

    def _record(
        self,
        entry: Specialization,
        arguments: Signature,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """Run the function as written, and trace it."""
        trace = record_trace(self._function, args, kwargs, arguments, entry.state, self._name)
        result, trace.result = trace.result, None
        if trace.read and self._cache.specialize_on_values(arguments, trace.read):
            return result
        before = entry.trace
        entry.recordings += 1
        if trace.reason is not None:
            self._disable(entry, trace.reason)
        elif before is not None and _equal(before.pattern, trace.pattern):
            entry.set_trace(trace, is_ready=True)
        elif entry.recordings >= _MAX_RECORDINGS:
            self._disable(entry, "it does something else at every call with equal arguments")
        else:
            entry.set_trace(trace, is_ready=False)
        return result

    def _count_guard_failure(self, entry: Specialization) -> None:
        """Warn if guards fail at several calls in a row."""
        if entry.failed_guard:
            self._guard_failures += 1
            if self._guard_failures >= _FAILURES_BEFORE_WARNING:
                self._warn(entry.failed_guard)

    def _disable(self, entry: Specialization, reason: str) -> None:
        entry.disable()
        self._warn(reason)

    def _warn(self, reason: str, what: str = "is not captured and runs as written") -> None:
        if self.reason is None:
            self.reason = reason
            if self._quiet:
                return
            warnings.warn(f"{self._name} {what}: {reason}", stacklevel=_level_outside())


class BoundJit(Jit[..., Any]):
    """A captured method of one instance, which holds its traces."""

    def __init__(self, method: Jit[..., Any], instance: Any) -> None:
        bound: Any = method._function.__get__(instance)  # type: ignore[attr-defined]
        super().__init__(bound, method._limit, method._quiet)
        self.method, self.instance = method, instance
        self._attribute = method._attribute

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self

    def __reduce__(self) -> Any:
        return getattr, (self.instance, self._attribute)


def _level_outside() -> int:
    """The stack level of the caller outside of the package, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("weft."):
        frame, level = frame.f_back, level + 1
    return level


def _is_bound_jit(value: Any) -> bool:
    return isinstance(value, BoundJit)


def _materialize(tensors: Sequence[TensorBase]) -> None:
    """Realize arguments. Constants get memory of their own: another number is no other trace."""
    for tensor in {id(base): base for base in map(base_of, tensors)}.values():
        below = tensor._uop.base
        while below.op is Ops.DETACH:
            below = below.src[0].base
        if below.op is Ops.CONST and 0 not in tensor._uop.shape:
            set_node(tensor, tensor.detach().clone()._uop)
            invalidate_views(tensor)
    realize_memory(tensors)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception as error:  # values of foreign kinds may compare as they like
        let_through(error)
        return False
