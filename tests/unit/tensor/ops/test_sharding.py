"""One tensor on several devices, run on as many reference devices: results are those of one."""

import copy
import os
import pickle

import numpy as np
import pytest

from weft import Tensor, array_api, dtypes
from weft.base.errors import (
    ArgumentError,
    DeviceError,
    IndexingError,
    ShapeError,
    UnknownDevice,
)
from weft.base.settings import settings
from weft.engine import stats
from weft.nn.optim import SGD, Adam
from weft.nn.state import load_state_dict, safe_load, safe_save
from weft.uop import Shard, UOp

TWO = ("REF", "REF:1")
THREE = ("REF", "REF:1", "REF:2")

pytestmark = pytest.mark.skipif(
    os.environ.get("WEFT_TEST_ORACLE") == "1", reason="the oracle knows one device"
)


def numbers(*shape):
    size = int(np.prod(shape, dtype=int))
    return (np.arange(size, dtype=np.float32) % 7 - 3).reshape(shape)


def sharded(array, axis=None, devices=TWO):
    return Tensor(array, device="REF").shard(devices, axis).realize()


def same(tensor, expected):
    assert tensor.shape == expected.shape
    np.testing.assert_array_equal(tensor.numpy(), expected)


# ---- laying out --------------------------------------------------------------------------------


@pytest.mark.parametrize("devices", [TWO, THREE], ids=len)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("shape", [(6, 4), (5, 3), (1, 2), (2, 7)], ids=str)
def test_a_sharded_tensor_has_the_value_of_the_whole(shape, axis, devices):
    array = numbers(*shape)
    x = Tensor(array, device="REF").shard(devices, axis)
    assert x.shape == shape and x.device == devices and x.dtype is dtypes.float32
    same(x, array)
    same(x.realize(), array)
    same(x.to("REF:1"), array)
    same(x.to("REF:4"), array)


def test_parts_may_be_uneven_and_empty():
    x = sharded(numbers(5, 2), 0, THREE)
    assert x.layout == Shard(0, (0, 2, 4, 5))
    assert [part.shape for part in x.shards()] == [(2, 2), (2, 2), (1, 2)]
    assert [part.device for part in x.shards()] == list(THREE)
    one = sharded(numbers(1, 2), 0, THREE)
    assert [part.shape for part in one.shards()] == [(1, 2), (0, 2), (0, 2)]
    same(one.sum(0), numbers(1, 2).sum(0))
    same(one.max(0), numbers(1, 2).max(0))
    same(one.prod(0), numbers(1, 2).prod(0))


def test_each_part_takes_the_memory_of_its_part():
    x = sharded(numbers(5, 2), 0)
    assert [buffer.size for buffer in x.uop.realized] == [6, 4]
    assert [buffer.device for buffer in x.uop.realized] == list(TWO)
    assert x.uop.is_realized and not (x + 1).uop.is_realized


def test_redistribution():
    array = numbers(4, 6)
    x = sharded(array, 0)
    for axis in (1, None, 0):
        x = x.shard(TWO, axis)
        assert x.layout.axis == axis
        same(x, array)
    x = x.shard(THREE, 1)
    assert x.device == THREE
    same(x, array)
    same(x.shard(("REF:2", "REF"), 0), array)


def test_in_place():
    x = Tensor(numbers(4), device="REF", requires_grad=True)
    assert x.shard_(TWO) is x and x.device == TWO and x.is_leaf and x.requires_grad
    assert Tensor(numbers(4), device="REF").shard_(TWO, 0).layout.axis == 0


def test_one_device_is_no_sharding():
    x = Tensor(numbers(4), device="REF").shard(("REF:1",), 0)
    assert x.device == "REF:1" and x.layout is None
    same(x, numbers(4))


def test_as_another_tensor_is():
    x = sharded(numbers(4, 6), 1)
    assert Tensor(numbers(2, 6), device="REF").shard_like(x).layout == x.layout
    assert Tensor(numbers(4, 3), device="REF").shard_like(x).layout == Shard()
    assert Tensor(numbers(6), device="REF").shard_like(x).layout == Shard()
    assert x.shard_like(Tensor(numbers(1), device="REF:2")).device == "REF:2"


def test_invalid_sharding():
    x = Tensor(numbers(4, 2), device="REF")
    with pytest.raises(ArgumentError, match="no sequence"):
        x.shard("REF")
    with pytest.raises(ArgumentError, match="distinct"):
        x.shard(("REF", "REF:0"))
    with pytest.raises(ArgumentError, match="there is none"):
        x.shard(())
    with pytest.raises(UnknownDevice, match="NOSUCH"):
        x.shard(("REF", "NOSUCH"))
    with pytest.raises(IndexingError, match="axis 2"):
        x.shard(TWO, 2)
    with pytest.raises(ArgumentError, match="on one device"):
        x.shards()
    n = UOp.variable("n", 1, 4).bind(3)
    with pytest.raises(ShapeError, match="definite size"):
        x.shrink(((0, n), None)).shard(TWO, 0)


