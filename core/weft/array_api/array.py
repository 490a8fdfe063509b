"""Array: a tensor with the attributes of the array API standard.

In: anything a tensor is made of. Out: `Array`, which every function of the namespace answers with.

It is a Tensor in all but three points, where the standard says one thing and Tensor's own names
another: `size` is a number and no method, an array of one element is true or false, and `T` is of
matrices alone. Everything else a Tensor can do it can do as well, and what it computes is of its
own class.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any, Self

from weft.array_api.remainders import exact_remainder
from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.base.promotion import promote_with_scalar
from weft.base.sequences import prod
from weft.device import registry
from weft.tensor import Tensor
from weft.tensor.protocol import TensorBase
from weft.uop import UOp

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
"""The versions of the standard whose names are all here."""


class Array(Tensor):
    """A lazy array; see `weft.array_api`. Made by `asarray` and its kin."""

    __slots__ = ()

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of elements."""
        return prod(self.shape)

    @property
    def T(self) -> Self:
        """The transpose of a matrix. :raises ShapeError: for any other number of axes."""
        if self.ndim != 2:
            raise ShapeError(
                "T is of matrices",
                asked=f"T of shape {self.shape}",
                because="with other axes it is not said which change places",
                try_="x.mT for the last two, or permute_dims",
            )
        return self.transpose(0, 1)

    @property
    def mT(self) -> Self:
        """The last two axes swapped. :raises ShapeError: for fewer than two."""
        if self.ndim < 2:
            raise ShapeError("mT is of matrices", asked=f"mT of shape {self.shape}")
        return self.transpose(-1, -2)

    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """The same values on another device. :raises ArgumentError: for a stream."""
        if stream is not None:
            raise ArgumentError(
                "streams are weft's own affair",
                asked=f"to_device({device!r}, stream={stream!r})",
                try_="leave stream out",
            )
        return self.to(device)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        return namespace(api_version)

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    def __floordiv__(self, x: Any) -> Self:
        return self._rounded_down(as_array(x, self))

    def __rfloordiv__(self, x: Any) -> Self:
        return as_array(x, self)._rounded_down(self)

    def __ifloordiv__(self, x: Any) -> Self:
        return self.assign(self // x)

    def _rounded_down(self, other: Any) -> Any:
        """The quotient rounded down; of infinities the quotient itself, and zeros have its sign."""
        whole = self._floor_divide(other)
        if not dtypes.is_float(whole.dtype):
            return whole
        quotient = self / other
        infinite = self.isinf() | other.isinf()
        return infinite.where(quotient, (whole == 0).where(quotient.trunc() * 0, whole))

    def __mod__(self, x: Any) -> Self:
        return self._remainder(x)

    def __rmod__(self, x: Any) -> Self:
        return as_array(x, self)._remainder(self)

    def __imod__(self, x: Any) -> Self:
        return self.assign(self._remainder(x))

    def _remainder(self, x: Any) -> Any:
        """The remainder with the sign of the divisor, exact however large the quotient is."""
        other = x if isinstance(x, Tensor) else as_array(x, self)
        if not (dtypes.is_float(self.dtype) or dtypes.is_float(other.dtype)):
            return self.mod(other)
        return exact_remainder(self, other)

    def _wrap_with(self, uop: UOp, *others: TensorBase) -> Self:
        """What is computed with plain tensors is an array as well."""
        made: Any = super()._wrap_with(uop, *others)
        return made if isinstance(made, Array) else as_array(made)  # type: ignore[return-value]

    def _only(self, name: str) -> Any:
        if self.size != 1:
            raise ShapeError(
                f"{name} is of one element",
                asked=f"{name}() of shape {self.shape}",
                try_="any(x) or all(x) of many" if name == "bool" else None,
            )
        return self.item()


def index_dtype(device: Any) -> DType:
    """The default dtype of indices: int64, or int32 on devices that do not compute with int64."""
    devices = device if isinstance(device, tuple) else (device,)
    computes = [registry.capabilities(registry.canonical(each)).compute for each in devices]
    wide = all(compute is None or dtypes.int64 in compute.dtypes for compute in computes)
    return dtypes.int64 if wide else dtypes.int32


def as_indices(places: Any) -> Array:
    """Indices or counts in the default dtype of indices."""
    return places.cast(index_dtype(places.device))


def namespace(api_version: str | None = None) -> ModuleType:
    """`weft.array_api`. :raises ArgumentError: for a version that it does not follow."""
    if api_version is not None and api_version not in VERSIONS:
        raise ArgumentError(
            "weft does not follow this version of the standard",
            asked=f"__array_namespace__(api_version={api_version!r})",
            try_=f"one of {', '.join(VERSIONS)}",
        )
    return importlib.import_module("weft.array_api")


def as_array(x: Any, like: Tensor | None = None) -> Array:
    """x as an Array: a tensor over its own node, a number in the dtype it takes beside `like`.

    :raises DTypeError: for what is neither.
    """
    if isinstance(x, Array):
        return x
    if isinstance(x, Tensor):
        if x._interleaved is not None:
            return Array._complex_class._of_tensor(x)  # type: ignore[no-any-return]
        return x._as_kind(Array)
    if like is not None and isinstance(x, (bool, int, float, complex)):
        kind = promote_with_scalar(like.dtype, x)
        number: Any = x
        return Array.full((), number, dtype=kind, device=like.device)
    raise DTypeError(
        f"a {type(x).__name__} is no array",
        asked=f"an array function of {shown(x)}",
        try_="asarray(...)",
    )


def both(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Two operands as arrays; one of them may be a number. :raises DTypeError: if both are."""
    if isinstance(x1, Tensor):
        return as_array(x1), as_array(x2, x1)
    if not isinstance(x2, Tensor):
        raise DTypeError(
            "one of two operands has to be an array",
            asked=f"an array function of {type(x1).__name__} and {type(x2).__name__}",
            try_="asarray(...)",
        )
    return as_array(x1, x2), as_array(x2)


def kind_of(dtype: DType) -> str:
    """ "bool", "int", "float" or "complex"."""
    if dtype is dtypes.bool:
        return "bool"
    if dtype.is_complex:
        return "complex"
    return "float" if dtypes.is_float(dtype) else "int"


def must_be(name: str, x: Tensor, *kinds: str) -> None:
    """:raises DTypeError: unless the elements are of one of these kinds."""
    if kind_of(x.dtype) not in kinds:
        raise DTypeError(
            f"{name} is not for {x.dtype!r}",
            asked=f"{name} of {x.dtype!r} {x.shape}",
            because=f"it is for {' and '.join(kinds)} arrays",
            try_="astype(x, ...)",
        )
