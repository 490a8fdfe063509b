"""Convolutions, pooling, resizing, and other operators with windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from helpers.onnx_graphs.drawing import FLOAT32, FLOATS, Drawing

PADDINGS = ("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def _window(drawing: Drawing, spatial: int, most: int = 3) -> dict[str, Any]:
    """Draw kernel sizes, strides, dilations and padding for so many axes."""
    drawn: dict[str, Any] = {"kernel_shape": [drawing.between(1, most) for _ in range(spatial)]}
    if drawing.chance(0.6):
        drawn["strides"] = [drawing.between(1, 3) for _ in range(spatial)]
    if drawing.chance(0.4):
        drawn["dilations"] = [drawing.between(1, 2) for _ in range(spatial)]
    padding = drawing.choice(PADDINGS)
    if padding != "NOTSET":
        drawn["auto_pad"] = padding
        if padding != "VALID":  # the evaluators differ from the standard for gaps and dilations
            drawn.pop("dilations", None)
            drawn["kernel_shape"] = [
                max(size, step)
                for size, step in zip(
                    drawn["kernel_shape"], drawn.get("strides", [1] * spatial), strict=True
                )
            ]
    elif drawing.chance(0.6):
        drawn["pads"] = [drawing.between(0, size - 1) for size in drawn["kernel_shape"] * 2]
    return drawn


def _image(drawing: Drawing, channels: int, dtype: np.dtype = FLOAT32) -> tuple[Any, int]:
    spatial = drawing.choice((1, 2, 2, 2, 3))
    earlier = drawing.existing(
        lambda each: (
            each.array.dtype == dtype
            and each.array.ndim == spatial + 2
            and each.array.shape[1] == channels
            and min(each.array.shape[2:]) > 3
        )
    )
    if earlier is not None:
        return earlier, spatial
    most = 8 if spatial < 3 else 5
    batch = drawing.batch if drawing.chance(0.5) else drawing.between(1, 2)
    shape = (batch, channels, *(drawing.between(3, most) for _ in range(spatial)))
    return drawing.like(shape, dtype), spatial


def convolution(drawing: Drawing) -> None:
    groups = drawing.choice((1, 1, 1, 2, 3))
    per_group, outputs = drawing.between(1, 3), groups * drawing.between(1, 3)
    dtype = drawing.choice((FLOAT32, FLOAT32, FLOAT32, FLOATS[1], FLOATS[2]))
    image, spatial = _image(drawing, groups * per_group, dtype)
    window = _window(drawing, spatial)
    weight = drawing.like((outputs, per_group, *window["kernel_shape"]), dtype)
    if drawing.chance(0.3):
        del window["kernel_shape"]
    bias = [drawing.like((outputs,), dtype)] if drawing.chance(0.5) else []
    drawing.node("Conv", [image, weight, *bias], group=groups, **window)


def transposed_convolution(drawing: Drawing) -> None:
    groups = drawing.choice((1, 1, 2))
    per_group, channels = drawing.between(1, 3), groups * drawing.between(1, 2)
    image, spatial = _image(drawing, channels)
    window = _window(drawing, spatial)
    strides = window.get("strides", [1] * spatial)
    if drawing.chance(0.3):
        window["output_padding"] = [drawing.between(0, stride - 1) for stride in strides]
    if drawing.chance(0.15) and "auto_pad" not in window:
        window.pop("pads", None)
        window["output_shape"] = [
            size * stride + drawing.between(0, 1)
            for size, stride in zip(image.array.shape[2:], strides, strict=True)
        ]
    weight = drawing.like((channels, per_group, *window["kernel_shape"]), FLOAT32)
    bias = [drawing.like((groups * per_group,), FLOAT32)] if drawing.chance(0.5) else []
    drawing.node("ConvTranspose", [image, weight, *bias], group=groups, **window)


def pool(drawing: Drawing) -> None:
    op = drawing.choice(("MaxPool", "AveragePool", "LpPool"))
    image, spatial = _image(drawing, drawing.between(1, 3))
    window = _window(drawing, spatial)
    if (op == "AveragePool" and drawing.opset < 19) or (op == "LpPool" and drawing.opset < 18):
        window.pop("dilations", None)
    if drawing.opset >= (22 if op == "LpPool" else 10) and drawing.chance(0.4):
        if window.get("auto_pad") == "VALID" and op == "LpPool":
            return  # ONNX Runtime rounds up, and the standard's text does not
        window["ceil_mode"] = drawing.between(0, 1)
    if op == "AveragePool" and drawing.chance(0.5):
        window["count_include_pad"] = drawing.between(0, 1)
    if op == "LpPool":
        window["p"] = drawing.between(1, 3)
    outputs = 2 if op == "MaxPool" and drawing.chance(0.2) else 1
    drawing.node(op, [image], outputs, exact=op == "MaxPool", **window)


def global_pool(drawing: Drawing) -> None:
    op = drawing.choice(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"))
    image, _ = _image(drawing, drawing.between(1, 3))
    drawing.node(op, [image], exact=op == "GlobalMaxPool")


def resize(drawing: Drawing) -> None:
    if drawing.opset < 11:
        return
    image, spatial = _image(drawing, drawing.between(1, 3))
    shape = image.array.shape
    attributes: dict[str, Any] = {"mode": drawing.choice(("nearest", "linear", "cubic"))}
    if spatial == 3 and attributes["mode"] == "cubic":
        attributes["mode"] = "linear"
    attributes["coordinate_transformation_mode"] = drawing.choice(
        ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
         *(["half_pixel_symmetric"] if drawing.opset >= 19 else []))
    )  # fmt: skip
    if attributes["mode"] == "nearest":
        attributes["nearest_mode"] = drawing.choice(
            ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
        )
    if attributes["mode"] == "cubic" and drawing.chance(0.5):
        attributes |= {"cubic_coeff_a": -0.5, "exclude_outside": drawing.between(0, 1)}
    if drawing.opset >= 18 and drawing.chance(0.3) and attributes["mode"] != "nearest":
        attributes["antialias"] = 1
    region = drawing.settings(np.zeros(0, np.float32)) if drawing.opset < 13 else None
    scales = [drawing.choice((0.5, 1.0, 1.5, 2.0, 3.0)) for _ in range(spatial)]
    if drawing.chance(0.5):
        given = drawing.settings(np.asarray([1.0, 1.0, *scales], np.float32))
        drawing.node("Resize", [image, region, given], **attributes)
    else:
        sizes = [max(1, int(size * scale)) for size, scale in zip(shape[2:], scales, strict=True)]
        empty = drawing.settings(np.zeros(0, np.float32)) if drawing.opset < 13 else None
        given = drawing.ints([*shape[:2], *sizes])
        drawing.node("Resize", [image, region, empty, given], **attributes)


def blocks(drawing: Drawing) -> None:
    size = drawing.between(1, 3)
    if drawing.chance(0.5):
        shape = (drawing.between(1, 2), drawing.between(1, 2) * size**2, 2, 3)
        attributes = {"mode": drawing.choice(("DCR", "CRD"))} if drawing.opset >= 11 else {}
        drawing.node(
            "DepthToSpace", [drawing.like(shape, FLOAT32)], exact=True, blocksize=size, **attributes
        )
    else:
        shape = (drawing.between(1, 2), drawing.between(1, 2), 2 * size, 3 * size)
        drawing.node("SpaceToDepth", [drawing.like(shape, FLOAT32)], exact=True, blocksize=size)


def grid(drawing: Drawing) -> None:
    image = drawing.like((2, drawing.between(1, 2), 4, 5), FLOAT32)
    array = drawing.array((2, drawing.between(1, 3), 3, 2), FLOAT32, -1, 1) * np.float32(0.93)
    modes = ("bilinear", "nearest", "bicubic")
    if drawing.opset >= 20:
        modes = ("linear", "nearest", "cubic")
    drawing.node(
        "GridSample", [image, drawing.value(array)], mode=drawing.choice(modes),
        padding_mode=drawing.choice(("zeros", "border", "reflection")),
        align_corners=drawing.between(0, 1),
    )  # fmt: skip


FAMILY = (convolution, convolution, convolution, transposed_convolution, pool, pool, global_pool,
          resize, resize, blocks, grid)  # fmt: skip
