"""Values that are cut along several axes of a mesh."""

from itertools import product

import numpy as np
import pytest

from weft import Device, P, Tensor
from weft.uop import Cut, Shard, from_text, shard_of_cuts, to_text

DEVICES = [f"REF:{number}" for number in range(6)]
SPECS = [
    P(), P("data"), P("model"), P(None, "model"), P(None, "data"), P("data", "model"),
    P("model", "data"), P(("data", "model")), P(None, ("data", "model")),
]  # fmt: skip


@pytest.fixture(scope="module")
def mesh():
    return Device.mesh(("data", 2), ("model", 3), devices=DEVICES)


@pytest.fixture(scope="module")
def a():
    return np.arange(42, dtype=np.float32).reshape(6, 7)


@pytest.mark.parametrize("old, new", list(product(SPECS, SPECS)), ids=str)
def test_every_layout_becomes_every_other(mesh, a, old, new):
    x = (Tensor(a).shard(mesh, old) + 0).realize()
    y = (x.shard(mesh, new) + 0).realize()
    assert y.layout == Tensor(a).shard(mesh, new).layout
    assert [part.shape for part in y.shards()] == [part.numpy().shape for part in y.shards()]
    assert np.array_equal(y.numpy(), a) and np.array_equal(y.to("REF:9").numpy(), a)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_operations_on_every_layout(mesh, a, spec):
    x = (Tensor(a).shard(mesh, spec) + 1).realize()
    b = a + 1
    np.testing.assert_array_equal(x.sum(0).numpy(), b.sum(0))
    np.testing.assert_array_equal(x.max(1).numpy(), b.max(1))
    assert x.sum().item() == b.sum()
    np.testing.assert_array_equal(x.T.reshape(14, 3).numpy(), b.T.reshape(14, 3))
    np.testing.assert_array_equal(x.flip(1)[1:5, 2:].numpy(), b[:, ::-1][1:5, 2:])
    np.testing.assert_array_equal(x.pad(((1, 2), (3, 0))).numpy(), np.pad(b, ((1, 2), (3, 0))))
    np.testing.assert_array_equal(x.reshape(3, 2, 7).sum((0, 2)).numpy(),
                                  b.reshape(3, 2, 7).sum((0, 2)))  # fmt: skip
    assert np.array_equal(x.contiguous().bitcast("uint16").numpy(), b.view(np.uint16))


def test_operands_keep_cuts_along_different_axes(mesh, a):
    x = Tensor(a).shard(mesh, P("data"))
    w = Tensor(a.T[:, :5].copy()).shard(mesh, P(None, "model"))
    y = x @ w
    assert [part.shape for part in y.shards()][:3] == [(3, 2), (3, 2), (3, 1)]
    np.testing.assert_allclose(y.numpy(), a @ a.T[:, :5])


def test_gradients_have_the_layouts_of_their_values(mesh, a):
    x = Tensor(a).shard(mesh, P("data"))
    w = Tensor(np.ones((7, 6), np.float32)).shard(mesh, P(None, "model")).realize()
    w.requires_grad_(True)
    (x @ w).square().sum().backward()
    assert w.grad.shape == (7, 6)
    np.testing.assert_allclose(w.grad.numpy(), 2 * a.T @ (a @ np.ones((7, 6))), rtol=1e-6)


def test_written_parts(mesh, a):
    x = (Tensor(a).shard(mesh, P("data", "model")) + 0).realize()
    x.assign(x.T.T * 2 + Tensor(a).shard(mesh, P("model"))).realize()
    assert np.array_equal(x.numpy(), a * 3)
    assert "40" in repr(x) or "120" in repr(x)


def test_parts_of_the_process(mesh):
    x = Tensor.from_local(Tensor([[1, 2]]), mesh, P("data", "model"))
    assert x.shape == (2, 6) and x.tolist() == [[1, 2] * 3] * 2


def test_a_layout_as_text(mesh, a):
    node = Tensor(a).shard(mesh, P("data", "model"))._uop
    assert from_text(to_text(node)).arg == node.arg and len(node.arg.mesh) == 2


def test_cuts_of_a_mesh():
    data, model = Cut(0, (0, 2, 4), 3), Cut(1, (0, 1, 2, 3), 1)
    assert data.groups(6) == [(0, 3), (1, 4), (2, 5)] and model.groups(6) == [(0, 1, 2), (3, 4, 5)]
    assert data.is_independent(model) and not Cut(0, (0, 1, 2), 1).is_independent(model)
    assert shard_of_cuts([Cut(1, (0, 1, 2), 1)], 2) == Shard(1, (0, 1, 2))
    assert shard_of_cuts([], 2) == Shard()
    both = shard_of_cuts([model, data], 6)
    assert both.mesh == (data, model) and both.local_shape((4, 3, 5), 4) == (2, 1, 5)
