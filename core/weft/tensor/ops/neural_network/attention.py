"""Attention."""

from __future__ import annotations

import math
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, ShapeError
from weft.tensor.protocol import TensorT
from weft.tensor.types import ArrayLike


def scaled_dot_product_attention(
    self: TensorT, key: ArrayLike, value: ArrayLike, attn_mask: ArrayLike | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, enable_gqa: bool = False,
) -> TensorT:  # fmt: skip
    """softmax(q @ k.T / sqrt(d) + mask) @ v over the last two axes (positions, features).

    A boolean mask tells who may be seen; another is added. `is_causal` masks what comes later.
    With `enable_gqa` several query heads (axis -3) share one of keys and values. Dropout only
    while `Tensor.training`.

    :raises ArgumentError: for both a mask and `is_causal`.

    >>> query = Tensor([[[1.0, 0.0], [0.0, 1.0]]])
    >>> value = Tensor([[[2.0], [4.0]]])
    >>> query.scaled_dot_product_attention(query, value).tolist()
    [[[2.6605], [3.3395]]]
    >>> query.scaled_dot_product_attention(query, value, is_causal=True).tolist()
    [[[2.0], [3.3395]]]
    """
    if not dtypes.is_float(self._uop.dtype):
        x = self.cast(dtypes.default_float)
        return x.scaled_dot_product_attention(
            key, value, attn_mask, dropout_p, is_causal, enable_gqa
        )
    key, value = self._as_tensor(key, self), self._as_tensor(value, self)
    if min(len(t.shape) for t in (self, key, value)) < 2:
        raise ShapeError(
            "attention is over positions and features, the last two axes",
            asked=f"attention of {self.shape} to {key.shape} and {value.shape}",
            try_="shapes (..., positions, features)",
        )
    if is_causal and attn_mask is not None:
        raise ArgumentError(
            "a mask is given together with is_causal",
            asked="scaled_dot_product_attention(attn_mask=..., is_causal=True)",
            try_="one of them",
        )
    if enable_gqa:
        key, value = (_shared_heads(t, self) for t in (key, value))
    scores = self.matmul(key.transpose(-2, -1), dtype=_wide(self, key))
    scores = scores / math.sqrt(self.shape[-1])
    if is_causal:
        attn_mask = self.__class__.ones(
            self.shape[-2], key.shape[-2], dtype=dtypes.bool, device=self.device
        ).tril()
    if attn_mask is not None:
        attn_mask = self._as_tensor(attn_mask, self)
        if attn_mask.dtype is dtypes.bool:
            scores = attn_mask.where(scores, -math.inf)
        else:
            scores = scores + attn_mask
    return scores.softmax(-1).cast(self._uop.dtype).dropout(dropout_p) @ value


def _shared_heads(self: TensorT, query: Any) -> TensorT:
    heads, own = (t.shape[-3] if len(t.shape) > 2 else 0 for t in (query, self))
    if not own or heads % own:
        raise ShapeError(
            f"{heads} query heads do not share {own} heads",
            asked=f"attention of {query.shape} to {self.shape}",
        )
    return self.repeat_interleave(heads // own, len(self.shape) - 3)


def _wide(query: Any, key: Any) -> Any:
    own = query._uop.dtype
    return dtypes.float32 if dtypes.is_float(own) and own.itemsize < 4 else own
