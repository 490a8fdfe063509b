"""Complex numbers in the data that a tensor is made of: whether there are any.

In: numbers, lists, arrays and tensors. Out: True or False. It is asked before a tensor is
allocated, since complex tensors are of a class of their own (`weft.tensor.complex`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.dtype import DType, to_dtype
from weft.base.errors import DTypeError

PLAIN_DATA = frozenset({bool, int, float, bytes, type(None)})
"""Types of data that hold no complex numbers."""


def holds_complex(data: Any, dtype: Any) -> bool:
    """Whether a tensor of `data` is complex: because `dtype` is, or because the elements are.

    :raises DTypeError: for complex elements as a real dtype.
    """
    wanted = None if dtype is None else to_dtype(dtype)
    if wanted is not None and wanted.is_complex:
        return True
    if not is_complex(data):
        return False
    if wanted is not None:
        raise DTypeError(
            "complex numbers are not converted to real ones",
            asked=f"complex elements as {wanted!r}",
            because="the imaginary parts would be lost without a word",
            try_="x.real, or abs(x)",
        )
    return True


def is_complex(data: Any) -> bool:
    """Whether the elements of `data` are complex numbers."""
    kind = data.__class__
    if kind is list or kind is tuple:
        try:
            return _any_complex(data)
        except RecursionError:  # the constructor says what is wrong with such lists
            return False
    if kind in PLAIN_DATA or data is None:
        return False
    if isinstance(data, complex):
        return True
    own = getattr(data, "dtype", None)
    if isinstance(own, DType):
        return own.is_complex
    return own is not None and "complex" in str(own)


def _any_complex(data: Sequence[Any]) -> bool:
    kinds = set(map(type, data))
    if kinds <= PLAIN_DATA:
        return False
    if complex in kinds:
        return True
    return any(map(is_complex, data))
