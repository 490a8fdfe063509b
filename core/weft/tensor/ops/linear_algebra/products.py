"""Products of vectors and matrices, by the names that NumPy and PyTorch give them: all are `dot`,
`tensordot` or a broadcast product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import real, shown, whole
from weft.base.errors import ArgumentError, ShapeError
from weft.shape.movement import broadcast_shapes
from weft.tensor.autocast import low_bias
from weft.tensor.ops.linear_algebra.host_lapack import computes_on_host, host_call
from weft.tensor.ops.transcendental import in_floats
from weft.tensor.protocol import TensorBase, TensorT
from weft.tensor.types import ArrayLike


def _of_rank(self: TensorBase, what: str, rank: int, *others: Any) -> None:
    for x in (self, *others):
        if len(x.shape) != rank:
            raise ShapeError(
                f"{what} takes tensors of {rank} axes",
                asked=f"{what} of " + " and ".join(str(t.shape) for t in (self, *others)),
                try_="x @ y takes any",
            )


# ---- matrices -----------------------------------------------------------------------------


def mm(self: TensorT, mat2: ArrayLike) -> TensorT:
    """The product of two matrices, (n, m) and (m, k).

    >>> Tensor([[1, 2]]).mm(Tensor([[3], [4]])).tolist()
    [[11]]
    """
    mat2 = self._as_tensor(mat2, self)
    _of_rank(self, "mm", 2, mat2)
    return self.dot(mat2)


def bmm(self: TensorT, mat2: ArrayLike) -> TensorT:
    """The products of two batches of matrices, (b, n, m) and (b, m, k).

    >>> Tensor.ones(2, 1, 3).bmm(Tensor.ones(2, 3, 1)).tolist()
    [[[3.0]], [[3.0]]]
    """
    mat2 = self._as_tensor(mat2, self)
    _of_rank(self, "bmm", 3, mat2)
    if self.shape[0] != mat2.shape[0]:
        raise ShapeError(
            "the batches differ", asked=f"bmm of {self.shape} and {mat2.shape}",
            try_="x @ y, which broadcasts",
        )  # fmt: skip
    return self.dot(mat2)


def mv(self: TensorT, vec: ArrayLike) -> TensorT:
    """The product of a matrix (n, m) and a vector (m,).

    >>> Tensor([[1, 2], [3, 4]]).mv(Tensor([1, 1])).tolist()
    [3, 7]
    """
    vec = self._as_tensor(vec, self)
    _of_rank(self, "mv", 2)
    _of_rank(vec, "mv", 1)
    return self.dot(vec)


def addmm(
    self: TensorT, mat1: ArrayLike, mat2: ArrayLike, *, beta: float = 1, alpha: float = 1
) -> TensorT:
    """beta * self + alpha * (mat1 @ mat2); with beta 0 self does not count, NaN or not.

    >>> Tensor([[1]]).addmm(Tensor([[1, 2]]), Tensor([[3], [4]])).tolist()
    [[12]]
    """
    return _added_to(self, self._as_tensor(mat1, self).mm(mat2), beta, alpha)


def addmv(
    self: TensorT, mat: ArrayLike, vec: ArrayLike, *, beta: float = 1, alpha: float = 1
) -> TensorT:
    """beta * self + alpha * (mat @ vec).

    >>> Tensor([1, 1]).addmv(Tensor([[1, 2], [3, 4]]), Tensor([1, 1])).tolist()
    [4, 8]
    """
    return _added_to(self, self._as_tensor(mat, self).mv(vec), beta, alpha)


def addr(
    self: TensorT, vec1: ArrayLike, vec2: ArrayLike, *, beta: float = 1, alpha: float = 1
) -> TensorT:
    """beta * self + alpha * (vec1 outer vec2).

    >>> Tensor([[1, 1]]).addr(Tensor([2]), Tensor([3, 4])).tolist()
    [[7, 9]]
    """
    vec1, vec2 = self._as_tensor(vec1, self), self._as_tensor(vec2, self)
    _of_rank(vec1, "addr", 1, vec2)
    return _added_to(self, vec1.outer(vec2), beta, alpha)


def baddbmm(
    self: TensorT, batch1: ArrayLike, batch2: ArrayLike, *, beta: float = 1, alpha: float = 1
) -> TensorT:
    """beta * self + alpha * (batch1 @ batch2), matrix by matrix.

    >>> Tensor([[[1]]]).baddbmm(Tensor([[[2]]]), Tensor([[[3]]])).tolist()
    [[[7]]]
    """
    return _added_to(self, self._as_tensor(batch1, self).bmm(batch2), beta, alpha)


def addbmm(
    self: TensorT, batch1: ArrayLike, batch2: ArrayLike, *, beta: float = 1, alpha: float = 1
) -> TensorT:
    """beta * self + alpha * (the sum of batch1 @ batch2 over the batch).

    >>> Tensor([[1]]).addbmm(Tensor([[[2]], [[4]]]), Tensor([[[3]], [[5]]])).tolist()
    [[27]]
    """
    total = self._as_tensor(batch1, self).bmm(batch2)
    return _added_to(self, total.sum(0, dtype=total.dtype), beta, alpha)


def _added_to(self: TensorBase, product: Any, beta: float, alpha: float) -> Any:
    beta, alpha = real(beta, "beta"), real(alpha, "alpha")
    product = product if alpha == 1 else product * alpha
    added: Any = low_bias(self, product)
    if beta == 0:
        return product + added.zeros_like()
    return product + (added if beta == 1 else added * beta)


def matrix_power(self: TensorT, n: int) -> TensorT:
    """Square matrices multiplied by themselves n times; of the inverse for n below 0.

    >>> Tensor([[1, 1], [0, 1]]).matrix_power(5).tolist()
    [[1, 5], [0, 1]]
    """
    if len(self.shape) < 2 or self.shape[-1] != self.shape[-2]:
        raise ShapeError("powers are of square matrices", asked=f"of shape {self.shape}")
    n = whole(n, "n")
    if n < 0:
        return self.inv().matrix_power(-n)
    if n == 0:
        one = self.__class__.eye(self.shape[-1], dtype=self.dtype, device=self.device)
        return one._expanded(self.shape)
    if n > 1 and computes_on_host(self):
        return host_call("matrix_power", [self], [self.shape], n=n)[0]
    result, square = None, self
    while n:
        if n & 1:
            result = square if result is None else result.dot(square).cast(self.dtype)
        n >>= 1
        square = square.dot(square).cast(self.dtype) if n else square
    return result  # type: ignore[return-value]


def trace(self: TensorT) -> TensorT:
    """The sum of the main diagonal of a matrix.

    >>> Tensor([[1, 2], [3, 4]]).trace().item()
    5
    """
    _of_rank(self, "trace", 2)
    return self.diagonal().sum()


# ---- vectors ------------------------------------------------------------------------------


def outer(self: TensorT, vec2: ArrayLike) -> TensorT:
    """Every product of an element of self and one of vec2, both flattened.

    >>> Tensor([1, 2]).outer(Tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    other = self.__class__._as_tensor(vec2, self)
    return self.ravel().unsqueeze(1) * other.ravel().unsqueeze(0)


def inner(self: TensorT, other: ArrayLike) -> TensorT:
    """Sums of products over the last axis of both; a product where one is 0-d.

    >>> Tensor([[1, 2], [3, 4]]).inner(Tensor([1, 10])).tolist()
    [21, 43]
    """
    other = self.__class__._as_tensor(other, self)
    if not self.shape or not other.shape:
        return self * other
    return self.tensordot(other, ([-1], [-1]))


def vdot(self: TensorT, other: ArrayLike) -> TensorT:
    """The sum of products of two vectors.

    >>> Tensor([1, 2]).vdot(Tensor([3, 4])).item()
    11
    """
    other = self._as_tensor(other, self)
    _of_rank(self, "vdot", 1, other)
    return self.dot(other)


def vecdot(self: TensorT, x2: ArrayLike, dim: int = -1) -> TensorT:
    """Sums of products along an axis of both, which broadcast otherwise.

    >>> Tensor([[1, 2], [3, 4]]).vecdot(Tensor([1, 1])).tolist()
    [3, 7]
    """
    x2 = self.__class__._as_tensor(x2, self)
    dim = whole(dim, "dim")
    if not self.shape or not x2.shape:
        raise ShapeError("vectors have an axis", asked=f"vecdot of {self.shape} and {x2.shape}")
    left, right = self.movedim(dim, -1), x2.movedim(dim, -1)
    if left.shape[-1] != right.shape[-1]:
        raise ShapeError("the vectors differ in length", asked=f"{self.shape} with {x2.shape}")
    return left.unsqueeze(-2).dot(right.unsqueeze(-1)).squeeze(-1).squeeze(-1)


def cross(self: TensorT, other: ArrayLike, dim: int = -1) -> TensorT:
    """The cross product of vectors of three along an axis.

    >>> Tensor([1, 0, 0]).cross(Tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    other = self.__class__._as_tensor(other, self)
    if any(not x.shape or x.shape[x._resolve_dim(dim)] != 3 for x in (self, other)):
        raise ShapeError(
            "cross products are of vectors of 3",
            asked=f"cross of {self.shape} and {other.shape} along {dim}",
        )
    a, b = self.movedim(dim, -1), other.movedim(dim, -1)
    forward = [[a[..., (i + 1) % 3], b[..., (i + 2) % 3]] for i in range(3)]
    back = [[a[..., (i + 2) % 3], b[..., (i + 1) % 3]] for i in range(3)]
    parts = [p * q - r * s for (p, q), (r, s) in zip(forward, back)]
    return parts[0].stack(*parts[1:], dim=-1).movedim(-1, dim)


def kron(self: TensorT, other: ArrayLike) -> TensorT:
    """Every element of self times the whole of `other`, side by side.

    >>> Tensor([1, 10]).kron(Tensor([1, 2])).tolist()
    [1, 2, 10, 20]
    """
    other = self.__class__._as_tensor(other, self)
    rank = max(len(self.shape), len(other.shape))
    a = self.reshape((1,) * (rank - len(self.shape)) + self.shape)
    b = other.reshape((1,) * (rank - len(other.shape)) + other.shape)
    wide = a.reshape(tuple(s for n in a.shape for s in (n, 1)))
    product = wide * b.reshape(tuple(s for n in b.shape for s in (1, n)))
    return product.reshape(tuple(n * m for n, m in zip(a.shape, b.shape)))


def tensordot(self: TensorT, other: ArrayLike, dims: int | Sequence[Any] = 2) -> TensorT:
    """Sums of products over several axes: the last ones of self with the first ones of `other`
    for a number, or the axes ([of self], [of other]).

    >>> Tensor([[1, 2]]).tensordot(Tensor([[3], [4]]), 1).tolist()
    [[11]]
    """
    other = self.__class__._as_tensor(other, self)
    if isinstance(dims, int):
        if not 0 <= dims <= min(len(self.shape), len(other.shape)):
            raise ArgumentError("both need as many axes", asked=f"tensordot(dims={dims})")
        dims = (range(len(self.shape) - dims, len(self.shape)), range(dims))
    if not isinstance(dims, (tuple, list)) or len(dims) != 2:
        raise ArgumentError(
            "dims is a number of axes, or the axes of both",
            asked=f"tensordot(dims={shown(dims)})",
            try_="2, or ([-1], [0])",
        )
    pairs = (d if isinstance(d, (tuple, list, range)) else (d,) for d in dims)
    left, right = ([x._resolve_dim(a) for a in axes] for x, axes in zip((self, other), pairs))
    summed = [self.shape[a] for a in left]
    if summed != [other.shape[a] for a in right]:
        raise ShapeError(
            "the axes that are summed over differ in size",
            asked=f"tensordot of {self.shape} and {other.shape} over {left} and {right}",
            because=f"they have {summed} and {[other.shape[a] for a in right]} elements",
            try_="axes in pairs of one size; expand an axis of one element first",
        )
    rest_left = [a for a in range(len(self.shape)) if a not in left]
    rest_right = [a for a in range(len(other.shape)) if a not in right]
    shape = [self.shape[a] for a in rest_left] + [other.shape[a] for a in rest_right]
    a = self.permute((*rest_left, *left)) if self.shape else self
    b = other.permute((*right, *rest_right)) if other.shape else other
    count = 1
    for size in summed:
        count *= size
    rows, columns = 1, 1
    for axis in rest_left:
        rows *= self.shape[axis]
    for axis in rest_right:
        columns *= other.shape[axis]
    return a.reshape((rows, count)).dot(b.reshape((count, columns))).reshape(tuple(shape))


# ---- distances ----------------------------------------------------------------------------


@in_floats
def cdist(self: TensorT, x2: ArrayLike, p: float = 2.0, compute_mode: str | None = None) -> TensorT:
    """The distance of every row of self (..., n, d) to every row of x2 (..., m, d).

    :param compute_mode: accepted, without effect: no product of matrices is used.

    >>> Tensor([[0.0, 0.0]]).cdist(Tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]
    """
    x2 = self._as_tensor(x2, self)
    return (self.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, -1)


@in_floats
def pairwise_distance(
    self: TensorT, x2: ArrayLike, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> TensorT:
    """The norm of self - x2 + eps along the last axis.

    >>> Tensor([[0.0, 0.0]]).pairwise_distance(Tensor([[3.0, 4.0]])).tolist()
    [5.0]
    """
    return (self - x2 + eps).norm(p, -1, keepdim)


def cosine_similarity(self: TensorT, x2: ArrayLike, dim: int = 1, eps: float = 1e-8) -> TensorT:
    """The cosine of the angle between vectors along an axis; norms count as `eps` at least.

    >>> Tensor([[1.0, 0.0]]).cosine_similarity(Tensor([[1.0, 1.0]])).tolist()
    [0.7071]
    """
    x2 = self._as_tensor(x2, self)
    shape = broadcast_shapes(self.shape, x2.shape)
    both = (self._expanded(shape), x2._expanded(shape))
    left, right = (x / x.norm(2, dim, keepdim=True).clamp(min_=eps) for x in both)
    return (left * right).sum(dim)
