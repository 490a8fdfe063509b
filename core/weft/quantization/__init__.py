"""Block quantisation: small integers with a scale for each block, dequantised at their readers."""

from weft.quantization.dequantization import BlockStorage, block_format, dequantize, storage_of
from weft.quantization.dynamic_quantization import linear_int8, linear_int16
from weft.quantization.formats import FORMATS, BitField, BlockFormat, PackedIntegers
from weft.quantization.group_quantization import (
    GROUP_FORMATS,
    GroupFormat,
    dequantize_channels,
    dequantize_groups,
    quantized_weights,
)
from weft.quantization.quantization import quantize

__all__ = [
    "FORMATS",
    "GROUP_FORMATS",
    "BitField",
    "BlockFormat",
    "BlockStorage",
    "GroupFormat",
    "PackedIntegers",
    "block_format",
    "dequantize",
    "dequantize_channels",
    "dequantize_groups",
    "linear_int8",
    "linear_int16",
    "quantize",
    "quantized_weights",
    "storage_of",
]
