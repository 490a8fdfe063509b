"""Cases compared with PyTorch: methods that have PyTorch's names and parameters."""

from __future__ import annotations

from typing import Any

from cases.torch_cases import FLOATS, INTS, Case, Cases, Input, family

_KINDS = (*FLOATS, *INTS, "bool")
_WIDE = ("float32", "float64")


def _there(name: str) -> Any:
    """PyTorch's function of that name, from any of its modules."""

    def call(*inputs: Any, **arguments: Any) -> Any:
        import torch

        for room in (torch, torch.nn.functional, torch.Tensor):
            if hasattr(room, name):
                return getattr(room, name)(*inputs, **arguments)
        raise AttributeError(name)

    return call


def _pair(c: Cases, kind: str, values: str = "any") -> list[Input]:
    whole = c.shape()
    other = tuple(1 if c.chance(0.25) else s for s in whole)[c.integer(0, len(whole)) :]
    shapes = (whole, other) if c.chance() else (other, whole)
    return [c.array(shape, kind, values) for shape in shapes]


def _integers(c: Cases, shape: Any, low: int, high: int) -> Input:
    return c.array(shape, "int64", low=low, high=high, plain=True)


# ---- element by element --------------------------------------------------------------------------


@family("hypot", "atan2", "logaddexp", "logaddexp2", "xlogy", "fmax", "fmin", "fmod", "heaviside")
def two_numbers(c: Cases, name: str) -> Case:
    """Functions of two numbers. At 0 and infinity derivatives of compositions are undefined."""
    # at a tie PyTorch's fmax gives all of the gradient to one of the two: short floats often tie
    kind = c.choice(FLOATS if name == "xlogy" else _WIDE)
    values = c.choice(["calm", "any"])
    if name == "fmod":
        values = "calm"
    if name == "heaviside":
        values = "finite"
    inputs = _pair(c, kind, values)
    differentiable = values == "calm" and name not in ("fmod", "heaviside")
    return c.case(name, inputs, {}, _there(name), differentiable=differentiable, loose=True)


@family(
    "sinc",
    "deg2rad",
    "rad2deg",
    "frac",
    "positive",
    "tanhshrink",
    "signbit",
    "isposinf",
    "isneginf",
)
def one_number(c: Cases, name: str) -> Case:
    """Functions of one number."""
    x = c.array(kind=_WIDE if name in ("sinc", "tanhshrink") else FLOATS, values="finite")
    # PyTorch sees the sign of a NaN
    return c.case(name, [x], {}, _there(name), differentiable=name[:2] not in ("si", "is"))


@family("logit", "nan_to_num", "hardshrink", "softshrink", "threshold", "softmin", "clamp_min")
def with_parameters(c: Cases, name: str) -> Case:
    """Functions of one number with parameters."""
    if name == "logit":
        x = c.array(kind=_WIDE, values="positive")
        x = Input((x.array / 2.5).astype(x.kind), x.kind, "plain")
        return c.case(name, [x], {"eps": c.choice([None, 0.2])}, _there(name), second=False)
    if name == "nan_to_num":
        arguments = {"nan": c.choice([0.0, 1.5]), "posinf": c.choice([None, 2.0])}
        return c.case(name, [c.array(kind=_WIDE)], arguments, _there(name))
    x = c.array(kind=_WIDE, values="finite" if name != "clamp_min" else "any")
    if name == "softmin":
        x = c.array(c.shape(1), _WIDE, "finite")
        theirs = lambda x, axis: _there("softmin")(x, dim=axis)  # noqa: E731
        return c.case(name, [x], {"axis": c.axis(x)}, theirs)
    if name == "threshold":
        return c.case(name, [x], {"threshold": 0.25, "value": -2.0}, _there(name))
    if name == "clamp_min":
        return c.case(name, [x], {"min": 0.3}, _there(name))
    return c.case(name, [x], {"lambd": c.choice([0.5, 1.25])}, _there(name))


