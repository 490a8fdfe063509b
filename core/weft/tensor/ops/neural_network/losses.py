"""Losses. `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

import math
from typing import Any

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError
from weft.base.promotion import least_upper_float, sum_acc_dtype
from weft.tensor.ops.index_bounds import check_labels
from weft.tensor.ops.transcendental import in_floats
from weft.tensor.protocol import TensorT
from weft.tensor.types import ArrayLike


def reduced(self: TensorT, reduction: str) -> TensorT:
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


def _mean_over(self: TensorT, count: Any) -> TensorT:
    """The sum divided by a number: halves are rounded once, after the division."""
    own = self._uop.dtype
    wide = sum_acc_dtype(own)
    return (self.sum(dtype=wide) / count.cast(wide)).cast(own)


def _labels(self: TensorT, Y: Any) -> TensorT:
    """The labels as a tensor. :raises ShapeError: if self has no axis of classes."""
    if not self.shape:
        raise ShapeError("logits have an axis of classes", asked="a loss of shape ()")
    return self._as_tensor(Y, self)


def binary_crossentropy(self: TensorT, Y: ArrayLike, reduction: str = "mean") -> TensorT:
    """-(Y log(p) + (1 - Y) log(1 - p)) of probabilities p; logarithms are at least -100.

    >>> Tensor([0.5, 0.25]).binary_crossentropy(Tensor([1, 0])).item()
    0.4904
    """
    x, Y = _real(self), _real(self.__class__._as_tensor(Y, self))
    log_p, log_q = (p.log().clamp(min_=-100.0) for p in (x, 1 - x))
    return reduced((-Y * log_p - (1 - Y) * log_q), reduction)


def binary_crossentropy_logits(
    self: TensorT, Y: ArrayLike, reduction: str = "mean", pos_weight: ArrayLike | None = None
) -> TensorT:
    """The same of logits, computed without overflow; `pos_weight` weighs the positives.

    >>> Tensor([0.0, 2.0]).binary_crossentropy_logits(Tensor([1, 0])).item()
    1.41
    """
    x, Y = _real(self), _real(self.__class__._as_tensor(Y, self))
    positive = Y if pos_weight is None else Y * pos_weight
    return reduced((-(positive * x.logsigmoid() + (1 - Y) * (-x).logsigmoid())), reduction)


def _real(self: TensorT) -> TensorT:
    """In floats: truths and unsigned integers have no negative."""
    return self.cast(least_upper_float(self._uop.dtype))


def sparse_categorical_crossentropy(
    self: TensorT,
    Y: ArrayLike,
    ignore_index: int = -1,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> TensorT:
    """Cross entropy of logits (..., classes) with class numbers Y (...).

    Positions whose class is `ignore_index` do not count.
    :raises IndexingError: for any other class that does not exist, where that is known.

    >>> logits = Tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> logits.sparse_categorical_crossentropy(Tensor([0, 1])).item()
    0.2201
    """
    Y = _labels(self, Y)
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
        return _mean_over((-loss), counted.sum(dtype=dtypes.int32))
    return reduced((-loss), reduction)


def cross_entropy(
    self: TensorT,
    Y: ArrayLike,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    *,
    ignore_index: int = -100,
) -> TensorT:
    """Cross entropy of logits (N, classes, ...) with class numbers (N, ...), or with
    probabilities of the logits' shape. Rows whose class is `ignore_index` do not count.
    :raises IndexingError: for any other class that does not exist, where that is known.

    >>> logits = Tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> logits.cross_entropy(Tensor([0, 1])).item()
    0.2201
    >>> logits.cross_entropy(Tensor([0, 1]), reduction="none").tolist()
    [0.1269, 0.3133]
    """
    Y = _labels(self, Y)
    _check_smoothing(label_smoothing)
    axis = 1 if len(self.shape) > 1 else 0
    classes = self.shape[axis]
    if dtypes.is_int(Y._uop.dtype) and Y.shape == _without(self.shape, axis):
        check_labels(Y, classes, "cross_entropy", ignore_index)
        places = self.__class__.arange(classes, device=self.device)
        places = places.reshape(tuple(classes if i == axis else 1 for i in range(len(self.shape))))
        logs, counted = self.log_softmax(axis), Y != ignore_index
        hits = Y.unsqueeze(axis) == places
        if 0 <= ignore_index < classes:
            hits = hits & counted.unsqueeze(axis)
        picked = hits.where(logs, 0).sum(axis)
        if label_smoothing:
            even = counted.where(logs.mean(axis), 0)
            picked = picked * (1 - label_smoothing) + even * label_smoothing
        if reduction == "mean":
            return _mean_over((-picked), counted.sum(dtype=dtypes.int32))
        return reduced((-picked), reduction)
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
    return reduced(per_row, reduction)


def nll_loss(
    self: TensorT,
    Y: ArrayLike,
    weight: ArrayLike | None = None,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> TensorT:
    """Minus the log probability (N, classes, ...) of the classes Y (N, ...).

    `weight` has a number for each class; the mean is over the weights. Rows whose class is
    `ignore_index`, -100 by default, do not count.
    :raises IndexingError: for any other class that does not exist, where that is known.

    >>> logs = Tensor([[2.0, 0.0], [0.0, 1.0]]).log_softmax()
    >>> logs.nll_loss(Tensor([0, 1])).item()
    0.2201
    """
    Y = _labels(self, Y)
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
    hits = Y.unsqueeze(axis) == self.__class__.arange(classes, device=self.device).reshape(shape)
    if weight is None:
        weights = Y.ones_like(dtype=self._uop.dtype)
    else:
        weights = hits.where(self._as_tensor(weight, self).reshape(shape), 0).sum(axis)
    weights = (Y == ignore_index).where(0, weights)
    loss = -hits.where(self, 0).sum(axis) * weights
    if reduction == "mean":
        return _mean_over(loss, weights.sum(dtype=sum_acc_dtype(weights._uop.dtype)))
    return reduced(loss, reduction)


def _without(shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _check_smoothing(label_smoothing: float) -> None:
    if not 0 <= real(label_smoothing, "label_smoothing") <= 1:
        raise ArgumentError(
            "label smoothing is a share", asked=f"label_smoothing={label_smoothing}",
            try_="0 <= label_smoothing <= 1",
        )  # fmt: skip


@in_floats
def mse_loss(self: TensorT, target: ArrayLike, reduction: str = "mean") -> TensorT:
    """The square of the difference.

    >>> Tensor([1.0, 2.0]).mse_loss(Tensor([1.0, 4.0])).item()
    2.0
    """
    return reduced((self - target).square(), reduction)


@in_floats
def l1_loss(self: TensorT, target: ArrayLike, reduction: str = "mean") -> TensorT:
    """The size of the difference.

    >>> Tensor([1.0, 2.0]).l1_loss(Tensor([1.0, 4.0])).item()
    1.0
    """
    return reduced((self - target).abs(), reduction)


@in_floats
def smooth_l1_loss(
    self: TensorT, target: ArrayLike, reduction: str = "mean", beta: float = 1.0
) -> TensorT:
    """The size d of the difference less beta / 2; below beta, d*d / (2 beta).

    >>> Tensor([0.0, 0.0]).smooth_l1_loss(Tensor([1.0, 3.0]), "none").tolist()
    [0.5, 2.5]
    """
    beta = real(beta, "beta")
    if beta == 0:
        return self.l1_loss(target, reduction)
    apart = (self - target).abs()
    near = apart.square() * (0.5 / beta)
    return reduced((apart < beta).where(near, apart - 0.5 * beta), reduction)


@in_floats
def huber_loss(
    self: TensorT, target: ArrayLike, reduction: str = "mean", delta: float = 1.0
) -> TensorT:
    """d*d / 2 of the size d of the difference; above delta, delta (d - delta / 2).

    >>> Tensor([0.0, 0.0]).huber_loss(Tensor([1.0, 3.0]), "none", delta=2.0).tolist()
    [0.5, 4.0]
    """
    delta = real(delta, "delta")
    apart = (self - target).abs()
    far = (apart - 0.5 * delta) * delta
    return reduced((apart <= delta).where(apart.square() * 0.5, far), reduction)


@in_floats
def kl_div(
    self: TensorT, target: ArrayLike, reduction: str = "mean", log_target: bool = False
) -> TensorT:
    """target * (log(target) - self): self holds log probabilities, `target` probabilities or,
    with `log_target`, their logarithms. "batchmean" divides the sum by the length of axis 0.

    >>> Tensor([0.5, 0.5]).log().kl_div(Tensor([1.0, 0.0]), "sum").item()
    0.6931
    """
    target = self.__class__._as_tensor(target, self)
    if log_target:
        loss = target.exp() * (target - self)
    else:
        loss = target.xlogy(target) - target * self
    if reduction == "batchmean":
        return loss.sum() / float(self.shape[0] if self.shape else 1)
    return reduced(loss, reduction)


@in_floats
def soft_margin_loss(self: TensorT, target: ArrayLike, reduction: str = "mean") -> TensorT:
    """log(1 + exp(-target * self)), targets being 1 and -1.

    >>> Tensor([0.0]).soft_margin_loss(Tensor([1.0])).item()
    0.6931
    """
    return reduced((-(self * target)).softplus(), reduction)


@in_floats
def hinge_embedding_loss(
    self: TensorT, target: ArrayLike, margin: float = 1.0, reduction: str = "mean"
) -> TensorT:
    """self where the target is 1; max(0, margin - self) where it is -1; elsewhere both.

    >>> Tensor([0.25, 0.25]).hinge_embedding_loss(Tensor([1, -1]), reduction="none").tolist()
    [0.25, 0.75]
    """
    target = self.__class__._as_tensor(target, self)
    above = (margin - self).relu()
    loss = (target != 1).where(above, 0) + (target != -1).where(self, 0)
    return reduced(loss, reduction)


@in_floats
def margin_ranking_loss(
    self: TensorT, other: ArrayLike, target: ArrayLike, margin: float = 0.0, reduction: str = "mean"
) -> TensorT:
    """max(0, margin - target * (self - other)): a target of 1 wants self to be larger.

    >>> Tensor([1.0]).margin_ranking_loss(Tensor([3.0]), Tensor([1])).item()
    2.0
    """
    return reduced((-(self - other) * target + margin).relu(), reduction)


def cosine_embedding_loss(
    self: TensorT, other: ArrayLike, target: ArrayLike, margin: float = 0.0, reduction: str = "mean"
) -> TensorT:
    """1 - the cosine along the last axis where the target is 1; max(0, cosine - margin) where
    it is -1.

    >>> Tensor([[1.0, 0.0]]).cosine_embedding_loss(Tensor([[0.0, 1.0]]), Tensor([1])).item()
    1.0
    """
    target = self.__class__._as_tensor(target, self)
    cosine = self.cosine_similarity(other, -1, 1e-8)
    loss = (target == 1).where(1 - cosine, (target == -1).where((cosine - margin).relu(), 0))
    return reduced(loss, reduction)


def triplet_margin_loss(
    self: TensorT, positive: ArrayLike, negative: ArrayLike, margin: float = 1.0, p: float = 2,
    eps: float = 1e-6, swap: bool = False, reduction: str = "mean",
) -> TensorT:  # fmt: skip
    """max(0, distance to `positive` - distance to `negative` + margin), along the last axis.

    >>> near, far = Tensor([[0.0, 0.0]]), Tensor([[0.0, 3.0]])
    >>> Tensor([[0.0, 0.0]]).triplet_margin_loss(near, far, margin=4.0).item()
    1.0
    """
    near = self.pairwise_distance(positive, p, eps)
    far = self.pairwise_distance(negative, p, eps)
    if swap:
        positive = self._as_tensor(positive, self)
        far = far.minimum(positive.pairwise_distance(negative, p, eps))
    return reduced((near - far + margin).relu(), reduction)


@in_floats
def poisson_nll_loss(
    self: TensorT, target: ArrayLike, log_input: bool = True, full: bool = False, eps: float = 1e-8,
    reduction: str = "mean",
) -> TensorT:  # fmt: skip
    """exp(self) - target * self, or self - target * log(self + eps) without `log_input`;
    `full` adds Stirling's term for targets above 1.

    >>> Tensor([0.0]).poisson_nll_loss(Tensor([2.0])).item()
    1.0
    """
    target = self.__class__._as_tensor(target, self)
    loss = self.exp() - target * self if log_input else self - target * (self + eps).log()
    if full:
        large = (target > 1).where(target, 1)
        term = large * large.log() - large + (large * (2 * math.pi)).log() * 0.5
        loss = loss + (target > 1).where(term, 0)
    return reduced(loss, reduction)


@in_floats
def gaussian_nll_loss(
    self: TensorT,
    target: ArrayLike,
    var: ArrayLike,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> TensorT:
    """(log(var) + (self - target)**2 / var) / 2, the variance counting as `eps` at least;
    `full` adds log(2 pi) / 2.

    A variance may lack the last axis: then it is one for each row.

    >>> Tensor([1.0]).gaussian_nll_loss(Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """
    var = self.__class__._as_tensor(var, self)
    if self.shape and var.shape == self.shape[:-1]:
        var = var.unsqueeze(-1)
    # the bound is no matter of the gradient
    var = var + (var.detach().clamp(min_=eps) - var.detach())
    loss = (var.log() + (self - target).square() / var) * 0.5
    return reduced((loss + 0.5 * math.log(2 * math.pi) if full else loss), reduction)


def binary_cross_entropy(
    self: TensorT, target: ArrayLike, weight: ArrayLike | None = None, reduction: str = "mean"
) -> TensorT:
    """`binary_crossentropy`, with a weight for each element.

    >>> Tensor([0.5]).binary_cross_entropy(Tensor([1.0])).item()
    0.6931
    """
    loss = self.binary_crossentropy(target, "none")
    return reduced((loss if weight is None else loss * weight), reduction)
