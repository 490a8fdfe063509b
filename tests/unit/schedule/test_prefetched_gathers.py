"""All-gathers of sharded parameters: their order, and the memory of the layers together."""

import numpy as np
import pytest

from helpers.collective_family import Gang
from weft import Tensor, nn
from weft.engine.stats import stats
from weft.plugin import CollectiveKind, Ops, register, unregister
from weft.schedule import exchange_order

DEVICES = ("GANG", "GANG:1")
SIZE = 16
WHOLE = SIZE * SIZE * 4


@pytest.fixture(autouse=True)
def gang(monkeypatch):
    monkeypatch.setattr(exchange_order, "BUCKET_BYTES", 64)
    register(Gang(), "GANG")
    yield
    unregister("GANG")


def sharded_model(layers, **how):
    Tensor.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(SIZE, SIZE, bias=False) for _ in range(layers)])
    return nn.parallel.FullySharded(model, DEVICES, **how)


def batch():
    return Tensor.arange(2 * SIZE).reshape(2, SIZE).float().shard(DEVICES, 0).realize()


def order_of(*tensors):
    """The all-gathers of parameters, "gather", and the kernels of the first device that use one."""
    gathered, found = set(), []
    for item in Tensor.schedule(*tensors):
        if item.ast.op is Ops.COLLECTIVE and item.ast.arg.kind == CollectiveKind.ALLGATHER:
            gathered.add(item.bufs[0])
            found.append("gather")
        elif item.ast.op is Ops.SINK and not gathered.isdisjoint(item.bufs):
            found.append("use")
    return found


def test_parameters_are_gathered_while_the_layer_before_computes():
    found = order_of(sharded_model(5)(batch()))
    assert found == ["gather", "gather", *["use", "gather"] * 3, "use", "use"]


def test_one_layer_needs_no_order():
    assert order_of(sharded_model(1)(batch())) == ["gather", "use"]


def test_small_layers_are_gathered_together(monkeypatch):
    monkeypatch.setattr(exchange_order, "BUCKET_BYTES", 2 * WHOLE)
    found = order_of(sharded_model(8)(batch()))
    assert found == [*["gather"] * 4, *["use"] * 2, *["gather"] * 2, *["use"] * 2,
                     *["gather"] * 2, *["use"] * 4]  # fmt: skip


def planned_bytes(layers, trains, **how):
    """Bytes of the memory plan of a forward pass or a training step, on both devices."""
    net = sharded_model(layers, **how)
    optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.01)
    x = batch()
    stats.reset()
    if trains:
        with Tensor.train():
            net(x).square().mean().backward()
            optimizer.step()
    else:
        net(x).realize()
    return stats.planned_bytes


def test_a_forward_pass_has_two_layers_in_memory():
    few, many = (planned_bytes(layers, trains=False) for layers in (4, 10))
    assert few == many
    assert 2 * WHOLE * 2 <= many < 2.5 * WHOLE * 2


def test_a_training_step_has_two_layers_in_memory_and_parts_of_the_others():
    few, many = (planned_bytes(layers, trains=True) for layers in (4, 10))
    assert many - few < 2 * WHOLE  # six more layers, and less than one of them on each device
    kept = [planned_bytes(n, trains=True, reshard_after_forward=False) for n in (4, 10)]
    assert kept[1] - kept[0] > 6 * WHOLE


@pytest.mark.parametrize("reshards", [False, True])
def test_gradients_do_not_depend_on_when_parameters_are_gathered(reshards):
    x = Tensor.arange(2 * SIZE).reshape(2, SIZE).float() * 0.01
    Tensor.manual_seed(0)
    alone = nn.Sequential(*[nn.Linear(SIZE, SIZE, bias=False) for _ in range(3)])
    alone(x).tanh().square().mean().backward()
    net = sharded_model(3, reshard_after_forward=reshards)
    net(x).tanh().square().mean().backward()
    for found, expected in zip(nn.state.get_parameters(net), nn.state.get_parameters(alone)):
        assert found.grad.layout.axis == 0
        assert np.allclose(found.grad.numpy(), expected.grad.numpy(), atol=1e-6)


def test_gradients_come_from_a_second_exchange():
    net = sharded_model(3)
    net(batch()).square().mean().backward()
    gradients = [parameter.grad for parameter in nn.state.get_parameters(net)]
    assert order_of(*gradients).count("gather") == 3 + 2