@family("logical_and", "logical_or", "logical_xor", "float_power", "addcmul", "addcdiv", "glu")
def more_operands(c: Cases, name: str) -> Case:
    """Functions of several operands."""
    if name.startswith("logical"):
        shape = c.shape()
        return c.case(name, [c.array(shape, _KINDS), c.array(shape, _KINDS)], {}, _there(name))
    if name == "float_power":
        inputs = [c.array(values="positive", kind=_WIDE)]
        return c.case(name, inputs, {"exponent": c.choice([2, 0.5, -1])}, _there(name))
    if name == "glu":
        x = c.array(c.shape(1, 3, (2, 4)), _WIDE, "finite")
        return c.case(name, [x], {"dim": c.axis(x)}, _there(name))
    kind = c.choice(_WIDE)
    inputs = [*_pair(c, kind, "calm"), c.array((), kind, "calm")]
    return c.case(name, inputs, {"value": c.choice([1, 0.5, -2])}, _there(name), named=1)


@family("prelu")
def leaky(c: Cases) -> Case:
    """One weight, or one for each channel."""
    x = c.array(c.shape(2, 4), "float32", "calm")
    weight = c.array((c.choice([1, x.shape[1]]),), "float32", "positive", plain=True)
    return c.case("prelu", [x, weight], {}, _there("prelu"), second=False)


# ---- shapes --------------------------------------------------------------------------------------


@family("movedim", "swapaxes", "ravel", "fliplr", "flipud", "rot90", "tile", "atleast_2d")
def moved(c: Cases, name: str) -> Case:
    """Axes in another order."""
    x = c.array(c.shape(2 if name in ("fliplr", "rot90", "swapaxes") else 1), _KINDS)
    if name == "movedim":
        if c.chance():
            arguments = {"source": c.axis(x), "destination": c.axis(x)}
        else:
            count = c.integer(1, x.ndim)
            axes = [tuple(c.pick.sample(range(x.ndim), count)) for _ in range(2)]
            arguments = {"source": axes[0], "destination": axes[1]}
        return c.case(name, [x], arguments, _there(name))
    if name == "swapaxes":
        arguments = {"dim0": c.axis(x), "dim1": c.axis(x)}
        return c.case(name, [x], arguments, lambda x, dim0, dim1: x.transpose(dim0, dim1))
    if name == "rot90":
        arguments = {"k": c.integer(-3, 5), "dims": c.choice([(0, 1), (1, 0), (-1, 0)])}
        return c.case(name, [x], arguments, _there(name))
    if name == "tile":
        times = tuple(c.integer(0, 3) for _ in range(c.integer(1, 4)))
        return c.case(name, [x], {"repeats": times}, lambda x, repeats: x.tile(repeats))
    return c.case(name, [x], {}, _there(name))


@family("hstack", "vstack", "column_stack", "tensor_split", "narrow", "select", "unbind")
def joined(c: Cases, name: str) -> Case:
    """Joined and cut."""
    if name.endswith("stack"):
        shape, kind = c.shape(0, 3), c.choice(FLOATS)
        inputs = [c.array(shape, kind) for _ in range(c.integer(1, 3))]
        return c.case(name, inputs, {}, lambda *xs: _there(name)(xs))
    x = c.array(c.shape(1), _KINDS)
    dim = c.axis(x)
    size = x.shape[dim]
    if name == "unbind":
        return c.case(name, [x], {"dim": dim}, _there(name))
    if name == "select":
        index = c.integer(-size, size - 1) if size else 0
        return c.case(name, [x], {"dim": dim, "index": index}, _there(name))
    if name == "narrow":
        start = c.integer(0, size)
        arguments = {"dim": dim, "start": start, "length": c.integer(0, size - start)}
        return c.case(name, [x], arguments, _there(name))
    cuts: Any = c.choice([c.integer(1, 4), tuple(c.integer(-4, 6) for _ in range(c.integer(0, 3)))])
    arguments = {"indices_or_sections": cuts, "dim": dim}

    def theirs(x: Any, indices_or_sections: Any, dim: int) -> Any:
        return x.tensor_split(indices_or_sections, dim=dim)

    return c.case(name, [x], arguments, theirs)


