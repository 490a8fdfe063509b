"""`jit`: a function whose kernels are recorded and replayed.

For each signature of arguments and state (shapes, dtypes, places, Python values, how tensors share
memory, settings) the first two calls run as written, and are recorded. Where both did the same, the
third and later calls replay: no graph, no schedule, no Python of the function's. Where they did not
(a number from elsewhere, an iterator that moves on), the function goes on running as written, and a
warning says why. So a replay does what the function would do, as long as that depends on arguments,
on what it reaches by closure, globals and attributes, on the random stream, and on nothing else.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from weft.base.arguments import too_deep
from weft.base.errors import ArgumentError, CaptureError
from weft.base.interrupts import let_through
from weft.base.locks import reentrant_lock
from weft.base.settings import settings
from weft.base.weak import WeakKeys
from weft.device import registry
from weft.engine.capture import recording
from weft.tensor.alias import base_of, changed
from weft.tensor.jit.guards import MISSED, Like
from weft.tensor.jit.in_place_writes import MemoryMoved
from weft.tensor.jit.retrace_reason import (
    Facts,
    difference,
    facts_of_arguments,
    facts_of_mode,
    facts_of_state,
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
from weft.tensor.jit.views import realize_with_bases
from weft.tensor.live_tensors import is_settled
from weft.tensor.protocol import TensorBase, grad_enabled
from weft.tensor.tensor import Tensor
from weft.uop import Ops, UOp

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")

_MAX_RECORDINGS = 4
_MAX_NEW_SIGNATURES = 64
_NEW_BEFORE_WARNING = (
    5  # new signatures in a row, without a replay, until a warning says what differs
)
_FAILURES_BEFORE_WARNING = 3  # likewise recordings that could not be replayed
_WITHOUT_EFFECT = frozenset(
    {"DEBUG", "VIZ", "PROCESS_REPLAY", "CACHE", "CACHE_DIR", "SEED", "REPR"}
)
_SETTINGS = [row.name for row in settings.table() if row.name not in _WITHOUT_EFFECT]
_settings_now = settings.reader(*_SETTINGS)
_MODES = [*(f"settings.{name}" for name in _SETTINGS), "Tensor.training", "gradients", "device"]


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
    """Record what a function computes, and replay it: `@jit` on functions and methods.

    Signature and results may be containers of any depth: lists, tuples, dicts, dataclasses and
    their kin, of tensors and of Python values. Another shape, dtype, place or Python value is
    another signature, and recorded by itself. Results are new tensors at every call; writes to
    arguments and state persist; random numbers go on as if nothing was replayed. Results are
    memory, so gradients are taken inside: `backward` of a result does not reach what is in there.

    :param limit: how many signatures are kept; the least recently used goes first.
    :raises CaptureError: when called: for arguments that no signature can tell (a generator, an
        array), for values that are read inside (`item`), and for results that cannot be made again.

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
    """A recorded function. `reset()` forgets what was recorded.

    quiet: whether no warning says that calls are not replayed, where that is so.
    replays: how many calls were replayed. reason: why calls are not, where that is so.
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
        """Take on a function's name and documentation, as far as it keeps them itself."""
        for name in functools.WRAPPER_ASSIGNMENTS:
            found = getattr(function, name, None) if is_function(function) else None
            found = member(function, name) if found is None else found
            if found is not None:
                setattr(self, name, found)
        self.__wrapped__ = function

    def reset(self) -> None:
        """Forget everything: the next calls are recorded anew.

        >>> double = jit(lambda x: x * 2)
        >>> [double(Tensor([n])).item() for n in range(4)]
        [0, 2, 4, 6]
        >>> double.reset()
        >>> double(Tensor([9])).item()
        18
        """
        self._forget()
        # by signature: the variables whose values Python takes, for which it is another one
        self._value_specialized: dict[tuple[Any, ...], frozenset[UOp]] = {}
        self._new_in_a_row = self._guard_failures = 0
        self.replays = 0
        self.reason: str | None = None
        self._facts: Facts | None = None

    def _forget(self) -> None:
        self._entries: OrderedDict[Any, Specialization] = OrderedDict()
        self._by_call: dict[Any, list[Specialization]] = {}
        # the arguments of the last call, what stood around it, likewise as values, its entry
        self._last: tuple[list[Any], tuple[Any, ...], list[Any], Specialization] | None = None
        self._like: Like | None = None

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
                "what a method recorded is kept with its instance, which has no place for it",
                asked=f"{type(instance).__name__}.{self._attribute}",
                because="the class has __slots__ and no __dict__",
                try_='add "__dict__" to __slots__, or jit a function that takes the instance',
            )
        found = there.get(self._place)
        if found is None or found.instance is not instance or found.method is not self:
            found = there[self._place] = BoundJit(self, instance)
        return found

    def _of_class(self, kind: type) -> BoundJit:
        """What a class method of this class recorded."""
        found = self._classes.get(kind)
        if found is None:
            found = self._classes[kind] = BoundJit(self, kind)
        return found

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{self._attribute} is a captured method, and not to be set")

    def __reduce__(self) -> Any:
        return self._name

    def __repr__(self) -> str:
        return f"<jit {self._name}: {len(self._entries)} signatures, {self.replays} replays>"

    # ---- calls ----------------------------------------------------------------------------------

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._like is not None and recording() is None:
            with self._lock:
                like = self._like
                result = MISSED if like is None else like.call(args, kwargs)
                if result is not MISSED:
                    self.replays += 1
                    return result  # type: ignore[return-value]
        if self._new_in_a_row > _MAX_NEW_SIGNATURES or recording() is not None:
            return self._function(*args, **kwargs)
        if not settings.JIT or settings.CHECK:
            return self._function(*args, **kwargs)
        with self._lock:
            self._like = None
            arguments, entry, check_guards = self._arguments_and_entry(args, kwargs)
            if not entry.is_disabled:
                if check_guards is None:
                    return self._record(entry, arguments, args, kwargs)
                if check_guards:
                    tensors, nodes = arguments.tensors, list(arguments.nodes)
                    result = entry.replay(tensors, nodes, arguments.values)
                    self.replays += 1
                    self._new_in_a_row = self._guard_failures = 0
                    if not self._value_specialized:
                        self._like = Like.of(entry, args, kwargs, arguments)
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
        except UnsupportedArgument as refused:
            raise self._unsupported(refused, args, kwargs) from None
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

    # ---- which recording ------------------------------------------------------------------------

    def _arguments_and_entry(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Signature, Specialization, bool | None]:
        """The arguments, the recording for them, and whether it may be replayed; None where it is
        to be recorded. All of it is looked up again where computing what was pending gave one of
        the tensors other memory."""
        while True:
            arguments = self._flattened(args, kwargs)
            try:
                entry = self._entry_for(arguments)
                tensors, nodes = arguments.tensors, list(arguments.nodes)
                if entry.is_ready:
                    return arguments, entry, entry.check_guards(tensors, nodes)
                entry.protect_readers(tensors, nodes)
                return arguments, entry, None
            except MemoryMoved:
                pass

    def _entry_for(self, arguments: Signature) -> Specialization:
        key, last = arguments.key, self._last
        around = (settings.stamp(), Tensor.training, grad_enabled(), registry.default_if_any())
        if last is not None and not self._value_specialized:
            if around == last[1] and (key is last[0] or key == last[0]):
                if last[3].accepts(arguments.nodes):
                    return last[3]
        mode = _current_mode()
        read: frozenset[UOp] = frozenset()
        if self._value_specialized:
            read = self._value_specialized.get((*key, *mode), read)
            if read:
                mode.append(_values_of(read, arguments.values))
        if last is not None and last[0] == key and last[2] == mode:
            if last[3].accepts(arguments.nodes):
                self._last = (key, around, mode, last[3])
                return last[3]
        found = self._find(arguments, (*key, *mode), read)
        self._last = (key, around, mode, found)
        return found

    def _find(
        self, arguments: Signature, call: tuple[Any, ...], read: frozenset[UOp]
    ) -> Specialization:
        for entry in self._by_call.get(call, ()):
            if entry.accepts(arguments.nodes):
                return entry
        state = self._reached_state(arguments)
        aliased_state = aliased_state_of(arguments.nodes, state)
        known = _values_of(read, state.signature.values)
        key = (call, tuple(state.signature.key), tuple(aliased_state), known)
        found = self._entries.get(key)
        if found is None:
            found = Specialization(state, aliased_state)
            if self._is_never_replayed(arguments, state, call):
                found.is_disabled = True
                return found
            self._entries[key] = found
            self._by_call.setdefault(call, []).append(found)
            while len(self._entries) > self._limit:
                self._drop_oldest()
        else:
            found.state = state
            found.watch = None
            self._entries.move_to_end(key)
        return found

    def _is_never_replayed(self, arguments: Signature, state: State, call: tuple[Any, ...]) -> bool:
        """Recording that is never replayed is told of, and in the end given up."""
        self._new_in_a_row += 1
        if self.reason is None and self._new_in_a_row >= _NEW_BEFORE_WARNING - 1:
            facts = facts_of_mode(_MODES, call[len(arguments.key) :])
            facts += facts_of_arguments(self._parameters(), *arguments.call)
            facts += facts_of_state(state)
            what = difference(self._facts, facts) if self._facts is not None else None
            self._facts = facts
            if self._new_in_a_row >= _NEW_BEFORE_WARNING:
                what = what or "the Python values that it is given, or reaches"
                self._warn(f"no call is like one before it: {what}", "is recorded at every call")
        if self._new_in_a_row <= _MAX_NEW_SIGNATURES:
            return False
        self._entries.clear()
        self._by_call.clear()
        return True

    def _reached_state(self, arguments: Signature) -> State:
        roots = [*self._roots, *arguments.roots]
        try:
            state = State(roots, _is_bound_jit)
            if state.signature.pending:
                stood = [t._uop for t in arguments.tensors]
                realize_with_bases([t for t in state.tensors if not is_settled(t._uop)])
                if any(t._uop is not node for t, node in zip(arguments.tensors, stood)):
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

    def _drop_oldest(self) -> None:
        key, entry = self._entries.popitem(last=False)
        entries = self._by_call[key[0]]
        entries.remove(entry)
        if not entries:
            del self._by_call[key[0]]
        if self._last is not None and self._last[3] is entry:
            self._last = None

    # ---- recording ------------------------------------------------------------------------------

    def _record(
        self,
        entry: Specialization,
        arguments: Signature,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        trace = record_trace(self._function, args, kwargs, arguments, entry.state, self._name)
        result, trace.result = trace.result, None
        if trace.read and self._specialize_on_values(arguments, trace.read):
            return result
        before = entry.trace
        entry.tries += 1
        if trace.reason is not None:
            self._disable(entry, trace.reason)
        elif before is not None and _equal(before.pattern, trace.pattern):
            trace.replay.prepare()  # type: ignore[union-attr]
            trace.pattern = None
            entry.trace, entry.tries = trace, -1
        elif entry.tries >= _MAX_RECORDINGS:
            self._disable(entry, "it does something else at every call with equal arguments")
        else:
            entry.trace = trace
        return result

    def _specialize_on_values(self, arguments: Signature, read: frozenset[UOp]) -> bool:
        """Whether it was not known that these values are taken: from now on they are looked at."""
        call = (*arguments.key, *_current_mode())
        known = self._value_specialized.get(call, frozenset())
        if read <= known:
            return False
        if len(self._value_specialized) >= 4 * self._limit:
            self._value_specialized.clear()
        self._value_specialized[call] = known | read
        for key in [key for key in self._entries if key[0][: len(call)] == call]:
            del self._entries[key]
            self._by_call.pop(key[0], None)
        self._last = None
        return True

    def _count_guard_failure(self, entry: Specialization) -> None:
        """A recording that is there cannot be replayed: told of where that goes on."""
        if entry.failed_guard:
            self._guard_failures += 1
            if self._guard_failures >= _FAILURES_BEFORE_WARNING:
                self._warn(entry.failed_guard)

    def _disable(self, entry: Specialization, reason: str) -> None:
        entry.is_disabled, entry.trace = True, None
        self._warn(reason)

    def _warn(self, reason: str, what: str = "is not captured and runs as written") -> None:
        if self.reason is None:
            self.reason = reason
            if self._quiet:
                return
            warnings.warn(f"{self._name} {what}: {reason}", stacklevel=_level_outside())


class BoundJit(Jit[..., Any]):
    """A captured method of one instance; what is recorded is kept with the instance."""

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
    """The stack level, for a warning of the caller's, of the line outside of the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("weft."):
        frame, level = frame.f_back, level + 1
    return level


def _is_bound_jit(value: Any) -> bool:
    return isinstance(value, BoundJit)


def _current_mode() -> list[Any]:
    """What stands around a call."""
    mode = _settings_now()
    mode += (Tensor.training, grad_enabled(), registry.default_if_any())
    return mode


def _values_of(read: frozenset[UOp], values: Mapping[UOp, int]) -> tuple[Any, ...]:
    """The values of those variables that there are."""
    return tuple((v, values[v]) for v in values if v in read)


def _materialize(tensors: Sequence[TensorBase]) -> None:
    """Compute what is pending, and give numbers memory of their own: another is not another
    program."""
    for tensor in {id(base): base for base in map(base_of, tensors)}.values():
        below = tensor._uop.base
        while below.op is Ops.DETACH:
            below = below.src[0].base
        if below.op is Ops.CONST and 0 not in tensor._uop.shape:
            tensor._uop = tensor.detach().clone()._uop
            changed(tensor)
    realize_with_bases(tensors)


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception as error:  # values of foreign kinds may compare as they like
        let_through(error)
        return False
