"""What the methods that people know from NumPy and PyTorch are compared with, for the table of
operations: `compared` makes the same call of PyTorch, `alias` is another name of a method.

    compared("mm", two_matrices, family=PRODUCTS, loose=True, most=4)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from cases.operations_table.cells import Maker
from cases.operations_table.elementwise import (
    CHECKS,
    FUNCTIONAL,
    as_torch,
    check,
    method,
    one,
    quiet,
    single,
    two,
)
from cases.operations_table.networks import ALGEBRA, CREATION, LOSSES, PRODUCTS, RANDOM, lawful
from cases.operations_table.shapes import INDEXING, REDUCES
from weft.base.dtype import dtypes
from weft.tensor import Tensor

ARITHMETIC, CHOICE, MOVEMENT = "Arithmetic", "Comparison and choice", "Movement"


def compared(
    name: str, inputs: Any, *rest: Any, theirs: Any = None, call: Any = None,
    family: str = MOVEMENT, named: dict[str, Any] | None = None, **facts: Any,
) -> None:  # fmt: skip
    """A method compared with PyTorch's, of `torch.nn.functional`, `torch`, `torch.Tensor` or
    `torch.linalg` by its name or that of `theirs`, or what `theirs` makes of torch and tensors.

    What PyTorch has for floats alone is asked of it in float64, which holds these integers."""
    facts = {"against": "PyTorch", **facts}
    real = facts.get("result") == "float"

    def reference(*arrays: Any) -> Any:
        import torch

        tensors = [as_torch(single(a) if real else a) for a in arrays]
        try:
            return _arrays(asked(torch, tensors))
        except (RuntimeError, NotImplementedError):
            own = arrays[0].dtype
            wide = [t.double() if t.dtype != torch.int32 or own == t.numpy().dtype else t
                    for t in tensors]  # fmt: skip
            return _arrays(asked(torch, wide))

    def asked(torch: Any, tensors: list[Any]) -> Any:
        if callable(theirs):
            return theirs(torch, *tensors)
        word = theirs or name
        rooms = (torch.nn.functional, torch, torch.Tensor, torch.linalg)
        function = next(getattr(room, word) for room in rooms if hasattr(room, word))
        return function(*tensors, *rest, **(named or {}))

    check(name, family, call or method(name, *rest, **(named or {})), reference, inputs, **facts)


def _arrays(found: Any) -> Any:
    return [f.numpy() for f in found] if isinstance(found, (tuple, list)) else found.numpy()


def alias(name: str, of: str, *rest: Any, call: Any = None, **facts: Any) -> None:
    """Another name of a method: compared as that is."""
    made = call or method(name, *rest)
    CHECKS[name] = dataclasses.replace(CHECKS[of], name=name, call=made, **facts)


def written(name: str, of: str, **facts: Any) -> None:
    """A method that writes what another computes."""
    alias(name, of, call=lambda x, *others: getattr(x.clone().realize(), name)(*others), **facts)


# ---- other names ---------------------------------------------------------------------------------

for _name, _of in {
    "divide": "div", "true_divide": "div", "multiply": "mul", "subtract": "sub", "negative": "neg",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
    "remainder": "mod", "ravel": "flatten", "argwhere": "nonzero",
}.items():  # fmt: skip
    alias(_name, _of)
alias("concat", "cat", call=lambda x: x.concat(x, dim=1))
alias("concatenate", "cat", call=lambda x: x.concatenate(x, dim=1))
alias("swapaxes", "transpose", 0, 1)
alias("swapdims", "transpose", 0, 1)
alias("permute_dims", "permute", 2, 0, 1)
alias("broadcast_to", "expand", 2, 3, 4)
alias("expand_dims", "unsqueeze", 1)
alias("tile", "repeat", 2, 3)
alias("amax", "max", 1)
alias("amin", "min", 1)
alias("binary_cross_entropy", "binary_crossentropy")
written("add_", "add")
written("sub_", "sub")
written("mul_", "mul")
written("div_", "div", kinds="float", result="same")


def _sinc(np: Any, x: Any) -> Any:
    """NumPy's, but half rotations are removed before the multiplication by pi."""
    pi = 4 * np.arctan(x.dtype.type(1))
    whole = np.rint(x)
    value = np.sin(pi * (x - whole)) / (pi * np.where(x == 0, 1, x))
    return np.where(x == 0, 1, np.where(whole % 2 == 0, value, -value))