@family("pixel_shuffle", "pixel_unshuffle", "diag", "diagonal", "vander")
def pixels(c: Cases, name: str) -> Case:
    """Channels and pixels, diagonals, powers."""
    if name == "vander":
        x = c.array(c.shape(1, 1, (0, 1, 2, 3)), "float32", "finite")
        arguments = {"N": c.choice([None, 0, 1, 4]), "increasing": c.chance()}
        return c.case(name, [x], arguments, _there(name), second=False, loose=True)
    if name == "diagonal":
        x = c.array(c.shape(2), _KINDS)
        first, second = c.pick.sample(range(x.ndim), 2)
        arguments = {"offset": c.integer(-3, 3), "dim1": first, "dim2": second - x.ndim}
        return c.case(name, [x], arguments, _there(name))
    if name == "diag":
        x = c.array(c.shape(1, 2), _KINDS)
        return c.case(name, [x], {"diagonal": c.integer(-2, 2)}, _there(name))
    r = c.integer(1, 3)
    front, (a, b, d) = c.shape(0, 2, (2, 3)), (c.integer(1, 2) for _ in range(3))
    shape = (*front, a * r * r, b, d) if name == "pixel_shuffle" else (*front, a, b * r, d * r)
    key = "upscale_factor" if name == "pixel_shuffle" else "downscale_factor"
    return c.case(name, [c.array(shape)], {key: r}, _there(name))


# ---- of many elements ----------------------------------------------------------------------------


@family("amax", "amin", "count_nonzero", "nansum", "nanmean")
def reduced(c: Cases, name: str) -> Case:
    """Over none, one, some or all axes."""
    x = c.array(kind=_WIDE)
    axes, keepdim = c.axes(x), c.chance()
    every = tuple(range(x.ndim))
    if name == "count_nonzero":
        theirs = lambda x, dim: _there(name)(x, dim=every if dim is None else dim)  # noqa: E731
        return c.case(name, [c.array(x.shape, _KINDS)], {"dim": axes}, theirs)
    key = "dim" if name[0] == "a" else "axis"

    def summed(x: Any, keepdim: bool, **axes: Any) -> Any:
        found = axes[key]
        return _there(name)(x, dim=every if found is None else found, keepdim=keepdim)

    return c.case(name, [x], {key: axes, "keepdim": keepdim}, summed, loose=True)


@family("median", "nanmedian", "kthvalue", "quantile", "nanquantile", "cummin")
def ranked(c: Cases, name: str) -> Case:
    """By order. Which of equals PyTorch takes is not said: indices are of what differs."""
    import numpy

    x = c.array(c.shape(1), _WIDE, "calm", plain=True)
    if name not in ("kthvalue", "cummin") and c.chance(0.4):
        marks = c.numbers.random(x.shape) < 0.15
        if name == "median":  # of several NaN any is the one
            marks = numpy.zeros(x.shape, bool)
        x = Input(numpy.where(marks, numpy.nan, x.array).astype(x.kind), x.kind, "plain")
    dim = c.axis(x)
    if name == "cummin":
        theirs = lambda x, axis: x.cummin(axis).values  # noqa: E731
        return c.case(name, [x], {"axis": dim}, theirs, second=False)
    keepdim = c.chance()
    facts: dict[str, Any] = {"second": False, "differentiable": "nan" not in name}
    if name == "kthvalue":
        size = max(x.shape[dim], 1)
        arguments = {"k": c.integer(1, size), "dim": dim, "keepdim": keepdim}
        return c.case(name, [x], arguments, lambda x, **a: tuple(_there(name)(x, **a)), **facts)
    if name in ("median", "nanmedian"):
        if c.chance(0.3):
            return c.case(name, [x], {}, _there(name), **facts)
        arguments = {"dim": dim, "keepdim": keepdim}

        def both(x: Any, **arguments: Any) -> Any:
            return _there(name)(x, **arguments).values

        ours = lambda x, *a, **n: getattr(x, name)(*a, **n)[0]  # noqa: E731
        return c.case(name, [x], arguments, both, ours, **facts)
    dim_or_all = None if c.chance(0.3) else dim
    arguments = {
        "q": c.choice([0.0, 0.25, 0.5, 0.9, 1.0]), "dim": dim_or_all, "keepdim": keepdim,
        "interpolation": c.choice(["linear", "lower", "higher", "midpoint"]),
    }  # fmt: skip
    return c.case(name, [x], arguments, _there(name), **facts)


