"""Cases compared with PyTorch: element by element, and reductions."""

from __future__ import annotations

from typing import Any

from cases.torch_cases import FLOATS, INTS, Case, Cases, family
from weft.base.sequences import prod

# ---- one operand ---------------------------------------------------------------------------------

_TORCH_NAMES = {"swish": "silu"}


@family(
    "exp",
    "log",
    "log2",
    "exp2",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
    "relu",
    "relu6",
    "silu",
    "swish",
    "hardswish",
    "softsign",
    "mish",
    "logsigmoid",
    "erf",
    "square",
    "reciprocal",
    "abs",
    "neg",
    "sign",
    "trunc",
    "floor",
    "ceil",
    "round",
    "isnan",
    "isfinite",
    "log1p",
    "expm1",
    "log10",
    "logical_not",
    "selu",
    "hardsigmoid",
)
def one_operand(c: Cases, name: str) -> Case:
    """Functions of one number."""
    kinds = FLOATS if name not in ("abs", "neg", "sign", "square", "relu") else (*FLOATS, *INTS)
    if name in ("isnan", "isfinite", "logical_not", "exp", "sqrt", "sin"):
        kinds = (*FLOATS, *INTS, "bool")

    def theirs(x: Any) -> Any:
        import torch

        found = getattr(torch, _TORCH_NAMES.get(name, name), None)
        if found is None or name == "selu":
            found = getattr(torch.nn.functional, _TORCH_NAMES.get(name, name))
        return found(x)

    if name in ("acos", "asin", "atanh", "acosh", "tan"):
        kinds = ("float32", "float64")  # slopes of halves are halves there, computed wide here
    if name in ("acos", "asin"):
        kinds = ("float64",)  # near 1 derivatives of short floats are the rounding of 1 - x * x
    if name == "hardsigmoid":
        kinds = ("float32", "float16")  # of constants that are short ones in one of the two
    # of NaN the sign is NaN here, as in NumPy; slopes of slopes are compared where there is one
    values = c.choice(["calm", "any"]) if name != "sign" else "finite"
    x = c.array(kind=kinds, values=values)
    if name in ("acos", "asin", "atanh", "acosh"):
        return c.case(name, [x], {}, theirs, second=False, loose=True)
    return c.case(name, [x], {}, theirs, second=values == "calm")


@family("elu", "celu", "leaky_relu", "gelu", "softplus", "hardtanh", "isinf", "clamp")
def with_numbers(c: Cases, name: str) -> Case:
    """Functions of one number with parameters."""
    x = c.array()
    if name in ("elu", "celu"):
        x = c.array(values="calm") if c.chance() else x
        return c.case(
            name, [x], {"alpha": c.choice([1.0, 0.5, 2.0])}, _functional(name), second=False
        )
    if name == "leaky_relu":
        return c.case(
            name,
            [x],
            {"neg_slope": c.choice([0.01, 0.3])},
            lambda x, neg_slope: _functional(name)(x, neg_slope),
        )
    if name == "gelu":
        x = c.array(values="finite")  # of infinity PyTorch's depends on the length
        return c.case(name, [x], {"approximate": c.choice(["tanh", "none"])}, _functional(name))
    if name == "softplus":
        # PyTorch is linear above a threshold; here it is exact
        return c.case(
            name,
            [x],
            {"beta": c.choice([1, 2.0, 0.5])},
            lambda x, beta: _functional(name)(x, beta, 1e4),
        )
    if name == "hardtanh":
        low, high = c.choice([(-1, 1), (-2.0, 0.5)])
        return c.case(name, [x], {"min_val": low, "max_val": high}, _functional(name))
    if name == "isinf":
        return c.case(name, [x], {}, _top(name))
    low, high = c.choice([(-1, 1), (0, None), (None, 0.5), (2.0, 1.0)])
    return c.case(name, [x], {"min_": low, "max_": high}, lambda x, min_, max_: x.clamp(min_, max_))


def _functional(name: str) -> Any:
    def call(*inputs: Any, **arguments: Any) -> Any:
        import torch

        return getattr(torch.nn.functional, name)(*inputs, **arguments)

    return call


def _top(name: str) -> Any:
    def call(*inputs: Any, **arguments: Any) -> Any:
        import torch

        return getattr(torch, name)(*inputs, **arguments)

    return call


# ---- two operands --------------------------------------------------------------------------------

_KINDS = (*FLOATS, *INTS, "bool")


def _broadcast(c: Cases) -> tuple[Any, Any]:
    whole = c.shape()
    other = tuple(1 if c.chance(0.25) else s for s in whole)[c.integer(0, len(whole)) :]
    return (whole, other) if c.chance() else (other, whole)


