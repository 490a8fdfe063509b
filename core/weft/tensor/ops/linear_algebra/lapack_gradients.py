"""Gradient rules of LAPACK's functions, from their arguments, results and gradients.

Every rule consists of differentiable functions of the arguments and results, so that second
derivatives follow. The rules hold for real and for complex matrices. Rules of factorizations hold
for functions that do not depend on the signs or phases of vectors and on the bases of equal values;
pairs of equal values contribute nothing.

Source: M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008; G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate", 1973; J. Townsend, "Differentiating the
singular value decomposition", 2016; S. F. Walter and L. Lehmann, "Algorithmic differentiation of
linear algebra functions with application in optimum experimental design", 2010 (QR).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.autograd import HOST_CALL_VJPS
from weft.base.sequences import prod
from weft.device import registry
from weft.tensor.ops.linear_algebra.host_lapack import are_complex, host_call, parts
from weft.tensor.ops.linear_algebra.least_squares import pinv_gradient
from weft.tensor.ops.linear_algebra.matrices import adjoint
from weft.uop import HostCall, Ops, UOp

Gradients = Sequence[Any]
Vjp = Callable[..., Sequence[Any]]

_DEEPEST = 16


RULES: dict[str, Vjp] = {}
"""The rules by the names of the functions."""


def lapack_vjp(function: Vjp) -> Vjp:
    """Enter a rule into the table, by its name.

    A rule takes the list of arguments, the list of results, the list of their gradients (None: 0),
    and the parameters of the call by name.
    """
    RULES[function.__name__] = function
    return function


def enter_rules(kind: type[Any]) -> None:
    """Make the rules those of HOST_CALL nodes. kind: the class of tensors."""
    HOST_CALL_VJPS.update({name: partial(_vjp, rule, kind) for name, rule in RULES.items()})


def _vjp(rule: Vjp, kind: type[Any], node: UOp, upstream: UOp) -> list[UOp | None]:
    """The gradients of the sources of a HOST_CALL."""
    call: HostCall = node.arg
    shapes, place = call.inputs, _computing_device(node)

    parameters = dict(call.parameters)
    interleaved = bool(parameters.pop("interleaved", False))
    flags = [interleaved and each for each in are_complex(call.function, len(call.outputs))]

    def there(part: UOp, is_complex: bool = interleaved) -> Any:
        moved = kind._from_node(part).to(place)
        return kind._complex_class._over(moved) if is_complex else moved

    gradients = _gradients(upstream, call)
    if all(each is None for each in gradients):
        return [None] * len(shapes)
    found = rule(
        [there(source.reshape(shape)) for source, shape in zip(node.src, shapes)],
        [there(part, flag) for part, flag in zip(parts(node, call), flags)],
        [None if each is None else there(each, flag) for each, flag in zip(gradients, flags)],
        **parameters,
    )
    return [
        None if each is None else _node_of(each.to(node.device)).reshape((prod(shape),))
        for each, shape in zip(found, shapes)
    ]


def _node_of(x: Any) -> UOp:
    """The node of a gradient; that of the interleaved parts of a complex one."""
    node: UOp = x._uop if x._interleaved is None else x._interleaved._uop
    return node


def _computing_device(node: UOp) -> Any:
    """The device of a call; the device that its arguments come from, if it computes nothing."""
    source = node.src[0].base
    if source.op is Ops.COPY and registry.capabilities(str(node.device)).compute is None:
        return source.src[0].device
    return node.device


def _gradients(upstream: UOp, call: HostCall) -> list[UOp | None]:
    """The gradient of each result; None where it is 0."""
    windows = [_window(upstream, *window, 0) for window in call.windows]
    pairs = zip(windows, call.outputs)
    return [None if part is None else part.reshape(shape) for part, shape in pairs]


def _window(node: UOp, start: int, stop: int, depth: int) -> UOp | None:
    """The elements of a flat gradient from start to stop; None for padding.

    A flat gradient is the sum of the padded gradients of the results.
    """
    if node.op is Ops.PAD:
        ((before, _),) = node.arg
        size = node.src[0].shape[0]
        if stop <= before or start >= before + size:
            return None
        if before <= start and stop <= before + size:
            return node.src[0].shrink(((start - before, stop - before),))
    if node.op is Ops.ADD and depth < _DEEPEST:
        left, right = [_window(source, start, stop, depth + 1) for source in node.src]
        if left is None or right is None:
            return right if left is None else left
        return left + right
    return node.shrink(((start, stop),))


# ---- linear equations ----------------------------------------------------------------------------


@lapack_vjp
def solve(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """b: w = a^-H g; a: -w x^H"""
    (a, _), (x,), (g,) = given, results, gradients
    w = adjoint(a).solve(g)
    return -(w @ adjoint(x)), w


@lapack_vjp
def inv(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """-x^H g x^H, x the inverse"""
    (x,), (g,) = results, gradients
    return (-(adjoint(x) @ g @ adjoint(x)),)


@lapack_vjp
def det(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """g times the cofactors, also of singular matrices"""
    (a,), (g,) = given, gradients
    (cofactors,) = host_call("adjugate", [a], [a.shape])
    return (_as_factor(g) * adjoint(cofactors),)


@lapack_vjp
def adjugate(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """That of det(a) a^-1, of matrices with an inverse"""
    (a,), (value,), (g,) = given, results, gradients
    x = a.inv()
    through_det = _as_factor((g * x.conj()).sum((-2, -1))) * adjoint(value)
    return (through_det - adjoint(value) @ g @ adjoint(x),)


@lapack_vjp
def slogdet(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """g a^-H, g the gradient of the logarithm; of a complex sign, which turns, (g - i Im(conj(gs)
    sign)) a^-H; a real sign is constant"""
    (a,), (sign, _), (gs, g) = given, results, gradients
    if a.is_complex() and gs is not None:
        turned = (gs.conj() * sign).imag * -1j
        g = turned if g is None else g + turned
    return (None if g is None else _as_factor(g) * adjoint(a.inv()),)


@lapack_vjp
def pinv(given: Gradients, results: Gradients, gradients: Gradients, rtol: float) -> Gradients:
    """Of matrices of constant rank (Golub and Pereyra)"""
    (a,), (p,), (g,) = given, results, gradients
    return (pinv_gradient(a, p, g),)


@lapack_vjp
def lstsq(given: Gradients, results: Gradients, gradients: Gradients, rtol: float) -> Gradients:
    """Those of pinv(a) @ b; of the squares of r = a @ x - b (a: 2 r g x^H, b: -2 r g), since a^H r
    is 0; of the singular values"""
    (a, b), (x, *_), (g, residuals, _, values) = given, results, gradients
    through_a = through_b = None
    if g is not None:
        p = a.pinv(rtol)
        through_a, through_b = pinv_gradient(a, p, g @ adjoint(b)), adjoint(p) @ g
    if residuals is not None:
        rest = (a @ x - b) * residuals.unsqueeze(-2) * 2.0
        through_a, through_b = _sum(through_a, rest @ adjoint(x)), _sum(through_b, -rest)
    if values is not None:
        through_a = _sum(through_a, _values_gradient(a, values))
    return through_a, through_b


@lapack_vjp
def matrix_power(given: Gradients, results: Gradients, gradients: Gradients, n: int) -> Gradients:
    """The sum of (a^H)^k g (a^H)^(n-1-k): the upper right block of [[a^H, g], [0, a^H]]^n"""
    (a,), (g,) = given, gradients
    size = a.shape[-1]
    block = adjoint(a).cat(g, dim=-1).cat(a.zeros_like().cat(adjoint(a), dim=-1), dim=-2)
    return (block.matrix_power(n)[..., :size, size:],)


# ---- factorizations ------------------------------------------------------------------------------


@lapack_vjp
def cholesky(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """The Hermitian part of l^-H h(l^H g) l^-1; h halves the diagonal of the lower triangle"""
    (lower,), (g,) = results, gradients
    inner = _halved_triangle(adjoint(lower) @ g)
    half = adjoint(lower).solve(adjoint(adjoint(lower).solve(inner)))
    return (_hermitian_part(half),)


@lapack_vjp
def qr(given: Gradients, results: Gradients, gradients: Gradients, mode: str) -> Gradients:
    """(gq + q c(r gr^H - gq^H q)) r^-H; c mirrors the lower triangle (Walter and Lehmann)"""
    (a,), (q, r) = given, results
    gq, gr = [
        x.zeros_like() if each is None else each for each, x in zip(gradients, (q, r), strict=True)
    ]
    rows, columns = a.shape[-2:]
    size = min(rows, columns)
    if q.shape[-1] > size:  # the complement of the columns turns with them
        q, others, gq, more = q[..., :size], q[..., size:], gq[..., :size], gq[..., size:]
        gq = gq - others @ (adjoint(more) @ q)
        r, gr = r[..., :size, :], gr[..., :size, :]
    if columns > size:
        rest, ga_rest = a[..., size:], q @ gr[..., size:]
        gq = gq + rest @ adjoint(gr[..., size:])
        r, gr = r[..., :size], gr[..., :size]
        return (_square_qr_gradient(q, r, gq, gr).cat(ga_rest, dim=-1),)
    return (_square_qr_gradient(q, r, gq, gr),)


def _square_qr_gradient(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    """For a square R."""
    inner = r @ adjoint(gr) - adjoint(gq) @ q
    half = _halved_triangle(inner)
    mirrored = half + adjoint(half)
    return adjoint(r.solve(adjoint(gq + q @ mirrored)))


@lapack_vjp
def svd(
    given: Gradients, results: Gradients, gradients: Gradients, full_matrices: bool
) -> Gradients:
    """u (k(u^H gu) s + s k(v^H gv) + gs) v^H, and what leaves the spaces of u and v (Townsend);
    k(x) = (x - x^H) / (s_j^2 - s_i^2)"""
    (u, s, vh), (gu, gs, gvh) = results, gradients
    size = s.shape[-1]
    row, column, squares = s.unsqueeze(-2), s.unsqueeze(-1), s * s
    apart = squares.unsqueeze(-2) - squares.unsqueeze(-1)
    inner = 0.0 if gs is None else _diagonal_matrix(gs)
    outside: Any = 0.0
    u1, v1h = u[..., :size], vh[..., :size, :]
    if gu is not None:
        turned = _skew(adjoint(u1) @ gu[..., :size])
        inner = inner + _divided(turned, apart) * row
        if u.is_complex():  # the phases of the vectors
            inner = inner + turned * _identity(s) * 0.5 / row
        outside = outside + _outside(u, gu, size) / row @ v1h
    if gvh is not None:
        inner = inner + column * _divided(_skew(v1h @ adjoint(gvh[..., :size, :])), apart)
        outside = outside + u1 @ adjoint(_outside(adjoint(vh), adjoint(gvh), size) / row)
    return (u1 @ inner @ v1h + outside,)


def _outside(vectors: Any, gradient: Any, size: int) -> Any:
    """The part of a gradient of orthonormal columns that is orthogonal to the first `size` columns,
    with the part of the other columns, which turn with them."""
    first, g = vectors[..., :size], gradient[..., :size]
    outside = g - first @ (adjoint(first) @ g)
    if vectors.shape[-1] > size:
        outside = outside - vectors[..., size:] @ (adjoint(gradient[..., size:]) @ first)
    return outside


@lapack_vjp
def svdvals(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """u diag(g) vh"""
    return (_values_gradient(given[0], gradients[0]),)


def _values_gradient(a: Any, g: Any) -> Any:
    u, _, vh = a.svd(full_matrices=False)
    return (u * g.unsqueeze(-2)) @ vh


@lapack_vjp
def eigh(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """The Hermitian part of v (v^H gv / (w_j - w_i) + diag(gw)) v^H"""
    (w, v), (gw, gv) = results, gradients
    inner = 0.0 if gw is None else _diagonal_matrix(gw)
    if gv is not None:
        inner = inner + _divided(adjoint(v) @ gv, w.unsqueeze(-2) - w.unsqueeze(-1))
    return (_hermitian_part(v @ inner @ adjoint(v)),)


@lapack_vjp
def eigvalsh(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """v diag(g) v^H"""
    (a,), (g,) = given, gradients
    v = a.eigh().eigenvectors
    return ((v * g.unsqueeze(-2)) @ adjoint(v),)


@lapack_vjp
def eig(given: Gradients, results: Gradients, gradients: Gradients) -> Gradients:
    """v^-H ((v^H gv - v^H v diag(Re(v^H gv))) / conj(w_j - w_i) + diag(gw)) v^H, for vectors of
    length 1"""
    (w, v), (gw, gv) = results, gradients
    inner = 0.0 if gw is None else _diagonal_matrix(gw)
    if gv is not None:
        turned = adjoint(v) @ gv
        turned = turned - (adjoint(v) @ v) * turned._diagonals().real.unsqueeze(-2)
        inner = inner + _divided(turned, (w.unsqueeze(-2) - w.unsqueeze(-1)).conj())
    return (adjoint(v).solve(inner @ adjoint(v)),)


# ---- parts of rules ------------------------------------------------------------------------------


def _as_factor(scalars: Any) -> Any:
    """A number for each matrix, as a factor of the matrix."""
    return scalars.unsqueeze(-1).unsqueeze(-1)


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a + b


def _hermitian_part(x: Any) -> Any:
    return (x + adjoint(x)) * 0.5


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _identity(like: Any) -> Any:
    """The identity matrix for matrices of the size of the last axis."""
    return like.__class__.eye(like.shape[-1], dtype=like.dtype, device=like.device)


def _diagonal_matrix(values: Any) -> Any:
    return values.unsqueeze(-1) * _identity(values)


def _halved_triangle(x: Any) -> Any:
    """The lower triangle with half of the diagonal."""
    return x.tril() - x * _identity(x) * 0.5


def _divided(x: Any, apart: Any) -> Any:
    """x / apart; 0 where two values are equal, as on the diagonal."""
    equal = apart == 0
    return equal.where(0.0, x / equal.where(1.0, apart))
