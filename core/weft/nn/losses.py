"""Losses as modules: each calls the function of `nn.functional` with its arguments fixed.

`reduction` is "mean", "sum" or "none": the result has shape () or, with "none", an element for each
loss. `KLDivLoss` also takes "batchmean".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.base.arguments import choice
from weft.nn import functional as F
from weft.nn.module import Family
from weft.nn.parameter import Buffer
from weft.tensor import Tensor

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MarginRankingLoss", "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss",
    "TripletMarginLoss",
]  # fmt: skip

_REDUCTIONS = ("mean", "sum", "none")


class Loss(Family):
    """A loss of `nn.functional`, and the arguments to call it with, which are attributes."""

    function: str

    def __init__(self, reduction: str = "mean") -> None:
        self._fix(reduction)

    def _fix(self, reduction: str, **arguments: Any) -> None:
        """Keep these arguments; tensors become buffers."""
        known = (*_REDUCTIONS, "batchmean") if self.function == "kl_div" else _REDUCTIONS
        self.reduction = choice(reduction, "reduction", known)
        for name, value in arguments.items():
            setattr(self, name, Buffer(value) if isinstance(value, Tensor) else value)
        self._arguments = ("reduction", *arguments)

    def forward(self, *tensors: Tensor, **named: Tensor) -> Tensor:
        """The loss of an input and its target, by position or by the names of the function."""
        own = vars(self)
        given = {name: own[name] for name in self._arguments}
        result: Tensor = getattr(F, self.function)(*tensors, **named, **given)
        return result

    if TYPE_CHECKING:

        def __call__(self, *tensors: Tensor, **named: Tensor) -> Tensor: ...


class MSELoss(Loss, function="mse_loss"):
    """The mean of the squared differences.

    >>> nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    2.0
    """


class L1Loss(Loss, function="l1_loss"):
    """The mean absolute error.

    >>> nn.L1Loss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    1.0
    """


class CrossEntropyLoss(Loss, function="cross_entropy"):
    """Cross entropy of logits with class numbers or probabilities; see
    `nn.functional.cross_entropy`.

    >>> nn.CrossEntropyLoss()(Tensor([[2.0, 0.0], [0.0, 1.0]]), Tensor([0, 1])).item()
    0.2201
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        self._fix(
            reduction, weight=weight, ignore_index=ignore_index, label_smoothing=label_smoothing
        )


class NLLLoss(Loss, function="nll_loss"):
    """Minus the log probability of the target class; see `nn.functional.nll_loss`.

    Input: log probabilities (batch, classes, ...); target: class numbers (batch, ...).
    weight: a factor for each class. ignore_index: the class that does not count.

    >>> logs = Tensor([[0.5, 0.5], [0.75, 0.25]]).log()
    >>> nn.NLLLoss(reduction="none")(logs, Tensor([0, 1])).tolist()
    [0.6931, 1.3863]
    """

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        self._fix(reduction, weight=weight, ignore_index=ignore_index)


class BCELoss(Loss, function="binary_cross_entropy"):
    """Binary cross entropy -(t log(p) + (1 - t) log(1 - p)) of probabilities p and targets t.

    Input and target have the same shape, and values from 0 to 1; logarithms are at least -100.

    >>> loss = nn.BCELoss(reduction="none")
    >>> loss(Tensor([0.5, 0.25]), Tensor([1.0, 0.0])).tolist()
    [0.6931, 0.2877]
    """

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        self._fix(reduction, weight=weight)


class BCEWithLogitsLoss(Loss, function="binary_cross_entropy_with_logits"):
    """Binary cross entropy of sigmoid(input) and targets between 0 and 1, without overflow.

    Input and target have the same shape. pos_weight: a factor for the term of positive targets.

    >>> loss = nn.BCEWithLogitsLoss(reduction="none", pos_weight=Tensor([3.0]))
    >>> loss(Tensor([0.0, 2.0]), Tensor([1.0, 0.0])).tolist()
    [2.0794, 2.1269]
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        self._fix(reduction, weight=weight, pos_weight=pos_weight)


class KLDivLoss(Loss, function="kl_div"):
    """Kullback-Leibler divergence: target * (log(target) - input), input being log probabilities.

    log_target: the target is log probabilities as well. reduction="batchmean" divides the sum by
    the size of the batch: the mean divergence of a row.

    >>> loss = nn.KLDivLoss(reduction="batchmean")
    >>> loss(Tensor([[0.5, 0.5]]).log(), Tensor([[0.25, 0.75]])).item()
    0.1308
    """

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        self._fix(reduction, log_target=log_target)


class SmoothL1Loss(Loss, function="smooth_l1_loss"):
    """|d| - beta / 2 of the difference d; where |d| is below beta, d*d / (2 beta).

    >>> loss = nn.SmoothL1Loss(reduction="none")
    >>> loss(Tensor([0.5, 3.0]), Tensor([0.0, 0.0])).tolist()
    [0.125, 2.5]
    """

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        self._fix(reduction, beta=beta)


class CTCLoss(Loss, function="ctc_loss"):
    """Connectionist temporal classification: minus the log likelihood of labels over all alignments
    with the steps; see `nn.functional.ctc_loss`.

    Called with log probabilities (steps, batch, classes), targets, and the lengths of both.

    >>> logs = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> nn.CTCLoss()(logs, Tensor([[1]]), Tensor([2]), Tensor([1])).item()
    0.2877
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        self._fix(reduction, blank=blank, zero_infinity=zero_infinity)


