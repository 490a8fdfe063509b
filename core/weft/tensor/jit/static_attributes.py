"""Static attribute lookup: read attributes of foreign objects without running their code.

`getattr` and `hasattr` call `__getattr__` and properties, which may return any value, raise, or
have side effects. Here the type decides, as for special methods.

Source: Python, `inspect.getattr_static`; Python reference, "Special method lookup".
"""

from __future__ import annotations

from functools import cached_property, partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
)
from typing import Any

from weft.base.arguments import shown
from weft.base.errors import ArgumentError

_MISSING = object()
_SLOTS = (MemberDescriptorType, GetSetDescriptorType)


def has_member(kind: type, name: str) -> bool:
    """Whether a class, or one that it derives from, defines a name."""
    return any(name in base.__dict__ for base in kind.__mro__)


def attributes(value: Any) -> dict[str, Any] | None:
    """The instance dictionary of an object; None if it has none."""
    for base in type(value).__mro__:
        found = base.__dict__.get("__dict__")
        if isinstance(found, GetSetDescriptorType):
            try:
                held = found.__get__(value)
            except (AttributeError, TypeError):
                continue
            return held if isinstance(held, dict) else None
    if isinstance(value, type):
        return None
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return held if isinstance(held, dict) else None


def member(value: Any, name: str, default: Any = None) -> Any:
    """An attribute in the instance dictionary or in a slot."""
    there = attributes(value)
    if there is not None and name in there:
        return there[name]
    for base in type(value).__mro__:
        found = base.__dict__.get(name, _MISSING)
        if isinstance(found, _SLOTS):
            try:
                return found.__get__(value)
            except AttributeError:
                return default
        if found is not _MISSING:
            break
    return default


def field(value: Any, name: str) -> Any:
    """A field of a dataclass: the attribute of the instance, or the default of its class."""
    found = member(value, name, _MISSING)
    if found is not _MISSING:
        return found
    for base in type(value).__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def slots(value: Any) -> list[str]:
    """The names of the slots of an object that have a value."""
    found: list[str] = []
    for base in type(value).__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            is_slot = isinstance(base.__dict__.get(name), MemberDescriptorType)
            if is_slot and member(value, name, _MISSING) is not _MISSING:
                found.append(name)
    return found


def wrapped(value: Any) -> Any:
    """The function in `__wrapped__`, as `functools.wraps` sets it; None if there is none."""
    found = member(value, "__wrapped__")
    return found if callable(found) and found is not value else None


def innermost(function: Any) -> Any:
    """The function below all wrappers, and below a method."""
    seen: set[int] = set()
    while id(function) not in seen:
        seen.add(id(function))
        if isinstance(function, MethodType):
            function = function.__func__
        function = wrapped(function) or function
    return function


def is_function(value: Any) -> bool:
    """Whether this is a Python function or method, whose attributes are safe to read."""
    if isinstance(value, MethodType):
        value = value.__func__
    return isinstance(value, (FunctionType, BuiltinFunctionType))


def is_async(function: Any) -> bool:
    """Whether a call returns a coroutine or an asynchronous generator."""
    while isinstance(function, partial):
        function = function.func
    if not is_function(function):  # an object that can be called
        found = (base.__dict__.get("__call__") for base in type(function).__mro__)
        function = next((each for each in found if each is not None), None)
    if isinstance(function, MethodType):
        function = function.__func__
    asynchronous = CO_COROUTINE | CO_ASYNC_GENERATOR
    return isinstance(function, FunctionType) and bool(function.__code__.co_flags & asynchronous)


def check_is_function(function: Any) -> None:
    """:raises ArgumentError: for a value that is no function, and for an async function."""
    if not callable(function) or isinstance(function, type):
        is_property = isinstance(function, (property, cached_property))
        raise ArgumentError(
            "jit takes a function",
            asked=f"jit({shown(function)})",
            try_="@property above @jit" if is_property else "@jit above a def",
        )
    if is_async(function):
        raise ArgumentError(
            "jit takes a function that returns its result, not a coroutine",
            asked=f"jit of the async function {name_of(function)}",
            because="the body of an async function runs after the call, outside of the trace",
            try_="@jit on a def that computes, and call that in the async function",
        )


def name_of(function: Any) -> str:
    """The qualified name of a callable, or that of its class."""
    if isinstance(function, partial):
        return name_of(function.func)
    found: Any = function.__qualname__ if isinstance(function, (FunctionType, MethodType)) else None
    found = found or member(function, "__qualname__") or type(function).__qualname__
    return found if isinstance(found, str) else str(type(function).__qualname__)
