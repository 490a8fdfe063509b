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
from dataclasses import astuple
from functools import partial
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
from weft.uop import Cut, Shard

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
        cuts = (tensor.layout or Shard()).cuts
        entries[name] = {"cuts": [list(astuple(cut)) for cut in cuts], "shape": tensor.shape}
        for place, device in enumerate(devices):
            is_first = _holder(cuts, place) == place  # others have equal parts
            if is_first and registry.capabilities(device).memory.addressable:
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
    cuts = [Cut(axis, tuple(bounds), stride) for axis, bounds, stride in entry["cuts"]]
    if not isinstance(like.device, tuple):
        whole = [(0, extent) for extent in like.shape]
        return _window(partial(saved_part, name), cuts, whole, like.device)
    layout = like.layout or Shard()
    parts: dict[int, Tensor] = {}
    for place, device in enumerate(like.device):
        if registry.capabilities(device).memory.addressable:
            windows = list(layout.windows(like.shape, place))
            parts[place] = _window(partial(saved_part, name), cuts, windows, device)
    return Tensor._from_parts(parts, like.device, layout, like)


def _window(
    saved_part: Any,
    cuts: Sequence[Cut],
    windows: Sequence[tuple[int, int]],
    device: str,
    place: int = 0,
) -> Tensor:
    """A window of a saved tensor, on a device, from the saved parts that it crosses."""
    if not cuts:
        return _sliced(saved_part(place), windows, device)
    cut, *rest = cuts
    start, stop = windows[cut.axis]
    pieces: list[Tensor] = []
    for number, (first, last) in enumerate(pairwise(cut.bounds)):
        low, high = max(first, start), min(last, stop)
        if low < high or (start == stop and not pieces):
            inside = list(windows)
            inside[cut.axis] = (low - first, high - first) if low < high else (0, 0)
            pieces.append(_window(saved_part, rest, inside, device, place + number * cut.stride))
    return pieces[0] if len(pieces) == 1 else pieces[0].cat(*pieces[1:], dim=cut.axis)


def _sliced(part: Tensor, windows: Sequence[tuple[int, int]], device: str) -> Tensor:
    """A window of a part of a file, on a device."""
    rows = [windows[0] if windows else (0, 0), *((0, extent) for extent in part.shape[1:])]
    if part.ndim and tuple(rows[0]) != (0, part.shape[0]):
        part = part.shrink(tuple(rows))  # rows of a file are one window of it
    inside = tuple((0, part.shape[0]) if axis == 0 else w for axis, w in enumerate(windows))
    there = part.to(device)
    return there if inside == tuple((0, extent) for extent in there.shape) else there.shrink(inside)


def _holder(cuts: Sequence[Cut], place: int) -> int:
    """The first of the devices that have the part of a device."""
    return sum(cut.part(place) * cut.stride for cut in cuts)


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
