"""Strided windows: split an axis into blocks of `stride` elements, so that windows have stride 1.

A window then covers a number of blocks, the first and last of them partly. The next window begins
one block later. The gradient of a strided convolution is therefore one sum over the overlapping
blocks, without a condition that tests whether a window begins at an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.autograd import gradient
from weft.base.dtype import dtypes
from weft.base.intmath import ceildiv
from weft.base.promotion import least_upper_dtype, sum_acc_dtype
from weft.tensor.ops.sliding_windows import windows_of_axis

Edges = Sequence[tuple[int, int]]


def in_steps(
    shape: Sequence[Any], size: Sequence[int], step: Sequence[int], dilation: Sequence[int],
    pads: Edges,
) -> bool:  # fmt: skip
    """Whether windows meet that are more than one element apart, each of neighbours.

    shape, size, step, dilation, pads: of the axes that have windows, all of which see elements.
    """
    if not any(k > s > 1 for k, s in zip(size, step)) or any(d != 1 for d in dilation):
        return False
    return all(
        isinstance(n, int) and n > 0 and 0 <= before < k and 0 <= after
        for n, k, (before, after) in zip(shape, size, pads)
    )


def windows_of_steps(x: Any, size: Sequence[int], step: Sequence[int], pads: Edges) -> Any:
    """Windows of the last axes of x, with zeros around it: (..., *windows, *size).

    x: a tensor (..., *spatial). Window o, place k is x[o * step + k - before].
    """
    axes = len(size)
    front = tuple(x.shape[: len(x.shape) - axes])
    kept = (None,) * len(front)
    counts, shifts, parts, whole, around = [], [], [], [], []
    for length, k, s, (before, after) in zip(x.shape[len(front) :], size, step, pads):
        count = (length + before + after - k) // s + 1
        steps = ceildiv(before, s)
        shift = steps * s - before
        part = ceildiv(shift + k, s)
        own = ceildiv(length, s)
        counts.append(count)
        shifts.append(shift)
        parts.append(part)
        whole.append((own, own * s - length))
        around.append((steps, count + part - 1 - own - steps))
    x = x.pad((*kept, *((0, more) for _, more in whole)))
    x = x.reshape((*front, *(n for (own, _), s in zip(whole, step) for n in (own, s))))
    # what no window reaches is cut off, the rest is filled up with zeros
    x = x.shrink((*kept, *(n for (own, _), (_, more) in zip(whole, around)
                           for n in ((0, own + min(more, 0)), None))))  # fmt: skip
    x = x.pad((*kept, *(n for before, more in around for n in ((before, max(more, 0)), None))))
    for axis, part in enumerate(parts):
        x = windows_of_axis(x, len(front) + 2 * axis, part, 1, 1)
    first = len(front)
    inner = (n for axis in range(axes) for n in (first + 2 * axes + axis, first + 2 * axis + 1))
    x = x.permute(*range(first), *(first + 2 * axis for axis in range(axes)), *inner)
    x = x.reshape((*front, *counts, *(part * s for part, s in zip(parts, step))))
    places = ((shift, shift + k) for shift, k in zip(shifts, size))
    return x.shrink((*kept, *(None,) * axes, *places))


def gradient_of_windows(
    x: Any, weight: Any, groups: int, step: Sequence[int], pads: Edges, more: Sequence[int]
) -> Any:
    """The transpose of a convolution as what it is, the gradient of one: its own gradients are then
    a convolution, and that of a weight.

    As `spread_in_steps`. None where windows do not meet, or end before the last element.
    """
    each, *size = weight.shape[1:]
    kind = least_upper_dtype(x._uop.dtype, weight._uop.dtype)
    wide = sum_acc_dtype(kind)
    whole = tuple(
        (n - 1) * s + k - before - after + extra
        for n, s, k, (before, after), extra in zip(x.shape[2:], step, size, pads, more)
    )
    if not dtypes.is_float(wide) or not isinstance(x.device, str):
        return None
    if not in_steps(whole, size, step, (1,) * len(size), pads):
        return None
    if any(extra >= s for extra, s in zip(more, step)):
        return None
    shape = (x.shape[0], groups * each, *whole)
    image = x.__class__.empty(*shape, dtype=wide, device=x.device)
    plain = x._from_node(weight._uop)  # whether gradients are wanted is for the result to say
    seen = image.conv2d(plain, None, groups, tuple(step), 1, tuple(pads), wide)
    (found,) = gradient(seen._uop, [image._uop], x._uop.cast(wide))
    assert found is not None
    return x._wrap_with(found, weight).cast(kind)


def spread_in_steps(
    x: Any, weight: Any, groups: int, step: Sequence[int], pads: Edges, more: Sequence[int]
) -> Any:  # fmt: skip
    """The transpose of a convolution with a stride, of what there is alone.

    x: (N, C, *spatial), weight: (C, O / groups, *kernel), both tensors. All results of one step are
    channels of a convolution of x with steps of the weight; then they are concatenated. more:
    elements behind, which nothing is added to where the last window ends before them.
    """
    inputs, each, *size = weight.shape
    axes = len(size)
    last = range(axes)
    parts = [ceildiv(k, s) for k, s in zip(size, step)]
    w = weight.pad((None, None, *((0, p * s - k) for p, s, k in zip(parts, step, size))))
    w = w.reshape(
        (groups, inputs // groups, each, *(n for p, s in zip(parts, step) for n in (p, s)))
    )
    places = (3 + 2 * axis for axis in last)
    w = w.permute(0, 2, *(4 + 2 * axis for axis in last), 1, *places)
    w = w.flip(tuple(range(3 + axes, 3 + 2 * axes)))
    channels = groups * each
    for s in step:
        channels *= s
    w = w.reshape((channels, inputs // groups, *parts))
    y = x.conv2d(w, None, groups, 1, 1, tuple((p - 1, p - 1) for p in parts))
    batch, _, *counts = y.shape
    y = y.reshape((batch, groups * each, *step, *counts))
    inner = (n for axis in last for n in (2 + axes + axis, 2 + axis))
    y = y.permute(0, 1, *inner).reshape(
        (batch, groups * each, *(n * s for n, s in zip(counts, step)))
    )
    beyond, window = [], []
    for n, k, s, (before, after), extra, there in zip(
        x.shape[2:], size, step, pads, more, y.shape[2:]
    ):
        stop = (n - 1) * s + k - after + extra
        beyond.append((0, max(stop - there, 0)))
        window.append((before, stop))
    return y.pad((None, None, *beyond)).shrink((None, None, *window))