# ---- arithmetic ----------------------------------------------------------------------------------


def _pairs(m: Maker) -> Sequence[Any]:
    return m.pairs()


def _line(m: Maker) -> Sequence[Any]:
    return [m.line()]


def _calm_pair(m: Maker) -> Sequence[Any]:
    return [m.calm(40), m.calm(40)]


def _divisible(m: Maker) -> Sequence[Any]:
    """By nothing that is 0."""
    return [m.calm(40), m.calm(40) if m.dtype is not dtypes.bool else m.own([1] * 40)]


def _three(m: Maker) -> Sequence[Any]:
    return [m.calm(20), m.calm(20), m.calm(20)]


def arithmetic(name: str, inputs: Any, *rest: Any, **facts: Any) -> None:
    """Element by element, compared with PyTorch."""
    compared(name, inputs, *rest, **{"family": ARITHMETIC, **facts})


for _name in ("fmax", "fmin"):
    two(_name, zeros=False)
arithmetic("fmod", _divisible, result="number", zeros=False)
arithmetic("floor_divide", _divisible, result="number", zeros=False)
arithmetic("divmod", _divisible, result="number", zeros=False, theirs=lambda torch, a, b: (
    torch.floor_divide(a, b), torch.remainder(a, b)))  # fmt: skip
for _name in ("atan2", "arctan2", "hypot", "xlogy"):
    arithmetic(_name, _calm_pair, result="float", most=8, zeros=False)
for _name in ("logaddexp", "logaddexp2"):
    arithmetic(_name, _calm_pair, result="float", most=8, loose=True)
arithmetic("float_power", _calm_pair, result="double", most=4)
arithmetic("heaviside", _calm_pair)
arithmetic("addcmul", _three, result="number", most=4, loose=True)
arithmetic("addcdiv", _three, result="float", most=4, loose=True)
for _name in ("deg2rad", "rad2deg"):
    arithmetic(_name, lambda m: [m.calm(40)], result="float", most=2)
arithmetic("frac", lambda m: [m.calm(40)], zeros=False, kinds="number")
one("positive", family=ARITHMETIC, kinds="number", result="same")
one("signbit", quiet(lambda np, x: np.signbit(x) if x.dtype.kind == "f" else x < 0),
    family=ARITHMETIC, result="bool")  # fmt: skip
for _name in ("isneginf", "isposinf"):
    arithmetic(_name, _line, result="bool", family=CHOICE)
for _name in ("logical_and", "logical_or", "logical_xor"):
    arithmetic(_name, _pairs, result="bool", family=CHOICE)
one("clamp_max", quiet(lambda np, x: np.minimum(x, x.dtype.type(1))), family=CHOICE,
    result="number", call=method("clamp_max", 1))  # fmt: skip
one("clamp_min", quiet(lambda np, x: np.maximum(x, x.dtype.type(0))), family=CHOICE,
    result="number", zeros=False, call=method("clamp_min", 0))  # fmt: skip
alias("clamp_", "clamp", call=lambda x: x.clone().realize().clamp_(0, 1), kinds="number")
arithmetic("nan_to_num", lambda m: [m.own([1, 0, 2]) if not dtypes.is_float(m.dtype) else m.own(
           [1, float("nan"), 2])], family=CHOICE)  # fmt: skip
arithmetic("threshold", _line, 0.5, 0.25, family=FUNCTIONAL, result="float", zeros=False)
one("sinc", quiet(lambda np, x: _sinc(np, x)), lambda m: [m.calm(40)], most=16, zeros=False)
arithmetic("logit", lambda m: [m.own(m.random.uniform(0.1, 0.9, 20))], result="float", most=32,
           loose=True, family="Functions")  # fmt: skip
for _name in ("hardshrink", "softshrink", "tanhshrink"):
    _result = "number" if _name == "hardshrink" else "float"
    arithmetic(_name, lambda m: [m.calm(40)], family=FUNCTIONAL, result=_result, most=32,
               zeros=False)  # fmt: skip
