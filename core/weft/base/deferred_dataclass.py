"""Deferred dataclasses: `dataclass` that generates the methods of a class at their first use.
Also: lazy code generation.

`dataclasses.dataclass` compiles five functions for each class, which takes half a millisecond. A
process that computes one small result imports a hundred dataclasses, and constructs objects of a
third of them. Here a class gets a descriptor for each generated attribute. The first construction
generates `__init__` alone, and the first comparison `__eq__`. The first use of another attribute
generates all by `dataclasses.dataclass`.

Options and results are those of `dataclasses.dataclass`; type checkers see that function itself.
Annotations with `ClassVar`, `InitVar` or `KW_ONLY` are not supported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from dataclasses import dataclass as _generate
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from weft.base.locks import reentrant_lock

_ALWAYS = ("__init__", "__repr__", "__match_args__", "__dataclass_fields__", "__dataclass_params__")
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_NOT_COPIED = frozenset({"__dict__", "__weakref__", "__slots__"})

_lock = reentrant_lock()


class _Generation:
    """What is left to do for one class: `namespace` is that of its class statement."""

    def __init__(self, cls: type[Any], namespace: dict[str, Any], options: dict[str, bool]) -> None:
        self.cls = cls
        self.namespace = namespace
        self.options = options
        self.names: set[str] = set()

    def defer(self, *names: str) -> None:
        """Enter a descriptor for each of these attributes that the class does not define."""
        for name in names:
            if name not in self.namespace:
                self.names.add(name)
                setattr(self.cls, name, _Deferred(self, name))

    def make(self, name: str) -> None:
        """Generate an attribute. It replaces its descriptor at once, so that other threads see the
        one or the other."""
        with _lock:
            if name not in self.names:
                return
            make = _MAKERS.get(name)
            fields = None if make is None else self._fields()
            if make is None or fields is None:
                self._make_all()
            else:
                setattr(self.cls, name, make(self, fields))
                self.names.remove(name)

    def _fields(self) -> dict[str, Field[Any]] | None:
        """The fields, where they are simple: all are of this class, and arguments by position."""
        if any("__dataclass_fields__" in vars(base) for base in self.cls.__mro__[1:]):
            return None
        fields: dict[str, Field[Any]] = {}
        has_default = False
        for name in self.namespace.get("__annotations__", ()):
            value: Any = self.namespace.get(name, MISSING)
            one: Field[Any] = value if value.__class__ is Field else field(default=value)
            is_required = one.default is MISSING and one.default_factory is MISSING
            is_mutable = getattr(one.default, "__hash__", None) is None
            if not one.init or one.kw_only is True or is_mutable or (has_default and is_required):
                return None
            has_default = not is_required
            fields[name] = one
        return fields

    def _make_all(self) -> None:
        cls = self.cls
        metaclass: Any = type(cls)
        model = metaclass(cls.__name__, cls.__bases__, self.namespace)
        model.__qualname__ = cls.__qualname__
        complete: Any = _generate(**self.options)(model)
        for name in self.names:
            setattr(cls, name, vars(complete)[name])
        self.names.clear()


class _Factory:
    """The default of an argument whose default value is made by a function."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _make_init(generation: _Generation, fields: dict[str, Field[Any]]) -> Any:
    known: dict[str, Any] = {"_factory": _FACTORY, "_set": object.__setattr__}
    arguments = ["self"]
    lines: list[str] = []
    for name, one in fields.items():
        value, argument = name, name
        if one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            argument += f"=_default_{name}"
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"] = one.default_factory
            argument += "=_factory"
            value = f"_make_{name}() if {name} is _factory else {name}"
        arguments.append(argument)
        is_frozen = generation.options["frozen"]
        lines.append(f"_set(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(generation.cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(arguments)}):\n {body}", known)
    made = known["__init__"]
    made.__annotations__ = {**generation.namespace.get("__annotations__", {}), "return": None}
    made.__qualname__ = f"{generation.cls.__qualname__}.__init__"
    made.__module__ = generation.cls.__module__
    return made


