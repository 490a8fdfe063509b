"""Products of dequantized tensors: their sums are integers where the device adds those quickly."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
import onnx
from onnx import TensorProto, helper, numpy_helper

import weft.onnx
from helpers.onnx_nodes import by_reference
from weft import Tensor, dtypes
from weft.device import registry
from weft.onnx.graph import Node
from weft.onnx.operators.integer_products import dequantized_matmul
from weft.onnx.operators.quantization import dequantize_linear, source_of


def model_of(nodes, inputs, constants):
    graph = helper.make_graph(
        [helper.make_node(op, names.split(), [out], **more) for op, names, out, more in nodes],
        "dequantized",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
            )
            for name, value in inputs.items()
        ],
        [helper.make_tensor_value_info(nodes[-1][2], TensorProto.UNDEFINED, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def check(nodes, constants, x):
    """The result is that of the reference, or next to it where a sum lies near a tie."""
    model = model_of(nodes, {"x0": x}, constants)
    (expected,) = by_reference(model, [x])
    found = weft.onnx.load(onnx.ModelProto.SerializeToString(model))(x0=x)[0].numpy()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    apart = np.abs(found.astype(np.int32) - expected)
    assert apart.max() <= 1
    assert (apart > 0).mean() < 0.01


def around(product, inputs, **attributes):
    """x is quantized, a product of dequantized tensors is computed, and quantized again."""
    return [
        ("QuantizeLinear", "x0 xs xz", "q", {}),
        ("DequantizeLinear", "q xs xz", "x", {}),
        ("DequantizeLinear", "w ws wz", "v", {"axis": attributes.pop("scale_axis")}),
        (product, inputs, "p", attributes),
        ("QuantizeLinear", "p ys yz", "y", {}),
    ]


def constants_of(rng, w, channels, ys):
    return {
        "xs": np.float32(0.02), "xz": np.uint8(117), "w": w,
        "ws": rng.uniform(0.01, 0.02, channels).astype(np.float32),
        "wz": np.zeros(channels, np.int8), "ys": np.float32(ys), "yz": np.uint8(120),
        "b": rng.standard_normal(channels).astype(np.float32),
    }  # fmt: skip


def test_matrix_products(rng):
    w = rng.integers(-128, 128, (32, 20)).astype(np.int8)
    x = rng.standard_normal((24, 32)).astype(np.float32)
    constants = constants_of(rng, w, 20, 0.1)
    check(around("MatMul", "x v", scale_axis=1), constants, x)
    check(around("Gemm", "x v b", scale_axis=1, alpha=0.5), constants, x)
    constants["w"] = np.ascontiguousarray(w.T)
    check(around("Gemm", "x v b", scale_axis=0, transB=1), constants, x)


@pytest.mark.parametrize("group", [1, 2])
def test_convolutions(group, rng):
    w = rng.integers(-128, 128, (32, 6 // group, 3, 3)).astype(np.int8)
    x = rng.standard_normal((2, 6, 7, 6)).astype(np.float32)
    nodes = around("Conv", "x v b", scale_axis=0, pads=[1, 1, 1, 1], strides=[2, 1], group=group)
    check(nodes, constants_of(rng, w, 32, 0.15), x)


def dequantized(codes, scale, **more):
    scale = Tensor(np.asarray(scale, np.float32))
    return dequantize_linear(Node("DequantizeLinear"), codes, scale, **more)


def adds_integers():
    return any(
        unit.terms == 4 for unit in registry.capabilities(Tensor([1]).device).compute.pair_dots
    )


def test_a_dequantized_tensor_has_its_source():
    codes = Tensor.ones(4, 6, dtype=dtypes.uint8)
    value = dequantized(codes, 0.5)
    source = source_of(value)
    assert source.codes is codes
    assert (source.axis, source.zero) == (None, None)
    assert source_of(value + 1) is None
    per_row = source_of(dequantized(codes, [1.0] * 4, axis=0))
    assert (per_row.axis, per_row.transposed().axis) == (0, 1)
    assert per_row.transposed().codes.shape == (6, 4)


def test_sums_of_other_kinds_stay_floats():
    a = source_of(dequantized(Tensor.ones(4, 6, dtype=dtypes.uint8), 0.5))
    b = Tensor.ones(6, 5, dtype=dtypes.int8)
    across = source_of(dequantized(b, [1.0] * 6, axis=0))
    wide = source_of(dequantized(b.cast(dtypes.int16), 0.5))
    for other in (None, across, wide):
        assert dequantized_matmul(a, other) is None
    found = dequantized_matmul(a, source_of(dequantized(b, 0.5)))
    assert (found is not None) == adds_integers()
    if found is not None:
        assert found.tolist() == [[1.5] * 5] * 4
