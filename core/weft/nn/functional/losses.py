"""Losses as functions, with PyTorch's names, arguments and defaults.

`reduction` is "mean", "sum" or "none"; the mean over classes divides by their weights.
"""

from __future__ import annotations

from weft.base.arguments import real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor
from weft.tensor.ops.neural_network.losses import reduced as reduced_tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div",
    "l1_loss", "linear_cross_entropy", "margin_ranking_loss", "mse_loss", "nll_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of logits (batch, classes, ...) with class numbers (batch, ...), or with
    probabilities of the logits' shape. Without a batch: (classes,) with one number, shape ().

    weight (classes,): a factor for each class. ignore_index: class that does not count.
    label_smoothing: the share of each target that is spread evenly over all classes (Szegedy et
    al., 2016). :raises ShapeError: where input and target do not fit.

    >>> logits = Tensor([[2.0, 0.0], [0.0, 1.0]])
    >>> nn.functional.cross_entropy(logits, Tensor([0, 1])).item()
    0.2201
    """
    x, target = tensor_of(input, "cross_entropy"), tensor_of(target, "cross_entropy", "target")
    if not 0 <= real(label_smoothing, "label_smoothing") <= 1:
        raise ArgumentError(
            "label smoothing is a share", asked=f"label_smoothing={shown(label_smoothing)}",
            try_="0 <= label_smoothing <= 1",
        )  # fmt: skip
    axis = 1 if x.ndim > 1 else 0
    if dtypes.is_float(target.dtype) and target.shape == x.shape:
        return _soft_cross_entropy(x, target, weight, reduction, label_smoothing, axis)
    check_classes("cross_entropy", x, target, axis)
    logs = x.log_softmax(axis)
    if not label_smoothing:
        return logs.nll_loss(target, weight, ignore_index, reduction)
    counted = target != ignore_index
    loss = logs.nll_loss(target, weight, ignore_index, "none") * (1.0 - label_smoothing)
    spread = logs if weight is None else logs * _along(weight, logs, axis)
    even = spread.sum(axis) * (label_smoothing / x.shape[axis])
    loss = loss - counted.where(even, 0)
    if reduction != "mean":
        return reduced(loss, reduction)
    if weight is None:
        return loss.sum() / counted.sum().cast(loss.dtype)
    return loss.sum() / counted.where(weight[counted.where(target, 0)], 0).sum()


def _soft_cross_entropy(
    x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, axis: int
) -> Tensor:
    """Cross entropy with probabilities."""
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / x.shape[axis]
    terms = x.log_softmax(axis) * target
    if weight is not None:
        terms = terms * _along(weight, x, axis)
    return reduced(-terms.sum(axis), reduction)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: object = None,
) -> Tensor:
    """`cross_entropy` of input @ linear_weight.T + linear_bias, whose other arguments are the same.

    input (batch, features) or (features,), linear_weight (classes, ..., features). `options`, which
    say how PyTorch computes the loss, have no effect.

    >>> weight = Tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> nn.functional.linear_cross_entropy(Tensor([[2.0, 0.0]]), weight, Tensor([0])).item()
    0.1269
    """
    x = tensor_of(input, "linear_cross_entropy")
    classes = linear_weight.shape[:-1]
    logits = x @ linear_weight.reshape(-1, linear_weight.shape[-1]).transpose(0, 1)
    logits = logits if linear_bias is None else logits + linear_bias.reshape(-1)
    return cross_entropy(
        logits.reshape(*x.shape[:-1], *classes), target, weight, reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )  # fmt: skip


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log probability input (batch, classes, ...) of the classes target (batch, ...).

    See `cross_entropy` for the arguments.
    """
    x, target = tensor_of(input, "nll_loss"), tensor_of(target, "nll_loss", "target")
    check_classes("nll_loss", x, target, 1 if x.ndim > 1 else 0)
    return x.nll_loss(target, weight, ignore_index, reduction)


def mse_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """The square of the difference.

    >>> nn.functional.mse_loss(Tensor([1.0, 2.0]), Tensor([1.0, 4.0])).item()
    2.0
    """
    return _weighed(tensor_of(input, "mse_loss").mse_loss(target, "none"), weight, reduction)


