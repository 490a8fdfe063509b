"""PyTorch files: .pt, .pth and .bin of `torch.save`, in the zip format and the older one.

The pickle inside is read by `pickles`, which runs no code. Tensors are views of the file, read when
they are used.
"""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.base.errors import FormatError, WeftError
from weft.base.interrupts import let_through
from weft.device import registry
from weft.io.archives import stored_at, zip_entries
from weft.io.pickles import Name, read_pickle, refused
from weft.io.windows import MOST_AXES, Source, TensorIO, called, opened, read, window
from weft.tensor import Tensor

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES = {
    "FloatStorage": dtypes.float32, "DoubleStorage": dtypes.float64, "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16, "LongStorage": dtypes.int64, "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16, "CharStorage": dtypes.int8, "ByteStorage": dtypes.uint8,
    "BoolStorage": dtypes.bool, "UntypedStorage": dtypes.uint8,
    "Float8_e4m3fnStorage": dtypes.fp8e4m3, "Float8_e5m2Storage": dtypes.fp8e5m2,
}  # fmt: skip
_DTYPES = {
    "float32": dtypes.float32, "float": dtypes.float32, "float64": dtypes.float64,
    "double": dtypes.float64, "float16": dtypes.float16, "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16, "int64": dtypes.int64, "long": dtypes.int64,
    "int32": dtypes.int32, "int": dtypes.int32, "int16": dtypes.int16, "short": dtypes.int16,
    "int8": dtypes.int8, "uint8": dtypes.uint8, "uint16": dtypes.uint16, "uint32": dtypes.uint32,
    "uint64": dtypes.uint64, "bool": dtypes.bool, "float8_e4m3fn": dtypes.fp8e4m3,
    "float8_e5m2": dtypes.fp8e5m2,
}  # fmt: skip


@dataclass
class _Storage:
    """`size` bytes, of which tensors are views; `begin` is filled in when it is known."""

    dtype: DType
    begin: int
    nbytes: int


def torch_load(source: Source, device: str | None = None) -> Any:
    """What `torch.save` saved: tensors, and the dicts, lists, texts and numbers around them.

    source: a path, or a uint8 tensor of shape (n,). Tensors are lazy; with `device` each is copied
    there when it is used. Nothing that the file says is executed: a pickle that names anything but
    tensors and plain data is refused. Raises FileError where the file cannot be read, FormatError
    for damaged or foreign files, complex tensors, and whole modules saved in place of their
    state_dict().

    >>> from weft import io
    >>> import pickle, zipfile
    >>> with zipfile.ZipFile("state.pth", "w") as file:
    ...     file.writestr("archive/data.pkl", pickle.dumps({"step": 3}, protocol=2))
    >>> io.torch_load("state.pth")
    {'step': 3}
    """
    everything = opened(source)
    try:
        head = read(everything, 0, min(4, int(everything.shape[0])))
        load = _load_zip if head == b"PK\x03\x04" else _load_legacy
        return load(everything, device)
    except FormatError as error:
        error.asked = f"load {called(source)}" + (f": {error.asked}" if error.asked else "")
        raise
    except WeftError:
        raise
    except Exception as error:  # any error of the parsers, caused by a damaged file
        let_through(error)
        why = f"{type(error).__name__}: {error}"
        raise _foreign(why[:200], called(source)) from None


def _foreign(because: str, asked: str | None = None) -> FormatError:
    return FormatError(
        "this is no file of torch.save",
        asked=asked,
        because=because,
        try_="check the origin of the file; safetensors files are read by safe_load",
    )


# ---- the two formats -----------------------------------------------------------------------------


