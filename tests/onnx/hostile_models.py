"""Mutations of valid models: bytes that are changed, and claims that are false.

`mutant(number)` is the same for the same number. A mutant has a folder with external data, and a
secret file beside the folder that no model may read.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HUGE = (1 << 40, (1 << 63) - 1, 1 << 31, 10**9)
LOCATIONS = (
    "../secret.bin", "/etc/hostname", "link.bin", "sub/../../secret.bin", "", "missing.bin", ".",
    "weights.bin\0", "..\\secret.bin", "linked/secret.bin", "./weights.bin", "/dev/zero",
)  # fmt: skip


def _float(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(nodes, inputs, outputs, initializers=(), functions=()) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def shapes() -> onnx.ModelProto:
    """Shape arithmetic and a product."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["rows"]),
        helper.make_node("Unsqueeze", ["rows", "axes"], ["row"]),
        helper.make_node("Concat", ["row", "minus"], ["target"], axis=0),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("Reshape", ["y", "target"], ["z"]),
    ]
    weights = [
        numpy_helper.from_array(np.ones((4, 3), np.float32), "w"),
        numpy_helper.from_array(np.asarray(0, np.int64), "zero"),
        numpy_helper.from_array(np.asarray([0], np.int64), "axes"),
        numpy_helper.from_array(np.asarray([-1], np.int64), "minus"),
    ]
    return _model(nodes, [_float("x", ["n", 4])], [_float("z", ["n", 3])], weights)


