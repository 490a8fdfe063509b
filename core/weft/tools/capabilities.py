"""Capability serialization: capabilities as JSON types and back, to lower a kernel for a device
that is absent.

A field that a record does not have takes its default. A field or a feature that this version does
not know is ignored. Both occur where another version captured the record.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import DTypeError, FormatError
from weft.base.members import Member
from weft.device import Feature, FrozenMap


def plain(value: Any) -> Any:
    """A capability in types that JSON has."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Enum | Member):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def read(kind: Any, value: Any) -> Any:
    """What `plain` was given, where it was a `kind`: a class, or the annotation of a field.

    Raises FormatError for what cannot be one.
    """
    try:
        return _read(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError, DTypeError) as error:
        raise FormatError(
            "these are no capabilities",
            asked=f"reading {getattr(kind, '__name__', kind)}",
            because=f"{type(error).__name__}: {error}",
            try_="capture again",
        ) from error


def _read(kind: Any, value: Any) -> Any:
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None:
            return None
        return _read(next(k for k in inside if k is not type(None)), value)
    if origin is tuple:
        if inside[-1] is Ellipsis:
            return tuple([_read(inside[0], item) for item in value])
        return tuple([_read(k, item) for k, item in zip(inside, value, strict=True)])
    if origin is frozenset:
        known = [item for item in value if inside[0] is not Feature or item in set(Feature)]
        return frozenset(_read(inside[0], item) for item in known)
    if origin is Mapping:
        return FrozenMap({_read(inside[0], k): _read(inside[1], v) for k, v in value.items()})
    if kind is DType:
        return dtypes.to_dtype(value)
    if dataclasses.is_dataclass(kind):
        make: Any = kind
        types_of = _fields_of(kind)
        return make(**{k: _read(types_of[k], v) for k, v in value.items() if k in types_of})
    if isinstance(kind, type) and issubclass(kind, Enum | Member):
        return kind(value)
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


@cache
def _fields_of(kind: Any) -> dict[str, Any]:
    """The types of the fields that the constructor of a dataclass takes. To evaluate annotations
    takes longer than to read the values."""
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in dataclasses.fields(kind) if f.init}
