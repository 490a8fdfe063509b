"""Reductions, sums along an axis, searches, and normalizations."""

from __future__ import annotations

import numpy as np

from helpers.onnx_graphs.drawing import FLOAT32, FLOATS, NUMBERS, SIGNED, Drawing, Value

SUMS = ("Sum", "Mean", "SumSquare", "L1", "L2", "Prod", "LogSum", "LogSumExp")


def reduce(drawing: Drawing) -> None:
    op = drawing.choice((*SUMS, "Max", "Min"))
    kinds = FLOATS + SIGNED[:2] if op in ("Sum", "Prod", "L1", "SumSquare") else FLOATS
    value = drawing.pick(NUMBERS if op in ("Max", "Min") else kinds)
    if op == "LogSum":
        (value,) = drawing.node("Abs", [value]) or [value]
    rank = value.array.ndim
    axes: list[int] | None = sorted(drawing.random.sample(range(rank), drawing.between(0, rank)))
    axes = [axis - rank if drawing.chance(0.4) else axis for axis in axes]
    if drawing.chance(0.2):
        axes = None
    attributes = {"keepdims": drawing.between(0, 1)} if drawing.chance(0.7) else {}
    inputs: list[Value | None] = [value]
    if drawing.opset >= (13 if op == "Sum" else 18):
        if drawing.chance(0.3):
            attributes["noop_with_empty_axes"] = drawing.between(0, 1)
        if axes is not None:
            inputs.append(drawing.ints(axes))
    elif axes:
        attributes["axes"] = axes
    drawing.node(f"Reduce{op}", inputs, exact=op in ("Max", "Min"), **attributes)


def arg(drawing: Drawing) -> None:
    value = drawing.pick(NUMBERS, (1, 4), exact=True, filled=True)
    attributes = {"axis": drawing.axis(value.array.ndim)}
    if drawing.chance(0.5):
        attributes["keepdims"] = drawing.between(0, 1)
    if drawing.chance(0.5):
        attributes["select_last_index"] = drawing.between(0, 1)
    drawing.node(drawing.choice(("ArgMax", "ArgMin")), [value], exact=True, **attributes)


def running(drawing: Drawing) -> None:
    op = drawing.choice(("CumSum", "CumSum", "CumProd"))
    value = drawing.pick(FLOATS[:2] + SIGNED[:2], (1, 4))
    axis = drawing.ints(drawing.axis(value.array.ndim), drawing.choice((np.int32, np.int64)))
    flags = {name: 1 for name in ("exclusive", "reverse") if drawing.chance(0.4)}
    drawing.node(op, [value, axis], **flags)


def top(drawing: Drawing) -> None:
    """The k largest or smallest of values that are all different."""
    shape = tuple(max(size, 1) for size in drawing.shape(1, 3))
    count = int(np.prod(shape))
    numbers = np.random.default_rng(drawing.random.getrandbits(32))
    dtype = drawing.choice((FLOAT32, np.dtype(np.int64), np.dtype(np.float64)))
    value = drawing.value(numbers.permutation(count).reshape(shape).astype(dtype))
    axis = drawing.axis(len(shape))
    k = drawing.between(0 if drawing.chance(0.1) else 1, shape[axis])
    if drawing.opset < 10:
        drawing.node("TopK", [value], 2, exact=True, axis=axis, k=k)
        return
    attributes = {"largest": drawing.between(0, 1)} if drawing.opset >= 11 else {}
    drawing.node("TopK", [value, drawing.ints([k])], 2, exact=True, axis=axis, **attributes)


def softmax(drawing: Drawing) -> None:
    op = drawing.choice(("Softmax", "LogSoftmax", "Hardmax"))
    value = drawing.pick(FLOATS, (1, 4), exact=op == "Hardmax", filled=True)
    attributes = {"axis": drawing.axis(value.array.ndim)} if drawing.chance(0.8) else {}
    if drawing.opset < 11:
        attributes = {"axis": drawing.between(0, value.array.ndim - 1)}
    drawing.node(op, [value], **attributes)


def layer_normalization(drawing: Drawing) -> None:
    op = drawing.choice(("LayerNormalization", "RMSNormalization"))
    value = drawing.pick(FLOATS[:3], (1, 4), filled=True)
    shape, dtype = value.array.shape, value.array.dtype
    axis = drawing.axis(len(shape))
    scale = drawing.like(shape[axis % len(shape) :], dtype)
    bias = drawing.like(shape[axis % len(shape) :], dtype)
    several = op == "LayerNormalization"
    inputs = [value, scale, *([bias] if several and drawing.chance(0.5) else [])]
    outputs = drawing.choice((1, 1, 3)) if several else 1
    drawing.node(op, inputs, outputs, axis=axis, epsilon=drawing.choice((1e-5, 1e-2)))


def channel_normalization(drawing: Drawing) -> None:
    op = drawing.choice(
        ("BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN",
         "MeanVarianceNormalization", "LpNormalization")
    )  # fmt: skip
    value = drawing.pick((FLOAT32,), (4, 4) if op.startswith("Mean") else (3, 4), filled=True)
    channels = value.array.shape[1]
    scale, bias, mean = (drawing.like((channels,), FLOAT32) for _ in range(3))
    if op == "BatchNormalization":
        variance = drawing.value(drawing.array((channels,), FLOAT32, 1, 4))
        drawing.node(op, [value, scale, bias, mean, variance], epsilon=1e-2)
    elif op == "InstanceNormalization":
        drawing.node(op, [value, scale, bias], epsilon=1e-2)
    elif op == "GroupNormalization":
        groups = drawing.choice([n for n in range(1, channels + 1) if channels % n == 0])
        count = channels if drawing.opset >= 21 else groups
        scale, bias = drawing.like((count,), FLOAT32), drawing.like((count,), FLOAT32)
        drawing.node(op, [value, scale, bias], num_groups=groups, epsilon=1e-2)
    elif op == "LRN":
        drawing.node(op, [value], size=drawing.choice((1, 3, 5)), alpha=0.1, beta=0.75, bias=1.0)
    elif op == "LpNormalization":
        value = drawing.value(drawing.array(value.array.shape, FLOAT32, 1, 4))
        axis = drawing.axis(value.array.ndim)
        drawing.node(op, [value], axis=axis, p=drawing.between(1, 2))
    else:
        drawing.node(op, [value], axes=drawing.choice(([0, 2, 3], [1], [0, 1, 2, 3])))


FAMILY = (reduce, reduce, reduce, arg, running, top, softmax, layer_normalization,
          channel_normalization)  # fmt: skip
