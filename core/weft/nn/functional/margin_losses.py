"""Hinge losses over classes, labels and distances, with PyTorch's names and arguments."""

from __future__ import annotations

from collections.abc import Callable

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.layers import pairwise_distance
from weft.nn.functional.losses import check_classes, check_same, reduced
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = [
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of max(0, margin - x[target] + x[class])^p, without the target's term.

    Input (batch, classes) and class numbers (batch,), or (classes,) and one number. p: 1 or 2.
    weight (classes,): a factor for each target (Crammer and Singer, 2001).

    >>> nn.functional.multi_margin_loss(Tensor([[0.5, 1.0]]), Tensor([0])).item()
    0.75
    """
    x = tensor_of(input, "multi_margin_loss")
    target = tensor_of(target, "multi_margin_loss", "target")
    x = x.reshape(1) if x.ndim == 0 else x
    if x.ndim == 1 and target.shape == (1,):
        target = target.squeeze(0)
    if x.ndim not in (1, 2):
        raise ShapeError(
            "the input is (batch, classes)", asked=f"multi_margin_loss of {x.shape}",
            try_="x.flatten(0, -2)",
        )  # fmt: skip
    check_classes("multi_margin_loss", x, target, x.ndim - 1)
    if p not in (1, 2):
        raise ArgumentError("the power is 1 or 2", asked=f"multi_margin_loss(p={shown(p)})")
    classes = x.shape[-1]
    hits = target.unsqueeze(-1) == Tensor.arange(classes, device=x.device)
    own = hits.where(x, 0).sum(-1, keepdim=True)
    above = (x - own + real(margin, "margin")).relu()
    terms = hits.where(0, above if p == 1 else above.square())
    if weight is not None:
        terms = terms * hits.where(weight, 0).sum(-1, keepdim=True)
    return reduced(terms.sum(-1) / classes, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The sum of max(0, 1 - x[label] + x[other]) over all labels and all other classes, over the
    number of classes.

    Input (batch, classes) or (classes,). Target: label numbers in the same shape, the row's labels
    first; from the first negative number on none counts.

    >>> x, y = Tensor([[0.1, 0.2, 0.4, 0.8]]), Tensor([[3, 0, -1, 1]])
    >>> nn.functional.multilabel_margin_loss(x, y).item()
    0.85
    """
    x = tensor_of(input, "multilabel_margin_loss")
    check_same("multilabel_margin_loss", x, target)
    if x.ndim == 0:
        x, target = x.reshape(1), target.reshape(1)
    if x.ndim not in (1, 2) or not dtypes.is_int(target.dtype):
        raise ShapeError(
            "the target is label numbers for (batch, classes)",
            asked=f"multilabel_margin_loss of {x.shape} with a target of {target.dtype!r}",
        )
    classes = x.shape[-1]
    counted = (target < 0).cumsum(-1) == 0
    places = target.clamp(0, max(classes - 1, 0))
    hits = places.unsqueeze(-1) == Tensor.arange(classes, device=x.device)
    is_label = (hits & counted.unsqueeze(-1)).any(-2)
    own = x.gather(-1, places).unsqueeze(-1)
    above = (1 - own + x.unsqueeze(-2)).relu()
    is_counted = counted.unsqueeze(-1) & ~is_label.unsqueeze(-2)
    return reduced(is_counted.where(above, 0).sum((-2, -1)) / classes, reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """The mean over classes (the last axis) of the binary cross entropy of sigmoid(input).

    weight (classes,): a factor for each class.

    >>> x, y = Tensor([[0.0, 2.0]]), Tensor([[1.0, 0.0]])
    >>> nn.functional.multilabel_soft_margin_loss(x, y).item()
    1.41
    """
    x = tensor_of(input, "multilabel_soft_margin_loss")
    check_same("multilabel_soft_margin_loss", x, target)
    loss = x.binary_crossentropy_logits(target, "none")
    return reduced((loss if weight is None else loss * weight).mean(-1), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """max(0, distance to positive - distance to negative + margin), for any distance of two
    tensors; None is `pairwise_distance`.

    swap: the distance from positive to negative counts where it is smaller (Balntas et al., 2016).
    :raises ArgumentError: for a margin that is not above 0.

    >>> near, far = Tensor([[1.0, 0.0]]), Tensor([[0.0, 3.0]])
    >>> loss = nn.functional.triplet_margin_with_distance_loss
    >>> distance = lambda x, y: (x - y).abs().max(-1)
    >>> loss(Tensor([[0.0, 0.0]]), near, far, distance_function=distance, margin=4.0).item()
    2.0
    """
    if real(margin, "margin") <= 0:
        raise ArgumentError("a margin is above 0", asked=f"margin={margin}", try_="margin=1.0")
    anchor = tensor_of(anchor, "triplet_margin_with_distance_loss", "anchor")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((near - far + margin).relu(), reduction)