@family("bincount", "histc", "diff", "cov", "corrcoef", "trace")
def counted(c: Cases, name: str) -> Case:
    """Counts, differences, covariances."""
    if name == "bincount":
        inputs = [_integers(c, (c.integer(0, 6),), 0, 5)]
        if c.chance() and inputs[0].array.size:
            weights = c.array(inputs[0].shape, "float64", "finite", plain=True)
            return c.case(name, [*inputs, weights], {}, _there(name), differentiable=False)
        return c.case(name, inputs, {"minlength": c.integer(0, 8)}, _there(name), named=1)
    if name == "histc":
        x = c.array(kind=_WIDE, values="finite")
        low, high = c.choice([(0, 0), (-1, 2)])
        arguments = {"bins": c.integer(1, 6), "min": low, "max": high}
        # the bounds of bins are rounded here and there: numbers that are clear of them
        x = Input((x.array.round() + 0.37).astype(x.kind), x.kind, "plain")
        return c.case(name, [x], arguments, _there(name), differentiable=False)
    if name == "diff":
        x = c.array(c.shape(1), (*_WIDE, *INTS, "bool"), "finite")
        return c.case(name, [x], {"n": c.integer(0, 3), "dim": c.axis(x)}, _there(name))
    if name == "trace":
        return c.case(name, [c.array(c.shape(2, 2), _WIDE)], {}, _there(name), loose=True)
    x = c.array((c.integer(1, 3), c.integer(3, 5)), "float64", "calm")
    if name == "corrcoef":
        return c.case(name, [x], {}, _there(name), second=False, loose=True)
    theirs = lambda x, correction: _there(name)(x, correction=int(correction))  # noqa: E731
    return c.case(name, [x], {"correction": c.integer(0, 2)}, theirs, loose=True)


@family("norm", "dist", "normalize", "cdist", "pairwise_distance", "cosine_similarity")
def lengths(c: Cases, name: str) -> Case:
    """Norms. At 0 some have no slope."""
    p = c.choice([2, 2.0, 1, 3, 0.5, float("inf")])
    kind = c.choice(_WIDE)
    if name == "norm":
        x = c.array(c.shape(1, 3, (1, 2, 3)), kind, "calm")
        arguments = {"p": p, "dim": c.axes(x), "keepdim": c.chance()}
        return c.case(name, [x], arguments, _there(name), loose=True, second=False)
    if name == "normalize":
        x = c.array(c.shape(2, 3), kind, "calm")
        return c.case(name, [x], {"p": p, "dim": c.axis(x)}, _there(name), second=False)
    if name == "cdist":
        n, m, d = (c.integer(1, 4) for _ in range(3))
        inputs = [c.array((n, d), kind, "calm"), c.array((m, d), kind, "positive")]
        arguments = {"p": float(p) if p != 0.5 else 2.0}
        return c.case(name, inputs, arguments, _there(name), second=False, loose=True)
    shape = c.shape(2, 3, (1, 2, 3))
    inputs = [c.array(shape, kind, "calm"), c.array(shape, kind, "positive")]
    if name == "cosine_similarity":
        dim = {"dim": c.axis(inputs[0])}
        return c.case(name, inputs, dim, _there(name), loose=True, second=False)
    arguments = {"p": p}
    return c.case(name, inputs, arguments, _there(name), loose=True, second=False)


