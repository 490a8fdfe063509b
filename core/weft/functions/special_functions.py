"""Special functions at the level of `weft`, under PyTorch's names; see `weft.special`."""

from __future__ import annotations

from weft.special import digamma, erfc, erfinv, i0, polygamma
from weft.special import gammaln as lgamma
from weft.special import multigammaln as mvlgamma

__all__ = ["digamma", "erfc", "erfinv", "i0", "lgamma", "mvlgamma", "polygamma"]
