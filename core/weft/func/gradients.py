"""Derivatives of functions: gradients, vector-Jacobian and Jacobian-vector products.
Also: automatic differentiation, reverse mode, forward mode.

A Jacobian-vector product is the gradient of a gradient: u -> transpose(J) u is linear, and its
gradient with respect to u along v is J v. The scheduler removes what it does not need.

Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017; JAX, `jax.grad`,
`jax.jvp`, `jax.vjp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from weft.autograd import grad as gradients_of
from weft.autograd import independent
from weft.base.arguments import kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, GradientError, ShapeError, WrongKind
from weft.func.containers import (
    IndependentArguments,
    as_tensor,
    function_name,
    leaves,
    refilled,
)
from weft.tensor import Tensor


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of `function`, which returns one number.

    :param argnums: the positional argument, or several, with respect to which it is. Each may be
        a container of tensors; the gradient is the same container.
    :param has_aux: whether `function` returns (number, other values). The result is then
        (gradient, other values).
    :raises GradientError: at the call, if the result is not one number of a floating-point dtype.

    >>> weft.grad(lambda x: (x ** 3).sum())(Tensor([1.0, 2.0])).tolist()
    [3.0, 12.0]
    >>> weft.grad(weft.grad(lambda x: x ** 4))(Tensor(2.0)).item()
    48.0
    """
    both = value_and_grad(function, argnums, has_aux)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return call


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives (value, gradient) of `function`: see `grad`.

    With has_aux it gives ((value, other values), gradient).

    >>> value, gradient = weft.value_and_grad(lambda x: (x * x).sum())(Tensor([3.0, 4.0]))
    >>> value.item(), gradient.tolist()
    (25.0, [6.0, 8.0])
    """
    what = f"the gradient of {function_name(function)}"

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = IndependentArguments(args, argnums, what)
        result = function(*given.args, **kwargs)
        value = without_aux(result, what)[0] if has_aux else result
        _check_is_number(value, what)
        found = gradients_of(value, given.targets, create_graph=True, materialize_grads=True)
        return result, given.packed(found)

    return call


def grad_and_value(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives (gradient, value): `value_and_grad` in the order of PyTorch.

    >>> gradient, value = weft.func.grad_and_value(lambda x: (x * x).sum())(Tensor([3.0, 4.0]))
    >>> value.item(), gradient.tolist()
    (25.0, [6.0, 8.0])
    """
    both = value_and_grad(function, argnums, has_aux)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return found, value

    return call


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The result of `function`, and the function u -> transpose(J) u of its Jacobian J.

    That function takes one argument with the structure and shapes of the result. It gives one
    tensor for each primal: a tuple if there are several. With has_aux, `function` returns
    (result, other values), and the other values are returned third.

    :raises ShapeError: from the second function, for other shapes than those of the result.

    >>> value, pull_back = weft.func.vjp(lambda x: x * x, Tensor([1.0, 2.0]))
    >>> pull_back(Tensor([1.0, 10.0])).tolist()
    [2.0, 40.0]
    """
    what = f"vjp of {function_name(function)}"
    numbers = 0 if len(primals) == 1 else tuple(range(len(primals)))
    given = IndependentArguments(primals, numbers, what)
    result = function(*given.args)
    aux: tuple[Any, ...] = ()
    if has_aux:
        result, other = without_aux(result, what)
        aux = (other,)
    outputs = results_of(result, what)

    def pull_back(cotangents: Any) -> Any:
        weights = _like(outputs, cotangents, "the cotangents", what)
        pairs = [(y, u) for y, u in zip(outputs, weights) if is_differentiable(y)]
        return given.packed(products(pairs, given.targets))

    return result, pull_back, *aux


def jvp(
    function: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False
) -> tuple[Any, ...]:
    """The result of `function`, and the product of its Jacobian with `tangents`.

    :param primals: a tuple of the arguments. :param tangents: a tuple of the same shapes.
    :param has_aux: whether `function` returns (result, other values); these are returned third.
    :raises ShapeError: for tangents of other shapes.

    >>> value, change = weft.func.jvp(weft.sin, (Tensor([0.0]),), (Tensor([2.0]),))
    >>> value.tolist(), change.tolist()
    ([0.0], [2.0])
    """
    what = f"jvp of {function_name(function)}"
    for name, each in (("primals", primals), ("tangents", tangents)):
        if not isinstance(each, tuple | list):
            raise WrongKind(
                "jvp takes a tuple of arguments and a tuple of tangents",
                asked=f"{what} with {name}={shown(each)}",
                because=f"that is {kind_of(each)}",
                try_="jvp(function, (x,), (v,))",
            )
    given = IndependentArguments(primals, tuple(range(len(primals))), what)
    result = function(*given.args)
    aux: tuple[Any, ...] = ()
    if has_aux:
        result, other = without_aux(result, what)
        aux = (other,)
    outputs = results_of(result, what)
    directions = _like(given.targets, tangents, "the tangents", what)
    return result, refilled(result, pushed_forward(outputs, given.targets, directions)), *aux


def pushed_forward(
    outputs: Sequence[Tensor], targets: Sequence[Tensor], directions: Sequence[Tensor]
) -> list[Tensor]:
    """The Jacobian of each output by the targets, times the directions."""
    moving = [each for each in outputs if is_differentiable(each)]
    duals = [Tensor._from_node(independent(y.zeros_like()._uop), True) for y in moving]
    back = products(list(zip(moving, duals, strict=True)), targets)
    found = iter(products(list(zip(back, directions, strict=True)), duals))
    return [next(found) if is_differentiable(y) else y.zeros_like() for y in outputs]


def products(pairs: Sequence[tuple[Tensor, Tensor]], targets: Sequence[Tensor]) -> list[Tensor]:
    """The gradient by each target of the sum of all outputs times their weights."""
    if not pairs or not targets:
        return [each.zeros_like() for each in targets]
    outputs, weights = zip(*pairs, strict=True)
    found = gradients_of(
        outputs, targets, grad_outputs=weights, create_graph=True, materialize_grads=True
    )
    return list(found)


def is_differentiable(value: Tensor) -> bool:
    """Whether its dtype has derivatives."""
    return dtypes.is_float(value.dtype) or value.is_complex()


def without_aux(result: Any, what: str) -> tuple[Any, Any]:
    """The two parts of the result of a function with other values.

    :raises WrongKind: for another result.
    """
    if not isinstance(result, tuple) or len(result) != 2:
        raise WrongKind(
            "with has_aux the function returns a tuple: (result, other values)",
            asked=what,
            because=f"it returned {kind_of(result)}",
        )
    return result


def results_of(result: Any, what: str) -> list[Tensor]:
    """The tensors of a result."""
    return [as_tensor(each, "a result", what) for each in leaves(result)]


def _check_is_number(value: Any, what: str) -> None:
    if not isinstance(value, Tensor) or value.numel() != 1 or not dtypes.is_float(value.dtype):
        shape = f"{value.dtype} {value.shape}" if isinstance(value, Tensor) else kind_of(value)
        raise GradientError(
            "a gradient is that of one number",
            asked=what,
            because=f"the function returned {shape}",
            try_="return a sum or a mean; weft.func.jacrev gives the derivatives of every element",
        )


def _like(expected: Sequence[Tensor], given: Any, name: str, what: str) -> list[Tensor]:
    """The leaves of `given`, which have these shapes; in the dtypes of `expected`.

    :raises ShapeError: for other shapes. :raises ArgumentError: for another number of tensors.
    """
    found = [as_tensor(each, name, what) for each in leaves(given)]
    if len(found) != len(expected):
        raise ArgumentError(
            f"{name} have the structure of the tensors that they belong to",
            asked=f"{what} with {len(found)} tensors for {len(expected)}",
        )
    for own, like in zip(found, expected, strict=True):
        if own.shape != like.shape:
            raise ShapeError(
                f"{name} have the shapes of the tensors that they belong to",
                asked=f"{what} with {own.shape} for {like.shape}",
            )
    return [own.cast(like.dtype) for own, like in zip(found, expected, strict=True)]
