"""Parsing: what a file claims is checked before it is used."""

import numpy as np
import pytest

from helpers.onnx_models import constant, graph, helper, model, node, onnx, value
from weft.base.errors import FileError
from weft.onnx import ModelFormatError, OnnxError, protobuf


def parse(source):
    return protobuf.parse(protobuf.read(source))


def relu():
    """A message with one node."""
    return onnx.ModelProto.FromString(
        model([node("Relu", ["x"], ["y"])], [value("x", ["n", 4])], [value("y")])
    )


def test_inputs_and_outputs_have_types():
    parsed = parse(relu())
    (x,), (y,) = parsed.graph.inputs, parsed.graph.outputs
    assert (str(x), x.shape, x.dtype) == ("x: float32[n, 4]", ("n", 4), "float32")
    assert str(y) == "y: float32[...]"
    assert parsed.opsets == {"": 21}


def test_sizes_of_minus_one_and_question_marks_are_unknown():
    made = relu()
    rows, columns = made.graph.input[0].type.tensor_type.shape.dim
    rows.dim_param, columns.dim_value = "?", -1
    assert parse(made).graph.inputs[0].shape == (None, None)


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ({"value_int": 3}, np.asarray(3, np.int64)),
        ({"value_ints": [1, 2]}, np.asarray([1, 2], np.int64)),
        ({"value_float": 0.5}, np.asarray(0.5, np.float32)),
        ({"value_floats": [0.5, 2.0]}, np.asarray([0.5, 2.0], np.float32)),
        ({"value": constant("", [[1, 2]], np.int8)}, np.asarray([[1, 2]], np.int8)),
        ({"value_string": "a"}, np.asarray("a", object)),
        ({"value_strings": ["a", "bc"]}, np.asarray(["a", "bc"], object)),
    ],
)
def test_nodes_with_a_constant_become_initializers(attribute, expected):
    parsed = parse(model([node("Constant", [], ["c"], **attribute)], [], [value("c")]))
    found = parsed.graph.initializers["c"].read()
    assert found.dtype == expected.dtype and np.array_equal(found, expected)
    assert not parsed.graph.nodes


def test_sparse_constants_become_dense():
    sparse = onnx.SparseTensorProto(dims=[2, 3])
    sparse.values.CopyFrom(constant("s", [5, 7]))
    sparse.indices.CopyFrom(constant("", [[0, 1], [1, 2]], np.int64))
    made = relu()
    made.graph.sparse_initializer.append(sparse)
    found = parse(made).graph.initializers["s"].read()
    assert found.tolist() == [[0, 5, 0], [0, 0, 7]]
    sparse.indices.CopyFrom(constant("", [[0, 1], [2, 0]], np.int64))
    made.graph.sparse_initializer[0].CopyFrom(sparse)
    with pytest.raises(ModelFormatError, match="out of the shape"):
        parse(made)


def test_nodes_are_sorted():
    nodes = [node("Neg", ["b"], ["c"]), node("Relu", ["a"], ["b"]), node("Abs", ["x"], ["a"])]
    parsed = parse(model(nodes, [value("x")], [value("c")]))
    assert [each.op for each in parsed.graph.nodes] == ["Abs", "Relu", "Neg"]


BROKEN = {
    "cycle": ([node("Add", ["x", "b"], ["a"]), node("Abs", ["a"], ["b"])], "form a cycle"),
    "unknown input": ([node("Add", ["x", "z"], ["a"])], "nothing computes 'z'"),
    "two producers": ([node("Abs", ["x"], ["a"]), node("Neg", ["x"], ["a"])], "have the name 'a'"),
    "input again": ([node("Abs", ["x"], ["x"]), node("Abs", ["x"], ["a"])], "the input 'x' again"),
    "no output": ([node("Abs", ["x"], ["b"])], "nothing computes 'a'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_graphs_are_refused(name):
    nodes, message = BROKEN[name]
    with pytest.raises(ModelFormatError, match=message):
        parse(model(nodes, [value("x")], [value("a")]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dims": [1 << 40]}, "needs 4398046511104 bytes, and there are 8"),
        ({"dims": [-2]}, r"has the shape \(-2,\)"),
        ({"dims": [1] * 65}, "has 65 axes"),
        ({"data_type": 99}, "element type 99"),
        ({"raw_data": b"123"}, "there are 3"),
    ],
)
def test_constants_that_claim_too_much_are_refused(changes, message):
    made = relu()
    tensor = constant("w", [1, 2])
    for name, change in changes.items():
        if name == "dims":
            tensor.dims[:] = change
        else:
            setattr(tensor, name, change)
    made.graph.initializer.append(tensor)
    with pytest.raises(ModelFormatError, match=message):
        parse(made)


def test_opsets_that_are_not_known_are_refused():
    made = relu()
    made.opset_import[0].version = 999
    with pytest.raises(OnnxError, match="opset 999 is not known"):
        parse(made)
    made.opset_import[0].version = -1
    with pytest.raises(ModelFormatError, match="imports opset -1"):
        parse(made)


def test_sources_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(OnnxError, match="loaded from a path"):
        parse(3)
    with pytest.raises(FileError, match="cannot be read"):
        parse(tmp_path / "missing.onnx")
    with pytest.raises(ModelFormatError, match="no protobuf message"):
        parse(b"\xff\xff\xff")
    with pytest.raises(ModelFormatError, match="it has no graph"):
        parse(b"")


def test_names_of_outer_graphs_are_seen_in_subgraphs():
    inner = graph([node("Neg", ["y"], ["t"])], [], [value("t")])
    nodes = [
        node("Relu", ["x"], ["y"]),
        node("If", ["c"], ["z"], then_branch=inner, else_branch=inner),
    ]
    inputs = [value("x"), value("c", [], onnx.TensorProto.BOOL)]
    parsed = parse(model(nodes, inputs, [value("z")]))
    assert parsed.graph.nodes[1].used_names == ("c", "y")
    with pytest.raises(ModelFormatError, match="nothing computes 'y'"):
        parse(model(nodes[1:], inputs, [value("z")]))


def test_attributes_are_python_values():
    attributes = {"a": 1, "b": 2.5, "c": "t", "d": [1, 2], "e": [0.5], "f": ["u"]}
    attributes["g"] = constant("", [1.0])
    made = helper.make_node("Op", ["x"], ["y"], **attributes)
    (found,) = parse(model([made], [value("x")], [value("y")])).graph.nodes
    assert {**found.attributes, "g": None} == {**attributes, "g": None}
    assert found.attributes["g"].tolist() == [1.0]
