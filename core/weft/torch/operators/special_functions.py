"""Special functions: gamma, error and Bessel functions (see `weft.special`)."""

from __future__ import annotations

from weft import special
from weft.tensor import Tensor
from weft.torch.registry import converter

_OF_ONE_ARGUMENT = {
    "lgamma": special.gammaln, "digamma": special.digamma, "erfc": special.erfc,
    "erfinv": special.erfinv, "i0": special.i0, "special_erfcx": special.erfcx,
    "special_ndtri": special.ndtri, "special_log_ndtr": special.log_ndtr,
    "special_i0e": special.i0e, "special_i1": special.i1, "special_i1e": special.i1e,
    "special_entr": special.entr,
}  # fmt: skip

for _name, _function in _OF_ONE_ARGUMENT.items():
    converter(f"aten::{_name}")(_function)


@converter("aten::polygamma")
def polygamma(n: int, x: Tensor) -> Tensor:
    """Return the derivative of order n of `digamma`."""
    return special.polygamma(n, x)


@converter("aten::special_zeta")
def zeta(x: Tensor, q: Tensor) -> Tensor:
    """Return the Hurwitz zeta function."""
    return special.zeta(x, q)
