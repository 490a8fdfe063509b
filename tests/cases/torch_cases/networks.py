"""Cases compared with PyTorch: products of matrices, windows, losses, layers."""

from __future__ import annotations

from typing import Any

from cases.torch_cases import Case, Cases, Input, family
from weft.tensor import Tensor

_WIDE = ("float32", "float32", "float64")


def _functional(name: str) -> Any:
    def call(*inputs: Any, **arguments: Any) -> Any:
        import torch

        return getattr(torch.nn.functional, name)(*inputs, **arguments)

    return call


# ---- products ------------------------------------------------------------------------------------


@family("matmul", "dot", "einsum", "linear", "scaled_dot_product_attention")
def products(c: Cases, name: str) -> Case:
    """Sums of products."""
    import torch

    kind = c.choice((*_WIDE, "float16", "int32"))
    n, m, k = (c.choice([0, 1, 2, 3, 5]) if c.chance(0.2) else c.integer(1, 5) for _ in range(3))
    if name in ("matmul", "dot"):
        batch = c.shape(0, 2, (1, 2, 3))
        one = c.choice([(k,), (n, k), (*batch, n, k)])
        other = c.choice([(k,), (k, m), (*(1 if c.chance(0.3) else b for b in batch), k, m)])
        inputs = [c.array(one, kind, "finite"), c.array(other, kind, "finite")]
        return c.case(name, inputs, {}, torch.matmul, loose=True)
    kind = c.choice(_WIDE)
    if name == "einsum":
        sizes = {letter: c.integer(1, 4) for letter in "ijkl"}
        formula = c.choice(
            [
                "ij,jk->ik",
                "ij->ji",
                "ij->",
                "ij,ij->i",
                "i,j->ij",
                "ijk,ikl->ijl",
                "ij,j",
                "ijk->kj",
                "ij,jk,kl->il",
                "ii->i",
                "ii",
                "...ij,...jk->...ik",
                "i...->...",
                "ij , jk -> ki",
            ]
        )
        terms = formula.split("->")[0].split(",")
        front = c.shape(0, 1, (1, 2))
        inputs = []
        for term in terms:
            shape: list[int] = []
            for part in term.strip().replace("...", "."):
                shape += front if part == "." else [sizes[part]]
            inputs.append(c.array(tuple(shape), kind, "finite"))
        return c.case(
            name,
            inputs,
            {},
            lambda *xs: torch.einsum(formula, *xs),
            loose=True,
            weft=lambda *xs: Tensor.einsum(formula, *xs),
        )
    if name == "linear":
        x = c.array((*c.shape(0, 2, (1, 2, 3)), k), kind, "finite")
        inputs = [x, c.array((k, m), kind, "finite")]
        inputs += [c.array((m,), kind, "finite")] if c.chance() else []
        return c.case(name, inputs, {}, lambda x, w, *b: x @ w + (b[0] if b else 0), loose=True)
    heads, s, length, depth = c.integer(1, 2), c.integer(1, 4), c.integer(1, 4), c.integer(1, 4)
    causal = c.chance(0.4)
    query = c.array((2, heads, s, depth), kind, "finite")
    key = c.array((2, heads, length, depth), kind, "finite")
    value = c.array((2, heads, length, depth + 1), kind, "finite")
    inputs = [query, key, value]
    if not causal and c.chance():
        inputs.append(c.array((s, length), c.choice(["bool", kind]), "finite"))
        if inputs[-1].kind == "bool":
            mask = inputs[-1].array.copy()
            mask[:, 0] = True  # of a row without any, PyTorch's answer depends on its way
            inputs[-1] = Input(mask, "bool", "plain")
    return c.case(name, inputs, {"is_causal": causal}, _functional(name), loose=True, named=1)


# ---- windows -------------------------------------------------------------------------------------


def _per_axis(c: Cases, axes: int, low: int, high: int) -> Any:
    if c.chance():
        return c.integer(low, high)
    return tuple(c.integer(low, high) for _ in range(axes))


