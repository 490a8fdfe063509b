"""Group quantisation: small integers with a scale for each group of inputs, as files hold them.
Also: GPTQ weights, AWQ weights, int8 per channel.

in:  words of 32 bits that hold eight codes of 4 bits, scales, zero points; or int8 and scales
out: the values as an expression that is computed where it is read

The words of GPTQ hold eight neighbouring inputs, those of AWQ eight outputs. The place of a code in
its word is an affine function of its index, as in `formats`. So one description serves both.

Source: E. Frantar et al., "GPTQ" (ICLR 2023); J. Lin et al., "AWQ" (MLSys 2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, FormatError, ShapeError
from weft.tensor import Tensor
from weft.uop import Ops, UOp

_CODES = 8
_BITS = 4
_QWEIGHT = ".qweight"
_SCALE = ".weight_scale"


@dataclass(frozen=True)
class GroupFormat:
    """How words of 32 bits hold codes of 4 bits.

    :param name: its name in lower case.
    :param along_inputs: a word holds neighbouring inputs; otherwise neighbouring outputs.
    :param axes: (extent, bits) of the index of a code in its word, outermost axis first.
    :param zero_offset: what is added to a zero point that is stored.
    """

    name: str
    along_inputs: bool
    axes: tuple[tuple[int, int], ...]
    zero_offset: int = 0


_IN_ORDER = ((8, 4),)
GROUP_FORMATS: dict[str, GroupFormat] = {
    one.name: one
    for one in (
        GroupFormat("gptq", along_inputs=True, axes=_IN_ORDER, zero_offset=1),
        GroupFormat("gptq_v2", along_inputs=True, axes=_IN_ORDER),
        # of eight outputs the even ones are in the low half of a word
        GroupFormat("awq", along_inputs=False, axes=((4, 4), (2, 16))),
    )
}
"""Every layout of words, by its name in lower case."""


def dequantize_groups(
    words: Tensor, scales: Tensor, zeros: Tensor, format: str, groups: Tensor | None = None
) -> Tensor:
    """The weight (outputs, inputs), float32, of words of 4-bit codes, computed where it is read.

    words: int32, (inputs / 8, outputs) for "gptq" and "gptq_v2", (inputs, outputs / 8) for "awq".
    scales: (groups, outputs). zeros: int32, (groups, outputs / 8). groups: of each input, its
    group, shape (inputs,); equal runs of inputs by default.

    :raises ArgumentError: for a format that is not known.
    :raises ShapeError: if the shapes do not fit.

    >>> from weft.quantization import dequantize_groups
    >>> words = Tensor([[0x76543210]], dtype="int32")
    >>> ones, zeros = Tensor.ones(1, 8), Tensor.zeros(1, 1, dtype="int32")
    >>> dequantize_groups(words, ones, zeros, "awq")[:, 0].tolist()
    [0.0, 4.0, 1.0, 5.0, 2.0, 6.0, 3.0, 7.0]
    """
    layout = GROUP_FORMATS.get(format)
    if layout is None:
        raise ArgumentError(
            "there is no such layout of words",
            asked=f"the layout {shown(format)}",
            try_="one of " + ", ".join(GROUP_FORMATS),
        )
    inputs, outputs = _sizes(words, layout)
    count = scales.shape[0]
    fits = scales.shape == (count, outputs) and zeros.shape == (count, outputs // _CODES)
    if not fits or (groups is None and inputs % count) or outputs % _CODES:
        raise ShapeError(
            "scales and zero points are those of groups of inputs",
            asked=f"words {words.shape}, scales {scales.shape}, zero points {zeros.shape}",
            because=f"{layout.name} has {inputs} inputs and {outputs} outputs here",
            try_="scales (groups, outputs), zero points (groups, outputs / 8)",
        )
    codes = _codes_of(words, layout.axes, 0 if layout.along_inputs else 1)
    zero = _codes_of(zeros, layout.axes, 1) + layout.zero_offset
    scale = scales.cast(dtypes.float32)
    if groups is not None:
        return _marked(((codes - zero[groups]).cast(dtypes.float32) * scale[groups]), layout.name)
    codes = codes.reshape(count, inputs // count, outputs) - zero.reshape(count, 1, outputs)
    values = codes.cast(dtypes.float32) * scale.reshape(count, 1, outputs)
    return _marked(values.reshape(inputs, outputs), layout.name)


def dequantize_channels(codes: Tensor, scales: Tensor) -> Tensor:
    """The weight (outputs, inputs), float32, of int8 codes with a scale for each output.

    codes: int8, (outputs, inputs). scales: (outputs,) or (outputs, 1). The values are computed
    where they are read.

    :raises ShapeError: if the shapes do not fit.

    >>> from weft.quantization import dequantize_channels
    >>> dequantize_channels(Tensor([[1, -2]], dtype="int8"), Tensor([0.5])).tolist()
    [[0.5, -1.0]]
    """
    outputs = codes.shape[0]
    if codes.ndim != 2 or scales.shape not in ((outputs,), (outputs, 1)):
        raise ShapeError(
            "each output has one scale",
            asked=f"codes {codes.shape}, scales {scales.shape}",
            try_="codes (outputs, inputs), scales (outputs,)",
        )
    scale = scales.cast(dtypes.float32).reshape(outputs, 1)
    return _marked((codes.cast(dtypes.float32) * scale).transpose(0, 1), "int8")


def quantized_weights(tensors: Mapping[str, Tensor], format: str = "gptq") -> dict[str, Tensor]:
    """The tensors of a model file, with weights instead of their codes, scales and zero points.

    ``X.qweight``, ``X.scales``, ``X.qzeros`` (and ``X.g_idx``) become ``X.weight``; AWQ is known by
    the shapes. int8 ``X.weight`` and ``X.weight_scale`` become ``X.weight``. format: "gptq", or
    "gptq_v2" for files whose zero points are stored as they are.

    :raises FormatError: if there are codes without scales or zero points.
    :raises ShapeError: if the shapes do not fit.

    >>> from weft.quantization import quantized_weights
    >>> file = {"a.weight": Tensor([[3]], dtype="int8"), "a.weight_scale": Tensor([[0.5]])}
    >>> {name: weight.tolist() for name, weight in quantized_weights(file).items()}
    {'a.weight': [[1.5]]}
    """
    found = dict(tensors)
    for name in tensors:
        if name.endswith(_QWEIGHT):
            stem = name.removesuffix(_QWEIGHT)
            missing = {f"{stem}.scales", f"{stem}.qzeros"} - found.keys()
            if missing:
                raise FormatError(
                    "words of codes have scales and zero points beside them",
                    asked=f"the weight of {name}",
                    because=f"there is no {', '.join(sorted(missing))}",
                )
            words, scales = found.pop(name), found.pop(f"{stem}.scales")
            layout = format if words.shape[1:] == scales.shape[1:] else "awq"
            zeros, groups = found.pop(f"{stem}.qzeros"), found.pop(f"{stem}.g_idx", None)
            found[f"{stem}.weight"] = dequantize_groups(words, scales, zeros, layout, groups)
        elif name.endswith(_SCALE):
            weight = name.removesuffix("_scale")
            if weight in found and found[weight].dtype is dtypes.int8:
                found[weight] = dequantize_channels(found[weight], found.pop(name))
    return found


def _sizes(words: Tensor, layout: GroupFormat) -> tuple[Any, Any]:
    """The inputs and outputs of a weight."""
    if words.ndim != 2 or words.dtype is not dtypes.int32:
        raise ShapeError(
            "words of codes are a matrix of int32",
            asked=f"words of shape {words.shape}, {words.dtype}",
        )
    first, second = words.shape
    return (first * _CODES, second) if layout.along_inputs else (first, second * _CODES)


def _codes_of(words: Tensor, axes: tuple[tuple[int, int], ...], axis: int) -> Tensor:
    """The codes of words, int32, eight along `axis` for each word."""
    rows, columns = words.shape
    extents = [extent for extent, _ in axes]
    shift: Tensor | int = 0
    for place, (extent, bits) in enumerate(axes):
        shape = [extent if place == other else 1 for other in range(len(axes))]
        numbers = Tensor.arange(extent, dtype=dtypes.int32, device=words.device).reshape(shape)
        shift = numbers * bits + shift
    assert isinstance(shift, Tensor)
    if axis:
        wide, shift = words.reshape(rows, columns, *[1] * len(axes)), shift.reshape(1, 1, *extents)
    else:
        wide = words.reshape(rows, *[1] * len(axes), columns)
        shift = shift.reshape(1, *extents, 1)
    codes = (wide >> shift) & ((1 << _BITS) - 1)
    return codes.reshape((rows, columns * _CODES) if axis else (rows * _CODES, columns))


def _marked(values: Tensor, name: str) -> Tensor:
    """The transpose of (inputs, outputs), which stays an expression."""
    weight = values.transpose(0, 1)
    return Tensor.from_uop(UOp(Ops.FUSE, weight.dtype, (weight.uop,), arg=name))
