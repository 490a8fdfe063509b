"""Meshes: names for axes of devices, and the axis that a layout cuts."""

import pytest

from weft import Device, Tensor
from weft.device.mesh import P

DEVICES = ("REF:1", "REF:2")


def test_a_mesh_names_axes():
    mesh = Device.mesh(("data", 2), ("model", 1), devices=DEVICES)
    x = Tensor.arange(4).to("REF")
    assert x.shard(mesh, data=0).layout.bounds == (0, 2, 4)
    assert x.shard(mesh, P("data")).layout.bounds == (0, 2, 4)
    assert x.shard(mesh, model=0).layout.axis is None
    with pytest.raises(ValueError, match="no axis"):
        x.shard(mesh, depth=0)
    with pytest.raises(ValueError, match="as many devices"):
        Device.mesh(("data", 3), devices=DEVICES)


def test_two_axes_of_a_mesh_cut_one_axis_or_two():
    mesh = Device.mesh(("data", 2), ("model", 2), devices=[f"REF:{n}" for n in range(4)])
    x = Tensor.zeros(4, 4)
    assert x.shard(mesh, data=0, model=0).layout.bounds == (0, 1, 2, 3, 4)
    both = x.shard(mesh, data=0, model=1)
    assert both.layout == x.shard(mesh, P("data", "model")).layout
    assert [part.shape for part in both.shards()] == [(2, 2)] * 4
    assert x.shard(mesh, P(("data", "model"))).layout.bounds == (0, 1, 2, 3, 4)
    columns = x.shard(mesh, model=1)
    assert [part.shape for part in columns.shards()] == [(4, 2)] * 4
    with pytest.raises(ValueError, match="named once"):
        x.shard(mesh, data=0, model=-2)
    with pytest.raises(ValueError, match="cuts one axis"):
        x.shard(mesh, P("data", "data"))
    with pytest.raises(ValueError, match="need a mesh"):
        x.shard(DEVICES, data=0)


def test_parts_and_whole_of_a_tensor_on_devices_of_one_process():
    x = Tensor.from_local(Tensor([1, 2]).to("REF"), DEVICES, axis=0)
    assert x.tolist() == [1, 2, 1, 2] and x.local().tolist() == [1, 2]
    assert x.full_tensor().device == "REF:1" and x.full_tensor().tolist() == [1, 2, 1, 2]


def test_mesh_axes_that_cut_one_axis_are_adjacent():
    mesh = Device.mesh(("a", 2), ("b", 2), ("c", 2), devices=[f"REF:{n}" for n in range(8)])
    assert Tensor.zeros(4).shard(mesh, b=0, c=0).layout.cuts[0].parts == 4
    with pytest.raises(ValueError, match="adjacent"):
        Tensor.zeros(4).shard(mesh, a=0, c=0)
