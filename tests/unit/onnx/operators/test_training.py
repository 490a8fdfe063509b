"""Steps of optimizers compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import weft.onnx

DOMAIN = "ai.onnx.preview.training"
CASES = [
    ("Adagrad", 3, {"norm_coefficient": 0.01, "epsilon": 1e-5, "decay_factor": 0.1}),
    ("Adam", 4, {"norm_coefficient": 0.01, "norm_coefficient_post": 0.1, "alpha": 0.8}),
    ("Momentum", 3, {"mode": "standard", "norm_coefficient": 0.01, "alpha": 0.9, "beta": 0.3}),
    ("Momentum", 3, {"mode": "nesterov", "norm_coefficient": 0.0, "alpha": 0.9, "beta": 1.0}),
]


@pytest.mark.parametrize(("op", "groups", "attributes"), CASES)
@pytest.mark.parametrize("updates", [0, 3])
def test_two_parameters(op, groups, attributes, updates, rng):
    shapes = [(2, 3), (4,)]
    names = [f"x{i}" for i in range(2 * groups)]
    results = [f"y{i}" for i in range(2 * (groups - 1))]
    node = helper.make_node(op, ["r", "t", *names], results, domain=DOMAIN, **attributes)
    values = {n: rng.uniform(0.1, 1, shapes[i % 2]) for i, n in enumerate(names)}
    values = {"r": np.array(0.1), **values}
    given = {name: value.astype(np.float32) for name, value in values.items()}
    given["t"] = np.array(updates, np.int64)
    graph = helper.make_graph(
        [node], op,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
         for n, v in given.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in results],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets)
    expected = ReferenceEvaluator(model).run(None, given)
    found = weft.onnx.load(model, jit=False)(**given).values()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other, 1e-3)
