"""Evaluation: shape arithmetic, control flow, functions, sequences, optionals."""

import numpy as np
import pytest

import weft.onnx
from helpers.onnx_models import BOOL, INT64, constant, graph, helper, model, node, onnx, value
from weft.base.errors import WeftError
from weft.onnx import OnnxError
from weft.tensor import Tensor

X = np.asarray([1, -2, 3], np.float32)


def run(nodes, inputs, outputs, constants=(), *arrays, **options):
    """The outputs of a model as arrays, of the first call and of a later one."""
    loaded = weft.onnx.load(model(nodes, inputs, outputs, constants, **options))
    first = [each.numpy() for each in loaded(*arrays).values()]
    for _ in range(3):
        later = [each.numpy() for each in loaded(*arrays).values()]
        for one, other in zip(first, later):
            np.testing.assert_array_equal(one, other)
    return first


def test_shape_arithmetic_stays_on_the_host():
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Mul", ["n", "two"], ["m"]),
        node("Unsqueeze", ["m", "axes"], ["r"]),
        node("Concat", ["r", "minus"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = [
        constant("zero", 0, np.int64), constant("two", 2, np.int64),
        constant("axes", [0], np.int64), constant("minus", [-1], np.int64),
    ]  # fmt: skip
    loaded = weft.onnx.load(model(nodes, [value("x", ["n", 4])], [value("y")], constants))
    assert loaded(np.zeros((3, 4), np.float32)).y.shape == (6, 2)
    assert not loaded._parsed.context.read_nodes


def branches():
    then = graph([node("Neg", ["y"], ["t"])], [], [value("t")])
    other = graph([node("Add", ["y", "one"], ["e"])], [], [value("e")], [constant("one", 1)])
    return {"then_branch": then, "else_branch": other}


def test_if_with_a_condition_on_the_device():
    nodes = [
        node("Relu", ["x"], ["y"]),
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "limit"], ["large"]),
        node("If", ["large"], ["z"], **branches()),
    ]
    loaded = weft.onnx.load(model(nodes, [value("x", [3])], [value("z")], [constant("limit", 0)]))
    for sign in (1, -1, 1, 1, -1, -1, 1):
        relu = np.maximum(sign * X, 0)
        expected = -relu if sign > 0 else relu + 1
        np.testing.assert_array_equal(loaded(sign * X).z.numpy(), expected)


def loop_body(*nodes, scans=()):
    inputs = [value("i", [], INT64), value("going", [], BOOL), value("a")]
    outputs = [value("still", [], BOOL), value("b"), *scans]
    return graph([*nodes, node("Identity", ["going"], ["still"])], inputs, outputs)


def test_loop_with_a_scan_output():
    body = loop_body(
        node("Add", ["a", "x"], ["b"]),
        node("Cast", ["i"], ["scan"], to=1),
        scans=[value("scan", [])],
    )
    found = run(
        [node("Loop", ["n", "", "x"], ["y", "numbers"], body=body)],
        [value("x", [3])], [value("y"), value("numbers")], [constant("n", 4, np.int64)], X,
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], X * 5)
    assert found[1].tolist() == [0, 1, 2, 3]


def test_loop_with_a_condition():
    inputs = [value("i", [], INT64), value("going", [], BOOL), value("a")]
    body = graph(
        [
            node("Mul", ["a", "two"], ["b"]),
            node("ReduceMax", ["b"], ["m"], keepdims=0),
            node("Less", ["m", "limit"], ["still"]),
        ],
        inputs,
        [value("still", [], BOOL), value("b")],
    )
    found = run(
        [node("Loop", ["", "true", "x"], ["y"], body=body)], [value("x", [3])], [value("y")],
        [constant("two", 2), constant("limit", 20), constant("true", True, np.bool_)], X,
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], X * 8)


