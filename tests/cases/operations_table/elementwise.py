"""What the methods that go element by element are compared with, for the table of operations.

A new method is one line here, or in the modules beside this one: `one` for a function of a tensor,
`two` for one of two tensors, `check` for anything else. All entries are in `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cases.operations_table.cells import Check, Maker

CHECKS: dict[str, Check] = {}
"""By the name of the method."""


def check(
    name: str, family: str, call: Any, reference: Any, inputs: Any = None, **facts: Any
) -> None:
    """Enter a check; without `inputs` the method gets one matrix of small numbers."""
    made = inputs or (lambda m: [m.grid(3, 4)])
    CHECKS[name] = Check(name, family, call, reference, made, **facts)


def method(name: str, *rest: Any, **named: Any) -> Callable[..., Any]:
    """The call of a method with these arguments after the tensors."""
    return lambda x, *others: getattr(x, name)(*others, *rest, **named)


def numpy_function(name: str) -> Callable[..., Any]:
    """NumPy's function of that name."""

    def call(*arrays: Any, **named: Any) -> Any:
        import numpy

        with numpy.errstate(all="ignore"):
            return getattr(numpy, name)(*arrays, **named)

    return call


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without NumPy's warnings."""

    def call(*arrays: Any) -> Any:
        import numpy

        with numpy.errstate(all="ignore"):
            return function(numpy, *arrays)

    return call


def torch_function(name: str, **named: Any) -> Callable[..., Any]:
    """PyTorch's function of that name, of `torch` or of `torch.nn.functional`, in float64."""

    def call(*arrays: Any) -> Any:
        import torch

        found = getattr(torch, name, None) or getattr(torch.nn.functional, name)
        tensors = [as_torch(a) for a in arrays]
        result = found(*tensors, **named)
        return [r.numpy() for r in result] if isinstance(result, tuple) else result.numpy()

    return call


def as_torch(array: Any) -> Any:
    """An array as PyTorch has it: floats as float64, unsigned integers as int64."""
    import torch

    if array.dtype.kind == "f":
        return torch.from_numpy(array.astype("float64"))
    return torch.from_numpy(array.astype("int64") if array.dtype.kind == "u" else array)


