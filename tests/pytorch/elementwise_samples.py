"""Samples of elementwise operators, activations and reductions."""

from __future__ import annotations

import math

import torch
from sample_table import sample

FLOATS = (torch.float32, torch.float64)
INTEGERS = (torch.int64, torch.int32)
SHAPES = ((2, 3), (4,), (), (0, 3), (2, 1, 5))
INF = math.inf


def _unary(name, low=-3.0, high=3.0, kinds=FLOATS, extra=()):
    for shape in SHAPES:
        for kind in kinds:
            sample(name, lambda g, s=shape, k=kind: (g.floats(*s, dtype=k, low=low, high=high),))
    for value in extra:
        sample(name, lambda g, v=value: (torch.tensor(v),))


for _name in ("abs", "ceil", "floor", "trunc", "round", "sign", "neg", "relu"):
    _unary(_name, extra=([-2, 0, 3],) if _name != "round" else ([0.5, 1.5, -2.5],))
for _name in ("asin", "acos", "atanh"):
    _unary(_name, -0.95, 0.95)
for _name in (
    "asinh",
    "atan",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "sigmoid",
    "sin",
    "sinh",
    "tan",
    "tanh",
):
    _unary(_name, -1.4, 1.4, extra=([-1, 0, 1],))
for _name in ("log", "log10", "log2", "log1p", "rsqrt", "sqrt", "reciprocal"):
    _unary(_name, 0.1, 4.0, extra=([1, 2],))
_unary("acosh", 1.1, 4.0)
for _name in ("isinf", "isnan"):
    _unary(_name, extra=([1.0, INF, -INF, math.nan], [1, 2]))
for _name in ("logical_not", "bitwise_not"):
    sample(_name, lambda g: (g.booleans(2, 3),), lambda g: (g.integers(2, 3),))

_PAIRS = (
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((2, 3), ()),
    ((), ()),
    ((0, 3), (3,)),
)


def _binary(name, scalar, low=-3.0, kinds=FLOATS, whole=True):
    for first, second in _PAIRS:
        for kind in kinds:
            sample(
                f"{name}.Tensor" if name not in ("maximum", "minimum", "atan2") else name,
                lambda g, a=first, b=second, k=kind: (
                    g.floats(*a, dtype=k, low=low),
                    g.floats(*b, dtype=k, low=low),
                ),
            )
    full = f"{name}.Tensor" if name not in ("maximum", "minimum", "atan2") else name
    if whole:
        sample(
            full,
            lambda g: (g.integers(2, 3), g.integers(3, low=1)),
            lambda g: (g.integers(2, 3), g.floats(3, low=0.5)),
            lambda g: (g.integers(2, 3, dtype=torch.int32), g.integers(3, low=1)),
            lambda g: (g.floats(2, 3), g.integers(low=1)),
        )
    if scalar:
        sample(
            f"{name}.Scalar",
            lambda g: (g.floats(2, 3, low=low), 2),
            lambda g: (g.floats(2, 3, low=low, dtype=torch.float64), 1.5),
        )
        if whole:
            sample(
                f"{name}.Scalar", lambda g: (g.integers(2, 3), 3), lambda g: (g.integers(2, 3), 1.5)
            )


for _name in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod"):
    _binary(_name, True)
for _name in ("div", "true_divide"):
    _binary(_name, True, 0.5)
for _name in ("maximum", "minimum"):
    _binary(_name, False)
_binary("atan2", False, whole=False)
for _name in ("add", "sub"):
    sample(f"{_name}.Tensor", lambda g: ((g.floats(2, 3), g.floats(3)), {"alpha": 2.5}))
    sample(f"{_name}.Scalar", lambda g: (g.floats(2, 3), 2.0, 3))
for _mode in ("floor", "trunc", None):
    sample(
        "div.Tensor_mode",
        lambda g, m=_mode: ((g.floats(2, 3), g.floats(3, low=0.5)), {"rounding_mode": m}),
        lambda g, m=_mode: ((g.integers(2, 3), g.integers(3, low=1)), {"rounding_mode": m}),
    )
    sample(
        "div.Scalar_mode",
        lambda g, m=_mode: ((g.floats(2, 3), 0.7), {"rounding_mode": m}),
        lambda g, m=_mode: ((g.integers(2, 3), 3), {"rounding_mode": m}),
    )
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    sample(
        f"{_name}.Tensor",
        lambda g: (g.integers(2, 3), g.integers(3)),
        lambda g: (g.booleans(2, 3), g.booleans(3)),
    )
    sample(f"{_name}.Scalar", lambda g: (g.integers(2, 3), 5), lambda g: (g.booleans(3), True))
for _name in ("logical_and", "logical_or", "logical_xor"):
    sample(
        _name,
        lambda g: (g.integers(2, 3), g.integers(3)),
        lambda g: (g.booleans(2, 3), g.floats(3).round()),
    )
