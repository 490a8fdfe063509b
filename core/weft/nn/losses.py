"""Losses as modules: each calls the function of `nn.functional` with its arguments fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.base.arguments import choice
from weft.nn import functional as F
from weft.nn.module import Module
from weft.nn.parameter import Buffer
from weft.tensor import Tensor

_REDUCTIONS = ("mean", "sum", "none")


class Loss(Module):
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

    def forward(self, *tensors: Tensor) -> Tensor:
        """The loss of an input and its target."""
        own = vars(self)
        given = {name: own[name] for name in self._arguments}
        result: Tensor = getattr(F, self.function)(*tensors, **given)
        return result

    if TYPE_CHECKING:

        def __call__(self, *tensors: Tensor) -> Tensor: ...


class MSELoss(Loss):
    """The mean of the squared differences.

    >>> nn.MSELoss()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    2.0
    """

    function = "mse_loss"


class L1Loss(Loss):
    """The mean size of the differences."""

    function = "l1_loss"


class CrossEntropyLoss(Loss):
    """Cross entropy of logits with class numbers or probabilities; see
    `nn.functional.cross_entropy`.

    >>> nn.CrossEntropyLoss()(Tensor([[2.0, 0.0], [0.0, 1.0]]), Tensor([0, 1])).item()
    0.2201
    """

    function = "cross_entropy"

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


class NLLLoss(Loss):
    """Minus the log probability of the classes; see `nn.functional.nll_loss`."""

    function = "nll_loss"

    def __init__(
        self, weight: Tensor | None = None, *, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        self._fix(reduction, weight=weight, ignore_index=ignore_index)


class BCELoss(Loss):
    """Cross entropy of probabilities with targets between 0 and 1."""

    function = "binary_cross_entropy"

    def __init__(self, weight: Tensor | None = None, *, reduction: str = "mean") -> None:
        self._fix(reduction, weight=weight)


class BCEWithLogitsLoss(Loss):
    """Cross entropy of logits with targets between 0 and 1; pos_weight: a factor for positives."""

    function = "binary_cross_entropy_with_logits"

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        self._fix(reduction, weight=weight, pos_weight=pos_weight)


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of log probabilities from a target distribution."""

    function = "kl_div"

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        self._fix(reduction, log_target=log_target)


class SmoothL1Loss(Loss):
    """The size of the difference, and its square below beta."""

    function = "smooth_l1_loss"

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        self._fix(reduction, beta=beta)


class HuberLoss(Loss):
    """Half the square of the difference, linear above delta."""

    function = "huber_loss"

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        self._fix(reduction, delta=delta)


class SoftMarginLoss(Loss):
    """log(1 + exp(-target * input)), targets being 1 and -1."""

    function = "soft_margin_loss"


class HingeEmbeddingLoss(Loss):
    """The input where the target is 1, max(0, margin - input) where it is -1."""

    function = "hinge_embedding_loss"

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class MarginRankingLoss(Loss):
    """max(0, margin - target * (input1 - input2))."""

    function = "margin_ranking_loss"

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class CosineEmbeddingLoss(Loss):
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""

    function = "cosine_embedding_loss"

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        self._fix(reduction, margin=margin)


class TripletMarginLoss(Loss):
    """max(0, distance to the positive - distance to the negative + margin)."""

    function = "triplet_margin_loss"

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


class PoissonNLLLoss(Loss):
    """Minus the log likelihood of counts under a Poisson distribution."""

    function = "poisson_nll_loss"

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: str = "mean",
    ) -> None:
        self._fix(reduction, log_input=log_input, full=full, eps=eps)


class GaussianNLLLoss(Loss):
    """Minus the log likelihood under normal distributions, given their variance."""

    function = "gaussian_nll_loss"

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self._fix(reduction, full=full, eps=eps)
