"""Analyses: memoised, not recursive."""

from weft.base.dtype import dtypes
from weft.uop import UOp
from weft.uop.analysis import analysis


def test_an_analysis_runs_once_per_node_at_any_depth():
    calls = []

    @analysis("_text_key")
    def height(node):
        calls.append(node)
        return 1 + max((height(source) for source in node.src), default=0)

    # nodes of this test alone: what it leaves in the slot must not reach the slot's owner
    node = UOp.variable("height", 0, 1)
    for number in range(5000):
        node = node.cast(dtypes.int if number % 2 else dtypes.long)
    assert height(node) == 5001
    assert height(node) == 5001
    assert len(calls) == len(set(calls)) == 5001


def test_devices_come_from_leaves_and_copies():
    x = UOp.new_buffer("X", 4, dtypes.int)
    assert (x + 1).device == "X"
    assert (x + 1).copy_to_device("Y").device == "Y"
    assert UOp.const(dtypes.int, 1).device is None
    assert UOp.const(dtypes.int, 1, "Z").device == "Z"
