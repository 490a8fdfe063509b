"""Parametrizations of weights: orthogonal, weight normalisation, spectral normalisation."""

from __future__ import annotations

from typing import TypeVar

from weft import linalg
from weft.base.arguments import choice, whole
from weft.base.errors import ShapeError
from weft.nn.module import Module
from weft.nn.parameter import Buffer
from weft.nn.utils.parametrize import register_parametrization
from weft.nn.utils.spectral_normalization import (
    as_matrix,
    first_vectors,
    normalised,
    scaled_to_one,
    usual_axis,
)  # fmt: skip
from weft.nn.utils.weight_normalization import norm_except
from weft.tensor import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

Layer = TypeVar("Layer", bound=Module)


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


def weight_norm(module: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Let a weight be original0 * original1 / |original1| (Salimans and Kingma, 2016); gives the
    module. dim: the axis along which each part has a norm; None: one norm of all.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2, bias=False))
    >>> list(layer.state_dict())
    ['parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, steps: int, dim: int, eps: float) -> None:
        self.dim = dim % weight.ndim
        self.n_power_iterations, self.eps = steps, eps
        self.is_vector = weight.ndim < 2
        if not self.is_vector:
            u, v = first_vectors(as_matrix(weight.detach(), self.dim), eps)
            Tensor.realize(u, v)
            self._u, self._v = Buffer(u), Buffer(v)

    def forward(self, weight: Tensor) -> Tensor:
        if self.is_vector:
            return scaled_to_one(weight, self.eps)
        steps = self.n_power_iterations if self.training else 0
        return normalised(weight, self._u, self._v, self.dim, steps, self.eps)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:  # fmt: skip
    """Let a weight be its original over its largest singular value (Miyato and others, 2018); gives
    the module. dim: the axis of the rows.

    >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2))
    >>> [name.rpartition("weight.")[2] for name in layer.state_dict()]
    ['bias', 'original', '0._u', '0._v']
    """
    steps = whole(n_power_iterations, "n_power_iterations", least=1)
    axis = usual_axis(module) if dim is None else dim
    made = _SpectralNorm(getattr(module, name), steps, axis, eps)
    register_parametrization(module, name, made)
    return module


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows where it is wide, from one without constraints.

    The map of zeros is the identity, which is multiplied by `base`, the value at the beginning.
    """

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        self.orthogonal_map, self.use_trivialization = orthogonal_map, use_trivialization
        if use_trivialization:
            columns = _tall(weight.detach())
            self.base = Buffer(_completed(_orthonormal(columns)).clone().realize())

    def forward(self, original: Tensor) -> Tensor:
        """The orthogonal matrix."""
        x = _tall(original)
        rows, columns = x.shape[-2:]
        if self.orthogonal_map == "householder":
            result = _reflected(x.tril(-1)) * x.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
        else:
            lower = x.tril()
            if rows != columns:
                lower = lower.pad((*(None,) * (x.ndim - 1), (0, rows - columns)))
            skew = lower - lower.transpose(-2, -1)
            if self.orthogonal_map == "matrix_exp":
                result = linalg.matrix_exp(skew)
            else:
                one = Tensor.eye(rows, dtype=x.dtype, device=x.device)
                result = linalg.solve(one - skew * 0.5, one + skew * 0.5)
            result = result[..., :columns]
        if self.use_trivialization:
            result = self.base @ result
        wide = original.shape[-2] < original.shape[-1]
        return result.transpose(-2, -1) if wide else result

    def right_inverse(self, value: Tensor) -> Tensor:
        """The original for a value, which is made orthogonal if it is not."""
        columns = _orthonormal(_tall(value))
        wide = value.shape[-2] < value.shape[-1]
        if self.use_trivialization:
            self.base.assign(_completed(columns)).realize()
            found = -Tensor.eye(*columns.shape[-2:], dtype=value.dtype, device=value.device)
            found = found.expand(*columns.shape).contiguous()
        else:
            found = _reflections(columns)
        return found.transpose(-2, -1) if wide else found


def orthogonal(
    module: Layer, name: str = "weight", orthogonal_map: str | None = None, *,
    use_trivialization: bool = True,
) -> Layer:  # fmt: skip
    """Let a weight have orthonormal columns, or rows where it is wide; gives the module.

    orthogonal_map: "matrix_exp" or "cayley", of a skew-symmetric matrix, or "householder", the
    product of reflections; by default "matrix_exp" for square weights, else "householder".
    use_trivialization: multiply by the value at the beginning, a buffer (Lezcano-Casado, 2019); the
    other maps than "householder" need it for assignments. A weight that is not orthogonal is made
    so. :raises ShapeError: for a vector.

    >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4))
    >>> error = layer.weight @ layer.weight.T - Tensor.eye(4)
    >>> error.abs().max().item() < 1e-5
    True
    """
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise ShapeError(
            "only matrices are orthogonal", asked=f"orthogonal of {name!r} of {weight.shape}"
        )
    usual = "matrix_exp" if weight.shape[-2] == weight.shape[-1] else "householder"
    chosen = choice(
        orthogonal_map or usual, "orthogonal_map", ("matrix_exp", "cayley", "householder")
    )
    if not use_trivialization and chosen != "householder":
        made: Module = _WithoutInverse(weight, chosen, False)
    else:
        made = _Orthogonal(weight, chosen, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module


class _WithoutInverse(_Orthogonal):
    """A map whose inverse is not computed: the original is the weight itself."""

    right_inverse = None  # type: ignore[assignment]


def _tall(x: Tensor) -> Tensor:
    return x.transpose(-2, -1) if x.shape[-2] < x.shape[-1] else x


def _orthonormal(x: Tensor) -> Tensor:
    """The Q of the QR decomposition whose R has a positive diagonal; x itself if orthonormal."""
    q, r = linalg.qr(x)
    signs = (r.diagonal(dim1=-2, dim2=-1) < 0).where(-1.0, 1.0).cast(x.dtype)
    return q * signs.unsqueeze(-2)


def _completed(columns: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with these columns."""
    rows, count = columns.shape[-2:]
    if rows == count:
        return columns
    shape = (*columns.shape[:-1], rows - count)
    more = Tensor.randn(*shape, dtype=columns.dtype, device=columns.device)
    return _orthonormal(columns.cat(more, dim=-1))


