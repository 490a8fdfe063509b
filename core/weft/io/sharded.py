"""Sharded checkpoints: every process writes the parts that it has, and one index names them all.
Also: distributed checkpoint.

A folder has one safetensors file per device, and `index.json`, which is replaced atomically when
all files are complete. A process that is killed while it saves leaves the last complete checkpoint.
A checkpoint can be loaded on another number of devices: each reads the windows that it needs.

Source: Zhao et al., "PyTorch FSDP: Experiences on Scaling Fully Sharded Data Parallel", VLDB 2023
(sharded state dicts).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from weft.base.atomic_write import replacing
from weft.base.errors import ArgumentError, FormatError
from weft.base.interrupts import let_through
from weft.device import registry
from weft.io.safetensors import safe_load, safe_save
from weft.tensor import Tensor
from weft.uop import Shard

INDEX = "index.json"


def save_sharded(tensors: Mapping[str, Tensor], folder: str | PathLike[str]) -> None:
    """Save tensors of several devices, each part by the process that has it.

    Every process of a program calls it. It returns when the checkpoint is complete; the files of
    the one before are removed then.

    :raises ArgumentError: if the tensors are on different lists of several devices.
    :raises FileError: if the folder cannot be written, or the disk is full.

    >>> from weft import io
    >>> x = Tensor([1, 2, 3]).shard(("REF:1", "REF:2"), axis=0)
    >>> io.save_sharded({"x": x}, "checkpoint")
    >>> io.load_sharded("checkpoint", {"x": Tensor([0, 0, 0])})["x"].tolist()
    [1, 2, 3]
    """
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    devices = _common_devices(tensors)
    number = _read_index(root)["number"] + 1 if (root / INDEX).exists() else 0
    if tensors:
        Tensor.realize(*tensors.values())  # together: this may exchange values
    entries: dict[str, Any] = {}
    files: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        layout = tensor.layout or Shard()
        cut = layout.axis is not None
        entries[name] = {"axis": layout.axis, "bounds": layout.bounds, "shape": tensor.shape}
        for place, device in enumerate(devices if cut else devices[:1]):
            if registry.capabilities(device).memory.addressable:
                part = tensor.shards()[place] if isinstance(tensor.device, tuple) else tensor
                files.setdefault(place, {})[name] = part
    for place, parts in files.items():
        safe_save(parts, root / _part_name(number, place))
    _wait_for_all(devices)
    if registry.capabilities(devices[0]).memory.addressable:
        with replacing(root / INDEX) as temporary:
            temporary.write_text(json.dumps({"number": number, "tensors": entries}))
        for old in root.glob("part-*.safetensors"):
            if not old.name.startswith(f"part-{number}-"):
                old.unlink(missing_ok=True)
    _wait_for_all(devices)


def load_sharded(folder: str | PathLike[str], like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a checkpoint with the names of `like`, laid out as those are.

    Each process reads the windows of its own parts. What it gives is for `load_state_dict`.

    :raises FormatError: if the folder holds no complete checkpoint, or not these tensors.
    :raises FileError: if a file cannot be read.

    >>> from weft import io
    >>> x = Tensor([1, 2, 3]).shard(("REF:1", "REF:2"), axis=0)
    >>> io.save_sharded({"x": x}, "parts")
    >>> io.load_sharded("parts", {"x": x})["x"].tolist()
    [1, 2, 3]
    """
    root = Path(folder)
    index = _read_index(root)
    number, entries = index["number"], index["tensors"]
    missing = [name for name in like if name not in entries]
    wrong = [
        name
        for name, tensor in like.items()
        if name in entries and tuple(entries[name]["shape"]) != tuple(tensor.shape)
    ]
    if missing or wrong:
        raise FormatError(
            "a checkpoint does not hold these tensors",
            asked=f"load {folder}",
            because=f"it lacks {missing[:5]}" if missing else f"the shapes of {wrong[:5]} differ",
        )
    opened: dict[int, dict[str, Tensor]] = {}

    def saved_part(name: str, place: int) -> Tensor:
        if place not in opened:
            opened[place] = safe_load(root / _part_name(number, place))
        return opened[place][name]

    found: dict[str, Tensor] = {}
    for name, tensor in like.items():
        found[name] = _loaded(name, tensor, entries[name], saved_part)
    return found


