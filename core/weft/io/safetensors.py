"""Safetensors files: lazy loading through the device that stores them, atomic saving.

Loading reads the table of contents only; every tensor is a view of the file. Saving writes a new
file beside the old one and replaces it when it is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from weft.base.arguments import kind_of, shown
from weft.base.atomic_write import replacing
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, FormatError, WrongKind
from weft.device import registry
from weft.io.safetensors_header import (
    PREFIX,
    Entry,
    Header,
    build_header,
    header_length,
    parse_header,
)
from weft.io.windows import Source, called, from_bytes, opened, read, window
from weft.tensor import Tensor
from weft.tensor.complex import view_as_real


def safe_load_metadata(source: Source) -> Header:
    """The checked table of contents of a file, or of a uint8 tensor that holds one.

    Raises FileError when it cannot be read, FormatError when it is not a safetensors file.

    >>> from weft import io
    >>> io.safe_save({"w": Tensor([1, 2])}, "w.safetensors")
    >>> [(e.name, e.dtype, e.shape) for e in io.safe_load_metadata("w.safetensors").entries]
    [('w', dtypes.int, (2,))]
    """
    return _read_header(opened(source), called(source))


def safe_load(source: Source, device: str | None = None) -> dict[str, Tensor]:
    """Every tensor of a file by name, lazily: a value is read when it is used.

    Without `device`, the tensors stay on the device of the file. A tensor that is not aligned to
    its element size is an exception: it is copied to the default device when it is used. With
    `device`, each tensor is copied there when it is used.

    Raises FileError when the file cannot be read, FormatError when it is not a safetensors file.

    >>> from weft import io
    >>> io.safe_save({"w": Tensor([1, 2])}, "w.safetensors")
    >>> io.safe_load("w.safetensors")["w"].tolist()
    [1, 2]
    """
    everything = opened(source)
    header = _read_header(everything, called(source))
    return {entry.name: _window(everything, header, entry, device) for entry in header.entries}


def safe_save(
    tensors: Mapping[str, Tensor],
    path: str | PathLike[str],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Save tensors by name. `metadata` maps text to text.

    The write is atomic: after an error, an older file keeps its content, and no incomplete file is
    left. The next save of the same name removes the temporary file of a killed process. Tensors
    that were loaded lazily from the old file stay valid.

    Raises ArgumentError for names or metadata that the format cannot represent, DTypeError for
    dtypes that it lacks, FileError when the folder cannot be written or the disk is full.

    >>> from weft import io
    >>> io.safe_save({"w": Tensor([1, 2])}, "w.safetensors", metadata={"made": "by hand"})
    >>> io.safe_load_metadata("w.safetensors").metadata["made"]
    'by hand'
    """
    if not isinstance(tensors, Mapping):
        raise WrongKind(
            "tensors are saved by name",
            asked=f"safe_save({shown(tensors)}, ...)",
            because=f"that is {kind_of(tensors)}",
            try_='safe_save({"weight": tensor}, path), or get_state_dict(model) for a model',
        )
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ArgumentError(
                "only tensors can be saved",
                asked=f"save {name!r}, a {type(tensor).__name__}",
                because="a safetensors file holds nothing else",
                try_="wrap it in a Tensor, or store it in the metadata as text",
            )
    rows = [(name, tensor.dtype, tuple(tensor.shape)) for name, tensor in tensors.items()]
    text, header = build_header(rows, metadata or {})
    # What can fail while computing should fail before a file is touched.
    if tensors:
        Tensor.realize(*tensors.values())
    with replacing(path) as temporary:
        where = str(registry.locate(temporary))
        target = Tensor.empty(header.nbytes, dtype=dtypes.uint8, device=where)
        target[: len(text)].assign(from_bytes(text).to(where)).realize()
        for entry in header.entries:
            if entry.end > entry.begin:
                begin, end = header.data_start + entry.begin, header.data_start + entry.end
                values = _as_bytes(tensors[entry.name])
                target[begin:end].assign(values.to(where)).realize()


def _read_header(everything: Tensor, called: str) -> Header:
    size = everything.shape[0]
    try:
        length = header_length(read(everything, 0, min(PREFIX, size)), size)
        return parse_header(read(everything, PREFIX, PREFIX + length), size)
    except FormatError as error:
        raise FormatError(
            error.summary, asked=f"load {called}", because=error.because, try_=error.try_
        ) from None


def _window(everything: Tensor, header: Header, entry: Entry, device: str | None) -> Tensor:
    return window(everything, header.data_start + entry.begin, entry.dtype, entry.shape, device)


def _as_bytes(tensor: Tensor) -> Tensor:
    """The values row by row as uint8 of shape (n,); no kernel when they already lie that way."""
    whole = view_as_real(tensor) if tensor.is_complex() else tensor
    return whole.detach().contiguous().reshape(-1).bitcast(dtypes.uint8)
