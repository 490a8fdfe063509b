"""Lists and dicts of modules and of parameters, which are modules themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from weft.base.arguments import kind_of, shown
from weft.base.errors import ArgumentError, WrongKind
from weft.nn.module import Module
from weft.nn.parameter import Parameter, parameter
from weft.tensor import Tensor

Item = TypeVar("Item")
_RESERVED = ("training", "_forward_hooks", "_forward_pre_hooks")


class _Container(Module, Generic[Item]):
    """What lists and dicts share: the items are attributes, named by number or key."""

    def _names(self) -> list[str]:
        return [name for name in vars(self) if name not in _RESERVED]

    def _checked(self, value: Any) -> Any:
        if isinstance(value, Module) or (callable(value) and not isinstance(value, Tensor)):
            return value
        raise WrongKind(
            f"{type(self).__name__} holds modules",
            asked=f"{type(self).__name__} of {shown(value)}",
            because=f"that is {kind_of(value)}",
            try_="nn.ParameterList(tensors)"
            if isinstance(value, Tensor)
            else "nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])",
        )

    def __len__(self) -> int:
        return len(self._names())

    def _values(self) -> list[Any]:
        return [vars(self)[name] for name in self._names()]


class NumberedModules(_Container[Item]):
    """What lists share: items with numbers for names."""

    def __init__(self, items: Iterable[Item] | None = None) -> None:
        self.extend(() if items is None else items)

    def _put(self, values: Iterable[Any]) -> None:
        checked = [self._checked(value) for value in values]
        for name in self._names():
            delattr(self, name)
        for number, value in enumerate(checked):
            setattr(self, str(number), value)

    def append(self, item: Item) -> Self:
        """One more at the end; gives self."""
        setattr(self, str(len(self)), self._checked(item))
        return self

    def extend(self, items: Iterable[Item]) -> Self:
        """More at the end; gives self. :raises WrongKind: for what is no collection."""
        if isinstance(items, Module | Tensor) and not isinstance(items, NumberedModules):
            raise WrongKind(
                "a list of items is needed",
                asked=f"{type(self).__name__} of {kind_of(items)}",
                try_=f"nn.{type(self).__name__}([item])",
            )
        for item in list[Any](items):
            self.append(item)
        return self

    def insert(self, index: int, item: Item) -> Self:
        """An item before that of this number; gives self. All are numbered anew."""
        values = self._values()
        values.insert(index, item)
        self._put(values)
        return self

    def pop(self, index: int = -1) -> Item:
        """Take an item out; the others are numbered anew."""
        values = self._values()
        taken: Item = values.pop(index)
        self._put(values)
        return taken

    def __iter__(self) -> Iterator[Item]:
        return iter(self._values())

    def __getitem__(self, index: Any) -> Any:
        found = self._values()[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, item: Item) -> None:
        setattr(self, self._names()[index], self._checked(item))

    def __delitem__(self, index: int | slice) -> None:
        values = self._values()
        del values[index]
        self._put(values)

    def __iadd__(self, items: Iterable[Item]) -> Self:
        return self.extend(items)

    def __add__(self, items: Iterable[Item]) -> Self:
        return type(self)([*self, *items])


class ModuleList(NumberedModules[Any]):
    """A list of modules, whose parameters are named by number.

    >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), list(layers.state_dict())[:2]
    (3, ['0.weight', '0.bias'])
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__(modules)

    def __repr__(self) -> str:
        """As PyTorch's: equal neighbours are printed once."""
        groups: list[list[Any]] = []
        for number, each in enumerate(map(repr, self)):
            if groups and groups[-1][2] == each:
                groups[-1][1] = number
            else:
                groups.append([number, number, each])
        if not groups:
            return f"{type(self).__name__}()"
        lines = []
        for first, last, each in groups:
            name = f"({first})" if first == last else f"({first}-{last})"
            times = "" if first == last else f"{last - first + 1} x "
            lines.append(f"{name}: {times}{each}".replace("\n", "\n  "))
        return f"{type(self).__name__}(\n" + "\n".join(f"  {line}" for line in lines) + "\n)"


