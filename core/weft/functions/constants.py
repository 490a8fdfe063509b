"""Constants, dtypes and other names at the level of `weft` that are no functions of tensors."""

import math

from weft.base.dtype import DType, dtypes
from weft.functions.defined import vstack
from weft.io import load, save
from weft.tensor import Tensor
from weft.tensor.protocol import grad_enabled, set_grad_enabled
from weft.tensor.rng import get_rng_state, set_rng_state

__all__ = [
    "Size",
    "bfloat16",
    "bool",
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
    "double",
    "dtype",
    "e",
    "float",
    "float16",
    "float32",
    "float64",
    "get_rng_state",
    "half",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "load",
    "long",
    "nan",
    "newaxis",
    "pi",
    "row_stack",
    "save",
    "set_grad_enabled",
    "set_rng_state",
    "short",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip

Size = tuple
dtype = DType
e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None

is_grad_enabled = grad_enabled
inference_mode = Tensor.no_grad
row_stack = vstack

bfloat16, bool, double, float = dtypes.bfloat16, dtypes.bool, dtypes.double, dtypes.float
cdouble, cfloat = dtypes.complex128, dtypes.complex64
complex64, complex128 = dtypes.complex64, dtypes.complex128
float16, float32, float64, half = dtypes.float16, dtypes.float32, dtypes.float64, dtypes.half
int, int8, int16, int32, int64 = dtypes.int, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64
long, short = dtypes.long, dtypes.short
uint8, uint16, uint32, uint64 = dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64
