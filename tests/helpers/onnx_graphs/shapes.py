"""Movement of elements: slices, padding, shapes, concatenation."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.onnx_graphs.drawing import EVERY, FLOATS, INTEGERS, Drawing


def slice_(drawing: Drawing) -> None:
    value = drawing.pick(EVERY, (1, 4))
    shape = value.array.shape
    axes = sorted(drawing.random.sample(range(len(shape)), drawing.between(1, len(shape))))
    starts = [drawing.between(-shape[axis] - 1, shape[axis]) for axis in axes]
    ends = [drawing.between(-shape[axis] - 1, shape[axis] + 1) for axis in axes]
    if drawing.opset < 10:
        drawing.node("Slice", [value], exact=True, starts=starts, ends=ends, axes=axes)
        return
    steps = [drawing.choice((1, 1, 2, 3, -1, -2)) for _ in axes]
    far = drawing.choice((2**31 - 1, 2**63 - 1))
    if drawing.chance(0.3):
        ends = [far if step > 0 else -far for step in steps]
    kind = drawing.choice((np.int32, np.int64)) if far < 2**32 else np.int64
    given = [[axis - len(shape) if drawing.chance(0.3) else axis for axis in axes], steps]
    parts = [starts, ends, *(given if drawing.chance(0.8) or len(axes) < len(shape) else [])]
    drawing.node("Slice", [value, *(drawing.ints(part, kind) for part in parts)], exact=True)


def pad(drawing: Drawing) -> None:
    value = drawing.pick(FLOATS + INTEGERS, (1, 4), filled=True)
    shape = value.array.shape
    modes = ["constant", "reflect", "edge", *(["wrap"] if drawing.opset >= 19 else [])]
    mode = drawing.choice(modes)
    most = [min(2, size - (mode == "reflect")) for size in shape] * 2
    pads = [drawing.between(0, limit) for limit in most]
    if mode == "constant":
        pads = [drawing.between(-1 if size > 2 else 0, 2) for size in shape] * 2
    if drawing.opset < 11:
        drawing.node("Pad", [value], exact=True, mode=mode, pads=pads)
        return
    inputs = [value, drawing.ints(pads)]
    if mode == "constant" and drawing.chance(0.5):
        inputs.append(drawing.settings(np.asarray(3, value.array.dtype)))
    drawing.node("Pad", inputs, exact=True, mode=mode)


def split(drawing: Drawing) -> None:
    value = drawing.pick(EVERY, (1, 4), filled=True)
    axis = drawing.axis(value.array.ndim)
    size = value.array.shape[axis]
    cut = drawing.between(0, size)
    parts = drawing.choice(([cut, size - cut], [size], None))
    if parts is None:
        count = drawing.between(1, size)
        if drawing.opset >= 18:
            drawing.node("Split", [value], count, exact=True, axis=axis, num_outputs=count)
        elif size % count == 0:
            drawing.node("Split", [value], count, exact=True, axis=axis)
    elif drawing.opset < 13:
        drawing.node("Split", [value], len(parts), exact=True, axis=axis, split=parts)
    else:
        drawing.node("Split", [value, drawing.ints(parts)], len(parts), exact=True, axis=axis)


def concat(drawing: Drawing) -> None:
    first = drawing.pick(EVERY, (1, 4))
    axis = drawing.axis(first.array.ndim)
    values = [first]
    for _ in range(drawing.between(0, 3)):
        shape = list(first.array.shape)
        shape[axis] = drawing.size()
        values.append(drawing.like(shape, first.array.dtype))
    drawing.random.shuffle(values)
    drawing.node("Concat", values, exact=True, axis=axis)


def reshape(drawing: Drawing) -> None:
    value = drawing.pick(EVERY)
    size, shape = value.array.size, value.array.shape
    target: list[int] = []
    while size > 1 and len(target) < 4 and drawing.chance(0.7):
        factor = drawing.choice([n for n in range(1, size + 1) if size % n == 0][:8])
        target.append(factor)
        size //= factor
    target.append(-1 if value.array.size and drawing.chance(0.6) else size)
    if shape and drawing.chance(0.4):
        target = [0, -1] if value.array.size else [0, *shape[1:]]
    attributes = {}
    if drawing.opset >= 14 and drawing.chance(0.2) and 0 not in target:
        attributes["allowzero"] = 1
    drawing.node("Reshape", [value, drawing.ints(target)], exact=True, **attributes)


def axes(drawing: Drawing) -> None:
    """Transpose, flatten, remove and insert axes."""
    op = drawing.choice(("Transpose", "Flatten", "Squeeze", "Unsqueeze"))
    value = drawing.pick(EVERY)
    shape, rank = value.array.shape, value.array.ndim
    if op == "Transpose":
        order = drawing.random.sample(range(rank), rank)
        attributes = {"perm": order} if rank and drawing.chance(0.85) else {}
        drawing.node(op, [value], exact=True, **attributes)
        return
    if op == "Flatten":
        low = -rank if drawing.opset >= 11 else 0
        drawing.node(op, [value], exact=True, axis=drawing.between(low, rank))
        return
    if op == "Squeeze":
        chosen = [axis for axis, size in enumerate(shape) if size == 1]
        if drawing.opset >= 11:
            chosen = [axis - rank if drawing.chance(0.3) else axis for axis in chosen]
    else:
        count = drawing.between(1, 2)
        chosen = drawing.random.sample(range(rank + count), count)
    if op == "Squeeze" and (not chosen or drawing.chance(0.2)):
        drawing.node(op, [value], exact=True)
    elif drawing.opset < 13:
        drawing.node(op, [value], exact=True, axes=chosen)
    else:
        drawing.node(op, [value, drawing.ints(chosen)], exact=True)


def repeat(drawing: Drawing) -> None:
    value = drawing.pick(EVERY)
    shape = value.array.shape
    if drawing.chance(0.5):
        times = [drawing.between(0 if drawing.chance(0.1) else 1, 3) for _ in shape]
        drawing.node("Tile", [value, drawing.ints(times)], exact=True)
        return
    target = [drawing.between(1, 3) if size == 1 else size for size in shape]
    target = [*drawing.shape(0, 1), *target]
    if drawing.chance(0.3):
        target = [1 if drawing.chance(0.5) else size for size in target]
    drawing.node("Expand", [value, drawing.ints(target)], exact=True)


def sizes(drawing: Drawing) -> None:
    """Shape arithmetic: a reshape to the shape of the value itself."""
    value = drawing.pick(EVERY, (1, 4))
    attributes: dict[str, Any] = {}
    if drawing.opset >= 15 and drawing.chance(0.3):
        attributes["start"] = drawing.axis(value.array.ndim)
    found = drawing.node("Shape", [value], exact=True, **attributes)
    if not found or attributes or value.array.size == 0:
        return
    first = drawing.node("Gather", [found[0], drawing.ints([0])], exact=True)
    rest = drawing.ints([-1])
    target = drawing.node("Concat", [first[0], rest], exact=True, axis=0) if first else []
    if target:
        drawing.node("Reshape", [value, target[0]], exact=True)


def generated(drawing: Drawing) -> None:
    """Values that are made of sizes."""
    op = drawing.choice(("ConstantOfShape", "Range", "EyeLike", "Size", "Trilu"))
    if op == "ConstantOfShape":
        drawing.node(op, [drawing.ints(drawing.shape(0, 3))], exact=True)
    elif op == "Range":
        kind = drawing.choice((np.int64, np.int32, np.float32))
        limits = (drawing.between(-3, 3), drawing.between(-3, 9), drawing.choice((1, 2, -1)))
        drawing.node(op, [drawing.settings(np.asarray(each, kind)) for each in limits], exact=True)
    elif op == "EyeLike":
        drawing.node(op, [drawing.pick(FLOATS[:2], (2, 2))], exact=True, k=drawing.between(-2, 2))
    elif op == "Size":
        drawing.node(op, [drawing.pick(EVERY)], exact=True)
    else:
        inputs = [drawing.pick(EVERY, (2, 4))]
        if drawing.chance(0.6):
            inputs.append(drawing.ints(drawing.between(-3, 3)))
        drawing.node(op, inputs, exact=True, upper=drawing.between(0, 1))


FAMILY = (slice_, slice_, pad, pad, split, concat, concat, reshape, reshape, axes, axes, axes,
          repeat, sizes, generated)  # fmt: skip
