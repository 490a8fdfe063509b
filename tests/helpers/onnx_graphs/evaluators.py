"""Evaluate models by the reference of the package `onnx` and by ONNX Runtime.

in:  a model and its inputs      out: arrays, or None where an evaluator refuses the model
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

onnxruntime.set_default_logger_severity(4)
Arrays = list[Any]

RELATIVE = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 4e-2}


def typed(model: onnx.ModelProto, outputs: Sequence[str]) -> onnx.ModelProto | None:
    """Add outputs with their inferred dtypes; None if types or shapes do not follow the schemas."""
    try:
        onnx.checker.check_model(model)
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception:  # noqa: BLE001 (each kind of refusal is one)
        return None
    kinds = {each.name: each.type.tensor_type.elem_type for each in inferred.graph.value_info}
    for name in outputs:
        if not kinds.get(name):
            return None
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, kinds[name], None))
    return model


def by_reference(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Arrays | None:
    """Return the outputs of the reference evaluator."""
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, dict(inputs))
    except Exception:  # noqa: BLE001
        return None
    return [each if isinstance(each, list) else np.asarray(each) for each in found]


def by_runtime(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Arrays | None:
    """Return the outputs of ONNX Runtime without its optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        given = {each.name for each in session.get_inputs()}
        return session.run(None, {name: inputs[name] for name in inputs if name in given})
    except Exception:  # noqa: BLE001
        return None


def difference(found: Any, expected: Any, slack: int = 0) -> str | None:
    """Say how an array differs from the expected one; None if it agrees.

    slack: how far integers may be apart, where rounding decides between two of them.
    """
    if isinstance(expected, list):
        if len(found) != len(expected):
            return f"{len(found)} elements, and {len(expected)} are expected"
        parts = [difference(one, other, slack) for one, other in zip(found, expected, strict=True)]
        return next((each for each in parts if each), None)
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return f"shape {found.shape}, and {expected.shape} is expected"
    if found.dtype != expected.dtype:
        return f"dtype {found.dtype}, and {expected.dtype} is expected"
    name = expected.dtype.name
    if expected.dtype.kind in "biu" or name.startswith(("int", "uint")):
        wide = [each.astype(object if name == "uint64" else np.int64) for each in (found, expected)]
        apart = np.abs(wide[0] - wide[1]) > slack
    else:
        one, other = found.astype(np.float64), expected.astype(np.float64)
        apart = ~_is_near(one, other, RELATIVE.get(name, 0.0))
    if not apart.any():
        return None
    place = tuple(int(each[0]) for each in np.nonzero(apart))
    return (
        f"{int(apart.sum())} of {apart.size} elements differ: at {place} "
        f"{found[place]}, and {expected[place]} is expected"
    )


def _is_near(one: np.ndarray, other: np.ndarray, relative: float) -> np.ndarray:
    finite = np.abs(other[np.isfinite(other)])
    scale = float(finite.max()) if finite.size else 1.0
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= relative * np.maximum(np.abs(other), 0.1 * min(scale, 1e6))
    return near | (one == other) | (np.isnan(one) & np.isnan(other))


def agree(one: Sequence[Any], other: Sequence[Any], slack: int = 0) -> bool:
    """Whether two evaluators give the same."""
    pairs = zip(one, other, strict=True)
    return all(difference(each, second, slack) is None for each, second in pairs)


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
