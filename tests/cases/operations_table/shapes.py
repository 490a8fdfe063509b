"""What methods that move, join, reduce, index and sort are compared with, for the table of
operations: see `cases.operations_table.elementwise`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cases.operations_table.cells import Maker
from cases.operations_table.elementwise import check, method, numpy_function, quiet, single

# ---- movement ------------------------------------------------------------------------------------


def moves(
    name: str, ours: Callable[..., Any], theirs: Callable[..., Any], shape: Any = (3, 4),
    most: float = 0, **facts: Any,
) -> None:  # fmt: skip
    """A method that computes nothing: of numbers that are all different."""
    check(name, "Movement", ours, quiet(theirs), lambda m: [m.apart(*shape)], most=most, **facts)


def _windows(np: Any, x: Any) -> Any:
    seen = np.lib.stride_tricks.sliding_window_view(x, 2, -1)
    return seen[:, ::2]


moves("T", lambda x: x.T, lambda np, x: x.T)
moves("mT", lambda x: x.mT, lambda np, x: x.swapaxes(-1, -2), (2, 3, 4))
moves("cat", lambda x: x.cat(x, dim=1), lambda np, x: np.concatenate([x, x], 1))
moves("chunk", method("chunk", 2, 1), lambda np, x: np.split(x, 2, 1))
moves("diag", method("diag"), lambda np, x: np.diag(x), (4,))
moves("diagonal", method("diagonal"), lambda np, x: np.diagonal(x), (4, 4))
moves("expand", method("expand", 2, 3, 4), lambda np, x: np.broadcast_to(x, (2, 3, 4)))
moves("flatten", method("flatten"), lambda np, x: x.ravel())
moves("flip", method("flip", (0, 1)), lambda np, x: np.flip(x, (0, 1)))
moves("meshgrid", lambda x: x.meshgrid(x), lambda np, x: np.meshgrid(x, x, indexing="ij"), (4,))
moves("pad", method("pad", (1, 2), value=1), lambda np, x: np.pad(x, ((0, 0), (1, 2)),
      constant_values=1))  # fmt: skip
moves("permute", method("permute", 2, 0, 1), lambda np, x: x.transpose(2, 0, 1), (2, 3, 4))
moves("rearrange", method("rearrange", "a b -> (b a)"), lambda np, x: x.T.ravel())
moves("repeat", method("repeat", 2, 3), lambda np, x: np.tile(x, (2, 3)))
moves("repeat_interleave", method("repeat_interleave", 2, 0), lambda np, x: np.repeat(x, 2, 0))
moves("reshape", method("reshape", 2, 6), lambda np, x: x.reshape(2, 6))
moves("view", method("view", 2, 6), lambda np, x: x.reshape(2, 6))
moves("roll", method("roll", 2, 1), lambda np, x: np.roll(x, 2, 1))
moves("shrink", method("shrink", ((1, 3), (0, 2))), lambda np, x: x[1:3, :2])
moves("split", method("split", [1, 2]), lambda np, x: np.split(x, [1]))
moves("squeeze", method("squeeze"), lambda np, x: x.squeeze(), (3, 1, 4))
moves("stack", lambda x: x.stack(x, dim=1), lambda np, x: np.stack([x, x], 1))
moves("transpose", method("transpose", 0, 1), lambda np, x: x.T)
moves("tril", method("tril"), lambda np, x: np.tril(x))
moves("triu", method("triu"), lambda np, x: np.triu(x))
moves("unflatten", method("unflatten", 1, (2, 2)), lambda np, x: x.reshape(3, 2, 2))
moves("unfold", method("unfold", 1, 2, 2), _windows)
moves("unsqueeze", method("unsqueeze", 1), lambda np, x: x[:, None])
moves("contiguous", lambda x: x.T.contiguous(), lambda np, x: x.T)
moves("contiguous_backward", method("contiguous_backward"), lambda np, x: x)
moves("clone", method("clone"), lambda np, x: x)
moves("detach", method("detach"), lambda np, x: x)
moves("fuse", lambda x: x.T.fuse(), lambda np, x: x.T)
moves("realize", lambda x: x.flip(0).realize(), lambda np, x: x[::-1])
moves("kernelize", lambda x: x.flip(0).kernelize(), lambda np, x: x[::-1])
moves("assign", lambda x: x.clone().realize().assign(x.flip(0)), lambda np, x: x[::-1])
moves("replace", lambda x: x.clone().replace(x.flip(0)), lambda np, x: x[::-1])
moves("to", lambda x: x.to(x.device), lambda np, x: x)
moves("to_", lambda x: x.clone().to_(x.device), lambda np, x: x)
moves("numpy", lambda x: x.flip(0).numpy(), lambda np, x: x[::-1])
moves("sequential", lambda x: x.sequential([lambda y: y.flip(0)]), lambda np, x: x[::-1])

# ---- reductions ----------------------------------------------------------------------------------

REDUCES = "Reductions and scans"


def _calm(m: Maker) -> list[Any]:
    return [m.calm(5, 7)]


def _wide(np: Any, x: Any) -> Any:
    return x.astype(np.float64) if x.dtype == np.float16 else x


check("sum", REDUCES, method("sum", 1), lambda x: x.sum(1), _calm, result="sum", most=2, loose=True)
check("prod", REDUCES, method("prod", 1), quiet(lambda np, x: x.prod(1)), _calm, result="sum",
      most=8)  # fmt: skip
for _name in ("max", "min"):
    check(_name, REDUCES, method(_name, 1), quiet(lambda np, x, n=_name: getattr(np, n)(x, 1)),
          lambda m: [m.line()[None]], zeros=False)  # fmt: skip
for _name in ("any", "all"):
    check(_name, REDUCES, method(_name, 1), quiet(lambda np, x, n=_name: getattr(np, n)(x, 1)),
          lambda m: [m.grid(4, 3, low=-1, high=1)], result="bool")  # fmt: skip
check("mean", REDUCES, method("mean", 1), lambda x: x.mean(1), _calm, result="float", most=2,
      loose=True)  # fmt: skip
for _name in ("var", "std"):
    check(_name, REDUCES, method(_name, 1),
          quiet(lambda np, x, n=_name: getattr(single(x), n)(1, ddof=1)), _calm, result="float",
          most=8, loose=True)  # fmt: skip
for _name in ("var_mean", "std_mean"):
    check(_name, REDUCES, method(_name, 1),
          quiet(lambda np, x, n=_name[:3]: [getattr(single(x), n)(1, ddof=1), x.mean(1)]), _calm,
          result="float", most=8, loose=True)  # fmt: skip
for _name in ("argmax", "argmin"):
    check(_name, REDUCES, method(_name, 1), quiet(lambda np, x, n=_name: getattr(np, n)(x, 1)),
          lambda m: [m.grid(5, 9)], result="int32")  # fmt: skip
check("cumsum", REDUCES, method("cumsum", 1), quiet(lambda np, x: np.cumsum(x, 1)), _calm,
      result="sum", most=4, loose=True)  # fmt: skip
check("cumprod", REDUCES, method("cumprod", 1), quiet(lambda np, x: np.cumprod(x, 1)),
      _calm, most=8, result="sum")  # fmt: skip
check("cummax", REDUCES, method("cummax", 1), quiet(lambda np, x: np.maximum.accumulate(x, 1)),
      lambda m: [m.grid(4, 9)])  # fmt: skip


def _exponentials(np: Any, x: Any) -> Any:
    """exp of what the largest leaves, along the last axis; and log of their sums."""
    top = x.max(-1, keepdims=True)
    powers = np.exp(x - top)
    return powers, np.log(powers.sum(-1, keepdims=True)) + top


def _real(function: Callable[..., Any]) -> Callable[..., Any]:
    return quiet(lambda np, x: function(np, single(x)))


check("softmax", REDUCES, method("softmax"), _real(lambda np, x: (
    lambda p: p / p.sum(-1, keepdims=True))(_exponentials(np, x)[0])), _calm, result="float",
    most=4)  # fmt: skip
check("log_softmax", REDUCES, method("log_softmax"),
      _real(lambda np, x: x - _exponentials(np, x)[1]), _calm,
      result="float", most=4, loose=True)  # fmt: skip
check("logsumexp", REDUCES, method("logsumexp", 1),
      _real(lambda np, x: _exponentials(np, x)[1][:, 0]), _calm,
      result="float", most=4, loose=True)  # fmt: skip
check("logcumsumexp", REDUCES, method("logcumsumexp", 1),
      _real(lambda np, x: np.logaddexp.accumulate(x, 1)), _calm,
      result="float", most=4, loose=True)  # fmt: skip

# ---- indexing, sorting, sets ---------------------------------------------------------------------

INDEXING = "Indexing, sorting, sets"


def _table(m: Maker) -> list[Any]:
    return [m.apart(5, 4), m.places(5, 3, 4)]


def _scattered(reduce: str | None) -> Callable[..., Any]:
    def call(np: Any, x: Any, index: Any, source: Any) -> Any:
        x = x.copy()
        for at in np.ndindex(*index.shape):
            place = (index[at], at[1])
            if reduce is None:
                x[place] = source[at]
            elif reduce == "sum":
                x[place] += source[at]
        return x

    return quiet(call)


def _distinct(m: Maker) -> list[Any]:
    """Every place of a column is written once: the order of writes is undefined."""
    import numpy as np

    index = np.stack([m.random.permutation(5)[:3] for _ in range(4)], 1).astype("int32")
    return [m.apart(5, 4), index, m.calm(3, 4)]


def _order(np: Any, x: Any) -> Any:
    return np.argsort(x, -1, kind="stable")


def _largest(np: Any, x: Any, count: int) -> Any:
    at = np.argsort(-x.astype(np.longdouble), -1, kind="stable")[..., :count]
    return [np.take_along_axis(x, at, -1), at]


check("gather", INDEXING, lambda x, i: x.gather(0, i),
      quiet(lambda np, x, i: np.take_along_axis(x, i, 0)), _table)  # fmt: skip
check("scatter", INDEXING, lambda x, i, s: x.scatter(0, i, s), _scattered(None), _distinct)
check("scatter_reduce", INDEXING, lambda x, i, s: x.scatter_reduce(0, i, s, "sum"),
      _scattered("sum"), lambda m: [m.grid(5, 4), m.places(5, 3, 4), m.calm(3, 4)], most=2,
      loose=True)  # fmt: skip
check("masked_select", INDEXING, lambda x, c: x.masked_select(c), lambda x, c: x[c],
      lambda m: [m.apart(3, 4), m.truths(3, 4)])  # fmt: skip
check("nonzero", INDEXING, method("nonzero"), quiet(lambda np, x: np.argwhere(x)),
      lambda m: [m.grid(3, 4, low=-1, high=1)], result="int32")  # fmt: skip
check("one_hot", INDEXING, method("one_hot", 5), quiet(lambda np, x: np.eye(5)[x.astype(int)]),
      lambda m: [m.own([0, 1, 1, 0])], kinds="integer", result="int32")  # fmt: skip
check("sort", INDEXING, method("sort"), quiet(lambda np, x: [np.sort(x, -1), _order(np, x)]),
      lambda m: [m.grid(3, 9)], result=("same", "int32"))  # fmt: skip
check("argsort", INDEXING, method("argsort"), quiet(_order), lambda m: [m.grid(3, 9)],
      result="int32")  # fmt: skip
check("topk", INDEXING, method("topk", 3), quiet(lambda np, x: _largest(np, x, 3)),
      lambda m: [m.grid(3, 9)], result=("same", "int32"))  # fmt: skip
check("unique", INDEXING, method("unique"), quiet(lambda np, x: np.unique(x)),
      lambda m: [m.grid(12, low=-2, high=2)])  # fmt: skip
check("searchsorted", INDEXING, lambda x, v: x.searchsorted(v),
      quiet(lambda np, x, v: np.searchsorted(x, v)),
      lambda m: [_sorted(m), m.grid(9)], result="int32")  # fmt: skip
check("isin", INDEXING, lambda x, e: x.isin(e), numpy_function("isin"),
      lambda m: [m.grid(3, 4), m.grid(5)], result="bool")  # fmt: skip


def _sorted(m: Maker) -> Any:
    import numpy as np

    values = m.grid(7)
    return values[np.argsort(values.astype(np.float64))]
