"""Recurrent networks, attention, quantization, and control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from helpers.onnx_graphs.drawing import FLOAT32, Drawing, Value

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
INT8, UINT8 = np.dtype(np.int8), np.dtype(np.uint8)


def recurrent(drawing: Drawing) -> None:
    op = drawing.choice(sorted(GATES))
    gates, hidden = GATES[op], drawing.between(1, 4)
    length, batch, features = drawing.between(1, 4), drawing.between(1, 3), drawing.between(1, 4)
    direction = drawing.choice(("forward", "reverse", "bidirectional"))
    count = 1 + (direction == "bidirectional")
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    layout = int(drawing.opset >= 14 and drawing.chance(0.25))
    if layout:  # the reference alone computes it, and ignores lengths and limits
        attributes["layout"] = 1
    if op == "GRU" and drawing.chance(0.5):
        attributes["linear_before_reset"] = 1
    if op == "LSTM" and not layout and drawing.chance(0.2):
        attributes["input_forget"] = 1
    if not layout and drawing.chance(0.2):
        attributes["clip"] = 0.7
    data = (batch, length, features) if layout else (length, batch, features)
    state = (batch, count, hidden) if layout else (count, batch, hidden)
    small = lambda shape: drawing.like(shape, FLOAT32, -1, 1)  # noqa: E731
    inputs: list[Value | None] = [
        drawing.like(data, FLOAT32), small((count, gates * hidden, features)),
        small((count, gates * hidden, hidden)),
        small((count, 2 * gates * hidden)) if drawing.chance(0.6) else None,
        _lengths(drawing, batch, length) if not layout and drawing.chance(0.3) else None,
        small(state) if drawing.chance(0.5) else None,
    ]  # fmt: skip
    if op == "LSTM":
        inputs.append(small(state) if drawing.chance(0.5) else None)
        inputs.append(small((count, 3 * hidden)) if drawing.chance(0.3) else None)
    while inputs[-1] is None:
        inputs.pop()
    outputs = 3 if op == "LSTM" else 2
    skip = (0,) if drawing.chance(0.2) else ()
    drawing.node(op, inputs, outputs, skip=skip, **attributes)


def _lengths(drawing: Drawing, batch: int, length: int) -> Value:
    return drawing.settings(drawing.array((batch,), np.dtype(np.int32), 1, length))


def attention(drawing: Drawing) -> None:
    if drawing.opset < 23:
        return
    heads = drawing.choice((2, 4))
    keys = drawing.choice((heads, 1, 2))
    batch, queries, count, size = 2, drawing.between(1, 4), drawing.between(1, 5), 4
    four = drawing.chance(0.5)
    attributes: dict[str, Any] = {} if four else {"q_num_heads": heads, "kv_num_heads": keys}

    def tensor(number: int, length: int) -> Value:
        shape = (batch, number, length, size) if four else (batch, length, number * size)
        return drawing.like(shape, FLOAT32)

    inputs = [tensor(heads, queries), tensor(keys, count), tensor(keys, count)]
    if drawing.chance(0.3):
        inputs.append(drawing.value(drawing.array((queries, count), FLOAT32)))
    for name, options in (("is_causal", (1,)), ("softcap", (2.0,)), ("scale", (0.3, 1.0))):
        if drawing.chance(0.4):
            attributes[name] = drawing.choice(options)
    drawing.node("Attention", inputs, **attributes)


def _scale(drawing: Drawing, shape: tuple[int, ...] = ()) -> Value:
    numbers = np.random.default_rng(drawing.random.getrandbits(32))
    return drawing.settings(np.asarray(2.0 ** -numbers.integers(1, 4, shape), np.float32))


def quantize(drawing: Drawing) -> None:
    """Quantize and dequantize, per tensor or per axis."""
    if drawing.opset < 10:
        return
    value = drawing.pick((FLOAT32,), (1, 4), exact=True, filled=True)
    dtype = drawing.choice((INT8, UINT8))
    axis = drawing.axis(value.array.ndim)
    per_axis = drawing.opset >= 13 and drawing.chance(0.4)
    shape = (value.array.shape[axis],) if per_axis else ()
    attributes = {"axis": axis} if per_axis else {}
    scale, zero = _scale(drawing, shape), drawing.settings(drawing.array(shape, dtype))
    made = drawing.node("QuantizeLinear", [value, scale, zero], exact=True, **attributes)
    if made and drawing.chance(0.7):
        drawing.node("DequantizeLinear", [made[0], scale, zero], exact=True, **attributes)


def dynamic_quantize(drawing: Drawing) -> None:
    value = drawing.pick((FLOAT32,), (1, 3), exact=True, filled=True)
    drawing.node("DynamicQuantizeLinear", [value], 3, slack=1)


def quantized_product(drawing: Drawing) -> None:
    op = drawing.choice(("MatMulInteger", "QLinearMatMul", "ConvInteger", "QLinearConv"))
    one, other = drawing.choice(((UINT8, UINT8), (UINT8, INT8), (INT8, INT8)))
    zero = lambda dtype: drawing.settings(drawing.array((), dtype, -3, 3))  # noqa: E731
    if op.endswith("MatMul") or op == "MatMulInteger":
        rows, inner, columns = (drawing.between(1, 5) for _ in range(3))
        a, b = (rows, inner), (inner, columns)
        attributes: dict[str, Any] = {}
    else:
        a, b = (1, 2, 5, 6), (3, 2, drawing.between(1, 3), drawing.between(1, 3))
        attributes = {"pads": [drawing.between(0, 1) for _ in range(4)]}
        attributes["strides"] = [drawing.between(1, 2) for _ in range(2)]
    pair = drawing.like(a, one, -20, 20), drawing.like(b, other, -20, 20)
    if op.endswith("Integer"):
        zeros = [zero(one), zero(other)][: drawing.between(0, 2)]
        drawing.node(op, [*pair, *zeros], exact=True, **attributes)
        return
    result = one if op == "QLinearConv" else drawing.choice((INT8, UINT8))
    inputs = [pair[0], _scale(drawing), zero(one), pair[1], _scale(drawing), zero(other),
              drawing.settings(np.asarray(4.0, np.float32)), zero(result)]  # fmt: skip
    drawing.node(op, inputs, slack=1, **attributes)


def condition(drawing: Drawing) -> None:
    """If with a condition that is computed, and values of the outer graph."""
    value = drawing.pick((FLOAT32,))
    flag = drawing.value(drawing.array((), np.dtype(bool)))
    branches = {}
    for name, op in (("then_branch", "Neg"), ("else_branch", "Relu")):
        result = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None)
        node = helper.make_node(op, [value.name], [f"{name}_y"])
        branches[name] = helper.make_graph([node], name, [], [result])
    drawing.node("If", [flag], exact=True, **branches)


def loop(drawing: Drawing) -> None:
    """Loop with a carried value, a scanned output, and a value of the outer graph."""
    start = drawing.pick((FLOAT32,), (0, 3))
    step = drawing.like(start.array.shape, FLOAT32)
    trips = drawing.ints(drawing.between(0, 4))
    names = ("trip", "going", "before", "after", "still", "copy")
    info = {
        name: helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in zip(
            names,
            (TensorProto.INT64, TensorProto.BOOL, *[TensorProto.FLOAT] * 2, TensorProto.BOOL,
             TensorProto.FLOAT),
            ([], [], start.array.shape, start.array.shape, [], start.array.shape), strict=True,
        )
    }  # fmt: skip
    nodes = [
        helper.make_node("Add", ["before", step.name], ["after"]),
        helper.make_node("Identity", ["going"], ["still"]),
        helper.make_node("Identity", ["after"], ["copy"]),
    ]
    body = helper.make_graph(
        nodes, "body", [info["trip"], info["going"], info["before"]],
        [info["still"], info["after"], info["copy"]],
    )  # fmt: skip
    go = drawing.settings(np.asarray(drawing.chance(0.9), bool))
    drawing.node("Loop", [trips, go, start], 2, exact=True, body=body)


def scan(drawing: Drawing) -> None:
    if drawing.opset < 9:
        return
    values = drawing.pick((FLOAT32,), (1, 3), filled=True)
    shape = values.array.shape[1:]
    state = drawing.like(shape, FLOAT32)
    info = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name in ("before", "one", "after", "seen")}  # fmt: skip
    body = helper.make_graph(
        [helper.make_node("Add", ["before", "one"], ["after"]),
         helper.make_node("Mul", ["after", "one"], ["seen"])],
        "body", [info["before"], info["one"]], [info["after"], info["seen"]],
    )  # fmt: skip
    attributes = {}
    if drawing.chance(0.4):
        attributes["scan_input_directions"] = [1]
    if drawing.chance(0.4):
        attributes["scan_output_directions"] = [1]
    drawing.node("Scan", [state, values], 2, body=body, num_scan_inputs=1, **attributes)


FAMILY = (recurrent, recurrent, attention, quantize, quantize, dynamic_quantize, quantized_product,
          quantized_product, condition, loop, scan)  # fmt: skip
