"""Samples of operators of networks: products, convolutions, pools, norms, attention."""

from __future__ import annotations

import torch
from sample_table import sample

# ---- matrices, convolutions, pools
sample("mm", lambda g: (g.floats(2, 3), g.floats(3, 4)), lambda g: (g.floats(0, 3), g.floats(3, 4)))
sample("bmm", lambda g: (g.floats(2, 2, 3), g.floats(2, 3, 4)))
sample(
    "addmm",
    lambda g: (g.floats(4), g.floats(2, 3), g.floats(3, 4)),
    lambda g: ((g.floats(2, 4), g.floats(2, 3), g.floats(3, 4)), {"beta": 0.5, "alpha": 2}),
)


def _convolution(g, x, w, bias, stride, padding, dilation, transposed=False, more=(0,), groups=1):
    return (
        g.floats(*x),
        g.floats(*w),
        g.floats(bias) if bias else None,
        list(stride),
        list(padding),
        list(dilation),
        transposed,
        list(more),
        groups,
    )


_CONVOLUTIONS = (
    ((2, 3, 8), (4, 3, 3), 4, (1,), (1,), (1,)),
    ((2, 4, 6, 7), (6, 4, 3, 3), 6, (2, 1), (1, 0), (1, 1)),
    ((1, 4, 7, 7), (8, 1, 3, 3), 0, (1, 1), (1, 1), (2, 2), False, (0, 0), 4),
    ((1, 2, 4, 4, 4), (3, 2, 2, 2, 2), 3, (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    ((2, 3, 4, 4), (3, 2, 3, 3), 2, (2, 2), (1, 1), (1, 1), True, (1, 1)),
)
for _case in _CONVOLUTIONS:
    sample("convolution", lambda g, c=_case: _convolution(g, *c))


def _convolution_backward(g, *case):
    x, w, bias, *rest = _convolution(g, *case)
    y = torch.ops.aten.convolution(x, w, bias, *rest)
    sizes = None if bias is None else list(bias.shape)
    return (g.floats(*y.shape), x, w, sizes, *rest, [True, True, bias is not None])


for _case in _CONVOLUTIONS:
    sample("convolution_backward", lambda g, c=_case: _convolution_backward(g, *c))
_POOLS = (([2, 2],), ([3, 2], [2, 1], [1, 0]), ([3, 3], [2, 2], [1, 1], True))
for _case in _POOLS:
    sample("avg_pool2d", lambda g, c=_case: (g.floats(1, 2, 7, 6), *c))
sample(
    "avg_pool2d",
    lambda g: (g.floats(2, 7, 6), [3, 3], [2, 2], [1, 1], True, False),
    lambda g: (g.floats(1, 2, 7, 6), [3, 3], [2, 2], [1, 1], True, True, 5),
)
sample("avg_pool1d", lambda g: (g.floats(1, 2, 7), [3], [2], [1], True, False))
sample("adaptive_avg_pool1d", lambda g: (g.floats(1, 2, 7), [3]))
sample("avg_pool3d", lambda g: (g.floats(1, 2, 5, 4, 6), [2, 2, 2]))
sample(
    "avg_pool2d_backward",
    lambda g: (
        g.floats(1, 2, 3, 3),
        g.floats(1, 2, 6, 6),
        [2, 2],
        [2, 2],
        [0, 0],
        False,
        True,
        None,
    ),
    lambda g: (
        g.floats(1, 2, 4, 4),
        g.floats(1, 2, 7, 7),
        [3, 3],
        [2, 2],
        [1, 1],
        False,
        False,
        None,
    ),
)
for _size in ([1, 1], [2, 3], [3, 2]):
    sample("_adaptive_avg_pool2d", lambda g, s=_size: (g.floats(1, 2, 6, 6), s))
    sample(
        "_adaptive_avg_pool2d_backward",
        lambda g, s=_size: (g.floats(1, 2, *s), g.floats(1, 2, 6, 7)),
    )
sample("_adaptive_avg_pool3d", lambda g: (g.floats(1, 2, 4, 6, 5), [2, 3, 2]))
sample(
    "adaptive_max_pool2d",
    lambda g: (g.distinct(2, 3, 7, 5), [3, 2]),
    lambda g: (g.distinct(3, 4, 6), [4, 1]),
    lambda g: (g.distinct(1, 2, 3, 3), [5, 4]),
)
sample("adaptive_max_pool3d", lambda g: (g.distinct(2, 3, 4, 5, 6), [2, 3, 4]))


def _adaptive_maxima(g, axes, size):
    x = g.distinct(2, 3, 7, 5, 4)[(slice(None),) * (axes + 2) + (0,) * (3 - axes)]
    pool = getattr(torch.ops.aten, f"adaptive_max_pool{axes}d")
    values, indices = pool(x, size)
    return g.floats(*values.shape), x, indices


sample("adaptive_max_pool2d_backward", lambda g: _adaptive_maxima(g, 2, [3, 2]))
sample("adaptive_max_pool3d_backward", lambda g: _adaptive_maxima(g, 3, [3, 2, 3]))
sample(
    "max_pool2d_with_indices",
    lambda g: (g.distinct(1, 2, 7, 6), [3, 2], [2, 1], [1, 0]),
    lambda g: (g.distinct(2, 7, 6), [2, 2]),
    lambda g: (g.distinct(1, 1, 7, 7), [2, 2], [2, 2], [0, 0], [2, 2], True),
)
sample("max_pool3d_with_indices", lambda g: (g.distinct(1, 2, 4, 4, 5), [2, 2, 2]))


def _max_pool_backward(g, *window):
    x = g.distinct(1, 2, 7, 6)
    y, indices = torch.ops.aten.max_pool2d_with_indices(x, *window)
    return (g.floats(*y.shape), x, *window, indices)


sample(
    "max_pool2d_with_indices_backward",
    lambda g: _max_pool_backward(g, [3, 3], [2, 2], [1, 1], [1, 1], False),
)

# ---- normalization
_WEIGHT = (lambda g, n: (g.floats(n), g.floats(n)), lambda g, n: (None, None))
for _affine in _WEIGHT:
    sample("native_layer_norm", lambda g, a=_affine: (g.floats(2, 3, 4), [4], *a(g, 4), 1e-5))
    sample(
        "native_group_norm", lambda g, a=_affine: (g.floats(2, 6, 5), *a(g, 6), 2, 6, 5, 3, 1e-5)
    )
    sample(
        "_native_batch_norm_legit_no_training",
        lambda g, a=_affine: (
            g.floats(2, 3, 4),
            *a(g, 3),
            g.floats(3),
            g.floats(3, low=0.5),
            0.1,
            1e-5,
        ),
    )
    sample(
        "_native_batch_norm_legit.no_stats",
        lambda g, a=_affine: (g.floats(2, 3, 4), *a(g, 3), True, 0.1, 1e-5),
    )
    sample(
        "_native_batch_norm_legit_functional",
        lambda g, a=_affine: (
            g.floats(4, 3, 4),
            *a(g, 3),
            g.floats(3),
            g.floats(3, low=0.5),
            True,
            0.1,
            1e-5,
        ),
    )


def _layer_norm_backward(g, has_weight):
    x, weight, bias = g.floats(2, 3, 4), g.floats(4), g.floats(4)
    if not has_weight:
        weight = bias = None
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, [4], weight, bias, 1e-5)
    mask = [True, has_weight, has_weight]
    return (g.floats(2, 3, 4), x, [4], mean, rstd, weight, bias, mask)


def _group_norm_backward(g, has_weight):
    x, weight, bias = g.floats(2, 6, 5), g.floats(6), g.floats(6)
    if not has_weight:
        weight = bias = None
    _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, bias, 2, 6, 5, 3, 1e-5)
    mask = [True, has_weight, has_weight]
    return (g.floats(2, 6, 5), x, mean, rstd, weight, 2, 6, 5, 3, mask)


