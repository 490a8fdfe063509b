"""Functions at the level of `weft`, with PyTorch's names and order of arguments.

    weft.exp(x), weft.cat([x, y]), weft.zeros(2, 3), weft.randint(0, 10, (3,))

Most are methods of Tensor: the documentation is there. They are bound here by name.
`__init__.pyi`, which is generated from the tables, gives type checkers their signatures. Where
PyTorch's function takes its arguments otherwise than the method, it is defined in `defined.py`, or
is that of `weft.nn.functional`.
"""

# ruff: noqa: F403 - each module has its public names in __all__

from __future__ import annotations

from typing import Any

from weft.functions import (
    complex_numbers,
    constants,
    defaults,
    defined,
    elementwise,
    floating_point,
    integers,
    integration,
    matrices,
    min_max,
    pieces,
    signals,
    special_functions,
    statistics,
    windows,
)
from weft.functions.complex_numbers import *
from weft.functions.constants import *
from weft.functions.defaults import *
from weft.functions.defined import *
from weft.functions.elementwise import *
from weft.functions.floating_point import *
from weft.functions.integers import *
from weft.functions.integration import *
from weft.functions.matrices import *
from weft.functions.min_max import *
from weft.functions.pieces import *
from weft.functions.signals import *
from weft.functions.special_functions import *
from weft.functions.statistics import *
from weft.functions.windows import *
from weft.functions.wrappers import creation, of_method
from weft.nn import functional
from weft.tensor import Tensor

METHODS = """
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr all allclose amax amin
    aminmax angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort
    argwhere asin asinh atan atan2 atanh atleast_1d atleast_2d baddbmm bernoulli bincount
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
    broadcast_to bucketize cdist ceil cholesky chunk clamp clamp_max clamp_min clip clone conj
    copysign corrcoef cos cosh count_nonzero cov cross cumprod cumsum deg2rad det detach diag
    diagonal diff dist div divide dot dsplit eigh empty_like eq equal erf exp exp2 expm1 fix
    flatten flip fliplr flipud float_power floor floor_divide fmax fmin fmod frac full_like
    gather ge ger greater greater_equal gt heaviside histc hsplit hypot index_add index_copy
    index_fill index_put index_select inner inv inverse is_complex is_floating_point isclose
    isfinite isin isinf isnan isneginf isposinf kron kthvalue le lerp less less_equal log log10
    log1p log2 logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or
    logical_xor
    logit logsumexp lt masked_fill masked_scatter masked_select matmul matrix_power maximum mean
    median minimum mm moveaxis movedim mul multinomial multiply mv nan_to_num nanmean nanmedian
    nanquantile nansum narrow ne neg negative nonzero norm not_equal numel ones_like outer
    permute positive pow prod put qr quantile rad2deg rand_like randint_like randn_like ravel
    reciprocal remainder repeat_interleave reshape roll rot90 round rsqrt scatter scatter_add
    scatter_reduce searchsorted select select_scatter sgn sign signbit sin sinc sinh slogdet
    solve sort split split_with_sizes sqrt square squeeze std std_mean sub subtract sum svd
    swapaxes swapdims take take_along_dim tan tensor_split tensordot tile topk trace transpose
    tril triu true_divide trunc unbind unflatten unique unsqueeze vander var var_mean vdot
    vsplit xlogy zeros_like
""".split()
"""Methods of Tensor as functions."""

CREATION = """
    arange empty eye full linspace logspace ones rand randn randperm zeros
""".split()
"""Class methods of Tensor that make tensors: `size=`, `out=`."""

CLASS_METHODS = """
    einsum enable_grad from_dlpack manual_seed no_grad tril_indices triu_indices
""".split()
"""Other class methods of Tensor, as they are."""

NETWORKS = """
    celu conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity dropout hardshrink log_softmax pairwise_distance pixel_shuffle
    pixel_unshuffle prelu relu selu sigmoid softmax tanh threshold
""".split()
"""Functions of `weft.nn.functional`."""

FUNCTIONS: dict[str, Any] = {
    **{name: of_method(getattr(Tensor, name)) for name in METHODS},
    **{name: creation(getattr(Tensor, name)) for name in CREATION},
    **{name: getattr(Tensor, name) for name in CLASS_METHODS},
    **{name: getattr(functional, name) for name in NETWORKS},
}
globals().update(FUNCTIONS)

_others = [
    *complex_numbers.__all__,
    *constants.__all__,
    *defaults.__all__,
    *defined.__all__,
    *elementwise.__all__,
    *floating_point.__all__,
    *integers.__all__,
    *integration.__all__,
    *matrices.__all__,
    *min_max.__all__,
    *pieces.__all__,
    *signals.__all__,
    *special_functions.__all__,
    *statistics.__all__,
    *windows.__all__,
]
__all__ = sorted([*FUNCTIONS, *_others])  # pyright: ignore[reportUnsupportedDunderAll]
