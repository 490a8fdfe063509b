"""GGUF files: plain tensors are views of the file, quantised ones are computed from it.

The values of a quantised tensor are an expression over its bytes: kernels that read the tensor
dequantise it. The block layouts are those of ggml.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.arguments import kind_of, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import FormatError, WrongKind
from weft.device import registry
from weft.io.gguf_header import BLOCKS, GGUFEntry, damaged, parse_gguf
from weft.io.windows import Source, TensorIO, called, opened, window
from weft.tensor import Tensor

_PLAIN = {
    "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F64": dtypes.float64,
    "I8": dtypes.int8, "I16": dtypes.int16, "I32": dtypes.int32, "I64": dtypes.int64,
}  # fmt: skip


def gguf_load(
    source: Source, device: str | None = None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    r"""(notes, tensors by name) of a GGUF file, versions 2 and 3.

    source: a path, or a uint8 tensor of shape (n,). Tensors are lazy. Plain ones (F32, F16, BF16,
    F64, I8, I16, I32, I64) stay where the file is stored unless `device` is given; quantised ones
    (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K) are float32 on `device` or the default device,
    unpacked when they are used. Shapes have the outermost axis first. Raises FileError where the
    file cannot be read, FormatError for damaged files and other kinds of quantisation.

    >>> from weft import io
    >>> import struct
    >>> head = struct.pack("<4sIQQ", b"GGUF", 3, 1, 0)
    >>> tensor = struct.pack("<Q1sIQIQ", 1, b"w", 1, 2, 0, 0)
    >>> file = (head + tensor).ljust(64, b"\0") + struct.pack("<2f", 1.0, 2.0)
    >>> notes, tensors = io.gguf_load(Tensor(file))
    >>> tensors["w"].tolist()
    [1.0, 2.0]
    """
    import io

    everything = opened(source)
    size = int(everything.shape[0])
    try:
        header = parse_gguf(io.BufferedReader(TensorIO(everything), 1 << 16), size)
    except FormatError as error:
        error.asked = f"load {called(source)}"
        raise
    return header.notes, {e.name: _tensor(everything, e, device) for e in header.entries}


def _tensor(everything: Tensor, entry: GGUFEntry, device: str | None) -> Tensor:
    label, _, _ = BLOCKS[entry.kind]
    if label in _PLAIN:
        return window(everything, entry.begin, _PLAIN[label], entry.shape, device)
    part = everything[entry.begin : entry.begin + entry.nbytes]
    count = 1
    for extent in entry.shape:
        count *= extent
    return ggml_data_to_tensor(part.to(device or registry.canonical()), count, entry.kind).reshape(
        entry.shape
    )


def ggml_data_to_tensor(data: Tensor, count: int, kind: int) -> Tensor:
    """`count` elements from the bytes of their blocks: uint8 of shape (n,) to shape (count,).

    kind: ggml's number of the layout. Plain kinds keep their dtype, quantised ones become float32.
    Raises FormatError for kinds that are not known and for too few bytes.

    >>> from weft import io
    >>> import struct
    >>> io.ggml_data_to_tensor(Tensor(struct.pack("<3f", 1.0, 2.0, 3.0)), 3, 0).tolist()
    [1.0, 2.0, 3.0]
    """
    kind, count = whole(kind, "kind"), whole(count, "count", least=0)
    if not isinstance(data, Tensor) or len(data.shape) != 1:
        raise WrongKind(
            "the bytes of blocks are a tensor of uint8, shape (n,)",
            asked=f"ggml_data_to_tensor({shown(data)}, ...)",
            because=f"that is {kind_of(data)}" if not isinstance(data, Tensor) else None,
            try_="Tensor(raw_bytes)",
        )
    if kind not in BLOCKS:
        raise damaged(f"layout number {kind} is not known")
    label, elements, nbytes = BLOCKS[kind]
    if count % elements or count // elements * nbytes > int(data.shape[0]):
        raise damaged(f"{data.shape[0]} bytes do not hold {count} elements of {label}")
    used = data[: count // elements * nbytes]
    if label in _PLAIN:
        return used.bitcast(_PLAIN[label])
    return _UNPACK[label](used.reshape(-1, nbytes)).reshape(-1)


# ---- blocks to values; b is uint8 of shape (blocks, bytes) ---------------------------------------


def _half(b: Tensor, at: int) -> Tensor:
    """The float16 at byte `at` of every block, as float32 of shape (blocks, 1)."""
    low, high = (b[:, at + n : at + n + 1].cast(dtypes.uint16) for n in (0, 1))
    return (low + high * 256).bitcast(dtypes.float16).cast(dtypes.float32)


def _low(b: Tensor) -> Tensor:
    return b & 15


def _high(b: Tensor) -> Tensor:
    return b >> 4


def _nibbles(b: Tensor) -> Tensor:
    """(blocks, n) to (blocks, 2 n): all low halves, then all high ones."""
    return _low(b).cat(_high(b), dim=1)


def _signed(b: Tensor) -> Tensor:
    return b.bitcast(dtypes.int8)


def _fifth_bits(b: Tensor) -> Tensor:
    """Bit j of four bytes as 0 or 16 for element j: (blocks, 4) to (blocks, 32)."""
    shifts = Tensor.arange(8, dtype=dtypes.int32, device=b.device).reshape(1, 1, 8)
    bits = (b.cast(dtypes.int32).unsqueeze(-1) >> shifts) & 1
    return (bits * 16).reshape(b.shape[0], 32)


def _number(b: Tensor) -> Tensor:
    return b.cast(dtypes.float32)


def _q4_0(b: Tensor) -> Tensor:
    return (_number(_nibbles(b[:, 2:])) - 8) * _half(b, 0)


def _q4_1(b: Tensor) -> Tensor:
    return _number(_nibbles(b[:, 4:])) * _half(b, 0) + _half(b, 2)


def _q5_0(b: Tensor) -> Tensor:
    q = _nibbles(b[:, 6:]).cast(dtypes.int32) + _fifth_bits(b[:, 2:6])
    return (_number(q) - 16) * _half(b, 0)


def _q5_1(b: Tensor) -> Tensor:
    q = _nibbles(b[:, 8:]).cast(dtypes.int32) + _fifth_bits(b[:, 4:8])
    return _number(q) * _half(b, 0) + _half(b, 2)


def _q8_0(b: Tensor) -> Tensor:
    return _number(_signed(b[:, 2:])) * _half(b, 0)


def _scales(b: Tensor) -> tuple[Tensor, Tensor]:
    """Eight 6-bit scales and eight 6-bit minima in twelve bytes, each (blocks, 8) float32.

    The first four of both are the low 6 bits of bytes 0-3 and 4-7; of the last four the low halves
    are in bytes 8-11, and the two high bits are those of the first eight bytes.
    """
    first, second, third = b[:, 0:4], b[:, 4:8], b[:, 8:12]
    scale = (first & 63).cat(_low(third) + (first >> 6) * 16, dim=1)
    least = (second & 63).cat(_high(third) + (second >> 6) * 16, dim=1)
    return _number(scale), _number(least)


def _by_64(b: Tensor) -> Tensor:
    """128 bytes to 256 elements (blocks, 8, 32): of each 32 bytes the low halves, then the high."""
    chunks = b.reshape(-1, 4, 1, 32)
    return _low(chunks).cat(_high(chunks), dim=2).reshape(-1, 8, 32)


def _scaled(q: Tensor, b: Tensor) -> Tensor:
    scale, least = _scales(b[:, 4:16])
    d, m = (_half(b, 0) * scale).unsqueeze(-1), (_half(b, 2) * least).unsqueeze(-1)
    return _number(q) * d - m


def _q4_k(b: Tensor) -> Tensor:
    return _scaled(_by_64(b[:, 16:]), b)


def _q5_k(b: Tensor) -> Tensor:
    shifts = Tensor.arange(8, dtype=dtypes.int32, device=b.device).reshape(1, 8, 1)
    fifth = (b[:, 16:48].cast(dtypes.int32).unsqueeze(1) >> shifts) & 1
    return _scaled(_by_64(b[:, 48:]).cast(dtypes.int32) + fifth * 16, b)


def _q6_k(b: Tensor) -> Tensor:
    low = b[:, :128].reshape(-1, 2, 1, 64)
    four = _low(low).cat(_high(low), dim=2).reshape(-1, 2, 4, 32).cast(dtypes.int32)
    shifts = Tensor.arange(4, dtype=dtypes.int32, device=b.device).reshape(1, 1, 4, 1) * 2
    two = (b[:, 128:192].reshape(-1, 2, 1, 32).cast(dtypes.int32) >> shifts) & 3
    scale = _number(_signed(b[:, 192:208])).reshape(-1, 16, 1)
    values = (_number(four + two * 16) - 32).reshape(-1, 16, 16)
    return values * (scale * _half(b, 208).unsqueeze(-1))


_UNPACK: dict[str, Callable[[Tensor], Tensor]] = {
    "Q4_0": _q4_0, "Q4_1": _q4_1, "Q5_0": _q5_0, "Q5_1": _q5_1, "Q8_0": _q8_0, "Q4_K": _q4_k,
    "Q5_K": _q5_k, "Q6_K": _q6_k,
}  # fmt: skip
