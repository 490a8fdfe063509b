"""Automatic mixed precision: the dtype of an operation is chosen by its kind.
Also: mixed precision training.

Products (matrix products, convolutions, attention) take their operands in 16 bits, which matrix
units multiply several times as fast and which halves what is read from memory; their sums are
accumulated in float32. Reductions, exponentials, normalisations and losses take what has 16 bits as
float32. Everything else computes in the dtype of its operands.

Source: P. Micikevicius and others, "Mixed Precision Training" (ICLR 2018). The division of the
methods is PyTorch's.

    autocast            the with-block and decorator
    low_operands        the operands of a product, as autocast has them
    low_bias            what is added to a product
    answered_in         the dtype of the result of a method in FLOAT32
    with_float32_rules  the class decorator that applies FLOAT32 to the methods that do not do so

The state is the setting AUTOCAST: it is scoped to a context, as all settings are, and part of what
`jit` tells calls apart by.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any, TypeVar

from weft.base.arguments import shown
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError
from weft.base.settings import settings
from weft.tensor.protocol import TensorBase, named_after

_NAMES = {dtypes.bfloat16: "bfloat16", dtypes.float16: "float16"}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
_HALF, _BRAIN, _SINGLE = dtypes.float16, dtypes.bfloat16, dtypes.float32

_name = settings.getter("AUTOCAST")

FLOAT32 = frozenset(
    # exponentials, logarithms, powers
    "exp exp2 expm1 log log2 log10 log1p pow reciprocal rsqrt softplus logsigmoid "
    "tan acos asin cosh sinh "
    # reductions
    "sum prod mean var std var_mean std_mean norm nansum nanmean cov corrcoef "
    "cumsum cumprod logsumexp logcumsumexp dist cdist pairwise_distance cosine_similarity "
    # normalisations
    "softmax log_softmax softmin layernorm batchnorm normalize "
    # losses
    "cross_entropy sparse_categorical_crossentropy nll_loss binary_crossentropy "
    "binary_crossentropy_logits binary_cross_entropy mse_loss l1_loss smooth_l1_loss huber_loss "
    "kl_div soft_margin_loss hinge_embedding_loss margin_ranking_loss cosine_embedding_loss "
    "triplet_margin_loss poisson_nll_loss gaussian_nll_loss".split()
)
"""The methods of Tensor that compute, and answer, in float32 under autocast."""

_BY_THEMSELVES = frozenset(
    "exp exp2 expm1 log log2 log10 log1p pow reciprocal rsqrt logsigmoid tan acos asin cosh sinh "
    "sum prod mean var std var_mean std_mean logsumexp softmax log_softmax".split()
)
"""Methods that handle narrow dtypes themselves: a wrapper would slow them by some percent."""


class autocast(ContextDecorator):
    """Automatic mixed precision, as a with-block or a decorator.

    Within it products compute with operands of `dtype`, and reductions, exponentials,
    normalisations and losses in float32. Parameters keep their dtype, and so do their gradients.
    float64 and integers are left as they are. Blocks nest: `autocast(enabled=False)` computes as
    without one. It holds for what is recorded in the block; `backward` may be called outside.

    :param device_type: as in PyTorch's signature; what it says is not looked at, autocast holds on
        every device. A dtype in its place is taken for `dtype`.
    :param dtype: bfloat16 or float16. float16 has a narrow range: scale the loss, see
        `weft.amp.GradScaler`.
    :param enabled: False switches it off within the block.
    :param cache_enabled: as in PyTorch's signature; casts are part of the graph, which has each
        of them once.
    :raises DTypeError: for another dtype.

    >>> x, weight = Tensor.ones(2, 3), Tensor.ones(3, 4)
    >>> with weft.autocast(dtype="bfloat16"):
    ...     y = x @ weight
    ...     print(y.dtype, y.softmax().dtype)
    dtypes.bfloat16 dtypes.float
    >>> (x @ weight).dtype
    dtypes.float
    """

    def __init__(
        self,
        device_type: str | DType | None = None,
        dtype: str | DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if dtype is None and (isinstance(device_type, DType) or device_type in _DTYPES):
            device_type, dtype = None, device_type
        if device_type is not None and not isinstance(device_type, str):
            raise ArgumentError(
                "a kind of device is a text",
                asked=f"autocast({shown(device_type)})",
                try_='autocast(dtype="bfloat16"): it holds on every device',
            )
        self.dtype = _BRAIN if dtype is None else to_dtype(dtype)
        if self.dtype not in _NAMES:
            raise DTypeError(
                "autocast computes products in 16 bits",
                asked=f"autocast(dtype={shown(dtype)})",
                because="there are two floating-point dtypes of that size",
                try_='dtype="bfloat16" or dtype="float16"',
            )
        self.enabled = bool(enabled)
        self._override = settings.override(AUTOCAST=_NAMES[self.dtype] if enabled else "")

    def _recreate_cm(self) -> autocast:
        return autocast(dtype=self.dtype, enabled=self.enabled)

    def __enter__(self) -> autocast:
        self._override.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._override.__exit__(*exception)

    def __repr__(self) -> str:
        return f"autocast(dtype={_NAMES[self.dtype]!r}, enabled={self.enabled})"


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether the code that asks runs under `autocast`.

    >>> with weft.autocast():
    ...     print(weft.amp.is_autocast_enabled())
    True
    """
    return bool(_name())


def get_autocast_dtype(device_type: str | None = None) -> DType | None:
    """The dtype in which products compute under `autocast`; None where it is off.

    >>> with weft.autocast(dtype="float16"):
    ...     print(weft.amp.get_autocast_dtype())
    dtypes.half
    """
    name = _name()
    return _DTYPES[name] if name else None


def low_operands(*operands: _Tensor) -> tuple[_Tensor, ...]:
    """The operands of a product in the dtype of autocast; as they are where it is off, and where
    one of them is float64, an integer, or narrower than 16 bits."""
    name = _name()
    if not name:
        return operands
    for each in operands:
        kind = each._uop.dtype
        if kind is not _SINGLE and kind is not _HALF and kind is not _BRAIN:
            return operands
    low = _DTYPES[name]
    return tuple([each if each._uop.dtype is low else each.cast(low) for each in operands])


def low_bias(bias: _Tensor, product: TensorBase) -> _Tensor:
    """What is added to a product, in the product's dtype where that is due to autocast."""
    if _name() and bias._uop.dtype is _SINGLE and product._uop.dtype in _NAMES:
        return bias.cast(product._uop.dtype)
    return bias


def answered_in(kind: DType) -> DType:
    """The dtype in which a method in FLOAT32 answers of values of this dtype."""
    return _SINGLE if (kind is _BRAIN or kind is _HALF) and _name() else kind


_Tensor = TypeVar("_Tensor", bound=TensorBase)
_Class = TypeVar("_Class", bound=type)


def with_float32_rules(cls: _Class) -> _Class:
    """A class decorator: under autocast the methods in FLOAT32 take 16-bit values as float32."""
    for name in FLOAT32 - _BY_THEMSELVES:
        method = inspect.getattr_static(cls, name, None)
        if method is not None:
            setattr(cls, name, _in_float32(method))
    return cls


def _in_float32(method: Callable[..., Any]) -> Callable[..., Any]:
    @named_after(method)
    def widened(self: Any, *args: Any, **kwargs: Any) -> Any:
        kind = self.dtype
        if (kind is _BRAIN or kind is _HALF) and _name():
            return method(self.cast(_SINGLE), *args, **kwargs)
        return method(self, *args, **kwargs)

    return widened
