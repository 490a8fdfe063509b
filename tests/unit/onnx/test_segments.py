"""Traced segments: what is replayed, and what divides a graph."""

import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import INT64, constant, model, node, value
from weft.onnx.segments import SegmentedInterpreter


def segments(loaded):
    """The operators of each segment, and its number of replays; None for a node that reads."""
    plan = loaded._interpreter._plan(loaded._parsed.graph)
    return [
        ([each.op for each in segment.nodes], segment.run and segment.run.replays)
        for segment in plan
    ]


def test_a_static_graph_is_one_segment(rng=np.random.default_rng(0)):
    nodes = [node("MatMul", ["x", "w"], ["y"]), node("Relu", ["y"], ["z"])]
    weight = rng.standard_normal((4, 3)).astype(np.float32)
    loaded = weft.onnx.load(
        model(nodes, [value("x", ["n", 4])], [value("z")], [constant("w", weight)])
    )
    for _ in range(5):
        x = rng.standard_normal((2, 4)).astype(np.float32)
        np.testing.assert_allclose(loaded(x).z.numpy(), np.maximum(x @ weight, 0), rtol=1e-5)
    assert segments(loaded) == [(["MatMul", "Relu"], 0)]  # its program is recorded at once
    assert loaded._programs.reason is None
    x = rng.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_allclose(loaded(x).z.numpy(), np.maximum(x @ weight, 0), rtol=1e-5)


def test_a_node_that_reads_a_value_divides_the_graph():
    nodes = [
        node("Relu", ["x"], ["y"]),
        node("NonZero", ["y"], ["places"]),
        node("Cast", ["places"], ["numbers"], to=1),
        node("ReduceSum", ["numbers"], ["sum"], keepdims=0),
        node("Neg", ["y"], ["z"]),
    ]
    loaded = weft.onnx.load(model(nodes, [value("x", [3])], [value("z"), value("sum")]))
    for x in ([1, -1, 2], [0, 1, -4], [3, 3, 3], [1, 0, 1], [-1, 1, 2]):
        array = np.asarray(x, np.float32)
        outputs = loaded(array)
        np.testing.assert_array_equal(outputs.z.numpy(), -np.maximum(array, 0))
        assert outputs.sum.item() == np.nonzero(array > 0)[0].sum()
    found = [operators for operators, _ in segments(loaded)]
    assert found == [["Relu", "Neg"], ["NonZero"], ["Cast", "ReduceSum"]]
    assert segments(loaded)[0][1] == 2


def test_without_jit_every_call_runs_node_by_node():
    loaded = weft.onnx.load(
        model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")]), jit=False
    )
    assert not isinstance(loaded._interpreter, SegmentedInterpreter)
    assert isinstance(loaded.jit()._interpreter, SegmentedInterpreter)
    assert loaded(np.asarray([-1, 1], np.float32)).y.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["Identity", "Relu"])
def test_outputs_of_two_calls_do_not_share_memory(name):
    loaded = weft.onnx.load(model([node(name, ["x"], ["y"])], [value("x")], [value("y")]))
    kept = [loaded(np.full(3, number, np.float32)).y for number in range(1, 6)]
    assert [each.tolist() for each in kept] == [[number] * 3 for number in range(1, 6)]


def test_integers_of_the_host_flow_between_segments():
    nodes = [
        node("NonZero", ["x"], ["places"]),
        node("Shape", ["places"], ["shape"]),
        node("Shape", ["x"], ["length"]),
        node("Expand", ["places", "wide"], ["y"]),
    ]
    loaded = weft.onnx.load(
        model(
            nodes,
            [value("x", [3])],
            [value("y", None, INT64), value("shape", None, INT64), value("length", None, INT64)],
            [constant("wide", [2, 1], np.int64)],
        )
    )
    for x in ([1, 0, 2], [1, 1, 1], [0, 1, 0], [2, 0, 2]):
        outputs = loaded(np.asarray(x, np.float32))
        places = np.nonzero(x)[0]
        assert outputs.shape.tolist() == [1, len(places)] and outputs.length.tolist() == [3]
        assert outputs.y.tolist() == [places.tolist()] * 2
