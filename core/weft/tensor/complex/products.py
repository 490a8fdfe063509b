"""Products of complex matrices, as products of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.tensor.complex.parts import parts_of, result_dtype


def bilinear(self: Any, x: Any, product: Callable[[Any, Any], Any]) -> Any:
    """A product that is linear in both operands, by products of their parts."""
    dtype = result_dtype(self, x)
    a, b = parts_of(self, dtype), parts_of(x, dtype)
    if b.imag is None:
        return self._of_parts(product(a.real, b.real), product(a.imag, b.real))
    real = product(a.real, b.real) - product(a.imag, b.imag)
    return self._of_parts(real, product(a.real, b.imag) + product(a.imag, b.real))


def bilinear_of_real(x: Any, self: Any, product: Callable[[Any, Any], Any]) -> Any:
    """A product, linear in both operands, of a real and a complex tensor."""
    return bilinear(self, x, lambda a, b: product(b, a))


def _lifted(name: str) -> Callable[..., Any]:
    """The method of that name, of which the operands are self and one other."""

    def method(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        return bilinear(self, self._other(x), lambda a, b: getattr(a, name)(b, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = f"`Tensor.{name}` of complex numbers, neither of which is conjugated."
    return method


dot, mm, bmm, mv, outer, inner, kron, tensordot, cross = map(
    _lifted, "dot mm bmm mv outer inner kron tensordot cross".split()
)


def matmul(self: Any, x: Any, reverse: bool = False, dtype: Any = None) -> Any:
    """Matrix product of the last two axes."""
    x = self._other(x)
    if reverse:
        return bilinear(self, x, lambda a, b: b.matmul(a))
    made = bilinear(self, x, lambda a, b: a.matmul(b))
    return made if dtype is None else made.cast(dtype)


def vdot(self: Any, other: Any) -> Any:
    """Dot product of vectors, of the conjugate of self."""
    return dot(self.conj(), other)


def vecdot(self: Any, x2: Any, dim: int = -1) -> Any:
    """Dot products along an axis, of the conjugate of self."""
    return (self.conj() * self._other(x2)).sum(dim)


def matrix_power(self: Any, n: int) -> Any:
    """n products of square matrices, by repeated squaring; of the inverse for n below 0."""
    if n < 0:
        return matrix_power(self.inv(), -n)
    if n == 0:
        eye = self._real_class.eye(self.shape[-1], device=self.device, dtype=self.dtype)
        return eye.expand(self.shape)
    result, x = None, self
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        x = matmul(x, x) if n else x
    return result


def contract(cls: Any, formula: str, operands: tuple[Any, ...]) -> Any:
    """`Tensor.einsum` of operands of which some are complex: a sum over the choices of parts."""
    real, imag = [], []
    whole = next(x for x in operands if x._interleaved is not None)
    dtype = whole.dtype
    for x in operands:
        dtype = result_dtype(whole, x) if x is not whole else dtype
    choices: list[tuple[int, list[Any]]] = [(0, [])]
    for x in operands:
        parts = parts_of(x, dtype)
        longer = [(turns, [*chosen, parts.real]) for turns, chosen in choices]
        if parts.imag is not None:
            longer += [(turns + 1, [*chosen, parts.imag]) for turns, chosen in choices]
        choices = longer
    for turns, chosen in choices:  # i**turns is the factor of a choice
        term = cls.einsum(formula, *chosen)
        term = -term if turns % 4 in (2, 3) else term
        (imag if turns % 2 else real).append(term)
    return whole._of_parts(_total(real), _total(imag))


def _total(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


METHODS = "bmm cross dot inner kron matmul matrix_power mm mv outer tensordot vdot vecdot".split()
"""The functions here that are methods of complex tensors."""