arithmetic("prelu", lambda m: [m.calm(2, 3), m.calm(1)], family=FUNCTIONAL, most=2)
arithmetic("glu", lambda m: [m.calm(3, 4)], family=FUNCTIONAL, result="float", most=4)
arithmetic("softmin", lambda m: [m.calm(3, 4)], call=method("softmin"), family=REDUCES,
           result="float", most=4, theirs=lambda torch, x: torch.softmax(-x, -1))  # fmt: skip


def answers_bool(name: str, reference: Any, inputs: Any = _calm_pair) -> None:
    """A method that answers a Python bool."""
    check(name, CHOICE, lambda *x: Tensor([getattr(x[0], name)(*x[1:])]),
          quiet(lambda np, *x: np.array([reference(np, *x)])), inputs, result="bool")  # fmt: skip


answers_bool("allclose", lambda np, a, b: np.allclose(a.astype(float), b.astype(float)))
answers_bool("equal", lambda np, a, b: np.array_equal(a, b))

# ---- movement ------------------------------------------------------------------------------------


def _matrix(m: Maker) -> Sequence[Any]:
    return [m.apart(3, 4)]


compared("atleast_1d", lambda m: [m.own([1])[0:1].reshape(())])
compared("atleast_2d", lambda m: [m.apart(4)])
compared("cartesian_prod", lambda m: [m.apart(3), m.apart(2)])
for _name in ("column_stack", "hstack", "vstack"):
    compared(_name, lambda m: [m.apart(3, 2), m.apart(3, 2)],
           theirs=lambda torch, a, b, n=_name: getattr(torch, n)((a, b)))  # fmt: skip
compared("diff", _matrix, kinds="any", theirs=lambda torch, x: torch.diff(x))
compared("expand_as", lambda m: [m.apart(1, 4), m.apart(3, 4)])
compared("fliplr", _matrix)
compared("flipud", _matrix)
for _name in ("moveaxis", "movedim"):
    compared(_name, lambda m: [m.apart(2, 3, 4)], 0, 2)
compared("narrow", _matrix, 1, 1, 2)
compared("pixel_shuffle", lambda m: [m.apart(1, 4, 2, 2)], 2)
compared("pixel_unshuffle", lambda m: [m.apart(1, 1, 4, 4)], 2)
for _name in ("reshape_as", "view_as"):
    compared(_name, lambda m: [m.apart(3, 4), m.apart(2, 6)])
compared("rot90", _matrix, 1, (0, 1))
compared("select", _matrix, 1, 2)
compared("select_scatter", lambda m: [m.apart(3, 4), m.apart(3)], 1, 2)
compared("tensor_split", _matrix, 3, 1)
compared("unbind", _matrix, 1)
compared("unstack", _matrix, theirs="unbind", named={})
compared("type_as", lambda m: [m.places(5, 4), m.apart(4)])
compared("copy_", lambda m: [m.apart(3, 4), m.apart(3, 4)], call=lambda x, y: x.clone().copy_(y),
       theirs=lambda torch, x, y: y)  # fmt: skip
compared("fill_", _matrix, call=lambda x: x.clone().fill_(1), theirs=lambda torch, x:
       torch.ones_like(x))  # fmt: skip
compared("zero_", _matrix, call=lambda x: x.clone().zero_(), theirs=lambda torch, x:
       torch.zeros_like(x))  # fmt: skip

# ---- reductions ----------------------------------------------------------------------------------


def reduces(name: str, inputs: Any, *rest: Any, **facts: Any) -> None:
    """A reduction, compared with PyTorch."""
    compared(name, inputs, *rest, **{"family": REDUCES, "most": 8, "loose": True, **facts})


def _grid(m: Maker) -> Sequence[Any]:
    return [m.grid(3, 7)]


def _distinct(m: Maker) -> Sequence[Any]:
    return [m.apart(3, 7)]


reduces("aminmax", _grid, named={"dim": 1})
reduces("cummin", _grid, 1, theirs=lambda torch, x: torch.cummin(x, 1)[0])
reduces("count_nonzero", _grid, 1, result="int64")
reduces("nansum", _grid, 1, result="sum")
reduces("nanmean", _grid, 1, result="float")
for _name in ("median", "nanmedian"):
    reduces(_name, _distinct, 1, result=("same", "int32"))
