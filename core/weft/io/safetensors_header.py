"""The safetensors format: eight bytes of length, a JSON table of contents, then the values.

in:  the first bytes of a file and its size        out: a Header whose every window was checked
in:  names, dtypes, shapes, metadata               out: the first bytes of a file

Source: the format's published description (https://github.com/huggingface/safetensors). Everything
it forbids is refused, because a header is written by strangers: windows that overlap, leave holes,
run backwards or out of the file, duplicate names, sizes that do not match shapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, FormatError

PREFIX = 8
"""Bytes before the header: its length, little-endian."""

MAX_HEADER = 100_000_000
"""What the format allows; a longer one would be a lie or an attack."""

MAX_DIMENSION = 2**63 - 1

_METADATA = "__metadata__"
_FIELDS = {"dtype", "shape", "data_offsets"}

DTYPE_OF_NAME: dict[str, DType] = {
    "BOOL": dtypes.bool,
    "U8": dtypes.uint8,
    "I8": dtypes.int8,
    "U16": dtypes.uint16,
    "I16": dtypes.int16,
    "U32": dtypes.uint32,
    "I32": dtypes.int32,
    "U64": dtypes.uint64,
    "I64": dtypes.int64,
    "F8_E4M3": dtypes.fp8e4m3,
    "F8_E5M2": dtypes.fp8e5m2,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
    "C64": dtypes.complex64,
}
NAME_OF_DTYPE: dict[DType, str] = {dtype: name for name, dtype in DTYPE_OF_NAME.items()}


@dataclass(frozen=True)
class Entry:
    """One tensor: its window [begin, end) counts bytes from the start of the values."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """A file's table of contents. `entries` in the order of their windows."""

    entries: tuple[Entry, ...]
    metadata: Mapping[str, str]
    data_start: int

    @property
    def nbytes(self) -> int:
        """The size of the whole file."""
        return self.data_start + max((entry.end for entry in self.entries), default=0)


def header_length(prefix: bytes, file_size: int) -> int:
    """How many bytes of JSON follow the prefix. Raises FormatError if they cannot."""
    if file_size < PREFIX or len(prefix) < PREFIX:
        _refuse(
            "the file is too short to be a safetensors file",
            f"it has {file_size} bytes; the length of the header alone takes {PREFIX}",
        )
    length = int.from_bytes(prefix[:PREFIX], "little")
    if length > MAX_HEADER:
        if prefix[:PREFIX].isascii() and prefix[:PREFIX].decode("ascii").isprintable():
            start = prefix[:PREFIX].decode("ascii")
            _refuse(
                "this is not a safetensors file",
                f"it begins with {start!r}, which is text"
                + (", as a web page does" if start.startswith("<") else ""),
            )
        _refuse(
            "the header claims to be longer than the format allows",
            f"{length} bytes, the most is {MAX_HEADER}",
        )
    if PREFIX + length > file_size:
        _refuse(
            "the header runs past the end of the file",
            f"it claims {length} bytes after the first {PREFIX}, the file has {file_size}",
        )
    return length


def parse_header(text: bytes, file_size: int) -> Header:
    """The checked table of contents. `text` is the JSON, `file_size` the size of the whole file.

    Raises FormatError when the values' windows do not exactly tile what follows the header, or
    when anything else is not as the format says.
    """
    table = _read_json(text)
    data_start = PREFIX + len(text)
    metadata = _metadata(table.pop(_METADATA, {}))
    entries = sorted(
        (_entry(name, fields) for name, fields in table.items()),
        key=lambda entry: (entry.begin, entry.end, entry.name),
    )
    _check_tiling(entries, file_size - data_start)
    return Header(tuple(entries), metadata, data_start)


def build_header(
    tensors: Iterable[tuple[str, DType, tuple[int, ...]]], metadata: Mapping[str, str]
) -> tuple[bytes, Header]:
    """(prefix and JSON, table of contents) for tensors given as (name, dtype, shape).

    Wide elements come first, then names in order, and the header is padded to eight bytes, so that
    every window is aligned to its elements. Raises ArgumentError for names and metadata the format
    has no place for, DTypeError for dtypes it does not know.
    """
    chosen = sorted(tensors, key=lambda tensor: (-tensor[1].itemsize, tensor[0]))
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ArgumentError(
                "metadata of a safetensors file maps text to text",
                asked=f"{shown(key)}: {shown(value)}",
                because="the format has no other values there",
                try_="convert it to a string, with json.dumps for instance",
            )
    table: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    entries: list[Entry] = []
    begin = 0
    for name, dtype, shape in chosen:
        _check_name(name)
        if dtype not in NAME_OF_DTYPE:
            raise DTypeError(
                "safetensors has no such dtype",
                asked=f"save {name!r} of {dtype}",
                because=f"it knows {', '.join(DTYPE_OF_NAME)}",
                try_="cast the tensor first",
            )
        end = begin + _size(shape) * dtype.itemsize
        entries.append(Entry(name, dtype, shape, begin, end))
        table[name] = {
            "dtype": NAME_OF_DTYPE[dtype],
            "shape": list(shape),
            "data_offsets": [begin, end],
        }
        begin = end
    text = json.dumps(table, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise ArgumentError(
            "too many tensors for one safetensors file",
            asked=f"a header of {len(text)} bytes",
            because=f"the format allows {MAX_HEADER}",
            try_="save them in several files",
        )
    header = Header(tuple(entries), dict(metadata), PREFIX + len(text))
    return len(text).to_bytes(PREFIX, "little") + text, header


def _read_json(text: bytes) -> dict[str, Any]:
    if not text.startswith(b"{"):
        _refuse(
            "the header is not a JSON object",
            f"it begins with {text[:8]!r}" if text else "it is empty",
        )
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object_without_duplicates,
            parse_constant=lambda constant: _refuse("the header is not JSON", f"it has {constant}"),
        )
    except FormatError:
        raise
    except RecursionError:
        _refuse("the header is nested too deeply", "a table of contents has three levels")
    except ValueError as error:  # JSON, UTF-8, and numbers of thousands of digits
        _refuse("the header is not JSON", str(error).partition("\n")[0])


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        _refuse("the header names one thing twice", f"{twice!r} appears more than once")
    return table