def _load_zip(everything: Tensor, device: str | None) -> Any:
    """A zip of data.pkl and data/0, data/1, ... stored as they are."""
    entries = {info.filename: info for info in zip_entries(everything, everything)}
    pickles = [name for name in entries if name.rpartition("/")[2] == "data.pkl"]
    if len(pickles) != 1:
        raise _foreign(f"the zip holds {len(pickles)} entries called data.pkl instead of one")
    root = pickles[0][: -len("data.pkl")]

    def bytes_of(name: str) -> tuple[int, int]:
        info = entries.get(name)
        if info is None:
            raise _foreign(f"the zip has no entry {name!r}")
        begin = stored_at(everything, info, everything)
        return begin, info.file_size

    if root + "byteorder" in entries:
        begin, size = bytes_of(root + "byteorder")
        if read(everything, begin, begin + size) != b"little":
            raise _foreign("its numbers are big-endian")
    storages: dict[str, _Storage] = {}

    def persistent(key: Any) -> _Storage:
        kind, number, _ = _storage_id(key)
        if number not in storages:
            storages[number] = _Storage(kind, *bytes_of(f"{root}data/{number}"))
        return storages[number]

    begin, size = bytes_of(pickles[0])
    stream = TensorIO(everything[begin : begin + size])
    return read_pickle(_buffered(stream), _calls(everything, device), persistent)


def _load_legacy(everything: Tensor, device: str | None) -> Any:
    """Pickles one after the other (magic number, version, machine, the object, the storages'
    keys), and behind them each storage's length and bytes."""
    stream = _buffered(TensorIO(everything))
    if read_pickle(stream, {}) != _MAGIC or read_pickle(stream, {}) != _PROTOCOL:
        raise _foreign("it does not begin with the number that torch.save writes")
    machine = read_pickle(stream, {})
    if isinstance(machine, dict) and machine.get("little_endian") is False:
        raise _foreign("its numbers are big-endian")
    _find_storages(stream, everything, storages := {})
    stream = _buffered(TensorIO(everything))
    for _ in range(3):
        read_pickle(stream, {})

    def persistent(key: Any) -> _Storage:
        _, number, _ = _storage_id(key)
        if number not in storages:
            raise _foreign(f"storage {number!r} is missing")
        return storages[number]

    return read_pickle(stream, _calls(everything, device), persistent)


def _find_storages(stream: Any, everything: Tensor, storages: dict[str, _Storage]) -> None:
    """Where every storage lies: known only behind the pickle of the object."""
    kinds: dict[str, DType] = {}

    def note(key: Any) -> _Storage:
        kind, number, _ = _storage_id(key)
        kinds[number] = kind
        return _Storage(kind, 0, 0)

    read_pickle(stream, _calls(None, None), note)
    keys = read_pickle(stream, {})
    at, size = stream.tell(), int(everything.shape[0])
    for key in keys if isinstance(keys, list) else ():
        if key not in kinds or at + 8 > size:
            raise _foreign("the file ends before its storages do")
        (count,) = struct.unpack("<q", read(everything, at, at + 8))
        nbytes = count * kinds[key].itemsize
        if count < 0 or at + 8 + nbytes > size:
            raise _foreign("the file ends before its storages do")
        storages[key] = _Storage(kinds[key], at + 8, nbytes)
        at += 8 + nbytes


def _buffered(stream: TensorIO) -> Any:
    import io

    return io.BufferedReader(stream, 1 << 16)


def _storage_id(key: Any) -> tuple[DType, str, int]:
    """("storage", its class, its key, where it lived, how many elements)"""
    if isinstance(key, tuple) and key[:1] == ("module",):
        raise refused("a whole module", "its class would have to be run")
    if not isinstance(key, tuple) or len(key) < 5 or key[0] != "storage":
        raise _foreign("a storage is not described as torch.save does")
    kind, number, count = key[1], key[2], key[4]
    name = kind.text.rpartition(".")[2] if isinstance(kind, Name) else ""
    if name not in _STORAGES or not isinstance(number, str) or not isinstance(count, int):
        raise refused(f"a storage of kind {name or kind!r}", "weft has no such dtype")
    return _STORAGES[name], number, count


# ---- what the pickle may call --------------------------------------------------------------------


