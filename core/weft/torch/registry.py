"""The table of converters: which function computes an operator of PyTorch.

A converter is a function with the parameters of the operator's schema. Tensors arrive as weft
Tensors, dtypes as weft dtypes, sizes as Python ints. Parameters that describe placement (`device`,
`layout`, `pin_memory`, `memory_format`, `non_blocking`) are left out.

    @converter("aten::hardtanh")
    def hardtanh(x: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor: ...

A name without an overload stands for all overloads that have no converter of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError

Converter = Callable[..., Any]
F = TypeVar("F", bound=Converter)

_built_in: dict[str, Converter] = {}
_registered: dict[str, Converter] = {}


def converter(*names: str) -> Callable[[F], F]:
    """Register a function for operators of PyTorch, by name: "aten::add.Tensor" or "aten::add"."""

    def register_function(function: F) -> F:
        for name in names:
            if name in _built_in:
                raise ArgumentError("an operator has two converters", asked=f"converter({name!r})")
            _built_in[name] = function
        return function

    return register_function


def register(operator: Any) -> Callable[[F], F]:
    """Register a converter for a custom operator. It replaces one that was registered before.

    :param operator: `torch.ops.mylib.op`, one of its overloads, or its name "mylib::op".
    :raises ArgumentError: if that is no operator.

    >>> import weft.torch
    >>> @weft.torch.register("mylib::scale")
    ... def scale(x, factor):
    ...     return x * factor
    """
    name = name_of(operator)

    def register_function(function: F) -> F:
        _registered[name] = function
        return function

    return register_function


def find(target: Any, custom: Mapping[str, Converter] | None = None) -> Converter | None:
    """Return the converter of an operator; None if there is none.

    Converters of a user come before those of weft, an overload before its operator.
    """
    name = name_of(target)
    packet = name.partition(".")[0]
    for table in (custom or {}, _registered, _built_in):
        for key in (name, packet):
            if key in table:
                return table[key]
    return None


def by_name(converters: Mapping[Any, Converter] | None) -> dict[str, Converter]:
    """Return a user's map of converters with operators replaced by their names.

    :raises ArgumentError: if a key is no operator.
    """
    return {name_of(operator): function for operator, function in (converters or {}).items()}


def names() -> list[str]:
    """Return the names of all operators with a converter of weft, sorted."""
    return sorted(_built_in)


def name_of(operator: Any) -> str:
    """Return "namespace::operator.overload"; without the overload where it is the default one.

    :raises ArgumentError: if that is no operator.
    """
    if isinstance(operator, str) and "::" in operator:
        return operator.removesuffix(".default")
    schema = getattr(operator, "_schema", None)
    if schema is not None:
        return f"{schema.name}.{schema.overload_name}".removesuffix(".")
    qualified = getattr(operator, "_qualified_op_name", None)  # all overloads
    if isinstance(qualified, str):
        return qualified
    if callable(operator):  # functions of Python, and higher-order operators
        return f"{getattr(operator, '__module__', None)}::{getattr(operator, '__name__', operator)}"
    raise ArgumentError(
        "this is no operator of PyTorch",
        asked=f"a converter for {kind_of(operator)}",
        try_='torch.ops.mylib.op, torch.ops.mylib.op.default, or "mylib::op"',
    )