class ParameterList(NumberedModules[Any]):
    """A list of parameters, named by number. Tensors become parameters.

    >>> weights = nn.ParameterList([Tensor([1.0]), Tensor([2.0, 3.0])])
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__(values)

    def _checked(self, value: Any) -> Any:
        return _as_parameter(self, value)

    def extra_repr(self) -> str:
        return "\n".join(_said(name, vars(self)[name]) for name in self._names())


class _Dict(_Container[Item]):
    """What dicts share."""

    def update(self, items: Mapping[str, Item] | Iterable[tuple[str, Item]]) -> None:
        """Items under their keys; those of the same keys are replaced."""
        pairs: Any = items.items() if isinstance(items, Mapping | _Dict) else items
        for key, item in pairs:
            self[key] = item

    def keys(self) -> list[str]:
        """The keys in their order."""
        return self._names()

    def values(self) -> list[Item]:
        """The items in their order."""
        return self._values()

    def items(self) -> list[tuple[str, Item]]:
        """(key, item) in their order."""
        return [(name, vars(self)[name]) for name in self._names()]

    def pop(self, key: str) -> Item:
        """Take an item out."""
        taken: Item = self[key]
        del self[key]
        return taken

    def clear(self) -> None:
        """Take all items out."""
        for name in self._names():
            del self[name]

    def get(self, key: str, default: Any = None) -> Any:
        """The item of this key, or the default."""
        return self[key] if key in self else default

    def __getitem__(self, key: str) -> Item:
        if key not in self:
            raise KeyError(key)
        found: Item = vars(self)[key]
        return found

    def __setitem__(self, key: str, item: Item) -> None:
        taken = isinstance(key, str) and (key in _RESERVED or hasattr(type(self), key))
        if not isinstance(key, str) or not key or "." in key or taken:
            raise ArgumentError(
                f"{key!r} is no key",
                asked=f"{type(self).__name__}[{key!r}]",
                because="the class has an attribute of this name"
                if taken
                else "the names of parameters begin with the key, and dots join them",
                try_=f"{key}_" if taken else "letters and underscores",
            )
        setattr(self, key, self._checked(item))

    def __delitem__(self, key: str) -> None:
        del vars(self)[key]

    def __contains__(self, key: object) -> bool:
        return key in vars(self) and key not in _RESERVED

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())


class ModuleDict(_Dict[Any]):
    """A dict of modules, whose parameters are named by key.

    >>> heads = nn.ModuleDict({"age": nn.Linear(2, 1, bias=False)})
    >>> heads["age"](Tensor.ones(3, 2)).shape, list(heads.state_dict())
    ((3, 1), ['age.weight'])
    """

    def __init__(
        self, modules: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None
    ) -> None:
        self.update({} if modules is None else modules)


class ParameterDict(_Dict[Any]):
    """A dict of parameters, named by key. Tensors become parameters.

    >>> [name for name, _ in nn.ParameterDict({"scale": Tensor([1.0])}).named_parameters()]
    ['scale']
    """

    def __init__(
        self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None
    ) -> None:
        self.update({} if parameters is None else parameters)

    def _checked(self, value: Any) -> Any:
        return _as_parameter(self, value)

    def extra_repr(self) -> str:
        return "\n".join(_said(name, vars(self)[name]) for name in self._names())


def _as_parameter(holder: Module, value: Any) -> Any:
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        return parameter(value)
    raise WrongKind(
        f"{type(holder).__name__} holds tensors",
        asked=f"{type(holder).__name__} of {shown(value)}",
        because=f"that is {kind_of(value)}",
        try_="Tensor(values)",
    )


def _said(name: str, value: Tensor) -> str:
    shape = "x".join(map(str, value.shape))
    return f"({name}): Parameter containing: [{value.dtype} of size {shape}]"
