"""Special functions that are methods of Tensor, or short compositions of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from weft.special.series import elementwise
from weft.tensor import Tensor


def _method(name: str) -> Callable[..., Tensor]:
    method = getattr(Tensor, name)

    @wraps(method)
    def function(input: Any, *args: Any, **kwargs: Any) -> Tensor:
        found: Tensor = getattr(input, name)(*args, **kwargs)
        return found

    return function


erf = _method("erf")
exp2 = _method("exp2")
expit = _method("sigmoid")
expm1 = _method("expm1")
log1p = _method("log1p")
log_softmax = _method("log_softmax")
logit = _method("logit")
logsumexp = _method("logsumexp")
sinc = _method("sinc")
softmax = _method("softmax")
xlogy = _method("xlogy")


@elementwise
def entr(input: Tensor) -> Tensor:
    """-x * log(x): 0 at 0, -inf for negative x.

    >>> weft.special.entr(Tensor([0.0, 1.0, 2.0])).tolist()
    [0.0, 0.0, -1.3863]
    """
    positive = input > 0
    x = positive.where(input, 1.0)
    return (input < 0).where(-math.inf, input.isnan().where(math.nan, -x * x.log()))


def xlog1py(input: Tensor, other: Any) -> Tensor:
    """x * log1p(y), and 0 where x is 0 and y no NaN.

    >>> weft.special.xlog1py(Tensor([0.0, 2.0]), Tensor([-1.0, 1.0])).tolist()
    [0.0, 1.3863]
    """
    other = other if isinstance(other, Tensor) else Tensor(other, device=input.device)
    is_zero = (input == 0) & ~other.isnan()
    return is_zero.where(0.0, input) * is_zero.where(0.0, other).log1p()
