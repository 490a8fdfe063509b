"""Models of one node, evaluated by weft.onnx and by the reference of the package `onnx`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import weft.onnx
from weft.onnx.backend import to_numpy

NEWEST = onnx.defs.onnx_opset_version()


def node_model(
    op: str, inputs: Sequence[Any], outputs: int = 1, *, opset: int = NEWEST,
    constants: Sequence[int] = (), **attributes: Any,
) -> Any:  # fmt: skip
    """A model of one node. An input that is None is missing; `constants` are initializers."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    kinds = [
        None if value is None else helper.np_dtype_to_tensor_dtype(value.dtype) for value in inputs
    ]
    graph = helper.make_graph(
        [helper.make_node(op, names, results, **attributes)],
        op,
        [
            helper.make_tensor_value_info(name, kind, value.shape)
            for i, (name, kind, value) in enumerate(zip(names, kinds, inputs, strict=True))
            if value is not None and i not in constants
        ],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in results],
        [numpy_helper.from_array(inputs[i], f"x{i}") for i in constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def by_weft(model: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The outputs of weft.onnx, for the inputs by number that are no constants."""
    given = {each.name: inputs[int(each.name[1:])] for each in model.graph.input}
    loaded = weft.onnx.load(model, jit=False)
    return [to_numpy(each) for each in loaded(**given).values()]


def by_reference(model: Any, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The outputs of the reference evaluator."""
    given = {each.name: inputs[int(each.name[1:])] for each in model.graph.input}
    with np.errstate(all="ignore"):
        return [np.asarray(each) for each in ReferenceEvaluator(model).run(None, given)]


def compare(
    op: str, inputs: Sequence[Any], outputs: int = 1, *, rtol: float = 0.0, atol: float = 0.0,
    **options: Any,
) -> list[np.ndarray]:  # fmt: skip
    """Check that shapes, dtypes and values agree; without a tolerance the values are equal."""
    model = node_model(op, inputs, outputs, **options)
    found, expected = by_weft(model, inputs), by_reference(model, inputs)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        if other.dtype.kind in "OUS":
            assert one.dtype.kind in "OUS"
            assert one.tolist() == other.tolist()
            continue
        assert one.dtype == other.dtype
        wide = np.float64 if one.dtype.itemsize < 8 else one.dtype
        np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol, atol)
    return found


def refused(op: str, inputs: Sequence[Any], words: str, **options: Any) -> None:
    """Check that the node is refused by an OnnxError whose text matches `words`."""
    model = node_model(op, inputs, **options)
    with pytest.raises(weft.onnx.OnnxError, match=words):
        by_weft(model, inputs)