@family("conv2d", "conv_transpose2d")
def convolutions(c: Cases, name: str) -> Case:
    """All arguments, one to three spatial axes."""
    axes = c.choice([1, 2, 2, 3])
    kind = c.choice((*_WIDE, "float16"))
    groups = c.choice([1, 1, 2, 3])
    inputs, outputs = groups * c.integer(1, 2), groups * c.integer(1, 2)
    kernel = tuple(c.integer(1, 3) for _ in range(axes))
    size = tuple(c.integer(3, 6 if axes < 3 else 4) for _ in range(axes))
    shape = (outputs, inputs // groups) if name == "conv2d" else (inputs, outputs // groups)
    given = [
        c.array((c.integer(1, 2), inputs, *size), kind, "finite"),
        c.array((*shape, *kernel), kind, "finite"),
    ]
    with_bias = c.chance()
    if with_bias:
        given.append(c.array((outputs,), kind, "finite"))
    arguments: dict[str, Any] = {
        "groups": groups, "stride": _per_axis(c, axes, 1, 3), "dilation": _per_axis(c, axes, 1, 2),
        "padding": _per_axis(c, axes, 0, 1 if "transpose" in name else 2),
    }  # fmt: skip
    if name == "conv_transpose2d":
        arguments["output_padding"] = c.choice([0, 0, 1])
    there = name.replace("2d", f"{axes}d")

    def ours(x: Any, w: Any, *bias: Any, **rest: Any) -> Any:
        return getattr(x, name)(w, *(bias or (None,)), **rest)

    return c.case(name, given, arguments, _functional(there), ours, len(arguments), loose=True)


@family("avg_pool2d", "max_pool2d", "max_unpool2d")
def pools(c: Cases, name: str) -> Case:
    """All arguments, one to three spatial axes."""
    axes = c.choice([1, 2, 2, 3])
    kernel = tuple(c.integer(1, 3) for _ in range(axes))
    stride = c.choice([None, tuple(c.integer(1, 3) for _ in range(axes))])
    padding = tuple(c.integer(0, k // 2) for k in kernel)
    size = tuple(c.integer(3, 7 if axes < 3 else 4) for _ in range(axes))
    kind = c.choice(_WIDE)
    x = c.array(
        (c.integer(1, 2), c.integer(1, 2), *size), kind, "any" if c.chance(0.3) else "finite"
    )
    arguments: dict[str, Any] = {"kernel_size": kernel, "stride": stride}
    if name == "avg_pool2d":
        arguments |= {"padding": padding, "ceil_mode": c.chance(), "count_include_pad": c.chance()}
        return c.case(name, [x], arguments, _functional(f"avg_pool{axes}d"), named=3, loose=True)
    # of equals the gradient goes to the first in PyTorch, here it is shared
    array = c.numbers.permutation(x.array.size).reshape(x.shape).astype("float32") / 7
    x = Input(array.astype(kind), kind, "plain")
    if name == "max_unpool2d":
        arguments["stride"] = None

        def both(x: Any, kernel_size: Any, stride: Any) -> Any:
            import torch

            if isinstance(x, torch.Tensor):
                f = torch.nn.functional
                top, at = getattr(f, f"max_pool{axes}d")(
                    x, kernel_size, stride, return_indices=True
                )
                return getattr(f, f"max_unpool{axes}d")(top, at, kernel_size, stride)
            top, at = x.max_pool2d(kernel_size, stride, return_indices=True)
            return top.max_unpool2d(at, kernel_size, stride)

        return c.case(name, [x], arguments, both, both)
    dilation = tuple(c.integer(1, 2) for _ in range(axes))
    arguments |= {"dilation": dilation, "padding": padding, "ceil_mode": c.chance(),
                  "return_indices": c.chance()}  # fmt: skip
    return c.case(name, [x], arguments, _functional(f"max_pool{axes}d"))


@family("interpolate")
def resized(c: Cases) -> Case:
    """One to three axes, larger and smaller."""
    axes = c.choice([1, 2, 3])
    x = c.array((1, 2, *(c.integer(1, 5) for _ in range(axes))), _WIDE, "finite")
    size = tuple(c.integer(1, 7) for _ in range(axes))
    mode = c.choice(["linear", "nearest", "nearest-exact"])
    there = {1: "linear", 2: "bilinear", 3: "trilinear"}[axes] if mode == "linear" else mode
    corners = mode == "linear" and c.chance()

    def theirs(x: Any, size: Any, mode: str, align_corners: bool) -> Any:
        import torch

        return torch.nn.functional.interpolate(
            x, size, mode=there, align_corners=align_corners if mode == "linear" else None
        )

    # positions are short floats in PyTorch
    x = Input(x.array.astype("float32"), "float32", x.layout)
    arguments = {"size": size, "mode": mode, "align_corners": corners}
    return c.case("interpolate", [x], arguments, theirs, loose=True)


# ---- losses and layers ---------------------------------------------------------------------------


def _labels(c: Cases, shape: Any, classes: int) -> Input:
    return Input(c.numbers.integers(0, classes, shape).astype("int64"), "int64", "plain")


@family(
    "cross_entropy",
    "sparse_categorical_crossentropy",
    "nll_loss",
    "binary_crossentropy",
    "binary_crossentropy_logits",
)
def losses(c: Cases, name: str) -> Case:
    """Every reduction."""
    kind = c.choice(_WIDE)
    rows, classes, more = c.integer(1, 4), c.integer(1, 5), c.shape(0, 2, (1, 2, 3))
    reduction = c.choice(["mean", "sum", "none"])
    smoothing = c.choice([0.0, 0.1, 0.5])
    if name == "cross_entropy":
        x = c.array((rows, classes, *more), kind, "finite")
        y = _labels(c, (rows, *more), classes)
        if c.chance(0.4):
            y = c.array(x.shape, kind, "positive")
        return c.case(
            name,
            [x, y],
            {"reduction": reduction, "label_smoothing": smoothing},
            _functional(name),
            loose=True,
        )
    if name == "sparse_categorical_crossentropy":
        x = c.array((rows, classes), kind, "finite")
        y = _labels(c, (rows,), classes)
        ignored = c.choice([-1, int(y.array[0]) if len(set(y.array.tolist())) > 1 else -1])
        arguments = {"ignore_index": ignored, "label_smoothing": smoothing, "reduction": reduction}
        return c.case(name, [x, y], arguments, _functional("cross_entropy"), loose=True)
    if name == "nll_loss":
        x = c.array((rows, classes, *more), kind, "finite")
        y = _labels(c, (rows, *more), classes)
        ignored = c.choice([-100, 0 if y.array.any() else -100])
        inputs = [x, y] + ([c.array((classes,), kind, "positive")] if c.chance() else [])

        def ours(x: Any, y: Any, *weight: Any, **rest: Any) -> Any:
            return x.nll_loss(y, *weight, **rest)

        arguments = {"ignore_index": ignored, "reduction": reduction}
        return c.case(name, inputs, arguments, _functional(name), ours, 2, loose=True)
    shape = c.shape(0, 3)
    y = Input(c.numbers.random(shape).astype("float32"), kind, "plain")
    y = Input(y.array.astype(kind), kind, "plain")
    if name == "binary_crossentropy":
        x = Input(c.numbers.uniform(0.01, 0.99, shape).astype(kind), kind, "plain")
        return c.case(
            name,
            [x, y],
            {"reduction": reduction},
            _functional("binary_cross_entropy"),
            loose=True,
            second=False,
        )
    return c.case(
        name,
        [c.array(shape, kind, "finite"), y],
        {"reduction": reduction},
        _functional("binary_cross_entropy_with_logits"),
        loose=True,
    )


@family("layernorm", "batchnorm")
def norms(c: Cases, name: str) -> Case:
    """Normalised."""
    # of rows of two the gradient is a difference of nearly equal numbers
    kind = "float64" if name == "layernorm" else _WIDE
    x = c.array(c.shape(2, 4, (2, 3, 4)), kind, "calm")
    if name == "layernorm":
        count = c.integer(1, x.ndim)
        axes = tuple(range(-count, 0))
        return c.case(
            name,
            [x],
            {"axis": axes, "eps": c.choice([1e-5, 0.1])},
            loose=True,
            torch=lambda x, axis, eps: _functional("layer_norm")(x, x.shape[axis[0] :], eps=eps),
        )
    channels = x.shape[1]
    rest = [c.array((channels,), x.kind, "positive") for _ in range(4)]

    def theirs(x: Any, w: Any, b: Any, mean: Any, invstd: Any) -> Any:
        shape = (1, channels, *(1,) * (x.ndim - 2))
        return (x - mean.reshape(shape)) * invstd.reshape(shape) * w.reshape(shape) + b.reshape(
            shape
        )

    return c.case(name, [x, *rest], {}, theirs, loose=True)
