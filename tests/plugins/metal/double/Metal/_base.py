"""What the framework's objects have in common."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple


class MTLSize(NamedTuple):
    width: int
    height: int
    depth: int


class NSRange(NamedTuple):
    location: int
    length: int


class NSObject:
    """Selectors with as many arguments as colons, and no others."""

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                arguments = len(inspect.signature(method).parameters) - 1
                assert name.count("_") == arguments, f"{cls.__name__}.{name} takes {arguments}"

    def respondsToSelector_(self, selector: str) -> bool:
        return hasattr(self, selector.replace(":", "_"))


class Descriptor(NSObject):
    """Made in two steps; what is not a property of it is an AttributeError."""

    _properties: dict[str, Any] = {}

    def __init__(self) -> None:
        self._said = dict(self._properties)

    @classmethod
    def alloc(cls) -> Any:
        return cls()

    def init(self) -> Any:
        return self

    def __getattr__(self, selector: str) -> Any:
        name = selector.removeprefix("set").removesuffix("_")
        name = name[:1].lower() + name[1:]
        if not (selector.startswith("set") and selector.endswith("_") and name in self._properties):
            raise AttributeError(f"{type(self).__name__} has no {selector}")

        def say(value: Any) -> None:
            assert isinstance(value, type(self._properties[name])), f"{selector}{value!r}"
            self._said[name] = value

        return say


class NSError(NSObject):
    def __init__(self, text: str, code: int = 0) -> None:
        self._text = text
        self._code = code

    def localizedDescription(self) -> str:
        return self._text

    def code(self) -> int:
        return self._code

    def domain(self) -> str:
        return "MTLCommandBufferErrorDomain"


class Varlist:
    """A pointer, as PyObjC gives it."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def as_buffer(self, count: int) -> memoryview:
        return memoryview(self._memory).cast("B")[:count]
