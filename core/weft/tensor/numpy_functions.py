"""NumPy's functions over tensors: `numpy.add(x, y)`, `numpy.exp(x)`, `numpy.concatenate([x, y])`.

In: what NumPy's protocols `__array_ufunc__` and `__array_function__` hand over. Out: a lazy tensor
where weft has the same function with the same meaning; an array of NumPy's own for other functions,
which get the values; a TypeError for what neither can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import DTypeError, WeftError
from weft.base.promotion import promote_with_scalar
from weft.tensor.protocol import TensorBase

# ---- functions of each element -------------------------------------------------------------------

_OPERATORS = {
    "add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__",
    "true_divide": "__truediv__", "floor_divide": "__floordiv__", "remainder": "__mod__",
    "mod": "__mod__", "power": "__pow__", "matmul": "__matmul__", "bitwise_and": "__and__",
    "bitwise_or": "__or__", "bitwise_xor": "__xor__", "left_shift": "__lshift__",
    "right_shift": "__rshift__", "equal": "__eq__", "not_equal": "__ne__", "less": "__lt__",
    "less_equal": "__le__", "greater": "__gt__", "greater_equal": "__ge__",
    "negative": "__neg__", "invert": "__invert__", "bitwise_invert": "__invert__",
}  # fmt: skip
_METHODS = {
    "maximum": "maximum", "minimum": "minimum", "copysign": "copysign", "absolute": "abs",
    "fabs": "abs", "sqrt": "sqrt", "square": "square", "exp": "exp", "exp2": "exp2",
    "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "rint": "round", "sign": "sign", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "logical_not": "logical_not", "reciprocal": "reciprocal",
    "arctan2": "atan2", "atan2": "atan2", "hypot": "hypot", "logaddexp": "logaddexp",
    "logaddexp2": "logaddexp2", "fmax": "fmax", "fmin": "fmin", "fmod": "fmod",
    "heaviside": "heaviside", "float_power": "float_power", "deg2rad": "deg2rad",
    "rad2deg": "rad2deg", "radians": "deg2rad", "degrees": "rad2deg", "signbit": "signbit",
}  # fmt: skip
_FOLDS = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip
_SCANS = {"add": "cumsum", "multiply": "cumprod"}
_TRUTHS: dict[str, Callable[[Any, Any], Any]] = {
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_xor": lambda a, b: a ^ b,
}
_IGNORED = frozenset({"casting", "order", "subok"})


def call_ufunc(like: Any, ufunc: Any, method: str, inputs: Sequence[Any], named: Any) -> Any:
    """What `__array_ufunc__` answers: a tensor of the class of `like`.

    :raises DTypeError: (a TypeError) for functions and options that weft lacks.
    """
    out = named.pop("out", None)
    dtype = named.pop("dtype", None)
    if named.get("where") is True:
        del named["where"]
    options = {name: value for name, value in named.items() if name not in _IGNORED}
    if method == "__call__" and not options:
        result = _called(like, ufunc.__name__, inputs)
    elif method == "reduce":
        result = _folded(like, ufunc.__name__, inputs[0], options)
    elif method == "accumulate" and ufunc.__name__ in _SCANS and set(options) <= {"axis"}:
        result = getattr(_tensor(like, inputs[0]), _SCANS[ufunc.__name__])(options.get("axis", 0))
    else:
        result = None
    if result is None:
        what = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        raise DTypeError(
            f"{what} does not take tensors" + (f" with {', '.join(options)}" if options else ""),
            asked=f"{what} of {', '.join(type(x).__name__ for x in inputs)}",
            because="weft has no function of that meaning",
            try_=f"{what}(x.numpy()), or a method of Tensor",
        )
    result = result if dtype is None else result.cast(dtype)
    return result if out is None else _written_to(out, result)


def _tensor(like: Any, x: Any) -> Any:
    return x if isinstance(x, TensorBase) else like.__class__(x, device=like.device)


def _called(like: Any, name: str, inputs: Sequence[Any]) -> Any:
    if name in _TRUTHS and len(inputs) == 2:
        a, b = (_tensor(like, x).bool() for x in inputs)
        return _TRUTHS[name](a, b)
    if name in ("positive", "conjugate"):
        return inputs[0]
    if name == "divmod":
        a, b = (_tensor(like, x) for x in inputs)
        return a // b, a % b
    method = _OPERATORS.get(name) or _METHODS.get(name)
    if method is None:
        return None
    first, *rest = inputs
    if name == "reciprocal" and not dtypes.is_float(first.dtype):
        return None  # NumPy's is rounded toward zero there
    if rest and not isinstance(first, TensorBase):
        first = _left(first, rest[0])
    return getattr(first, method)(*rest)


def _left(first: Any, second: Any) -> Any:
    """An operand of NumPy's before a tensor. Its scalars are as weak as Python's: they take the
    dtype of the tensor where that is of their kind."""
    if getattr(first, "shape", ()) == () and hasattr(first, "item"):
        first = first.item()
    if isinstance(first, (bool, int, float)):
        kind = promote_with_scalar(second.dtype, first)
        return second.full((), first, dtype=kind, device=second.device)
    return _tensor(second, first)


def _folded(like: Any, name: str, x: Any, options: dict[str, Any]) -> Any:
    if name not in _FOLDS or not set(options) <= {"axis", "keepdims", "initial"}:
        return None
    if options.get("initial") is not None:
        return None
    axis = options.get("axis", 0)
    return getattr(_tensor(like, x), _FOLDS[name])(axis, bool(options.get("keepdims", False)))


def _written_to(out: Any, result: Any) -> Any:
    """Results written to the `out` arguments of NumPy's function."""
    targets = out if isinstance(out, tuple) else (out,)
    results = result if isinstance(result, tuple) else (result,)
    written = []
    for target, value in zip(targets, results):
        if target is None:
            written.append(value)
        elif isinstance(target, TensorBase):
            written.append(target.assign(value))
        else:
            import numpy

            numpy.copyto(target, value.numpy(), casting="same_kind")
            written.append(target)
    return written[0] if len(written) == 1 else tuple(written)