def _metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        _refuse(f"{_METADATA} must map text to text", f"it is {_shown(value)}")
    return value


def _entry(name: str, fields: Any) -> Entry:
    if not isinstance(fields, dict) or set(fields) != _FIELDS:
        _refuse(
            "a tensor's description must have exactly dtype, shape and data_offsets",
            f"that of {_shown(name)} is {_shown(fields)}",
        )
    dtype = DTYPE_OF_NAME.get(fields["dtype"]) if isinstance(fields["dtype"], str) else None
    if dtype is None:
        _refuse(
            "a tensor has a dtype that is not known here",
            f"{_shown(name)} is {_shown(fields['dtype'])}; known are {', '.join(DTYPE_OF_NAME)}",
        )
    shape = tuple(_naturals(name, "shape", fields["shape"]))
    offsets = _naturals(name, "data_offsets", fields["data_offsets"])
    if len(offsets) != 2 or offsets[0] > offsets[1]:
        _refuse(
            "a tensor's window must be [begin, end] with begin <= end",
            f"that of {_shown(name)} is {_shown(offsets)}",
        )
    begin, end = offsets
    wanted = _size(shape) * dtype.itemsize
    if end - begin != wanted:
        _refuse(
            "a tensor's window does not have the size of its shape",
            f"{_shown(name)} of shape {_shown(list(shape))} and {fields['dtype']} takes {wanted} "
            f"bytes, its window has {end - begin}",
        )
    return Entry(name, dtype, shape, begin, end)


def _naturals(name: str, what: str, value: Any) -> list[int]:
    # bool is a kind of int in Python, and JSON's true is no size.
    if not isinstance(value, list) or not all(
        type(each) is int and 0 <= each <= MAX_DIMENSION for each in value
    ):
        _refuse(
            f"a tensor's {what} must be a list of whole numbers from 0",
            f"that of {_shown(name)} is {_shown(value)}",
        )
    return value


def _size(shape: tuple[int, ...]) -> int:
    """The number of elements; stops early, because a header may claim thousands of huge axes."""
    if 0 in shape:
        return 0
    size = 1
    for dimension in shape:
        size *= dimension
        if size > MAX_DIMENSION:
            return MAX_DIMENSION
    return size


def _check_tiling(entries: list[Entry], available: int) -> None:
    reached, before = 0, "the header"
    for entry in entries:
        if entry.begin != reached:
            kind = "overlap" if entry.begin < reached else "leave a hole"
            _refuse(
                f"tensors {kind}",
                f"{_shown(entry.name)} begins at byte {entry.begin} of the values, "
                f"{_shown(before)} ends at {reached}",
            )
        reached, before = entry.end, entry.name
    if reached > available:
        _refuse(
            "the file is shorter than its header says",
            f"the tensors take {reached} bytes, {available} follow the header: "
            f"{reached - available} are missing",
        )
    if reached < available:
        _refuse(
            "the file is longer than its header says",
            f"the tensors take {reached} bytes, {available} follow the header",
        )


def _check_name(name: str) -> None:
    if not isinstance(name, str) or name == _METADATA:
        raise ArgumentError(
            "a tensor cannot be saved under this name",
            asked=repr(name),
            because=f"names are text, and {_METADATA} is taken by the format",
            try_="choose another name",
        )
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            "a tensor's name must be text that UTF-8 can hold",
            asked=ascii(name),
            because=str(error),
            try_="choose another name",
        ) from error


def _shown(value: Any) -> str:
    """A value of the file for an error message, shortened."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _refuse(summary: str, because: str) -> NoReturn:
    raise FormatError(
        summary,
        asked="read a safetensors header",
        because=because,
        try_="copy or download the file again; its writer may have been interrupted",
    )
