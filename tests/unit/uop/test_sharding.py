"""How values lie on several devices, as nodes and as text."""

import pickle
import subprocess
import sys

import pytest

import weft.shape  # noqa: F401  (the floor that knows the shapes of nodes)
from weft.base.dtype import dtypes
from weft.uop import Ops, Shard, UOp, from_text, to_text
from weft.uop.sharding import even_bounds, laid_out, parts_of, stacked


@pytest.mark.parametrize(
    ("extent", "parts", "bounds"),
    [
        (4, 2, (0, 2, 4)),
        (5, 2, (0, 3, 5)),
        (2, 4, (0, 1, 2, 2, 2)),
        (0, 3, (0, 0, 0, 0)),
        (11, 4, (0, 3, 6, 9, 11)),
    ],
)
def test_bounds_are_as_even_as_can_be(extent, parts, bounds):
    assert even_bounds(extent, parts) == bounds


def test_the_shape_of_each_part():
    shard = Shard(1, (0, 3, 5))
    assert [shard.local_shape((2, 5), place) for place in range(2)] == [(2, 3), (2, 2)]
    assert (shard.window(0), shard.window(1), shard.largest) == ((0, 3), (3, 5), 3)
    assert Shard().local_shape((2, 5), 1) == (2, 5)


def test_only_programs_on_several_devices_have_graphs_searched():
    code = """
from weft import Tensor
from weft.uop.sharding import sharding_seen
(Tensor([1.0, 2.0], device="REF") + 1).sum().tolist()
print(sharding_seen())
Tensor.zeros(2, device=("REF", "REF:1"))
print(sharding_seen())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split() == ["False", "True"], found.stderr


def test_a_shard_pickles_and_prints_and_parses():
    shard = Shard(0, (0, 3, 5))
    assert pickle.loads(pickle.dumps(shard)) == shard
    value = UOp.const(dtypes.float, 1.0).reshape((1,)).expand((5,))
    node = laid_out(value, ("X", "Y"), shard)
    assert from_text(to_text(node)) is node
    assert node.device == ("X", "Y") and node.arg == shard


def test_stacked_parts_are_one_value():
    parts = [UOp.new_buffer("X", 3, dtypes.int), UOp.new_buffer("Y", 2, dtypes.int)]
    multi = stacked(parts, Shard(0, (0, 3, 5)))
    assert multi.op is Ops.MULTI and parts_of(multi) == tuple(parts)
    assert multi.shape == (5,) and multi.dtype is dtypes.int and multi.device == ("X", "Y")
    second = UOp(Ops.MSELECT, dtypes.int, (multi,), 1)
    assert second.shape == (2,) and second.device == "Y"
