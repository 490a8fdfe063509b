"""Adaptive softmax: class probabilities of clusters, so that frequent classes cost less.

Source: E. Grave and others, "Efficient softmax approximation for GPUs" (2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.base.arguments import real, shown, whole
from weft.base.dtype import DType
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.containers import ModuleList
from weft.nn.input_checks import tensor_for
from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.sequential import Sequential
from weft.tensor import Tensor


class TargetLogProbabilities(NamedTuple):
    """What `AdaptiveLogSoftmaxWithLoss` gives."""

    output: Tensor
    """The log probability of the target of each sample."""
    loss: Tensor
    """Minus the mean of the output."""


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of classes that are sorted by their frequency, the most frequent first.

    The head has the classes below cutoffs[0] and one entry for each cluster of the others; the
    classes from cutoffs[i] to cutoffs[i + 1] - 1 have in_features / div_value**(i + 1) features.
    Call with (batch, in_features) and class numbers (batch,), or (in_features,) and (); gives
    (output, loss). :raises ArgumentError: for cutoffs that do not rise from above 0 to below
    n_classes.

    >>> softmax = nn.AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs=[3, 6], div_value=2.0)
    >>> softmax(Tensor.ones(2, 4), Tensor([1, 7])).output.shape
    (2,)
    >>> round(softmax.log_prob(Tensor.ones(1, 4)).exp().sum().item(), 4)
    1.0
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
    ) -> None:
        given = [whole(each, "a cutoff") for each in cutoffs]
        if not given or given != sorted(set(given)) or not 0 < given[0] <= given[-1] < n_classes:
            raise ArgumentError(
                "cutoffs are rising numbers of classes",
                asked=f"AdaptiveLogSoftmaxWithLoss(cutoffs={shown(cutoffs)})",
                because=f"each is above 0 and below {n_classes}",
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value, self.head_bias = real(div_value, "div_value"), head_bias
        self.shortlist_size, self.n_clusters = given[0], len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for number in range(self.n_clusters):
            inside = int(in_features // self.div_value ** (number + 1))
            classes = self.cutoffs[number + 1] - self.cutoffs[number]
            self.tail.append(
                Sequential(
                    Linear(in_features, inside, False, device, dtype),
                    Linear(inside, classes, False, device, dtype),
                )
            )

    def forward(self, input: Tensor, target: Tensor) -> TargetLogProbabilities:
        """(output, loss). See the class."""
        x, classes = tensor_for(self, input), tensor_for(self, target, "target")
        if x.ndim != classes.ndim + 1 or x.shape[:-1] != classes.shape or x.ndim > 2:
            raise ShapeError(
                "there is one class number for each sample",
                asked=f"AdaptiveLogSoftmaxWithLoss of {x.shape} and {classes.shape}",
                because="they are (batch, in_features) and (batch,), or (in_features,) and ()",
            )
        if x.ndim == 1:
            output, loss = self.forward(x.unsqueeze(0), classes.unsqueeze(0))
            return TargetLogProbabilities(output.squeeze(0), loss)
        output = self.log_prob(x).gather(1, classes.unsqueeze(1)).squeeze(1)
        return TargetLogProbabilities(output, -output.mean())

    def log_prob(self, input: Tensor) -> Tensor:
        """(batch, n_classes) log probabilities of all classes, for (batch, in_features)."""
        x = tensor_for(self, input)
        head = self.head(x).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for number, cluster in enumerate(self.tail):
            place = self.shortlist_size + number
            parts.append(cluster(x).log_softmax(1) + head[:, place : place + 1])
        return parts[0].cat(*parts[1:], dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """(batch,) numbers of the classes of the largest probability."""
        return self.log_prob(input).argmax(1)
