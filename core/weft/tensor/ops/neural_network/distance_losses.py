"""More losses, by the names that PyTorch gives them. `reduction` is "mean", "sum" or "none"."""

from __future__ import annotations

import math
from typing import Self

from weft.base.arguments import real
from weft.tensor.ops.neural_network.losses import LossesMixin
from weft.tensor.ops.transcendental import in_floats
from weft.tensor.types import ArrayLike


class DistancesMixin(LossesMixin):
    """Methods that say how far a prediction is from a target of its shape."""

    __slots__ = ()

    @in_floats
    def mse_loss(self, target: ArrayLike, reduction: str = "mean") -> Self:
        """The square of the difference.

        >>> Tensor([1.0, 2.0]).mse_loss(Tensor([1.0, 4.0])).item()
        2.0
        """
        return (self - target).square()._reduced(reduction)

    @in_floats
    def l1_loss(self, target: ArrayLike, reduction: str = "mean") -> Self:
        """The size of the difference.

        >>> Tensor([1.0, 2.0]).l1_loss(Tensor([1.0, 4.0])).item()
        1.0
        """
        return (self - target).abs()._reduced(reduction)

    @in_floats
    def smooth_l1_loss(self, target: ArrayLike, reduction: str = "mean", beta: float = 1.0) -> Self:
        """The size d of the difference less beta / 2; below beta, d*d / (2 beta).

        >>> Tensor([0.0, 0.0]).smooth_l1_loss(Tensor([1.0, 3.0]), "none").tolist()
        [0.5, 2.5]
        """
        beta = real(beta, "beta")
        if beta == 0:
            return self.l1_loss(target, reduction)
        apart = (self - target).abs()
        near = apart.square() * (0.5 / beta)
        return (apart < beta).where(near, apart - 0.5 * beta)._reduced(reduction)

    @in_floats
    def huber_loss(self, target: ArrayLike, reduction: str = "mean", delta: float = 1.0) -> Self:
        """d*d / 2 of the size d of the difference; above delta, delta (d - delta / 2).

        >>> Tensor([0.0, 0.0]).huber_loss(Tensor([1.0, 3.0]), "none", delta=2.0).tolist()
        [0.5, 4.0]
        """
        delta = real(delta, "delta")
        apart = (self - target).abs()
        far = (apart - 0.5 * delta) * delta
        return (apart <= delta).where(apart.square() * 0.5, far)._reduced(reduction)

    @in_floats
    def kl_div(self, target: ArrayLike, reduction: str = "mean", log_target: bool = False) -> Self:
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
        return loss._reduced(reduction)

    @in_floats
    def soft_margin_loss(self, target: ArrayLike, reduction: str = "mean") -> Self:
        """log(1 + exp(-target * self)), targets being 1 and -1.

        >>> Tensor([0.0]).soft_margin_loss(Tensor([1.0])).item()
        0.6931
        """
        return (-(self * target)).softplus()._reduced(reduction)

    @in_floats
    def hinge_embedding_loss(
        self, target: ArrayLike, margin: float = 1.0, reduction: str = "mean"
    ) -> Self:
        """self where the target is 1; max(0, margin - self) where it is -1; elsewhere both.

        >>> Tensor([0.25, 0.25]).hinge_embedding_loss(Tensor([1, -1]), reduction="none").tolist()
        [0.25, 0.75]
        """
        target = self.__class__._as_tensor(target, self)
        above = (margin - self).relu()
        loss = (target != 1).where(above, 0) + (target != -1).where(self, 0)
        return loss._reduced(reduction)

    @in_floats
    def margin_ranking_loss(
        self, other: ArrayLike, target: ArrayLike, margin: float = 0.0, reduction: str = "mean"
    ) -> Self:
        """max(0, margin - target * (self - other)): a target of 1 wants self to be larger.

        >>> Tensor([1.0]).margin_ranking_loss(Tensor([3.0]), Tensor([1])).item()
        2.0
        """
        return (-(self - other) * target + margin).relu()._reduced(reduction)

    def cosine_embedding_loss(
        self, other: ArrayLike, target: ArrayLike, margin: float = 0.0, reduction: str = "mean"
    ) -> Self:
        """1 - the cosine along the last axis where the target is 1; max(0, cosine - margin) where
        it is -1.

        >>> Tensor([[1.0, 0.0]]).cosine_embedding_loss(Tensor([[0.0, 1.0]]), Tensor([1])).item()
        1.0
        """
        target = self.__class__._as_tensor(target, self)
        cosine = self.cosine_similarity(other, -1, 1e-8)
        loss = (target == 1).where(1 - cosine, (target == -1).where((cosine - margin).relu(), 0))
        return loss._reduced(reduction)

    def triplet_margin_loss(
        self, positive: ArrayLike, negative: ArrayLike, margin: float = 1.0, p: float = 2,
        eps: float = 1e-6, swap: bool = False, reduction: str = "mean",
    ) -> Self:  # fmt: skip
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
        return (near - far + margin).relu()._reduced(reduction)

    @in_floats
    def poisson_nll_loss(
        self, target: ArrayLike, log_input: bool = True, full: bool = False, eps: float = 1e-8,
        reduction: str = "mean",
    ) -> Self:  # fmt: skip
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
        return loss._reduced(reduction)

    @in_floats
    def gaussian_nll_loss(
        self,
        target: ArrayLike,
        var: ArrayLike,
        full: bool = False,
        eps: float = 1e-6,
        reduction: str = "mean",
    ) -> Self:
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
        return (loss + 0.5 * math.log(2 * math.pi) if full else loss)._reduced(reduction)

    def binary_cross_entropy(
        self, target: ArrayLike, weight: ArrayLike | None = None, reduction: str = "mean"
    ) -> Self:
        """`binary_crossentropy`, with a weight for each element.

        >>> Tensor([0.5]).binary_cross_entropy(Tensor([1.0])).item()
        0.6931
        """
        loss = self.binary_crossentropy(target, "none")
        return (loss if weight is None else loss * weight)._reduced(reduction)
