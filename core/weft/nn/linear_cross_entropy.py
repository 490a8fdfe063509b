"""Cross entropy of the classes that a linear layer gives."""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.arguments import whole
from weft.base.dtype import DType
from weft.base.sequences import prod
from weft.nn import functional as F
from weft.nn.input_checks import tensor_for
from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.parameter import Buffer
from weft.tensor import Tensor


class LinearCrossEntropyLoss(Module):
    """Cross entropy of a linear map of the input: `nn.Linear` and `nn.CrossEntropyLoss` in one.

    Call with (batch, in_features) and class numbers (batch, *out_features), or both without the
    batch. `linear` has the parameters, (num_classes * prod(out_features), in_features). The other
    arguments are those of `nn.functional.linear_cross_entropy`; `options` have no effect.

    >>> loss = nn.LinearCrossEntropyLoss(4, 3)
    >>> loss(Tensor.ones(2, 4), Tensor([0, 2])).shape, list(loss.state_dict())
    ((), ['linear.weight'])
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: Sequence[int] = (),
        bias: bool = False,
        device: str | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: object = None,
    ) -> None:
        self.in_features, self.num_classes = in_features, whole(num_classes, "num_classes")
        self.out_features = tuple(out_features)
        rows = self.num_classes * prod(self.out_features)
        self.linear = Linear(in_features, rows, bias, device, dtype)
        self.weight = None if weight is None else Buffer(weight)
        self.reduction, self.ignore_index = reduction, ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss. See the class."""
        shape = (self.num_classes, *self.out_features)
        return F.linear_cross_entropy(
            tensor_for(self, input),
            self.linear.weight.reshape(*shape, self.in_features),
            tensor_for(self, target, "target"),
            linear_bias=self.linear.bias, weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
        )  # fmt: skip
