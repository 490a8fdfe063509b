"""Checkpoints: nested containers of tensors and plain values in one safetensors file.

Tensors are stored by their path in the containers ("model.weight"); everything else is JSON in the
metadata. A dict of tensors alone is a plain safetensors file. Reading runs no code: what a file may
describe is listed here, and anything else is refused.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from os import PathLike
from typing import Any

from weft.base.arguments import index_of, kind_of, shown
from weft.base.dtype import DType, dtypes, element_dtype
from weft.base.errors import ArgumentError, FileError, FormatError, WrongKind
from weft.base.interrupts import let_through
from weft.base.regular_file import check_regular
from weft.io.numpy_file import npy_load, npz_load
from weft.io.safetensors import safe_load, safe_load_metadata, safe_save
from weft.io.torch_file import torch_load
from weft.tensor import Tensor

_KEY = "weft"
_MOST_DEPTH = 100


def save(obj: Any, path: str | PathLike[str]) -> None:
    """Save tensors and plain values, in dicts, lists and tuples however nested.

    Plain values: numbers (floats to the bit), texts, bytes, None, dtypes. NumPy arrays come back as
    tensors. The file is in the safetensors format; a dict of tensors is read by everything that
    reads that format. It appears complete or not at all.

    :raises WrongKind: for other objects. :raises FileError: where the file cannot be written.

    >>> model = nn.Linear(2, 1)
    >>> weft.save({"model": model.state_dict(), "step": 3, "best": 0.25}, "run.safetensors")
    >>> saved = weft.load("run.safetensors")
    >>> saved["step"], saved["best"], saved["model"]["weight"].shape
    (3, 0.25, (1, 2))
    """
    if isinstance(obj, PathLike | str) and not isinstance(path, PathLike | str):
        raise WrongKind(
            "the object comes first, the path second",
            asked=f"save({shown(obj)}, {kind_of(path)})",
            try_="weft.save(obj, path)",
        )
    if not isinstance(path, str | PathLike):
        raise WrongKind(
            "a file has a path",
            asked=f"save to {kind_of(path)}",
            try_='weft.save(obj, "run.safetensors")',
        )
    tensors: dict[str, Tensor] = {}
    tree = _described(obj, "", tensors, ())
    flat = isinstance(obj, Mapping) and list(tensors) == list(obj) and bool(tensors)
    safe_save(tensors, path, None if flat else {_KEY: json.dumps(tree)})


def load(path: str | PathLike[str], map_location: Any = None, weights_only: bool = True) -> Any:
    """Read a file of `save`, with all tensors in memory; also files of `torch.save`, safetensors
    files, .npy and .npz.

    map_location: the device of the tensors; None: the default device. The file may change or be
    deleted afterwards. No code of a file is executed, for any value of weights_only.

    :raises FileError: where the file cannot be read. :raises FormatError: for damaged files.

    >>> weft.save({"weight": Tensor([1.0, 2.0]), "steps": (3, None)}, "run.safetensors")
    >>> saved = weft.load("run.safetensors")
    >>> saved["weight"].tolist(), saved["steps"]
    ([1.0, 2.0], (3, None))
    """
    if not isinstance(path, str | PathLike):
        raise WrongKind(
            "a file has a path", asked=f"load from {kind_of(path)}", try_='weft.load("run.pt")'
        )
    try:
        check_regular(path)
        with open(path, "rb") as file:
            head = file.read(9)
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error, "the file cannot be read", path=path, asked=f"load {path}"
        ) from error
    name = os.fspath(path).lower()
    found: Any
    if head.startswith(b"\x93NUMPY"):
        found = npy_load(path)
    elif head.startswith(b"PK") and name.endswith(".npz"):
        found = npz_load(path)
    elif head.startswith(b"PK") or head[:1] == b"\x80":
        found = torch_load(path)
    else:
        found = _loaded(path)
    return _in_memory(found, map_location)


def _loaded(path: str | PathLike[str]) -> Any:
    tensors = safe_load(path)
    tree = safe_load_metadata(path).metadata.get(_KEY)
    if tree is None:
        return tensors
    try:
        return _built(json.loads(tree), tensors, 0)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise FormatError(
            "the file does not describe what it holds",
            asked=f"load {path}",
            because=f"{type(error).__name__}: {error}"[:200],
            try_="safe_load(path) for its tensors",
        ) from None


def _in_memory(obj: Any, device: Any) -> Any:
    """The same containers, with all tensors on a device, computed."""
    found: dict[int, Tensor] = {}

    def moved(value: Any) -> Any:
        if isinstance(value, Tensor):
            if id(value) not in found:
                found[id(value)] = value.to(device).contiguous()
            return found[id(value)]
        if isinstance(value, Mapping):
            return {key: moved(each) for key, each in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(moved, value))
        return type(value)(map(moved, value)) if type(value) in (list, tuple) else value

    result = moved(obj)
    if found:
        Tensor.realize(*found.values())
    return result


# ---- the structure around the tensors ------------------------------------------------------------
# null, true and "text" are plain JSON values. Every other value is a list whose first item says
# what it is: ["tensor", name], ["list", ...], ["tuple", ...], ["dict", [key, value], ...],
# ["int", "digits"], ["float", "hexadecimal"], ["bytes", "base64"], ["dtype", name].


def _described(obj: Any, path: str, tensors: dict[str, Tensor], above: tuple[int, ...]) -> Any:
    """`obj` as JSON; its tensors are added to `tensors`."""
    if obj is None or isinstance(obj, bool | str):
        return str(obj) if isinstance(obj, str) else obj
    if isinstance(obj, bytes | bytearray):
        return ["bytes", base64.b64encode(obj).decode()]
    if isinstance(obj, DType):
        return ["dtype", obj.name]
    if isinstance(obj, Tensor):
        return ["tensor", _named(obj, path, tensors)]
    if isinstance(obj, list | tuple | Mapping):
        return _described_container(obj, path, tensors, above)
    if hasattr(obj, "__array_interface__") and getattr(obj, "shape", ()) != ():
        return ["tensor", _named(Tensor(obj), path, tensors)]
    number = index_of(obj)
    if number is not None:
        return ["int", str(number)]
    if hasattr(obj, "item") and getattr(obj, "shape", None) == ():
        obj = obj.item()
    if isinstance(obj, bool):
        return obj
    if isinstance(obj, float):
        return ["float", float(obj).hex()]
    raise _not_saved(obj, path)


def _described_container(
    obj: Any, path: str, tensors: dict[str, Tensor], above: tuple[int, ...]
) -> Any:
    if id(obj) in above or len(above) > _MOST_DEPTH:
        raise ArgumentError(
            "containers that hold themselves cannot be saved",
            asked=f"save {path or 'it'}",
            because="a file has an end",
        )
    above = (*above, id(obj))

    def below(key: Any, value: Any) -> Any:
        return _described(value, f"{path}.{key}" if path else str(key), tensors, above)

    if isinstance(obj, Mapping):
        pairs = [[_described(k, f"{path} key", {}, above), below(k, v)] for k, v in obj.items()]
        return ["dict", *pairs]
    kind = "tuple" if isinstance(obj, tuple) else "list"
    return [kind, *(below(number, value) for number, value in enumerate(obj))]


def _named(tensor: Tensor, path: str, tensors: dict[str, Tensor]) -> str:
    """The name under which a tensor is stored: its path, made unlike all others."""
    name, number = path or "tensor", 1
    while name in tensors or name == "__metadata__":
        number += 1
        name = f"{path}#{number}"
    tensors[name] = tensor
    return name


def _not_saved(obj: Any, path: str) -> WrongKind:
    return WrongKind(
        f"{kind_of(obj)} cannot be saved",
        asked=f"save {shown(obj)}" + (f" at {path!r}" if path else ""),
        because="a file holds tensors, numbers, texts, bytes, and dicts, lists and tuples of them",
        try_="obj.state_dict()" if hasattr(obj, "state_dict") else "save what it is made of",
    )


def _built(tree: Any, tensors: Mapping[str, Tensor], depth: int) -> Any:
    """The object of a description. :raises ValueError: for an invalid description."""
    if tree is None or isinstance(tree, bool | str):
        return tree
    if not isinstance(tree, list) or not tree or depth > 2 * _MOST_DEPTH:
        raise ValueError(f"{tree!r} describes nothing"[:100])
    kind, *rest = tree
    if kind == "tensor":
        return tensors[rest[0]]
    if kind == "list":
        return [_built(each, tensors, depth + 1) for each in rest]
    if kind == "tuple":
        return tuple([_built(each, tensors, depth + 1) for each in rest])
    if kind == "dict":
        pairs = [[_built(part, tensors, depth + 1) for part in pair] for pair in rest]
        return dict(pairs)
    if kind == "int":
        return int(rest[0])
    if kind == "float":
        return float.fromhex(rest[0])
    if kind == "bytes":
        return base64.b64decode(rest[0], validate=True)
    if kind == "dtype":
        return element_dtype(getattr(dtypes, rest[0]))
    raise ValueError(f"there is no kind {kind!r}"[:100])