def l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """The size of the difference."""
    return _weighed(tensor_of(input, "l1_loss").l1_loss(target, "none"), weight, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The size d of the difference less beta / 2; below beta, d*d / (2 beta) (Girshick, 2015)."""
    return tensor_of(input, "smooth_l1_loss").smooth_l1_loss(target, reduction, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d*d / 2 of the size d of the difference; above delta, delta (d - delta / 2) (Huber, 1964)."""
    loss = tensor_of(input, "huber_loss").huber_loss(target, "none", delta)
    return _weighed(loss, weight, reduction)


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """Cross entropy of probabilities with targets between 0 and 1; logarithms are at least -100."""
    x = tensor_of(input, "binary_cross_entropy")
    check_same("binary_cross_entropy", x, target)
    return x.binary_cross_entropy(target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of sigmoid(input) and targets between 0 and 1, without overflow.

    pos_weight: a factor for the term of positive targets.

    >>> loss = nn.functional.binary_cross_entropy_with_logits
    >>> loss(Tensor([0.0, 2.0]), Tensor([1.0, 0.0])).item()
    1.41
    """
    x = tensor_of(input, "binary_cross_entropy_with_logits")
    check_same("binary_cross_entropy_with_logits", x, target)
    loss = x.binary_crossentropy_logits(target, "none", pos_weight)
    return _weighed(loss, weight, reduction)


def kl_div(
    input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """Kullback-Leibler divergence: target * (log(target) - input), input being log probabilities.

    log_target: target holds logarithms too. reduction="batchmean" divides the sum by the batch.
    """
    return tensor_of(input, "kl_div").kl_div(target, reduction, log_target)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, *, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """1 - cosine where the target is 1; max(0, cosine - margin) where it is -1."""
    x = tensor_of(input1, "cosine_embedding_loss")
    return x.cosine_embedding_loss(input2, target, margin, reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, *, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, margin - target * (input1 - input2))."""
    x = tensor_of(input1, "margin_ranking_loss")
    return x.margin_ranking_loss(input2, target, margin, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: str = "mean",
) -> Tensor:
    """max(0, distance to positive - distance to negative + margin), along the last axis (Balntas et
    al., 2016)."""
    x = tensor_of(anchor, "triplet_margin_loss")
    return x.triplet_margin_loss(positive, negative, margin, p, eps, swap, reduction)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, *, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """input where the target is 1, max(0, margin - input) where it is -1."""
    return tensor_of(input, "hinge_embedding_loss").hinge_embedding_loss(target, margin, reduction)


def soft_margin_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)), targets being 1 and -1."""
    return tensor_of(input, "soft_margin_loss").soft_margin_loss(target, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log likelihood of counts under a Poisson distribution of rate exp(input), or input
    without log_input."""
    x = tensor_of(input, "poisson_nll_loss")
    return x.poisson_nll_loss(target, log_input, full, eps, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log likelihood of targets under normal distributions of mean input."""
    return tensor_of(input, "gaussian_nll_loss").gaussian_nll_loss(
        target, var, full, eps, reduction
    )


def reduced(loss: Tensor, reduction: str) -> Tensor:
    return reduced_tensor(loss, reduction)


def _weighed(loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """The mean is over the weights, where there are any."""
    if weight is None:
        return reduced(loss, reduction)
    return reduced(loss * weight, reduction)


def _along(weight: Tensor, x: Tensor, axis: int) -> Tensor:
    """(classes,) in the shape that broadcasts with x along its axis of classes."""
    return weight.reshape(tuple(-1 if i == axis else 1 for i in range(x.ndim)))


def check_classes(who: str, x: Tensor, target: Tensor, axis: int) -> None:
    wanted = (*x.shape[:axis], *x.shape[axis + 1 :])
    if x.ndim and dtypes.is_int(target.dtype) and target.shape == wanted:
        return
    raise ShapeError(
        "the target does not fit the input",
        asked=f"{who} of {x.dtype!r} {x.shape} with a target of {target.dtype!r} {target.shape}",
        because="the classes are axis 1 (axis 0 without a batch), and the target has integers for "
        "all other axes" + (", or probabilities for all" if who == "cross_entropy" else ""),
        try_=f"a target of integers of shape {wanted}",
    )


def check_same(who: str, x: Tensor, target: Tensor) -> None:
    if tensor_of(target, who, "target").shape != x.shape:
        raise ShapeError(
            "input and target have the same shape",
            asked=f"{who} of {x.shape} with a target of {target.shape}",
            try_=f"target.reshape({x.shape})",
        )
