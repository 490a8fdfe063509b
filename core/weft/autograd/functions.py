"""Custom derivatives: functions with a vector-Jacobian product of their own, as in PyTorch.
Also: custom VJP, gradient rules.

Gradients with respect to given tensors follow the interface of `torch.autograd`, too.

This layer is below that of tensors: it takes as a tensor whatever has the methods of one.

A result of `Function.apply` is a SLOPE node over the value, the inputs, and a UNIQUE node
that stands for the call. `TABLE` has the rule of each call for as long as that node lives, so that
copies of the graph find it, too.

Source: PyTorch, `torch.autograd.Function`; JAX, `jax.custom_vjp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from weft.autograd.derivatives import CUSTOM
from weft.base.arguments import kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import GradientError, ShapeError, WrongKind
from weft.base.weak import WeakKeys
from weft.uop import Ops, UOp

Rule = Callable[[int, UOp], Sequence["UOp | None"]]

TABLE: WeakKeys[UOp, Rule] = WeakKeys()
"""By the node that stands for a call: (number of the result, gradient of it) -> one part for each
input that is a tensor."""

_numbers = count()


def _is_tensor(value: Any) -> bool:
    return isinstance(getattr(value, "uop", None), UOp) and hasattr(value, "gradient")


class Context:
    """What `forward` leaves for `backward`: tensors by `save_for_backward`, anything else as
    attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        """For each argument of `forward` whether it is a tensor that requires gradients."""
        self.saved_tensors: tuple[Any, ...] = ()
        """What was given to `save_for_backward`."""
        self._constant: set[int] = set()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`, which finds them in `saved_tensors`."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *results: Any) -> None:
        """Results that no gradient flows through."""
        self._constant.update(id(each) for each in results)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` is given zeros, or None, for results without a gradient."""
        self._materialize = value

    def mark_dirty(self, *_tensors: Any) -> None:
        """:raises GradientError: always. A function does not write into its arguments."""
        raise GradientError(
            "a function with a derivative of its own does not write into its arguments",
            asked="ctx.mark_dirty(...)",
            try_="a new tensor as the result",
        )


class Function:
    """A function with a derivative of its own. Derive from it, and define `forward` and `backward`.

    `forward(ctx, *args)` gives a tensor or a tuple; `backward(ctx, *gradients)` is given the
    gradient of each result and gives that of each argument, None for those that have none. Both
    are static, and called by `apply`; with `setup_context(ctx, inputs, output)` `forward` takes no
    `ctx`. Of a function with several results `backward` is called once for each, with zeros for
    the others, and what it gives is added.

    >>> class Square(weft.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return gradient * 2 * x
    >>> x = Tensor([3.0], requires_grad=True)
    >>> _ = Square.apply(x).sum().backward()
    >>> x.grad.tolist()
    [6.0]
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value. :raises NotImplementedError: unless a derived class defines it."""
        raise NotImplementedError("forward(ctx, *args)")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """The gradients. :raises NotImplementedError: unless a derived class defines it."""
        raise NotImplementedError("backward(ctx, *gradients)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What is kept for `backward`, where `forward` takes no `ctx`."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """The result of `forward`, with the derivative that `backward` says.

        :raises WrongKind: if a result is no tensor.
        """
        tensors = [each for each in args if _is_tensor(each)]
        ctx = Context(tuple([_is_tensor(a) and bool(a.requires_grad) for a in args]))
        if cls.setup_context is Function.setup_context:
            output = cls.forward(ctx, *args)
        else:
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
        single = not isinstance(output, (tuple, list))
        results = (output,) if single else tuple(output)
        for each in results:
            if not _is_tensor(each):
                raise WrongKind(
                    "the results of a function are tensors",
                    asked=f"{cls.__name__}.apply(...) that gives {shown(each)}",
                    because=f"that is {kind_of(each)}",
                    try_="other values as attributes of ctx, or beside the function",
                )
        call = _Call(cls, ctx, args, results)
        token = UOp(Ops.UNIQUE, arg=(CUSTOM, next(_numbers)))
        TABLE[token] = call.parts  # which does not know the token: the two go together
        made = tuple([call.marked(i, each, tensors, token) for i, each in enumerate(results)])
        return made[0] if single else made


class _Call:
    """One call of a Function: what its rule needs."""

    def __init__(
        self, owner: type[Function], ctx: Context, args: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        self._owner, self._ctx = owner, ctx
        self._args = [(each.dtype, each.shape) if _is_tensor(each) else None for each in args]
        self._results = [(each.shape, each.dtype, each.device) for each in results]
        self._constant = [id(each) in ctx._constant for each in results]
        self._kind: Any = None

    def marked(self, number: int, value: Any, tensors: list[Any], token: UOp) -> Any:
        """A result as others see it."""
        detached = value.detach()
        known = dtypes.is_float(value.dtype) and not self._constant[number]
        if not known or not any(each.requires_grad for each in tensors):
            return detached
        self._kind = type(detached)
        sources = (value.uop, *(each.uop for each in tensors), token)
        first, *others = tensors
        return first._wrap_with(UOp(Ops.SLOPE, value.dtype, sources, (CUSTOM, number)), *others)

    def parts(self, number: int, upstream: UOp) -> list[UOp | None]:
        """The gradient of the result of this number, as one part for each tensor."""
        name = self._owner.__name__
        given: list[Any] = [None] * len(self._results)
        for i, (shape, dtype, device) in enumerate(self._results):
            if i == number:
                given[i] = self._kind._from_node(upstream)
            elif self._ctx._materialize:
                given[i] = self._kind.zeros(shape, dtype=dtype, device=device)
        found = self._owner.backward(self._ctx, *given)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        while len(found) > len(self._args) and found[-1] is None:
            found.pop()
        if len(found) != len(self._args):
            raise GradientError(
                "backward gives a gradient for each argument of forward",
                asked=f"{name}.backward",
                because=f"it gave {len(found)}, and there are {len(self._args)} arguments",
                try_="None for arguments that have no gradient",
            )
        tensors = [(each, facts) for each, facts in zip(found, self._args) if facts is not None]
        return [_part(name, each, *facts) for each, facts in tensors]


def _part(name: str, gradient: Any, dtype: Any, shape: Any) -> UOp | None:
    """A gradient that `backward` gave, checked, in the dtype of its argument."""
    if gradient is None:
        return None
    if not _is_tensor(gradient) or gradient.shape != shape:
        what = f"shape {gradient.shape}" if _is_tensor(gradient) else kind_of(gradient)
        raise ShapeError(
            "a gradient is a tensor of the shape of its argument",
            asked=f"{name}.backward",
            because=f"it gave {what} for an argument of shape {shape}",
        )
    node: UOp = gradient.uop
    return node if node.dtype is dtype else node.cast(dtype)


def custom_parts(node: UOp, upstream: UOp) -> list[UOp | None]:
    """The parts of the sources of a SLOPE node of a Function. :raises GradientError: if the call is
    not known, in another process."""
    rule = TABLE.get(node.src[-1])
    if rule is None:
        raise GradientError(
            "the derivative of this function is not known here",
            asked="a gradient through a weft.autograd.Function",
            because="graphs do not take Python functions to other processes",
            try_="the call of the function, and backward, in one process",
        )
    return [None, *rule(node.arg[1], upstream), None]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of the sum of all outputs with respect to each input, as `Tensor.gradient`
    gives them for one output.

    :param grad_outputs: weights of the elements of each output; None where that is one number.
    :param retain_graph: has no effect: graphs stay.
    :param create_graph: whether gradients flow through the results in turn.
    :param allow_unused: None rather than an error for inputs that no output depends on.
    :param materialize_grads: zeros for those.
    :raises GradientError: as `Tensor.gradient` does.

    >>> x = Tensor([2.0, 3.0], requires_grad=True)
    >>> (slope,) = weft.autograd.grad((x * x).sum(), x)
    >>> slope.tolist()
    [4.0, 6.0]
    """
    if is_grads_batched:
        raise GradientError(
            "weights are not batched",
            asked="grad(is_grads_batched=True)",
            try_="a call for each row of the weights",
        )
    results = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    targets = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    weights = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]
    if grad_outputs is None:
        weights *= len(results)
    for each in (*results, *targets):
        if not _is_tensor(each):
            raise WrongKind(
                "gradients are of tensors, with respect to tensors",
                asked=f"grad of {shown(each)}",
                because=f"that is {kind_of(each)}",
            )
    if len(weights) != len(results):
        raise GradientError(
            "there are weights for each output",
            asked=f"grad of {len(results)} outputs with {len(weights)} weights",
            try_="grad_outputs=None for outputs of one number each",
        )
    total, weight = results[0], weights[0]
    if len(results) > 1:
        total, weight = _weighted(results, weights), None
    if allow_unused and not materialize_grads:
        found = [_or_none(total, each, weight) for each in targets]
    else:
        found = total.gradient(*targets, gradient=weight, materialize_grads=materialize_grads)
    return tuple([g if g is None or create_graph else g.detach() for g in found])


def _weighted(outputs: list[Any], weights: list[Any]) -> Any:
    """The sum of the elements of all outputs, each with its weight."""
    total = None
    for output, weight in zip(outputs, weights):
        if weight is None and output.numel() != 1:
            output.gradient()  # says that weights are needed
        part = (output if weight is None else output * weight).sum()
        total = part if total is None else total + part
    return total


def _or_none(total: Any, target: Any, weight: Any) -> Any:
    """The gradient with respect to one input, or None where nothing depends on it."""
    total.gradient(target, gradient=weight, materialize_grads=True)  # raises for other reasons
    try:
        return total.gradient(target, gradient=weight)[0]
    except GradientError:
        return None
