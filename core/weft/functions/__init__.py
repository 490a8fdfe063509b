"""Functions at the level of `weft`, with PyTorch's names and order of arguments.

    weft.exp(x), weft.cat([x, y]), weft.zeros(2, 3), weft.randint(0, 10, (3,))

Most are methods of Tensor: the documentation is there. They are bound here by name, so that type
checkers see their signatures. Where PyTorch's function takes its arguments otherwise than the
method, it is defined in `defined.py`, or is that of `weft.nn.functional`.
"""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from __future__ import annotations

import math

from weft.base.dtype import DType, dtypes
from weft.functions import defined
from weft.functions.defaults import *
from weft.functions.defined import *
from weft.functions.min_max import *
from weft.functions.wrappers import creation, of_method
from weft.io import load, save
from weft.nn.functional import (
    celu,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    dropout,
    hardshrink,
    log_softmax,
    pairwise_distance,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    relu,
    selu,
    sigmoid,
    softmax,
    tanh,
    threshold,
)  # fmt: skip
from weft.tensor import Tensor
from weft.tensor.protocol import grad_enabled, set_grad_enabled
from weft.tensor.rng import get_rng_state, set_rng_state

__all__ = [
    "Size", "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm",
    "addmv", "addr", "all", "allclose", "amax", "amin", "aminmax", "any", "arange", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort",
    "argwhere", "as_tensor", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "atleast_1d",
    "atleast_2d", "atleast_3d", "baddbmm", "bernoulli", "bfloat16", "bincount", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm",
    "bool", "broadcast_shapes", "broadcast_tensors", "broadcast_to", "bucketize", "cartesian_prod",
    "cat", "cdist", "ceil", "celu", "cholesky", "chunk", "clamp", "clamp_max", "clamp_min", "clip",
    "clone", "column_stack", "concat", "concatenate", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "copysign", "corrcoef", "cos",
    "cosh", "cosine_similarity", "count_nonzero", "cov", "cross", "cummax", "cummin", "cumprod",
    "cumsum", "deg2rad", "det", "detach", "device", "diag", "diagonal", "diff", "dist", "div",
    "divide", "dot", "double", "dropout", "dsplit", "dstack", "dtype", "e", "eigh", "einsum",
    "empty", "empty_like", "enable_grad", "eq", "equal", "erf", "exp", "exp2", "expm1", "eye",
    "finfo", "fix", "flatten", "flip", "fliplr", "flipud", "float", "float16", "float32", "float64",
    "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "from_dlpack",
    "from_numpy", "full", "full_like", "gather", "ge", "ger", "get_default_device",
    "get_default_dtype", "get_rng_state", "greater", "greater_equal", "gt", "half", "hardshrink",
    "heaviside", "histc", "hsplit", "hstack", "hypot", "iinfo", "index_add", "index_copy",
    "index_fill", "index_put", "index_select", "inf", "inference_mode", "inner", "int", "int8",
    "int16", "int32", "int64", "inv", "inverse", "is_floating_point", "is_grad_enabled",
    "is_tensor", "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "kron",
    "kthvalue", "le", "lerp", "less", "less_equal", "linspace", "load", "log", "log1p", "log2",
    "log10", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logdet", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logspace", "logsumexp", "long", "lt",
    "manual_seed", "masked_fill", "masked_scatter", "masked_select", "matmul", "matrix_power",
    "max", "maximum", "mean", "median", "meshgrid", "min", "minimum", "mm", "moveaxis", "movedim",
    "mul", "multinomial", "multiply", "mv", "nan", "nan_to_num", "nanmean", "nanmedian",
    "nanquantile", "nansum", "narrow", "ne", "neg", "negative", "newaxis", "no_grad", "nonzero",
    "norm", "normal", "not_equal", "numel", "ones", "ones_like", "outer", "pairwise_distance",
    "permute", "pi", "pixel_shuffle", "pixel_unshuffle", "positive", "pow", "prelu", "prod",
    "promote_types", "put", "qr", "quantile", "rad2deg", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "ravel", "reciprocal", "relu", "remainder",
    "repeat_interleave", "reshape", "roll", "rot90", "round", "row_stack", "rsqrt", "save",
    "scatter", "scatter_add", "scatter_reduce", "searchsorted", "select", "select_scatter", "selu",
    "set_default_device", "set_default_dtype", "set_grad_enabled", "set_rng_state", "sgn", "short",
    "sigmoid", "sign", "signbit", "sin", "sinc", "sinh", "slogdet", "softmax", "solve", "sort",
    "split", "split_with_sizes", "sqrt", "square", "squeeze", "stack", "std", "std_mean", "sub",
    "subtract", "sum", "svd", "swapaxes", "swapdims", "t", "take", "take_along_dim", "tan", "tanh",
    "tensor", "tensor_split", "tensordot", "threshold", "tile", "topk", "trace", "transpose",
    "tril", "tril_indices", "triu", "triu_indices", "true_divide", "trunc", "uint8", "uint16",
    "uint32", "uint64", "unbind", "unflatten", "unique", "unsqueeze", "vander", "var", "var_mean",
    "vdot", "vsplit", "vstack", "where", "xlogy", "zeros", "zeros_like",
]  # fmt: skip

