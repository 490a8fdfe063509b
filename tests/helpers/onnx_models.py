"""Small models for tests of `weft.onnx`, and the package that makes them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the models are made by the package onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT, INT64, BOOL = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def value(name, shape=None, dtype=FLOAT):
    """An input or output."""
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, data, dtype=np.float32):
    """An initializer."""
    return numpy_helper.from_array(np.asarray(data, dtype), name)


def graph(nodes, inputs, outputs, constants=(), name="g"):
    """A graph."""
    return helper.make_graph(nodes, name, inputs, outputs, list(constants))


def model(nodes, inputs, outputs, constants=(), opset=21, functions=(), domains=()):
    """The bytes of a model."""
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(
        graph(nodes, inputs, outputs, constants),
        opset_imports=opsets,
        functions=list(functions),
        ir_version=10,
    ).SerializeToString()


node = helper.make_node
