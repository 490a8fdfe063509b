"""Short-time Fourier transforms: `stft` and its inverse by overlapping and adding.
Also: spectrogram; overlap-add.

Source: D. Griffin, J. Lim, "Signal estimation from modified short-time Fourier transform", IEEE
Transactions on Acoustics, Speech, and Signal Processing (1984).
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import no_tensor, whole
from weft.base.errors import ArgumentError, ShapeError
from weft.fft.functions import fft, ifft, irfft, rfft
from weft.tensor import Tensor

__all__ = ["istft", "stft"]


def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect",
    normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
) -> Tensor:  # fmt: skip
    """The transforms of overlapping windows of a signal: (..., frequencies, frames).

    :param input: one signal, or a batch of signals along the last axis.
    :param hop_length: samples between windows; n_fft // 4 unless given.
    :param window: factors of the samples, `win_length` of them, centred in n_fft; ones for None.
    :param center: the signal is padded, so that frame t is centred at t * hop_length.
    :param onesided: real signals: without the frequencies whose values are conjugates.
    :param return_complex: False: the parts as a last axis of 2.
    :raises ShapeError: if the signal is shorter than a window.

    >>> weft.stft(Tensor.ones(16), 8).shape
    (5, 9)
    """
    x = _signal("stft", input)
    hop = whole(n_fft // 4 if hop_length is None else hop_length, "hop_length", least=1)
    if center:
        x = _padded(x, n_fft // 2, pad_mode)
    if x.shape[-1] < n_fft:
        raise ShapeError(
            "the signal is shorter than a window",
            asked=f"stft of {x.shape[-1]} samples, n_fft={n_fft}",
            try_="a smaller n_fft, or center=True",
        )
    frames = x.unfold(-1, n_fft, hop) * _window(x, n_fft, win_length, window)
    is_half = not x.is_complex() if onesided is None else onesided
    norm = "ortho" if normalized else "backward"
    made = (rfft if is_half else fft)(frames, norm=norm).transpose(-1, -2)
    return _parts(made) if return_complex is False else made


def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, normalized: bool = False,
    onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal of which `stft` gave (..., frequencies, frames): the least-squares estimate.

    :param length: of the signal; None: as long as the frames reach.
    :raises ArgumentError: if the windows do not cover the signal.

    >>> z = weft.stft(Tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 4)
    >>> weft.istft(z, 4).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    """
    z = _signal("istft", input)
    if z.ndim < 2 or not z.is_complex():
        raise ShapeError("istft is of frequencies and frames", asked=f"istft of {z.shape}")
    hop = whole(n_fft // 4 if hop_length is None else hop_length, "hop_length", least=1)
    half, rows = n_fft // 2 + 1, z.shape[-2]
    fitting = [half, n_fft] if onesided is None else [half if onesided else n_fft]
    if rows not in (fitting if not return_complex else [n_fft]):
        raise ShapeError(
            f"istft is of {half} or, with onesided=False, of {n_fft} frequencies",
            asked=f"istft of shape {z.shape}, n_fft={n_fft}, onesided={onesided}",
            try_=f"n_fft={2 * rows - 2}, or onesided=False and n_fft={rows}",
        )
    norm = "ortho" if normalized else "backward"
    frames: Any = z.transpose(-1, -2)
    if return_complex:
        frames = ifft(frames, norm=norm)
    else:  # of a real signal, the other half of the frequencies is redundant
        frames = irfft(frames[..., :half], n_fft, norm=norm)
    factors = _window(frames, n_fft, win_length, window)
    count = frames.shape[-2]
    total = _overlapped(frames * factors, hop)
    weights = _overlapped((factors * factors).reshape(1, n_fft).expand(count, n_fft), hop)
    start = n_fft // 2 if center else 0
    stop = total.shape[-1] - start if length is None else start + length
    total, weights = _cut(total, start, stop), _cut(weights, start, stop)
    covered = weights[: max(min(stop, n_fft + hop * (count - 1)) - start, 0)]
    if not bool((covered.abs() > 1e-11).all().item()):
        raise ArgumentError(
            "the windows do not cover the signal",
            asked=f"istft with n_fft={n_fft}, hop_length={hop}",
            because="the sum of the squared windows is zero somewhere",
            try_="a smaller hop_length, or center=True",
        )
    made: Tensor = total / (weights == 0).where(1.0, weights)
    return made


def _signal(name: str, x: Any) -> Any:
    if not isinstance(x, Tensor):
        raise no_tensor(name, (x,))
    return x


def _parts(z: Any) -> Tensor:
    return z._interleaved[...]  # type: ignore[no-any-return]


def _padded(x: Any, size: int, mode: str) -> Any:
    pads = tuple((size, size) if a == x.ndim - 1 else (0, 0) for a in range(x.ndim))
    if not x.is_complex():
        return x.pad(pads, mode)
    return x._of_parts(*(part.pad(pads, mode) for part in x._parts()))


def _window(x: Any, n_fft: int, win_length: int | None, window: Any) -> Any:
    """The factors of n_fft samples. :raises ShapeError: for a window of another length."""
    size = n_fft if win_length is None else whole(win_length, "win_length", least=1)
    kind = x._interleaved.dtype if x.is_complex() else x.dtype
    if window is None:
        window = Tensor.ones(size, dtype=kind, device=x.device)
    if tuple(window.shape) != (size,) or size > n_fft:
        raise ShapeError(
            "a window has win_length factors, at most n_fft",
            asked=f"a window of shape {tuple(window.shape)}, win_length={size}, n_fft={n_fft}",
        )
    before = (n_fft - size) // 2
    return window.pad(((before, n_fft - size - before),))


def _overlapped(frames: Any, hop: int) -> Any:
    """The sum of frames (..., count, n) that begin every `hop` samples."""
    *outer, count, size = frames.shape
    pieces = -(-size // hop)
    none = ((0, 0),) * len(outer)
    frames = frames.pad((*none, (0, 0), (0, pieces * hop - size)))
    total = None
    for k in range(pieces):
        piece = frames[..., k * hop : (k + 1) * hop].pad((*none, (k, pieces - 1 - k), (0, 0)))
        total = piece if total is None else total + piece
    rows: Any = total
    flat = rows.reshape(*outer, (count + pieces - 1) * hop)
    return flat[..., : size + hop * (count - 1)]


def _cut(x: Any, start: int, stop: int) -> Any:
    """The samples from start to stop; zeros behind the last one."""
    beyond = max(stop - x.shape[-1], 0)
    pads = tuple((0, beyond) if a == x.ndim - 1 else (0, 0) for a in range(x.ndim))
    return (x.pad(pads) if beyond else x)[..., start:stop]
