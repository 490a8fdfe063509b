"""Declarations for type checkers: parameter aliases, and results that depend on an argument.

At run time this is an empty class: `parameter_aliases.py` makes the aliases.
`tests/unit/tensor/ops/test_overloads.py` compares these declarations with the methods.
"""

# The implementations are in the mixins.
# pyright: reportNoOverloadImplementation=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload

from weft.tensor.protocol import TensorBase
from weft.tensor.return_types import MinMax, ValuesIndices
from weft.tensor.types import ArrayLike, Axes, DTypeLike, ShapeLike

if TYPE_CHECKING:
    from weft.tensor.tensor import Tensor

    Method = TypeVar("Method", bound=Callable[..., Any])

    def _like(method: Method) -> Callable[[Callable[..., Any]], Method]:
        """A decorator: declared as `method` is."""
        ...


class OverloadsMixin(TensorBase):
    """The first base of `Tensor`: what checkers find here replaces what the mixins declare."""

    __slots__ = ()

    if TYPE_CHECKING:

        def sum(
            self,
            axis: Axes | None = None,
            keepdim: bool = False,
            dtype: DTypeLike | None = None,
            *,
            dim: Axes | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        @_like(sum)
        def prod(self) -> Any: ...
        @_like(sum)
        def nansum(self) -> Any: ...
        def mean(
            self,
            axis: Axes | None = None,
            keepdim: bool = False,
            *,
            dim: Axes | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        @_like(mean)
        def any(self) -> Any: ...
        @_like(mean)
        def all(self) -> Any: ...
        @_like(mean)
        def logsumexp(self) -> Any: ...
        def argmax(
            self,
            axis: int | None = None,
            keepdim: bool = False,
            *,
            dim: int | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        @_like(argmax)
        def argmin(self) -> Any: ...
        def var(
            self,
            axis: Axes | None = None,
            keepdim: bool = False,
            correction: float | None = 1,
            *,
            unbiased: bool | None = None,
            dim: Axes | None = ...,
            keepdims: bool = ...,
            ddof: float | None = ...,
        ) -> Self: ...
        @_like(var)
        def std(self) -> Any: ...
        def var_mean(
            self,
            axis: Axes | None = None,
            keepdim: bool = False,
            correction: float | None = 1,
            *,
            unbiased: bool | None = None,
            dim: Axes | None = ...,
            keepdims: bool = ...,
            ddof: float | None = ...,
        ) -> tuple[Self, Self]: ...
        @_like(var_mean)
        def std_mean(self) -> Any: ...
        def softmax(
            self, axis: Axes | None = -1, dtype: DTypeLike | None = None, *, dim: Axes | None = ...
        ) -> Self: ...
        @_like(softmax)
        def log_softmax(self) -> Any: ...
        def softmin(
            self, axis: int = -1, dtype: DTypeLike | None = None, *, dim: int = ...
        ) -> Self: ...
        def cumsum(
            self, axis: int = 0, *, dtype: DTypeLike | None = None, dim: int = ...
        ) -> Self: ...
        @_like(cumsum)
        def cumprod(self) -> Any: ...
        def logcumsumexp(self, axis: int = 0, *, dim: int = ...) -> Self: ...
        @overload
        def max(
            self, axis: Axes | None = None, keepdim: bool = False, *, keepdims: bool = ...
        ) -> Self: ...
        @overload
        def max(
            self, *, dim: int, keepdim: bool = False, keepdims: bool = ...
        ) -> ValuesIndices[Self]: ...
        @_like(max)
        def min(self) -> Any: ...
        @overload
        def cummax(self, axis: int = 0) -> Self: ...
        @overload
        def cummax(self, *, dim: int) -> ValuesIndices[Self]: ...
        @_like(cummax)
        def cummin(self) -> Any: ...
        def amax(
            self,
            dim: Axes | None = None,
            keepdim: bool = False,
            *,
            axis: Axes | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        @_like(amax)
        def amin(self) -> Any: ...
        @_like(amax)
        def count_nonzero(self) -> Any: ...
        def aminmax(
            self,
            dim: Axes | None = None,
            keepdim: bool = False,
            *,
            axis: Axes | None = ...,
            keepdims: bool = ...,
        ) -> MinMax[Self]: ...
        def quantile(
            self,
            q: ArrayLike,
            dim: int | None = None,
            keepdim: bool = False,
            interpolation: str = "linear",
            *,
            axis: int | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        def norm(
            self,
            p: float | str = 2,
            dim: Axes | None = None,
            keepdim: bool = False,
            dtype: DTypeLike | None = None,
            *,
            axis: Axes | None = ...,
            keepdims: bool = ...,
        ) -> Self: ...
        def cat(
            self: TensorBase | Sequence[TensorBase],
            *args: ArrayLike,
            dim: int = 0,
            axis: int = ...,
        ) -> Tensor: ...
        @_like(cat)
        def concat(self) -> Any: ...
        @_like(cat)
        def concatenate(self) -> Any: ...
        @_like(cat)
        def stack(self) -> Any: ...
        def sort(
            self, dim: int = -1, descending: bool = False, *, stable: bool = True, axis: int = ...
        ) -> ValuesIndices[Self]: ...
        def argsort(
            self, dim: int = -1, descending: bool = False, *, stable: bool = True, axis: int = ...
        ) -> Self: ...
        def squeeze(self, dim: Axes | None = None, *, axis: Axes | None = ...) -> Self: ...
        def split(self, sizes: ShapeLike, dim: int = 0, *, axis: int = ...) -> tuple[Self, ...]: ...
        def chunk(self, chunks: int, dim: int = 0, *, axis: int = ...) -> tuple[Self, ...]: ...
        def repeat_interleave(
            self,
            repeats: ArrayLike,
            dim: int | None = None,
            *,
            output_size: int | None = None,
            axis: int | None = ...,
        ) -> Self: ...
        def diff(
            self,
            n: int = 1,
            dim: int = -1,
            prepend: ArrayLike | None = None,
            append: ArrayLike | None = None,
            *,
            axis: int = ...,
        ) -> Self: ...
        def unbind(self, dim: int = 0, *, axis: int = ...) -> tuple[Self, ...]: ...
        def tensor_split(
            self, indices_or_sections: Axes, dim: int = 0, *, axis: int = ...
        ) -> tuple[Self, ...]: ...
        def normalize(
            self, p: float = 2.0, dim: int = 1, eps: float = 1e-12, *, axis: int = ...
        ) -> Self: ...
        def topk(
            self,
            k: int,
            dim: int = -1,
            largest: bool = True,
            sorted_: bool = True,
            *,
            axis: int = ...,
            sorted: bool = ...,
        ) -> ValuesIndices[Self]: ...
        def permute(
            self, order: Axes = (), *args: int, dims: Axes = ..., axes: Axes = ...
        ) -> Self: ...
        def clamp(
            self,
            min_: ArrayLike | None = None,
            max_: ArrayLike | None = None,
            *,
            min: ArrayLike | None = ...,
            max: ArrayLike | None = ...,
        ) -> Self: ...
        @_like(clamp)
        def clip(self) -> Any: ...
        @_like(clamp)
        def clamp_(self) -> Any: ...
        def leaky_relu(self, neg_slope: float = 0.01, *, negative_slope: float = ...) -> Self: ...
        @overload
        def unsqueeze(self, dim: int) -> Self: ...
        @overload
        def unsqueeze(self, *, axis: int) -> Self: ...
        @_like(unsqueeze)
        def expand_dims(self) -> Any: ...
        @overload
        def gather(self, dim: int, index: ArrayLike) -> Self: ...
        @overload
        def gather(self, *, axis: int, index: ArrayLike) -> Self: ...
        @overload
        def unfold(self, dim: int, size: int, step: int) -> Self: ...
        @overload
        def unfold(self, *, dimension: int, size: int, step: int) -> Self: ...
        @overload
        def scatter(
            self, dim: int, index: ArrayLike, src: ArrayLike, reduce: str | None = None
        ) -> Self: ...
        @overload
        def scatter(
            self, dim: int, index: ArrayLike, *, value: ArrayLike, reduce: str | None = None
        ) -> Self: ...
        @overload
        def roll(
            self,
            shifts: Axes,
            dims: Axes | None = None,
            *,
            axis: Axes | None = ...,
            dim: Axes | None = ...,
        ) -> Self: ...
        @overload
        def roll(
            self,
            *,
            shift: Axes,
            dims: Axes | None = None,
            axis: Axes | None = ...,
            dim: Axes | None = ...,
        ) -> Self: ...
        @overload
        def flip(self, axis: Axes, *args: int) -> Self: ...
        @overload
        def flip(self, *, dims: Axes) -> Self: ...
        @overload
        def flip(self, *, dim: Axes) -> Self: ...

        # methods whose results depend on their arguments

        @overload
        def median(
            self, dim: None = None, keepdim: bool = False, *, keepdims: bool = ...
        ) -> Self: ...
        @overload
        def median(
            self, dim: int, keepdim: bool = False, *, keepdims: bool = ...
        ) -> ValuesIndices[Self]: ...
        @overload
        def median(
            self, *, axis: int, keepdim: bool = False, keepdims: bool = ...
        ) -> ValuesIndices[Self]: ...
        @overload
        def nanmedian(self, dim: None = None, keepdim: bool = False) -> Self: ...
        @overload
        def nanmedian(self, dim: int, keepdim: bool = False) -> ValuesIndices[Self]: ...
        @overload
        def nonzero(self, as_tuple: Literal[False] = False) -> Self: ...
        @overload
        def nonzero(self, as_tuple: Literal[True]) -> tuple[Self, ...]: ...
        @overload
        def unique(
            self, return_inverse: Literal[False] = False, return_counts: Literal[False] = False
        ) -> Self: ...
        @overload
        def unique(
            self, return_inverse: Literal[True], return_counts: Literal[False] = False
        ) -> tuple[Self, Self]: ...
        @overload
        def unique(
            self, return_inverse: Literal[False] = False, *, return_counts: Literal[True]
        ) -> tuple[Self, Self]: ...
        @overload
        def unique(
            self, return_inverse: Literal[True], return_counts: Literal[True]
        ) -> tuple[Self, Self, Self]: ...
        @overload
        def max_pool2d(
            self,
            kernel_size: Axes = (2, 2),
            stride: Axes | None = None,
            dilation: Axes = 1,
            padding: int | Sequence[Any] = 0,
            ceil_mode: bool = False,
            return_indices: Literal[False] = False,
        ) -> Self: ...
        @overload
        def max_pool2d(
            self,
            kernel_size: Axes = (2, 2),
            stride: Axes | None = None,
            dilation: Axes = 1,
            padding: int | Sequence[Any] = 0,
            ceil_mode: bool = False,
            *,
            return_indices: Literal[True],
        ) -> tuple[Self, Self]: ...
        @overload
        def max_pool2d(
            self,
            kernel_size: Axes = (2, 2),
            stride: Axes | None = None,
            dilation: Axes = 1,
            padding: int | Sequence[Any] = 0,
            ceil_mode: bool = False,
            return_indices: bool = False,
        ) -> Self | tuple[Self, Self]: ...
