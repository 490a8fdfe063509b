"""Several instances of the device, each with memory of its own, train one network together."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.settings import settings
from weft.nn.datasets import load_digits
from weft.nn.optim import SGD, Adam
from weft.nn.state import get_parameters

pytestmark = pytest.mark.usefixtures("bench")  # skips where nothing can be compiled

TWO = ("CPU:0", "CPU:1")


class Digits:
    """64 numbers in, ten out."""

    def __init__(self) -> None:
        self.first, self.last = nn.Linear(64, 32), nn.Linear(32, 10)

    def __call__(self, x: Tensor) -> Tensor:
        return self.last(self.first(x).relu())


def trained(optimiser, devices=None, batches=12, size=50):
    """Losses on the way and parameters in the end."""
    Tensor.manual_seed(0)
    training, _ = load_digits().split()
    images = np.frombuffer(training.images, np.uint8).reshape(-1, 64).astype(np.float32) / 16
    labels = np.frombuffer(training.labels, np.uint8).astype(np.int32)
    net = Digits()
    for parameter in get_parameters(net):
        parameter.to_("CPU:0").realize()
        if devices:
            parameter.shard_(devices)
    steps = optimiser(get_parameters(net))
    losses = []
    with Tensor.train():
        for batch in range(batches):
            rows = slice(batch * size, batch * size + size - 1)  # 49: no two halves of it
            x = Tensor(images[rows], device="CPU:0")
            y = Tensor(labels[rows], device="CPU:0")
            if devices:
                x, y = x.shard(devices, 0), y.shard(devices, 0)
            steps.zero_grad()
            loss = net(x).sparse_categorical_crossentropy(y).backward()
            steps.step()
            losses.append(loss.item())
    return losses, [parameter.numpy() for parameter in get_parameters(net)]


@pytest.mark.parametrize(
    "optimiser",
    [lambda p: SGD(p, lr=0.5, momentum=0.9), lambda p: Adam(p, lr=0.01)],
    ids=["sgd", "adam"],
)
def test_digits_are_learnt_alike_on_one_and_on_two(optimiser):
    expected, alone = trained(optimiser)
    losses, together = trained(optimiser, TWO)
    assert expected[-1] < 0.8 * expected[0]
    np.testing.assert_allclose(losses, expected, rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(together, alone):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_in_a_ring_of_three():
    expected, _ = trained(lambda p: SGD(p, lr=0.1), batches=3)
    with settings.override(RING=2):
        losses, _ = trained(lambda p: SGD(p, lr=0.1), (*TWO, "CPU:2"), batches=3)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)


def test_memory_is_of_the_parts():
    x = Tensor.ones(5, 4, device="CPU").contiguous().shard(TWO, 0).realize()
    assert [(buffer.device, buffer.size) for buffer in x.uop.realized] == [
        ("CPU", 12),
        ("CPU:1", 8),
    ]
    assert (x @ x.T).tolist() == [[4.0] * 5] * 5