# ---- products ------------------------------------------------------------------------------------


@family("mm", "bmm", "mv", "addmm", "addmv", "addr", "baddbmm", "addbmm", "outer", "vdot")
def multiplied(c: Cases, name: str) -> Case:
    """Products of fixed rank."""
    b, n, m, k = (c.integer(1, 4) for _ in range(4))
    shapes = {
        "mm": [(n, m), (m, k)], "bmm": [(b, n, m), (b, m, k)], "mv": [(n, m), (m,)],
        "addmm": [(n, k), (n, m), (m, k)], "addmv": [(n,), (n, m), (m,)],
        "addr": [(n, m), (n,), (m,)], "baddbmm": [(b, n, k), (b, n, m), (b, m, k)],
        "addbmm": [(n, k), (b, n, m), (b, m, k)], "outer": [(n,), (m,)], "vdot": [(n,), (n,)],
    }  # fmt: skip
    kind = c.choice(_WIDE)
    inputs = [c.array(shape, kind, "finite") for shape in shapes[name]]
    given = {"beta": c.choice([1, 0.5, 0]), "alpha": c.choice([1, 2.0])}
    arguments = given if "add" in name else {}
    return c.case(name, inputs, arguments, _there(name), named=len(arguments), loose=True)


@family("inner", "cross", "kron", "tensordot", "matrix_power", "vecdot")
def combined(c: Cases, name: str) -> Case:
    """Products of any rank."""
    kind = c.choice(_WIDE)
    if name == "matrix_power":
        n = c.integer(1, 3)
        x = c.array((*c.shape(0, 1, (1, 2)), n, n), kind, "finite")
        arguments = {"n": c.integer(0, 5)}
        return c.case(name, [x], arguments, _there(name), loose=True, second=False)
    if name == "kron":
        inputs = [c.array(c.shape(0, 2), kind, "finite") for _ in range(2)]
        return c.case(name, inputs, {}, _there(name))
    if name == "cross":
        shape = (*c.shape(0, 2), 3)
        inputs = [c.array(shape, kind, "finite") for _ in range(2)]

        def across(x: Any, y: Any, dim: int) -> Any:
            return __import__("torch").linalg.cross(x, y, dim=dim)

        return c.case(name, inputs, {"dim": -1}, across)
    if name == "vecdot":
        shape = c.shape(1)
        inputs = [c.array(shape, kind, "finite") for _ in range(2)]

        def summed(x: Any, y: Any, dim: int) -> Any:
            return __import__("torch").linalg.vecdot(x, y, dim=dim)

        return c.case(name, inputs, {"dim": c.axis(inputs[0])}, summed, loose=True)
    n = c.integer(0, 2)
    middle = c.shape(n, n) if name == "tensordot" else c.shape(1, 1)
    left, right = (*c.shape(0, 2), *middle), (*middle, *c.shape(0, 2))
    if name == "inner":
        right = (*c.shape(0, 2), *middle)
    inputs = [c.array(left, kind, "finite"), c.array(right, kind, "finite")]
    return c.case(
        name, inputs, {"dims": n} if name == "tensordot" else {}, _there(name), loose=True
    )


# ---- picking and putting -------------------------------------------------------------------------