@family("add", "mul", "sub", "div", "maximum", "minimum", "eq", "ne", "lt", "gt", "le", "ge")
def two_operands(c: Cases, name: str) -> Case:
    """Two tensors of any dtypes, or a tensor and a number."""
    one, other = _broadcast(c)
    # where one is NaN, neither gets a gradient; in PyTorch both do
    values = "finite" if name in ("maximum", "minimum") else "any"
    x = c.array(one, _KINDS, values)
    if c.chance(0.3) and name not in ("maximum", "minimum"):
        # PyTorch wraps a number below 0 before it compares it with uint8
        number = c.choice([2, 3 if x.kind == "uint8" else -3, 0.5, 1.5, True])
        return c.case(name, [x], {"x": number}, lambda a, x: getattr(a, name)(x))
    # in PyTorch a tensor of rank 0 is as weak as a number, here it is not
    y = c.array(other, _KINDS if one and other else x.kind, values)
    return c.case(name, [x, y], {}, _top(name))


@family("reversed operators")
def reversed_operators(c: Cases) -> Case:
    """A number first."""
    x = c.array(kind=(*FLOATS, *INTS))
    number = c.choice([2, 3.5, -1, 0])
    operator = c.choice(["__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rpow__"])
    if operator == "__rpow__":
        x = c.array(kind=FLOATS)
        number = c.choice([2, 3.5, 1.0])
    return c.case(operator, [x], {"x": number}, lambda a, x: getattr(a, operator)(x))


@family("pow")
def power(c: Cases) -> Case:
    """Numbers and tensors as exponents."""
    one, other = _broadcast(c)
    if c.chance():
        x = c.array(one, FLOATS)
        number = c.choice([0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, 2.0, 0.0])
        return c.case("pow", [x], {"x": number}, lambda a, x: a.pow(x))
    if c.chance(0.3):
        kind = c.choice(INTS)
        inputs = [c.array(one, kind), c.array(other, kind, low=0)]
        return c.case("pow", inputs, {}, _top("pow"))
    kind = c.choice(("float32", "float64"))
    x, y = c.array(one, kind), c.array(other, kind)
    return c.case("pow", [x, y], {}, _top("pow"), second=False)


