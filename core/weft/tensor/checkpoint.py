"""Activation checkpointing: `backward` recomputes the intermediate values of a function.
Also: gradient checkpointing, rematerialization, recomputation.

The value of a checkpoint has two graphs. Readers use the first one. Gradients flow through the
second one, which computes the same value from copies of the arguments. The two graphs therefore
share no kernels. The copies are made when the gradient arrives (see `weft.autograd.backward`).
Between the two computations, no intermediate value is in memory.

Source: T. Chen, B. Xu, C. Zhang, C. Guestrin, "Training Deep Nets with Sublinear Memory Cost"
(arXiv 1604.06174, 2016).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from weft.autograd import RECOMPUTE
from weft.base.arguments import shown, too_deep
from weft.base.errors import ArgumentError
from weft.tensor.protocol import TensorBase, grad_enabled, record
from weft.uop import Ops, UOp

P = ParamSpec("P")
R = TypeVar("R")

_numbers = itertools.count()


def checkpoint(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`function(*args, **kwargs)`; `backward` recomputes its intermediate values.

    This saves the memory of all intermediate values, and costs the time of one more call. The
    recomputed values are equal, random ones as well. The recomputation starts from the tensors
    among the arguments, also those in lists, tuples and dicts. Gradients flow to them, and to the
    parameters that the function reads itself. Checkpoints may be nested.

    :raises ArgumentError: if `function` cannot be called.

    >>> x = Tensor([0.0, 1.0], requires_grad=True)
    >>> y = weft.checkpoint(lambda x: (x * x).exp(), x)
    >>> _ = y.sum().backward()
    >>> x.grad.tolist()
    [0.0, 5.4366]
    """
    if not callable(function):
        raise ArgumentError(
            "checkpoint takes a function",
            asked=f"checkpoint({shown(function)}, ...)",
            try_="checkpoint(layer, x), not checkpoint(layer(x))",
        )
    given = _tensors_in((args, kwargs), "the arguments of a checkpoint")
    # parameters stay in memory: they need no copies, unless all arguments are parameters
    given = [t for t in given if not (t._requires_grad and t.is_leaf)] or given
    result = function(*args, **kwargs)
    if not grad_enabled() or not any(
        t._requires_grad for t in _tensors_in(result, "the results of a checkpoint")
    ):
        return result
    again = {
        node: record(Ops.CONTIGUOUS, node.dtype, (node,), (RECOMPUTE, next(_numbers)))
        for node in dict.fromkeys(t._uop for t in given)
    }
    return recomputed_over(result, again)


def recomputed_over(result: Any, again: Mapping[UOp, UOp]) -> Any:
    """The tensors of `result` as checkpoints: what depends on a key of `again` is recomputed over
    its value. All else is kept."""
    return _mapped(result, lambda tensor: _marked(tensor, again))


def _marked(tensor: Any, again: Mapping[UOp, UOp]) -> Any:
    """`tensor` as a checkpoint: its gradient flows through its graph over the values of `again`."""
    node = tensor._uop
    other = node.substitute(again)
    if other is node or not tensor._requires_grad or node in again:
        return tensor
    return tensor._wrap(record(Ops.CUSTOM_VJP, node.dtype, (node, other), (RECOMPUTE,)))


def _tensors_in(tree: Any, what: str) -> list[Any]:
    found: list[Any] = []
    try:
        _mapped(tree, lambda tensor: found.append(tensor))
    except RecursionError as error:
        raise too_deep(tree, what, error) from None
    return found


def _mapped(tree: Any, function: Callable[[Any], Any]) -> Any:
    """The same lists, tuples and dicts, with `function(tensor)` in the place of every tensor."""
    if isinstance(tree, TensorBase):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _mapped(value, function) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return tree.__class__(*(_mapped(item, function) for item in tree))
    if isinstance(tree, (list, tuple)):
        return tree.__class__(_mapped(item, function) for item in tree)
    return tree
