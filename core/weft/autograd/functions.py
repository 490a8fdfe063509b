"""Custom derivatives: functions with a vector-Jacobian product of their own, as in PyTorch.
Also: custom VJP, gradient rules.

`grad` computes gradients with respect to given tensors. Its interface is `torch.autograd.grad`.

This layer is below that of tensors: a tensor is any object with the methods of one.

A result of `Function.apply` is a CUSTOM_VJP node. Its sources are the value, the inputs, and a
UNIQUE node that identifies the call. `VJP_RULES` holds the rule of each call as long as that UNIQUE
node lives. Copies of the graph share the node, so that they find the rule too.

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

VJP_RULES: WeakKeys[UOp, Rule] = WeakKeys()
"""The gradient rule of each call, by its UNIQUE node. A rule maps (number of a result, gradient of
that result) to one gradient for each input that is a tensor."""

_numbers = count()


def _is_tensor(value: Any) -> bool:
    return isinstance(getattr(value, "uop", None), UOp) and hasattr(value, "gradient")


class Context:
    """The state that `forward` passes to `backward`: tensors by `save_for_backward`, other values
    as attributes."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, needs: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs
        """For each argument of `forward`: whether it is a tensor that requires a gradient."""
        self.saved_tensors: tuple[Any, ...] = ()
        """The arguments of the last `save_for_backward`."""
        self._constant: set[int] = set()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for `backward`, which reads them from `saved_tensors`."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *results: Any) -> None:
        """Mark results as constants: no gradient flows through them."""
        self._constant.update(id(each) for each in results)

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` receives zeros (True) or None for results without a gradient."""
        self._materialize = value

    def mark_dirty(self, *_tensors: Any) -> None:
        """:raises GradientError: always. A function cannot write to its arguments."""
        raise GradientError(
            "a Function does not write to its arguments",
            asked="ctx.mark_dirty(...)",
            try_="return a new tensor as the result",
        )


class Function:
    """Base class of functions with a custom derivative. Subclasses define `forward`, `backward`.

    `forward(ctx, *args)` returns a tensor or a tuple of tensors. `backward(ctx, *gradients)` takes
    the gradient of each result. It returns the gradient of each argument, or None for an argument
    without one. Both are static methods, and `apply` calls them. If the class defines
    `setup_context(ctx, inputs, output)`, `forward` takes no `ctx`. For several results, `backward`
    runs once for each of them, with zeros for the others. The gradients are added.

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
        """Compute the value. :raises NotImplementedError: unless a subclass defines it."""
        raise NotImplementedError("forward(ctx, *args)")

    @staticmethod
    def backward(*args: Any, **kwargs: Any) -> Any:
        """Compute the gradients. :raises NotImplementedError: unless a subclass defines it."""
        raise NotImplementedError("backward(ctx, *gradients)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save values for `backward`; for a `forward` without `ctx`."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call `forward`; the gradient rule of its result is `backward`.

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
                    asked=f"{cls.__name__}.apply(...) that returns {shown(each)}",
                    because=f"that is {kind_of(each)}",
                    try_="store other values as attributes of ctx",
                )
        call = _Call(cls, ctx, args, results)
        token = UOp(Ops.UNIQUE, arg=(CUSTOM, next(_numbers)))
        VJP_RULES[token] = call.vjp  # has no reference to the token: no reference cycle
        made = tuple([call.with_vjp(i, each, tensors, token) for i, each in enumerate(results)])
        return made[0] if single else made


class _Call:
    """One call of a Function, with the facts that its gradient rule needs."""

    def __init__(
        self, owner: type[Function], ctx: Context, args: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        self._owner, self._ctx = owner, ctx
        self._args = [(each.dtype, each.shape) if _is_tensor(each) else None for each in args]
        self._results = [(each.shape, each.dtype, each.device) for each in results]
        self._constant = [id(each) in ctx._constant for each in results]
        self._kind: Any = None

    def with_vjp(self, number: int, value: Any, tensors: list[Any], token: UOp) -> Any:
        """The result of this number as a CUSTOM_VJP node; detached if it is a constant."""
        detached = value.detach()
        known = dtypes.is_float(value.dtype) and not self._constant[number]
        if not known or not any(each.requires_grad for each in tensors):
            return detached
        self._kind = type(detached)
        sources = (value.uop, *(each.uop for each in tensors), token)
        first, *others = tensors
        return first._wrap_with(
            UOp(Ops.CUSTOM_VJP, value.dtype, sources, (CUSTOM, number)), *others
        )

    def vjp(self, number: int, upstream: UOp) -> list[UOp | None]:
        """Vector-Jacobian product of one result: the gradient of each argument that is a tensor."""
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
                "backward returns a gradient for each argument of forward",
                asked=f"{name}.backward",
                because=f"it returned {len(found)}, and there are {len(self._args)} arguments",
                try_="return None for arguments that have no gradient",
            )
        tensors = [(each, facts) for each, facts in zip(found, self._args) if facts is not None]
        return [_checked_gradient(name, each, *facts) for each, facts in tensors]


def _checked_gradient(name: str, gradient: Any, dtype: Any, shape: Any) -> UOp | None:
    """A gradient that `backward` returned, in the dtype of its argument.

    :raises ShapeError: if it is no tensor of the shape of the argument.
    """
    if gradient is None:
        return None
    if not _is_tensor(gradient) or gradient.shape != shape:
        what = f"shape {gradient.shape}" if _is_tensor(gradient) else kind_of(gradient)
        raise ShapeError(
            "a gradient is a tensor of the shape of its argument",
            asked=f"{name}.backward",
            because=f"it returned {what} for an argument of shape {shape}",
        )
    node: UOp = gradient.uop
    return node if node.dtype is dtype else node.cast(dtype)


def with_function_vjp(value: UOp, inputs: Sequence[UOp], number: int, rule: Rule) -> UOp:
    """`value` as a function of these nodes, with a gradient rule of its own.

    number: what the rule is told of the result. Equal calls give different nodes.
    """
    token = UOp(Ops.UNIQUE, arg=(CUSTOM, next(_numbers)))
    VJP_RULES[token] = rule
    return UOp(Ops.CUSTOM_VJP, value.dtype, (value, *inputs, token), (CUSTOM, number))


def independent(node: UOp) -> UOp:
    """A node of this value that equals no other node: gradients with respect to it are its own."""
    return with_function_vjp(node, (node,), 0, _identity_vjp)


def _identity_vjp(_number: int, upstream: UOp) -> list[UOp | None]:
    return [upstream]


def function_vjp(node: UOp) -> Rule:
    """The gradient rule of the CUSTOM_VJP node of a Function.

    :raises GradientError: in a process other than that of the call: the rule is not known there.
    """
    rule = VJP_RULES.get(node.src[-1])
    if rule is None:
        raise GradientError(
            "the derivative of this function is not known in this process",
            asked="a gradient through a weft.autograd.Function",
            because="a pickled graph contains no Python functions",
            try_="call the function and backward in one process",
        )
    return rule


def custom_vjp(node: UOp, upstream: UOp) -> list[UOp | None]:
    """The gradient of each source of the CUSTOM_VJP node of a Function.

    :raises GradientError: as `function_vjp` does.
    """
    return [None, *function_vjp(node)(node.arg[1], upstream), None]


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
    """The gradients of the sum of all outputs with respect to each input.

    Each is equal to `Tensor.gradient` of that sum.

    :param grad_outputs: weights of the elements of each output; None for an output of one element.
    :param retain_graph: has no effect: a graph is never freed by a gradient.
    :param create_graph: whether the results have gradients themselves.
    :param allow_unused: return None, not an error, for inputs that no output depends on.
    :param materialize_grads: return zeros for those inputs.
    :raises GradientError: as `Tensor.gradient` does.

    >>> x = Tensor([2.0, 3.0], requires_grad=True)
    >>> (gradient,) = weft.autograd.grad((x * x).sum(), x)
    >>> gradient.tolist()
    [4.0, 6.0]
    """
    if is_grads_batched:
        raise GradientError(
            "weights are not batched",
            asked="grad(is_grads_batched=True)",
            try_="call grad once for each row of the weights",
        )
    results = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    targets = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    weights = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]
    if grad_outputs is None:
        weights *= len(results)
    for each in (*results, *targets):
        if not _is_tensor(each):
            raise WrongKind(
                "outputs and inputs of grad are tensors",
                asked=f"grad of {shown(each)}",
                because=f"that is {kind_of(each)}",
            )
    if len(weights) != len(results):
        raise GradientError(
            "grad takes weights for each output",
            asked=f"grad of {len(results)} outputs with {len(weights)} weights",
            try_="grad_outputs=None if each output has one element",
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
    """The weighted sum of the elements of all outputs."""
    total = None
    for output, weight in zip(outputs, weights):
        if weight is None and output.numel() != 1:
            output.gradient()  # raises: an output of several elements needs weights
        part = (output if weight is None else output * weight).sum()
        total = part if total is None else total + part
    return total


def _or_none(total: Any, target: Any, weight: Any) -> Any:
    """The gradient with respect to one input; None if the total does not depend on it."""
    total.gradient(target, gradient=weight, materialize_grads=True)  # raises for other reasons
    try:
        return total.gradient(target, gradient=weight)[0]
    except GradientError:
        return None
