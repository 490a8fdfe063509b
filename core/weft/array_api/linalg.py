"""Linear algebra: products of matrices, and the extension `linalg`.

Decompositions are those of Tensor: LAPACK where the host can access the memory of the device,
kernels elsewhere.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from weft.array_api.array import Array, as_array, as_indices, both, must_be
from weft.array_api.manipulation import _axis
from weft.array_api.statistics import _wide
from weft.base.arguments import shown, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.shape.movement import broadcast_shapes
from weft.tensor import Tensor
from weft.tensor.return_types import EighResult, QRResult, SlogdetResult, SVDResult

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


# ---- products ------------------------------------------------------------------------------------


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product; a vector is a row on the left and a column on the right."""
    a, b = both(x1, x2)
    must_be("matmul", a, "int", "float", "complex")
    return (a @ b).cast(least_upper_dtype(a.dtype, b.dtype))


def matrix_transpose(x: Array, /) -> Array:
    """The last two axes swapped."""
    return as_array(x).mT


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Products summed over axes: the last n of x1 with the first n of x2, or those two lists."""
    a, b = both(x1, x2)
    if isinstance(axes, tuple | list) and len(axes) == 2:
        first = [_axis(i, a.ndim) for i in axes[0]]
        second = [_axis(i, b.ndim) for i in axes[1]]
    else:
        count = min(whole(axes, "the number of axes", least=0), a.ndim + b.ndim + 1)
        first = list(range(a.ndim - count, a.ndim))
        second = list(range(count))
    fits = len(first) <= a.ndim and len(second) <= b.ndim
    sizes = [a.shape[i] for i in first] if fits else []
    if not fits or sizes != [b.shape[i] for i in second]:
        raise ShapeError(
            "the axes that are summed over differ",
            asked=f"tensordot of {a.shape} and {b.shape} over {axes}",
        )
    must_be("tensordot", a, "int", "float", "complex")
    return a.tensordot(b, (first, second)).cast(least_upper_dtype(a.dtype, b.dtype))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Products summed over one axis, counted from the end; the others broadcast."""
    a, b = both(x1, x2)
    kind = least_upper_dtype(a.dtype, b.dtype)
    least, axis = min(a.ndim, b.ndim), whole(axis, "an axis")
    for x in (a, b):
        _axis(axis, x.ndim)
    if not -least <= axis < 0 and a.ndim != b.ndim:
        raise ShapeError("the axis is counted from the end", asked=f"vecdot(axis={axis})")
    if a.shape[axis] != b.shape[axis]:
        raise ShapeError(
            "the vectors differ in length",
            asked=f"vecdot of {a.shape} and {b.shape}, axis={axis}",
        )
    a, b = a.cast(kind).conj(), b.cast(kind)
    place = axis if axis < 0 else axis - a.ndim
    if kind.is_complex:
        return (a * b).sum(place)
    return (a * b).sum(place, dtype=sum_acc_dtype(kind)).cast(kind)


