"""Functions at the level of `weft`, with PyTorch's names and order of arguments.

    weft.exp(x), weft.cat([x, y]), weft.zeros(2, 3), weft.randint(0, 10, (3,))

Most are methods of Tensor: the documentation is there. They are bound here by name, so that type
checkers see their signatures. Where PyTorch's function takes its arguments otherwise than the
method, it is defined in `defined.py`, or is that of `weft.nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from weft.base.dtype import dtypes
from weft.functions.defined import (
    as_tensor,
    asarray,
    cartesian_prod,
    cat,
    column_stack,
    concat,
    concatenate,
    from_numpy,
    hstack,
    is_tensor,
    meshgrid,
    no_tensor,
    normal,
    randint,
    stack,
    t,
    tensor,
    vstack,
    where,
)
from weft.io.checkpoints import load, save
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
from weft.tensor.protocol import grad_enabled
from weft.tensor.rng import get_rng_state, set_rng_state

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "addbmm", "addcdiv", "addcmul", "addmm", "addmv",
    "addr", "all", "allclose", "amax", "amin", "aminmax", "any", "arange", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort",
    "argwhere", "as_tensor", "asarray", "asin", "asinh", "atan", "atan2", "atanh", "atleast_1d",
    "atleast_2d", "baddbmm", "bernoulli", "bfloat16", "bincount", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "bmm", "bool", "broadcast_to", "bucketize", "cartesian_prod", "cat", "cdist", "ceil",
    "celu", "cholesky", "chunk", "clamp", "clamp_max", "clamp_min", "clip", "clone",
    "column_stack", "concat", "concatenate", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "copysign", "corrcoef", "cos", "cosh",
    "cosine_similarity", "count_nonzero", "cov", "cross", "cummax", "cummin", "cumprod",
    "cumsum", "deg2rad", "det", "detach", "diag", "diagonal", "diff", "dist", "div", "divide",
    "dot", "double", "dropout", "eigh", "einsum", "empty", "empty_like", "enable_grad", "eq",
    "equal", "erf", "exp", "exp2", "expm1", "eye", "fix", "flatten", "flip", "fliplr", "flipud",
    "float", "float16", "float32", "float64", "float_power", "floor", "floor_divide", "fmax",
    "fmin", "fmod", "frac", "from_dlpack", "from_numpy", "full", "full_like", "gather", "ge",
    "get_rng_state", "greater", "greater_equal", "gt", "half", "hardshrink", "heaviside",
    "histc", "hstack", "hypot", "index_add", "index_copy", "index_fill", "index_put",
    "index_select", "inference_mode", "inner", "int", "int8", "int16", "int32", "int64", "inv",
    "is_floating_point", "is_grad_enabled", "is_tensor", "isclose", "isfinite", "isin", "isinf",
    "isnan", "isneginf", "isposinf", "kron", "kthvalue", "le", "lerp", "less", "less_equal",
    "linspace", "load", "log", "log1p", "log2", "log10", "log_softmax", "logaddexp",
    "logaddexp2", "logcumsumexp", "logdet", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logit", "logspace", "logsumexp", "long", "lt", "manual_seed", "masked_fill",
    "masked_scatter", "masked_select", "matmul", "matrix_power", "max", "maximum", "mean",
    "median", "meshgrid", "min", "minimum", "mm", "moveaxis", "movedim", "mul", "multinomial",
    "multiply", "mv", "nan_to_num", "nanmean", "nanmedian", "nanquantile", "nansum", "narrow",
    "ne", "neg", "negative", "no_grad", "nonzero", "norm", "normal", "not_equal", "numel",
    "ones", "ones_like", "outer", "pairwise_distance", "permute", "pixel_shuffle",
    "pixel_unshuffle", "positive", "pow", "prelu", "prod", "put", "qr", "quantile", "rad2deg",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "ravel",
    "reciprocal", "relu", "remainder", "repeat_interleave", "reshape", "roll", "rot90", "round",
    "rsqrt", "save", "scatter", "scatter_add", "scatter_reduce", "searchsorted", "select",
    "select_scatter", "selu", "set_rng_state", "short", "sigmoid", "sign", "signbit", "sin",
    "sinc", "sinh", "slogdet", "softmax", "solve", "sort", "split", "sqrt", "square", "squeeze",
    "stack", "std", "std_mean", "sub", "subtract", "sum", "svd", "swapaxes", "swapdims", "t",
    "take", "take_along_dim", "tan", "tanh", "tensor", "tensor_split", "tensordot", "threshold",
    "tile", "topk", "trace", "transpose", "tril", "tril_indices", "triu", "triu_indices",
    "true_divide", "trunc", "uint8", "uint16", "uint32", "uint64", "unbind", "unflatten",
    "unique", "unsqueeze", "vander", "var", "var_mean", "vdot", "vstack", "where", "xlogy",
    "zeros", "zeros_like",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _function(method: _Function) -> _Function:
    """A method of Tensor as a function, whose first argument may be given as `input`."""

    @wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not args and "input" in kwargs:
            args = (kwargs.pop("input"),)
        if not args or not isinstance(args[0], Tensor):
            raise no_tensor(method.__name__, args)
        return method(*args, **kwargs)

    return function  # type: ignore[return-value]


# ---- methods of Tensor ---------------------------------------------------------------------------

abs = _function(Tensor.abs)
absolute = _function(Tensor.abs)
acos = _function(Tensor.acos)
acosh = _function(Tensor.acosh)
add = _function(Tensor.add)
addbmm = _function(Tensor.addbmm)
addcdiv = _function(Tensor.addcdiv)
addcmul = _function(Tensor.addcmul)
addmm = _function(Tensor.addmm)
addmv = _function(Tensor.addmv)
addr = _function(Tensor.addr)
all = _function(Tensor.all)
allclose = _function(Tensor.allclose)
amax = _function(Tensor.amax)
amin = _function(Tensor.amin)
aminmax = _function(Tensor.aminmax)
any = _function(Tensor.any)
arccos = _function(Tensor.acos)
arccosh = _function(Tensor.acosh)
arcsin = _function(Tensor.asin)
arcsinh = _function(Tensor.asinh)
arctan = _function(Tensor.atan)
arctan2 = _function(Tensor.arctan2)
arctanh = _function(Tensor.atanh)
argmax = _function(Tensor.argmax)
argmin = _function(Tensor.argmin)
argsort = _function(Tensor.argsort)
argwhere = _function(Tensor.argwhere)
asin = _function(Tensor.asin)
asinh = _function(Tensor.asinh)
atan = _function(Tensor.atan)
atan2 = _function(Tensor.atan2)
atanh = _function(Tensor.atanh)
atleast_1d = _function(Tensor.atleast_1d)
atleast_2d = _function(Tensor.atleast_2d)
baddbmm = _function(Tensor.baddbmm)
bernoulli = _function(Tensor.bernoulli)
bincount = _function(Tensor.bincount)
bitwise_and = _function(Tensor.bitwise_and)
bitwise_left_shift = _function(Tensor.lshift)
bitwise_not = _function(Tensor.bitwise_not)
bitwise_or = _function(Tensor.bitwise_or)
bitwise_right_shift = _function(Tensor.rshift)
bitwise_xor = _function(Tensor.bitwise_xor)
bmm = _function(Tensor.bmm)
broadcast_to = _function(Tensor.broadcast_to)
bucketize = _function(Tensor.bucketize)
cdist = _function(Tensor.cdist)
ceil = _function(Tensor.ceil)
cholesky = _function(Tensor.cholesky)
chunk = _function(Tensor.chunk)
clamp = _function(Tensor.clamp)
clamp_max = _function(Tensor.clamp_max)
clamp_min = _function(Tensor.clamp_min)
clip = _function(Tensor.clip)
clone = _function(Tensor.clone)
copysign = _function(Tensor.copysign)
corrcoef = _function(Tensor.corrcoef)
cos = _function(Tensor.cos)
cosh = _function(Tensor.cosh)
count_nonzero = _function(Tensor.count_nonzero)
cov = _function(Tensor.cov)
cross = _function(Tensor.cross)
cummax = _function(Tensor.cummax)
cummin = _function(Tensor.cummin)
cumprod = _function(Tensor.cumprod)
cumsum = _function(Tensor.cumsum)
deg2rad = _function(Tensor.deg2rad)
det = _function(Tensor.det)
detach = _function(Tensor.detach)
diag = _function(Tensor.diag)
diagonal = _function(Tensor.diagonal)
diff = _function(Tensor.diff)
dist = _function(Tensor.dist)
div = _function(Tensor.div)
divide = _function(Tensor.divide)
dot = _function(Tensor.dot)
eigh = _function(Tensor.eigh)
empty_like = _function(Tensor.empty_like)
eq = _function(Tensor.eq)
equal = _function(Tensor.equal)
erf = _function(Tensor.erf)
exp = _function(Tensor.exp)
exp2 = _function(Tensor.exp2)
expm1 = _function(Tensor.expm1)
fix = _function(Tensor.trunc)
flatten = _function(Tensor.flatten)
flip = _function(Tensor.flip)
fliplr = _function(Tensor.fliplr)
flipud = _function(Tensor.flipud)
float_power = _function(Tensor.float_power)
floor = _function(Tensor.floor)
floor_divide = _function(Tensor.floor_divide)
fmax = _function(Tensor.fmax)
fmin = _function(Tensor.fmin)
fmod = _function(Tensor.fmod)
frac = _function(Tensor.frac)
full_like = _function(Tensor.full_like)
gather = _function(Tensor.gather)
ge = _function(Tensor.ge)
greater = _function(Tensor.greater)
greater_equal = _function(Tensor.greater_equal)
gt = _function(Tensor.gt)
heaviside = _function(Tensor.heaviside)
histc = _function(Tensor.histc)
hypot = _function(Tensor.hypot)
index_add = _function(Tensor.index_add)
index_copy = _function(Tensor.index_copy)
index_fill = _function(Tensor.index_fill)
index_put = _function(Tensor.index_put)
index_select = _function(Tensor.index_select)
inner = _function(Tensor.inner)
inv = _function(Tensor.inv)
is_floating_point = _function(Tensor.is_floating_point)
isclose = _function(Tensor.isclose)
isfinite = _function(Tensor.isfinite)
isin = _function(Tensor.isin)
isinf = _function(Tensor.isinf)
isnan = _function(Tensor.isnan)
isneginf = _function(Tensor.isneginf)
isposinf = _function(Tensor.isposinf)
kron = _function(Tensor.kron)
kthvalue = _function(Tensor.kthvalue)
le = _function(Tensor.le)
lerp = _function(Tensor.lerp)
less = _function(Tensor.less)
less_equal = _function(Tensor.less_equal)
log = _function(Tensor.log)
log10 = _function(Tensor.log10)
log1p = _function(Tensor.log1p)
log2 = _function(Tensor.log2)
logaddexp = _function(Tensor.logaddexp)
logaddexp2 = _function(Tensor.logaddexp2)
logcumsumexp = _function(Tensor.logcumsumexp)
logdet = _function(Tensor.logdet)
logical_and = _function(Tensor.logical_and)
logical_not = _function(Tensor.logical_not)
logical_or = _function(Tensor.logical_or)
logical_xor = _function(Tensor.logical_xor)
logit = _function(Tensor.logit)
logsumexp = _function(Tensor.logsumexp)
lt = _function(Tensor.lt)
masked_fill = _function(Tensor.masked_fill)
masked_scatter = _function(Tensor.masked_scatter)
masked_select = _function(Tensor.masked_select)
matmul = _function(Tensor.matmul)
matrix_power = _function(Tensor.matrix_power)
max = _function(Tensor.max)
maximum = _function(Tensor.maximum)
mean = _function(Tensor.mean)
median = _function(Tensor.median)
min = _function(Tensor.min)
minimum = _function(Tensor.minimum)
mm = _function(Tensor.mm)
moveaxis = _function(Tensor.moveaxis)
movedim = _function(Tensor.movedim)
mul = _function(Tensor.mul)
multinomial = _function(Tensor.multinomial)
multiply = _function(Tensor.multiply)
mv = _function(Tensor.mv)
nan_to_num = _function(Tensor.nan_to_num)
nanmean = _function(Tensor.nanmean)
nanmedian = _function(Tensor.nanmedian)
nanquantile = _function(Tensor.nanquantile)
nansum = _function(Tensor.nansum)
narrow = _function(Tensor.narrow)
ne = _function(Tensor.ne)
neg = _function(Tensor.neg)
negative = _function(Tensor.negative)
nonzero = _function(Tensor.nonzero)
norm = _function(Tensor.norm)
not_equal = _function(Tensor.not_equal)
numel = _function(Tensor.numel)
ones_like = _function(Tensor.ones_like)
outer = _function(Tensor.outer)
permute = _function(Tensor.permute)
positive = _function(Tensor.positive)
pow = _function(Tensor.pow)
prod = _function(Tensor.prod)
put = _function(Tensor.put)
qr = _function(Tensor.qr)
quantile = _function(Tensor.quantile)
rad2deg = _function(Tensor.rad2deg)
rand_like = _function(Tensor.rand_like)
randint_like = _function(Tensor.randint_like)
randn_like = _function(Tensor.randn_like)
ravel = _function(Tensor.ravel)
reciprocal = _function(Tensor.reciprocal)
remainder = _function(Tensor.remainder)
repeat_interleave = _function(Tensor.repeat_interleave)
reshape = _function(Tensor.reshape)
roll = _function(Tensor.roll)
rot90 = _function(Tensor.rot90)
round = _function(Tensor.round)
rsqrt = _function(Tensor.rsqrt)
scatter = _function(Tensor.scatter)
scatter_add = _function(Tensor.scatter_add)
scatter_reduce = _function(Tensor.scatter_reduce)
searchsorted = _function(Tensor.searchsorted)
select = _function(Tensor.select)
select_scatter = _function(Tensor.select_scatter)
sign = _function(Tensor.sign)
signbit = _function(Tensor.signbit)
sin = _function(Tensor.sin)
sinc = _function(Tensor.sinc)
sinh = _function(Tensor.sinh)
slogdet = _function(Tensor.slogdet)
solve = _function(Tensor.solve)
sort = _function(Tensor.sort)
split = _function(Tensor.split)
sqrt = _function(Tensor.sqrt)
square = _function(Tensor.square)
squeeze = _function(Tensor.squeeze)
std = _function(Tensor.std)
std_mean = _function(Tensor.std_mean)
sub = _function(Tensor.sub)
subtract = _function(Tensor.subtract)
sum = _function(Tensor.sum)
svd = _function(Tensor.svd)
swapaxes = _function(Tensor.swapaxes)
swapdims = _function(Tensor.swapdims)
take = _function(Tensor.take)
take_along_dim = _function(Tensor.take_along_dim)
tan = _function(Tensor.tan)
tensor_split = _function(Tensor.tensor_split)
tensordot = _function(Tensor.tensordot)
tile = _function(Tensor.tile)
topk = _function(Tensor.topk)
trace = _function(Tensor.trace)
transpose = _function(Tensor.transpose)
tril = _function(Tensor.tril)
triu = _function(Tensor.triu)
true_divide = _function(Tensor.true_divide)
trunc = _function(Tensor.trunc)
unbind = _function(Tensor.unbind)
unflatten = _function(Tensor.unflatten)
unique = _function(Tensor.unique)
unsqueeze = _function(Tensor.unsqueeze)
vander = _function(Tensor.vander)
var = _function(Tensor.var)
var_mean = _function(Tensor.var_mean)
vdot = _function(Tensor.vdot)
xlogy = _function(Tensor.xlogy)
zeros_like = _function(Tensor.zeros_like)

# ---- functions of the class ----------------------------------------------------------------------

arange = Tensor.arange
empty = Tensor.empty
eye = Tensor.eye
from_dlpack = Tensor.from_dlpack
full = Tensor.full
linspace = Tensor.linspace
logspace = Tensor.logspace
ones = Tensor.ones
rand = Tensor.rand
randn = Tensor.randn
randperm = Tensor.randperm
tril_indices = Tensor.tril_indices
triu_indices = Tensor.triu_indices
zeros = Tensor.zeros
einsum = Tensor.einsum
enable_grad = Tensor.enable_grad
manual_seed = Tensor.manual_seed
no_grad = Tensor.no_grad
inference_mode = Tensor.no_grad
is_grad_enabled = grad_enabled

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