def _make_equality(generation: _Generation, fields: dict[str, Field[Any]]) -> Any:
    values = _values([name for name, one in fields.items() if one.compare])

    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _make_hash(generation: _Generation, fields: dict[str, Field[Any]]) -> Any:
    values = _values(
        [n for n, one in fields.items() if (one.compare if one.hash is None else one.hash)]
    )

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _values(names: list[str]) -> Callable[[Any], Any]:
    """What gives the tuple of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda self: ()
    get = attrgetter(*names)
    return lambda self: (get(self),)


_MAKERS = {"__init__": _make_init, "__eq__": _make_equality, "__hash__": _make_hash}


class _Deferred:
    """An attribute of a class that is generated when it is read."""

    def __init__(self, generation: _Generation, name: str) -> None:
        self.generation = generation
        self.name = name

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        self.generation.make(self.name)
        found: Any = vars(self.generation.cls)[self.name]
        bind: Any = getattr(found.__class__, "__get__", None)
        return found if bind is None else bind(found, instance, owner)


def _dataclass(
    cls: type[Any] | None = None,
    /,
    *,
    eq: bool = True,
    order: bool = False,
    frozen: bool = False,
    slots: bool = False,
) -> Any:
    """The decorator, and what it returns if it is called with options."""
    if cls is None:

        def decorate(cls: type[Any]) -> type[Any]:
            return _deferred(cls, eq, order, frozen, slots)

        return decorate
    return _deferred(cls, eq, order, frozen, slots)


def _deferred(cls: type[Any], eq: bool, order: bool, frozen: bool, slots: bool) -> type[Any]:
    namespace = {name: value for name, value in vars(cls).items() if name not in _NOT_COPIED}
    if "__eq__" in namespace and namespace.get("__hash__", cls) is None:
        del namespace["__hash__"]  # Python itself sets it
    names = tuple(namespace.get("__annotations__", ()))
    if slots:
        cls = _with_slots(cls, names, frozen)
    else:
        _set_defaults(cls, namespace)
    generation = _Generation(cls, namespace, {"eq": eq, "order": order, "frozen": frozen})
    generation.defer(*_ALWAYS)
    if eq:
        generation.defer("__eq__")
        if frozen:
            generation.defer("__hash__")
        elif "__hash__" not in namespace:
            setattr(cls, "__hash__", None)  # noqa: B010
    if order:
        generation.defer(*_ORDER)
    if frozen:
        _freeze(cls, frozenset(names))
    return cls


def _set_defaults(cls: type[Any], namespace: dict[str, Any]) -> None:
    """Replace fields by their defaults, as class attributes."""
    for name, value in namespace.items():
        if value.__class__ is Field:
            if value.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)


def _with_slots(cls: type[Any], names: tuple[str, ...], frozen: bool) -> type[Any]:
    """The same class with a slot for each of these fields."""
    inherited = {slot for base in cls.__mro__[1:] for slot in getattr(base, "__slots__", ())}
    kept = {name: value for name, value in vars(cls).items() if name not in names}
    for name in _NOT_COPIED:
        kept.pop(name, None)
    kept["__slots__"] = tuple([name for name in names if name not in inherited])
    metaclass: Any = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, kept)
    made.__qualname__ = cls.__qualname__
    if frozen:  # the default forms assign to attributes
        made.__getstate__ = _state
        made.__setstate__ = _set_state
    return made


def _state(self: Any) -> list[Any]:
    names: dict[str, Any] = self.__dataclass_fields__
    return [getattr(self, name) for name in names]


def _set_state(self: Any, state: list[Any]) -> None:
    names: dict[str, Any] = self.__dataclass_fields__
    for name, value in zip(names, state):
        object.__setattr__(self, name, value)


def _freeze(cls: type[Any], fields: frozenset[str]) -> None:
    """Forbid assignments to the fields of objects."""

    def set_attribute(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in fields:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: Any, name: str) -> None:
        if type(self) is cls or name in fields:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__ = set_attribute  # type: ignore[method-assign, assignment]
    cls.__delattr__ = delete_attribute  # type: ignore[method-assign, assignment]


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