# ---- methods of Tensor ---------------------------------------------------------------------------

abs = of_method(Tensor.abs)
absolute = of_method(Tensor.abs)
acos = of_method(Tensor.acos)
acosh = of_method(Tensor.acosh)
add = of_method(Tensor.add)
addbmm = of_method(Tensor.addbmm)
addcdiv = of_method(Tensor.addcdiv)
addcmul = of_method(Tensor.addcmul)
addmm = of_method(Tensor.addmm)
addmv = of_method(Tensor.addmv)
addr = of_method(Tensor.addr)
all = of_method(Tensor.all)
allclose = of_method(Tensor.allclose)
amax = of_method(Tensor.amax)
amin = of_method(Tensor.amin)
aminmax = of_method(Tensor.aminmax)
any = of_method(Tensor.any)
arccos = of_method(Tensor.acos)
arccosh = of_method(Tensor.acosh)
arcsin = of_method(Tensor.asin)
arcsinh = of_method(Tensor.asinh)
arctan = of_method(Tensor.atan)
arctan2 = of_method(Tensor.arctan2)
arctanh = of_method(Tensor.atanh)
argmax = of_method(Tensor.argmax)
argmin = of_method(Tensor.argmin)
argsort = of_method(Tensor.argsort)
argwhere = of_method(Tensor.argwhere)
asin = of_method(Tensor.asin)
asinh = of_method(Tensor.asinh)
atan = of_method(Tensor.atan)
atan2 = of_method(Tensor.atan2)
atanh = of_method(Tensor.atanh)
atleast_1d = of_method(Tensor.atleast_1d)
atleast_2d = of_method(Tensor.atleast_2d)
baddbmm = of_method(Tensor.baddbmm)
bernoulli = of_method(Tensor.bernoulli)
bincount = of_method(Tensor.bincount)
bitwise_and = of_method(Tensor.bitwise_and)
bitwise_left_shift = of_method(Tensor.lshift)
bitwise_not = of_method(Tensor.bitwise_not)
bitwise_or = of_method(Tensor.bitwise_or)
bitwise_right_shift = of_method(Tensor.rshift)
bitwise_xor = of_method(Tensor.bitwise_xor)
bmm = of_method(Tensor.bmm)
broadcast_to = of_method(Tensor.broadcast_to)
bucketize = of_method(Tensor.bucketize)
cdist = of_method(Tensor.cdist)
ceil = of_method(Tensor.ceil)
cholesky = of_method(Tensor.cholesky)
chunk = of_method(Tensor.chunk)
clamp = of_method(Tensor.clamp)
clamp_max = of_method(Tensor.clamp_max)
clamp_min = of_method(Tensor.clamp_min)
clip = of_method(Tensor.clip)
clone = of_method(Tensor.clone)
copysign = of_method(Tensor.copysign)
corrcoef = of_method(Tensor.corrcoef)
cos = of_method(Tensor.cos)
cosh = of_method(Tensor.cosh)
count_nonzero = of_method(Tensor.count_nonzero)
cov = of_method(Tensor.cov)
cross = of_method(Tensor.cross)
cumprod = of_method(Tensor.cumprod)
cumsum = of_method(Tensor.cumsum)
deg2rad = of_method(Tensor.deg2rad)
det = of_method(Tensor.det)
detach = of_method(Tensor.detach)
diag = of_method(Tensor.diag)
diagonal = of_method(Tensor.diagonal)
diff = of_method(Tensor.diff)
dist = of_method(Tensor.dist)
div = of_method(Tensor.div)
divide = of_method(Tensor.divide)
dot = of_method(Tensor.dot)
dsplit = of_method(Tensor.dsplit)
eigh = of_method(Tensor.eigh)
empty_like = of_method(Tensor.empty_like)
eq = of_method(Tensor.eq)
equal = of_method(Tensor.equal)
erf = of_method(Tensor.erf)
exp = of_method(Tensor.exp)
exp2 = of_method(Tensor.exp2)
expm1 = of_method(Tensor.expm1)
fix = of_method(Tensor.trunc)
flatten = of_method(Tensor.flatten)
flip = of_method(Tensor.flip)
fliplr = of_method(Tensor.fliplr)
flipud = of_method(Tensor.flipud)
float_power = of_method(Tensor.float_power)
floor = of_method(Tensor.floor)
floor_divide = of_method(Tensor.floor_divide)
fmax = of_method(Tensor.fmax)
fmin = of_method(Tensor.fmin)
fmod = of_method(Tensor.fmod)
frac = of_method(Tensor.frac)
full_like = of_method(Tensor.full_like)
gather = of_method(Tensor.gather)
ge = of_method(Tensor.ge)
ger = of_method(Tensor.ger)
greater = of_method(Tensor.greater)
greater_equal = of_method(Tensor.greater_equal)
gt = of_method(Tensor.gt)
heaviside = of_method(Tensor.heaviside)
histc = of_method(Tensor.histc)
hsplit = of_method(Tensor.hsplit)
hypot = of_method(Tensor.hypot)
index_add = of_method(Tensor.index_add)
index_copy = of_method(Tensor.index_copy)
index_fill = of_method(Tensor.index_fill)
index_put = of_method(Tensor.index_put)
index_select = of_method(Tensor.index_select)
inner = of_method(Tensor.inner)
inv = of_method(Tensor.inv)
inverse = of_method(Tensor.inverse)
is_floating_point = of_method(Tensor.is_floating_point)
isclose = of_method(Tensor.isclose)
isfinite = of_method(Tensor.isfinite)
isin = of_method(Tensor.isin)
isinf = of_method(Tensor.isinf)
isnan = of_method(Tensor.isnan)
isneginf = of_method(Tensor.isneginf)
isposinf = of_method(Tensor.isposinf)
kron = of_method(Tensor.kron)
kthvalue = of_method(Tensor.kthvalue)
le = of_method(Tensor.le)
lerp = of_method(Tensor.lerp)
less = of_method(Tensor.less)
less_equal = of_method(Tensor.less_equal)
log = of_method(Tensor.log)
log10 = of_method(Tensor.log10)
log1p = of_method(Tensor.log1p)
log2 = of_method(Tensor.log2)
logaddexp = of_method(Tensor.logaddexp)
logaddexp2 = of_method(Tensor.logaddexp2)
logcumsumexp = of_method(Tensor.logcumsumexp)
logdet = of_method(Tensor.logdet)
logical_and = of_method(Tensor.logical_and)
logical_not = of_method(Tensor.logical_not)
logical_or = of_method(Tensor.logical_or)
logical_xor = of_method(Tensor.logical_xor)
logit = of_method(Tensor.logit)
logsumexp = of_method(Tensor.logsumexp)
lt = of_method(Tensor.lt)
masked_fill = of_method(Tensor.masked_fill)
masked_scatter = of_method(Tensor.masked_scatter)
masked_select = of_method(Tensor.masked_select)
matmul = of_method(Tensor.matmul)
matrix_power = of_method(Tensor.matrix_power)
maximum = of_method(Tensor.maximum)
mean = of_method(Tensor.mean)
median = of_method(Tensor.median)
minimum = of_method(Tensor.minimum)
mm = of_method(Tensor.mm)
moveaxis = of_method(Tensor.moveaxis)
movedim = of_method(Tensor.movedim)
mul = of_method(Tensor.mul)
multinomial = of_method(Tensor.multinomial)
multiply = of_method(Tensor.multiply)
mv = of_method(Tensor.mv)
nan_to_num = of_method(Tensor.nan_to_num)
nanmean = of_method(Tensor.nanmean)
nanmedian = of_method(Tensor.nanmedian)
nanquantile = of_method(Tensor.nanquantile)
nansum = of_method(Tensor.nansum)
narrow = of_method(Tensor.narrow)
ne = of_method(Tensor.ne)
neg = of_method(Tensor.neg)
negative = of_method(Tensor.negative)
nonzero = of_method(Tensor.nonzero)
norm = of_method(Tensor.norm)
not_equal = of_method(Tensor.not_equal)
numel = of_method(Tensor.numel)
ones_like = of_method(Tensor.ones_like)
outer = of_method(Tensor.outer)
permute = of_method(Tensor.permute)
positive = of_method(Tensor.positive)
pow = of_method(Tensor.pow)
prod = of_method(Tensor.prod)
put = of_method(Tensor.put)
qr = of_method(Tensor.qr)
quantile = of_method(Tensor.quantile)
rad2deg = of_method(Tensor.rad2deg)
rand_like = of_method(Tensor.rand_like)
randint_like = of_method(Tensor.randint_like)
randn_like = of_method(Tensor.randn_like)
ravel = of_method(Tensor.ravel)
reciprocal = of_method(Tensor.reciprocal)
remainder = of_method(Tensor.remainder)
repeat_interleave = of_method(Tensor.repeat_interleave)
reshape = of_method(Tensor.reshape)
roll = of_method(Tensor.roll)
rot90 = of_method(Tensor.rot90)
round = of_method(Tensor.round)
rsqrt = of_method(Tensor.rsqrt)
scatter = of_method(Tensor.scatter)
scatter_add = of_method(Tensor.scatter_add)
scatter_reduce = of_method(Tensor.scatter_reduce)
searchsorted = of_method(Tensor.searchsorted)
select = of_method(Tensor.select)
select_scatter = of_method(Tensor.select_scatter)
sgn = of_method(Tensor.sgn)
sign = of_method(Tensor.sign)
signbit = of_method(Tensor.signbit)
sin = of_method(Tensor.sin)
sinc = of_method(Tensor.sinc)
sinh = of_method(Tensor.sinh)
slogdet = of_method(Tensor.slogdet)
solve = of_method(Tensor.solve)
sort = of_method(Tensor.sort)
split = of_method(Tensor.split)
split_with_sizes = of_method(Tensor.split_with_sizes)
sqrt = of_method(Tensor.sqrt)
square = of_method(Tensor.square)
squeeze = of_method(Tensor.squeeze)
std = of_method(Tensor.std)
std_mean = of_method(Tensor.std_mean)
sub = of_method(Tensor.sub)
subtract = of_method(Tensor.subtract)
sum = of_method(Tensor.sum)
svd = of_method(Tensor.svd)
swapaxes = of_method(Tensor.swapaxes)
swapdims = of_method(Tensor.swapdims)
take = of_method(Tensor.take)
take_along_dim = of_method(Tensor.take_along_dim)
tan = of_method(Tensor.tan)
tensor_split = of_method(Tensor.tensor_split)
tensordot = of_method(Tensor.tensordot)
tile = of_method(Tensor.tile)
topk = of_method(Tensor.topk)
trace = of_method(Tensor.trace)
transpose = of_method(Tensor.transpose)
tril = of_method(Tensor.tril)
triu = of_method(Tensor.triu)
true_divide = of_method(Tensor.true_divide)
trunc = of_method(Tensor.trunc)
unbind = of_method(Tensor.unbind)
unflatten = of_method(Tensor.unflatten)
unique = of_method(Tensor.unique)
unsqueeze = of_method(Tensor.unsqueeze)
vander = of_method(Tensor.vander)
var = of_method(Tensor.var)
var_mean = of_method(Tensor.var_mean)
vdot = of_method(Tensor.vdot)
vsplit = of_method(Tensor.vsplit)
xlogy = of_method(Tensor.xlogy)
zeros_like = of_method(Tensor.zeros_like)

