"""Draw a graph from a seed, and compare weft with the other evaluators.

in:  a seed      out: nothing, or a `GraphMismatch`

Models of symbolic sizes run with three more sizes, so that one program for all sizes is recorded.
"""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import onnx

import weft.onnx
from helpers.onnx_graphs import (
    elementwise,
    evaluators,
    indexing,
    layers,
    products,
    reductions,
    shapes,
    windows,
)
from helpers.onnx_graphs.drawing import Drawing, Value
from weft.base.errors import WeftError
from weft.onnx.backend import to_numpy

OLDEST, NEWEST = 7, onnx.defs.onnx_opset_version()
FAMILIES: tuple[ModuleType, ...] = (
    elementwise, elementwise, elementwise, reductions, reductions, windows, products, indexing,
    shapes, shapes, layers,
)  # fmt: skip


class GraphMismatch(AssertionError):
    """The outputs of weft differ from those of the other evaluators."""


class GraphRefused(Exception):
    """weft refuses a graph that another evaluator computes."""


def draw_graph(seed: int) -> Drawing:
    """Draw a graph of 1 to 12 nodes; the later opsets half of the time."""
    chosen = random.Random(seed)
    opset = chosen.randint(NEWEST - 8 if chosen.random() < 0.5 else OLDEST, NEWEST)
    drawing = Drawing(seed, opset, chosen, batch=chosen.choice((1, 2, 3, 3)))
    count = chosen.randint(1, 12)
    for _ in range(4 * count):
        if len(drawing.nodes) >= count:
            break
        chosen.choice(chosen.choice(FAMILIES).FAMILY)(drawing)
    return drawing


def check_graph(seed: int, counts: Counter[str] | None = None) -> None:
    """Compare all outputs of one graph.

    :raises GraphMismatch: if shapes, dtypes or values differ.
    :raises GraphRefused: if weft refuses the graph.
    """
    drawing = draw_graph(seed)
    if counts is not None:
        counts.update(drawing.counts)
        counts["nodes"] += len(drawing.nodes)
    if not drawing.nodes:
        return
    model, inputs = drawing.model()
    if model is None:
        raise GraphRefused("the schemas refuse the whole graph, and accept each node")
    loaded = _load(model, jit=seed % 3 != 0)
    found = _run(loaded, inputs)
    for name in drawing.outputs():
        _compare(drawing.values[name], found[name], counts)
    if drawing.batched & set(inputs) and seed % 3 != 0:
        for batch in (drawing.batch + 1, drawing.batch + 3, drawing.batch + 2):
            if not _check_size(drawing, model, loaded, batch):
                break
            if counts is not None:
                counts["runs with other sizes"] += 1


def _load(model: onnx.ModelProto, jit: bool) -> weft.onnx.Model:
    try:
        return weft.onnx.load(model.SerializeToString(), jit=jit)
    except WeftError as error:
        raise GraphRefused(f"{type(error).__name__}: {error}") from error


def _run(loaded: weft.onnx.Model, inputs: dict[str, np.ndarray]) -> dict[str, Any]:
    try:
        return {name: to_numpy(each) for name, each in loaded(**inputs).items()}
    except WeftError as error:
        raise GraphRefused(f"{type(error).__name__}: {error}") from error


def _compare(value: Value, found: Any, counts: Counter[str] | None) -> None:
    differences = [evaluators.difference(found, each, value.slack) for each in value.expected]
    if None not in differences:
        raise GraphMismatch(f"{value.node}\n" + "\n".join(map(str, differences)))
    if len(differences) > 1 and counts is not None:
        followed = "the reference" if differences[0] is None else "ONNX Runtime"
        counts[f"follows {followed}: {value.op}"] += 1


def _check_size(
    drawing: Drawing, model: onnx.ModelProto, loaded: weft.onnx.Model, batch: int
) -> bool:
    """Compare with another batch. Returns whether another evaluator runs the model with it."""
    given = dict(drawing.model()[1])
    for name in drawing.batched & set(given):
        given[name] = drawing.array((batch, *given[name].shape[1:]), given[name].dtype)
    known = [
        each
        for evaluate in (evaluators.by_reference, evaluators.by_runtime)
        if (each := evaluate(model, given)) is not None
    ]
    if len(known) < 2:
        return False
    found = _run(loaded, given)
    for place, name in enumerate(drawing.outputs()):
        value = drawing.values[name]
        expected = [each[place] for each in known]
        if len(value.expected) == 1 and evaluators.agree([expected[0]], [expected[1]], value.slack):
            _compare(
                Value(name, expected[:1], True, True, f"{value.node} size {batch}", value.slack),
                found[name], counts=None,
            )  # fmt: skip
    return True
