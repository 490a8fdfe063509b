"""The table of operators: which function computes an operator of an opset.

An operator is a function of the node, its inputs and its attributes. Inputs are positional
parameters, attributes are keyword-only parameters:

    @operator("Softmax", since=13)
    def softmax(node: Node, x: Tensor, *, axis: int = -1) -> Tensor: ...

Several versions of one operator are registered under their first opset. The newest version that is
not newer than the model's opset is called.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from weft.base.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True)
class Operator:
    """A registered function and what its signature says.

    :ivar since: the first opset with this meaning.
    :ivar inputs: names of the positional parameters, without the node.
    :ivar variadic: whether it takes any number of inputs.
    :ivar attributes: names of the keyword-only parameters.
    :ivar required: attributes without a default.
    :ivar host_inputs: inputs that arrive as NumPy arrays.
    :ivar any_attribute: whether it takes attributes of any name.
    :ivar needs_inputs: number of inputs without a default.
    """

    name: str
    domain: str
    since: int
    function: Callable[..., Any]
    inputs: tuple[str, ...]
    variadic: bool
    attributes: frozenset[str]
    required: frozenset[str]
    host_inputs: frozenset[str] = frozenset()
    any_attribute: bool = False
    needs_inputs: int = 0


_Versions = dict[tuple[str, str], list[Operator]]
_operators: _Versions = {}
_host_operators: _Versions = {}
_custom: set[tuple[str, str]] = set()


def operator(
    name: str, since: int = 1, domain: str = "", *, host_inputs: Sequence[str] = ()
) -> Callable[[F], F]:
    """Register a function of tensors for an operator.

    Arrays on the host become tensors on the model's device, except for `host_inputs`.

    :param since: the first opset with this meaning.
    :param host_inputs: parameters that receive NumPy arrays; the values of tensors are computed.
    """

    def register_function(function: F) -> F:
        _add(_operators, describe(function, name, since, domain, host_inputs))
        return function

    return register_function


def host_operator(name: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Register a function of NumPy arrays, for the case that all inputs are on the host.

    It returns NumPy arrays. It returns NotImplemented where the function of tensors is to be used.
    """

    def register_function(function: F) -> F:
        _add(_host_operators, describe(function, name, since, domain, ()))
        return function

    return register_function


def register(domain: str, name: str, since: int = 1) -> Callable[[F], F]:
    """Register a function for a custom operator. It replaces one that was registered before.

    The function gets the node, then the inputs as tensors, then the attributes by keyword. It
    returns a tensor, or a tuple of tensors for several outputs.

    >>> import weft.onnx
    >>> @weft.onnx.register("com.example", "Scale")
    ... def scale(node, x, *, factor=1.0):
    ...     return x * factor
    """
    _custom.add((canonical(domain), name))
    return operator(name, since, domain)


def custom() -> frozenset[tuple[str, str]]:
    """Return domain and name of the operators that were registered by `register`."""
    return frozenset(_custom)


def find(domain: str, name: str, opset: int) -> Operator | None:
    """Return the version of an operator that is valid at `opset`; None if there is none."""
    return _newest(_operators, domain, name, opset)


def find_host(domain: str, name: str, opset: int) -> Operator | None:
    """Return the version for arrays on the host; None if there is none."""
    return _newest(_host_operators, domain, name, opset)


def names(domain: str = "") -> list[str]:
    """Return the names of all registered operators of a domain, sorted."""
    key = canonical(domain)
    return sorted({name for each, name in [*_operators, *_host_operators] if each == key})


def versions(domain: str, name: str) -> list[int]:
    """Return the first opset of each registered version of an operator."""
    return [each.since for each in _operators.get((canonical(domain), name), [])]


def canonical(domain: str) -> str:
    """Return the name of a domain: the default one has two names in files."""
    return "" if domain in DEFAULT_DOMAINS else domain


def describe(
    function: Callable[..., Any], name: str, since: int, domain: str, host_inputs: Sequence[str]
) -> Operator:
    """Read the signature of an operator's function.

    :raises ArgumentError: if it has no parameter for the node, or an unknown name is among
        `host_inputs`.
    """
    inputs: list[str] = []
    attributes: set[str] = set()
    required: set[str] = set()
    variadic = any_attribute = False
    needed = 0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            any_attribute = True
        elif parameter.kind is parameter.KEYWORD_ONLY:
            attributes.add(parameter.name)
            if parameter.default is parameter.empty:
                required.add(parameter.name)
        else:
            inputs.append(parameter.name)
            needed += parameter.default is parameter.empty
    unknown = set(host_inputs) - set(inputs)
    if not inputs or unknown:
        raise ArgumentError(
            f"the function of the operator {name} has an unexpected signature",
            asked=f"register {function.__qualname__}{inspect.signature(function)}",
            because=f"it has no input {', '.join(sorted(unknown))}"
            if unknown
            else "its first parameter is not the node",
            try_="def op(node, x, y=None, *, attribute=0): ...",
        )
    return Operator(
        name, canonical(domain), since, function, tuple(inputs[1:]), variadic,
        frozenset(attributes), frozenset(required), frozenset(host_inputs), any_attribute,
        needed - 1,
    )  # fmt: skip


def _add(table: _Versions, found: Operator) -> None:
    versions = table.setdefault((found.domain, found.name), [])
    versions[:] = [each for each in versions if each.since != found.since]
    versions.insert(bisect_right([each.since for each in versions], found.since), found)


def _newest(table: _Versions, domain: str, name: str, opset: int) -> Operator | None:
    versions = table.get((canonical(domain), name), [])
    at = bisect_right([each.since for each in versions], opset)
    return versions[at - 1] if at else None