@family("take", "take_along_dim", "index_select", "argwhere", "bucketize", "scatter_add", "put")
def picked(c: Cases, name: str) -> Case:
    """By places."""
    x = c.array(c.shape(1, 3, (1, 2, 3, 4)), _WIDE, "finite")
    size = x.array.size
    dim = c.axis(x)
    if name == "argwhere":
        return c.case(name, [x], {}, _there(name), differentiable=False)
    if name == "bucketize":
        import numpy

        edges = Input(numpy.sort(c.numbers.normal(0, 2, 4)).astype(x.kind), x.kind, "plain")
        facts = {"named": 1, "differentiable": False}
        return c.case(name, [x, edges], {"right": c.chance()}, _there(name), **facts)
    if size == 0:
        return c.case("take", [x, _integers(c, (0,), 0, 0)], {}, _there("take"))
    if name == "take":
        return c.case(name, [x, _integers(c, c.shape(0, 2), -size, size - 1)], {}, _there(name))
    if name == "put":
        count = c.integer(0, 4)
        index = _integers(c, (count,), -size, size - 1)
        source = c.array((count,), x.kind, "finite", plain=True)
        theirs = lambda x, i, s: x.put(i, s, accumulate=True)  # noqa: E731
        ours = lambda x, i, s: x.put(i, s, True)  # noqa: E731
        return c.case(name, [x, index, source], {}, theirs, ours, loose=True)
    places = x.shape[dim]
    if name == "index_select":
        index = _integers(c, (c.integer(0, 4),), 0, places - 1)
        ours = lambda x, i, dim: x.index_select(dim, i)  # noqa: E731
        theirs = lambda x, i, dim: x.index_select(dim, i)  # noqa: E731
        return c.case(name, [x, index], {"dim": dim}, theirs, ours)
    shape = list(x.shape)
    shape[dim] = c.integer(0, 4)
    index = _integers(c, tuple(shape), 0, places - 1)
    if name == "take_along_dim":
        return c.case(name, [x, index], {"dim": dim}, _there(name))
    source = c.array(tuple(shape), x.kind, "finite")
    both = lambda x, i, s, dim: x.scatter_add(dim, i, s)  # noqa: E731
    return c.case(name, [x, index, source], {"dim": dim}, both, both, loose=True)


@family("index_add", "index_copy", "index_fill", "masked_scatter", "select_scatter", "index_put")
def put_back(c: Cases, name: str) -> Case:
    """Elements in place of others. Places differ, since which of two writes wins is not said."""
    import numpy

    x = c.array(c.shape(1, 3, (1, 2, 3, 4)), _WIDE, "finite")
    dim = c.axis(x)
    size = x.shape[dim]
    if name == "masked_scatter":
        mask = c.array(x.shape, "bool")
        source = c.array((max(x.array.size, 1),), x.kind, "finite")
        return c.case(name, [x, mask, source], {}, _there(name))
    if size == 0:
        x = c.array((3, 2), x.kind, "finite")
        dim, size = 0, 3
    chosen = numpy.asarray(c.pick.sample(range(size), c.integer(1, size)), "int64")
    index = Input(chosen, "int64", "plain")
    shape = list(x.shape)
    shape[dim] = len(chosen)
    if name == "index_fill":
        both = lambda x, i, dim, value: x.index_fill(dim, i, value)  # noqa: E731
        return c.case(name, [x, index], {"dim": dim, "value": 1.5}, both, both)
    if name == "select_scatter":
        source = c.array(tuple(s for i, s in enumerate(x.shape) if i != dim % x.ndim), x.kind)
        both = lambda x, s, dim, index: x.select_scatter(s, dim, index)  # noqa: E731
        at = c.integer(-size, size - 1)
        return c.case(name, [x, source], {"dim": dim, "index": at}, both, both)
    if name == "index_put":
        source = c.array((len(chosen), *x.shape[1:]), x.kind, "finite")
        chosen = numpy.asarray(c.pick.sample(range(x.shape[0]), x.shape[0]), "int64")
        index = Input(chosen, "int64", "plain")
        source = c.array(x.shape, x.kind, "finite")
        both = lambda x, i, s, accumulate: x.index_put((i,), s, accumulate)  # noqa: E731
        return c.case(name, [x, index, source], {"accumulate": c.chance()}, both, both)
    source = c.array(tuple(shape), x.kind, "finite")
    both = lambda x, i, s, dim: getattr(x, name)(dim, i, s)  # noqa: E731
    return c.case(name, [x, index, source], {"dim": dim}, both, both)


