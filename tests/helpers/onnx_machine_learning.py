"""Models of one node of the domain ai.onnx.ml, evaluated by weft.onnx and by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, ValueInfoProto, helper

import weft.onnx
from weft.onnx.backend import to_numpy

_DOMAIN = "ai.onnx.ml"


def model_of(op: str, inputs: Sequence[Any], outputs: int, **attributes: Any) -> Any:
    """A model of one node, with inputs x0, x1, ... and outputs y0, y1, ..."""
    names, results = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain=_DOMAIN, **attributes)
    kinds = [
        TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)
        for x in inputs
    ]
    values = zip(names, kinds, inputs, strict=True)
    graph = helper.make_graph(
        [node],
        op,
        [helper.make_tensor_value_info(name, kind, x.shape) for name, kind, x in values],
        [ValueInfoProto(name=name) for name in results],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_DOMAIN, 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def by_weft(model: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The outputs of weft.onnx."""
    given = {f"x{i}": x for i, x in enumerate(inputs)}
    return [to_numpy(each) for each in weft.onnx.load(model, jit=False)(**given).values()]


def compare_with_runtime(op: str, inputs: Sequence[Any], outputs: int, **attributes: Any) -> None:
    """Check that shapes and values of the outputs agree."""
    model = model_of(op, inputs, outputs, **attributes)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    expected = session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})
    for one, other in zip(by_weft(model, inputs), expected, strict=True):
        wanted = np.asarray(other)
        assert one.shape == wanted.shape
        if wanted.dtype.kind in "OU":
            assert one.tolist() == wanted.tolist()
        else:
            assert one.dtype == wanted.dtype
            np.testing.assert_allclose(one, wanted, 1e-4, 1e-5)