class HuberLoss(Loss, function="huber_loss"):
    """d*d / 2 of the difference d; where |d| is above delta, delta * (|d| - delta / 2).

    >>> loss = nn.HuberLoss(reduction="none", delta=2.0)
    >>> loss(Tensor([1.0, 4.0]), Tensor([0.0, 0.0])).tolist()
    [0.5, 6.0]
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        self._fix(reduction, delta=delta)


class SoftMarginLoss(Loss, function="soft_margin_loss"):
    """log(1 + exp(-target * input)), targets being 1 and -1.

    >>> loss = nn.SoftMarginLoss(reduction="none")
    >>> loss(Tensor([0.0, 2.0]), Tensor([1.0, -1.0])).tolist()
    [0.6931, 2.1269]
    """


class HingeEmbeddingLoss(Loss, function="hinge_embedding_loss"):
    """The input where the target is 1, max(0, margin - input) where it is -1.

    >>> loss = nn.HingeEmbeddingLoss(margin=1.0, reduction="none")
    >>> loss(Tensor([0.25, 0.25]), Tensor([1.0, -1.0])).tolist()
    [0.25, 0.75]
    """

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class MarginRankingLoss(Loss, function="margin_ranking_loss"):
    """max(0, margin - target * (input1 - input2)), targets being 1 and -1.

    >>> loss = nn.MarginRankingLoss(margin=0.5, reduction="none")
    >>> loss(Tensor([2.0, 2.0]), Tensor([1.0, 1.0]), Tensor([1.0, -1.0])).tolist()
    [0.0, 1.5]
    """

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class CosineEmbeddingLoss(Loss, function="cosine_embedding_loss"):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1.

    Inputs (batch, features), targets (batch,); or (features,) and ().

    >>> x, y = Tensor([[1.0, 0.0], [1.0, 0.0]]), Tensor([[3.0, 4.0], [3.0, 4.0]])
    >>> nn.CosineEmbeddingLoss(reduction="none")(x, y, Tensor([1, -1])).tolist()
    [0.4, 0.6]
    """

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class TripletMarginLoss(Loss, function="triplet_margin_loss"):
    """max(0, distance to the positive - distance to the negative + margin).

    Distances are p-norms of differences + eps along the last axis. swap: use the distance of the
    negative to the positive where it is smaller than its distance to the anchor (Balntas et al.,
    2016).

    >>> anchor, near, far = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), Tensor([[0.0, 2.0]])
    >>> nn.TripletMarginLoss(margin=1.0)(anchor, near, far).item()
    4.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        *,
        reduction: str = "mean",
    ) -> None:
        self._fix(reduction, margin=margin, p=p, eps=eps, swap=swap)


class PoissonNLLLoss(Loss, function="poisson_nll_loss"):
    """Minus the log likelihood of counts under a Poisson distribution, without its constant.

    exp(input) - target * input, the rate being exp(input). Without log_input the rate is the input,
    and eps is added to it in the logarithm. full: add Stirling's approximation of log(target!).

    >>> loss = nn.PoissonNLLLoss(reduction="none")
    >>> loss(Tensor([0.0, 1.0]), Tensor([2.0, 3.0])).tolist()
    [1.0, -0.2817]
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        self._fix(reduction, log_input=log_input, full=full, eps=eps)


class GaussianNLLLoss(Loss, function="gaussian_nll_loss"):
    """Minus the log likelihood under normal distributions, without its constant.

    (log(var) + (input - target)^2 / var) / 2, var being at least eps; called with input, target and
    var. full: add log(2 pi) / 2.

    >>> nn.GaussianNLLLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([4.0])).item()
    1.1931
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self._fix(reduction, full=full, eps=eps)