# ---- losses and pooling --------------------------------------------------------------------------

_REDUCTIONS = ("mean", "sum", "none")


@family("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "soft_margin_loss")
def losses(c: Cases, name: str) -> Case:
    """Of a prediction and a target of its shape."""
    shape, kind = c.shape(1, 3, (1, 2, 3)), c.choice(_WIDE)
    arguments: dict[str, Any] = {"reduction": c.choice(_REDUCTIONS)}
    target = c.array(shape, kind, "positive" if name == "kl_div" else "finite")
    if name == "smooth_l1_loss":
        arguments["beta"] = c.choice([1.0, 0.5, 2.0])
    if name == "huber_loss":
        arguments["delta"] = c.choice([1.0, 0.5])
    if name == "kl_div":
        arguments["log_target"] = c.chance()
    facts = {"loose": True, "second": name == "mse_loss"}
    return c.case(name, [c.array(shape, kind, "calm"), target], arguments, _there(name), **facts)


@family(
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "cosine_embedding_loss",
    "triplet_margin_loss",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "binary_cross_entropy",
)
def margins(c: Cases, name: str) -> Case:
    """With margins, likelihoods and probabilities."""
    shape, kind = c.shape(1, 2, (1, 2, 3)), c.choice(_WIDE)
    arguments: dict[str, Any] = {"reduction": c.choice(_REDUCTIONS)}
    x, y = c.array(shape, kind, "calm"), c.array(shape, kind, "positive")
    signs = Input(c.numbers.choice([-1, 0, 1], shape).astype(kind), kind, "plain")
    inputs = {"hinge_embedding_loss": [x, signs], "margin_ranking_loss": [x, y, signs]}.get(name)
    if name in ("hinge_embedding_loss", "margin_ranking_loss"):
        arguments["margin"] = c.choice([0.5, 1.0])
    elif name == "cosine_embedding_loss":
        rows, n = c.integer(1, 4), c.integer(1, 3)
        inputs = [c.array((rows, n), kind, "calm"), c.array((rows, n), kind, "positive")]
        inputs.append(Input(c.numbers.choice([-1, 1], rows), "int64", "plain"))
        arguments["margin"] = c.choice([0.0, 0.3])
    elif name == "triplet_margin_loss":
        inputs = [x, y, c.array(shape, kind, "finite")]
        arguments |= {"margin": 1.5, "swap": c.chance()}
    elif name == "poisson_nll_loss":
        inputs = [y, c.array(shape, kind, "positive")]
        arguments |= {"log_input": c.chance(), "full": c.chance()}
    elif name == "gaussian_nll_loss":
        inputs = [x, y, c.array(shape, kind, "positive")]
        arguments["full"] = c.chance()
    elif inputs is None:
        inputs = [Input((a.array / 2.5).astype(kind), kind, "plain") for a in (y, y)]
    facts = {"named": len(arguments), "second": False, "loose": True}
    return c.case(name, inputs, arguments, _there(name), **facts)


@family("adaptive_avg_pool2d", "adaptive_max_pool2d")
def pooled(c: Cases, name: str) -> Case:
    """To a given size."""
    shape = (*c.shape(2, 2, (1, 2)), c.integer(1, 6), c.integer(1, 6))
    x = c.array(shape, _WIDE, "calm")
    sizes: Any = c.choice([c.integer(1, 4), (c.integer(1, 5), c.choice([None, 2, 3]))])
    return c.case(name, [x], {"output_size": sizes}, _there(name), second=False)