def _reflected(lower: Tensor) -> Tensor:
    """The first columns of the product of the reflections along vectors that are 1 on the diagonal
    and these elements below it.

    In the compact form I - V T V^T, with T^-1 from V^T V (Joffrain and others, 2006).
    """
    rows, columns = lower.shape[-2:]
    one = Tensor.eye(rows, columns, dtype=lower.dtype, device=lower.device)
    vectors = lower + one
    products = vectors.transpose(-2, -1) @ vectors
    halves = products * Tensor.eye(columns, dtype=lower.dtype, device=lower.device) * 0.5
    top = vectors[..., :columns, :].transpose(-2, -1)
    return one - vectors @ linalg.solve(products.triu(1) + halves, top)


def _reflections(columns: Tensor) -> Tensor:
    """The original of "householder" for orthonormal columns: the vectors of the reflections below
    the diagonal, signs on it."""
    import numpy as np  # late: importing weft loads no numpy

    parts = columns.detach().numpy()
    found = np.empty_like(parts)
    for index in np.ndindex(parts.shape[:-2]):
        raw, factors = np.linalg.qr(parts[index], mode="raw")
        lower = raw.swapaxes(-2, -1).copy()
        signs = np.where(np.diagonal(lower) < 0, -1.0, 1.0)
        # a reflection that LAPACK leaves out is -1 here
        np.fill_diagonal(lower, np.where(factors == 0, -signs, signs))
        found[index] = np.tril(lower)
    return Tensor(found, dtype=columns.dtype, device=columns.device)