def test_operands_elsewhere_are_refused_with_the_way_out():
    x, y = sharded(numbers(4), 0), Tensor(numbers(4), device="REF")
    with pytest.raises(DeviceError, match=r"x\.to\(\('REF', 'REF:1'\)\)"):
        x + y
    with pytest.raises(DeviceError, match=r"\('REF', 'REF:1', 'REF:2'\)"):
        x + sharded(numbers(4), 0, THREE)
    same(x + y.to(x.device), numbers(4) * 2)


# ---- computing ---------------------------------------------------------------------------------

LAYOUTS = [None, 0, 1]


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_elementwise(left, right):
    a, b = numbers(5, 4), numbers(4, 5).T.copy()
    x, y = sharded(a, left), sharded(b, right)
    same(x * y - 2, a * b - 2)
    same((x < y).where(x, y), np.minimum(a, b))


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("ring", [0, 2])
def test_matrix_products(left, right, ring):
    a, b = numbers(5, 7), numbers(7, 3)
    with settings.override(RING=ring):
        same(sharded(a, left, THREE) @ sharded(b, right, THREE), a @ b)


@pytest.mark.parametrize("ring", [0, 2])
@pytest.mark.parametrize("axis", LAYOUTS)
@pytest.mark.parametrize("over", [0, 1, (0, 1)])
def test_reduces(over, axis, ring):
    a = numbers(5, 4) - 9  # a padding zero would be the largest
    x = sharded(a, axis, THREE)
    with settings.override(RING=ring):
        same(x.sum(over), np.asarray(a.sum(over)))
        same(x.max(over), np.asarray(a.max(over)))
        same(x.min(over, keepdim=True), np.asarray(a.min(over, keepdims=True)))
        same((x + 8).prod(over), np.asarray((a + 8).prod(over)))


@pytest.mark.parametrize("axis", LAYOUTS)
def test_sums_that_are_laid_out_cut(axis):
    a, b = numbers(5, 7), numbers(7, 4)
    product = (sharded(a, 1, THREE) @ sharded(b, 0, THREE)).shard(THREE, axis)
    assert product.layout.axis == axis
    same(product, a @ b)
    same((product + 1).max(0), (a @ b + 1).max(0))


def test_mean_variance_softmax_and_argmax():
    a = numbers(5, 4)
    for axis in (0, 1):
        x = sharded(a, axis)
        np.testing.assert_allclose(x.mean().item(), a.mean(), rtol=1e-6)
        np.testing.assert_allclose(x.var(0).numpy(), a.var(0, ddof=1), rtol=1e-5)
        for along in (0, 1):
            e = np.exp(a - a.max(along, keepdims=True))
            expected = e / e.sum(along, keepdims=True)
            np.testing.assert_allclose(x.softmax(along).numpy(), expected, rtol=1e-5)
            same(x.argmax(along), a.argmax(along))


def moves():
    yield "rows to one axis", lambda x: x.reshape(24), lambda a: a.reshape(24)
    yield "reshape across", lambda x: x.reshape(3, 8), lambda a: a.reshape(3, 8)
    yield "split", lambda x: x.reshape(4, 3, 2), lambda a: a.reshape(4, 3, 2)
    yield "permute", lambda x: x.permute(1, 0), lambda a: a.T
    yield "expand", lambda x: x.unsqueeze(0).expand(2, 4, 6), lambda a: np.stack([a, a])
    yield "pad", lambda x: x.pad(((1, 2), (3, 0))), lambda a: np.pad(a, ((1, 2), (3, 0)))
    yield "shrink", lambda x: x[1:3, 2:5], lambda a: a[1:3, 2:5]
    yield "one row", lambda x: x[3], lambda a: a[3]
    yield "flip", lambda x: x.flip((0, 1)), lambda a: a[::-1, ::-1]
    yield "cat", lambda x: x.cat(x + 1, dim=0), lambda a: np.concatenate([a, a + 1])
    yield "cat 1", lambda x: x.cat(x + 1, dim=1), lambda a: np.concatenate([a, a + 1], 1)
    yield "pick", lambda x: x[Tensor([3, 0], device=TWO)], lambda a: a[[3, 0]]
    yield "repeat", lambda x: x.repeat(2, 1), lambda a: np.tile(a, (2, 1))
    yield "cumsum", lambda x: x.cumsum(0), lambda a: a.cumsum(0)


