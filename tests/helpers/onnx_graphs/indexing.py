"""Gathers, scatters, and operators whose result's shape depends on values."""

from __future__ import annotations

import numpy as np

from helpers.onnx_graphs.drawing import BOOL, EVERY, FLOATS, SIGNED, Drawing, Value


def _indices(drawing: Drawing, shape: tuple[int, ...], size: int) -> Value:
    kind = drawing.choice(SIGNED[:2])
    return drawing.value(drawing.array(shape, kind, -size, size - 1))


def gather(drawing: Drawing) -> None:
    op = drawing.choice(("Gather", "GatherElements", "GatherND"))
    value = drawing.pick(EVERY, (1, 4), filled=True)
    shape = value.array.shape
    axis = drawing.axis(len(shape))
    attributes = {"axis": axis} if axis or drawing.chance(0.5) else {}
    if op == "Gather":
        indices = _indices(drawing, drawing.shape(0, 2), shape[axis])
    elif op == "GatherElements":
        taken = list(shape)
        taken[axis] = drawing.size()
        indices = _indices(drawing, tuple(taken), shape[axis])
    else:
        attributes = {}
        batch = drawing.between(0, min(1, len(shape) - 1)) if drawing.opset >= 12 else 0
        depth = drawing.between(1, len(shape) - batch)
        outer = (*shape[:batch], *drawing.shape(0 if batch else 1, 2))
        parts = [
            drawing.array((*outer, 1), np.dtype(np.int64), -size, size - 1)
            for size in shape[batch : batch + depth]
        ]
        indices = drawing.value(np.concatenate(parts, -1))
        if batch:
            attributes["batch_dims"] = batch
    drawing.node(op, [value, indices], exact=True, **attributes)


def scatter(drawing: Drawing) -> None:
    """Scatter with a reduction, or to places that are all different."""
    value = drawing.pick(FLOATS[:2] + SIGNED[:2], (1, 3), filled=True)
    shape, dtype = value.array.shape, value.array.dtype
    reductions = ["none", *(["add", "mul"] if drawing.opset >= 16 else [])]
    reductions += ["max", "min"] if drawing.opset >= 18 else []
    reduction = drawing.choice(reductions)
    attributes = {"reduction": reduction} if reduction != "none" else {}
    numbers = np.random.default_rng(drawing.random.getrandbits(32))
    if drawing.chance(0.5):
        axis = drawing.axis(len(shape))
        order = np.argsort(numbers.random(shape), axis).astype(np.int64)
        count = drawing.between(1, shape[axis])
        indices = np.take(order, range(count), axis)
        if reduction != "none":
            indices = numbers.integers(-shape[axis], shape[axis], indices.shape)
        updates = drawing.like(indices.shape, dtype)
        op = "ScatterElements" if drawing.opset >= 11 else "Scatter"
        drawing.node(op, [value, drawing.value(indices), updates], axis=axis, **attributes)
        return
    count = drawing.between(1, shape[0])
    indices = numbers.permutation(shape[0])[:count, None].astype(np.int64)
    indices -= shape[0] * numbers.integers(0, 2, indices.shape)
    updates = drawing.like((count, *shape[1:]), dtype)
    drawing.node("ScatterND", [value, drawing.value(indices), updates], **attributes)


def one_hot(drawing: Drawing) -> None:
    depth = drawing.between(1, 5)
    indices = drawing.value(
        drawing.array(drawing.shape(0, 3), drawing.choice(SIGNED[:2]), -depth - 1, depth)
    )
    count = drawing.settings(np.asarray(depth, np.int64))
    values = drawing.settings(drawing.array((2,), drawing.choice((FLOATS[0], *SIGNED[:2]))))
    axis = drawing.axis(indices.array.ndim + 1)
    drawing.node("OneHot", [indices, count, values], exact=True, axis=axis)


def data_dependent(drawing: Drawing) -> None:
    """NonZero, Compress, Unique: the shape of the result depends on values."""
    op = drawing.choice(("NonZero", "Compress", "Unique"))
    if op == "NonZero":
        drawing.node(op, [drawing.pick(EVERY, (1, 4), exact=True)], exact=True)
        return
    kinds = FLOATS[:2] + SIGNED[1:2]  # the reference alone computes others, and sorts them always
    value = drawing.pick(kinds, (1, 3), exact=True, filled=True)
    attributes = {"axis": drawing.axis(value.array.ndim)} if drawing.chance(0.6) else {}
    if op == "Compress":
        along = value.array.shape[attributes["axis"]] if attributes else value.array.size
        condition = drawing.value(drawing.array((drawing.between(1, along),), BOOL))
        drawing.node(op, [value, condition], exact=True, **attributes)
        return
    outputs = drawing.between(1, 4)
    if drawing.chance(0.5):
        attributes["sorted"] = drawing.between(0, 1)
    drawing.node(op, [value], outputs, exact=True, **attributes)


def reverse(drawing: Drawing) -> None:
    value = drawing.pick(FLOATS[:2] + SIGNED[:2], (2, 4), filled=True)
    time = drawing.between(0, 1)
    length, batch = value.array.shape[time], value.array.shape[1 - time]
    lengths = drawing.value(drawing.array((batch,), np.dtype(np.int64), 1, length))
    drawing.node("ReverseSequence", [value, lengths], exact=True, time_axis=time,
                 batch_axis=1 - time)  # fmt: skip


def tensor_scatter(drawing: Drawing) -> None:
    if drawing.opset < 24:
        return
    shape = (2, drawing.between(1, 2), drawing.between(2, 5), 3)
    cache = drawing.like(shape, FLOATS[0])
    count = drawing.between(1, shape[2])
    update = drawing.like((*shape[:2], count, 3), FLOATS[0])
    mode = drawing.choice(("linear", "circular"))
    most = shape[2] - count if mode == "linear" else shape[2] - 1
    places = drawing.value(drawing.array((2,), np.dtype(np.int64), 0, most))
    drawing.node("TensorScatter", [cache, update, places], exact=True, mode=mode)


FAMILY = (gather, gather, gather, scatter, scatter, one_hot, data_dependent, reverse,
          tensor_scatter)  # fmt: skip
