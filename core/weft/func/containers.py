"""Containers of tensors: arguments and results that are lists, tuples, dicts or dataclasses.
Also: pytrees.

Source: JAX, pytrees (`jax.tree_util`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from weft.autograd import independent
from weft.base.arguments import kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, WrongKind
from weft.tensor import Tensor
from weft.tensor.complex import view_as_complex, view_as_real


def mapped(function: Callable[[Any, str], Any], value: Any, name: str) -> Any:
    """The same container with `function(leaf, name)` of each leaf: of all that is no container."""
    if is_namedtuple(value):
        return type(value)(*[mapped(function, *each) for each in _items(value, name)])
    if isinstance(value, list | tuple):
        return type(value)([mapped(function, *each) for each in _items(value, name)])
    if isinstance(value, Mapping):
        found = [mapped(function, *each) for each in _items(value, name)]
        return type(value)(zip(value, found, strict=True))  # type: ignore[call-arg]
    if is_dataclass(value) and not isinstance(value, type):
        found = [mapped(function, *each) for each in _items(value, name)]
        names = [field.name for field in fields(value) if field.init]
        return type(value)(**dict(zip(names, found, strict=True)))
    return function(value, name)


def is_container(value: Any) -> bool:
    """Whether `mapped` looks inside."""
    plain = isinstance(value, list | tuple | Mapping)
    return plain or (is_dataclass(value) and not isinstance(value, type))


def _items(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    """What a container holds, each with how it is written."""
    if isinstance(value, list | tuple):
        yield from ((item, f"{name}[{place}]") for place, item in enumerate(value))
    elif isinstance(value, Mapping):
        yield from ((item, f"{name}[{key!r}]") for key, item in value.items())
    else:
        names = [field.name for field in fields(value) if field.init]
        yield from ((getattr(value, each), f"{name}.{each}") for each in names)


def is_namedtuple(value: Any) -> bool:
    """Whether it is a tuple with names, which is made of its items one by one."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def leaves(value: Any, name: str = "") -> list[Any]:
    """The leaves of a container, in order."""
    found: list[Any] = []
    mapped(lambda leaf, _: found.append(leaf), value, name)
    return found


def refilled(value: Any, new: Sequence[Any]) -> Any:
    """The same container with these leaves."""
    left = iter(new)
    return mapped(lambda _leaf, _name: next(left), value, "")


def entries(entry: Any, value: Any, name: str, asked: str) -> list[Any]:
    """For each leaf of a container the entry that holds for it.

    entry: one for all leaves, or a container of entries with the structure of `value`.
    :raises ArgumentError: for another structure.
    """
    if not is_container(entry):
        return [entry] * len(leaves(value))
    inner = list(_items(value, name)) if is_container(value) else []
    outer = list(_items(entry, ""))
    if isinstance(entry, Mapping) and isinstance(value, Mapping) and entry.keys() == value.keys():
        outer = [(entry[key], "") for key in value]  # by name, whatever their order
    elif isinstance(entry, Mapping) or isinstance(value, Mapping):
        outer = []
    if len(inner) != len(outer) or not inner:
        raise ArgumentError(
            "axes are one number, or have the structure of the tensors",
            asked=f"{asked} with {entry!r} for {name}",
            because=f"{name} is {kind_of(value)}" + (f" of {len(inner)} items" if inner else ""),
        )
    return [
        found
        for (part, where), (own, _) in zip(inner, outer, strict=True)
        for found in entries(own, part, where, asked)
    ]


def as_tensor(value: Any, name: str, asked: str) -> Tensor:
    """A leaf as a tensor; arrays are converted.

    :raises WrongKind: for anything else.
    """
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return Tensor(value)
    raise WrongKind(
        "this function takes tensors",
        asked=f"{asked} with {name}={shown(value)}",
        because=f"that is {kind_of(value)}",
        try_="Tensor(...) of it",
    )


def function_name(function: Any) -> str:
    """How a function is called in errors."""
    return getattr(function, "__qualname__", None) or shown(function)


class IndependentArguments:
    """The arguments of a call in which the tensors to differentiate by have nodes of their own: a
    tensor that is passed twice has two gradients, and a caller's tensor keeps its flags.

    :param argnums: the numbers of the positional arguments to differentiate by.
    :ivar args: the new arguments. :ivar targets: the tensors to differentiate by.
    :raises ArgumentError: for numbers that no argument has.
    :raises DTypeError: for a tensor without derivative.
    """

    def __init__(self, args: Sequence[Any], argnums: int | Sequence[int], what: str) -> None:
        numbers = [argnums] if isinstance(argnums, int) else list(argnums)
        count = len(args)
        if not numbers or any(not -count <= number < count for number in numbers):
            raise ArgumentError(
                "argnums are numbers of positional arguments",
                asked=f"{what} with argnums={argnums!r}",
                because=f"the call has {count} positional arguments",
            )
        self._is_single = isinstance(argnums, int)
        self._chosen = [args[number] for number in numbers]
        self.args, self.targets = list(args), list[Tensor]()
        for number, value in zip(numbers, self._chosen, strict=True):
            new = [_independent(each, f"argument {number}", what) for each in leaves(value)]
            self.args[number] = refilled(value, new)
            self.targets += new

    def packed(self, values: Sequence[Any]) -> Any:
        """One value for each target, in the containers of the chosen arguments."""
        left = list(values)
        found = []
        for value in self._chosen:
            count = len(leaves(value))
            found.append(refilled(value, left[:count]))
            del left[:count]
        return found[0] if self._is_single else tuple(found)


def _independent(value: Any, name: str, what: str) -> Tensor:
    tensor = as_tensor(value, name, what)
    if not dtypes.is_float(tensor.dtype) and not tensor.is_complex():
        raise DTypeError(
            "only floats have gradients",
            asked=f"{what} by {name}, a tensor of {tensor.dtype}",
            because="between two integers there is nothing to take a derivative of",
            try_="argnums without this argument, or x.float()",
        )
    if tensor.is_complex():
        return view_as_complex(_independent(view_as_real(tensor), name, what))
    # a leaf: values that are read keep the graph down to it
    return Tensor._from_node(independent(tensor._uop), True)
