"""A model's tensors by name: finding them, and putting saved ones back.

Files are read and written by `weft.io`; its functions are here too, where people look for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.base.promotion import can_safe_cast
from weft.io import (
    TensorIO,
    ggml_data_to_tensor,
    gguf_load,
    npy_load,
    npz_load,
    safe_load,
    safe_load_metadata,
    safe_save,
    tar_extract,
    torch_load,
)
from weft.tensor import Tensor

__all__ = [
    "TensorIO",
    "get_parameters",
    "get_state_dict",
    "ggml_data_to_tensor",
    "gguf_load",
    "load_state_dict",
    "npy_load",
    "npz_load",
    "safe_load",
    "safe_load_metadata",
    "safe_save",
    "tar_extract",
    "torch_load",
]


def get_state_dict(obj: Any, prefix: str = "") -> dict[str, Tensor]:
    """Every Tensor reachable from `obj`, by its path: {"layers.0.weight": Tensor, ...}.

    Attributes, dicts (by key), lists and tuples (by number) are walked, in order; an object met on
    its own path again is not walked twice. A tensor reachable by two paths has two names.
    """
    return dict(_walk(obj, prefix.strip("."), ()))


def get_parameters(obj: Any) -> list[Tensor]:
    """Every Tensor reachable from `obj`, each once: what an optimiser takes."""
    return list({id(each): each for each in get_state_dict(obj).values()}.values())


def load_state_dict(
    model: Any, state: Mapping[str, Tensor], strict: bool = True, realize: bool = True
) -> None:
    """Give the tensors of `model` the saved values, on the devices where the model's own live.

    Names and shapes are compared before anything is touched. Values are cast where both sides are
    floating-point or nothing can be lost. Raises ArgumentError that lists every difference: names
    the model has and the state lacks, names the state has and the model lacks (both only when
    `strict`), and tensors that do not fit.
    """
    own = get_state_dict(model)
    differences = list(_differences(own, state, strict))
    if differences:
        raise ArgumentError(
            "the saved tensors do not fit the model",
            asked=f"load {len(state)} tensors into the {len(own)} of {type(model).__name__}",
            because="\n".join(["these differ:", *(f"    {line}" for line in differences)]),
            try_="make the model as it was when it was saved"
            + (", or load with strict=False" if strict else ""),
        )
    loaded = [name for name in own if name in state]
    for name in loaded:
        target = own[name]
        target.replace(state[name].shard_like(target).cast(target.dtype))
    if realize and loaded:
        Tensor.realize(*(own[name] for name in loaded))


def _differences(
    own: Mapping[str, Tensor], state: Mapping[str, Tensor], strict: bool
) -> Iterator[str]:
    width = max((len(name) for name in {*own, *state}), default=0)
    for name, target in own.items():
        saved = state.get(name)
        if saved is None:
            if strict:
                yield f"missing     {name:{width}}  {target.shape} {target.dtype}"
        elif tuple(saved.shape) != tuple(target.shape):
            yield f"shape       {name:{width}}  model {target.shape}, saved {saved.shape}"
        elif not _fits(saved, target):
            yield f"dtype       {name:{width}}  model {target.dtype}, saved {saved.dtype}"
    if strict:
        for name, saved in state.items():
            if name not in own:
                yield f"unexpected  {name:{width}}  {saved.shape} {saved.dtype}"


def _fits(saved: Tensor, target: Tensor) -> bool:
    both_float = dtypes.is_float(saved.dtype) and dtypes.is_float(target.dtype)
    return both_float or can_safe_cast(saved.dtype, target.dtype)


def _walk(obj: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, Tensor]]:
    if isinstance(obj, Tensor):
        yield path, obj
        return
    if id(obj) in above:
        return
    for name, child in _children(obj):
        yield from _walk(child, f"{path}.{name}" if path else name, (*above, id(obj)))


def _children(obj: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(obj, Mapping):
        yield from ((str(key), value) for key, value in obj.items())
    elif isinstance(obj, tuple) and hasattr(obj, "_fields"):
        yield from zip(obj._fields, obj, strict=True)
    elif isinstance(obj, list | tuple):
        yield from ((str(index), value) for index, value in enumerate(obj))
    elif not isinstance(obj, type | ModuleType) and not hasattr(obj, "__get__"):
        for kind in type(obj).__mro__:
            slots = getattr(kind, "__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(obj, name):
                    yield name, getattr(obj, name)
        yield from getattr(obj, "__dict__", {}).items()