def outer(x1: Array, x2: Array, /) -> Array:
    """Every product of an element of one vector with one of the other."""
    a, b = both(x1, x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError("outer is of vectors", asked=f"outer of {a.shape} and {b.shape}")
    return a.reshape((a.size, 1)) * b.reshape((1, b.size))


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The vector product over an axis of three."""
    a, b = both(x1, x2)
    shape = broadcast_shapes(a.shape, b.shape)
    at = _axis(axis, len(shape))
    for x in (a, b):
        _axis(axis, x.ndim)
    if shape[at] != 3 or a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ShapeError(
            "the vector product is of three numbers", asked=f"cross of {a.shape} and {b.shape}"
        )
    return as_array(a._expanded(shape).cross(b._expanded(shape), at))


def matrix_power(x: Array, n: int, /) -> Array:
    """n products of square matrices; of their inverses below 0."""
    x = _square("matrix_power", x)
    return x.matrix_power(n)


# ---- decompositions ------------------------------------------------------------------------------


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The lower triangular L with x = L @ L^H, or L^H. See `Tensor.cholesky`."""
    x = _square("cholesky", x)
    return x.cholesky(upper)


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult[Array]:
    """(Q, R) with x = Q @ R. See `Tensor.qr`."""
    x = _matrices("qr", x)
    q, r = x.qr(mode)
    return QRResult(as_array(q), as_array(r))


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult[Array]:
    """(U, S, Vh) with x = U[..., :k] * S @ Vh[..., :k, :]. See `Tensor.svd`."""
    x = _matrices("svd", x)
    u, s, vh = x.svd(full_matrices)
    return SVDResult(as_array(u), as_array(s), as_array(vh))


def svdvals(x: Array, /) -> Array:
    """Singular values in falling order."""
    return _matrices("svdvals", x).svdvals()


def eigh(x: Array, /) -> EighResult[Array]:
    """(eigenvalues in rising order, eigenvectors as columns) of symmetric or Hermitian matrices."""
    x = _square("eigh", x)
    values, vectors = x.eigh()
    return EighResult(as_array(values), as_array(vectors))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of symmetric or Hermitian matrices in rising order."""
    return _square("eigvalsh", x).eigvalsh()


# ---- equations -----------------------------------------------------------------------------------


def solve(x1: Array, x2: Array, /) -> Array:
    """The x with x1 @ x = x2; x2 a vector, or matrices. See `Tensor.solve`."""
    a, b = both(x1, x2)
    a = _square("solve", a)
    kind = least_upper_dtype(a.dtype, b.dtype)
    if b.ndim == 1:
        return solve(a, b.reshape((b.size, 1)))[..., 0]
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError("the sides do not fit", asked=f"solve {a.shape} with {b.shape}")
    return a.cast(kind).solve(b.cast(kind))


def inv(x: Array, /) -> Array:
    """The inverse of every matrix."""
    x = _square("inv", x)
    return x.inv()


def det(x: Array, /) -> Array:
    """The determinant of every matrix."""
    return _square("det", x).det()


def slogdet(x: Array, /) -> SlogdetResult[Array]:
    """(sign, logarithm of the size) of the determinant of every matrix."""
    sign, size = _square("slogdet", x).slogdet()
    return SlogdetResult(as_array(sign), as_array(size))


def pinv(x: Array, /, *, rtol: Any = None) -> Array:
    """The pseudo-inverse: singular values of at most rtol times the largest count as 0."""
    return _matrices("pinv", x).pinv(_one_for_each(rtol))


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """How many singular values are larger than rtol times the largest."""
    return as_indices(_matrices("matrix_rank", x).matrix_rank(_one_for_each(rtol)))


def _one_for_each(rtol: Any) -> Any:
    """A number, or a tensor of one for each matrix."""
    return as_array(rtol) if isinstance(rtol, Tensor) else rtol


# ---- parts and norms -----------------------------------------------------------------------------


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """The `offset`-th diagonal of every matrix, above the main one for positive numbers."""
    x = _matrices("diagonal", x, kinds=("bool", "int", "float", "complex"))
    rows, columns = x.shape[-2:]
    down, right = max(-offset, 0), max(offset, 0)
    size = max(min(rows - down, columns - right), 0)
    part = x[..., down : down + size, right : right + size]
    if x.is_complex():
        return as_array(part.diagonal(0, -2, -1))
    return part._diagonals()


def trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sum of a diagonal."""
    x = _matrices("trace", x, kinds=("int", "float", "complex"))
    return diagonal(x, offset=offset).sum(-1, dtype=_wide(x.dtype, dtype))


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """A norm of every matrix: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""
    x = _matrices("matrix_norm", x)
    if ord in ("fro", None):
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        s = svdvals(x)
        value = s.sum(-1) if ord == "nuc" else s.max(-1) if ord == 2 else s.min(-1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = x.abs().sum(-2 if ord in (1, -1) else -1)
        value = sums.max(-1) if ord > 0 else sums.min(-1)
    else:
        raise ArgumentError(f"there is no norm {shown(ord)} of matrices", asked=f"ord={shown(ord)}")
    return value.reshape((*value.shape, 1, 1)) if keepdims else value


def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """A norm over axes, all of them for None: 2, 1, 0 (how many are not 0), inf, -inf, any p."""
    x = as_array(x)
    must_be("vector_norm", x, "int", "float", "complex")
    x = x.abs() if x.is_complex() else x
    x = x.cast(x.dtype if dtypes.is_float(x.dtype) else dtypes.default_float)
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    places = tuple(_axis(a, x.ndim) for a in axes)
    size = x.abs()
    if ord == math.inf and x.size:
        return size.max(places, keepdims)
    if ord == -math.inf:
        return size.min(places, keepdims)
    if ord == 0:
        return (x != 0).cast(x.dtype).sum(places, keepdims)
    if ord == 1 or ord == math.inf:  # of nothing both are 0
        return size.sum(places, keepdims)
    if ord == 2 and x.size:
        return _length(size, places, keepdims)
    return (size**ord).sum(places, keepdims) ** (1 / ord)


def _length(size: Array, places: tuple[int, ...], keepdims: bool) -> Array:
    """The square root of a sum of squares, of numbers beside the largest, lest they overflow."""
    top = size.max(places, True)
    scale = ((top > 0) & top.isfinite()).where(top, 1)
    length = (size / scale).square().sum(places, True).sqrt() * scale
    if keepdims or not places:
        return length
    return length.reshape(tuple(s for i, s in enumerate(length.shape) if i not in places))


def _matrices(name: str, x: Any, kinds: tuple[str, ...] = ("float", "complex")) -> Any:
    x = as_array(x)
    if x.ndim < 2:
        raise ShapeError(f"{name} is of matrices", asked=f"{name} of shape {x.shape}")
    must_be(name, x, *kinds)
    return x


def _square(name: str, x: Any, kinds: tuple[str, ...] = ("float", "complex")) -> Any:
    x = _matrices(name, x, kinds)
    if x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"{name} is of square matrices", asked=f"{name} of shape {x.shape}")
    return x