def test_a_loop_without_iterations_keeps_its_values():
    body = loop_body(
        node("Add", ["a", "x"], ["b"]),
        node("Identity", ["a"], ["scan"]),
        scans=[value("scan", [3])],
    )
    found = run(
        [node("Loop", ["n", "", "x"], ["y", "scans"], body=body)], [value("x", [3])],
        [value("y"), value("scans")], [constant("n", 0, np.int64)], X,
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], X)
    assert found[1].shape == (0, 3)


@pytest.mark.parametrize("back", [0, 1])
def test_scan(back):
    body = graph(
        [node("Add", ["a", "part"], ["b"]), node("Identity", ["b"], ["out"])],
        [value("a", [2]), value("part", [2])],
        [value("b", [2]), value("out", [2])],
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = run(
        [
            node("Scan", ["zero", "x"], ["last", "all"], body=body, num_scan_inputs=1,
                 scan_input_directions=[back]),
        ],
        [value("x", [3, 2])], [value("last"), value("all")], [constant("zero", [0, 0])], x,
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], x.sum(0))
    np.testing.assert_array_equal(found[1], np.cumsum(x[::-1] if back else x, 0))


def function(name, nodes, attributes=(), inputs=("a",), outputs=("c",)):
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_function(
        "local", name, list(inputs), list(outputs), nodes, opsets, attributes=list(attributes)
    )


def test_functions_get_their_attributes():
    leaky = node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=1))
    inner = function("Inner", [leaky, node("Neg", ["b"], ["c"])], ["slope"])
    call = node("Inner", ["a"], ["c"], domain="local")
    call.attribute.append(onnx.AttributeProto(name="slope", ref_attr_name="slope", type=1))
    outer = function("Outer", [call], ["slope"])
    nodes = [
        node("Outer", ["x"], ["y"], domain="local", slope=0.5),
        node("Outer", ["x"], ["z"], domain="local", slope=0.25),
    ]
    found = run(
        nodes, [value("x", [3])], [value("y"), value("z")], (), X,
        functions=[inner, outer], domains=["local"],
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], [-1, 1, -3])
    np.testing.assert_array_equal(found[1], [-1, 0.5, -3])


def test_functions_that_call_themselves_are_refused():
    functions = [
        function("A", [node("B", ["a"], ["c"], domain="local")]),
        function("B", [node("A", ["a"], ["c"], domain="local")]),
    ]
    nodes = [node("A", ["x"], ["y"], domain="local")]
    data = model(nodes, [value("x")], [value("y")], functions=functions, domains=["local"])
    with pytest.raises(OnnxError, match="A calls B calls A"):
        weft.onnx.load(data)


def test_function_bodies_of_schemas_stand_for_missing_operators(monkeypatch):
    registry = weft.onnx.registry
    weft.onnx.load(model([node("Relu", ["x"], ["y"])], [value("x")], [value("y")]))
    operators = {key: each for key, each in registry._operators.items() if key[1] != "HardSwish"}
    monkeypatch.setattr(registry, "_operators", operators)
    (found,) = run([node("HardSwish", ["x"], ["y"])], [value("x", [3])], [value("y")], (), X)
    np.testing.assert_allclose(found, X * np.clip(X / 6 + 0.5, 0, 1), rtol=1e-6)


def test_sequences_and_optionals():
    nodes = [
        node("SequenceConstruct", ["x", "x"], ["s"]),
        node("SequenceInsert", ["s", "two", "one"], ["t"]),
        node("SequenceAt", ["t", "one"], ["y"]),
        node("SequenceLength", ["t"], ["n"]),
        node("Optional", ["y"], ["o"]),
        node("OptionalHasElement", ["o"], ["has"]),
        node("ConcatFromSequence", ["t"], ["all"], axis=0),
    ]
    constants = [constant("two", [2]), constant("one", 1, np.int64)]
    found = run(
        nodes, [value("x", [3])], [value("y"), value("n", [], INT64), value("has", [], BOOL),
        value("all")], constants, X,
    )  # fmt: skip
    assert found[0].tolist() == [2] and found[1] == 3 and found[2]
    np.testing.assert_array_equal(found[3], [*X, 2, *X])