def loop() -> onnx.ModelProto:
    """A loop with a condition, and a branch."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["a", "x"], ["b"]),
            helper.make_node("Identity", ["going"], ["still"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            _float("a", [2]),
        ],
        [helper.make_tensor_value_info("still", TensorProto.BOOL, []), _float("b", [2])],
    )
    then = helper.make_graph(
        [helper.make_node("Neg", ["y"], ["t"])], "then", [], [_float("t", [2])]
    )
    other = helper.make_graph(
        [helper.make_node("Abs", ["y"], ["e"])], "else", [], [_float("e", [2])]
    )
    nodes = [
        helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body),
        helper.make_node("ReduceSum", ["y"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "limit"], ["is_large"]),
        helper.make_node("If", ["is_large"], ["z"], then_branch=then, else_branch=other),
    ]
    constants = [
        numpy_helper.from_array(np.asarray(3, np.int64), "trips"),
        numpy_helper.from_array(np.asarray(1, np.float32), "limit"),
    ]
    return _model(nodes, [_float("x", [2])], [_float("z", [2])], constants)


def functions() -> onnx.ModelProto:
    """Functions that call each other, with attributes."""
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    inner = helper.make_function(
        "local", "Inner", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], opsets
    )
    outer = helper.make_function(
        "local", "Outer", ["a"], ["c"],
        [
            helper.make_node("Inner", ["a"], ["b"], domain="local"),
            helper.make_node("Add", ["b", "a"], ["c"]),
        ],
        opsets,
    )  # fmt: skip
    nodes = [helper.make_node("Outer", ["x"], ["y"], domain="local")]
    return _model(nodes, [_float("x", [2])], [_float("y", [2])], functions=[inner, outer])


def external() -> onnx.ModelProto:
    """A constant in another file."""
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4])
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "16")):
        weight.external_data.add(key=key, value=value)
    return _model(nodes, [_float("x", [4])], [_float("y", [4])], [weight])


MODELS: tuple[Callable[[], onnx.ModelProto], ...] = (shapes, loop, functions, external)


def make_folder(root: Path) -> Path:
    """Create the folder of models below `root`, with links out of it; return the folder."""
    folder = root / "models"
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    (root / "secret.bin").write_bytes(b"s" * 64)
    (folder / "weights.bin").write_bytes(np.ones(4, np.float32).tobytes())
    for name, target in (("link.bin", root / "secret.bin"), ("linked", root)):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(target)
    return folder


# ---- mutations -----------------------------------------------------------------------------------


def _bytes(pick: random.Random, model: onnx.ModelProto) -> bytes:
    data = bytearray(model.SerializeToString())
    for _ in range(pick.choice((1, 1, 2, 8))):
        at = pick.randrange(len(data))
        kind = pick.randrange(5)
        if kind == 0:
            data[at] = pick.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << pick.randrange(8)
        elif kind == 2:
            del data[at : at + pick.randrange(1, 20)]
        elif kind == 3:
            data[at:at] = pick.randbytes(pick.randrange(1, 12))
        else:
            begin = pick.randrange(len(data))
            data[at:at] = data[begin : begin + pick.randrange(1, 60)]
        if not data:
            break
    return bytes(data[: pick.randrange(len(data) + 1)] if pick.random() < 0.1 else data)


def _constant(pick: random.Random, model: onnx.ModelProto) -> None:
    if not model.graph.initializer:
        return
    tensor = pick.choice(model.graph.initializer)
    kind = pick.randrange(6)
    if kind == 0:
        tensor.dims[:] = [pick.choice((*HUGE, -1, -(1 << 62), 0)) for _ in range(pick.randrange(4))]
    elif kind == 1:
        tensor.data_type = pick.randrange(-1, 40)
    elif kind == 2:
        tensor.raw_data = tensor.raw_data[: pick.randrange(len(tensor.raw_data) + 1)]
    elif kind == 3:
        tensor.dims[:] = [1] * pick.randrange(1, 200)
    elif kind == 4:
        tensor.data_location = TensorProto.EXTERNAL
        del tensor.external_data[:]
        tensor.external_data.add(key="location", value=pick.choice(LOCATIONS))
    else:
        tensor.raw_data = b""
        tensor.float_data.extend([1.0] * pick.randrange(5))


def _external(pick: random.Random, model: onnx.ModelProto) -> None:
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL:
            entry = pick.choice(tensor.external_data)
            values = {
                "location": LOCATIONS,
                "offset": ("-1", "8", "1e3", str(HUGE[0]), "9" * 40, "0x4", ""),
                "length": ("-1", "17", "0", str(HUGE[0]), "9" * 40, "", "١٦"),
            }
            entry.value = pick.choice(values[entry.key])
            if pick.random() < 0.3:
                tensor.dims[:] = [pick.choice((*HUGE, 3, 5, -4))]


def _wiring(pick: random.Random, model: onnx.ModelProto) -> None:
    graph = model.graph
    names = [name for node in graph.node for name in (*node.input, *node.output)]
    node = pick.choice(graph.node)
    places = pick.choice((node.input, node.output)) or node.output
    places[pick.randrange(len(places))] = pick.choice([*names, "", "nothing"])
    if pick.random() < 0.2:
        graph.node.append(node)


def _attribute(pick: random.Random, model: onnx.ModelProto) -> None:
    node = pick.choice(model.graph.node)
    if not node.attribute or pick.random() < 0.2:
        node.attribute.add(name=pick.choice(("axis", "to", "x")), type=pick.randrange(15), i=7)
        return
    attribute = pick.choice(node.attribute)
    attribute.type = pick.randrange(15)
    attribute.i = pick.choice((*HUGE, -1, 5))


def _operator(pick: random.Random, model: onnx.ModelProto) -> None:
    node = pick.choice(model.graph.node)
    operators = (
        "ConstantOfShape", "Expand", "Tile", "Range", "Loop", "If", "Reshape", "Pad", "Gather",
        "Slice", "Nothing", "Constant", "Split", "Concat", "SequenceAt", "Cast", "Resize", "Conv",
    )  # fmt: skip
    node.op_type = pick.choice(operators)
    if pick.random() < 0.3:
        node.domain = pick.choice(("local", "ai.onnx.ml", "x"))


def _types(pick: random.Random, model: onnx.ModelProto) -> None:
    value = pick.choice([*model.graph.input, *model.graph.output])
    kind = value.type.tensor_type
    change = pick.randrange(4)
    if change == 0:
        kind.elem_type = pick.randrange(0, 40)
    elif change == 1 and kind.shape.dim:
        pick.choice(kind.shape.dim).dim_value = pick.choice((*HUGE, -1, 0))
    elif change == 2:
        value.type.sequence_type.elem_type.tensor_type.elem_type = 1
    else:
        value.name = pick.choice(("", "x", "w", "y"))


def _versions(pick: random.Random, model: onnx.ModelProto) -> None:
    versions = (-1, 0, 1, 6, 99, 1 << 40)
    for each in model.opset_import:
        if pick.random() < 0.7:
            each.version = pick.choice(versions)
    if pick.random() < 0.2:
        del model.opset_import[:]


def _functions(pick: random.Random, model: onnx.ModelProto) -> None:
    for function in model.functions:
        node = pick.choice(function.node)
        node.op_type = pick.choice(("Inner", "Outer", "Relu"))
        node.domain = "local"
    if model.functions and pick.random() < 0.3:
        model.functions.append(model.functions[0])


def _nesting(pick: random.Random, model: onnx.ModelProto) -> None:
    graph = helper.make_graph([], "leaf", [], [_float("x", [2])])
    for _ in range(pick.randrange(2, 28)):
        node = helper.make_node("If", ["x"], ["v"], then_branch=graph, else_branch=graph)
        if len(node.SerializeToString()) > 1 << 20:
            break
        graph = helper.make_graph([node], "level", [], [_float("v", [2])])
    model.graph.node.append(
        helper.make_node("If", ["x"], ["nested"], then_branch=graph, else_branch=graph)
    )


_STRUCTURED = (
    _constant, _constant, _external, _wiring, _wiring, _attribute, _operator, _types, _versions,
    _functions, _nesting,
)  # fmt: skip


def mutant(number: int) -> bytes:
    """Return the bytes of a mutated model."""
    pick = random.Random(number)
    model = pick.choice(MODELS)()
    if pick.random() < 0.5:
        return _bytes(pick, model)
    for _ in range(pick.choice((1, 1, 2, 3))):
        pick.choice(_STRUCTURED)(pick, model)
    return model.SerializeToString()
