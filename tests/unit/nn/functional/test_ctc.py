"""The connectionist temporal classification loss beside PyTorch's and a sum over alignments."""

import itertools

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.functional.ctc import ctc_loss

CHANCE = np.random.default_rng(0)
STEPS, BATCH, CLASSES = 8, 4, 5
LOGITS = CHANCE.standard_normal((STEPS, BATCH, CLASSES))
TARGETS = np.array([[1, 2, 2, 4], [3, 3, 3, 1], [4, 1, 0, 0], [0, 0, 0, 0]])
LABELS = [4, 3, 2, 0]


def likelihood(logs: np.ndarray, labels: list) -> float:
    """Minus the log likelihood, by a sum over all paths."""
    total = 0.0
    for path in itertools.product(range(logs.shape[1]), repeat=logs.shape[0]):
        merged = [c for c, before in zip(path, (None, *path)) if c != before]
        if [c for c in merged if c != 0] == labels:
            total += np.exp(sum(logs[step, c] for step, c in enumerate(path)))
    return -np.log(total)


def test_the_loss_is_a_sum_over_alignments() -> None:
    logs = LOGITS[:5, :1, :3] - np.log(np.exp(LOGITS[:5, :1, :3]).sum(2, keepdims=True))
    for labels in ([1, 1], [2, 1], [], [1]):
        expected = likelihood(logs[:, 0], labels)
        target = Tensor([(labels + [0, 0])[:2]])
        got = ctc_loss(Tensor(logs), target, [5], [len(labels)], reduction="sum")
        np.testing.assert_allclose(got.item(), expected, rtol=1e-6)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("steps", [[8, 7, 6, 8], [8, 4, 0, 0]])
@pytest.mark.parametrize("in_one_row", [False, True])
def test_values_and_gradients_are_pytorchs(reduction: str, steps: list, in_one_row: bool) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    targets = TARGETS
    if in_one_row:
        targets = np.concatenate([row[:count] for row, count in zip(TARGETS, LABELS)])
    theirs, ours = torch.tensor(LOGITS, requires_grad=True), Tensor(LOGITS, requires_grad=True)
    expected = torch.nn.functional.ctc_loss(
        theirs.log_softmax(2), torch.tensor(targets), torch.tensor(steps), torch.tensor(LABELS),
        reduction=reduction, zero_infinity=True,
    )  # fmt: skip
    got = ctc_loss(
        ours.log_softmax(2), Tensor(targets), steps, LABELS, reduction=reduction,
        zero_infinity=True,
    )  # fmt: skip
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6)
    expected.sum().backward()
    got.sum().backward()
    assert ours.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-5, atol=1e-9)


def test_too_few_steps_are_infinite_unless_they_count_zero() -> None:
    logs = Tensor(LOGITS[:1, :1]).log_softmax(2)
    given = (logs, Tensor([[1, 2]]), [1], [2])
    assert ctc_loss(*given).item() == float("inf")
    assert ctc_loss(*given, zero_infinity=True).item() == 0.0


def test_one_sequence_without_a_batch() -> None:
    logs = Tensor(LOGITS).log_softmax(2)
    one = ctc_loss(logs[:, 0], Tensor(TARGETS[0]), 8, 4, reduction="sum").item()
    batch = ctc_loss(logs, Tensor(TARGETS), [8] * 4, LABELS, reduction="none")
    np.testing.assert_allclose(batch.numpy()[0], one, rtol=1e-6)


def test_compiled() -> None:
    @jit
    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return ctc_loss(logits.log_softmax(2), targets, [8] * 4, Tensor(LABELS))

    x, targets = Tensor(LOGITS), Tensor(TARGETS)
    expected = ctc_loss(x.log_softmax(2), targets, [8] * 4, LABELS).item()
    for _ in range(3):
        np.testing.assert_allclose(loss(x, targets).item(), expected, rtol=1e-6)


def test_invalid_arguments() -> None:
    logs = Tensor(LOGITS)
    with pytest.raises(ShapeError, match="do not fit"):
        ctc_loss(logs, Tensor(TARGETS), [8] * 3, LABELS)
    with pytest.raises(ArgumentError, match="blank"):
        ctc_loss(logs, Tensor(TARGETS), [8] * 4, LABELS, blank=5)