MOVES = {name: (ours, theirs) for name, ours, theirs in moves()}


@pytest.mark.parametrize("axis", LAYOUTS)
@pytest.mark.parametrize("move", MOVES)
def test_movement(move, axis):
    ours, theirs = MOVES[move]
    a = numbers(4, 6)
    same(ours(sharded(a, axis)), theirs(a))
    same(ours(sharded(a, axis)) + 1, theirs(a) + 1)


@pytest.mark.parametrize("axis", LAYOUTS)
def test_conversions(axis):
    a = numbers(4, 6)
    x = sharded(a, axis)
    same(x.cast("int"), a.astype(np.int32))
    same(x.bitcast("int"), a.view(np.int32))
    same(x.bitcast("uint8"), a.view(np.uint8))
    same(sharded(a.view(np.uint8), axis).bitcast("float"), a)
    same(x.contiguous() + x.detach() + x.clone(), a * 3)


def test_selection_of_one_part_copies_nothing():
    x = sharded(numbers(4, 2), 0)
    second = x.shards()[1]
    assert not [item for item in (second + 1).schedule() if item.ast.op.name == "COPY"]


WHOLE = np.linspace(-1, 1, 4 * 3 * 3 * 3, dtype=np.float32).reshape(4, 3, 3, 3)
COMPOSED = {
    "convolution": ((4, 3, 6, 6), lambda x, on: x.conv2d(on(WHOLE), padding=1).max_pool2d((2, 2))),
    "layernorm": ((5, 6, 2), lambda x, on: x.layernorm()),
    "attention": ((4, 5, 3), lambda x, on: x.scaled_dot_product_attention(x, x, is_causal=True)),
    "sort": ((7, 2, 2), lambda x, on: x.sort(0)[0]),
    "gather": ((7, 2, 2), lambda x, on: x[on(np.array([6, 0, 3], np.int32))]),
    "triangle": ((2, 5, 5), lambda x, on: x.tril() @ x),
    "roll": ((7, 2, 2), lambda x, on: x.roll(2, 0)),
    "repeat": ((7, 2, 2), lambda x, on: x.repeat_interleave(2, 0)),
}


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("what", COMPOSED)
def test_methods_that_are_composed_of_others(what, axis):
    shape, compute = COMPOSED[what]
    a = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    alone = compute(Tensor(a, device="REF"), lambda w: Tensor(w, device="REF"))
    together = compute(sharded(a, axis, THREE), lambda w: Tensor(w, device=THREE))
    np.testing.assert_allclose(together.numpy(), alone.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", LAYOUTS)
def test_windows_of_symbolic_size(axis):
    a = numbers(6, 4)
    n = UOp.variable("n", 1, 6).bind(4)
    window = sharded(a, axis).shrink(((0, n), None))
    same((window * 2).sum(0), (a[:4] * 2).sum(0))
    assert (window + 1).sum().item() == (a[:4] + 1).sum()


def test_long_chains_are_no_recursion():
    x = sharded(numbers(4), 0)
    y = x
    for _ in range(3000):
        y = y + 1
    same(y, numbers(4) + 3000)


# ---- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", LAYOUTS)
def test_writes_keep_the_memory_and_other_values(axis):
    a = numbers(4, 6)
    x = sharded(a, axis)
    memory = x.uop.realized
    before, view, copy, other = x * 2, x[1:3], x[1:3].contiguous(), x.to("REF:1")
    x.assign(sharded(a + 5, 1))
    x += 1
    x.realize()
    assert x.uop.realized == memory
    same(x, a + 6)
    same(before, a * 2)
    same(view, a[1:3] + 6)
    same(copy, a[1:3])
    same(other, a)


def test_a_write_to_a_part_that_was_taken_out_leaves_the_whole():
    x = sharded(numbers(4), None)
    part = x.to("REF").realize()
    part += 1
    part.realize()
    same(x, numbers(4))
    same(part, numbers(4) + 1)


@pytest.mark.parametrize("axis", LAYOUTS)
def test_setitem(axis):
    a = numbers(4, 6)
    x = sharded(a, axis)
    x[1:3, 2] = 9
    x[0] = sharded(numbers(6) + 1, 0)
    a[1:3, 2] = 9
    a[0] = numbers(6) + 1
    same(x, a)


def test_writes_are_carried_out_once_on_every_device():
    x = sharded(numbers(3), None)
    x += 1
    same(x.to("REF"), numbers(3) + 1)
    same(x.to("REF:1"), numbers(3) + 1)
    assert [part.tolist() for part in x.shards()] == [(numbers(3) + 1).tolist()] * 2


# ---- making, reading, keeping ------------------------------------------------------------------


def test_made_on_several_devices():
    same(Tensor.zeros(2, 3, device=TWO), np.zeros((2, 3), np.float32))
    same(Tensor.full((2,), 3.0, device=TWO) + Tensor.ones(2, device=TWO), np.full(2, 4, "f"))
    same(Tensor.arange(5, device=TWO) * 2, np.arange(5, dtype=np.int32) * 2)
    same(Tensor([[1, 2], [3, 4]], device=list(TWO)), np.array([[1, 2], [3, 4]], np.int32))
    same(Tensor(3.0, device=TWO) + 1, np.array(4, np.float32))
    held = Tensor.empty(2, 2, device=TWO).assign(Tensor.ones(2, 2, device=TWO)).realize()
    same(held, np.ones((2, 2), np.float32))
    assert [buffer.device for buffer in held.uop.realized] == list(TWO)


def test_memory_for_constants_is_not_shared():
    x = sharded(numbers(4), 0)
    a, b = (Tensor.zeros(4, device=TWO).shard_like(x).contiguous().realize() for _ in range(2))
    a += 1
    same(a.realize(), np.ones(4, np.float32))
    same(b, np.zeros(4, np.float32))


def test_random_numbers_are_those_of_one_device():
    Tensor.manual_seed(5)
    several = Tensor.rand(3, 3, device=TWO).numpy()
    Tensor.manual_seed(5)
    same(Tensor.rand(3, 3, device="REF"), several)
    x = sharded(numbers(4, 4), 0)
    assert x.rand_like().device == TWO and x.dropout(0.5).shape == (4, 4)


def test_into_python():
    a = numbers(3, 2)
    x = sharded(a, 0)
    assert x.tolist() == a.tolist() and x.sum().item() == a.sum()
    assert x.data().tolist() == a.tolist() and float(x[1, 1]) == a[1, 1]
    assert "('REF', 'REF:1')" in repr(x)
    same(copy.deepcopy(x), a)
    same(pickle.loads(pickle.dumps(x)), a)


def test_kernelize_then_realize():
    x = sharded(numbers(4, 2), 0)
    y = x.sum(0) + 1
    y.kernelize()
    same(y, numbers(4, 2).sum(0) + 1)


def test_a_schedule_has_kernels_of_one_device_each():
    x = sharded(numbers(4, 2), 0)
    for item in (x + 1).sum().schedule():
        if item.ast.op.name == "SINK":
            assert len({buffer.device for buffer in item.bufs}) == 1


def test_saved_and_loaded(tmp_path):
    model = type("Model", (), {})()
    a, b = numbers(5, 2), numbers(4)
    model.a, model.b = sharded(a, 0), sharded(b, None)
    path = tmp_path / "model.safetensors"
    safe_save({"a": model.a, "b": model.b}, path)
    model.a, model.b = sharded(a * 0, 0), sharded(b * 0, None)
    load_state_dict(model, safe_load(path))
    assert model.a.layout == Shard(0, (0, 3, 5)) and model.b.layout == Shard()
    same(model.a, a)
    same(model.b, b)


# ---- gradients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_gradients_are_those_of_one_device(left, right):
    a, b = numbers(4, 6), numbers(6, 3)

    def gradients(place_left, place_right):
        x = Tensor(a, device="REF", requires_grad=True)
        w = Tensor(b, device="REF", requires_grad=True)
        loss = ((place_left(x) @ place_right(w)).relu() * 0.5).square().mean()
        loss.backward()
        assert x.grad.device == w.grad.device == "REF"
        return loss.item(), x.grad.numpy(), w.grad.numpy()

    expected = gradients(lambda x: x, lambda w: w)
    found = gradients(lambda x: x.shard(TWO, left), lambda w: w.shard(TWO, right))
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_gradients_of_leaves_in_parts_lie_as_they_do():
    w = sharded(numbers(6, 3), 1).requires_grad_()
    x = sharded(numbers(4, 6), None)
    (x @ w).square().sum().backward()
    assert w.grad.device == TWO and w.grad.layout == w.layout
    a, b = numbers(4, 6), numbers(6, 3)
    np.testing.assert_allclose(w.grad.numpy(), 2 * a.T @ (a @ b), rtol=1e-6)


def test_a_gradient_flows_through_gathering():
    w = sharded(numbers(4), 0).requires_grad_()
    (w.to("REF:2") * Tensor([1.0, 2, 3, 4], device="REF:2")).sum().backward()
    assert w.grad.device == TWO and w.grad.layout == w.layout
    same(w.grad, np.array([1, 2, 3, 4], np.float32))


def test_the_way_back_leads_through_realized_parts():
    w = sharded(numbers(4), 0).requires_grad_()
    y = (w * 2).realize()
    (y * y).sum().realize().backward()
    np.testing.assert_array_equal(w.grad.numpy(), 8 * numbers(4))


def trained(optimiser, place, devices):
    """Losses and parameters of three steps of a network of two layers."""
    generator = np.random.default_rng(0)
    inputs = generator.normal(size=(7, 6)).astype(np.float32)
    targets = generator.integers(0, 3, size=7).astype(np.int32)
    shapes = {"first": (6, 4), "bias": (4,), "second": (4, 3)}
    p = {
        name: Tensor(generator.normal(size=shape).astype(np.float32), device="REF").requires_grad_()
        for name, shape in shapes.items()
    }
    x, y = Tensor(inputs, device="REF"), Tensor(targets, device="REF")
    if devices is not None:
        x, y = x.shard(devices, place.get("x")), y.shard(devices, place.get("x"))
        for name, parameter in p.items():
            parameter.shard_(devices, place.get(name))
    steps = optimiser(p.values())
    losses = []
    with Tensor.train():
        for _ in range(3):
            steps.zero_grad()
            hidden = (x @ p["first"] + p["bias"]).relu()
            loss = (hidden @ p["second"]).sparse_categorical_crossentropy(y).backward()
            losses.append(loss.item())
            steps.step()
    layouts = {name: parameter.layout for name, parameter in p.items()}
    return losses, [parameter.numpy() for parameter in p.values()], layouts


WAYS = {"data": {"x": 0}, "tensor": {"first": 1, "bias": 0, "second": 0}}


@pytest.mark.parametrize("ring", [0, 2])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["sgd", "adam"])
def test_training_on_several_devices_is_training_on_one(kind, way, ring):
    def optimiser(parameters):
        if kind == "sgd":
            return SGD(parameters, lr=0.1, momentum=0.9)
        return Adam(parameters, lr=0.01)

    expected = trained(optimiser, {}, None)
    with settings.override(RING=ring):
        losses, parameters, layouts = trained(optimiser, WAYS[way], TWO)
    np.testing.assert_allclose(losses, expected[0], rtol=1e-5)
    for ours, theirs in zip(parameters, expected[1]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    for name, layout in layouts.items():
        assert layout.axis == WAYS[way].get(name)


# ---- made like a sharded tensor ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", "rand_like randn_like randint_like zeros_like ones_like empty_like full_like".split()
)
def test_like_functions_keep_the_sharding(name):
    x = Tensor.ones(6, 4, device="REF").shard(("REF:1", "REF:2"), axis=1).realize()
    value = (3,) if name == "full_like" else ()
    made = getattr(x, name)(*value)
    assert made.device == x.device and made.layout == x.layout and made.shape == x.shape
    held = made.contiguous().realize()
    assert held.layout == x.layout
    assert sum(part.numel() for part in held.shards()) == x.numel()
    assert name == "randint_like" or getattr(x, name)(*value, requires_grad=True).requires_grad
    assert getattr(x, name)(*value, device="REF:1").device == "REF:1"


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
def test_arrays_made_like_a_sharded_one_are_cut_as_it_is(name):
    x = array_api.asarray(Tensor.ones(6, 4, device="REF").shard(("REF:1", "REF:2"), axis=1))
    value = (3,) if name == "full_like" else ()
    made = getattr(array_api, name)(x, *value, dtype=array_api.int32)
    assert made.layout == x.layout is not None and made.dtype == array_api.int32
    assert getattr(array_api, name)(x, *value, device="REF:1").device == "REF:1"


def test_random_numbers_do_not_depend_on_the_cut():
    whole = Tensor.zeros(5, 2, device=("REF:1", "REF:2"))
    cut = Tensor.zeros(5, 2, device="REF").shard(("REF:1", "REF:2"), axis=0).realize()
    drawn = []
    for x in (whole, cut):
        Tensor.manual_seed(7)
        drawn.append(x.rand_like().tolist())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("axis", [0, 1])
def test_sharded_values_hold_no_more_than_their_bytes(axis):
    before = stats.memory
    x = Tensor.zeros(64, 32, device="REF:1").contiguous().shard_(("REF:1", "REF:2"), axis).realize()
    assert stats.memory - before == x.nbytes()
    y = x.zeros_like().contiguous().realize()
    assert stats.memory - before == x.nbytes() + y.nbytes()