# ---- functions of the class ----------------------------------------------------------------------

arange = creation(Tensor.arange)
empty = creation(Tensor.empty)
eye = creation(Tensor.eye)
from_dlpack = Tensor.from_dlpack
full = creation(Tensor.full)
linspace = creation(Tensor.linspace)
logspace = creation(Tensor.logspace)
ones = creation(Tensor.ones)
rand = creation(Tensor.rand)
randn = creation(Tensor.randn)
randperm = creation(Tensor.randperm)
tril_indices = Tensor.tril_indices
triu_indices = Tensor.triu_indices
zeros = creation(Tensor.zeros)
einsum = Tensor.einsum
enable_grad = Tensor.enable_grad
manual_seed = Tensor.manual_seed
no_grad = Tensor.no_grad
inference_mode = Tensor.no_grad
is_grad_enabled = grad_enabled
row_stack = defined.vstack

# ---- constants and types -------------------------------------------------------------------------

Size = tuple
dtype = DType
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

# ---- dtypes --------------------------------------------------------------------------------------

bfloat16 = dtypes.bfloat16
bool = dtypes.bool
double = dtypes.double
float = dtypes.float
float16 = dtypes.float16
float32 = dtypes.float32
float64 = dtypes.float64
half = dtypes.half
int = dtypes.int
int16 = dtypes.int16
int32 = dtypes.int32
int64 = dtypes.int64
int8 = dtypes.int8
long = dtypes.long
short = dtypes.short
uint16 = dtypes.uint16
uint32 = dtypes.uint32
uint64 = dtypes.uint64
uint8 = dtypes.uint8
