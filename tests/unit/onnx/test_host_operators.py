"""Shape arithmetic by NumPy compared with the reference evaluator."""

import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import model, node, numpy_helper, onnx, value
from weft.onnx import host_movement, host_operators, registry

A = np.asarray([[7, -7, 3], [0, 5, -9]], np.int64)
B = np.asarray([2, 3, -4], np.int64)
I = lambda *numbers: np.asarray(numbers, np.int64)  # noqa: E731, E741

CASES = [
    *((name, {}, A, B) for name in ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Equal")),
    *((name, {}, A, B) for name in ("Less", "GreaterOrEqual", "Greater", "LessOrEqual")),
    *((name, {}, A > 0, B > 0) for name in ("And", "Or", "Xor")),
    ("Mod", {"fmod": 1}, A, B),
    ("Div", {}, A.astype(np.float32), B.astype(np.float32)),
    ("Neg", {}, A), ("Abs", {}, A), ("Not", {}, A > 0),
    ("Floor", {}, np.asarray([1.5, -1.5], np.float32)),
    ("Ceil", {}, np.asarray([1.5, -1.5], np.float32)),
    ("Where", {}, A > 0, A, B),
    ("Cast", {"to": 1}, A), ("Cast", {"to": 9}, A), ("Cast", {"to": 7}, A / 4),
    ("Range", {}, np.asarray(2), np.asarray(11), np.asarray(3)),
    ("ConstantOfShape", {}, I(2, 3)),
    ("ReduceSum", {"keepdims": 0}, A, I(1)), ("ReduceProd", {}, A, I(0)),
    ("ReduceMax", {}, A), ("ReduceMin", {"noop_with_empty_axes": 1}, A),
    ("CumSum", {}, A, np.asarray(1)),
    ("Identity", {}, A), ("Shape", {}, A), ("Shape", {"start": 1}, A), ("Size", {}, A),
    ("Concat", {"axis": 1}, A, A), ("Reshape", {}, A, I(0, -1, 1)), ("Flatten", {}, A),
    ("Transpose", {}, A), ("Unsqueeze", {}, A, I(0, -1)), ("Squeeze", {}, A[:, :1], I(1)),
    ("Gather", {"axis": 1}, A, I(0, -1)), ("Slice", {}, A, I(1), I(-5), I(1), I(-1)),
    ("Slice", {}, A, I(0, 1), I(2, 9)), ("Split", {"axis": 1}, A, I(1, 2)),
    ("Expand", {}, B, I(2, 1)), ("Tile", {}, B, I(2)), ("NonZero", {}, A),
]  # fmt: skip


@pytest.mark.parametrize(("name", "attributes", "arrays"), [(n, a, r) for n, a, *r in CASES])
def test_results_are_those_of_the_reference(name, attributes, arrays):
    reference = pytest.importorskip("onnx.reference")
    names = [f"x{place}" for place in range(len(arrays))]
    outputs = ["y", "z"] if name == "Split" else ["y"]
    constants = [numpy_helper.from_array(np.asarray(a), n) for a, n in zip(arrays, names)]
    data = model(
        [node(name, names, outputs, **attributes)], [], [value(each) for each in outputs], constants
    )
    expected = reference.ReferenceEvaluator(onnx.ModelProto.FromString(data)).run(None, {})
    loaded = weft.onnx.load(data)
    interpreter = loaded._interpreter
    found = interpreter.run(loaded._parsed.graph, [])
    for one, other in zip(found, expected):
        assert isinstance(one, np.ndarray), f"{name} is not computed on the host"
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_large_results_are_left_to_tensors():
    large = host_operators.MOST_ELEMENTS + 1
    found = registry.find_host("", "ConstantOfShape", 21)
    unused = weft.onnx.graph.Node("ConstantOfShape")
    assert found.function(unused, I(large)) is NotImplemented
    assert host_movement.expand(unused, np.ones(1), I(large)) is NotImplemented
    assert host_movement.tile(unused, np.ones(1), I(large)) is NotImplemented
    assert host_operators.arange(unused, I(0), I(1 << 62), I(1)) is NotImplemented
    assert host_operators.is_computed(np.ones((large, 1)), np.ones((1, 1))) is False


def test_indices_out_of_range_are_refused():
    with pytest.raises(weft.onnx.OnnxError, match="out of range"):
        host_movement.gather(weft.onnx.graph.Node("Gather"), A, I(5))
