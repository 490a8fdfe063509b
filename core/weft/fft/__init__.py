"""Discrete Fourier transforms: `weft.fft.fft(x)`; see README.md.
Also: FFT; fast Fourier transform.
"""

# ruff: noqa: F403 - each module has its public names in __all__

from __future__ import annotations

from weft.fft import functions, helpers
from weft.fft.functions import *
from weft.fft.helpers import *

__all__ = sorted([*functions.__all__, *helpers.__all__])  # pyright: ignore[reportUnsupportedDunderAll]
