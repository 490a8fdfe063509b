"""Which methods of Tensor complex tensors have: their own, those that are composed of them, and
those of the interleaved numbers. All others are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from weft.base.errors import DTypeError
from weft.tensor.complex import conversion, gradients, movement
from weft.tensor.ops.parameter_aliases import method_spelled_as_elsewhere

COMPOSED = frozenset(
    # classes of tensors, and what is asked of any tensor
    "dim ndimension size shape dtype device training train no_grad enable_grad manual_seed "
    "is_complex "
    # movement
    "T mT t moveaxis movedim swapaxes swapdims permute_dims ravel fliplr flipud atleast_1d "
    "atleast_2d broadcast_to expand_as reshape_as view_as type_as hstack vstack column_stack "
    "concat concatenate stack split split_with_sizes chunk hsplit vsplit dsplit unbind unstack "
    "narrow select meshgrid rearrange diff isin "
    # arithmetic
    "addcdiv addcmul addmm addmv addbmm baddbmm addr ger cov "
    "mse_loss cosine_similarity logical_not logical_and logical_or logical_xor data "
    # linear algebra, by LAPACK
    "cholesky det eig eigh eigvalsh inv inverse logdet lstsq matrix_rank pinv qr slogdet solve svd "
    "svdvals "
    # placement
    "float double half bfloat16 int long short char byte bool ".split()
)
"""Methods that call other methods alone."""

INTERLEAVED = (
    "clone contiguous contiguous_backward detach requires_grad_ to_ zero_ shard shard_ shard_like "
    "fuse retain_grad"
).split()
"""Methods of the interleaved numbers: they do not depend on what an element is."""

INTERLEAVED_RESULTS = "kernelize schedule schedule_with_vars is_leaf register_hook".split()
"""Methods of the interleaved numbers, whose results are passed on."""

ALIASES = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh", "subtract": "sub",
    "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg",
    "not_equal": "ne", "sgn": "sign", "concat": "cat", "concatenate": "cat",
    "take_along_axis": "take_along_dim", "expand_dims": "unsqueeze",
}  # fmt: skip
"""Second names of methods."""

IN_PLACE = (
    "add sub mul div pow exp log sqrt sin cos tan sinh cosh tanh neg square reciprocal abs sign "
    "conj cumsum cumprod round masked_fill index_fill index_copy index_add index_put scatter "
    "scatter_add"
).split()

_OPERATORS = {
    "__add__": "add", "__sub__": "sub", "__mul__": "mul", "__truediv__": "div", "__pow__": "pow",
    "__matmul__": "matmul", "__eq__": "eq", "__ne__": "ne",
}  # fmt: skip
_NO_OPERATORS = (
    "__lt__ __le__ __gt__ __ge__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __divmod__ "
    "__rdivmod__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rlshift__ "
    "__rshift__ __rrshift__ __invert__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__ "
    "__ifloordiv__ __imod__ __float__ __int__ __index__"
).split()


def install(cls: Any, own: dict[str, Callable[..., Any]]) -> None:
    """Give the class of complex tensors its methods, and refuse all others of Tensor."""
    own = {
        name: method_spelled_as_elsewhere(name, method) if isinstance(method, FunctionType)
        else method
        for name, method in own.items()
    }  # fmt: skip
    methods: dict[str, Any] = {**own, **conversion.PROTOCOLS, **gradients.PROPERTIES}
    methods |= {name: _of_interleaved(name, True) for name in INTERLEAVED if name not in own}
    methods |= {
        name: _of_interleaved(name, False) for name in INTERLEAVED_RESULTS if name not in vars(cls)
    }
    methods |= {name: methods[of] for name, of in ALIASES.items()}
    methods |= {f"{name}_": _in_place(methods[name]) for name in IN_PLACE}
    for operator, name in _OPERATORS.items():
        methods |= _operators(operator, methods[name])
    methods |= {name: _refusal(name) for name in _NO_OPERATORS}
    methods |= {
        "__getitem__": movement.get_item, "__setitem__": movement.set_item,
        "__neg__": own["neg"], "__pos__": lambda self: self._over(self._interleaved),
        "__abs__": own["abs"], "__hash__": object.__hash__,
    }  # fmt: skip
    for name, method in methods.items():
        setattr(cls, name, method)
    there = {*methods, *vars(cls), *COMPOSED}
    for name in dir(cls.__mro__[1]):
        if not name.startswith("_") and name not in there:
            setattr(cls, name, _refusal(name))


def _of_interleaved(name: str, wrapped: bool) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(self._interleaved, name)(*args, **kwargs)
        if not wrapped:
            return found
        return self if found is self._interleaved else self._over(found)

    method.__name__, method.__doc__ = name, f"`Tensor.{name}` of the interleaved numbers."
    return method


def _in_place(method: Callable[..., Any]) -> Callable[..., Any]:
    def written(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.assign(method(self, *args, **kwargs))

    written.__name__ = f"{method.__name__}_"
    written.__doc__ = f"`{method.__name__}`, written to self."
    return written


def _operators(name: str, method: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """An operator, with its operands the other way round, and in place."""

    def operator(self: Any, x: Any) -> Any:
        if x is None or x.__class__ is str:
            return NotImplemented
        return method(self, x)

    def reflected(self: Any, x: Any) -> Any:
        return method(self, x, True)

    made = {name: operator}
    if name not in ("__eq__", "__ne__"):
        made[f"__r{name[2:]}"] = reflected
        made[f"__i{name[2:]}"] = lambda self, x: self.assign(method(self, x))
    return made


def _refusal(name: str) -> Any:
    def refused(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, type):
            raise DTypeError(f"{name} is not for complex numbers", asked=f"{name}(...)")
        raise self._refused(name)

    refused.__name__, refused.__doc__ = name, "Refused: it is not for complex numbers."
    return refused