sample(
    "pow.Tensor_Tensor",
    lambda g: (g.floats(2, 3, low=0.2), g.floats(3)),
    lambda g: (g.integers(2, 3), g.integers(3, low=0, high=4)),
)
sample(
    "pow.Tensor_Scalar",
    lambda g: (g.floats(2, 3), 2),
    lambda g: (g.floats(2, 3), 3),
    lambda g: (g.floats(2, 3, low=0.1), 0.5),
    lambda g: (g.integers(2, 3), 3),
    lambda g: (g.floats(2, 3, low=0.1), -1.5),
    lambda g: (g.floats(2, 3), 0),
)
sample("pow.Scalar", lambda g: (2.5, g.floats(2, 3)), lambda g: (2, g.integers(3, low=0)))
sample(
    "clamp",
    lambda g: (g.floats(2, 3), -1, 1),
    lambda g: (g.floats(2, 3), None, 0.5),
    lambda g: (g.integers(2, 3), -2, None),
)
sample(
    "clamp.Tensor",
    lambda g: (g.floats(2, 3), g.floats(3, high=0.0), g.floats(3, low=0.0)),
    lambda g: (g.floats(2, 3), None, g.floats(3)),
)
sample(
    "where.self",
    lambda g: (g.booleans(2, 3), g.floats(2, 3), g.floats(3)),
    lambda g: (g.booleans(2, 1), g.integers(3), g.integers()),
    lambda g: (g.booleans(2, 3), g.floats(2, 3), g.integers(3)),
)
sample("alias", lambda g: (g.floats(2, 3),))
sample("clone", lambda g: (g.floats(2, 3),))
sample("copy", lambda g: (g.floats(2, 3), g.integers(3)))
for _kind in (torch.int64, torch.bool, torch.float64, torch.float16, torch.bfloat16, torch.int8):
    sample(
        "_to_copy",
        lambda g, k=_kind: ((g.floats(2, 3),), {"dtype": k}),
        lambda g, k=_kind: ((g.integers(2, 3),), {"dtype": k}),
    )

# ---- activations
sample("elu", lambda g: (g.floats(2, 3),), lambda g: (g.floats(2, 3), 0.5, 2.0, 1.5))
sample("gelu", lambda g: (g.floats(2, 3),), lambda g: ((g.floats(2, 3),), {"approximate": "tanh"}))
sample("hardtanh", lambda g: (g.floats(2, 3),), lambda g: (g.floats(2, 3), 0.0, 2.0))
sample("leaky_relu", lambda g: (g.floats(2, 3),), lambda g: (g.floats(2, 3), 0.2))
for _name in ("_softmax", "_log_softmax"):
    sample(
        _name,
        lambda g: (g.floats(2, 3), 1, False),
        lambda g: (g.floats(2, 3, 4), -2, False),
        lambda g: (g.floats(), 0, False),
    )

# ---- reductions
for _name in ("amax", "amin"):
    sample(
        _name,
        lambda g: (g.floats(2, 3),),
        lambda g: (g.floats(2, 3, 4), [0, 2]),
        lambda g: (g.integers(2, 3), [-1], True),
        lambda g: (g.floats(), []),
    )
sample("any", lambda g: (g.booleans(2, 3),), lambda g: (g.floats(2, 3),))
sample("any.dim", lambda g: (g.booleans(2, 3), 1), lambda g: (g.booleans(2, 3), 0, True))
sample("any.dims", lambda g: (g.booleans(2, 3, 4), [0, 2]), lambda g: (g.booleans(2, 3),))
for _name in ("argmax", "argmin"):
    sample(
        _name,
        lambda g: (g.floats(2, 3),),
        lambda g: (g.floats(2, 3), 1),
        lambda g: (g.floats(2, 3), 0, True),
        lambda g: (g.floats(2, 3), None, True),
    )
for _name in ("max.dim", "min.dim"):
    sample(_name, lambda g: (g.floats(2, 3), 1), lambda g: (g.integers(2, 3), 0, True))