# ---- other functions -----------------------------------------------------------------------------

_Function = Callable[..., Any]


def _first(arrays: Any) -> Any:
    found = next((x for x in arrays if isinstance(x, TensorBase)), None)
    return [_tensor(found, x) for x in arrays]


def _concatenate(arrays: Any, axis: int | None = 0) -> Any:
    parts = _first(arrays)
    if axis is None:
        parts, axis = [x.flatten() for x in parts], 0
    return parts[0].cat(*parts[1:], dim=axis)


def _stack(arrays: Any, axis: int = 0) -> Any:
    parts = _first(arrays)
    return parts[0].stack(*parts[1:], dim=axis)


def _where(condition: Any, x: Any, y: Any) -> Any:
    like = next(each for each in (condition, x, y) if isinstance(each, TensorBase))
    return _tensor(like, condition).where(x, y)


def _deviation(name: str) -> _Function:
    def computed(a: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        return getattr(a, name)(axis, keepdims, ddof)

    return computed


def _reduction(name: str) -> _Function:
    def computed(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return getattr(a, name)(axis, keepdims)

    return computed


def _summed(name: str) -> _Function:
    def computed(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return getattr(a, name)(axis, keepdims, dtype=dtype)

    return computed


def _scan(name: str) -> _Function:
    def computed(a: Any, axis: int | None = None) -> Any:
        return getattr(a.flatten(), name)(0) if axis is None else getattr(a, name)(axis)

    return computed


def _dot(a: Any, b: Any) -> Any:
    like = a if isinstance(a, TensorBase) else b
    a, b = _tensor(like, a), _tensor(like, b)
    if not a.ndim or not b.ndim:
        return a * b
    # every row of a with every column of b: leading axes are no batches
    return a.dot(b) if b.ndim < 3 else a.tensordot(b, ((-1,), (-2,)))


def _expand_dims(a: Any, axis: Any) -> Any:
    if not isinstance(axis, (tuple, list)):
        return a.unsqueeze(axis)
    rank = a.ndim + len(axis)
    places = sorted(place + rank if place < 0 else place for place in axis)
    if len(set(places)) < len(places):
        raise TypeError("an axis is there twice")  # in NumPy's own words
    for place in places:
        a = a.unsqueeze(place)
    return a


def _transpose(a: Any, axes: Any = None) -> Any:
    return a.permute(*(range(a.ndim)[::-1] if axes is None else axes)) if a.ndim else a


def _isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    like = a if isinstance(a, TensorBase) else b
    return _tensor(like, a).isclose(b, rtol, atol, equal_nan)


def _like(name: str) -> _Function:
    def made(a: Any, dtype: Any = None) -> Any:
        return getattr(a, name)(**({} if dtype is None else {"dtype": dtype}))

    return made


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    return a.full_like(fill_value, **({} if dtype is None else {"dtype": dtype}))


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> Any:
    return a.clip(a_min, a_max)


_FUNCTIONS: dict[str, _Function] = {
    "all": _reduction("all"), "amax": _reduction("max"), "amin": _reduction("min"),
    "any": _reduction("any"), "clip": _clip, "concat": _concatenate, "concatenate": _concatenate,
    "copy": lambda a: a.clone(), "cumprod": _scan("cumprod"), "cumsum": _scan("cumsum"),
    "dot": _dot, "expand_dims": _expand_dims,
    "flip": lambda m, axis=None: m.flip(tuple(range(m.ndim)) if axis is None else axis),
    "full_like": _full_like, "isclose": _isclose, "max": _reduction("max"),
    "mean": _reduction("mean"), "min": _reduction("min"), "ndim": lambda a: a.ndim,
    "ones_like": _like("ones_like"), "permute_dims": _transpose, "prod": _summed("prod"),
    "ravel": lambda a: a.flatten(), "reshape": lambda a, shape: a.reshape(shape),
    "round": lambda a, decimals=0: a.round(decimals), "shape": lambda a: a.shape,
    "sort": lambda a, axis=-1: a.sort(axis)[0], "argsort": lambda a, axis=-1: a.argsort(axis),
    "squeeze": lambda a, axis=None: a.squeeze(axis), "stack": _stack,
    "std": _deviation("std"), "sum": _summed("sum"),
    "swapaxes": lambda a, axis1, axis2: a.transpose(axis1, axis2), "transpose": _transpose,
    "tril": lambda m, k=0: m.tril(k), "triu": lambda m, k=0: m.triu(k), "var": _deviation("var"),
    "where": _where, "zeros_like": _like("zeros_like"),
    "argmax": lambda a, axis=None: a.argmax(axis), "argmin": lambda a, axis=None: a.argmin(axis),
    "size": lambda a: a.numel(),
}  # fmt: skip


def call_function(function: _Function, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What `__array_function__` answers.

    Where weft has no function of that name, or not with these arguments, NumPy's own gets the
    values as arrays of its own.
    """
    ours = _FUNCTIONS.get(getattr(function, "__name__", ""))
    if ours is not None and getattr(function, "__module__", "numpy") == "numpy":
        try:
            return ours(*args, **named)
        except WeftError:
            raise
        except (TypeError, AttributeError, StopIteration):
            pass  # options that are NumPy's alone, or a list in a tensor's place
    return function(*_arrays(args), **{name: _arrays(value) for name, value in named.items()})


def _arrays(value: Any) -> Any:
    """With arrays in the place of tensors, in containers too."""
    if isinstance(value, TensorBase):
        return value.numpy()  # type: ignore[attr-defined]
    if isinstance(value, (list, tuple)):
        changed = [_arrays(each) for each in value]
        return changed if isinstance(value, list) else tuple(changed)
    if isinstance(value, dict):
        return {key: _arrays(each) for key, each in value.items()}
    return value
