"""Samples of operators that move elements, create tensors, or index them."""

from __future__ import annotations

import torch
from sample_table import sample

# ---- shapes
sample(
    "view",
    lambda g: (g.floats(2, 6), [3, -1]),
    lambda g: (g.floats(1), []),
    lambda g: (g.floats(0, 3), [3, 0]),
)
sample("permute", lambda g: (g.floats(2, 3, 4), [2, 0, 1]), lambda g: (g.floats(), []))
sample(
    "expand",
    lambda g: (g.floats(2, 1), [2, 5]),
    lambda g: (g.floats(3, 1), [2, -1, 4]),
    lambda g: (g.floats(), [2, 3]),
)
sample("unsqueeze", lambda g: (g.floats(2, 3), 1), lambda g: (g.floats(2, 3), -1))
sample(
    "squeeze.dim",
    lambda g: (g.floats(2, 1, 3), 1),
    lambda g: (g.floats(2, 1), 0),
    lambda g: (g.floats(), 0),
)
sample("squeeze.dims", lambda g: (g.floats(1, 2, 1), [0, 1, -1]))
sample(
    "slice.Tensor",
    lambda g: (g.floats(5, 3), 0, 1, 4),
    lambda g: (g.floats(2, 7), 1, -3, 9999),
    lambda g: (g.floats(2, 7), -1, 1, None, 2),
    lambda g: (g.floats(4), 0, 3, 1),
    lambda g: (g.floats(4),),
)
sample("select.int", lambda g: (g.floats(2, 3), 1, -1), lambda g: (g.floats(4), 0, 2))
sample(
    "split_with_sizes", lambda g: (g.floats(5, 2), [1, 4]), lambda g: (g.floats(2, 4), [2, 0, 2], 1)
)
sample(
    "cat",
    lambda g: ([g.floats(2, 3), g.floats(4, 3)],),
    lambda g: ([g.floats(2, 3), g.floats(2, 1)], -1),
    lambda g: ([g.floats(0), g.floats(2, 3)],),
    lambda g: ([g.floats(2), g.integers(3)],),
)
sample("flip", lambda g: (g.floats(2, 3), [0, 1]), lambda g: (g.floats(2, 3), []))
sample(
    "repeat",
    lambda g: (g.floats(2, 3), [2, 1]),
    lambda g: (g.floats(3), [2, 2, 1]),
    lambda g: (g.floats(), []),
)
sample("diagonal", lambda g: (g.floats(3, 4),), lambda g: (g.floats(2, 3, 4), -1, 1, 2))
sample(
    "as_strided",
    lambda g: (g.floats(12), [3, 2], [4, 1], 1),
    lambda g: (g.floats(3, 4), [2, 2], [1, 1]),
    lambda g: (g.floats(12), [3, 4], [4, 1]),
    lambda g: (g.floats(4, 3).t(), [2, 3], [5, 1], 1),
)
sample(
    "as_strided_scatter",
    lambda g: (g.floats(12), g.floats(3, 4), [3, 4], [4, 1], 0),
    lambda g: (g.floats(12), g.floats(2, 3), [2, 3], [5, 2], 1),
    lambda g: (g.floats(4, 3).t(), g.floats(2, 3), [2, 3], [5, 1], 1),
)
sample(
    "constant_pad_nd",
    lambda g: (g.floats(2, 3), [1, 2], 0.5),
    lambda g: (g.floats(2, 4), [-1, 1, 2, 0]),
    lambda g: (g.integers(3), [0, 2], 7),
)
sample("reflection_pad1d", lambda g: (g.floats(2, 5), [2, 1]))
sample("reflection_pad2d", lambda g: (g.floats(1, 2, 4, 5), [2, 1, 1, 3]))
sample("reflection_pad3d", lambda g: (g.floats(1, 2, 3, 4, 5), [1, 1, 2, 1, 1, 2]))
sample("replication_pad2d", lambda g: (g.floats(1, 2, 4, 5), [2, 1, 1, 3]))
sample("replication_pad3d", lambda g: (g.floats(1, 2, 3, 4, 5), [1, 1, 2, 1, 1, 2]))
sample(
    "col2im",
    lambda g: (g.floats(2, 8, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    lambda g: (g.floats(1, 18, 6), [5, 6], [3, 3], [1, 1], [1, 1], [2, 3]),
)
sample("sym_size.int", lambda g: (g.floats(2, 3), 1))
sample("sym_numel", lambda g: (g.floats(2, 3),))
sample("sym_stride.int", lambda g: (g.floats(2, 3), 0))
sample("sym_storage_offset", lambda g: (g.floats(2, 3),))

# ---- creation
sample(
    "full",
    lambda g: ([2, 3], 1.5),
    lambda g: ([2], 3),
    lambda g: (([2], True), {"dtype": torch.float32}),
)
sample(
    "full_like",
    lambda g: (g.floats(2, 3), 1.5),
    lambda g: ((g.floats(2), 2), {"dtype": torch.int64}),
)
sample("fill.Scalar", lambda g: (g.floats(2, 3), 1.5))
sample("scalar_tensor", lambda g: (1.5,), lambda g: ((2,), {"dtype": torch.int64}))
sample(
    "arange.start_step",
    lambda g: (0, 5),
    lambda g: (5, 0, -2),
    lambda g: (0.0, 1.0, 0.3),
    lambda g: ((1, 6, 2), {"dtype": torch.float32}),
)

# ---- indexing
sample(
    "index.Tensor",
    lambda g: (g.floats(4, 3), [g.integers(5, low=0, high=4)]),
    lambda g: (g.floats(4, 3), [None, g.integers(2, 2, low=-3, high=3)]),
    lambda g: (
        g.floats(4, 3, 5),
        [g.integers(2, low=0, high=4), None, g.integers(2, low=0, high=5)],
    ),
    lambda g: (g.floats(4, 3), [g.integers(2, 1, low=0, high=4), g.integers(3, low=0, high=3)]),
    lambda g: (g.floats(4, 3), [g.booleans(4)]),
)
sample(
    "index_put",
    lambda g: (g.floats(4, 3), [torch.tensor([0, 2])], g.floats(2, 3)),
    lambda g: (g.floats(4, 3), [torch.tensor([1, 1, 2])], g.floats(3), True),
    lambda g: (g.floats(4, 3), [None, torch.tensor([2, 0])], g.floats(4, 2)),
    lambda g: (g.floats(2, 4, 3), [None, torch.tensor([2, 0])], g.floats(2, 3), True),
    lambda g: (
        g.floats(4, 3, 5),
        [torch.tensor([0, 1]), None, torch.tensor([3, 4])],
        g.floats(2, 3),
    ),
    lambda g: (g.floats(4, 3), [g.booleans(4, 3)], g.floats()),
    lambda g: (g.floats(4, 3), [torch.tensor([0, 3]), torch.tensor([1, 2])], g.floats(2)),
)
sample(
    "index_select",
    lambda g: (g.floats(4, 3), 0, torch.tensor([2, 0])),
    lambda g: (g.floats(4, 3), -1, torch.tensor([1, 1, 2], dtype=torch.int32)),
)
sample(
    "gather",
    lambda g: (g.floats(4, 3), 0, g.integers(2, 3, low=0, high=4)),
    lambda g: (g.floats(4, 3), -1, g.integers(4, 2, low=0, high=3)),
)
sample("embedding", lambda g: (g.floats(5, 3), g.integers(2, 4, low=0, high=5)))
sample(
    "embedding_dense_backward",
    lambda g: (g.floats(2, 4, 3), g.integers(2, 4, low=0, high=5), 5, -1, False),
    lambda g: (g.floats(6, 3), g.integers(6, low=0, high=5), 5, 2, True),
)
sample(
    "scatter.src",
    lambda g: (g.floats(4, 3), 0, torch.tensor([[0, 1, 2], [3, 0, 1]]), g.floats(2, 3)),
)
sample("scatter.value", lambda g: (g.floats(4, 3), 1, torch.tensor([[0], [2]]), 9.0))
sample(
    "scatter_add",
    lambda g: (g.floats(4, 3), 0, torch.tensor([[0, 0, 2], [0, 0, 1]]), g.floats(2, 3)),
)
for _reduce in ("sum", "prod", "mean", "amax", "amin"):
    for _self in (True, False):
        sample(
            "scatter_reduce.two",
            lambda g, r=_reduce, s=_self: (
                (g.floats(4, 3), 0, torch.tensor([[0, 0, 2], [0, 0, 1]]), g.floats(2, 3), r),
                {"include_self": s},
            ),
        )
for _reduce in ("prod", "mean", "amax", "amin"):
    for _self in (True, False):
        sample(
            "index_reduce",
            lambda g, r=_reduce, s=_self: (
                (g.floats(4, 3), 1, torch.tensor([2, 0, 2, 0]), g.floats(4, 4), r),
                {"include_self": s},
            ),
        )
sample("select_scatter", lambda g: (g.floats(4, 3), g.floats(3), 0, -2))
sample(
    "slice_scatter",
    lambda g: (g.floats(4, 3), g.floats(2, 3), 0, 1, 3),
    lambda g: (g.floats(2, 6), g.floats(2, 3), 1, 0, 6, 2),
)
sample("masked_scatter", lambda g: (g.floats(2, 3), g.booleans(2, 3), g.floats(6)))
sample("nonzero", lambda g: (g.booleans(3, 4),))
sample("_local_scalar_dense", lambda g: (g.floats(1),), lambda g: (g.integers(),))
