"""Weak containers whose cleanup runs no Python code.

The containers of the standard module `weakref` take a dead member out by a function in Python.
What a signal handler raises while such a callback runs is printed and lost. Here the callback is a
method of a `dict` in C, over keys that are weak references: a reference hashes and compares as what
it refers to, and once that is dead by its own identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Generic, TypeVar, cast
from weakref import _remove_dead_weakref, ref  # type: ignore[attr-defined]

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


def entry_type(table: dict[Any, Any]) -> Any:
    """The class of the weak references of an intern table, which remove their own entries.

    The callback of a reference is `methodcaller("drop", key)`. It removes that key from the table,
    unless the entry is a newer reference to a live object.

    >>> from operator import methodcaller
    >>> class Thing: ...
    >>> table = {}
    >>> Entry = entry_type(table)
    >>> thing = Thing()
    >>> table["key"] = Entry(thing, methodcaller("drop", "key"))
    >>> del thing
    >>> table
    {}
    """
    drop = staticmethod(partial(cast(Any, _remove_dead_weakref), table))
    return type("Entry", (ref,), {"__slots__": (), "drop": drop})


class WeakKeys(Generic[K, V]):
    """A mapping whose items go with their keys, which are hashable and can be referred to weakly.

    >>> class Thing: ...
    >>> thing = Thing()
    >>> sizes = WeakKeys({thing: 3})
    >>> sizes[thing], thing in sizes, len(sizes)
    (3, True, 1)
    >>> del thing
    >>> len(sizes)
    0
    """

    __slots__ = ("__weakref__", "_table")

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._table: dict[ref[Any], V] = {}
        if items:
            for key, value in items.items():
                self[key] = value

    def __setitem__(self, key: K, value: V) -> None:
        self._table[ref(key, self._table.__delitem__)] = value

    def __getitem__(self, key: K) -> V:
        """The value of a key. :raises KeyError: where there is none."""
        return self._table[ref(key)]

    def __delitem__(self, key: K) -> None:
        del self._table[ref(key)]

    def __contains__(self, key: K) -> bool:
        return ref(key) in self._table

    def __len__(self) -> int:
        return len(self._table)

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key, or `default`."""
        return self._table.get(ref(key), default)

    def setdefault(self, key: K, default: V) -> V:
        """The value of a key, which is `default` where there was none: one step for all threads."""
        return self._table.setdefault(ref(key, self._table.__delitem__), default)

    def clear(self) -> None:
        """Forget all of them."""
        self._table.clear()

    def items(self) -> list[tuple[K, V]]:
        """The keys that live, and their values."""
        found = [(reference(), value) for reference, value in list(self._table.items())]
        return [(key, value) for key, value in found if key is not None]


class WeakMembers(Generic[T]):
    """A set whose members it does not keep alive, in the order in which they came.

    >>> class Thing: ...
    >>> thing = Thing()
    >>> things = WeakMembers([thing])
    >>> thing in things, len(things)
    (True, 1)
    >>> del thing
    >>> list(things)
    []
    """

    __slots__ = ("__weakref__", "_table")

    def __init__(self, members: Iterable[T] = ()) -> None:
        self._table: dict[ref[Any], None] = {}
        for member in members:
            self.add(member)

    def add(self, member: T) -> None:
        """Add a member, until it is freed."""
        self._table.setdefault(ref(member, self._table.__delitem__))

    def discard(self, member: T) -> None:
        """Have it no longer, if it was one."""
        self._table.pop(ref(member), None)

    def clear(self) -> None:
        """Forget all of them."""
        self._table.clear()

    def __contains__(self, member: T) -> bool:
        return ref(member) in self._table

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[T]:
        found = [reference() for reference in list(self._table)]
        return iter([member for member in found if member is not None])
