"""Connectionist temporal classification: the likelihood of labels over all alignments.

Source: A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
labelling unsegmented sequence data with recurrent neural networks" (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.losses import reduced
from weft.nn.input_checks import tensor_of
from weft.tensor import Tensor

__all__ = ["ctc_loss"]

_IMPOSSIBLE = -1e30  # a logarithm that no sum notices; -inf - -inf would be NaN
Lengths = Tensor | Sequence[int] | int


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Lengths, target_lengths: Lengths,
    blank: int = 0, reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of labels, summed over their alignments with the steps.

    log_probs (steps, batch, classes), logarithms of probabilities; targets (batch, labels), or the
    labels of all sequences in one row; lengths (batch,). All may be without the batch. The mean is
    of losses over their numbers of labels. blank: the class of no label. zero_infinity: 0, and no
    gradient, where there are too few steps for the labels.
    :raises ShapeError: if the lengths or targets do not fit log_probs.

    >>> logs = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> nn.functional.ctc_loss(logs, Tensor([[1]]), (2,), (1,)).item()
    0.2877
    """
    logs, targets = tensor_of(log_probs, "ctc_loss"), tensor_of(targets, "ctc_loss", "target")
    if logs.ndim == 2:
        steps, labels = (_lengths(n, logs).reshape(1) for n in (input_lengths, target_lengths))
        batch, rows = logs.unsqueeze(1), targets.reshape(1, -1)
        loss = ctc_loss(batch, rows, steps, labels, blank, "none", zero_infinity).squeeze(0)
        return reduced(_over_labels(loss, target_lengths, reduction), reduction)
    steps, labels = _lengths(input_lengths, logs), _lengths(target_lengths, logs)
    _check(logs, targets, steps, labels, blank)
    if targets.ndim == 1:
        targets = _rows(targets, labels)
    loss = _negative_log_likelihood(logs, targets, steps, labels, blank)
    is_possible = loss < -0.1 * _IMPOSSIBLE
    loss = is_possible.where(loss, 0.0 if zero_infinity else float("inf")).cast(logs.dtype)
    return reduced(_over_labels(loss, labels, reduction), reduction)


def _over_labels(loss: Tensor, labels: Any, reduction: str) -> Tensor:
    if reduction != "mean":
        return loss
    return loss / _lengths(labels, loss).maximum(1).cast(loss.dtype).reshape(loss.shape)


def _lengths(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value.to(like.device)
    return Tensor(list(value) if isinstance(value, Sequence) else value, device=like.device)


def _check(logs: Tensor, targets: Tensor, steps: Tensor, labels: Tensor, blank: int) -> None:
    batch = logs.shape[1] if logs.ndim == 3 else None
    fits = logs.ndim == 3 and steps.shape == labels.shape == (batch,) and logs.shape[0] > 0
    if not fits or targets.ndim not in (1, 2) or (targets.ndim == 2 and targets.shape[0] != batch):
        raise ShapeError(
            "the arguments of ctc_loss do not fit each other",
            asked=f"log_probs {logs.shape}, targets {targets.shape}, lengths {steps.shape} and "
            f"{labels.shape}",
            because="they are (steps, batch, classes), (batch, labels) or (all labels,), and twice "
            "(batch,)",
        )
    if not 0 <= blank < logs.shape[2]:
        raise ArgumentError(
            "the blank is one of the classes", asked=f"blank={shown(blank)}",
            because=f"there are {logs.shape[2]} classes",
        )  # fmt: skip


def _rows(targets: Tensor, labels: Tensor) -> Tensor:
    """The labels of all sequences in one row as (batch, longest); what is behind is any label."""
    longest = max(labels.tolist(), default=0)
    if not targets.shape[0]:
        return Tensor.zeros(labels.shape[0], longest, dtype=targets.dtype, device=targets.device)
    starts = labels.cumsum(0) - labels
    places = starts.unsqueeze(1) + Tensor.arange(longest, device=targets.device)
    return targets[places.clamp(0, targets.shape[0] - 1)]


def _negative_log_likelihood(
    logs: Tensor, targets: Tensor, steps: Tensor, labels: Tensor, blank: int
) -> Tensor:
    """The forward algorithm over the labels with a blank before, between and after them."""
    count, batch, classes = logs.shape
    wide = logs.cast(dtypes.float64 if logs.dtype is dtypes.float64 else dtypes.float32)
    targets = targets.clamp(0, classes - 1)
    blanks = targets.zeros_like().unsqueeze(-1) + blank
    states = blanks.cat(targets.unsqueeze(-1), dim=-1).reshape(batch, -1)
    states = states.pad((None, (0, 1)), value=blank).contiguous()
    size = states.shape[1]
    emitted = wide.gather(2, states.unsqueeze(0).expand(count, batch, size)).maximum(_IMPOSSIBLE)
    emitted = emitted.contiguous()
    # a label may follow another one without a blank between them
    before = states.pad((None, (2, 0)), value=blank)[:, :size]
    skips = (states != blank) & (states != before)
    skips = skips.contiguous()
    first = Tensor.arange(size, device=logs.device) == 0
    alpha = first.where(0.0, _IMPOSSIBLE).cast(wide.dtype).expand(batch, size).contiguous()
    is_counted = (Tensor.arange(count, device=logs.device).unsqueeze(1) < steps).contiguous()
    for step in range(count):
        # In memory of its own each step is the same kernels, which are built once.
        moved = _step(alpha, skips) + emitted[step].contiguous()
        alpha = is_counted[step].contiguous().unsqueeze(1).where(moved, alpha)
        alpha = alpha.contiguous().contiguous_backward()
    last = (labels * 2).cast(dtypes.int32).unsqueeze(1)
    ends = [alpha.gather(1, place).squeeze(1) for place in (last, (last - 1).maximum(0))]
    either = ends[0].logaddexp(ends[1])
    return -(labels > 0).where(either, ends[0])


def _step(alpha: Tensor, skips: Tensor) -> Tensor:
    """The log likelihood of each state after a step from it, the one before or the one but one."""
    size = alpha.shape[1]
    from_one = alpha.pad((None, (1, 0)), value=_IMPOSSIBLE)[:, :size]
    from_two = alpha.pad((None, (2, 0)), value=_IMPOSSIBLE)[:, :size]
    from_two = skips.where(from_two, _IMPOSSIBLE)
    most = alpha.maximum(from_one).maximum(from_two).detach()
    terms = [(each - most).exp() for each in (alpha, from_one, from_two)]
    return (terms[0] + terms[1] + terms[2]).log() + most
