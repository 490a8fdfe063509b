"""Pipelines: the order of passes, and the gradients of the whole batch."""

import pytest

from helpers.parallel_training import DEVICES, data, model
from weft import nn
from weft.nn import parallel


class Stage(nn.Module):
    def __init__(self, layer, tanh=False):
        self.layer, self.tanh = layer, tanh

    def forward(self, x):
        return self.layer(x).tanh() if self.tanh else self.layer(x)


def test_passes_of_a_pipeline_keep_few_activations():
    order = parallel.one_forward_one_backward(3, 6)
    assert len(order) == len(set(order)) == 36
    held = 0
    for one in (p for p in order if p.stage == 0):
        held += 1 if one.forward else -1
        assert held <= 3
    for place, one in enumerate(order):
        if one.forward and one.stage:
            assert order.index((one.stage - 1, one.microbatch, True)) < place
        if not one.forward and one.stage < 2:
            assert order.index((one.stage + 1, one.microbatch, False)) < place


def test_a_pipeline_has_the_gradients_of_the_whole_batch():
    x, target = data()
    whole = model()
    loss = (whole(x) - target).square().mean()
    loss.backward()
    net = model()
    pipe = parallel.Pipeline([Stage(net.first, tanh=True), Stage(net.second)], DEVICES)
    got = pipe.train_step(x, target, lambda out, wanted: (out - wanted).square().mean(), 4)
    assert got.item() == pytest.approx(loss.item(), rel=1e-5)
    for mine, theirs in zip(nn.state.get_parameters(net), nn.state.get_parameters(whole)):
        for row, wanted in zip(mine.grad.flatten().tolist(), theirs.grad.flatten().tolist()):
            assert row == pytest.approx(wanted, rel=1e-4, abs=1e-6)