for _has_weight in (True, False):
    sample("native_layer_norm_backward", lambda g, w=_has_weight: _layer_norm_backward(g, w))
    sample("native_group_norm_backward", lambda g, w=_has_weight: _group_norm_backward(g, w))
sample(
    "_fused_rms_norm",
    lambda g: (g.floats(2, 3, 4), [4], g.floats(4), 1e-6),
    lambda g: (g.floats(2, 3, 4), [4], None, None),
)


def _weight_norm(g, dim):
    v = g.floats(4, 3, 2)
    return v, g.floats(*(size if axis == dim else 1 for axis, size in enumerate(v.shape)))


def _weight_norm_backward(g, dim):
    v, size = _weight_norm(g, dim)
    norms = torch.ops.aten._weight_norm_interface(v, size, dim)[1]
    return g.floats(*v.shape), v, size, norms, dim


for _dim in (0, 2):
    sample("_weight_norm_interface", lambda g, d=_dim: (*_weight_norm(g, d), d))
    sample("_weight_norm_interface_backward", lambda g, d=_dim: _weight_norm_backward(g, d))
for _training in (True, False):
    sample(
        "rrelu_with_noise_backward",
        lambda g, t=_training: (
            g.floats(2, 3), g.floats(2, 3), g.floats(2, 3), 0.125, 0.25, t, False,
        ),
    )  # fmt: skip

# ---- attention
sample(
    "_scaled_dot_product_flash_attention_for_cpu",
    lambda g: (g.floats(2, 2, 5, 4), g.floats(2, 2, 7, 4), g.floats(2, 2, 7, 4)),
    lambda g: (g.floats(1, 2, 5, 4), g.floats(1, 2, 5, 4), g.floats(1, 2, 5, 4), 0.0, True),
    lambda g: (
        (g.floats(1, 2, 5, 4), g.floats(1, 2, 5, 4), g.floats(1, 2, 5, 4)),
        {"attn_mask": g.floats(1, 2, 5, 5), "scale": 0.3},
    ),
)


def _attention_backward(g, is_causal):
    q, k, v = (g.floats(1, 2, 5, 4) for _ in range(3))
    out, total = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, is_causal)
    return (g.floats(1, 2, 5, 4), q, k, v, out, total, 0.0, is_causal)


sample(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    lambda g: _attention_backward(g, False),
    lambda g: _attention_backward(g, True),
)
sample("native_dropout", lambda g: (g.floats(2, 3), 0.5, False))

# ---- products of three
sample(
    "_trilinear",
    lambda g: (g.floats(3, 4), g.floats(2, 4, 5), g.floats(3, 5), [1, 3], [0], [1, 2], [2, 3]),
    lambda g: (g.floats(2, 3), g.floats(2, 3), g.floats(2, 3), [], [], [], []),
)