def _loaded(name: str, like: Tensor, entry: Mapping[str, Any], saved_part: Any) -> Tensor:
    """One tensor, laid out as `like`."""
    if not isinstance(like.device, tuple):
        return _window(name, entry, None, 0, 0, like.device, saved_part)
    layout = like.layout or Shard()
    parts: dict[int, Tensor] = {}
    for place, device in enumerate(like.device):
        if registry.capabilities(device).memory.addressable:
            window = layout.window(place)
            parts[place] = _window(name, entry, layout.axis, *window, device, saved_part)
    return Tensor._from_parts(parts, like.device, layout, like)


def _window(
    name: str,
    entry: Mapping[str, Any],
    axis: int | None,
    start: int,
    stop: int,
    device: str,
    saved_part: Any,
) -> Tensor:
    """start to stop of an axis of a saved tensor, on a device; all of it without an axis."""
    own = entry["axis"]
    if own is None:
        return _sliced(saved_part(name, 0), axis, start, stop, device)
    pieces: list[Tensor] = []
    for place, (first, last) in enumerate(pairwise(entry["bounds"])):
        low, high = (max(first, start), min(last, stop)) if axis == own else (first, last)
        if low >= high:
            continue
        part = saved_part(name, place)
        if axis == own:
            pieces.append(_sliced(part, own, low - first, high - first, device))
        else:
            pieces.append(_sliced(part, axis, start, stop, device))
    return pieces[0] if len(pieces) == 1 else pieces[0].cat(*pieces[1:], dim=own)


def _sliced(part: Tensor, axis: int | None, start: int, stop: int, device: str) -> Tensor:
    if axis is None or (start, stop) == (0, part.shape[axis]):
        return part.to(device)
    window = [(0, extent) for extent in part.shape]
    window[axis] = (start, stop)
    # rows of a file are one window of it; other cuts are made of the part
    return (
        part.shrink(tuple(window)).to(device)
        if axis == 0
        else part.to(device).shrink(tuple(window))
    )


def _part_name(number: int, place: int) -> str:
    return f"part-{number}-{place}.safetensors"


def _read_index(root: Path) -> dict[str, Any]:
    try:
        found = json.loads((root / INDEX).read_text())
        if isinstance(found["number"], int) and isinstance(found["tensors"], dict):
            return found
        because = "its index has no numbers and tensors"
    except (OSError, ValueError, KeyError, TypeError) as error:
        let_through(error)
        because = f"its index cannot be read: {error}"
    raise FormatError(
        "this folder holds no complete sharded checkpoint",
        asked=f"load {root}",
        because=because,
        try_="save_sharded(tensors, folder)",
    )


def _common_devices(tensors: Mapping[str, Tensor]) -> Sequence[str]:
    """The devices of the tensors of several devices; else the device of the first tensor."""
    several = {tensor.device for tensor in tensors.values() if isinstance(tensor.device, tuple)}
    if len(several) > 1:
        raise ArgumentError(
            "the tensors of a sharded checkpoint are on the same devices",
            asked=f"save tensors on {' and '.join(map(str, sorted(several)))}",
        )
    if several:
        return several.pop()
    return (next(iter(tensors.values())).device if tensors else registry.canonical(None),)


def _wait_for_all(devices: Sequence[str]) -> None:
    """Wait until all processes of these devices are here: none can add before all have given."""
    if not all(registry.capabilities(device).memory.addressable for device in devices):
        Tensor.from_local(Tensor([1]), devices, axis=0).sum().item()
