"""Hinge losses over classes, labels and distances as modules."""

from __future__ import annotations

from collections.abc import Callable

from weft.nn.losses import Loss
from weft.tensor import Tensor

__all__ = [
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip


class MultiMarginLoss(Loss, function="multi_margin_loss"):
    """The mean over classes of max(0, margin - x[target] + x[class])^p; see
    `nn.functional.multi_margin_loss`.

    >>> nn.MultiMarginLoss()(Tensor([[0.5, 1.0]]), Tensor([0])).item()
    0.75
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
    ) -> None:
        self._fix(reduction, p=p, margin=margin, weight=weight)


class MultiLabelMarginLoss(Loss, function="multilabel_margin_loss"):
    """The sum of max(0, 1 - x[label] + x[other]) over labels and other classes; see
    `nn.functional.multilabel_margin_loss`.

    >>> x, y = Tensor([[0.1, 0.2, 0.4, 0.8]]), Tensor([[3, 0, -1, 1]])
    >>> nn.MultiLabelMarginLoss()(x, y).item()
    0.85
    """


class MultiLabelSoftMarginLoss(Loss, function="multilabel_soft_margin_loss"):
    """The mean over classes of the binary cross entropy of sigmoid(input).

    weight: a factor for each class.

    >>> x, y = Tensor([[0.0, 2.0]]), Tensor([[1.0, 0.0]])
    >>> nn.MultiLabelSoftMarginLoss()(x, y).item()
    1.41
    """

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        self._fix(reduction, weight=weight)


class TripletMarginWithDistanceLoss(Loss, function="triplet_margin_with_distance_loss"):
    """max(0, distance to the positive - distance to the negative + margin), for any distance.

    distance_function: of two tensors; None is `nn.functional.pairwise_distance`. swap: use the
    distance of the negative to the positive where it is smaller than its distance to the anchor.

    >>> anchor, near, far = Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]]), Tensor([[0.0, 3.0]])
    >>> distance = lambda x, y: (x - y).abs().max(-1)
    >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=distance, margin=4.0)
    >>> loss(anchor, near, far).item()
    2.0
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        self._fix(reduction, distance_function=distance_function, margin=margin, swap=swap)
