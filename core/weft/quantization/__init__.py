"""Block quantisation: small integers with a scale for each block, dequantised at their readers."""

from weft.quantization.dequantization import BlockStorage, block_format, dequantize, storage_of
from weft.quantization.dynamic_quantization import linear_int8
from weft.quantization.formats import FORMATS, BitField, BlockFormat, PackedIntegers
from weft.quantization.quantization import quantize

__all__ = [
    "FORMATS",
    "BitField",
    "BlockFormat",
    "BlockStorage",
    "PackedIntegers",
    "block_format",
    "dequantize",
    "linear_int8",
    "quantize",
    "storage_of",
]
