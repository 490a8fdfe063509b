"""weft.array_api: the Python array API standard, 2024.12, over lazy tensors.

In: arrays of the standard's dtypes on any device. Out: `Array`, a Tensor with the standard's
attributes. `Tensor.__array_namespace__` leads here, so that libraries which follow the standard
work with tensors as they are.

The extensions `linalg` and `fft` are here. Python numbers are weak, the default dtypes are float32
and int32, that of indices int64. NaN sorts last.
"""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from __future__ import annotations

from weft.array_api import fft, linalg
from weft.array_api.array import Array
from weft.array_api.complex_array import *
from weft.array_api.constants import *
from weft.array_api.creation import *
from weft.array_api.data_types import *
from weft.array_api.elementwise import *
from weft.array_api.indexing import *
from weft.array_api.info import __array_namespace_info__
from weft.array_api.linalg import matmul, matrix_transpose, tensordot, vecdot
from weft.array_api.manipulation import *
from weft.array_api.searching import *
from weft.array_api.sets import *
from weft.array_api.sorting import *
from weft.array_api.statistics import *

__array_api_version__ = "2024.12"

__all__ = [
    "Array", "ComplexArray", "__array_api_version__", "__array_namespace_info__", "abs", "acos",
    "acosh", "add",
    "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype",
    "atan", "atan2", "atanh", "bfloat16", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip", "complex64", "complex128",
    "concat", "conj", "copysign",
    "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "divide", "e",
    "empty", "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "fft", "finfo", "flip",
    "float16", "float32", "float64", "floor", "floor_divide", "from_dlpack", "full", "full_like",
    "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int8", "int16", "int32", "int64",
    "isdtype", "isfinite", "isin", "isinf", "isnan", "less", "less_equal", "linalg", "linspace",
    "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "matmul", "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min",
    "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis", "nextafter", "nonzero",
    "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod", "real",
    "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round", "searchsorted",
    "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze", "stack", "std",
    "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril",
    "triu", "trunc", "uint8", "uint16", "uint32", "uint64", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where", "zeros", "zeros_like",
]  # fmt: skip
