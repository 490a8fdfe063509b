"""Signal processing: DFT, STFT, windows, and the mel scale.

A complex number is a last axis of two reals. Products of real matrices compute the transforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.base.promotion import sum_acc_dtype
from weft.onnx.graph import ELEMENT_TYPES, Node
from weft.onnx.operators.fourier import Complex, fourier
from weft.onnx.registry import operator
from weft.tensor import Tensor


@operator("DFT", since=17, host_inputs=("dft_length",))
def dft_17(
    node: Node, x: Tensor, dft_length: Any = None, *, axis: int = 1, inverse: int = 0,
    onesided: int = 0,
) -> Tensor:  # fmt: skip
    """Discrete Fourier transform along an axis, which is an attribute."""
    return dft(node, x, dft_length, np.asarray(axis), inverse=inverse, onesided=onesided)


@operator("DFT", since=20, host_inputs=("dft_length", "axis"))
def dft(
    node: Node, x: Tensor, dft_length: Any = None, axis: Any = None, *, inverse: int = 0,
    onesided: int = 0,
) -> Tensor:  # fmt: skip
    """Discrete Fourier transform along an axis of (..., 1) or (..., 2).

    :param onesided: of real inputs only the first length // 2 + 1 values; of the inverse, the real
        result of such values.
    """
    rank = x.ndim
    where = -2 if axis is None else node.ints(axis)[0]
    if (
        rank < 2
        or x.shape[-1] not in (1, 2)
        or not -rank <= where < rank
        or where % rank == rank - 1
    ):
        raise node.refuse(
            f"the input has the shape {x.shape}, and the axis is {where}",
            "an input (..., 1) or (..., 2), and another axis than the last one",
        )
    where %= rank
    is_real_result = bool(inverse and onesided)
    if onesided and (x.shape[-1] == 2) != bool(inverse):
        raise node.refuse(
            f"onesided=1 and inverse={inverse}, and the input has the shape {x.shape}",
            "a real input (..., 1), or a complex one (..., 2) for the inverse",
        )
    size = x.shape[where]
    given = 2 * (size - 1) if is_real_result else size
    length = given if dft_length is None or not dft_length.size else node.ints(dft_length)[0]
    if length < 1:
        raise node.refuse(f"the length of the transform is {length}", "a length of at least 1")
    wide = x.cast(sum_acc_dtype(x.dtype)).movedim(where, -2)
    wide = _fitted(wide, length // 2 + 1 if is_real_result else length)
    parts: Complex = (wide[..., 0], wide[..., 1] if x.shape[-1] == 2 else None)
    if is_real_result:
        parts = _with_conjugates(parts, length)
    count = length // 2 + 1 if onesided and not inverse else length
    y = _stacked(fourier(node, parts, bool(inverse), count))
    y = y[..., :1] if is_real_result else y
    return y.movedim(-2, where).cast(x.dtype)


@operator("STFT", since=17, host_inputs=("frame_step", "frame_length"))
def stft(
    node: Node, signal: Tensor, frame_step: Any, window: Tensor | None = None,
    frame_length: Any = None, *, onesided: int = 1,
) -> Tensor:  # fmt: skip
    """Fourier transforms of overlapping frames: (batch, frames, values, 2)."""
    if signal.ndim not in (2, 3) or (signal.ndim == 3 and signal.shape[-1] not in (1, 2)):
        raise node.refuse(
            f"the signal has the shape {signal.shape}", "a signal (batch, length, 1 or 2)"
        )
    samples = signal if signal.ndim == 3 else signal.unsqueeze(-1)
    if frame_length is not None and frame_length.size:
        length = node.ints(frame_length)[0]
    else:
        length = samples.shape[1] if window is None else window.shape[0]
    step = node.ints(frame_step)[0]
    is_complex = samples.shape[-1] == 2
    fits = 1 <= length <= samples.shape[1] and step > 0
    if not fits or (window is not None and tuple(window.shape) != (length,)):
        raise node.refuse(
            f"frames of {length} elements with the step {step} of a signal {signal.shape}, and a "
            f"window {None if window is None else window.shape}",
            "frames that are not longer than the signal, and a window of their length",
        )
    if is_complex and onesided:
        raise node.refuse("the signal is complex, and onesided is 1", "onesided=0")
    wide = samples.cast(sum_acc_dtype(signal.dtype)).transpose(1, 2)
    frames = wide.unfold(2, length, step)  # (batch, parts, frames, length)
    if window is not None:
        frames = frames * window.cast(frames.dtype)
    parts = (frames[:, 0], frames[:, 1] if is_complex else None)
    count = length // 2 + 1 if onesided else length
    return _stacked(fourier(node, parts, False, count)).cast(signal.dtype)


@operator("HannWindow", since=17, host_inputs=("size",))
def hann_window(node: Node, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Raised cosine."""
    return _window(node, size, (0.5, 0.5), periodic, output_datatype)