sample(
    "sum.dim_IntList",
    lambda g: (g.floats(2, 3, 4), [0, 2]),
    lambda g: (g.floats(2, 3), None),
    lambda g: (g.integers(2, 3), [1], True),
    lambda g: (g.booleans(2, 3), [0]),
    lambda g: ((g.floats(2, 3), []), {"dtype": torch.float64}),
    lambda g: (g.floats(0, 3), [0]),
)
sample(
    "mean", lambda g: (g.floats(2, 3),), lambda g: ((g.integers(2, 3),), {"dtype": torch.float32})
)
sample("mean.dim", lambda g: (g.floats(2, 3, 4), [0, 2]), lambda g: (g.floats(2, 3), [1], True))
sample("prod", lambda g: (g.floats(2, 3),), lambda g: (g.integers(2, 3),))
sample("prod.dim_int", lambda g: (g.floats(2, 3), 1), lambda g: (g.integers(2, 3), 0, True))
sample("var.dim", lambda g: (g.floats(2, 3), [1]), lambda g: (g.floats(2, 3), None, False, True))
sample(
    "var.correction",
    lambda g: (g.floats(2, 3),),
    lambda g: ((g.floats(2, 3, 4), [0, 2]), {"correction": 0, "keepdim": True}),
)
sample(
    "cumsum",
    lambda g: (g.floats(2, 3), 1),
    lambda g: (g.integers(2, 3), 0),
    lambda g: ((g.floats(2, 3), -1), {"dtype": torch.float64}),
    lambda g: (g.floats(), 0),
)
sample("sort", lambda g: (g.distinct(2, 3),), lambda g: (g.distinct(4, 3), 0, True))
sample("topk", lambda g: (g.distinct(2, 5), 3), lambda g: (g.distinct(5, 2), 2, 0, False))
sample(
    "_cdist_forward",
    lambda g: (g.floats(3, 4), g.floats(2, 4), 2.0, None),
    lambda g: (g.floats(2, 3, 4), g.floats(2, 5, 4), 1.0, None),
)


def _cdist_backward(g, power, first, second):
    distances = torch.ops.aten._cdist_forward(first, second, power, None)
    return g.floats(*distances.shape), first, second, power, distances


for _power in (1.0, 2.0, 3.0, float("inf")):
    sample(
        "_cdist_backward",
        lambda g, p=_power: _cdist_backward(g, p, g.floats(3, 4), g.floats(2, 4)),
        lambda g, p=_power: _cdist_backward(g, p, g.floats(2, 3, 4), g.floats(2, 5, 4)),
    )
sample("_cdist_backward", lambda g: _cdist_backward(g, 2.0, *[g.floats(3, 4)] * 2))
sample(
    "_pdist_forward",
    lambda g: (g.floats(4, 3), 2.0),
    lambda g: (g.floats(4, 3), 1.0),
    lambda g: (g.floats(4, 3), INF),
)

# ---- order statistics, prefix extremes, norms
sample("kthvalue", lambda g: (g.distinct(3, 5), 2), lambda g: (g.distinct(3, 5), 3, 0, True),
       lambda g: (g.floats(), 1))  # fmt: skip
for _name in ("median", "nanmedian"):
    sample(_name, lambda g: (g.floats(3, 4),), lambda g: (g.floats(),))
    sample(f"{_name}.dim", lambda g: (g.distinct(3, 4), 1), lambda g: (g.distinct(3, 5), 0, True))
for _name in ("cummax", "cummin"):
    sample(
        _name,
        lambda g: (g.integers(3, 6), 1),
        lambda g: (g.floats(4, 3, dtype=torch.float64), -2),
        lambda g: (torch.tensor([1.0, float("nan"), 3.0, 0.0]), 0),
        lambda g: (g.floats(), 0),
    )
sample("logcumsumexp", lambda g: (g.floats(3, 4), 1), lambda g: (g.floats(), 0))
sample(
    "linalg_vector_norm",
    lambda g: (g.floats(3, 4),),
    lambda g: (g.floats(3, 4), 1, [0], True),
    lambda g: (g.floats(3, 4), 3.5, [1]),
    lambda g: (g.floats(3, 4), float("inf")),
    lambda g: ((g.floats(3, 4), float("-inf"), [-1]), {"dtype": torch.float64}),
    lambda g: (g.integers(3, 4).float(), 0, [1]),
    lambda g: (g.floats(), 0),
)
for _name in ("fmax", "fmin"):
    sample(
        _name,
        lambda g: (g.floats(2, 3), g.floats(3)),
        lambda g: (torch.tensor([1.0, float("nan")]), torch.tensor([float("nan"), 2.0])),
    )
sample("signbit", lambda g: (torch.tensor([-1.0, -0.0, 0.0, 2.0]),), lambda g: (g.integers(4),))
sample(
    "searchsorted.Tensor",
    lambda g: (torch.tensor([1.0, 3.0, 3.0, 5.0]), g.integers(2, 3).float()),
    lambda g: ((torch.tensor([1, 3, 3, 5]), g.integers(4)), {"right": True}),
    lambda g: ((torch.tensor([1, 3]), g.integers(4)), {"side": "right", "out_int32": True}),
)
sample(
    "bucketize.Tensor",
    lambda g: (g.integers(2, 3), torch.tensor([-2, 0, 3])),
    lambda g: ((g.floats(5), torch.tensor([-1.0, 1.0])), {"right": True, "out_int32": True}),
)
