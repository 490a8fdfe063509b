"""Parameter and Buffer: tensors of which a module takes note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes, element_dtype
from weft.base.errors import ArgumentError, GradientError
from weft.tensor import Tensor
from weft.tensor.live_tensors import register_tensor
from weft.tensor.ops.device_placement import is_dtype
from weft.tensor.protocol import grad_enabled, record
from weft.tensor.tracing_cache import accept_operands
from weft.uop import Ops, UOp

_allocate = object.__new__


class Held(Tensor):
    """A tensor of which modules take note. What is computed from it is a plain Tensor."""

    __slots__ = ()
    _view_class = Tensor

    def __new__(cls, data: Any = None, *args: Any, **kwargs: Any) -> Self:
        """With `device` or `dtype` a plain Tensor: operations make their constants so."""
        if "device" in kwargs or "dtype" in kwargs:
            return Tensor(data, *args, **kwargs)  # type: ignore[return-value]
        return _allocate(cls)

    @classmethod
    def _from_node(cls, uop: UOp, requires_grad: bool | None = None, derived: bool = False) -> Any:
        return Tensor._from_node(uop, requires_grad, derived)

    def _wrap(self, uop: UOp) -> Any:
        # as TensorBase._wrap, not by a call of it: every operation on a weight comes through here
        made = _allocate(Tensor)
        made._uop = uop
        made._alias = made.grad = None
        flag = self._requires_grad
        if flag and grad_enabled():
            made._requires_grad = True
            made.is_leaf = False
        else:
            made._requires_grad = False if flag is False else None
            made.is_leaf = True
            if flag:
                made._uop = record(Ops.DETACH, uop.dtype, (uop,))
        register_tensor(made)
        return made

    def __copy__(self) -> Self:
        return held(type(self), super().__copy__())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return held(type(self), super().__deepcopy__(memo))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        make, given = super().__reduce_ex__(protocol)
        return _restored, (type(self), make, tuple(Tensor if a is type(self) else a for a in given))


@accept_operands
class Parameter(Held):
    """A tensor that a module trains: an attribute of this type is one of its parameters.

    Over the same memory as `data`, a tensor or what makes one; requires gradients unless
    requires_grad=False. :raises GradientError: for integers that are to have gradients.

    >>> class Scale(nn.Module):
    ...     def __init__(self):
    ...         self.factor = nn.Parameter(Tensor([2.0]))
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> [name for name, _ in Scale().named_parameters()]
    ['factor']
    """

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        given = data if isinstance(data, Tensor) else Tensor(data)
        if not given.is_leaf:
            given = given.detach()
        super().__init__(given._uop)
        self.requires_grad_(requires_grad)


@accept_operands
class Buffer(Held):
    """A tensor that belongs to a module's state and is not trained, such as a running mean.

    persistent: whether it is in the `state_dict`.

    >>> class Shift(nn.Module):
    ...     def __init__(self):
    ...         self.amount = nn.Buffer(Tensor([1.0]))
    >>> [name for name, _ in Shift().named_buffers()]
    ['amount']
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, persistent: bool = True, **kwargs: Any) -> Any:
        kind: type[Any] = cls if persistent else Transient
        return super().__new__(kind, data, **kwargs)

    def __init__(self, data: Any = None, persistent: bool = True) -> None:
        given = data if isinstance(data, Tensor) else Tensor(data)
        super().__init__(given._uop, requires_grad=False)


class Transient(Buffer):
    """A buffer that is in no `state_dict`."""

    __slots__ = ()


def held(kind: type[Any], tensor: Tensor) -> Any:
    """`tensor` itself, as one of which modules take note; its class changes, nothing else."""
    tensor.__class__ = kind
    return tensor


def _restored(kind: type[Any], make: Callable[..., Tensor], given: tuple[Any, ...]) -> Any:
    return held(kind, make(*given))


def parameter(data: Tensor) -> Parameter:
    """A parameter of a layer; of integers, which some models have, one without gradients."""
    return Parameter(data, dtypes.is_float(data.dtype))


def destination(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, DType | None]:
    """(device, dtype) of the arguments of `Module.to`, None for what stays.

    :raises GradientError: for a dtype of integers.
    """
    device, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    kwargs.pop("non_blocking", None)
    if kwargs or len(args) > 2:
        raise ArgumentError(
            "a module is moved to a device, a dtype or both",
            asked=f"to({', '.join([*map(shown, args), *kwargs])})",
            try_="module.to(device, dtype)",
        )
    for given in args:
        if isinstance(given, Tensor):
            device, dtype = given.device, given.dtype
        elif is_dtype(given):
            dtype = given
        else:
            device = given
    kind = None if dtype is None else element_dtype(dtype)
    if kind is not None and not dtypes.is_float(kind):
        raise GradientError(
            "the parameters of a module are floating-point",
            asked=f"to({kind!r})", because="integers cannot be trained", try_="to(dtypes.float16)",
        )  # fmt: skip
    return device, kind


def is_parameter(tensor: Tensor) -> bool:
    """Whether a tensor of a module is trained: a Parameter, or floats of a plain object that may
    have gradients."""
    if isinstance(tensor, Held):
        return isinstance(tensor, Parameter)
    return dtypes.is_float(tensor.dtype) and tensor.requires_grad is not False