def _calls(everything: Tensor | None, device: str | None) -> dict[str, Callable[..., Any]]:
    """The names that `torch.save` writes. Without `everything` tensors are left out."""

    def tensor(storage: Any, offset: Any, size: Any, stride: Any, *rest: Any) -> Any:
        if everything is None:
            return None
        # the newest form names the dtype, since its storages are bytes
        dtype = next((_dtype(part) for part in rest if isinstance(part, Name)), None)
        return _tensor(everything, device, storage, offset, size, stride, dtype)

    def parameter(data: Any, *rest: Any) -> Any:
        return data

    return {
        "torch._utils._rebuild_tensor": tensor,
        "torch._utils._rebuild_tensor_v2": tensor,
        "torch._utils._rebuild_tensor_v3": tensor,
        "torch._utils._rebuild_parameter": parameter,
        "torch._utils._rebuild_parameter_with_state": parameter,
        "collections.OrderedDict": _ordered,
        "collections.defaultdict": lambda *given: {},
        "torch.Size": lambda shape=(): tuple(shape),
        "torch.device": lambda *given: ":".join(map(str, given)),
        "_codecs.encode": _encoded,
        "builtins.set": lambda values=(): list(values),
        "__builtin__.set": lambda values=(): list(values),
    }


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise _foreign("a dict is not made of pairs")
    return OrderedDict(pairs)


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8"):
        raise refused("bytes in an unusual encoding", "only latin1 and utf-8 are read")
    return text.encode(encoding)


def _dtype(name: Name) -> DType:
    kind = name.text.rpartition(".")[2]
    if not name.text.startswith("torch.") or kind not in _DTYPES:
        raise refused(f"a tensor of {name.text}", "weft has no such dtype")
    return _DTYPES[kind]


def _tensor(
    everything: Tensor,
    device: str | None,
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    dtype: DType | None,
) -> Tensor:
    """A strided view of a storage, checked to lie within it."""
    numbers = (offset, *size, *stride) if isinstance(size, tuple | list) else (None,)
    if not isinstance(storage, _Storage) or not all(
        type(n) is int and 0 <= n < 1 << 62 for n in numbers
    ):
        raise _foreign("a tensor is not described as torch.save does")
    kind, size, stride = dtype or storage.dtype, tuple(size), tuple(stride)
    if len(size) > MOST_AXES:
        raise _foreign(f"a tensor has {len(size)} axes, more than any")
    if len(size) != len(stride):
        raise _foreign(f"a tensor has {len(size)} axes and {len(stride)} strides")
    if 0 in size:
        return Tensor.empty(*size, dtype=kind, device=device)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride))
    if (last + 1) * kind.itemsize > storage.nbytes:
        raise _foreign(f"a tensor of shape {size} reaches beyond its storage")
    span = last - offset + 1
    flat = window(everything, storage.begin + offset * kind.itemsize, kind, (span,), device)
    if math.prod(size) == span and _row_major(size, stride):
        return flat.reshape(size)
    # where a file lies nothing but windows can be read
    return _strided(flat.to(device or registry.canonical()), size, stride)


def _row_major(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    return all(n == 1 or stride[a] == math.prod(size[a + 1 :]) for a, n in enumerate(size))


def _strided(flat: Tensor, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """The elements of `flat` at every sum of index times stride."""
    moving = [axis for axis in range(len(size)) if size[axis] > 1 and stride[axis]]
    order = sorted(moving, key=lambda axis: -stride[axis])
    extents = tuple(size[axis] for axis in order)
    dense = all(stride[axis] == math.prod(extents[n + 1 :]) for n, axis in enumerate(order))
    if dense:
        tensor = flat.reshape(extents).permute(*(order.index(axis) for axis in moving))
    else:
        index = Tensor.zeros(*(size[axis] for axis in moving), dtype=dtypes.int64)
        for place, axis in enumerate(moving):
            steps = Tensor.arange(size[axis], dtype=dtypes.int64) * stride[axis]
            index = index + steps.reshape([-1 if p == place else 1 for p in range(len(moving))])
        tensor = flat[index.to(flat.device)]
    kept = iter(size[axis] for axis in moving)
    shape = [next(kept) if axis in moving else 1 for axis in range(len(size))]
    return tensor.reshape(shape)._expanded(size)