@operator("HammingWindow", since=17, host_inputs=("size",))
def hamming_window(node: Node, size: Any, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
    """Raised cosine whose ends are not zero."""
    return _window(node, size, (25 / 46, 21 / 46), periodic, output_datatype)


@operator("BlackmanWindow", since=17, host_inputs=("size",))
def blackman_window(
    node: Node, size: Any, *, output_datatype: int = 1, periodic: int = 1
) -> Tensor:
    """Sum of two cosines."""
    return _window(node, size, (0.42, 0.5, 0.08), periodic, output_datatype)


@operator(
    "MelWeightMatrix",
    since=17,
    host_inputs=(
        "num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz",
    ),
)  # fmt: skip
def mel_weight_matrix(
    node: Node, num_mel_bins: Any, dft_length: Any, sample_rate: Any, lower_edge_hertz: Any,
    upper_edge_hertz: Any, *, output_datatype: int = 1,
) -> Tensor:  # fmt: skip
    """Triangles on the mel scale: (dft_length // 2 + 1, num_mel_bins)."""
    bins, length, rate = (node.ints(each)[0] for each in (num_mel_bins, dft_length, sample_rate))
    edges = [float(each.reshape(-1)[0]) for each in (lower_edge_hertz, upper_edge_hertz)]
    if bins < 1 or length < 1 or rate < 1 or not 0 <= edges[0] <= edges[1] <= rate / 2:
        raise node.refuse(
            f"{bins} bins, a DFT of {length}, a rate of {rate}, and the edges {edges}",
            "positive numbers, and edges from 0 to half the rate",
        )
    low, high = (2595 * math.log10(1 + each / 700) for each in edges)
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    hertz = 700 * (10 ** (mels / 2595) - 1)
    points = ((length + 1) * hertz // rate).astype(np.int64)
    left, center, right = points[:-2], points[1:-1], points[2:]
    place = np.arange(length // 2 + 1)[:, None]
    rising = (place - left) / np.maximum(center - left, 1)
    falling = (right - place) / np.maximum(right - center, 1)
    weights = np.where((place >= left) & (place <= center), rising, 0)
    weights = np.where((place > center) & (place < right), falling, weights)
    weights = np.where(place == center, 1, weights)
    return _of_type(node, weights, output_datatype)


def _window(
    node: Node, size: Any, factors: Sequence[float], periodic: int, output_datatype: int
) -> Tensor:
    """Alternating sum of cosines: the k-th one has k periods in the window."""
    count = node.ints(size)[0]
    if count < 0:
        raise node.refuse(f"the size is {count}", "a size of at least 0")
    period = max(count if periodic else count - 1, 1)
    angle = np.arange(count) * (2 * math.pi / period)
    values = sum((-1) ** k * each * np.cos(k * angle) for k, each in enumerate(factors))
    return _of_type(node, np.asarray(values), output_datatype)


def _of_type(node: Node, values: np.ndarray, number: int) -> Tensor:
    dtype = getattr(dtypes, ELEMENT_TYPES.get(number, ""), None)
    if dtype is None:
        raise node.refuse(f"output_datatype is {number}", "the number of a numeric type")
    exact = values if dtype is dtypes.float64 else values.astype(np.float32)
    return node.tensor(exact).cast(dtype)


def _fitted(x: Tensor, length: int) -> Tensor:
    """The first elements of the axis before the last, with zeros behind its end."""
    missing = length - x.shape[-2]
    if missing <= 0:
        return x[..., :length, :]
    return x.pad((*(None,) * (x.ndim - 2), (0, missing), None))


def _with_conjugates(parts: Complex, length: int) -> Complex:
    """All values of the transform of a real signal, from the first length // 2 + 1."""
    real, imaginary = parts
    assert imaginary is not None
    rest = slice(1, (length + 1) // 2)
    mirrored = imaginary[..., rest].flip(-1)
    return real.cat(real[..., rest].flip(-1), dim=-1), imaginary.cat(-mirrored, dim=-1)


def _stacked(parts: tuple[Tensor, Tensor]) -> Tensor:
    return parts[0].stack(parts[1], dim=-1)
