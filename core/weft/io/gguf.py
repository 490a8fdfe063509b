"""GGUF files: plain tensors are views of the file, quantised ones keep their blocks.

The values of a quantised tensor are an expression over its bytes (`weft.quantization`): kernels
that read the tensor dequantise it.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import kind_of, shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import FormatError, WrongKind
from weft.device import registry
from weft.io.gguf_header import BLOCKS, GGUFEntry, damaged, parse_gguf
from weft.io.windows import Source, TensorIO, called, opened, window
from weft.quantization import dequantize
from weft.tensor import Tensor

PLAIN_DTYPES = {
    "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F64": dtypes.float64,
    "I8": dtypes.int8, "I16": dtypes.int16, "I32": dtypes.int32, "I64": dtypes.int64,
}  # fmt: skip


def gguf_load(
    source: Source, device: str | None = None
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    r"""(notes, tensors by name) of a GGUF file, versions 2 and 3.

    source: a path, or a uint8 tensor of shape (n,). Tensors are lazy. Plain ones (F32, F16, BF16,
    F64, I8, I16, I32, I64) stay where the file is stored unless `device` is given. Quantised ones
    (Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL, MXFP4) are float32 on `device` or the
    default device. Memory holds their blocks, and kernels dequantise them where they read them.
    Shapes have the outermost axis first. Raises FileError where the file cannot be read,
    FormatError for damaged files and other kinds of quantisation.

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
    if label in PLAIN_DTYPES:
        return window(everything, entry.begin, PLAIN_DTYPES[label], entry.shape, device)
    part = everything[entry.begin : entry.begin + entry.nbytes]
    return dequantize(part.to(device or registry.canonical()), label, entry.shape)


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
    if label in PLAIN_DTYPES:
        return used.bitcast(PLAIN_DTYPES[label])
    return dequantize(used, label, (count,))
