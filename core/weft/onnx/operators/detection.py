"""Operators of object detectors: NonMaxSuppression, RoiAlign, MaxRoiPool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.nn.functional.point_sampling import values_at
from weft.onnx.graph import Node
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator(
    "NonMaxSuppression",
    since=10,
    host_inputs=(
        "boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold",
    ),
)  # fmt: skip
def non_max_suppression(
    node: Node, boxes: Any, scores: Any, max_output_boxes_per_class: Any = None,
    iou_threshold: Any = None, score_threshold: Any = None, *, center_point_box: int = 0,
) -> np.ndarray:  # fmt: skip
    """Indices (batch, class, box) of boxes that overlap no box of a higher score too much.

    The number of results depends on values: the boxes are read, and the result is on the host.
    """
    if boxes.ndim != 3 or boxes.shape[-1] != 4 or scores.shape[::2] != boxes.shape[:2]:
        raise node.refuse(
            f"the boxes have the shape {boxes.shape}, the scores {scores.shape}",
            "boxes (batch, n, 4), scores (batch, classes, n)",
        )
    most = _scalar(max_output_boxes_per_class, 0)
    limit = float(_scalar(iou_threshold, 0.0))
    least = float(_scalar(score_threshold, -math.inf))
    low, high = _corners(boxes, bool(center_point_box))
    found = [np.zeros((0, 3), np.int64)]
    for batch, label in np.ndindex(*scores.shape[:2]) if most > 0 else ():
        row = scores[batch, label]
        order = np.argsort(-row, kind="stable")
        order = order[row[order] > least]
        kept = _suppressed(low[batch][order], high[batch][order], limit, int(most))
        chosen = order[kept]
        found.append(
            np.stack([np.full_like(chosen, batch), np.full_like(chosen, label), chosen], 1)
        )
    return np.concatenate(found).astype(np.int64)


@operator("RoiAlign", since=10)
def roi_align_10(
    node: Node, x: Tensor, rois: Tensor, batch_indices: Tensor, *, mode: str = "avg",
    output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:  # fmt: skip
    """`roi_align` without the shift by half an element."""
    return roi_align(
        node, x, rois, batch_indices, coordinate_transformation_mode="output_half_pixel",
        mode=mode, output_height=output_height, output_width=output_width,
        sampling_ratio=sampling_ratio, spatial_scale=spatial_scale,
    )  # fmt: skip


@operator("RoiAlign", since=16)
def roi_align(
    node: Node, x: Tensor, rois: Tensor, batch_indices: Tensor, *,
    coordinate_transformation_mode: str = "half_pixel", mode: str = "avg", output_height: int = 1,
    output_width: int = 1, sampling_ratio: int = 0, spatial_scale: float = 1.0,
) -> Tensor:  # fmt: skip
    """Average or maximum of bilinear samples in each bin of a region: (regions, C, height, width).

    With a sampling ratio of 0 the number of samples depends on the regions, which are read.
    Source: K. He and others, "Mask R-CNN" (2017).
    """
    if mode not in ("avg", "max") or x.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 4:
        raise node.refuse(
            f"x has the shape {x.shape}, the regions {rois.shape}, and the mode is {mode!r}",
            "x (N, C, H, W), regions (n, 4), the mode 'avg' or 'max'",
        )
    wide = dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0
    edges = rois.cast(wide) * spatial_scale - shift
    sides = []
    for axis, bins in ((1, output_height), (0, output_width)):
        start, length = edges[:, axis], edges[:, axis + 2] - edges[:, axis]
        length = length if shift else length.maximum(1)
        sides.append(_Samples(node, start, length, bins, sampling_ratio, x.shape[3 - axis]))
    return _pooled_samples(x, batch_indices, sides[0], sides[1], mode).cast(x.dtype)


@operator("MaxRoiPool")
def max_roi_pool(
    node: Node, x: Tensor, rois: Tensor, *, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> Tensor:
    """Maximum of each bin of regions (batch, x1, y1, x2, y2): (regions, C, *pooled_shape).

    Bins are whole elements; an empty one is zero. Source: R. Girshick, "Fast R-CNN" (2015).
    """
    if x.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 5 or len(pooled_shape) != 2:
        raise node.refuse(
            f"x has the shape {x.shape}, the regions {rois.shape}, and the result "
            f"{list(pooled_shape)}",
            "x (N, C, H, W), regions (n, 5), a result of two axes",
        )
    scaled = rois.cast(dtypes.float32) * spatial_scale
    # Half away from zero.
    whole = (scaled.abs() + 0.5).floor() * scaled.sign()
    rows = _bin_mask(whole[:, 2], whole[:, 4], pooled_shape[0], x.shape[2])
    columns = _bin_mask(whole[:, 1], whole[:, 3], pooled_shape[1], x.shape[3])
    images = x[rois[:, 0].cast(dtypes.int32)]
    low = x.dtype.min
    y = columns[:, None, None].where(images.unsqueeze(3), low).max(-1).transpose(2, 3)
    y = rows[:, None, None].where(y.unsqueeze(3), low).max(-1).transpose(2, 3)
    filled = rows.any(-1)[:, None, :, None] & columns.any(-1)[:, None, None, :]
    return filled.where(y, 0)


class _Samples:
    """Positions of the samples of each region along one axis: (regions, bins, samples).

    :ivar low: index of the element before a sample. :ivar share: distance from it.
    :ivar inside: whether the sample is at most one element outside of the image.
    :ivar exists: (regions, samples): whether the region has so many samples in a bin.
    """

    def __init__(
        self, node: Node, start: Tensor, length: Tensor, bins: int, ratio: int, size: int
    ) -> None:
        each = length / bins
        if ratio > 0:
            self.counts, most = (
                each.ones_like(requires_grad=False).cast(dtypes.int32) * ratio,
                ratio,
            )
        else:
            self.counts = each.ceil().maximum(0).cast(dtypes.int32)
            most = max(int(node.host(self.counts).max(initial=0)), 1)
        numbers = Tensor.arange(most, dtype=dtypes.int32, device=start.device)
        self.exists = numbers < self.counts.unsqueeze(1)
        step = (each / self.counts.maximum(1).cast(each.dtype)).reshape(-1, 1, 1)
        first = Tensor.arange(bins, dtype=dtypes.int32, device=start.device).cast(each.dtype)
        place = start[:, None, None] + first[:, None] * each[:, None, None]
        place = place + (numbers.cast(each.dtype) + 0.5) * step
        self.inside = (place >= -1) & (place <= size)
        place = place.clamp(0, size - 1)
        floor = place.floor()
        self.share, self.low = place - floor, floor.cast(dtypes.int32)


def _pooled_samples(
    x: Tensor, batch: Tensor, down: _Samples, across: _Samples, mode: str
) -> Tensor:
    """Average or maximum of the samples of each bin: (regions, C, bins down, bins across)."""
    height, width = x.shape[2:]
    inside = _tall(down.inside) & _flat(across.inside)
    terms = []
    for y_step, x_step in ((0, 0), (0, 1), (1, 0), (1, 1)):
        place = [
            _tall((down.low + y_step).clamp(0, height - 1)),
            _flat((across.low + x_step).clamp(0, width - 1)),
        ]
        share = _tall(_part(down.share, y_step)) * _flat(_part(across.share, x_step))
        values = values_at(x, place, batch).cast(share.dtype)
        terms.append(values * inside.where(share, 0).unsqueeze(1))
    exists = down.exists[:, None, :, None, None] & across.exists[:, None, None, None, :]
    exists = exists.unsqueeze(1)
    if mode == "max":
        # The maximum of the weighted corners, not of their sum: so the operator is defined.
        top = reduce(lambda one, other: one.maximum(other), terms)
        y = exists.where(top, -math.inf).max((3, 5))
        return (y == -math.inf).where(0, y)
    total = exists.where(reduce(lambda one, other: one + other, terms), 0).sum((3, 5))
    count = (down.counts * across.counts).maximum(1).cast(total.dtype)
    return total / count.reshape(-1, 1, 1, 1)


def _tall(x: Tensor) -> Tensor:
    return x.reshape(*x.shape, 1, 1)


def _flat(x: Tensor) -> Tensor:
    return x.reshape(x.shape[0], 1, 1, *x.shape[1:])


def _part(share: Tensor, step: int) -> Tensor:
    return share if step else 1 - share


def _bin_mask(first: Tensor, last: Tensor, bins: int, size: int) -> Tensor:
    """(regions, bins, size): which elements of an axis are in a bin."""
    each = ((last - first + 1).maximum(1) / bins).unsqueeze(1)
    number = Tensor.arange(bins, dtype=dtypes.int32, device=first.device).cast(first.dtype)
    start = (number * each).floor() + first.unsqueeze(1)
    end = ((number + 1) * each).ceil() + first.unsqueeze(1)
    place = Tensor.arange(size, dtype=dtypes.int32, device=first.device).cast(first.dtype)
    return (place >= start.unsqueeze(-1)) & (place < end.unsqueeze(-1))


def _scalar(value: Any, default: float) -> Any:
    return default if value is None or not value.size else value.reshape(-1)[0]


def _corners(boxes: np.ndarray, has_center: bool) -> tuple[np.ndarray, np.ndarray]:
    """The smaller and the larger coordinates of each box."""
    if has_center:
        center, half = boxes[..., :2], boxes[..., 2:] / 2
        return center - half, center + half
    one, other = boxes[..., :2], boxes[..., 2:]
    return np.minimum(one, other), np.maximum(one, other)


def _suppressed(low: np.ndarray, high: np.ndarray, limit: float, most: int) -> list[int]:
    """Indices of the boxes that remain. The boxes are sorted by falling score."""
    areas = np.prod(high - low, -1)
    kept: list[int] = []
    rest = np.arange(len(low))
    while len(rest) and len(kept) < most:
        best, rest = rest[0], rest[1:]
        kept.append(int(best))
        shared = np.minimum(high[best], high[rest]) - np.maximum(low[best], low[rest])
        common = np.prod(np.maximum(shared, 0), -1)
        union = areas[best] + areas[rest] - common
        # Boxes without an area overlap nothing.
        ratio = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
        rest = rest[ratio <= limit]
    return kept
