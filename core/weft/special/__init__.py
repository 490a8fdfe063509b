"""Special functions, with the names of `torch.special`.

    from weft import special

    special.gammaln(x), special.erfinv(x), special.ndtr(x), special.i0(x)

Each takes a real tensor of any shape, and gives one of that shape: of its dtype for floats, of the
default float dtype for integers. Each has a gradient.
"""

from __future__ import annotations

from weft.special.bessel_functions import i0, i0e, i1, i1e
from weft.special.error_functions import erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri
from weft.special.gamma_functions import digamma, gammaln, multigammaln, polygamma, zeta
from weft.special.methods import (
    entr,
    erf,
    exp2,
    expit,
    expm1,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    sinc,
    softmax,
    xlog1py,
    xlogy,
)

psi = digamma

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammaln", "i0",
    "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln",
    "ndtr", "ndtri", "polygamma", "psi", "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
