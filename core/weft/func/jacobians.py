"""Jacobian and Hessian matrices: all rows or columns at once, by a mapped product.

`jacrev` computes a row for each element of the result, `jacfwd` a column for each element of the
argument. The first is cheaper for few results, the second for few arguments.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", SIAM 2008, chapter 3; JAX, `jax.jacrev`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from weft.func.containers import IndependentArguments, function_name, refilled
from weft.func.gradients import (
    is_differentiable,
    products,
    pushed_forward,
    results_of,
    without_aux,
)
from weft.func.vmap import vmap
from weft.tensor import Tensor


def jacrev(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of `function`, by reverse mode.

    For each tensor of the result, and each tensor x of the chosen arguments, it is a tensor of
    shape (*result.shape, *x.shape).

    :param argnums: the positional arguments, see `grad`. :param has_aux: see `grad`.
    :param chunk_size: at most so many rows at once, to limit memory.

    >>> weft.func.jacrev(lambda x: x * x)(Tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    what = f"jacrev of {function_name(function)}"

    def rows(output: Tensor, given: IndependentArguments) -> list[Tensor]:
        shape = output.shape
        if not is_differentiable(output):
            return [Tensor.zeros(*shape, *x.shape, dtype=x.dtype) for x in given.targets]
        mapped = vmap(lambda u: products([(output, u)], given.targets), chunk_size=chunk_size)
        found = mapped(_unit_vectors(output))
        return [row.reshape(*shape, *x.shape) for row, x in zip(found, given.targets)]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = IndependentArguments(args, argnums, what)
        result = function(*given.args, **kwargs)
        value, aux = without_aux(result, what) if has_aux else (result, None)
        found = [given.packed(rows(output, given)) for output in results_of(value, what)]
        return (refilled(value, found), aux) if has_aux else refilled(value, found)

    return call


def jacfwd(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of `function`, by forward mode: see `jacrev`.

    :param chunk_size: at most so many columns at once.

    >>> weft.func.jacfwd(lambda x: x * x)(Tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    what = f"jacfwd of {function_name(function)}"

    def columns(outputs: Sequence[Tensor], target: Tensor) -> list[Tensor]:
        def column(v: Tensor) -> list[Tensor]:
            return pushed_forward(outputs, [target], [v])

        found = vmap(column, out_axes=-1, chunk_size=chunk_size)(_unit_vectors(target))
        return [c.reshape(*y.shape, *target.shape) for c, y in zip(found, outputs)]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = IndependentArguments(args, argnums, what)
        result = function(*given.args, **kwargs)
        value, aux = without_aux(result, what) if has_aux else (result, None)
        outputs = results_of(value, what)
        by_target = [columns(outputs, target) for target in given.targets]
        found = [given.packed([each[place] for each in by_target]) for place in range(len(outputs))]
        return (refilled(value, found), aux) if has_aux else refilled(value, found)

    return call


def hessian(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of `function`: `jacfwd` of `jacrev`.

    >>> weft.func.hessian(lambda x: (x ** 3).sum())(Tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacfwd(jacrev(function, argnums), argnums)


def _unit_vectors(like: Tensor) -> Tensor:
    """The unit vectors of the space of a tensor: shape (elements, *shape)."""
    count = like.numel()
    rows = Tensor.eye(count, dtype=like.dtype, device=like.device)
    return rows.reshape(count, *like.shape)