@family("mod", "floor division", "div rounded", "idiv")
def divisions(c: Cases, name: str) -> Case:
    """Remainders and rounded quotients. Divisors of integers are not 0."""
    one, other = _broadcast(c)
    whole = name == "idiv" or c.chance(0.6)
    kind = c.choice(INTS) if whole else c.choice(("float32", "float64"))
    x = c.array(one, kind, "finite", low=-100, high=100)
    y = c.array(other, kind, "calm", low=1, high=9)
    if whole and kind != "uint8" and c.chance():
        y = type(y)(-y.array, y.kind, y.layout)
    facts = {"differentiable": name == "div rounded"}
    if name == "mod":
        return c.case(name, [x, y], {}, _top("remainder"), weft=lambda a, b: a.mod(b))
    if name == "floor division":
        theirs = _top("floor_divide")
        return c.case(name, [x, y], {}, theirs, weft=lambda a, b: a // b, differentiable=False)
    if name == "idiv":
        return c.case(name, [x, y], {}, lambda a, b: a.div(b, rounding_mode="trunc"), **facts)
    return c.case(
        name,
        [x, y],
        {"rounding_mode": c.choice(["trunc", "floor"])},
        _top("div"),
        weft=lambda a, b, rounding_mode: a.div(b, False, rounding_mode),
        named=1,
        **facts,
    )


@family("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "lshift", "rshift")
def bits(c: Cases, name: str) -> Case:
    """Whole numbers as bits."""
    one, other = _broadcast(c)
    kinds = (*INTS, "bool")
    if name == "bitwise_not":
        return c.case(name, [c.array(one, kinds)], {}, _top(name))
    if name in ("lshift", "rshift"):
        kind = c.choice(INTS)
        inputs = [c.array(one, kind, low=0, high=20), c.array(other, kind, low=0, high=3)]
        there = {"lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}[name]
        return c.case(name, inputs, {}, _top(there))
    x = c.array(one, kinds)
    return c.case(name, [x, c.array(other, kinds if one and other else x.kind)], {}, _top(name))


@family("where", "masked_fill", "lerp", "copysign", "isclose", "atan2-free choice")
def choices(c: Cases, name: str) -> Case:
    """Choices between tensors."""
    one, other = _broadcast(c)
    if name == "where":
        kinds = (c.choice(_KINDS), c.choice(_KINDS))
        kinds = kinds if one and other else kinds[:1] * 2
        inputs = [c.array(one, "bool"), c.array(other, kinds[0]), c.array(one, kinds[1])]
        return c.case(name, inputs, {}, _top(name))
    if name == "masked_fill":
        shape = c.shape()
        inputs = [c.array(shape), c.array(shape, "bool")]
        return c.case(
            name,
            inputs,
            {"value": c.choice([0.0, -1.5, float("-inf")])},
            lambda x, m, value: x.masked_fill(m, value),
        )
    if name == "lerp":
        kind = c.choice(("float32", "float64"))
        inputs = [c.array(one, kind, "finite"), c.array(other, kind, "finite")]
        return c.case(name, inputs, {"weight": c.choice([0.3, 1.0, 0.0])}, _top(name))
    if name == "copysign":
        kind = c.choice(("float32", "float64", "float16"))
        return c.case(name, [c.array(one, kind, "calm"), c.array(other, kind)], {}, _top(name))
    if name == "isclose":
        kind = c.choice(("float32", "float64"))
        arguments = {"rtol": 1e-05, "atol": c.choice([1e-08, 1.0]), "equal_nan": c.chance()}
        return c.case(name, [c.array(one, kind), c.array(other, kind)], arguments, _top(name))
    # what is not chosen is NaN or infinite, and so would its gradient be
    x = c.array(one, ("float32", "float64"), "finite")
    return c.case(
        name,
        [x],
        {},
        lambda x: _top("where")(x > 0, x.log() + x.sqrt(), x * 2),
        weft=lambda x: (x > 0).where(x.log() + x.sqrt(), x * 2),
    )


@family("cast")
def casts(c: Cases) -> Case:
    """From dtype to dtype, where the value fits."""
    kind = c.choice(_KINDS)
    x = c.array(kind=kind, values="finite", low=0, high=9)
    return c.case(
        "cast",
        [x],
        {
            "dtype": c.choice(
                [
                    "float32",
                    "float64",
                    "float16",
                    "bfloat16",
                    "int32",
                    "int64",
                    "int16",
                    "int8",
                    "bool",
                ]
            )
        },
        lambda x, dtype: x.to(getattr(__import__("torch"), dtype)),
    )


# ---- reductions ----------------------------------------------------------------------------------


@family("sum", "prod", "max", "min", "mean", "any", "all", "logsumexp")
def reductions(c: Cases, name: str) -> Case:
    """Over none, one, some or all axes."""
    kinds = {"mean": FLOATS, "logsumexp": FLOATS, "any": _KINDS, "all": _KINDS}
    kind = c.choice(kinds.get(name, (*FLOATS, *INTS)))
    x = c.array(kind=kind, values=c.choice(["calm", "finite"]) if name == "prod" else "any")
    if name == "prod" and kind in INTS:
        x = c.array(c.shape(0, 2), kind, low=-2, high=2)
    axes, keepdim = c.axes(x), c.chance()
    if name == "prod" and isinstance(axes, tuple):
        axes = axes[0]
    there = {"max": "amax", "min": "amin"}.get(name, name)

    def theirs(x: Any, axis: Any, keepdim: bool) -> Any:
        every = tuple(range(x.ndim))
        if name == "prod":
            return x.prod() if axis is None and not keepdim else x.prod(axis, keepdim=keepdim)
        if axis is None and not x.ndim:
            return x.clone() if name not in ("any", "all", "logsumexp") else getattr(x, name)(0)
        return getattr(x, there)(every if axis is None else axis, keepdim=keepdim)

    return c.case(name, [x], {"axis": axes, "keepdim": keepdim}, theirs, loose=True)


@family("var", "std", "var_mean", "std_mean")
def spreads(c: Cases, name: str) -> Case:
    """Variances."""
    x = c.array(kind=("float32", "float64"), values="finite")
    arguments = {"axis": c.axes(x), "keepdim": c.chance(), "correction": c.choice([0, 1, 2])}
    axes = arguments["axis"]
    axes = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    count = prod(x.shape[a] for a in axes)

    def theirs(x: Any, axis: Any, keepdim: bool, correction: int) -> Any:
        return _top(name)(x, dim=axis, keepdim=keepdim, correction=correction)

    return c.case(
        name, [x], arguments, theirs, loose=True, differentiable=count > arguments["correction"]
    )


@family("softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp", "cummax")
def along(c: Cases, name: str) -> Case:
    """Along one axis."""
    kind = FLOATS if "cum" not in name else ("float32", "float64")
    # of ties PyTorch's cummax takes the last, here they share; of products with infinities and
    # zeros derivatives are undefined
    tame = name in ("cummax", "cumprod")
    x = c.array(kind=kind, values="calm" if tame else c.choice(["any", "calm"]))
    axis = c.axis(x)

    def theirs(x: Any, axis: int) -> Any:
        if name == "cummax":
            return x.cummax(axis).values
        return getattr(x, name)(axis)

    second = "cum" not in name or name == "cumprod"
    return c.case(name, [x], {"axis": axis}, theirs, loose=True, second=second)


@family("argmax", "argmin")
def positions(c: Cases, name: str) -> Case:
    """The first of equals is what NumPy takes; PyTorch takes any, so there are no ties but NaN."""
    import numpy

    shape = c.shape()
    count = int(numpy.prod(shape, dtype=int))
    array = c.numbers.permutation(count).reshape(shape).astype("float32")
    x = c.array(shape, "float32", plain=True)
    x = type(x)(array, "float32", "plain")
    axis = None if c.chance(0.3) or not shape else c.axis(x)
    return c.case(
        name,
        [x],
        {"axis": axis, "keepdim": c.chance() and axis is not None},
        _top_dim(name),
        differentiable=False,
    )


def _top_dim(name: str) -> Any:
    return lambda x, axis, keepdim: getattr(x, name)(axis, keepdim)
