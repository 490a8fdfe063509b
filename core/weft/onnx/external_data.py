"""External data: constants in files next to the model, read lazily.

A model names such files by relative paths. A path that leads out of the model's folder is refused:
an absolute path, "..", a symbolic link to another folder. Sizes are compared with the file before
anything is read.

Source: the ONNX specification, "External Tensor Data".
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from weft.base.dtype import dtypes, to_dtype
from weft.base.errors import DTypeError, FileError
from weft.base.interrupts import let_through
from weft.base.regular_file import check_regular
from weft.onnx.errors import ModelFormatError
from weft.onnx.graph import Initializer
from weft.tensor import Tensor

_PACKED = {"uint4": 4, "int4": 4, "float4e2m1": 4, "uint2": 2, "int2": 2}
_NUMPY_NAMES = {
    "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz",
    "float4e2m1": "float4_e2m1fn", "float8e8m0": "float8_e8m0fnu",
}  # fmt: skip


class ExternalData:
    """The files next to a model. `folder` is None for a model that is no file.

    :ivar files: the files that are used, as paths in the folder.
    """

    def __init__(self, folder: str | None, label: str) -> None:
        self._folder = folder
        self._label = label
        self.files: set[str] = set()

    def initializer(
        self, name: str, dtype: str, shape: tuple[int, ...], nbytes: int, entries: Mapping[str, str]
    ) -> Initializer:
        """Check where a constant lies, and return how it is read.

        :raises ModelFormatError: if the path leaves the model's folder, or the file is too short.
        :raises FileError: if the file cannot be read.
        """
        path = self._path(name, entries.get("location", ""))
        begin = self._number(name, entries, "offset", 0)
        length = self._number(name, entries, "length", nbytes)
        if length != nbytes:
            raise self._refuse(name, f"it has {length} bytes, and its shape {shape} needs {nbytes}")

        def check() -> None:
            size = self._size(path)
            if begin + nbytes > size:
                raise self._refuse(name, f"bytes {begin} to {begin + nbytes} of {size} are needed")

        def read() -> np.ndarray:
            self._path(name, entries.get("location", ""))
            check()
            with open(path, "rb") as file:
                file.seek(begin)
                return unpack(file.read(nbytes), dtype, shape)

        def tensor() -> Tensor:
            check()
            return _window(path, begin, nbytes, dtype, shape)

        check()
        self.files.add(entries.get("location", ""))
        return Initializer(name, dtype, shape, read, tensor if _is_stored(dtype) else None)

    def _path(self, name: str, location: str) -> str:
        """Return the path of a file. :raises ModelFormatError: if it is outside of the folder."""
        if self._folder is None:
            raise self._refuse(name, "it is stored in another file, and the model is no file")
        parts = location.replace("\\", "/").split("/")
        if not location or "\0" in location or os.path.isabs(location) or ".." in parts:
            raise self._refuse(name, f"its file is {location!r}, no path inside the folder")
        folder = os.path.realpath(self._folder)
        path = os.path.join(folder, location)
        if os.path.commonpath([folder, os.path.realpath(path)]) != folder:
            raise self._refuse(name, f"its file {location!r} is a link out of the folder")
        return path

    def _size(self, path: str) -> int:
        try:
            check_regular(path)
            return os.stat(path).st_size
        except OSError as error:
            let_through(error)
            raise FileError.of(
                error, "external data of the model cannot be read", path=path,
                asked=f"load {self._label}", try_="put the file next to the model",
            ) from None  # fmt: skip

    def _number(self, name: str, entries: Mapping[str, str], key: str, default: int) -> int:
        text = entries.get(key, "")
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise self._refuse(name, f"its {key} is {text!r}, and no number")
        return int(text)

    def _refuse(self, name: str, because: str) -> ModelFormatError:
        return ModelFormatError(
            "external data of the model cannot be used",
            asked=f"read the constant {name!r} of {self._label}",
            because=because,
            try_="keep the files in the folder of the model, and load the model by its path",
        )


def unpack(data: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return the array of some raw bytes in little-endian order."""
    import ml_dtypes

    bits = _PACKED.get(dtype)
    name = _NUMPY_NAMES.get(dtype, dtype)
    kind = np.dtype(getattr(ml_dtypes, name, name))
    if bits is None:
        return np.frombuffer(data, kind).reshape(shape)
    packed = np.frombuffer(data, np.uint8)
    codes = [(packed >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    count = int(np.prod(shape, dtype=np.int64))
    flat = np.stack(codes, axis=-1).reshape(-1)[:count]
    if dtype.startswith("int"):
        half = 1 << (bits - 1)
        return ((flat.astype(np.int8) ^ half) - half).astype(kind).reshape(shape)
    if dtype.startswith("uint"):
        return flat.astype(kind).reshape(shape)
    return flat.view(kind).reshape(shape)


def _is_stored(dtype: str) -> bool:
    """Whether a device stores elements of this type."""
    try:
        to_dtype(_NUMPY_NAMES.get(dtype, dtype))
    except DTypeError:
        return False
    return True


def _window(path: str, begin: int, nbytes: int, dtype: str, shape: tuple[int, ...]) -> Tensor:
    """Return a part of a file as a lazy tensor."""
    kind = to_dtype(_NUMPY_NAMES.get(dtype, dtype))
    part = Tensor.from_file(path)[begin : begin + nbytes]
    if begin % kind.itemsize:  # a file is read at multiples of the element's size
        part = part.to(None)
    return part.bitcast(kind if kind is not dtypes.bool else dtypes.uint8).cast(kind).reshape(shape)