def in_float(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of real numbers: integers are converted to the default float before."""

    def call(*arrays: Any) -> Any:
        return function(*(single(a) for a in arrays))

    return call


def single(array: Any) -> Any:
    """Integers and bool as the numbers that float32 has for them, in float64."""
    if array.dtype.kind == "f":
        return array
    return array.astype("float32").astype("float64")


def line(m: Maker) -> Sequence[Any]:
    return [m.line()]


def one(
    name: str, reference: Any = None, inputs: Any = line, family: str = "Functions",
    call: Any = None, **facts: Any,
) -> None:  # fmt: skip
    """A function of one tensor: of NumPy by its name, or what `reference` says."""
    function = reference if callable(reference) else numpy_function(reference or name)
    facts = {"result": "float", **facts}
    if facts["result"] == "float":
        function = in_float(function)
    check(name, family, call or method(name), function, inputs, **facts)


def two(
    name: str, reference: Any = None, inputs: Any = Maker.pairs, family: str = "Arithmetic",
    call: Any = None, **facts: Any,
) -> None:  # fmt: skip
    """A function of two tensors of one dtype."""
    function = reference if callable(reference) else numpy_function(reference or name)
    if facts.get("result") == "float":
        function = in_float(function)
    check(name, family, call or method(name), function, inputs, **facts)


# ---- arithmetic ----------------------------------------------------------------------------------


def _whole_number(np: Any, a: Any, b: Any, operation: str) -> Any:
    """Division of integers in NumPy's way, 0 where the divisor is 0, and wrapping."""
    if a.dtype.kind == "b":
        a, b = a.astype("int32"), b.astype("int32")
    if a.dtype.kind == "f":
        return getattr(np, operation)(a, b)
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    return np.where(b == 0, 0, getattr(np, operation)(a, safe)).astype(a.dtype)


def _toward_zero(np: Any, a: Any, b: Any) -> Any:
    down = _whole_number(np, a, b, "floor_divide")
    rest = _whole_number(np, a, b, "mod")
    off = (rest != 0) & ((a < 0) != (b < 0)) if a.dtype.kind == "i" else False
    return down + off


def _integer_power(np: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind == "f":
        return np.power(a, b)
    if a.dtype.kind == "b":
        return a | ~b
    found = np.power(a, np.where(b < 0, 0, b).astype(a.dtype))
    if a.dtype.kind == "u":
        return found
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, inverse, found).astype(a.dtype)


def _near_pairs(m: Maker) -> Sequence[Any]:
    """Pairs of floats whose quotient has fewer digits than a float32 of all devices can tell."""
    import numpy as np

    a, b = m.pairs()
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        kept = (np.abs(x / y) < 2.0**24) | (y == 0) | ~np.isfinite(x) | ~np.isfinite(y)
    return [a, b] if a.dtype.kind in "biu" else [a[kept], b[kept]]


def _shifts(m: Maker) -> Sequence[Any]:
    values, amount = m.pairs()
    if m.dtype.itemsize and values.dtype.kind in "iu":
        amount = (amount % (m.dtype.bitsize + 3)).astype(values.dtype)
    return [values, amount]


def _shifted(name: str) -> Any:
    def call(np: Any, a: Any, n: Any) -> Any:
        width = 8 * a.dtype.itemsize
        by = np.clip(n, 0, width - 1).astype(a.dtype)
        past = np.where(a < 0, -1, 0).astype(a.dtype) if name == "right_shift" else a * 0
        return np.where(n >= width, past, getattr(np, name)(a, by)).astype(a.dtype)

    return quiet(call)


two("add")
two("sub", "subtract", kinds="number")
two("mul", "multiply")
two("div", "true_divide", result="float", most=1)
two("idiv", quiet(_toward_zero), kinds="whole", result="number")
two(
    "mod",
    quiet(lambda np, a, b: _whole_number(np, a, b, "mod")),
    _near_pairs,
    result="number",
    zeros=False,
)
two("pow", quiet(_integer_power), most=2)
two("maximum", zeros=False)
two("minimum", zeros=False)
two("copysign", result="float")
two("lerp", quiet(lambda np, a, b: a + (b - a) * 0.25), lambda m: [m.calm(40), m.calm(40)],
    call=lambda a, b: a.lerp(b, 0.25), result="float", most=8, loose=True,
    against="its formula")  # fmt: skip
two("bitwise_and", kinds="whole")
two("bitwise_or", kinds="whole")
two("bitwise_xor", kinds="whole")
two("lshift", _shifted("left_shift"), _shifts, kinds="integer")
two("rshift", _shifted("right_shift"), _shifts, kinds="integer")
one("bitwise_not", "invert", family="Arithmetic", kinds="whole", result="same")
one("neg", "negative", family="Arithmetic", kinds="number", result="same")
one("abs", family="Arithmetic", result="same")
one("sign", quiet(lambda np, x: x if x.dtype.kind == "b" else np.sign(x)), family="Arithmetic",
    result="same")  # fmt: skip
one("square", quiet(lambda np, x: x * x), family="Arithmetic", result="same")
one("reciprocal", quiet(lambda np, x: 1 / x), family="Arithmetic", most=1)
for _name, _theirs in {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "rint"}.items():
    one(_name, quiet(lambda np, x, n=_theirs: getattr(np, n)(x) if x.dtype.kind == "f" else x),
        family="Arithmetic", result="same")  # fmt: skip


# ---- comparison and choice -----------------------------------------------------------------------

for _name, _theirs in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}.items():  # fmt: skip
    two(_name, _theirs, family="Comparison and choice", result="bool")
two("isclose", family="Comparison and choice", result="bool", call=method("isclose", rtol=0.25),
    reference=quiet(lambda np, a, b: _close(np, a, b)))  # fmt: skip
for _name in ("isnan", "isinf", "isfinite", "logical_not"):
    one(_name, family="Comparison and choice", result="bool")
