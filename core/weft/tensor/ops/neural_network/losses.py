"""Losses. `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.base.promotion import least_upper_float, sum_acc_dtype
from weft.tensor.ops.index_bounds import check_labels
from weft.tensor.protocol import TensorBase
from weft.tensor.types import ArrayLike


class LossesMixin(TensorBase):
    """Methods that say how far off a prediction is."""

    __slots__ = ()

    def _reduced(self, reduction: str) -> Self:
        if reduction == "none":
            return self
        if reduction == "sum":
            return self.sum()
        if reduction == "mean":
            return self.mean()
        raise ArgumentError(
            f"there is no reduction {shown(reduction)}",
            asked=f"reduction={shown(reduction)}",
            try_='"mean", "sum" or "none"',
        )

    def _mean_over(self, count: Any) -> Self:
        """The sum divided by a number: halves are rounded once, after the division."""
        own = self._uop.dtype
        wide = sum_acc_dtype(own)
        return (self.sum(dtype=wide) / count.cast(wide)).cast(own)

    def _labels(self, Y: Any) -> Self:
        """The labels as a tensor. :raises ShapeError: if self has no axis of classes."""
        if not self.shape:
            raise ShapeError("logits have an axis of classes", asked="a loss of shape ()")
        return self._as_tensor(Y, self)

    def binary_crossentropy(self, Y: ArrayLike, reduction: str = "mean") -> Self:
        """-(Y log(p) + (1 - Y) log(1 - p)) of probabilities p; logarithms are at least -100.

        >>> Tensor([0.5, 0.25]).binary_crossentropy(Tensor([1, 0])).item()
        0.4904
        """
        x, Y = self._real(), self.__class__._as_tensor(Y, self)._real()
        log_p, log_q = (p.log().clamp(min_=-100.0) for p in (x, 1 - x))
        return (-Y * log_p - (1 - Y) * log_q)._reduced(reduction)

    def binary_crossentropy_logits(
        self, Y: ArrayLike, reduction: str = "mean", pos_weight: ArrayLike | None = None
    ) -> Self:
        """The same of logits, computed without overflow; `pos_weight` weighs the positives.

        >>> Tensor([0.0, 2.0]).binary_crossentropy_logits(Tensor([1, 0])).item()
        1.41
        """
        x, Y = self._real(), self.__class__._as_tensor(Y, self)._real()
        positive = Y if pos_weight is None else Y * pos_weight
        return (-(positive * x.logsigmoid() + (1 - Y) * (-x).logsigmoid()))._reduced(reduction)

    def _real(self) -> Self:
        """In floats: truths and unsigned integers have no negative."""
        return self.cast(least_upper_float(self._uop.dtype))

    def sparse_categorical_crossentropy(
        self,
        Y: ArrayLike,
        ignore_index: int = -1,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
    ) -> Self:
        """Cross entropy of logits (..., classes) with class numbers Y (...).

        Positions whose class is `ignore_index` do not count.
        :raises IndexingError: for any other class that does not exist, where that is known.

        >>> logits = Tensor([[2.0, 0.0], [0.0, 1.0]])
        >>> logits.sparse_categorical_crossentropy(Tensor([0, 1])).item()
        0.2201
        """
        Y = self._labels(Y)
        _check_smoothing(label_smoothing)
        if not dtypes.is_int(Y._uop.dtype) or Y.shape != self.shape[:-1]:
            raise ShapeError(
                "the labels do not fit the logits",
                asked=f"logits {self.shape} with labels {Y._uop.dtype!r} {Y.shape}",
                because="labels are integers, one for each row of logits",
            )
        check_labels(Y, self.shape[-1], "sparse_categorical_crossentropy", ignore_index)
        logs = self.log_softmax(-1)
        counted = Y != ignore_index
        classes = self.__class__.arange(self.shape[-1], device=self.device)
        hits = (Y.unsqueeze(-1) == classes) & counted.unsqueeze(-1)
        loss = hits.where(logs, 0).sum(-1) * (1 - label_smoothing)
        if label_smoothing:
            loss = loss + counted.where(logs.mean(-1), 0) * label_smoothing
        if reduction == "mean":
            return (-loss)._mean_over(counted.sum(dtype=dtypes.int32))
        return (-loss)._reduced(reduction)

    def cross_entropy(
        self,
        Y: ArrayLike,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        *,
        ignore_index: int = -100,
    ) -> Self:
        """Cross entropy of logits (N, classes, ...) with class numbers (N, ...), or with
        probabilities of the logits' shape. Rows whose class is `ignore_index` do not count.
        :raises IndexingError: for any other class that does not exist, where that is known.

        >>> logits = Tensor([[2.0, 0.0], [0.0, 1.0]])
        >>> logits.cross_entropy(Tensor([0, 1])).item()
        0.2201
        >>> logits.cross_entropy(Tensor([0, 1]), reduction="none").tolist()
        [0.1269, 0.3133]
        """
        Y = self._labels(Y)
        _check_smoothing(label_smoothing)
        axis = 1 if len(self.shape) > 1 else 0
        classes = self.shape[axis]
        if dtypes.is_int(Y._uop.dtype) and Y.shape == _without(self.shape, axis):
            check_labels(Y, classes, "cross_entropy", ignore_index)
            places = self.__class__.arange(classes, device=self.device)
            places = places.reshape(
                tuple(classes if i == axis else 1 for i in range(len(self.shape)))
            )
            logs, counted = self.log_softmax(axis), Y != ignore_index
            hits = Y.unsqueeze(axis) == places
            if 0 <= ignore_index < classes:
                hits = hits & counted.unsqueeze(axis)
            picked = hits.where(logs, 0).sum(axis)
            if label_smoothing:
                even = counted.where(logs.mean(axis), 0)
                picked = picked * (1 - label_smoothing) + even * label_smoothing
            if reduction == "mean":
                return (-picked)._mean_over(counted.sum(dtype=dtypes.int32))
            return (-picked)._reduced(reduction)
        if Y.shape != self.shape:
            raise ShapeError(
                "the labels do not fit the logits",
                asked=f"logits {self.shape} with labels {Y._uop.dtype!r} {Y.shape}",
                because="labels are class numbers without the axis of classes, or probabilities",
                try_=f"class numbers of shape {_without(self.shape, axis)}, or probabilities of "
                f"shape {self.shape}",
            )
        Y = Y * (1 - label_smoothing) + label_smoothing / classes if label_smoothing else Y
        per_row = -(self.log_softmax(axis) * Y).sum(axis)
        return per_row._reduced(reduction)

    def nll_loss(
        self,
        Y: ArrayLike,
        weight: ArrayLike | None = None,
        ignore_index: int | None = None,
        reduction: str = "mean",
    ) -> Self:
        """Minus the log probability (N, classes, ...) of the classes Y (N, ...).

        `weight` has a number for each class; the mean is over the weights. Rows whose class is
        `ignore_index`, -100 by default, do not count.
        :raises IndexingError: for any other class that does not exist, where that is known.

        >>> logs = Tensor([[2.0, 0.0], [0.0, 1.0]]).log_softmax()
        >>> logs.nll_loss(Tensor([0, 1])).item()
        0.2201
        """
        Y = self._labels(Y)
        if not dtypes.is_int(Y._uop.dtype):
            raise DTypeError("classes are integers", asked=f"nll_loss with {Y._uop.dtype!r}")
        axis = 1 if len(self.shape) > 1 else 0
        classes = self.shape[axis]
        if Y.shape != _without(self.shape, axis):
            raise ShapeError(
                "the labels do not fit the logits",
                asked=f"nll_loss of {self.shape} with labels {Y._uop.dtype!r} {Y.shape}",
                because="labels are class numbers, without the axis of classes",
            )
        ignore_index = -100 if ignore_index is None else ignore_index
        check_labels(Y, classes, "nll_loss", ignore_index)
        shape = tuple(classes if i == axis else 1 for i in range(len(self.shape)))
        hits = Y.unsqueeze(axis) == self.__class__.arange(classes, device=self.device).reshape(
            shape
        )
        if weight is None:
            weights = Y.ones_like(dtype=self._uop.dtype)
        else:
            weights = hits.where(self._as_tensor(weight, self).reshape(shape), 0).sum(axis)
        weights = (Y == ignore_index).where(0, weights)
        loss = -hits.where(self, 0).sum(axis) * weights
        if reduction == "mean":
            return loss._mean_over(weights.sum(dtype=sum_acc_dtype(weights._uop.dtype)))
        return loss._reduced(reduction)


def _without(shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= real(label_smoothing, "label_smoothing") <= 1:
        raise ArgumentError(
            "label smoothing is a share", asked=f"label_smoothing={label_smoothing}",
            try_="0 <= label_smoothing <= 1",
        )  # fmt: skip
