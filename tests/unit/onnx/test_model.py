"""`Model`: loading, inputs, outputs, errors."""

import ml_dtypes
import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import INT64, constant, model, node, onnx, value
from weft import Tensor
from weft.onnx import OnnxError, UnsupportedOperators, registry


@pytest.fixture
def add():
    """y = x + w + b, of two inputs and a constant; b has a default."""
    return weft.onnx.load(
        model(
            [node("Add", ["x", "w"], ["s"]), node("Add", ["s", "b"], ["y"])],
            [value("x", ["n", 2]), value("w", ["n", 2]), value("b", [2])],
            [value("y", ["n", 2]), value("s", ["n", 2])],
            [constant("b", [10, 20])],
        )
    )


X = np.asarray([[1, 2], [3, 4]], np.float32)


def test_inputs_by_position_by_name_and_in_a_dict(add):
    assert [each.name for each in add.inputs] == ["x", "w"]
    expected = X + X + np.asarray([10, 20])
    for outputs in (add(X, X), add(X, w=X), add(w=X, x=X), add({"x": X, "w": X})):
        np.testing.assert_array_equal(outputs.y.numpy(), expected)
    changed = add(X, X, b=np.zeros(2, np.float32))
    np.testing.assert_array_equal(changed["y"].numpy(), X + X)


def test_outputs_are_a_mapping_in_order(add):
    outputs = add(X, X)
    assert list(outputs) == ["y", "s"] and len(outputs) == 2
    assert outputs[0] is outputs.y is outputs["y"]
    with pytest.raises(AttributeError, match="there are y, s"):
        outputs.z
    assert repr(outputs).startswith("Outputs(y: dtypes.float")


def test_inputs_may_be_lists_tensors_and_other_arrays(add):
    torch = pytest.importorskip("torch", reason="it is an array of another library")
    for each in (X.tolist(), Tensor(X), torch.tensor(X)):
        np.testing.assert_array_equal(add(each, each).s.numpy(), X + X)


def test_calls_with_other_inputs_are_refused(add):
    refused = {
        "'w' is missing": lambda: add(X),
        "there is no such input": lambda: add(X, image=X),
        "there are fewer inputs": lambda: add(X, X, X),
        "is given by position, too": lambda: add(X, x=X),
        "its dtype is float64, not float32": lambda: add(X.astype(np.float64), X),
        "it has 1 axes": lambda: add(X[0], X),
        "axis 1 has the size 1": lambda: add(X[:, :1], X),
        "'n' is 1 here, and 2 in 'x'": lambda: add(X, X[:1]),
    }
    for message, call in refused.items():
        with pytest.raises(OnnxError, match=message):
            call()


def test_all_missing_operators_are_reported_at_once():
    nodes = [node("Nothing", ["x"], ["a"], name="first"), node("Never", ["a"], ["b"], domain="d")]
    with pytest.raises(UnsupportedOperators) as caught:
        weft.onnx.load(model(nodes, [value("x")], [value("b")], domains=["d"]))
    assert caught.value.operators == (("", "Nothing", 21, "first"), ("d", "Never", 1, ""))
    for text in ("ai.onnx.Nothing, opset 21", "'first'", "d.Never, opset 1", "weft.onnx.register"):
        assert text in str(caught.value)


def test_custom_operators_are_registered(monkeypatch):
    monkeypatch.setattr(registry, "_operators", dict(registry._operators))

    @weft.onnx.register("com.example", "Scale")
    def scale(node, x, *, factor=1.0):
        return x * factor

    nodes = [node("Scale", ["x"], ["y"], domain="com.example", factor=3.0)]
    loaded = weft.onnx.load(model(nodes, [value("x")], [value("y")], domains=["com.example"]))
    np.testing.assert_array_equal(loaded(X).y.numpy(), X * 3)
    nodes[0].attribute[0].name = "other"
    loaded = weft.onnx.load(model(nodes, [value("x")], [value("y")], domains=["com.example"]))
    with pytest.raises(OnnxError, match="the attribute 'other' is not supported"):
        loaded(X)


def test_another_float_dtype_stands_for_float32():
    data = model(
        [node("MatMul", ["x", "w"], ["y"]), node("Shape", ["y"], ["s"])],
        [value("x", [2, 2])],
        [value("y"), value("s", [2], INT64)],
        [constant("w", np.arange(4).reshape(2, 2) / 3)],
    )
    outputs = weft.onnx.load(data, dtype="bfloat16")(X)
    weight = (np.arange(4).reshape(2, 2) / 3).astype(ml_dtypes.bfloat16).astype(np.float32)
    found = outputs.y.numpy()
    assert found.dtype == np.float32 and outputs.s.tolist() == [2, 2]
    np.testing.assert_allclose(found, X @ weight, rtol=1e-2)
    assert (found == found.astype(ml_dtypes.bfloat16).astype(np.float32)).all()
    with pytest.raises(OnnxError, match="computes in a float dtype"):
        weft.onnx.load(data, dtype="int32")


def test_messages_are_loaded_and_described():
    made = onnx.ModelProto.FromString(
        model([node("Relu", ["x"], ["y"])], [value("x", ["n"])], [value("y", ["n"])])
    )
    made.metadata_props.add(key="author", value="a test")
    loaded = weft.onnx.load(made, device="REF")
    assert repr(loaded) == "Model(x: float32[n] -> y: float32[n])"
    assert (loaded.metadata, loaded.opsets, loaded.device) == (
        {"author": "a test"},
        {"": 21},
        "REF",
    )
    assert loaded.jit()(np.asarray([-1, 1], np.float32)).y.tolist() == [0, 1]