def test_gradients_are_those_of_the_graph():
    nodes = [
        node("Mul", ["x", "w"], ["a"]),
        node("Mul", ["a", "x"], ["y"]),
        node("Gradient", ["x", "w"], ["dx", "dw"], xs=["x", "w"], y="y",
             domain="ai.onnx.preview.training"),
    ]  # fmt: skip
    w = np.asarray([1, 2, 4], np.float32)
    found = run(
        nodes, [value("x", [3]), value("w", [3])], [value("dx"), value("dw")], (), X, w,
        domains=["ai.onnx.preview.training"],
    )  # fmt: skip
    np.testing.assert_array_equal(found[0], 2 * X * w)
    np.testing.assert_array_equal(found[1], X * X)


def test_what_depends_on_constants_alone_is_computed_once():
    weight = np.arange(200, dtype=np.float32).reshape(2, 100)
    nodes = [
        node("Transpose", ["w"], ["t"]),
        node("ConstantOfShape", ["shape"], ["ones"], value=constant("", [1.0])),
        node("MatMul", ["x", "ones"], ["a"]),
        node("Gemm", ["a", "t"], ["y"], transB=1),
    ]
    constants = [constant("w", weight), constant("shape", [3, 2], np.int64)]
    loaded = weft.onnx.load(model(nodes, [value("x", [1, 3])], [value("y")], constants))
    for _ in range(4):
        found = loaded(X[None]).y.numpy()
        np.testing.assert_array_equal(found, X[None] @ np.ones((3, 2)) @ weight)
    folded = loaded._interpreter._folded
    assert sorted(each.op for each in folded) == ["Transpose"]


def test_errors_name_the_node():
    nodes = [node("Concat", ["x", "w"], ["y"], axis=0, name="join")]
    loaded = weft.onnx.load(model(nodes, [value("x"), value("w")], [value("y")]))
    with pytest.raises(WeftError) as caught:
        loaded(X, np.zeros((2, 2), np.float32))
    assert "join" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])


def test_equal_elements_become_constants_and_values_are_remembered():
    loaded = weft.onnx.load(
        model([node("Add", ["x", "w"], ["y"])], [value("x")], [value("y")],
              [constant("w", np.full((300,), 2.0))])
    )  # fmt: skip
    constants = loaded._interpreter.constants
    weight = loaded._parsed.graph.initializers["w"]
    assert not constants.is_on_host(weight)
    assert constants.tensor(weight).uop.base.op.name == "CONST"
    assert constants.tensor(weight) is constants.tensor(weight)
    array = np.arange(3)
    assert constants.to_tensor(array) is constants.to_tensor(array.copy())
    found, is_read = constants.to_host(constants.to_tensor(array))
    assert found.tolist() == [0, 1, 2] and not is_read


def test_weights_are_copied_to_the_device_by_one_schedule(monkeypatch):
    weights = [constant(f"w{i}", np.arange(6.0).reshape(2, 3) + i) for i in range(4)]
    shape = constant("shape", [3, 2], np.int64)
    nodes = [node("Add", [f"y{i}" if i else "x", f"w{i}"], [f"y{i + 1}"]) for i in range(4)]
    nodes.append(node("Reshape", ["y4", "shape"], ["y"]))
    loaded = weft.onnx.load(
        model(nodes, [value("x", [2, 3])], [value("y")], [*weights, shape]), jit=False
    )
    counts = []
    realize = Tensor.realize
    monkeypatch.setattr(
        Tensor, "realize", lambda *tensors: counts.append(len(tensors)) or realize(*tensors)
    )
    result = loaded(np.zeros((2, 3), np.float32))[0]
    assert counts == [4, 1]
    assert result.shape == (3, 2) and result.tolist()[0] == [6.0, 10.0]
