"""Enumerations: classes of named members like `enum`, with fast attribute access.

    class Colour(Member, int):
        RED = auto()        # Colour.RED.name == "RED", Colour.RED.value == 1
        GREEN = auto()

Code that makes kernels names members millions of times. On Python 3.11 the classes of `enum` have
a `__getattr__`, and so Python looks every name up by a call: `Ops.ADD` took ten times as long, and
that was a fifth of the time that generating a kernel takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast


class Members(type):
    """The metaclass: public names in the body of a class that are no methods become its members.

    `auto()` is one more than the value before it. A class is a collection of its members, in their
    order. `Class(value)` and `Class["NAME"]` return the member.
    """

    __members__: MappingProxyType[str, Any]
    _of_value: dict[Any, Any]

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Members:
        """The class, with its members."""
        given = {key: value for key, value in body.items() if _is_member(key, value)}
        rest = {key: value for key, value in body.items() if key not in given}
        made: Any = super().__new__(cls, name, bases, rest)
        members: dict[str, Any] = {}
        before = 0
        for key, value in given.items():
            before = before + 1 if isinstance(value, auto) else value
            member = int.__new__(made, before) if issubclass(made, int) else object.__new__(made)
            member.__dict__.update(name=key, value=before)
            type.__setattr__(made, key, member)
            members[key] = member
        type.__setattr__(made, "__members__", MappingProxyType(members))
        type.__setattr__(made, "_of_value", {one.value: one for one in members.values()})
        return cast(Members, made)

    def __call__(cls, value: Any) -> Any:
        """The member of this value; ValueError where there is none."""
        try:
            return cls._of_value[value]
        except (KeyError, TypeError):
            raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

    def __getitem__(cls, name: str) -> Any:
        return cls.__members__[name]

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.__members__.values())

    def __len__(cls) -> int:
        return len(cls.__members__)

    def __bool__(cls) -> bool:
        return True

    def __contains__(cls, member: object) -> bool:
        return isinstance(member, cls)

    def __setattr__(cls, name: str, value: Any) -> None:
        if name in cls.__members__:
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)


def _is_member(name: str, value: Any) -> bool:
    return not (name.startswith("_") or callable(value) or hasattr(value, "__get__"))


class _Member(metaclass=Members):
    """The base of members: a name, a value, one object of each.

    They are themselves after pickling and copying. A class that is an `int` as well has members
    that are numbers.
    """

    name: str
    value: Any

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec: str) -> str:
        return format(self.value if spec and isinstance(self, int) else str(self), spec)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return (type(self), (self.value,))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


if TYPE_CHECKING:  # to a type checker they are an enumeration

    class Member(Enum):
        """One of the members of a class."""
else:
    Member = _Member
    Member.__name__ = Member.__qualname__ = "Member"