for _name in ("quantile", "nanquantile"):
    reduces(_name, _grid, 0.3, 1, kinds="float")
reduces("kthvalue", _distinct, call=lambda x: x.kthvalue(3, 1)[0], family=INDEXING,
        theirs=lambda torch, x: torch.kthvalue(x, 3, 1)[0])  # fmt: skip
reduces("norm", _grid, 2, 1, result="float")
reduces("normalize", _grid, result="float", named={"dim": 1})
reduces("dist", _calm_pair, result="float")
reduces("trace", lambda m: [m.grid(4, 4)], result="sum")
reduces("cov", _grid, result="float", named={})
reduces("corrcoef", _grid, result="float")
reduces("cosine_similarity", lambda m: [m.calm(3, 4), m.calm(3, 4)], result="float")
reduces("pairwise_distance", lambda m: [m.calm(3, 4), m.calm(3, 4)], result="float")
reduces("cdist", lambda m: [m.calm(3, 4), m.calm(2, 4)], result="float")
reduces("histc", lambda m: [m.grid(20, low=0, high=4)], 4, 0, 4, kinds="number",
        result="counts")  # fmt: skip
reduces("bincount", lambda m: [m.grid(12, low=0, high=5)], kinds="integer", result="int64",
        family=INDEXING)  # fmt: skip

# ---- indexing ------------------------------------------------------------------------------------


def indexes(name: str, inputs: Any, *rest: Any, **facts: Any) -> None:
    """Indexed reads and writes, compared with PyTorch, whose indices have 64 bits."""
    theirs = facts.pop("theirs")
    compared(name, inputs, *rest, theirs=theirs, **{"family": INDEXING, **facts})


def _rows(m: Maker) -> Sequence[Any]:
    return [m.apart(5, 4), m.random.permutation(5)[:3].astype("int32")]


def _rows_and_source(m: Maker) -> Sequence[Any]:
    return [*_rows(m), m.calm(3, 4)]


indexes("index_select", _rows, call=lambda x, i: x.index_select(0, i),
        theirs=lambda torch, x, i: x.index_select(0, i.long()))  # fmt: skip
indexes("index_copy", _rows_and_source, call=lambda x, i, s: x.index_copy(0, i, s),
        theirs=lambda torch, x, i, s: x.index_copy(0, i.long(), s))  # fmt: skip
indexes("index_add", _rows_and_source, call=lambda x, i, s: x.index_add(0, i, s), most=2,
        loose=True, theirs=lambda torch, x, i, s: x.index_add(0, i.long(), s))  # fmt: skip
indexes("index_fill", _rows, call=lambda x, i: x.index_fill(0, i, 1),
        theirs=lambda torch, x, i: x.index_fill(0, i.long(), 1))  # fmt: skip
indexes("index_put", lambda m: [m.apart(5, 4), m.random.permutation(5)[:3].astype("int32"),
        m.calm(3, 4)], call=lambda x, i, s: x.index_put((i,), s),
        theirs=lambda torch, x, i, s: x.index_put((i.long(),), s))  # fmt: skip
indexes("take", lambda m: [m.apart(3, 4), m.places(12, 5)], call=lambda x, i: x.take(i),
        theirs=lambda torch, x, i: x.take(i.long()))  # fmt: skip
indexes("put", lambda m: [m.apart(3, 4), m.random.permutation(12)[:5].astype("int32"), m.calm(5)],
        call=lambda x, i, s: x.put(i, s),
        theirs=lambda torch, x, i, s: x.put(i.long(), s))  # fmt: skip
for _name in ("take_along_dim", "take_along_axis"):
    alias(_name, "gather", call=lambda x, i, n=_name: getattr(x, n)(i, 0))
alias("scatter_add", "scatter_reduce", call=lambda x, i, s: x.scatter_add(0, i, s))
indexes("masked_scatter", lambda m: [m.apart(3, 4), m.truths(3, 4), m.calm(12)],
        theirs=lambda torch, x, c, s: x.masked_scatter(c, s))  # fmt: skip
alias("bucketize", "searchsorted", call=lambda edges, v: v.bucketize(edges))

# ---- products ------------------------------------------------------------------------------------


