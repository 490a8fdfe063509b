"""Samples joined to a batch of arrays, and the arrays of a batch made tensors on a device."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.base.arguments import kind_of, shown, too_deep
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor import Tensor

_KINDS = "biuf"  # NumPy's letters for what tensors hold


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples of one structure, joined along a new first axis.

    Arrays and numbers become arrays, tensors a tensor; tuples, lists, dicts and dataclasses are
    joined member by member; texts and bytes become a list. Python numbers have the default dtypes:
    int32 (int64 where one needs it), float32, bool.

    :raises ShapeError: if arrays differ in shape, or structures in length.
    :raises ArgumentError: for what cannot be joined, or is nested too deep.

    >>> batch = data.default_collate([(1.0, "a"), (2.0, "b")])
    >>> batch[0].tolist(), batch[1]
    ([1.0, 2.0], ['a', 'b'])
    """
    try:
        return _joined(batch)
    except RecursionError as error:
        raise too_deep(batch, "samples", error) from None


def _joined(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if isinstance(first, Tensor):
        return Tensor.stack(*batch)
    if isinstance(first, np.ndarray | np.generic):
        return _stacked([np.asarray(each) for each in batch])
    if isinstance(first, bool | int | float):
        return _numbers(batch)
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, Mapping):
        return {key: _joined([each[key] for each in batch]) for key in first}
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in dataclasses.fields(first)]
        joined = {name: _joined([getattr(e, name) for e in batch]) for name in names}
        return dataclasses.replace(first, **joined)
    if isinstance(first, tuple | list):
        if any(len(each) != len(first) for each in batch):
            raise ShapeError(
                "samples of one batch have different numbers of parts",
                asked=f"a batch of samples of {sorted({len(each) for each in batch})} parts",
                try_="collate_fn=..., a function of a list of samples",
            )
        parts = [_joined(each) for each in zip(*batch)]
        return _like(first, parts)
    if hasattr(first, "__array__"):
        return _stacked([np.asarray(each) for each in batch])
    raise ArgumentError(
        "samples of this kind cannot be joined to a batch",
        asked=f"a batch of {shown(first)}",
        because=f"that is {kind_of(first)}",
        try_="collate_fn=..., a function of a list of samples",
    )


def _numbers(batch: Sequence[Any]) -> np.ndarray:
    made = np.array(batch)
    if made.dtype.kind == "f":
        return made.astype(np.float32)
    if made.dtype.kind in "iu":
        narrow = made.astype(np.int32)
        return narrow if (narrow == made).all() else made
    return made


def _stacked(arrays: list[np.ndarray]) -> np.ndarray:
    shapes = {each.shape for each in arrays}
    if len(shapes) > 1:
        raise ShapeError(
            "samples of one batch have different shapes",
            asked=f"a batch of arrays of {', '.join(map(str, sorted(shapes)[:4]))}",
            because="they are joined along a new axis",
            try_="pad them to one shape, in the data set or in collate_fn=...",
        )
    return np.stack(arrays)


def _like(sample: Any, parts: list[Any]) -> Any:
    """Parts in the kind of sequence that a sample is."""
    if isinstance(sample, list):
        return parts
    return type(sample)(*parts) if hasattr(sample, "_fields") else tuple(parts)


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """A batch, with a function applied to every item that is no container."""
    if isinstance(value, Mapping):
        return {key: mapped(each, function) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return _like(value, [mapped(each, function) for each in value])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        changed = {name: mapped(getattr(value, name), function) for name in names}
        return dataclasses.replace(value, **changed)
    return function(value)


def on_device(batch: Any, device: Any) -> Any:
    """A batch whose arrays are tensors on a device, the copies begun together; on several devices
    they are sharded along axis 0. Tensors move there if a device is named; what is no array of
    numbers stays as it is."""
    moved: list[Tensor] = []

    def placed(value: Any) -> Any:
        made = _placed(value, device)
        if isinstance(made, Tensor) and made is not value:
            moved.append(made)
        return made

    result = mapped(batch, placed)
    if moved:
        Tensor.realize(*moved)
    return result


def _placed(value: Any, device: Any) -> Any:
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        if isinstance(device, tuple | list):
            return Tensor(value).shard(tuple(device), axis=0)
        return Tensor(value, device=device)
    if isinstance(value, Tensor) and device is not None and value.device != device:
        return value.to(device)
    return value