for _name in ("clamp", "clip"):
    check(_name, "Comparison and choice", method(_name, 0, 1),
          quiet(lambda np, x: np.clip(x, 0, 1)), line, result="number")  # fmt: skip
check("where", "Comparison and choice", lambda c, a, b: c.where(a, b), numpy_function("where"),
      lambda m: [m.truths(len(m.pairs()[0])), *m.pairs()])  # fmt: skip
check("masked_fill", "Comparison and choice", lambda x, c: x.masked_fill(c, True),
      quiet(lambda np, x, c: np.where(c, np.ones_like(x), x)),
      lambda m: [m.grid(5, 6), m.truths(5, 6)])  # fmt: skip


def _close(np: Any, a: Any, b: Any) -> Any:
    """NumPy's answer, for integers too without wrapping."""
    wide = [x.astype("O") if x.dtype.kind in "iu" else x.astype(float) for x in (a, b)]
    if a.dtype.kind in "iu":
        pairs = zip(*wide)
        return np.array([abs(p - q) <= 1e-8 + 0.25 * abs(q) for p, q in pairs])
    return np.isclose(*wide, rtol=0.25, atol=1e-8)


# ---- functions of a real number ------------------------------------------------------------------


def _turns(m: Maker) -> Sequence[Any]:
    """Up to a million half turns: further out the zeros of cosine are known to so many digits."""
    import numpy as np

    values = m.line()
    with np.errstate(all="ignore"):
        near = np.abs(values.astype(np.float64)) < 3e6
    return [values[near | ~np.isfinite(values.astype(np.float64))]]


for _name in ("sqrt", "exp", "exp2", "log", "log2", "log10", "log1p", "expm1", "sin"):
    one(_name, most=2)
for _name in ("cos", "tan"):
    one(_name, inputs=_turns, most=2)
for _name in ("sinh", "cosh", "tanh"):
    one(_name, most=3)
for _name in ("asin", "acos", "atan", "asinh", "acosh", "atanh"):
    one(_name, "arc" + _name[1:], most=4)
one("rsqrt", quiet(lambda np, x: 1 / np.sqrt(x)), most=2)
one("erf", torch_function("erf"), most=4, against="PyTorch")

FUNCTIONAL = "Activations"


def _like_tanh(np: Any, x: Any) -> Any:
    """gelu by the logistic function: PyTorch's 1 + tanh loses what is left below -5."""
    return x / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


def _between(np: Any, x: Any, low: int, high: int) -> Any:
    if x.dtype.kind in "iu":
        return np.array([min(max(int(v), low), high) for v in x]).astype(x.dtype)
    return np.clip(x, low, high)


for _name in ("sigmoid", "logsigmoid", "silu", "softsign", "mish", "elu", "celu", "leaky_relu",
              "hardswish", "hardsigmoid", "selu"):  # fmt: skip
    one(_name, torch_function(_name), family=FUNCTIONAL, most=64 if _name == "silu" else 8,
        zeros=False, against="PyTorch")  # fmt: skip
for _name, _low, _high in (("relu6", 0, 6), ("hardtanh", -1, 1)):
    one(_name, quiet(lambda np, x, low=_low, high=_high: _between(np, x, low, high)),
        family=FUNCTIONAL, result="number", zeros=False)  # fmt: skip
one("swish", torch_function("silu"), family=FUNCTIONAL, most=8, zeros=False, against="PyTorch")
one("relu", quiet(lambda np, x: np.maximum(x, x.dtype.type(0))), family=FUNCTIONAL,
    result="number", zeros=False)  # fmt: skip
one("gelu", quiet(_like_tanh), family=FUNCTIONAL, most=64, against="its formula")
one("softplus", torch_function("softplus", threshold=1e9), family=FUNCTIONAL, most=8,
    against="PyTorch")  # fmt: skip
one("quick_gelu", quiet(lambda np, x: x / (1 + np.exp(-1.702 * x))), family=FUNCTIONAL, most=64,
    against="its formula")  # fmt: skip