def products(name: str, inputs: Any, *rest: Any, **facts: Any) -> None:
    """Sums of products, compared with PyTorch."""
    compared(name, inputs, *rest, **{"family": PRODUCTS, "most": 8, "loose": True, **facts})


def shapes(*given: Sequence[int]) -> Callable[[Maker], Sequence[Any]]:
    """Calm inputs of these shapes."""
    return lambda m: [m.calm(*shape) for shape in given]


products("mm", shapes((3, 5), (5, 4)))
products("mv", shapes((3, 5), (5,)))
products("bmm", shapes((2, 3, 5), (2, 5, 4)))
products("outer", shapes((3,), (4,)))
products("inner", shapes((3, 5), (4, 5)))
products("vdot", shapes((5,), (5,)))
products("vecdot", shapes((3, 5), (3, 5)), theirs=lambda torch, a, b: (a * b).sum(-1))
products("kron", shapes((2, 2), (2, 3)))
products("cross", shapes((4, 3), (4, 3)), theirs=lambda torch, a, b: torch.linalg.cross(a, b),
         kinds="number")  # fmt: skip
products("tensordot", shapes((3, 5), (5, 4)), 1)
products("addmm", shapes((3, 4), (3, 5), (5, 4)))
products("addmv", shapes((3,), (3, 5), (5,)))
products("addr", shapes((3, 4), (3,), (4,)))
products("addbmm", shapes((3, 4), (2, 3, 5), (2, 5, 4)))
products("baddbmm", shapes((2, 3, 4), (2, 3, 5), (2, 5, 4)))
products("matrix_power", shapes((3, 3)), 3, family=ALGEBRA)
products("vander", shapes((4,)), theirs=lambda torch, x: torch.vander(x), family=ALGEBRA)
products("adaptive_avg_pool2d", shapes((1, 2, 6, 6)), 3, result="float")
products("adaptive_max_pool2d", shapes((1, 2, 6, 6)), 3)

# ---- losses --------------------------------------------------------------------------------------


def losses(name: str, inputs: Any, **facts: Any) -> None:
    """A loss, compared with PyTorch."""
    compared(name, inputs, **{"family": LOSSES, "most": 16, "loose": True, "result": "float",
           **facts})  # fmt: skip


def _signs(m: Maker) -> Sequence[Any]:
    values = m.calm(3, 4)
    return [values, m.own(m.random.choice([1] if m.dtype.min == 0 else [-1, 1], (3, 4)))]


for _name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "poisson_nll_loss"):
    losses(_name, shapes((3, 4), (3, 4)))
losses("kl_div", lambda m: [m.calm(3, 4), m.positive(3, 4)], theirs=lambda torch, x, y:
       torch.nn.functional.kl_div(x, y, reduction="mean"))  # fmt: skip
losses("soft_margin_loss", _signs)
losses("hinge_embedding_loss", _signs)
losses("gaussian_nll_loss", lambda m: [m.calm(3, 4), m.calm(3, 4), m.positive(3, 4)])
losses("margin_ranking_loss", lambda m: [m.calm(4), m.calm(4), m.own([1, 1, 1, 1])])
losses("cosine_embedding_loss", lambda m: [m.calm(2, 4), m.calm(2, 4), m.own([1, 1])], most=512)
losses("triplet_margin_loss", shapes((3, 4), (3, 4), (3, 4)))

# ---- creation and random numbers -----------------------------------------------------------------

for _name in ("tril_indices", "triu_indices"):
    check(_name, CREATION, lambda n=_name, **at: getattr(Tensor, n)(3, 4, **at),
          lambda dtype, n=_name: _indices(n, dtype), lambda m: [], creates=True)  # fmt: skip


def _indices(name: str, dtype: Any) -> Any:
    import numpy as np

    return np.array(getattr(np, name)(3, 0, 4)).astype(dtype)


lawful("normal_", lambda **at: Tensor.zeros(80, **at).contiguous().normal_(2.0, 0.5),
       lambda x: 1.7 < x.mean() < 2.3 and 0.3 < x.std() < 1, kinds="float")  # fmt: skip
lawful("uniform_", lambda **at: Tensor.zeros(50, **at).contiguous().uniform_(1.0, 3.0),
       lambda x: ((x >= 1) & (x <= 3)).all())  # fmt: skip
_ = RANDOM
